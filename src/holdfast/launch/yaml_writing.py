"""JSON values as YAML, in their given order, such that every reader of YAML, old or new, reads the same values."""

import json
import math
import re
from collections.abc import Mapping
from typing import Any

from holdfast.errors import HoldfastError
from holdfast.launch.yaml_reading import resolved

__all__ = ["YamlWritingError", "is_date", "quoted", "yaml_lines"]

_DATE = re.compile(
    r"[0-9]{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])"
    r"(?:[Tt ][0-2][0-9]:[0-5][0-9]:[0-6][0-9](?:\.[0-9]{1,9})?(?:Z|[+-][0-2][0-9]:[0-5][0-9])?)?"
)
# Words that are safe bare: no indicator at the start, nothing that ends them, no space at the end.
_BARE = re.compile(r"[^\W\d_](?:[\w ./()+,'\u2019\u2013-]*[\w./()+'\u2019])?")
# YAML 1.1 reads these as booleans.
_OLD_WORDS = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null"})
_MUST_ESCAPE = re.compile("[\\x7f-\\x9f\\xad\\u2028\\u2029\\ufeff\\ufffe\\uffff]")
_LONGEST_BARE = 500


class YamlWritingError(HoldfastError):
    """A value that YAML, TOML and JSON cannot all hold."""


def is_date(text: str) -> bool:
    """Whether text is a date or a moment, as front matter writes them."""
    return _DATE.fullmatch(text) is not None


def quoted(text: str) -> str:
    """Text between double quotes, in the form that YAML, TOML and JSON share."""
    made = json.dumps(text, ensure_ascii=False)
    try:
        made.encode("utf-8")
    except UnicodeEncodeError as error:
        raise YamlWritingError("it holds half a character (a lone surrogate)") from error
    return _MUST_ESCAPE.sub(lambda found: f"\\u{ord(found.group()):04x}", made)


def yaml_lines(value: Mapping[str, Any], indent: str = "") -> list[str]:
    """The lines of an object, without line ends."""
    lines: list[str] = []
    for key, item in value.items():
        lines += _entry(f"{indent}{_text(key)}:", item, indent)
    return lines


def _entry(start: str, item: Any, indent: str) -> list[str]:
    """A key or a dash, with what belongs to it."""
    if isinstance(item, Mapping) and item:
        return [start, *yaml_lines(item, indent + "  ")]
    if isinstance(item, list | tuple) and item:
        return [start, *(line for one in item for line in _item(one, indent + "  "))]
    return [f"{start} {_scalar(item)}"]


def _item(item: Any, indent: str) -> list[str]:
    if isinstance(item, Mapping) and item:
        first, *rest = yaml_lines(item, indent + "  ")
        return [f"{indent}- {first.lstrip(' ')}", *rest]
    return _entry(f"{indent}-", item, indent)


def _scalar(item: Any) -> str:
    if item is None or isinstance(item, bool):
        return json.dumps(item)
    if isinstance(item, str):
        return _text(item, or_date=True)
    if isinstance(item, int):
        return str(item)
    if isinstance(item, float) and math.isfinite(item):
        return repr(item)
    if isinstance(item, Mapping):
        return "{}"
    if isinstance(item, list | tuple):
        return "[]"
    raise YamlWritingError(f"{type(item).__name__} is no value of front matter")


def _text(text: str, *, or_date: bool = False) -> str:
    if not isinstance(text, str):
        raise YamlWritingError("a key must be text")
    if or_date and is_date(text):
        return text
    is_bare = len(text) <= _LONGEST_BARE and _BARE.fullmatch(text) and text.lower() not in _OLD_WORDS
    return text if is_bare and resolved(text) == text else quoted(text)
