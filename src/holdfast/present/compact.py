"""Values as JSON: compact text, and plain data out of whatever an author put into the details of a failure.

`compact_json` is strict, because a result that is not JSON is a defect to be found. `json_ready` is total,
because a failure must be told even when its details are not JSON.
"""

import json
import math
from collections.abc import Mapping
from typing import Any

import orjson

__all__ = ["compact_json", "json_ready"]

# Decimal text of a longer integer is refused by Python itself; nobody reads 4000 digits.
_MAX_INTEGER_BITS = 4096
_MAX_DEPTH = 32


def compact_json(value: Any) -> str:
    """The value as JSON on one line without blanks; TypeError or ValueError when it is not JSON.

    Key order is kept: it is the declared order of the payload. Integers beyond 64 bits are written exactly;
    NaN and the infinities, which JSON does not have, become null.
    """
    try:
        return orjson.dumps(value).decode()
    except TypeError:
        # orjson knows no integers beyond 64 bits; the slow path does, and names what it cannot write.
        text = json.dumps(value, separators=(",", ":"), ensure_ascii=False)
        text.encode()
        return text


def json_ready(value: Any) -> Any:
    """JSON data that shows `value` as well as JSON can; never raises.

    Bytes become text, sets become sorted lists, whatever is not JSON becomes its `str`. What is nested too
    deeply, or holds itself, ends in `…`.
    """
    return _ready(value, ())


def _ready(value: Any, above: tuple[int, ...]) -> Any:
    if isinstance(value, Mapping | list | tuple | set | frozenset):
        return _container(value, above)
    if isinstance(value, str):
        return _text(value)
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return int(value) if value.bit_length() <= _MAX_INTEGER_BITS else f"<integer of {value.bit_length()} bits>"
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else repr(float(value))
    if isinstance(value, bytes | bytearray):
        return bytes(value).decode("utf-8", "replace")
    return _shown(value)


def _container(value: Any, above: tuple[int, ...]) -> Any:
    if len(above) >= _MAX_DEPTH or id(value) in above:
        return "…"
    above = (*above, id(value))
    if isinstance(value, Mapping):
        return {_key(key): _ready(item, above) for key, item in value.items()}
    items = [_ready(item, above) for item in value]
    if isinstance(value, set | frozenset):
        items.sort(key=lambda item: json.dumps(item, sort_keys=True))
    return items


def _text(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


def _key(key: Any) -> str:
    return _text(key) if isinstance(key, str) else _shown(key)


def _shown(value: Any) -> str:
    try:
        return _text(str(value))
    except Exception:  # noqa: BLE001 - foreign code; the failure that is being told matters more than this detail
        return f"<{type(value).__name__}>"
