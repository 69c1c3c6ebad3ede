"""Events as a person reads them: one line each, the newest last."""

from collections import deque
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from holdfast.observe.event_log import read_events
from holdfast.present.bounds import clean_line, collapse_whitespace, truncate_chars
from holdfast.vocabulary.events import FaultRecorded
from holdfast.wire.codec import encode

__all__ = ["describe_event", "find_fault", "latest_events"]

_LONG = frozenset({"traceback"})  # left to --fault and --json
WIDTH = 80  # characters of one value


def latest_events(paths: Iterable[Path], number: int) -> list[dict[str, Any]]:
    """The latest events of these logs, by their time."""
    kept = [event for path in paths for event in deque(read_events(path), maxlen=number)]
    return sorted(kept, key=lambda event: str(event.get("ts", "")))[-number:]


def find_fault(paths: Iterable[Path], fault_id: str) -> dict[str, Any] | None:
    """The record of this fault, wherever in these logs it is."""
    for path in paths:
        for event in read_events(path):
            if event.get("event") == FaultRecorded.name and event.get("fault_id") == fault_id:
                return event
    return None


def describe_event(event: dict[str, Any]) -> Iterator[str]:
    """Time, name, then every field as key=value; one line."""
    fields = [f"{key}={_shown(value)}" for key, value in event.items() if key not in _LONG | {"ts", "event"}]
    yield clean_line(" ".join([str(event.get("ts", "")), str(event.get("event", "")), *fields]))


def _shown(value: Any) -> str:
    text = collapse_whitespace(value) if isinstance(value, str) else encode(value).decode()
    return truncate_chars(f'"{text}"' if " " in text else text, WIDTH)
