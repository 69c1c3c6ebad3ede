"""One schema document: its dialect, the names in it, and where its references lead. Nothing is ever fetched.

A reference that leaves the document is not resolved, and a dynamic one only where a single anchor can be meant.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import Any
from urllib.parse import unquote, urldefrag, urljoin

from holdfast.contract.inclusion.keywords import (
    DIALECTS,
    REFERENCES,
    SCHEMA_LISTS,
    SCHEMA_MAPS,
    SCHEMA_VALUES,
    SPOKEN,
)
from holdfast.contract.inclusion.model import Undecided

__all__ = ["Document", "Place", "subschemas"]

_PROSE = frozenset({"title", "description", "$comment"})
_INDEX = re.compile("0|[1-9][0-9]{0,8}")
_REF_ALONE = frozenset({"draft-04", "draft-06", "draft-07"})


@dataclass(frozen=True)
class Place:
    """A schema inside a document, and the URI in force where it begins: its own `$id` is relative to that."""

    schema: Any
    base: str


def subschemas(schema: dict[str, Any]) -> Iterator[Any]:
    """The schemas directly inside a schema."""
    for keyword, value in schema.items():
        if keyword in SCHEMA_MAPS and isinstance(value, dict):
            yield from value.values()
        elif keyword in SCHEMA_LISTS and isinstance(value, list):
            yield from value
        elif keyword in SCHEMA_VALUES and isinstance(value, (dict, bool)):
            yield value


class Document:
    """A root schema with everything that its references can name.

    `written` is the schema as it was given, `root` the same without words that its dialect does not know.
    """

    def __init__(self, written: Any) -> None:
        self.written = written
        self.dialect = _dialect(written)
        self.root = _spoken(written, self.dialect)
        root = self.root
        self.ref_hides_siblings = self.dialect in _REF_ALONE
        self._resources: dict[str, Place | None] = {}
        self._anchors: dict[tuple[str, str], Place | None] = {}
        self._links: dict[tuple[int, str], dict[str, Place | None]] = {}
        self._texts: dict[int, str] = {}
        self._kept: list[Any] = []  # schemas stay alive as long as their ids are keys
        self._dynamic: dict[str, list[Place]] = {}
        self.start = Place(root, "")
        self._resources[self._base("", root)] = self._resources[""] = self.start
        self._scan()

    @property
    def has_dynamic_anchors(self) -> bool:
        """Whether the meaning of a reference can depend on the schemas that lead to it."""
        return bool(self._dynamic)

    def resolve(self, reference: Any, base: str) -> Place | None:
        """What a `$ref` at a place with this base leads to, or None when it is not in this document."""
        if not isinstance(reference, str):
            raise Undecided("a reference is not text")
        address, fragment = _target(reference, base)
        resource = self._resources.get(address)
        if resource is None:
            return None
        if fragment and not fragment.startswith("/"):
            return self._anchors.get((address, fragment))
        return self._by_pointer(resource, unquote(fragment))

    def follow(self, keyword: str, reference: Any, base: str) -> Place | None:
        """What a reference of any kind must mean whoever leads to it, or None when that is unknown or can differ.

        It is read as a plain one first. Only where that leads to a dynamic anchor of the very name that was asked
        for can another schema of that name be meant instead. By the standard a `$ref` never means another one, but
        validators read it so, and what they disagree on is not known.
        """
        found = self.resolve(reference, base)
        if found is None or not isinstance(found.schema, dict):
            return found
        if keyword == "$recursiveRef":
            name, is_dynamic = "", found.schema.get("$recursiveAnchor") is True
        else:
            name = reference.partition("#")[2]
            is_dynamic = bool(name) and found.schema.get("$dynamicAnchor") == name
        return None if is_dynamic and len(self._dynamic.get(name, ())) > 1 else found

    def base_of(self, schema: Any, base: str) -> str:
        """The base for references inside a schema that stands at a place with this base."""
        return self._base(base, schema)

    def _base(self, base: str, schema: Any) -> str:
        name = self._id(schema)
        return base if name is None else _split(base, name)[0]

    def _id(self, schema: Any) -> str | None:
        """The `$id` that gives a schema its own address; None for an anchor and for one that `$ref` hides."""
        name = schema.get("$id", schema.get("id")) if isinstance(schema, dict) else None
        if not isinstance(name, str) or name.startswith("#") or (self.ref_hides_siblings and "$ref" in schema):
            return None
        return name

    def _scan(self) -> None:
        pending: list[tuple[Any, str]] = [(self.root, "")]
        while pending:
            schema, outer = pending.pop()
            if not isinstance(schema, dict):
                continue
            base = self._base(outer, schema)
            if self._id(schema) is not None:
                known = self._resources.setdefault(base, Place(schema, outer))
                if known is not None and known.schema is not schema:
                    self._resources[base] = None  # one address for two schemas means either, so it is not followed
            self._name(schema, outer, base)
            pending.extend((part, base) for part in subschemas(schema))

    def _name(self, schema: dict[str, Any], outer: str, base: str) -> None:
        place = Place(schema, outer)
        for keyword in ("$anchor", "$dynamicAnchor"):
            if isinstance(schema.get(keyword), str):
                self._anchor(base, schema[keyword], place)
        if isinstance(schema.get("$dynamicAnchor"), str):
            self._dynamic.setdefault(schema["$dynamicAnchor"], []).append(place)
        if schema.get("$recursiveAnchor") is True:
            self._dynamic.setdefault("", []).append(place)
        old_anchor = schema.get("$id", schema.get("id"))
        if isinstance(old_anchor, str) and old_anchor.startswith("#"):
            self._anchor(base, old_anchor[1:], place)

    def _anchor(self, base: str, name: str, place: Place) -> None:
        known = self._anchors.get((base, name), place)
        # One name for two schemas means either, so it is not followed.
        self._anchors[base, name] = place if known is not None and known.schema is place.schema else None

    def _by_pointer(self, resource: Place, pointer: str) -> Place | None:
        value, base = resource.schema, resource.base
        for part in pointer.split("/")[1:]:
            word = part.replace("~1", "/").replace("~0", "~")
            base = self._base(base, value)
            if isinstance(value, dict) and word in value:
                value = value[word]
            elif isinstance(value, list) and _INDEX.fullmatch(word) and int(word) < len(value):
                value = value[int(word)]
            else:
                return None
        return Place(value, base)

    def closure(self, place: Place) -> str:
        """A text that says everything that a recursive schema depends on: equal texts mean equal schemas."""
        if self._dynamic:  # what a dynamic anchor means depends on the others
            return self.text_of(place)
        collected: dict[str, str] = {}
        pending = [place]
        while pending:
            for name, target in self._linked(pending.pop()).items():
                if target is None:  # an unresolved reference can mean anything
                    return self.text_of(place)
                if name not in collected:
                    collected[name] = self._text(target)
                    pending.append(target)
        return json.dumps([self.dialect, place.base, self._text(place), collected], sort_keys=True)

    def text_of(self, place: Place) -> str:
        """A text that says everything that any schema in this document can depend on."""
        return json.dumps([place.base, self._text(place), self.whole_text])

    @cached_property
    def whole_text(self) -> str:
        """A text that is the same for documents of the same content, but for the words that only people read.

        Beside dynamic anchors the order of keys counts as well: it is the order in which references are followed.
        """
        return _digest(json.dumps([self.dialect, _bare(self.root)], sort_keys=not self._dynamic))

    def _text(self, place: Place) -> str:
        """A short text that is the same for schemas that are written the same, but for what only people read."""
        key = id(place.schema)
        if key not in self._texts:
            self._kept.append(place.schema)
            self._texts[key] = _digest(json.dumps(_bare(place.schema), sort_keys=True))
        return self._texts[key]

    def _linked(self, place: Place) -> dict[str, Place | None]:
        """Where the references inside a schema lead."""
        key = (id(place.schema), place.base)
        if key not in self._links:
            self._kept.append(place.schema)
            self._links[key] = {
                f"{base} {keyword} {reference}": self.follow(keyword, reference, base)
                for keyword, reference, base in self._references(place)
            }
        return self._links[key]

    def _references(self, place: Place) -> Iterator[tuple[str, str, str]]:
        pending = [(place.schema, place.base)]
        while pending:
            schema, outer = pending.pop()
            if isinstance(schema, dict):
                base = self._base(outer, schema)
                for keyword in REFERENCES:
                    if isinstance(schema.get(keyword), str):
                        yield keyword, schema[keyword], base
                pending.extend((part, base) for part in subschemas(schema))


def _digest(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _target(reference: str, base: str) -> tuple[str, str]:
    if reference.startswith("#"):  # also right below a base that cannot be joined, such as a urn
        return base, reference[1:]
    return _split(base, reference)


def _split(base: str, name: str) -> tuple[str, str]:
    """The absolute address and the fragment of a reference; one that is no address is its own."""
    try:
        address, fragment = urldefrag(urljoin(base, name))
    except ValueError:
        return name, ""
    return address, fragment


def _bare(schema: Any) -> Any:
    """A schema without the texts in it that only people read."""
    if not isinstance(schema, dict):
        return schema
    copy: dict[str, Any] = {}
    for keyword, value in schema.items():
        if keyword in SCHEMA_MAPS and isinstance(value, dict):
            copy[keyword] = {name: _bare(part) for name, part in value.items()}
        elif keyword in SCHEMA_LISTS and isinstance(value, list):
            copy[keyword] = [_bare(part) for part in value]
        elif keyword in SCHEMA_VALUES:
            copy[keyword] = _bare(value)
        elif keyword not in _PROSE or not isinstance(value, str):
            copy[keyword] = value
    return copy


def _dialect(root: Any) -> str:
    declared = root.get("$schema") if isinstance(root, dict) else None
    if declared is None:
        return "2020-12"
    known = [word for word in DIALECTS if isinstance(declared, str) and f"/{word}/schema" in declared]
    if not known:
        raise Undecided(f"the dialect {declared!r} is not known")
    return known[0]


def _spoken(schema: Any, dialect: str) -> Any:
    """A copy of a schema without the words that its dialect does not know."""
    if not isinstance(schema, dict):
        return schema
    if "$schema" in schema and _dialect(schema) != dialect:
        raise Undecided("one document is written in several dialects")
    copy: dict[str, Any] = {}
    for keyword, value in schema.items():
        if keyword in SPOKEN and not _is_spoken(keyword, dialect):
            continue
        if keyword in SCHEMA_MAPS and isinstance(value, dict):
            copy[keyword] = {name: _spoken(part, dialect) for name, part in value.items()}
        elif keyword in SCHEMA_LISTS and isinstance(value, list):
            copy[keyword] = [_spoken(part, dialect) for part in value]
        elif keyword in SCHEMA_VALUES:
            copy[keyword] = _spoken(value, dialect)
        else:
            copy[keyword] = value
    return copy


def _is_spoken(keyword: str, dialect: str) -> bool:
    first, last = SPOKEN[keyword]
    order = DIALECTS.index
    return order(first or DIALECTS[0]) <= order(dialect) <= order(last or DIALECTS[-1])
