"""The query string of `GET /search` as the arguments of a search.

Values arrive as text and become what the table of fields says they are. A text that cannot become that is passed
on as it is: the tool's own validation then tells what is wrong with it, in the same words on every surface.
"""

import math
import re
from typing import Any
from urllib.parse import unquote_to_bytes

from holdfast.errors import ToolError
from holdfast.search.request_fields import FIELD_OF
from holdfast.search.request_schema import Violation, violation

__all__ = ["OTHER_NAMES", "decoded_pairs", "search_arguments"]

OTHER_NAMES = {"q": "query", "repo": "repoPath"}
_REPEATED = frozenset({"texts", "conditions", "places"})
_FLAGS = {
    **dict.fromkeys(("true", "1", "yes", "on"), True),
    **dict.fromkeys(("false", "0", "no", "off"), False),
}
_INTEGER = re.compile(r"-?[0-9]{1,18}")
_NUMBER = re.compile(r"-?[0-9]{1,18}(?:\.[0-9]{1,400})?(?:[eE][+-]?[0-9]{1,3})?")


def decoded_pairs(raw: bytes) -> list[tuple[str, str]]:
    """The parameters in order; ToolError INVALID_REQUEST where they are not UTF-8."""
    pairs = []
    for part in raw.split(b"&"):
        if part:
            name, _, value = part.partition(b"=")
            pairs.append((_text(name), _text(value)))
    return pairs


def search_arguments(raw: bytes) -> dict[str, Any]:
    """The arguments that a query string means; every parameter that is there twice is refused."""
    given: dict[str, list[str]] = {}
    spelled: dict[str, set[str]] = {}
    for name, value in decoded_pairs(raw):
        known = OTHER_NAMES.get(name, name)
        given.setdefault(known, []).append(value)
        spelled.setdefault(known, set()).add(name)
    repeated = [
        _repetition(name)
        for name, values in given.items()
        if len(spelled[name]) > 1 or (len(values) > 1 and not _is_list(name))
    ]
    if repeated:
        message = f"invalid arguments for search: {repeated[0]['message']}"
        raise ToolError("INVALID_REQUEST", message, details={"violations": repeated})
    return {name: _value(name, values) for name, values in given.items()}


def _text(raw: bytes) -> str:
    try:
        return unquote_to_bytes(raw.replace(b"+", b" ")).decode()
    except UnicodeDecodeError as error:
        raise ToolError("INVALID_REQUEST", "the query string is not UTF-8") from error


def _is_list(name: str) -> bool:
    field = FIELD_OF.get(name)
    return field is not None and field.kind in _REPEATED


def _repetition(name: str) -> Violation:
    shown = name[:100]
    message = f"the parameter {shown!r} is there more than once"
    return violation(f"/{shown}", "", "maxItems", {"limit": 1}, message, in_schema=False)


def _value(name: str, values: list[str]) -> Any:
    field = FIELD_OF.get(name)
    if len(values) > 1:
        return values
    text = values[0]
    if field is None:
        return text
    if field.kind == "flag":
        return _FLAGS.get(text.lower(), text)
    if field.kind == "integer" and _INTEGER.fullmatch(text):
        return int(text)
    if field.kind == "number" and _NUMBER.fullmatch(text) and math.isfinite(float(text)):
        return float(text)
    return text
