"""The verbs with which an author logs to the client and asks it, for both kinds of context.

`AskingVerbs` is for `async def` tools, `SyncAskingVerbs` has the same, blocking. Each question has a key, under
which its answer is found when the tool is run again with it. A key that is not given is made of the kind of the
question and its place among those of the run: it holds as long as the tool asks the same things in the same order.
"""

from collections.abc import Callable, Coroutine, Iterator, Mapping
from typing import Any, TypeVar, Unpack, overload

from holdfast.worker.asking import Asking
from holdfast.worker.client_log import ClientLog
from holdfast.worker.questions import Elicited, Question, Root, Sampled, SamplingWords, form, roots, sampling, url

__all__ = ["AskingVerbs", "LogVerbs", "SyncAskingVerbs", "SyncLogVerbs"]

T = TypeVar("T")


class LogVerbs:
    """`await ctx.log("info", data)`, or `await ctx.log.info(data)`: for the client's log, where it wants one."""

    __slots__ = ("_log",)

    def __init__(self, log: ClientLog) -> None:
        self._log = log

    async def __call__(self, level: str, data: Any, *, logger: str | None = None) -> None:
        """Tell the client's log something: a text, or anything that is JSON. Dropped where nobody wants it."""
        self._log.tell(level, data, logger)

    def wants(self, level: str) -> bool:
        """Whether the client wants to hear messages of this level."""
        return self._log.wants(level)

    async def debug(self, data: Any, *, logger: str | None = None) -> None:
        """For whoever looks for a mistake."""
        self._log.tell("debug", data, logger)

    async def info(self, data: Any, *, logger: str | None = None) -> None:
        """What goes on."""
        self._log.tell("info", data, logger)

    async def notice(self, data: Any, *, logger: str | None = None) -> None:
        """What is normal, and worth to be seen."""
        self._log.tell("notice", data, logger)

    async def warning(self, data: Any, *, logger: str | None = None) -> None:
        """What may be a problem."""
        self._log.tell("warning", data, logger)

    async def error(self, data: Any, *, logger: str | None = None) -> None:
        """What has failed."""
        self._log.tell("error", data, logger)


class AskingVerbs:
    """What a context can say to its client and ask it."""

    __slots__ = ()
    _asking: Asking
    _client_log: ClientLog
    _numbers: Iterator[int]  # of the questions of this run
    _stopped: bool
    tool: str

    @property
    def log(self) -> LogVerbs:
        """The client's log."""
        return LogVerbs(self._client_log)

    @property
    def is_repeated(self) -> bool:
        """Whether the client calls again, with answers: an earlier run has ended with questions.

        Only clients of 2026-07-28 do so. What ran before the question runs again: ask before you act.
        """
        return self._asking.is_repeated

    def client_can(self, capability: str) -> bool:
        """Whether the client can be asked: `elicitation`, `elicitation.url`, `sampling`, `roots` and so on."""
        return self._asking.can(capability)

    @overload
    async def elicit(self, message: str, wanted: type[T], *, key: str | None = None) -> Elicited[T]:
        """A model is answered with an object of it."""

    @overload
    async def elicit(self, message: str, wanted: Any, *, key: str | None = None) -> Elicited[Any]:
        """A schema is answered with a dict."""

    async def elicit(self, message: str, wanted: Any, *, key: str | None = None) -> Elicited[Any]:
        """Ask a person to fill in a form; `wanted` is a model with simple fields, one simple type, or a schema.

        Raises `IncapableError` when the client cannot be asked, and `QuestionError` when it does not answer.
        """
        return await self._one(form(message, wanted), key)

    async def elicit_url(
        self, message: str, address: str, *, key: str | None = None, elicitation_id: str | None = None
    ) -> Elicited[None]:
        """Ask a person to open an address, for what the client must not see, such as a password."""
        return await self._one(url(message, address, elicitation_id=elicitation_id), key)

    async def sample(
        self,
        messages: str | list[dict[str, Any]],
        *,
        max_tokens: int,
        key: str | None = None,
        **words: Unpack[SamplingWords],
    ) -> Sampled:
        """Let the model of the client complete a conversation; a text is what its user says."""
        return await self._one(sampling(messages, max_tokens=max_tokens, **words), key)

    async def roots(self, *, key: str | None = None) -> list[Root]:
        """The places that the client works in."""
        return await self._one(roots(), key)

    async def ask(self, /, **questions: Question[Any]) -> dict[str, Any]:
        """Ask several things at once; the answers stand under the same names.

        Example:
            answers = await ctx.ask(who=question.form("Who are you?", Person), where=question.roots())
        """
        if self._stopped:
            raise RuntimeError(f"the call of {self.tool} is over; its context asks nothing more")
        return await self._asking.ask(questions) if questions else {}

    async def _one(self, question: Question[T], key: str | None) -> T:
        number = next(self._numbers)
        key = key or f"{question.noun}_{number}"
        answer: T = (await self.ask(**{key: question}))[key]
        return answer


