"""The checks, in the order in which they are shown; and the words by which one asks for some of them."""

from collections.abc import Sequence

from holdfast.errors import UsageError
from holdfast.probe import (
    calls,
    cancellation,
    catalog,
    crash,
    ending,
    envelopes,
    handshake,
    http_rules,
    ids,
    malformed,
    overload,
    progress,
)
from holdfast.probe.model import Check

__all__ = ["CHECKS", "GROUPS", "chosen"]

# What each group is about, in one line.
GROUPS = {
    "malformed": "Input that is no message",
    "envelopes": "JSON that is no proper message",
    "ids": "Request ids",
    "handshake": "How a session begins",
    "cancellation": "Cancellation",
    "overload": "Many requests at once",
    "progress": "Progress notifications",
    "calls": "Tool calls, good and bad",
    "catalog": "The list of tools",
    "output": "What is written to stdout",
    "ending": "The end of the input and of the process",
    "orphans": "Processes that are left behind",
    "crash": "The death of a worker",
    "http": "What HTTP adds",
}

_ROOMS = (
    malformed, envelopes, ids, handshake, cancellation, overload, progress, calls, catalog, ending, crash,
    http_rules,
)  # fmt: skip

CHECKS: tuple[Check, ...] = tuple(check for room in _ROOMS for check in room.CHECKS)


def chosen(words: Sequence[str]) -> tuple[Check, ...]:
    """The checks that these ids or groups name, in the order of the table; all of them where there are none."""
    if not words:
        return CHECKS
    known = {check.id for check in CHECKS} | set(GROUPS)
    for word in words:
        if word not in known:
            raise UsageError(f"there is no check {word!r}", remedy="holdfast probe --list")
    return tuple(check for check in CHECKS if check.id in words or check.group in words)
