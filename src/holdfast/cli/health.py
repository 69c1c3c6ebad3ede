"""The health of a host as a person reads it: one screen, one fact per line, aligned; a reason goes on below.

A host of another version may leave out or add fields; what is not there is not shown.
"""

import shlex
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

from holdfast.present.bounds import clean_line, collapse_whitespace, truncate_chars
from holdfast.present.counted import counted

__all__ = ["command_line", "describe_health", "duration"]

_WIDTH = 110
_MARGIN = 14  # in front of a text, and of its further lines
_MOST = 6  # lines of a reason
_REASONS = frozenset({"", "last fault", "reason", "tools"})
# Counters in the order in which they matter; those that are zero are left out, except the first two.
_COUNTERS = ("requests", "answered", "replayed", "ambiguous", "cancelled", "timeouts", "late", "noise_lines",
             "workers_lost")  # fmt: skip
_THINGS = {
    "requests": ("request", ""),
    "timeouts": ("timeout", ""),
    "noise_lines": ("noise line", ""),
    "workers_lost": ("worker", " lost"),
}


def describe_health(health: Mapping[str, Any]) -> Iterator[str]:
    """The lines of one host's health."""
    state = str(health.get("state", "unknown"))
    if health.get("degraded") and state != "degraded":
        state += ", degraded"
    yield _line(f"{health.get('name', 'host')}: {state}")
    for title, text in _facts(health):
        if text:
            yield from _lines(title, text, _MOST if title in _REASONS else 1)


def _facts(health: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    started = health.get("started")
    up = f"up {duration(health.get('uptime_ms'))}" + (f", since {started}" if started else "")
    yield "host", _joined(_some("pid {}", health.get("pid")), up)
    yield "reason", str(health.get("reason") or "")
    yield "command", command_line(health.get("command"))
    yield "worker", _worker(health)
    yield "tools", _some("not known: {}", health.get("tools_trouble"))
    yield (
        "session",
        _joined(
            str(health.get("session") or ""),
            *(_count(health.get(name), words) for name, words in _WAITING.items()),
        ),
    )
    failures = health.get("consecutive_failures")
    yield (
        "restarts",
        _joined(
            _some("{}", health.get("restart_count")),
            f"{counted(failures, 'failure')} in a row" if failures else "",
        ),
    )
    yield "spare", str(health.get("spare") or "")
    yield "rollout", _rollout(health)
    yield "", _last_rollout(health.get("last_rollout"))
    yield "calls", _counters(health.get("counters"))
    yield "last fault", _fault(health.get("last_fault"))
    yield "metrics", _some("http://{}/metrics", health.get("metrics"))


_WAITING = {"pending": "in flight", "queued": "queued", "held_for_probe": "held for a probe"}


def _rollout(health: Mapping[str, Any]) -> str:
    left = health.get("probation_ms")
    return _joined(
        str(health.get("rollout") or ""),
        _some("release {}", health.get("release")),
        f"on probation for {duration(left)}" if left else "",
    )


def _last_rollout(last: Any) -> str:
    """Why the last replacement came to nothing."""
    if not isinstance(last, Mapping) or last.get("outcome") not in {"failed", "rolled_back"}:
        return ""
    return f"release {last.get('release')} {str(last['outcome']).replace('_', ' ')}: {last.get('reason')}"


def _worker(health: Mapping[str, Any]) -> str:
    return _joined(
        _some("pid {}", health.get("worker_pid")),
        _some("generation {}", health.get("generation")),
        _some("handshake {}", health.get("worker_handshake")),
    )


def _counters(counters: Any) -> str:
    if not isinstance(counters, Mapping):
        return ""
    names = [*_COUNTERS, *(name for name in counters if name not in _COUNTERS)]
    shown = [name for name in names if name in counters and (counters[name] or name in _COUNTERS[:2])]
    return ", ".join(_counter(str(name), counters[name]) for name in shown)


def _counter(name: str, value: Any) -> str:
    thing, rest = _THINGS.get(name, ("", ""))
    return f"{counted(value, thing)}{rest}" if thing else f"{value} {name.replace('_', ' ')}"


def _fault(fault: Any) -> str:
    if not isinstance(fault, Mapping):
        return ""
    words = [str(fault[name]) for name in ("class", "code") if fault.get(name)]
    message = collapse_whitespace(str(fault.get("message") or ""))
    text = ": ".join(part for part in (" ".join(words), message) if part)
    return text + _some(" (generation {})", fault.get("generation"))


def command_line(command: Any) -> str:
    """A command as one would type it."""
    return shlex.join(map(str, command)) if isinstance(command, list | tuple) else ""


def duration(milliseconds: Any) -> str:
    """A time span in its two largest units: `3 h 12 min`."""
    if not isinstance(milliseconds, int | float) or isinstance(milliseconds, bool) or milliseconds < 0:
        return "-"
    seconds = int(milliseconds) // 1000
    for (size, unit), (smaller, lesser) in pairwise(_UNITS):
        if seconds >= size:
            rest = seconds % size // smaller
            return f"{seconds // size} {unit}" + (f" {rest} {lesser}" if rest else "")
    return f"{seconds} s"


_UNITS = ((86_400, "d"), (3_600, "h"), (60, "min"), (1, "s"))


def _some(form: str, value: Any) -> str:
    return "" if value is None else form.format(value)


def _count(value: Any, words: str) -> str:
    return f"{value} {words}" if value else ""


def _joined(*parts: str) -> str:
    return ", ".join(part for part in parts if part)


def _line(text: str) -> str:
    return truncate_chars(clean_line(text), _WIDTH)


def _lines(title: str, text: str, most: int) -> Iterator[str]:
    """A fact, in as many lines as it may have; the last of them is cut where it would need more."""
    rest = clean_line(collapse_whitespace(text))
    head = f"  {title:<{_MARGIN - 3}} "
    while most > 1 and len(rest) > _WIDTH - _MARGIN:
        at = rest.rfind(" ", 1, _WIDTH - _MARGIN + 1)
        at = at if at > 0 else _WIDTH - _MARGIN
        yield f"{head}{rest[:at]}"
        head, rest, most = " " * _MARGIN, rest[at:].lstrip(), most - 1
    yield _line(head + rest)
