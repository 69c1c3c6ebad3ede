"""Checks of the end: of the input, of the process, and of everything that it started. Processes only."""

import os
import signal
from contextlib import suppress

from holdfast.probe.bench import Bench, call_params
from holdfast.probe.expect import answered_once, told_noise
from holdfast.probe.model import FailedError, SkippedError, check
from holdfast.probe.stdio_talk import StdioTalk
from holdfast.probe.watch import Watch, watch

__all__ = ["CHECKS"]

STDIO = ("stdio",)
LEAVE = 5.0  # seconds in which an idle server must have left
ASKED = 20


async def _must_leave(talk: StdioTalk, seconds: float, after: str) -> None:
    outcome = await talk.wait_end(seconds)
    if outcome is None:
        raise FailedError(f"{after} the process is still there after {seconds:g} s")
    if outcome.signal is not None and outcome.signal not in {signal.SIGTERM, signal.SIGINT}:
        raise FailedError(f"{after} the process crashed: {outcome.describe()}")


@check(
    "output.clean",
    "Everything on stdout is a message",
    weight=3,
    transports=STDIO,
    why="One line that is none, such as a greeting or a stray print, ends the session in strict clients.",
    how="A whole session with a list, calls good and bad, a broken line and its end; wants nothing on stdout "
    "but JSON-RPC, one message per line.",
)
async def clean(bench: Bench) -> None:
    """Listens to a whole session."""
    talk = await bench.stdio_session()
    for method in ("tools/list", "probe/no-such-method"):
        await talk.ask(method)
    if bench.survey.has_tools:
        await talk.ask("tools/call", {"name": "probe_no_such_tool", "arguments": {}})
    if bench.survey.tool is not None:
        await talk.ask("tools/call", call_params(bench.survey.tool))
    await talk.write(b"{bad json")
    await talk.alive("a broken line")
    talk.end_input()
    await talk.wait_end(LEAVE)
    await talk.settle()
    if talk.noise:
        raise FailedError(told_noise(talk.noise))


@check(
    "ending.eof",
    "At the end of its input the process leaves",
    weight=3,
    transports=STDIO,
    why="A client that leaves closes the pipe; what stays behind fills the machine, one process per session.",
    how=f"Closes stdin of an idle session; wants the end of the process within {LEAVE:g} s.",
)
async def eof(bench: Bench) -> None:
    """Closes the input."""
    talk = await bench.stdio_session()
    await talk.alive("the handshake")
    talk.end_input()
    await _must_leave(talk, LEAVE, "at the end of its input")


@check(
    "ending.half-line",
    "Half a line at the end of the input does not hold the process",
    weight=1,
    transports=STDIO,
    why="That is how the input of a client that was killed ends.",
    how=f"Writes half a message and closes stdin; wants the end of the process within {LEAVE:g} s.",
)
async def half_line(bench: Bench) -> None:
    """Ends in the middle of a message."""
    talk = await bench.stdio_session()
    await talk.alive("the handshake")
    await talk.write_bytes(b'{"jsonrpc":"2.0","id":1,"meth')
    talk.end_input()
    await _must_leave(talk, LEAVE, "at an end in the middle of a line")


@check(
    "ending.answers-first",
    "What was asked before the end of the input is answered",
    weight=2,
    transports=STDIO,
    why="Scripts write their requests into a pipe and close it; what is lost then is lost without a word.",
    how=f"Sends {ASKED} requests and closes stdin at once; wants one answer to each.",
)
async def answers_first(bench: Bench) -> None:
    """Asks and leaves."""
    talk = await bench.stdio_session()
    await talk.alive("the handshake")
    ids = [f"last-{number}" for number in range(ASKED)]
    for request_id in ids:
        await talk.send(talk.request(talk.lightest, request_id=request_id))
    talk.end_input()
    await answered_once(talk, ids, "requests before the end of the input", LEAVE)


@check(
    "ending.eof-busy",
    "At the end of its input the process leaves, also with a call in flight",
    weight=2,
    transports=STDIO,
    why="Clients rarely leave at a quiet moment.",
    how="Starts a slow call, closes stdin; wants the end of the process within --deadline seconds.",
)
async def eof_busy(bench: Bench) -> None:
    """Closes the input while there is work."""
    slow = bench.slow()
    talk = await bench.stdio_session()
    await bench.busy_with(talk, slow, "busy")
    talk.end_input()
    await _must_leave(talk, bench.options.deadline, "at the end of its input, with a call in flight,")


@check(
    "ending.sigterm",
    "At SIGTERM the process leaves",
    weight=2,
    transports=STDIO,
    why="It is the second thing that clients and service managers try; the third is SIGKILL, which saves nothing.",
    how=f"Sends SIGTERM to an idle server; wants its end within {LEAVE:g} s.",
)
async def sigterm(bench: Bench) -> None:
    """Asks the process to end."""
    talk = await bench.stdio_session()
    await talk.alive("the handshake")
    assert talk.process is not None
    bench.transcript.note("SIGTERM is sent")
    with suppress(ProcessLookupError):
        os.kill(talk.process.pid, signal.SIGTERM)
    await _must_leave(talk, LEAVE, "at SIGTERM")


async def _at_work(bench: Bench) -> Watch:
    """A server under watch, with a call in flight where one is known: it may have started processes."""
    found = await watch(bench)
    use = bench.options.hang or bench.options.slow
    if use is not None:
        await bench.busy_with(found.talk, use, "working")
        await found.talk.settle()
    return found


async def _must_leave_nothing(bench: Bench, found: Watch, after: str) -> None:
    left = await found.wait_left(bench.options.deadline)
    if left is None:
        raise SkippedError(f"{after} the server did not end", "see what the checks of `ending` say")
    if left:
        raise FailedError(f"{after} the server left {len(left)} process(es) behind: {' '.join(left)[:200]}")


ORPHANS = "Processes without a parent hold memory, ports and locks until somebody finds them."


@check(
    "orphans.eof",
    "After the end of the input nothing is left",
    weight=3,
    transports=STDIO,
    why=ORPHANS,
    how="Starts a call that hangs or is slow, if one is known, closes stdin; wants every process below the "
    "server gone 5 s after it.",
)
async def orphans_eof(bench: Bench) -> None:
    """Closes the input and counts."""
    found = await _at_work(bench)
    found.talk.end_input()
    await _must_leave_nothing(bench, found, "after the end of its input")


@check(
    "orphans.sigterm",
    "After SIGTERM nothing is left",
    weight=3,
    transports=STDIO,
    why=ORPHANS,
    how="The same, with SIGTERM to the server.",
)
async def orphans_sigterm(bench: Bench) -> None:
    """Asks the server to end and counts."""
    found = await _at_work(bench)
    found.signal(signal.SIGTERM)
    await _must_leave_nothing(bench, found, "after SIGTERM")


@check(
    "orphans.sigkill",
    "After SIGKILL of the server nothing is left",
    weight=3,
    transports=STDIO,
    why=ORPHANS,
    how="The same, with SIGKILL to the server: what it started must notice by itself.",
)
async def orphans_sigkill(bench: Bench) -> None:
    """Kills the server and counts."""
    found = await _at_work(bench)
    found.signal(signal.SIGKILL)
    await _must_leave_nothing(bench, found, "after SIGKILL")


CHECKS = (
    clean, eof, half_line, answers_first, eof_busy, sigterm, orphans_eof, orphans_sigterm, orphans_sigkill,
)  # fmt: skip
