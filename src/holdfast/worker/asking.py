"""How one request reaches its client with questions: one way per era, and the same verbs for the author.

In the older era a question is a request to the client, and the tool waits for its answer. In the newer one servers
send no requests: the run of the tool ends (`InputNeeded`), the client is told what is missing, and calls again;
then the tool runs again from its start, and finds the answers under the same keys. So questions come before
effects.

Nothing here belongs to tools alone: whatever is run for a request of a client can ask.
"""

import asyncio
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import Any, NamedTuple, Protocol

from holdfast.errors import IncapableError, InputNeeded, QuestionError
from holdfast.present.profile import Profile
from holdfast.vocabulary.ids import RequestId
from holdfast.vocabulary.meta import META_REQUEST
from holdfast.worker.forms import UnreadableError
from holdfast.worker.open_questions import OpenQuestions
from holdfast.worker.questions import Question

__all__ = ["MUTE", "Asking", "ByRequest", "ByResult", "Clock", "Unfinished", "capable_of", "needed_in"]

MAX_QUESTIONS = 16  # that are put to a client at once; a client behind a host is asked no more either
_NOBODY = "nobody can be asked here"


class Unfinished(NamedTuple):
    """The outcome of a run that ended with questions: what is asked, by key, and the state to come back with."""

    requests: dict[str, Any]
    state: str


class Asking(Protocol):
    """The way from one request to its client."""

    @property
    def is_repeated(self) -> bool:
        """Whether this is not the first run for what the client wants."""

    def can(self, capability: str) -> bool:
        """Whether the client has declared this capability."""

    async def ask(self, questions: Mapping[str, Question[Any]]) -> dict[str, Any]:
        """The answers, by key. Raises QuestionError, IncapableError, or InputNeeded, which ends this run."""

    def unfinished(self, needed: InputNeeded) -> Unfinished:
        """The outcome of the run that this ended."""


class Clock(Protocol):
    """Whose time a call is measured by."""

    def not_counted(self, request_id: RequestId) -> AbstractContextManager[None]:
        """Inside, the time of this call stands still."""


class _Mute:
    """For what is run for nobody: no question has an answer."""

    is_repeated = False

    def can(self, capability: str) -> bool:  # noqa: ARG002
        return False

    async def ask(self, questions: Mapping[str, Question[Any]]) -> dict[str, Any]:  # noqa: ARG002
        raise IncapableError(_NOBODY, {})

    def unfinished(self, needed: InputNeeded) -> Unfinished:
        raise TypeError(_NOBODY) from needed


MUTE: Asking = _Mute()


class ByRequest:
    """The older era: each question is a request to the client."""

    is_repeated = False

    def __init__(
        self,
        open_questions: OpenQuestions,
        profile: Profile,
        capabilities: Mapping[str, Any],
        request_id: RequestId,
        clock: Clock,
        timeout: float,
    ) -> None:
        self._open = open_questions
        self.profile = profile
        self.capabilities = capabilities
        self._request_id = request_id
        self._clock = clock
        self.timeout = timeout

    def can(self, capability: str) -> bool:
        """Whether the client has declared this capability."""
        return _can(self.capabilities, capability)

    async def ask(self, questions: Mapping[str, Question[Any]]) -> dict[str, Any]:
        """Put all of them to the client and wait for all answers."""
        asked = _checked(questions, self.profile, self.capabilities)
        meta = {META_REQUEST: self._request_id}
        sent: dict[str, tuple[str, asyncio.Future[Any]]] = {}
        try:
            for key, one in asked.items():
                sent[key] = self._open.put(one["method"], {**one["params"], "_meta": meta})
            results = await self._all([answer for _, answer in sent.values()])
        except TimeoutError:
            text = f"the client did not answer {', '.join(sent)} within {self.timeout:g} s"
            raise QuestionError(text, details={"reason": "timeout"}) from None
        finally:
            for number, answer in sent.values():
                self._open.withdraw(number, answer)
        return {key: _read(key, questions[key], result) for key, result in zip(sent, results, strict=True)}

    async def pass_on(self, method: str, params: dict[str, Any]) -> Any:
        """Ask what another process has made ready; the result as it came. It has the time of the call."""
        number, answer = self._open.put(method, params)
        try:
            if not self.timeout:
                return await answer
            with self._clock.not_counted(self._request_id):
                return await answer
        finally:
            self._open.withdraw(number, answer)

    async def _all(self, answers: list[asyncio.Future[Any]]) -> list[Any]:
        if not self.timeout:
            return await asyncio.gather(*answers)
        with self._clock.not_counted(self._request_id):
            async with asyncio.timeout(self.timeout):
                return await asyncio.gather(*answers)

    def unfinished(self, needed: InputNeeded) -> Unfinished:
        """Nothing in this era ends a run so; who raises it by hand is told."""
        raise TypeError("InputNeeded was raised by hand; ask with ctx.ask") from needed