class SyncLogVerbs:
    """`ctx.log("info", data)`, or `ctx.log.info(data)`, in a thread."""

    __slots__ = ("_inner", "_wait")

    def __init__(self, inner: LogVerbs, wait: Callable[[Coroutine[Any, Any, Any]], Any]) -> None:
        self._inner = inner
        self._wait = wait

    def __call__(self, level: str, data: Any, *, logger: str | None = None) -> None:
        """Tell the client's log something; see `LogVerbs`."""
        self._wait(self._inner(level, data, logger=logger))

    def wants(self, level: str) -> bool:
        """Whether the client wants to hear messages of this level."""
        return self._inner.wants(level)

    def debug(self, data: Any, *, logger: str | None = None) -> None:
        """For whoever looks for a mistake."""
        self("debug", data, logger=logger)

    def info(self, data: Any, *, logger: str | None = None) -> None:
        """What goes on."""
        self("info", data, logger=logger)

    def notice(self, data: Any, *, logger: str | None = None) -> None:
        """What is normal, and worth to be seen."""
        self("notice", data, logger=logger)

    def warning(self, data: Any, *, logger: str | None = None) -> None:
        """What may be a problem."""
        self("warning", data, logger=logger)

    def error(self, data: Any, *, logger: str | None = None) -> None:
        """What has failed."""
        self("error", data, logger=logger)


class SyncAskingVerbs:
    """`AskingVerbs` for a tool that runs in a thread."""

    __slots__ = ()

    @property
    def _verbs(self) -> AskingVerbs:
        raise NotImplementedError

    def check(self) -> None:
        """Raise `StopWork` when the call is being ended."""
        raise NotImplementedError

    def _wait_for(self, coroutine: Coroutine[Any, Any, Any]) -> Any:
        raise NotImplementedError

    @property
    def log(self) -> SyncLogVerbs:
        """The client's log."""
        self.check()
        return SyncLogVerbs(self._verbs.log, self._wait_for)

    @property
    def is_repeated(self) -> bool:
        """Whether the client calls again, with answers; see `Context.is_repeated`."""
        return self._verbs.is_repeated

    def client_can(self, capability: str) -> bool:
        """Whether the client can be asked; see `Context.client_can`."""
        return self._verbs.client_can(capability)

    @overload
    def elicit(self, message: str, wanted: type[T], *, key: str | None = None) -> Elicited[T]:
        """A model is answered with an object of it."""

    @overload
    def elicit(self, message: str, wanted: Any, *, key: str | None = None) -> Elicited[Any]:
        """A schema is answered with a dict."""

    def elicit(self, message: str, wanted: Any, *, key: str | None = None) -> Elicited[Any]:
        """Ask a person to fill in a form; see `Context.elicit`."""
        return self._asked_for(self._verbs.elicit(message, wanted, key=key))

    def elicit_url(
        self, message: str, address: str, *, key: str | None = None, elicitation_id: str | None = None
    ) -> Elicited[None]:
        """Ask a person to open an address; see `Context.elicit_url`."""
        return self._asked_for(self._verbs.elicit_url(message, address, key=key, elicitation_id=elicitation_id))

    def sample(
        self,
        messages: str | list[dict[str, Any]],
        *,
        max_tokens: int,
        key: str | None = None,
        **words: Unpack[SamplingWords],
    ) -> Sampled:
        """Let the model of the client complete a conversation; see `Context.sample`."""
        return self._asked_for(self._verbs.sample(messages, max_tokens=max_tokens, key=key, **words))

    def roots(self, *, key: str | None = None) -> list[Root]:
        """The places that the client works in."""
        return self._asked_for(self._verbs.roots(key=key))

    def ask(self, /, **questions: Question[Any]) -> Mapping[str, Any]:
        """Ask several things at once; see `Context.ask`."""
        return self._asked_for(self._verbs.ask(**questions))

    def _asked_for(self, coroutine: Coroutine[Any, Any, T]) -> T:
        try:
            self.check()
        except BaseException:
            coroutine.close()
            raise
        answer: T = self._wait_for(coroutine)
        return answer
