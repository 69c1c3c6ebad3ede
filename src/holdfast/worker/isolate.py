"""Runs one call of a tool in a child process: whatever the tool does, the server survives it and can kill it.

The child speaks newline JSON with us over its stdin and stdout: one request in; progress, and one outcome, out.
"""

import inspect
import sys
from pathlib import Path
from typing import Any

from holdfast.contract.derive import DerivedTool
from holdfast.errors import ToolError
from holdfast.wire.codec import decode, encode
from holdfast.worker.context import Context
from holdfast.worker.faults import IsolatedDeath, IsolatedFailure

__all__ = ["run_isolated"]

LINE_LIMIT = 64 * 1024 * 1024  # a child is our own program; the answer's size is bounded later


async def run_isolated(derived: DerivedTool, arguments: dict[str, Any], context: Context) -> Any:
    """The payload of the call; raises what the tool raised, or that its process died."""
    from holdfast.process import spawn

    child = await spawn(
        [sys.executable, "-m", "holdfast.worker.isolated_child"],
        stdin="pipe",
        stdout="pipe",
        stderr="inherit",
        grace=context.grace,
        limit=LINE_LIMIT,
    )
    try:
        assert child.stdin is not None
        assert child.stdout is not None
        child.stdin.write(encode(_request(derived, arguments, context)) + b"\n")
        child.stdin.close()
        while line := await child.stdout.readline():
            message = decode(line)
            if "progress" in message:
                context.relay(message["progress"])
            elif "killFailed" in message:
                context.record_survivors(tuple(message["killFailed"]))
            else:
                return _outcome(message)
        outcome = await child.wait()
        raise IsolatedDeath(context.tool, outcome.returncode, outcome.signal)
    finally:
        context.record_end(await child.stop())


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
    }


def _outcome(message: dict[str, Any]) -> Any:
    if "payload" in message:
        return message["payload"]
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
