"""A host that replaces itself: the next version of it goes on in the same process, with the same client.

What has to go along is sealed in a capsule: the session and its requests, and the bytes of a message that the
client has half written. It is a file without a name that only the next program inherits, so nobody else can read
it, and it can be used once. The next version looks at it first and says whether it takes it whole: only then does
the old one let go. POSIX only: nothing else can become another program and keep its pipes.

The program that is asked is the very one that will go on: the same command line, with the same settings.
"""

import base64
import os
import sys
import tempfile
from collections.abc import Sequence
from typing import Any, NamedTuple

from holdfast.errors import HoldfastError, ProcessError
from holdfast.interpreter import same_command
from holdfast.kernel.capsule import CapsuleError, CapsuleLimits, capture, restore
from holdfast.kernel.capsule_values import part, require
from holdfast.kernel.policy import Policy
from holdfast.kernel.state import Restarts, State
from holdfast.observe.ledger import Ledger
from holdfast.process.command import MARKER
from holdfast.stdio.streams import StandardStreams
from holdfast.version import __version__
from holdfast.wire.codec import decode, encode

__all__ = ["Capsule", "become", "inherited", "objection_to", "opened", "sealed"]

FORMAT = 2
VARIABLE = "HOLDFAST_TAKEOVER"
TRIAL = "trial"
CHECK_TIMEOUT = 30.0
_LIMITS = CapsuleLimits()
# Whoever checks a capsule need not know how many requests this host allows: it has them.
_ANY_SIZE = Policy(pending_max=10**9, pending_bytes=2**50, facts_max=10**9)


class Capsule(NamedTuple):
    """What one host leaves to the next."""

    kernel: bytes
    unread: bytes  # of a message of which the rest is still to come
    command: tuple[str, ...]  # that serves
    figures: Any  # of its telemetry
    counts: dict[str, int]
    restarts: int
    metrics_port: int  # 0 where the figures are not told
    is_trial: bool = False  # it is only asked whether it would be taken

    def state(self, policy: Policy, now: float) -> State:
        """The state to go on from; CapsuleError when it is not whole."""
        state = restore(self.kernel, policy, now, _LIMITS)
        state.counts = dict(self.counts)
        state.restarts = Restarts(self.restarts)
        return state


def sealed(
    state: State, now: float, unread: bytes, command: Sequence[str], figures: Any, metrics_port: int
) -> int:
    """A capsule as an open file that has no name; its descriptor."""
    document = {
        "format": FORMAT,
        "from": __version__,
        "kernel": base64.b64encode(capture(state, now)).decode(),
        "unread": base64.b64encode(unread).decode(),
        "command": list(command),
        "figures": figures,
        "counts": dict(state.counts),
        "restarts": state.restarts.total,
        "metrics_port": metrics_port,
    }
    with tempfile.TemporaryFile() as file:
        file.write(encode(document))
        file.flush()
        return os.dup(file.fileno())


def opened(data: bytes) -> Capsule:
    """The capsule in these bytes, looked at as closely as can be; CapsuleError where anything is wrong."""
    try:
        told = decode(data)
    except HoldfastError as error:
        raise CapsuleError(f"the capsule is damaged: {error}") from None
    require(isinstance(told, dict) and type(told.get("format")) is int, "it is none")
    require(told["format"] == FORMAT, f"its format is not {FORMAT}")
    kernel, unread = (_bytes(part(told, name, str)) for name in ("kernel", "unread"))
    command, counts = part(told, "command", list), part(told, "counts", dict)
    require(bool(command) and all(isinstance(word, str) for word in command), "its command is none")
    require(all(type(number) is int for number in counts.values()), "its counts are none")
    restarts, port = (part(told, name, int) for name in ("restarts", "metrics_port"))
    require(restarts >= 0, "its restarts are none")
    require(0 <= port <= 65535, "its port is none")
    capsule = Capsule(kernel, unread, tuple(command), told.get("figures"), counts, restarts, port)
    capsule.state(_ANY_SIZE, 0.0)
    try:
        Ledger.from_json(capsule.figures)
    except ValueError as error:
        raise CapsuleError(f"the capsule is refused: {error}") from None
    return capsule


def _bytes(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except ValueError:
        raise CapsuleError("the capsule is refused: its content is not what was sealed") from None


def _read(descriptor: int) -> bytes:
    with os.fdopen(os.dup(descriptor), "rb") as file:
        file.seek(0)
        return file.read(_LIMITS.total_bytes * 2)


async def objection_to(descriptor: int) -> str:
    """What the version that is installed now says against the capsule; nothing if it takes it."""
    from holdfast.process import run

    environment = {**os.environ, VARIABLE: TRIAL}
    try:
        done = await run(same_command(), stdin=_read(descriptor), env=environment, timeout=CHECK_TIMEOUT)
    except ProcessError as error:
        return f"the new version cannot be started: {error.message}"
    lines = done.stderr.strip().splitlines() or [done.outcome.describe()]
    told = next((line for line in lines if line.startswith("holdfast: ")), lines[-1]).removeprefix("holdfast: ")
    return "" if done.ok else f"the new version does not take over: {told}"


def become(descriptor: int, streams: StandardStreams) -> None:
    """Go on as the program that was started, as it is installed now; never returns."""
    os.dup2(streams.reader, 0)
    os.dup2(streams.writer, 1)
    os.set_inheritable(descriptor, True)  # noqa: FBT003
    environment = {**os.environ, VARIABLE: str(descriptor)}
    outer = environment.pop(MARKER, "").rpartition(":")[0]  # without the mark that this host has put there itself
    os.execve(sys.executable, same_command(), {**environment, MARKER: outer} if outer else environment)  # noqa: S606


def inherited() -> Capsule | None:
    """What an earlier host has left to this one, if it was one; CapsuleError when it is not whole."""
    told = os.environ.pop(VARIABLE, "")
    if not told:
        return None
    if told == TRIAL:
        return opened(sys.stdin.buffer.read(_LIMITS.total_bytes * 2))._replace(is_trial=True)
    require(told.isascii() and told.isdigit(), "there is none")
    try:
        data = _read(int(told))
        os.close(int(told))
    except OSError as error:
        raise CapsuleError(f"the capsule is refused: {error.strerror}") from error
    return opened(data)
