"""Runs one call of a tool in a child process: whatever the tool does, the server survives it and can kill it.

The child speaks newline JSON with us over its stdin and stdout: one request in; progress, and one outcome, out.
A call whose child dies without an outcome follows its replay contract, as one does whose worker dies: what is
Convergent is run again in another child, everything else ends in a fault that says what is known.
"""

import inspect
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from holdfast.contract.derive import DerivedTool
from holdfast.errors import ToolError
from holdfast.interpreter import module_command
from holdfast.observe.sink import EventSink
from holdfast.vocabulary.disposition import Allowance, Disposition, dispose
from holdfast.vocabulary.effects import Effect, ReplayWord
from holdfast.vocabulary.events import CallReplayed
from holdfast.vocabulary.execution import Knowledge
from holdfast.wire.codec import decode, encode
from holdfast.worker.context import Context
from holdfast.worker.faults import IsolatedDeath, IsolatedFailure
from holdfast.worker.isolated_asking import QuestionRelay, described, raise_question_of

if TYPE_CHECKING:
    from holdfast.process import Outcome

__all__ = ["Repeats", "run_isolated"]

LINE_LIMIT = 64 * 1024 * 1024  # a child is our own program; the answer's size is bounded later


class Repeats(NamedTuple):
    """What a call promises about being run again, and how often it may be."""

    effect: Effect
    most: int

    def word(self, arguments: dict[str, Any]) -> ReplayWord:
        """The replay contract of the call with these arguments; one without its key promises nothing."""
        if self.effect.key is not None and not _has_key(self.effect.key, arguments):
            return ReplayWord.NEVER_REPLAY
        return self.effect.replay


class _Lost(Exception):  # noqa: N818 - an outcome of one child, not a defect of ours
    """The child ended, and with it all that it had started, before it told an outcome."""

    def __init__(self, outcome: "Outcome") -> None:
        super().__init__(outcome.describe())
        self.outcome = outcome


async def run_isolated(
    derived: DerivedTool, arguments: dict[str, Any], context: Context, log: EventSink, repeats: Repeats
) -> Any:
    """The payload of the call, and the content behind it; raises what the tool raised, or that its process died.

    All children share the one deadline of the call. If none can be started, that is not tried again.
    """
    attempt = 0
    while True:
        attempt += 1
        try:
            return await _run_once(derived, arguments, context)
        except _Lost as lost:
            ended = lost.outcome
        allowance = Allowance(used=attempt - 1, most=repeats.most)
        disposition = dispose(Knowledge.OUTCOME_UNKNOWN, repeats.word(arguments), allowance)
        # While anything of an attempt is alive it may still act, and nothing is run beside it.
        if disposition is not Disposition.REPLAY or ended.survivors:
            raise IsolatedDeath(context.tool, ended, *_verdict(disposition, attempt))
        log.emit(CallReplayed(context.request_id, context.tool, generation=attempt + 1, attempt=attempt + 1))


def _verdict(disposition: Disposition, attempt: int) -> tuple[str, str]:
    """The code that the call ends with, and what its caller must know. No worker can ask a probe."""
    if disposition is Disposition.REPLAY:
        return "INTERNAL", "it is not run again, since something of it is still running"
    if disposition is Disposition.REJECT_EXHAUSTED:
        return "REPLAY_EXHAUSTED", f"it was run {attempt} times and is not run again"
    return "AMBIGUOUS_OUTCOME", "it may or may not have taken effect"


def _has_key(pointer: str, arguments: dict[str, Any]) -> bool:
    found: Any = {"arguments": arguments}
    for part in pointer.split("/")[1:]:
        found = found.get(part.replace("~1", "/").replace("~0", "~")) if isinstance(found, dict) else None
    return type(found) is int or (isinstance(found, str) and found != "")


async def _run_once(derived: DerivedTool, arguments: dict[str, Any], context: Context) -> Any:
    from holdfast.process import spawn

    child = await spawn(
        module_command("holdfast.worker.isolated_child", user_code=not _is_ours(derived)),
        stdin="pipe",
        stdout="pipe",
        stderr="inherit",
        grace=context.grace,
        limit=LINE_LIMIT,
    )
    relay: QuestionRelay | None = None
    try:
        assert child.stdin is not None
        assert child.stdout is not None
        child.stdin.write(encode(_request(derived, arguments, context)) + b"\n")
        relay = QuestionRelay(context, child.stdin)
        while (line := await child.stdout.readline()).endswith(b"\n"):  # half a line is the end of a dead child
            message = decode(line)
            if "progress" in message:
                context.relay(message["progress"])
            elif "killFailed" in message:
                context.record_survivors(tuple(message["killFailed"]))
            elif not relay.take(message):
                return _outcome(message, context)
        raise _Lost(await child.wait())
    finally:
        if relay is not None:
            relay.close()
        context.record_end(await child.stop())


def _is_ours(derived: DerivedTool) -> bool:
    return derived.function.__module__.startswith("holdfast.")


def _request(derived: DerivedTool, arguments: dict[str, Any], context: Context) -> dict[str, Any]:
    function = derived.function
    source = inspect.getsourcefile(function)
    return {
        "module": function.__module__,
        "file": str(Path(source).resolve()) if source else None,
        "function": function.__qualname__,
        "path": sys.path,
        "tool": context.tool,
        "callId": context.call_id,
        "requestId": context.request_id,
        "grace": context.grace,
        "arguments": arguments,
        "asking": described(context),
    }


def _outcome(message: dict[str, Any], context: Context) -> Any:
    if "payload" in message:
        return message["payload"], message["content"]
    raise_question_of(message, context)
    if "toolError" in message:
        error = message["toolError"]
        raise ToolError(
            error["code"],
            error["message"],
            details=error["details"],
            hint=error["hint"],
            retryable=error["retryable"],
        )
    failure = message["failure"]
    raise IsolatedFailure(failure["class"], failure["message"], failure["trace"])
