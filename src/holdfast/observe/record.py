"""One event to one line of JSON that can always be written: cheap when it is plain, safe when it is not.

Nothing here touches a file. A value that JSON cannot say is replaced by words about it, and a record that is too
long is shortened and says so (`"shortened": true`); a fault whose record is missing could not be looked up.
"""

import dataclasses
import math
import os
import sys
import time
from collections.abc import Mapping
from typing import Any

from holdfast.errors import WireError
from holdfast.observe.redaction import Redactor, is_plain
from holdfast.vocabulary.events import Event
from holdfast.wire.codec import decode, encode

__all__ = ["Clock", "to_line"]

_MAX_DEPTH = 32
_MAX_ITEMS = 10_000
_MAX_BITS = 10_000  # longer integers cannot be turned into digits
_LEAST_CHARACTERS = 32  # what is left of a long field at least, and all of the name and the time
_CRUDE = 8  # before redaction a record may be this many times longer than after it


class Clock:
    """The time of a record, as ISO 8601 in UTC with milliseconds; the text of a second is made once."""

    def __init__(self) -> None:
        self._second = -1
        self._text = ""

    def now(self) -> str:
        """The present time."""
        milliseconds = time.time_ns() // 1_000_000
        second = milliseconds // 1000
        if second != self._second:
            self._second = second
            self._text = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(second))
        return f"{self._text}.{milliseconds % 1000:03d}Z"


def to_line(event: Event, timestamp: str, redactor: Redactor | None, limit: int) -> bytes:
    """The line of `event`, line end included, of at most `limit` bytes."""
    record: dict[str, Any] = {"event": event.name, "ts": timestamp}
    doubtful: list[str] = []
    for name, ours in _FIELDS.get(type(event)) or _learn_fields(type(event)):
        value = getattr(event, name)
        if value is not None:
            record[name] = value
            if not ours and not is_plain(value):
                doubtful.append(name)
    line = _encoded(record)
    if redactor is not None and doubtful:
        if len(line) > limit * _CRUDE:  # redaction takes time in proportion to the length
            record = _shortened(record, limit * _CRUDE)
        told = {name: record[name] for name in doubtful}
        record |= redactor.value(_plain_copy(told, _encoded(told)))
        line = _encoded(record)
    if len(line) >= limit:
        line = _encoded(_shortened(record, limit - 1))
    return line + b"\n"


_FIELDS: dict[type[Event], tuple[tuple[str, bool], ...]] = {}


def _learn_fields(kind: type[Event]) -> tuple[tuple[str, bool], ...]:
    """The fields of an event that are written, each with whether its text is known to be harmless."""
    names = [field.name for field in dataclasses.fields(kind) if field.name not in kind.unwritten]
    fields = tuple((name, name in kind.ours) for name in names)
    _FIELDS[kind] = fields
    return fields


def _encoded(value: Any) -> bytes:
    try:
        return encode(value)
    except (TypeError, ValueError):
        return encode(_sayable(value, _Budget()))


def _plain_copy(record: dict[str, Any], line: bytes) -> Any:
    """The record as a reader of its line sees it: texts, numbers, lists and objects only."""
    try:
        return decode(line, max_depth=sys.maxsize)
    except WireError:  # nested as deeply as can be written but not read
        return _sayable(record, _Budget())


class _Budget:
    """How many more items a value may have; it ends what refers to itself."""

    def __init__(self) -> None:
        self.items = _MAX_ITEMS


def _sayable(value: Any, budget: _Budget, depth: int = _MAX_DEPTH) -> Any:
    """A copy of any value that JSON can say."""
    budget.items -= 1
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return value if value.bit_length() <= _MAX_BITS else f"<integer of {value.bit_length()} bits>"
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, os.PathLike):
        return _sayable(os.fsdecode(value), budget)
    if depth == 0 or budget.items <= 0:
        return "[left out]"
    if isinstance(value, Mapping):
        return {
            _sayable(str(key), budget): _sayable(item, budget, depth - 1)
            for key, item in value.items()
            if budget.items > 0
        }
    if isinstance(value, list | tuple | set | frozenset):
        return [_sayable(item, budget, depth - 1) for item in value if budget.items > 0]
    return f"<{type(value).__qualname__}>"


def _shortened(record: dict[str, Any], limit: int) -> dict[str, Any]:
    """The record with its long fields cut in the middle until it fits."""
    fields = {
        name: value if isinstance(value, str | int | float) else _encoded(value).decode()
        for name, value in record.items()
    }
    characters = limit // 2
    while True:
        shorter = {name: _cut(value, characters) for name, value in fields.items()} | {"shortened": True}
        if characters <= _LEAST_CHARACTERS or len(_encoded(shorter)) <= limit:
            return shorter
        characters = max(characters // 2, _LEAST_CHARACTERS)


def _cut(value: Any, characters: int) -> Any:
    if not isinstance(value, str) or len(value) <= characters:
        return value
    half = characters // 2
    return f"{value[:half]} [{len(value) - 2 * half} characters left out] {value[-half:]}"
