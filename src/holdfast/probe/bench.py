"""What a check works with: connections of its own to the server, what is known of it, and what may be done to it.

Everything that a check opens here is closed behind it, whichever way the check ends.
"""

import asyncio
from collections.abc import Callable
from typing import Any, Self

from holdfast.present.profile import MODERN
from holdfast.probe.http_talk import HttpTalk
from holdfast.probe.model import FailedError, Options, SkippedError, ToolUse
from holdfast.probe.stdio_talk import StdioTalk
from holdfast.probe.survey import Survey
from holdfast.probe.talk import Talk
from holdfast.probe.target import HttpTarget, StdioTarget, Target
from holdfast.probe.transcript import Transcript

__all__ = ["Bench", "call_params"]


def call_params(use: ToolUse, **meta: Any) -> dict[str, Any]:
    """The parameters of a call of this tool."""
    params: dict[str, Any] = {"name": use.name, "arguments": dict(use.arguments)}
    return {**params, "_meta": meta} if meta else params


class Bench:
    """One check's own corner: `async with` closes all that was opened in it."""

    def __init__(self, target: Target, options: Options, survey: Survey) -> None:
        self.target = target
        self.options = options
        self.transcript = Transcript()
        self._survey = survey
        self._has_looked = False
        self._open: list[Talk] = []
        self._tasks: list[asyncio.Task[None]] = []

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        for talk in self._open:
            await talk.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    @property
    def survey(self) -> Survey:
        """What the server has told of itself before."""
        self._has_looked = True
        return self._survey

    @property
    def has_heard(self) -> bool:
        """Whether the check knows anything that the server has said, now or before."""
        return self._has_looked or self.transcript.has_answers

    def on_close(self, task: "asyncio.Task[None]") -> None:
        """Have a task cancelled when the check is over."""
        self._tasks.append(task)

    async def connect(self) -> Talk:
        """A connection on which nothing was said yet."""
        if isinstance(self.target, HttpTarget):
            talk = HttpTalk(self.options, self.transcript, self.target)
            self._open.append(talk)
            return talk
        return await self.start(self.target)

    async def start(self, target: StdioTarget, *, pass_fds: tuple[int, ...] = ()) -> StdioTalk:
        """A process of its own, on whose pipes nothing was said yet."""
        talk = StdioTalk(self.options, self.transcript)
        self._open.append(talk)
        await talk.start(target, pass_fds=pass_fds)
        return talk

    async def session(self, revision: str | None = None) -> Talk:
        """A connection with an open session."""
        talk = await self.connect()
        await talk.open_session(revision or self.survey.revision)
        return talk

    async def stdio_session(self) -> StdioTalk:
        """The same, for checks that are about processes."""
        talk = await self.session()
        assert isinstance(talk, StdioTalk)
        return talk

    async def http_session(self) -> HttpTalk:
        """The same, for checks that are about HTTP."""
        talk = await self.session()
        assert isinstance(talk, HttpTalk)
        return talk

    # --- what may be done --------------------------------------------------------------------------------------

    def tool(self) -> ToolUse:
        """A tool that may be called; the check is skipped where there is none."""
        if self.survey.tool is None:
            remedy = "name a tool that may be called: --tool NAME --arguments JSON"
            raise SkippedError(self.survey.why_no_tool, remedy)
        return self.survey.tool

    def tool_that(self, fits: Callable[[ToolUse, dict[str, Any]], bool], reason: str) -> ToolUse:
        """A tool that may be called and fits, by its input schema; the check is skipped where there is none."""
        self.tool()
        for use in self.survey.callable_tools:
            schema = self.survey.definition(use.name).get("inputSchema")
            if isinstance(schema, dict) and fits(use, schema):
                return use
        raise SkippedError(reason, "name another tool that may be called: --tool NAME --arguments JSON")

    def slow(self) -> ToolUse:
        """A call that takes its time; the check is skipped where none was named."""
        if self.options.slow is None:
            remedy = "name a call that takes one to five seconds: --slow-tool NAME --slow-arguments JSON"
            raise SkippedError("no slow tool is known, and nothing else can be in flight long enough", remedy)
        return self.options.slow

    def hang(self) -> ToolUse:
        """A call that never ends; the check is skipped where none was named."""
        if self.options.hang is None:
            remedy = "name a call that never ends by itself: --hang-tool NAME --hang-arguments JSON"
            raise SkippedError("no tool is known that hangs", remedy)
        return self.options.hang

    def need_tools(self) -> None:
        """Skip the check where the server has no tools."""
        if not self.survey.has_tools:
            raise SkippedError("the server offers no tools")

    def need_handshake(self) -> None:
        """Skip the check where the server knows no handshake."""
        if not self.survey.handshake:
            raise SkippedError(f"the server has no handshake; it speaks {MODERN} only")

    def need_modern(self) -> None:
        """Skip the check where the server does not speak the era without a handshake."""
        if not self.survey.modern:
            raise SkippedError(f"the server does not speak {MODERN}")

    async def busy_with(self, talk: Talk, use: ToolUse, request_id: Any, **meta: Any) -> None:
        """Have a call under way, and be sure that the server has read it."""
        await talk.send(talk.request("tools/call", call_params(use, **meta), request_id))
        await talk.alive("a call")
        if talk.answers(request_id):
            remedy = "give it arguments with which it takes a second or more"
            if "error" in talk.answers(request_id)[0]:
                raise FailedError(f"the call of {use.name} was refused")
            raise SkippedError(f"the call of {use.name} was over at once", remedy)
