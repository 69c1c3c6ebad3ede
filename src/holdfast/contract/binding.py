"""The two crossings of a call: JSON arguments to typed Python values, and the returned value back to JSON.

Both run on every call, so everything that can be prepared at registration is. Arguments arrive here after the
published schema accepted them; what is refused here is what a schema cannot say, such as a date that does not
exist or a validator of the author.
"""

import json
import math
import re
from collections.abc import Callable
from typing import Any

import orjson

from holdfast.errors import HoldfastError
from holdfast.wire.codec import is_surely_finite

__all__ = [
    "ArgumentsRejected",
    "OutputRejected",
    "argument_binder",
    "dump_nothing",
    "is_finite",
    "json_reader",
    "value_dumper",
    "violations_of",
]

_FORMAT_ERRORS = re.compile(r"(date|time|uuid|url|ip_|decimal|timezone)")
_REASONS_SHOWN = 8
_NOT_UNICODE = "text that is not valid Unicode: it holds half of a surrogate pair"
# orjson writes NaN and infinities as null. pydantic puts U+FFFD for a surrogate in the key of a map, which may
# make one key of two; its first byte in UTF-8 is the fastest to look for.
_REPLACED = b"\xef"
_SURROGATE = re.compile("[\ud800-\udfff]")


class ArgumentsRejected(HoldfastError):  # noqa: N818 - an outcome of the call, not a defect
    """Arguments that fit the schema but not the types of the function; `violations` lists all of them."""

    def __init__(self, violations: list[dict[str, Any]]) -> None:
        super().__init__("; ".join(f"{item['instancePath'] or '/'}: {item['message']}" for item in violations))
        self.violations = violations


class OutputRejected(HoldfastError):  # noqa: N818 - an outcome of the call, not a defect
    """A tool returned a value that is not what its annotation says; `reasons` lists why."""

    def __init__(self, reasons: list[str]) -> None:
        super().__init__("; ".join(reasons))
        self.reasons = reasons


def argument_binder(adapter: Any) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """A function from JSON arguments to keyword arguments. Keys that are no parameter are left out."""
    from pydantic_core import ValidationError

    validate = json_reader(adapter)

    def bind(arguments: dict[str, Any]) -> dict[str, Any]:
        try:
            bound: dict[str, Any] = validate(arguments)
        except ValidationError as error:
            raise ArgumentsRejected(violations_of(error, arguments)) from error
        return bound

    return bind


def json_reader(adapter: Any) -> Callable[[Any], Any]:
    """The way from JSON values to the values of the type; raises what pydantic raises."""
    if not _is_strict(adapter.core_schema):
        read: Callable[[Any], Any] = adapter.validator.validate_python
        return read
    # A strict type takes a date, an enum or a tuple from Python only as such; from JSON in the form JSON has.
    read_json = adapter.validator.validate_json
    return lambda value: read_json(json.dumps(value))


def _is_strict(part: Any) -> bool:
    """Whether something in a schema of pydantic's own is declared strict."""
    if isinstance(part, dict):
        return part.get("strict") is True or any(map(_is_strict, part.values()))
    return isinstance(part, (list, tuple)) and any(map(_is_strict, part))


def value_dumper(
    adapter: Any, *, may_hold_floats: bool, may_hold_text: bool, may_hold_maps: bool
) -> Callable[[Any], Any]:
    """A function from a returned value to the JSON value that it is published as.

    What JSON cannot say is refused, and looked for only where the type may hold it.
    """
    serialize = adapter.serializer.to_python
    may_be_unsayable = may_hold_floats or may_hold_text or may_hold_maps

    def dump(value: Any) -> Any:
        try:
            payload = serialize(value, mode="json", by_alias=True, warnings="error")
        except (ValueError, RecursionError) as error:  # pydantic's own errors are ValueErrors
            raise OutputRejected(_reasons(error)) from error
        if may_be_unsayable:
            written = _written(payload)
            is_doubtful = may_hold_floats and b"null" in written and not is_surely_finite(payload)
            if is_doubtful and not is_finite(payload):
                raise OutputRejected(["a number is not finite; JSON has no NaN and no infinity"])
            if may_hold_maps and _REPLACED in written and not _is_unicode(serialize(value)):
                raise OutputRejected([_NOT_UNICODE])
        return payload

    return dump


def _written(payload: Any) -> bytes:
    """The payload as JSON text: many times faster to make, and to search, than each value is to look at."""
    try:
        return orjson.dumps(payload)
    except TypeError:  # a lone surrogate; or an integer beyond 64 bits, which is no fault
        if not _is_unicode(payload):
            raise OutputRejected([_NOT_UNICODE]) from None
    return b"null" + _REPLACED  # it may hold either


def dump_nothing(value: Any) -> dict[str, Any]:
    """The payload of a tool that returns nothing."""
    if value is not None:
        raise OutputRejected([f"declared to return None, returned {type(value).__name__}"])
    return {}


def violations_of(error: Any, arguments: dict[str, Any]) -> list[dict[str, Any]]:
    """What a validation error of pydantic says, as violations at places of the arguments."""
    found = []
    for item in error.errors(include_url=False, include_input=False):
        keyword = "format" if _FORMAT_ERRORS.match(item["type"]) else item["type"]
        top = str(item["loc"][0]) if item["loc"] else ""
        found.append(
            {
                "instancePath": _instance_path(item["loc"], arguments),
                "schemaPath": f"/properties/{_escaped(top)}" if top else "",
                "keyword": keyword,
                "params": {key: str(value) for key, value in item.get("ctx", {}).items()},
                "message": item["msg"],
            }
        )
    return found


def _instance_path(location: tuple[int | str, ...], value: Any) -> str:
    """The JSON Pointer of a pydantic location, without the steps that name a type instead of a place."""
    pointer = ""
    for step in location:
        in_object = isinstance(value, dict) and step in value
        in_array = isinstance(value, list) and isinstance(step, int) and step < len(value)
        if in_object or in_array:
            value = value[step]
            pointer += f"/{_escaped(str(step))}"
    return pointer


def _escaped(step: str) -> str:
    return step.replace("~", "~0").replace("/", "~1")


def _reasons(error: Exception) -> list[str]:
    lines = [line.strip() for line in str(error).splitlines()]
    kept = [line for line in lines if line and not line.startswith("Pydantic serializer warnings")]
    return [_reason(line) for line in kept[:_REASONS_SHOWN]] or [type(error).__name__]


def _reason(line: str) -> str:
    line = line.removeprefix("PydanticSerializationUnexpectedValue(").removesuffix(")")
    return line.removeprefix("PydanticSerializationUnexpectedValue: ").replace(
        " - serialized value may not be as expected", ""
    )[:300]


def is_finite(value: Any) -> bool:
    """Whether a plain value holds no NaN and no infinity."""
    if type(value) is float:
        return math.isfinite(value)
    if type(value) is dict:
        return all(map(is_finite, value.values()))
    if type(value) is list:
        return all(map(is_finite, value))
    return True


def _is_unicode(value: Any) -> bool:
    if type(value) is str:
        return _SURROGATE.search(value) is None
    if type(value) is dict:
        return all(map(_is_unicode, value)) and all(map(_is_unicode, value.values()))
    if isinstance(value, (list, tuple)):
        return all(map(_is_unicode, value))
    return True
