"""The questions of one session that its client has not answered yet, each under an id that nobody else uses."""

import asyncio
import itertools
import os
from collections.abc import Callable
from typing import Any

from holdfast.errors import QuestionError
from holdfast.wire.envelope import Response, notification_message, request_message

__all__ = ["OpenQuestions"]

MAX_OPEN = 128  # a host in front of us passes on twice as many
_SHOWN = 300  # characters of what a client says about its refusal
_CLOSED = "the client has closed its end, so it cannot answer"

Answer = asyncio.Future[Any]


class OpenQuestions:
    """Sends requests to the client and finds whom an answer is for."""

    def __init__(self, send: Callable[[Any], None]) -> None:
        self._send = send
        # Not a number, and made anew for each process: no request of a client, and no answer to a worker that
        # was here before, can be taken for one of these.
        self._prefix = f"holdfast-{os.urandom(4).hex()}"
        self._numbers = itertools.count(1)
        self._open: dict[str, Answer] = {}
        self._closed = False

    def put(self, method: str, params: dict[str, Any]) -> tuple[str, Answer]:
        """Ask; the id of the question, and what will be its answer."""
        if self._closed:
            raise QuestionError(_CLOSED, details={"reason": "closed"})
        if len(self._open) >= MAX_OPEN:
            raise QuestionError(
                f"the client has not answered {MAX_OPEN} earlier questions", details={"reason": "full"}
            )
        number = f"{self._prefix}-{next(self._numbers)}"
        answer: Answer = asyncio.get_running_loop().create_future()
        self._open[number] = answer
        self._send(request_message(number, method, params))
        return number, answer

    def take(self, response: Response) -> bool:
        """Whether an answer of the client was to an open question; whoever waits for it has it now."""
        if not isinstance(response.id, str) or response.id not in self._open:
            return False
        if response.error is not None:
            said = str(response.error["message"])[:_SHOWN]
            details = {"reason": "refused", "clientCode": response.error["code"]}
            self.fail(response.id, QuestionError(f"the client refused to answer: {said}", details=details))
            return True
        answer = self._open.pop(response.id)
        if not answer.done():
            answer.set_result(response.result)
        return True

    def fail(self, number: str, why: QuestionError) -> None:
        """This question will not be answered; whoever waits for it is told why."""
        answer = self._open.pop(number, None)
        if answer is not None and not answer.done():
            answer.set_exception(why)
            answer.exception()  # whoever waits for another one first may never ask for it

    def withdraw(self, number: str, answer: Answer) -> None:
        """Nobody waits for this answer any more; the client is told, if it has not answered."""
        if self._open.pop(number, None) is not None:
            answer.cancel()
            if not self._closed:
                self._send(notification_message("notifications/cancelled", {"requestId": number}))

    def close(self) -> None:
        """The client says no more: nobody will be answered."""
        self._closed = True
        for number in list(self._open):
            self.fail(number, QuestionError(_CLOSED, details={"reason": "closed"}))
