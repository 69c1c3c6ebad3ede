"""Changes of words that say nothing about which values are accepted, and still matter to whoever reads them.

The walk over two schemas compares the words that a reader sees at each place of a value. What it never comes by
(words below `not`, in conditions, under patterns, or hidden by words beside a reference) is compared at the end,
place by place in the schemas themselves.
"""

import re
from collections.abc import Iterator
from typing import Any

from holdfast.contract.inclusion.keywords import (
    KEYWORDS,
    OLDER_KEYWORDS,
    SCHEMA_LISTS,
    SCHEMA_MAPS,
    SCHEMA_VALUES,
    Treatment,
)
from holdfast.contract.inclusion.values import key_of
from holdfast.contract.inclusion.views import Pair, Side

__all__ = ["Words"]

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
_WORD = re.compile(r"\w+(?:['’]\w+)*|[^\w\s.,;:()\"'`*]+")
# Words that turn the meaning of a sentence that is otherwise the same.
_TURNING = re.compile(
    r"no|not|never|none|nothing|cannot|without|except|unless|instead|only|\w+n['’]t", re.IGNORECASE | re.ASCII
)

Told = tuple[str, str, str]
"""Rule, path and message."""
Origin = tuple[str, int]
"""A keyword and the identity of the schema that it stands in."""


class Words:
    """The words of two documents, and which of them were compared."""

    def __init__(self) -> None:
        self._old: set[Origin] = set()
        self._new: set[Origin] = set()
        self._told: set[tuple[str, str, int, int]] = set()
        self._kept: list[Side] = []  # schemas stay alive as long as their identities are remembered

    def at(self, pair: Pair) -> Iterator[Told]:
        """Each annotation that a reader sees change at a place, unless it is the same text again."""
        self._kept += (pair.old, pair.new)
        for keyword in sorted(pair.old.schema.keys() | pair.new.schema.keys()):
            before = pair.old.schema.get(keyword, _NOTHING)
            after = pair.new.schema.get(keyword, _NOTHING)
            origins = _origin(keyword, pair.old), _origin(keyword, pair.new)
            self._old.add((keyword, origins[0]))
            self._new.add((keyword, origins[1]))
            rule = _rule(keyword, before, after)
            if rule is None or _same(before, after):
                continue
            told = (_stricter(rule, pair), keyword, *origins)
            if told not in self._told:
                self._told.add(told)
                yield told[0], pair.path, _message(keyword, before, after)

    def settle(self, old: Any, new: Any) -> None:
        """Nothing more is to be said of the words in these two schemas: equal, or told of as a whole."""
        for schema, known in ((old, self._old), (new, self._new)):
            for _, part in _places(schema):
                known.update((keyword, id(part)) for keyword in part)

    def elsewhere(self, old: Any, new: Any, *, everything: bool) -> Iterator[Told]:
        """Each annotation that differs where the two documents have the same place, and was not compared yet.

        `everything`: nothing else was told, so words in places that came or went count too. The path is `#` and a
        pointer into the schema, because no path into a value leads there.
        """
        before, after = dict(_places(old)), dict(_places(new))
        for pointer in sorted(before.keys() | after.keys()):
            both = pointer in before and pointer in after
            if both or everything:
                told = self._at_pointer(before.get(pointer, {}), after.get(pointer, {}))
                yield from ((rule, f"#{pointer}", message) for rule, message in told)

    def _at_pointer(self, old: dict[str, Any], new: dict[str, Any]) -> Iterator[tuple[str, str]]:
        for keyword in sorted(old.keys() | new.keys()):
            before, after = old.get(keyword, _NOTHING), new.get(keyword, _NOTHING)
            was_seen = before is _NOTHING or (keyword, id(old)) in self._old
            is_seen = after is _NOTHING or (keyword, id(new)) in self._new
            rule = None if was_seen and is_seen else _rule(keyword, before, after)
            if rule is not None and not _same(before, after):
                yield rule, _message(keyword, before, after)


def _origin(keyword: str, side: Side) -> int:
    return next((id(layer) for layer in side.layers if keyword in layer), 0)


def _places(root: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every object schema in a schema, with the pointer to it; what texts contain counts as one word."""
    pending: list[tuple[str, Any]] = [("", root)]
    while pending:
        pointer, schema = pending.pop()
        if not isinstance(schema, dict):
            continue
        yield pointer, schema
        for keyword, value in schema.items():
            here = f"{pointer}/{_escaped(keyword)}"
            if keyword in SCHEMA_MAPS and isinstance(value, dict):
                pending.extend((f"{here}/{_escaped(name)}", part) for name, part in value.items())
            elif keyword in SCHEMA_LISTS and isinstance(value, list):
                pending.extend((f"{here}/{index}", part) for index, part in enumerate(value))
            elif keyword in SCHEMA_VALUES and keyword != "contentSchema":
                pending.append((here, value))


def _escaped(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")


def _same(before: Any, after: Any) -> bool:
    if before is _NOTHING or after is _NOTHING:
        return before is after
    return key_of(before) == key_of(after)


def _is_clearer(before: Any, after: Any) -> bool:
    """Whether a description kept its words in their order, and gained none that can turn its meaning."""
    if not isinstance(before, str) or not isinstance(after, str):
        return before is _NOTHING
    words = iter(_WORD.findall(after.casefold()))
    added: list[str] = []
    for wanted in _WORD.findall(before.casefold()):
        for word in words:
            if word == wanted:
                break
            added.append(word)
        else:
            return False
    return not any(_TURNING.fullmatch(word) for word in (*added, *words))


def _rule(keyword: str, before: Any, after: Any) -> str | None:
    if keyword == "description" and _is_clearer(before, after):
        return "annotation.description_clarified"
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


def _stricter(rule: str, pair: Pair) -> str:
    """Who must give a property that nobody could give before has something to do."""
    return f"{rule}_required" if rule == "annotation.read_only_unset" and pair.required else rule


def _message(keyword: str, before: Any, after: Any) -> str:
    if before is _NOTHING:
        return f"{keyword} {_short(after)} was added"
    if after is _NOTHING:
        return f"{keyword} {_short(before)} was removed"
    return f"{keyword} was {_short(before)}, is {_short(after)}"


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