class ByResult:
    """The newer era: what was not answered yet ends the run.

    `given` is what the client has brought this time, `kept` what it had brought before; `seal` makes a state of
    answers that were used.
    """

    def __init__(
        self,
        profile: Profile,
        capabilities: Mapping[str, Any],
        given: Mapping[str, Any],
        kept: Mapping[str, Any],
        seal: Callable[[Mapping[str, Any]], str],
        *,
        is_repeated: bool,
    ) -> None:
        self.is_repeated = is_repeated
        self.profile = profile
        self.capabilities = capabilities
        self.given = given
        self.kept = kept
        self.used: dict[str, Any] = {}
        self._seal = seal

    def can(self, capability: str) -> bool:
        """Whether the client has declared this capability in this request."""
        return _can(self.capabilities, capability)

    async def ask(self, questions: Mapping[str, Question[Any]]) -> dict[str, Any]:
        """What the client has brought; InputNeeded where something is missing or cannot be used."""
        asked = _checked(questions, self.profile, self.capabilities)
        read: dict[str, Any] = {}
        for key, question in questions.items():
            for answers in (self.given, self.kept):
                try:
                    read[key] = question.read(_object(answers.get(key)))
                except UnreadableError:
                    continue  # it is asked once more
                self.used[key] = answers[key]
                break
        missing = {key: one for key, one in asked.items() if key not in read}
        if missing:
            raise InputNeeded(missing)
        return read

    def unfinished(self, needed: InputNeeded) -> Unfinished:
        """What is asked, and a state that holds the answers that were used so far."""
        return Unfinished(needed.requests, self._seal(self.used))


def needed_in(error: BaseException) -> InputNeeded | None:
    """What a run that ended with this needs: also where several tasks of it asked at the same time."""
    if isinstance(error, InputNeeded):
        return error
    if not isinstance(error, BaseExceptionGroup):
        return None
    found, other = error.split(InputNeeded)
    if found is None or other is not None:
        return None  # what failed for another reason has failed
    requests: dict[str, Any] = {}
    pending: list[BaseException] = [found]
    while pending:
        one = pending.pop()
        if isinstance(one, BaseExceptionGroup):
            pending.extend(reversed(one.exceptions))
        elif isinstance(one, InputNeeded):
            requests.update(one.requests)
    return InputNeeded(requests)


def capable_of(capabilities: Mapping[str, Any], required: Mapping[str, Any]) -> bool:
    """Whether a client with these capabilities can be asked what needs those."""
    for name, parts in required.items():
        has = capabilities.get(name)
        if not isinstance(has, dict) or any(part not in has for part in parts):
            return False
        # To name only the address is to leave out the form; to name neither means the form.
        if name == "elicitation" and not parts and "url" in has and "form" not in has:
            return False
    return True


def _can(capabilities: Mapping[str, Any], capability: str) -> bool:
    name, _, part = capability.partition(".")
    return capable_of(capabilities, {name: {} if part in {"", "form"} else {part: {}}})


def _checked(
    questions: Mapping[str, Question[Any]], profile: Profile, capabilities: Mapping[str, Any]
) -> dict[str, Any]:
    """What goes on the wire for each question; nothing is asked where one of them cannot be."""
    if len(questions) > MAX_QUESTIONS:
        raise QuestionError(f"{len(questions)} questions at once; {MAX_QUESTIONS} are the most")
    for question in questions.values():
        required = question.required(profile)
        if not capable_of(capabilities, required):
            text = f"the client cannot be asked: it did not declare the capability {_named(required)}"
            raise IncapableError(text, required)
    return {
        key: {"method": question.method, "params": question.params(profile)} for key, question in questions.items()
    }


def _named(required: Mapping[str, Any]) -> str:
    return ", ".join(".".join((name, *parts)) for name, parts in required.items())


def _read(key: str, question: Question[Any], result: Any) -> Any:
    try:
        return question.read(_object(result))
    except UnreadableError as error:
        raise QuestionError(
            f"the client's answer to {key!r} cannot be used: {error}", details={"reason": "invalid"}
        ) from error


def _object(answer: Any) -> Mapping[str, Any]:
    if not isinstance(answer, dict):
        raise UnreadableError("the answer is not an object")
    return answer
