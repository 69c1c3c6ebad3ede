"""Internal errors as the author of a server reads them: what was raised, and where in the author's own files.

The caller of a tool is told no more than the class of the cause; whoever runs the server at a terminal is.
"""

import re
import sysconfig
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from holdfast.observe.sink import EventSink
from holdfast.present.bounds import clean_line, collapse_whitespace, truncate_chars
from holdfast.vocabulary.events import Event, FaultRecorded

__all__ = ["FaultWatch", "describe_fault", "describe_record"]

_FRAME = re.compile(r'File "(?P<file>[^"\n]+)", line (?P<line>[0-9]+), in (?P<function>.+)')
_START = "Traceback (most recent call last)"
_FOREIGN = tuple(Path(sysconfig.get_path(name)) for name in ("stdlib", "platstdlib"))
_OURS = Path(__file__).parents[1]
MAX_FRAMES = 8
WIDTH = 400  # characters of one line


class FaultWatch:
    """Passes events on to a log, and adds the faults among them to a list."""

    def __init__(self, log: EventSink, faults: list[FaultRecorded] | None) -> None:
        self._log = log
        self._faults = faults

    def emit(self, event: Event) -> None:
        """Take one event."""
        if self._faults is not None and isinstance(event, FaultRecorded):
            self._faults.append(event)
        self._log.emit(event)

    def flush(self) -> None:
        """Write what is buffered."""
        self._log.flush()

    def close(self) -> None:
        """Write what is buffered and let go of the file."""
        self._log.close()


def describe_fault(fault: FaultRecorded, *, whole: bool = False) -> Iterator[str]:
    """The author's frames, the innermost last and with the cause; `whole` gives the traceback instead."""
    cause = f"{fault.cause_class}: {collapse_whitespace(fault.message)}".removesuffix(": ")
    if whole:
        yield from (clean_line(line) for line in fault.traceback.splitlines())
        if cause not in fault.traceback:
            yield _line(cause)
    else:
        *outer, inner = _own_frames(fault.traceback) or [""]
        yield from map(_line, [*outer, f"{inner}: {cause}" if inner else cause])
    yield from _violations(fault.details)


def describe_record(record: Mapping[str, Any]) -> Iterator[str]:
    """A fault from the event log, in full: its fields, one per line, and the traceback as it was printed."""
    for key, value in record.items():
        if key != "traceback":
            yield clean_line(f"{key}: {collapse_whitespace(value) if isinstance(value, str) else value}")
    yield from (clean_line(line) for line in str(record.get("traceback", "")).splitlines())


def _own_frames(trace: str) -> list[str]:
    """The frames in files of the author, of the last exception of the chain that has any."""
    for part in reversed(trace.split(_START)):
        found = [
            f"{_shown(match['file'])}:{match['line']} in {match['function']}"
            for match in _FRAME.finditer(part)
            if _is_own(match["file"])
        ]
        if found:
            return found[-MAX_FRAMES:]
    return []


def _is_own(filename: str) -> bool:
    file = Path(filename)
    if filename.startswith("<") or "site-packages" in file.parts:
        return False
    return not any(file.is_relative_to(place) for place in (_OURS, *_FOREIGN))


def _shown(filename: str) -> str:
    try:
        return str(Path(filename).resolve().relative_to(Path.cwd()))
    except (OSError, ValueError):
        return filename


def _violations(details: Mapping[str, Any] | None) -> Iterator[str]:
    found = (details or {}).get("violations")
    for item in found if isinstance(found, list) else ():
        # Those of a projection have no words but a rule, which the cause has named already.
        if isinstance(item, dict) and "message" in item:
            yield _line(f"  {item.get('instancePath') or '/'}: {item['message']}")


def _line(text: str) -> str:
    return "  " + truncate_chars(clean_line(text), WIDTH)
