"""JSON values as JSON Schema sees them: which kind they are, and which of them are equal.

1 and 1.0 are the same number, true is no number, and objects do not know the order of their keys. Python says
otherwise about the first two, so nothing in this room compares plain values with `==`.
"""

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any, TypeAlias

from holdfast.contract.inclusion.model import Limits, Undecided

__all__ = [
    "KINDS",
    "TOO_LARGE",
    "Key",
    "Number",
    "check_size",
    "exact",
    "is_handy",
    "key_of",
    "kind_of",
    "plain_number",
]  # fmt: skip

KINDS = ("null", "boolean", "number", "string", "array", "object")

MOST_PARTS = 5_000  # of a value that is put together; a few shared parts can unfold without end
TOO_LARGE = f"a value would have more than {MOST_PARTS} parts"

Number: TypeAlias = int | Fraction
Key: TypeAlias = tuple[Any, ...]

_KIND_OF_TYPE = {
    type(None): "null",
    bool: "boolean",
    int: "number",
    float: "number",
    str: "string",
    list: "array",
    dict: "object",
}


def kind_of(value: Any) -> str:
    """The JSON kind of a value; integers are numbers."""
    return _KIND_OF_TYPE[type(value)]


def exact(number: float) -> Number:
    """The number that the JSON text says: 0.1 is a tenth, not the nearest binary fraction."""
    if isinstance(number, int):
        return number
    if number.is_integer():
        return int(number)
    return Fraction(Decimal(repr(number)))


def plain_number(number: Number) -> int | float | None:
    """A JSON number of exactly this value, or None where no double says it."""
    if isinstance(number, int) or number.denominator == 1:
        return int(number)
    try:
        nearest = float(number)
    except OverflowError:
        return None
    return nearest if exact(nearest) == number else None


def key_of(value: Any) -> Key:
    """Something hashable that is equal for two values exactly when JSON Schema calls them equal."""
    kind = kind_of(value)
    if kind == "number":
        return (kind, exact(value))
    if kind == "array":
        return (kind, tuple(key_of(item) for item in value))
    if kind == "object":
        return (kind, frozenset((name, key_of(item)) for name, item in value.items()))
    return (kind, value)


def is_handy(value: Any) -> bool:
    """Whether a value has few enough parts to be worked with; parts that are shared count each time they occur."""
    pending = [value]
    count = 0
    while pending and count <= MOST_PARTS:
        item = pending.pop()
        count += 1
        if type(item) is dict:
            pending.extend(item.values())
        elif type(item) is list:
            pending.extend(item)
    return count <= MOST_PARTS


def check_size(document: Any, limits: Limits) -> None:
    """Raise Undecided for what is not JSON, or is too large or too deep to work on; never recurses itself."""
    pending: list[tuple[Any, int]] = [(document, 0)]
    count = 0
    deepest = limits.depth * 3  # one level of a value takes up to three of the schema: properties, name, items
    while pending:
        value, depth = pending.pop()
        count += 1
        if count > limits.nodes:
            raise Undecided(f"the schema has more than {limits.nodes} parts")
        if depth > deepest:
            raise Undecided(f"the schema is nested deeper than {deepest} levels")
        if type(value) is dict:
            _check_keys(value)
            pending.extend((item, depth + 1) for item in value.values())
        elif type(value) is list:
            pending.extend((item, depth + 1) for item in value)
        else:
            _check_scalar(value, limits)


def _check_keys(value: dict[Any, Any]) -> None:
    for name in value:
        if type(name) is not str:
            raise Undecided(f"the key {name!r} is not a string")


def _check_scalar(value: Any, limits: Limits) -> None:
    if type(value) not in _KIND_OF_TYPE:
        raise Undecided(f"a value of type {type(value).__name__} is not JSON")
    if type(value) is float and not math.isfinite(value):
        raise Undecided(f"{value} is not a JSON number")
    if type(value) is int and abs(value) >= 10**limits.digits:
        raise Undecided(f"a number has more than {limits.digits} digits")
