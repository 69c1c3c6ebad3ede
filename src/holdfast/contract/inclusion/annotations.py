"""Changes of words that say nothing about which values are accepted, and still matter to whoever reads them."""

from collections.abc import Iterator
from typing import Any

from holdfast.contract.inclusion.keywords import KEYWORDS, OLDER_KEYWORDS, Treatment
from holdfast.contract.inclusion.values import key_of
from holdfast.contract.inclusion.views import Pair

__all__ = ["annotation_changes"]

_WORDS = {
    "title": "annotation.title_changed",
    "description": "annotation.description_changed",
    "examples": "annotation.examples_changed",
    "$comment": "annotation.comment_changed",
    "contentEncoding": "string.content_changed",
    "contentMediaType": "string.content_changed",
    "contentSchema": "string.content_changed",
}
_FLAGS = {
    "deprecated": "annotation.deprecated",
    "readOnly": "annotation.read_only",
    "writeOnly": "annotation.write_only",
}
_NOTHING = object()


def annotation_changes(pair: Pair) -> Iterator[tuple[str, str, str]]:
    """Rule, path and message of each annotation that differs between two sides."""
    old, new = pair.old.schema, pair.new.schema
    for keyword in sorted(old.keys() | new.keys()):
        before, after = old.get(keyword, _NOTHING), new.get(keyword, _NOTHING)
        rule = None if _same(before, after) else _rule(keyword, before, after)
        if rule is not None:
            yield rule, pair.path, _message(keyword, before, after)


def _same(before: Any, after: Any) -> bool:
    if before is _NOTHING or after is _NOTHING:
        return before is after
    return key_of(before) == key_of(after)


def _rule(keyword: str, before: Any, after: Any) -> str | None:
    if keyword in _WORDS:
        return _WORDS[keyword]
    if keyword in _FLAGS:
        was, now = before is True, after is True
        return None if was == now else f"{_FLAGS[keyword]}_{'set' if now else 'unset'}"
    if keyword == "default":
        how = "added" if before is _NOTHING else "removed" if after is _NOTHING else "changed"
        return f"annotation.default_{how}"
    known = keyword in OLDER_KEYWORDS or KEYWORDS.get(keyword, Treatment.ANNOTATION) is not Treatment.ANNOTATION
    return None if known else "annotation.extension_changed"


def _message(keyword: str, before: Any, after: Any) -> str:
    if before is _NOTHING:
        return f"{keyword} {_short(after)} was added"
    if after is _NOTHING:
        return f"{keyword} {_short(before)} was removed"
    return f"{keyword} was {_short(before)}, is {_short(after)}"


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
