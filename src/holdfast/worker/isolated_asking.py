"""Questions of a tool that runs in a process of its own, and what it tells the client's log.

The child asks as any tool does. In the newer era it is given what the client has brought, and says at its end what
is missing. In the older one its questions go up to the server as lines, which puts them to the client and sends
the answers down. The server decides in both what leaves it: the log of the client is its own.
"""

import asyncio
import contextlib
import threading
from collections.abc import Callable, Iterator, Mapping
from typing import Any, BinaryIO

from holdfast.errors import IncapableError, InputNeeded, QuestionError
from holdfast.present.compact import json_ready
from holdfast.present.eras import LEVELS
from holdfast.present.profile import Profile, profile_for
from holdfast.vocabulary.ids import RequestId
from holdfast.wire.codec import decode, encode
from holdfast.wire.envelope import Response
from holdfast.worker.asking import MUTE, Asking, ByRequest, ByResult, needed_in
from holdfast.worker.client_log import ClientLog
from holdfast.worker.context import Context
from holdfast.worker.open_questions import OpenQuestions

__all__ = ["QuestionRelay", "RemoteAsking", "described", "raise_question_of"]

RATE = 10_000  # log messages per second from a child; its server bounds what leaves it

Tell = Callable[[dict[str, Any]], None]


# --- in the server -----------------------------------------------------------------------------------------------


def described(context: Context) -> dict[str, Any]:
    """What a child must know to ask and to log."""
    level = next((level for level in LEVELS if context.client_log.wants(level)), None)
    asking = context.asking
    if isinstance(asking, ByRequest):
        told: dict[str, Any] = {"by": "request", "timeout": asking.timeout}
    elif isinstance(asking, ByResult):
        told = {"by": "result", "given": asking.given, "kept": asking.kept, "repeated": asking.is_repeated}
    else:
        return {"by": "nothing", "level": level}
    row = {**told, "profile": _named(asking.profile), "capabilities": asking.capabilities, "level": level}
    return dict(row)


class QuestionRelay:
    """Between one child and the client: questions up, answers down, and log messages."""

    def __init__(self, context: Context, writer: asyncio.StreamWriter) -> None:
        self._context = context
        self._writer = writer
        self._open: dict[str, asyncio.Task[None]] = {}

    def take(self, message: Mapping[str, Any]) -> bool:
        """Whether a line of the child was a question, the end of one, or for the log."""
        if "log" in message:
            self._context.client_log.tell(*message["log"])
        elif "say" in message:
            said = message["say"]
            if "id" in said:
                number = said["id"]
                self._open[number] = asyncio.ensure_future(self._ask(number, said["method"], said["params"]))
            else:
                task = self._open.pop(said["params"]["requestId"], None)
                if task is not None:
                    task.cancel()
        else:
            return False
        return True

    def close(self) -> None:
        """The child has ended: what it asked is withdrawn."""
        for task in self._open.values():
            task.cancel()
        self._open.clear()

    async def _ask(self, number: str, method: str, params: dict[str, Any]) -> None:
        asking = self._context.asking
        assert isinstance(asking, ByRequest)  # a child is told by which way it asks
        try:
            answer: dict[str, Any] = {"id": number, "result": await asking.pass_on(method, params)}
        except QuestionError as error:
            answer = {"id": number, "error": error.message, "details": error.details}
        self._open.pop(number, None)
        if not self._writer.is_closing():
            self._writer.write(encode(answer) + b"\n")


def raise_question_of(message: Mapping[str, Any], context: Context) -> None:
    """Raise again what ended the tool in its child, if it was about a question."""
    if "inputNeeded" in message and isinstance(context.asking, ByResult):
        context.asking.used.update(message["used"])
        raise InputNeeded(message["inputNeeded"])
    if "incapable" in message:
        raise IncapableError(message["incapable"]["message"], message["incapable"]["required"])
    if "unanswered" in message:
        told = message["unanswered"]
        raise QuestionError(told["message"], code=told["code"], details=told["details"])


# --- in the child ------------------------------------------------------------------------------------------------


class RemoteAsking:
    """The way of a child to the client, as its server described it."""

    def __init__(self, told: Mapping[str, Any], request_id: RequestId, tell: Tell, reader: BinaryIO) -> None:
        self._tell = tell
        self.way: Asking = MUTE
        clock = asyncio.get_running_loop().time
        level: str | None = told["level"]
        self.log = ClientLog(self._log, lambda: level, request_id, RATE, clock)
        if told["by"] == "result":
            self.way = ByResult(
                _profile(told),
                told["capabilities"],
                told["given"],
                told["kept"],
                lambda _: "",
                is_repeated=told["repeated"],
            )
        elif told["by"] == "request":
            open_questions = OpenQuestions(lambda message: tell({"say": message}))
            self.way = ByRequest(
                open_questions, _profile(told), told["capabilities"], request_id, _NoClock(), told["timeout"]
            )
            self._hear(open_questions, reader)

    def ended_with(self, error: BaseException) -> dict[str, Any] | None:
        """What the server is told of a tool that ended with a question; None if it did not."""
        needed = needed_in(error)
        if needed is not None and isinstance(self.way, ByResult):
            return {"inputNeeded": needed.requests, "used": self.way.used}
        if isinstance(error, IncapableError):
            return {"incapable": {"message": error.message, "required": error.required}}
        if isinstance(error, QuestionError):
            told = {"code": error.code, "message": error.message, "details": json_ready(error.details)}
            return {"unanswered": told}
        return None

    def _log(self, params: dict[str, Any]) -> None:
        self._tell({"log": [params["level"], params["data"], params.get("logger")]})

    def _hear(self, open_questions: OpenQuestions, reader: BinaryIO) -> None:
        loop = asyncio.get_running_loop()

        def read() -> None:
            for line in reader:
                loop.call_soon_threadsafe(_take_answer, open_questions, decode(line))

        threading.Thread(target=read, name="answers", daemon=True).start()


class _NoClock:
    """The time of the call is its server's business."""

    @contextlib.contextmanager
    def not_counted(self, request_id: RequestId) -> Iterator[None]:  # noqa: ARG002
        yield


def _take_answer(open_questions: OpenQuestions, answer: Mapping[str, Any]) -> None:
    if "error" not in answer:
        open_questions.take(Response(answer["id"], answer["result"], None))
    else:
        open_questions.fail(answer["id"], QuestionError(answer["error"], details=answer["details"]))


def _named(profile: Profile) -> dict[str, Any]:
    return {
        "revision": profile.revision,
        "legacy_framing": profile.legacy_framing,
        "pinned": profile.pinned,
    }


def _profile(told: Mapping[str, Any]) -> Profile:
    return profile_for(**told["profile"])
