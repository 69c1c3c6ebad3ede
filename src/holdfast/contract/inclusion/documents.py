"""One schema document: its dialect, the names in it, and where its references lead. Nothing is ever fetched.

A reference that leaves the document is not resolved, and a dynamic one only where a single anchor can be meant.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote, urldefrag, urljoin

from holdfast.contract.inclusion.keywords import DIALECTS, SCHEMA_LISTS, SCHEMA_MAPS, SCHEMA_VALUES, SPOKEN
from holdfast.contract.inclusion.model import Undecided

__all__ = ["Document", "Place", "subschemas"]

_REF_ALONE = frozenset({"draft-04", "draft-06", "draft-07"})


@dataclass(frozen=True)
class Place:
    """A schema inside a document, and the URI that references in it are relative to."""

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
        self._resources: dict[str, Any] = {}
        self._anchors: dict[tuple[str, str], Place] = {}
        self._dynamic: dict[str, list[Place]] = {}
        self.start = Place(root, self._base("", root))
        self._resources.setdefault(self.start.base, root)
        self._resources.setdefault("", root)
        self._scan()

    def resolve(self, reference: Any, base: str) -> Place | None:
        """What a `$ref` at a place with this base leads to, or None when it is not in this document."""
        if not isinstance(reference, str):
            raise Undecided("a reference is not text")
        if reference.startswith("#"):  # also right below a base that cannot be joined, such as a urn
            address, fragment = base, reference[1:]
        else:
            address, fragment = urldefrag(_joined(base, reference))
        resource = self._resources.get(address)
        if resource is None:
            return None
        if fragment and not fragment.startswith("/"):
            return self._anchors.get((address, fragment))
        return self._by_pointer(resource, address, unquote(fragment))

    def resolve_dynamic(self, reference: Any, base: str) -> Place | None:
        """What a `$dynamicRef` or `$recursiveRef` must mean whoever refers to it, or None when that can differ."""
        if reference == "#":
            several = len(set(self._resources) - {""}) > 1 or len(self._dynamic.get("", ())) > 1
            return None if several else self.resolve(reference, base)
        if not isinstance(reference, str) or not reference.startswith("#"):
            return None
        named = self._dynamic.get(reference[1:], [])
        return named[0] if len(named) == 1 else self._static(reference, base, named)

    def _static(self, reference: str, base: str, named: list[Place]) -> Place | None:
        # With no dynamic anchor of that name anywhere, the reference behaves as a plain one.
        return None if named else self.resolve(reference, base)

    def base_of(self, schema: Any, base: str) -> str:
        """The base for references inside a schema that stands at a place with this base."""
        return self._base(base, schema)

    def _base(self, base: str, schema: Any) -> str:
        name = schema.get("$id", schema.get("id")) if isinstance(schema, dict) else None
        if not isinstance(name, str) or name.startswith("#") or (self.ref_hides_siblings and "$ref" in schema):
            return base
        return urldefrag(_joined(base, name)).url

    def _scan(self) -> None:
        pending: list[tuple[Any, str]] = [(self.root, "")]
        while pending:
            schema, outer = pending.pop()
            if not isinstance(schema, dict):
                continue
            base = self._base(outer, schema)
            if base != outer:
                self._resources.setdefault(base, schema)
            self._name(schema, base)
            pending.extend((part, base) for part in subschemas(schema))

    def _name(self, schema: dict[str, Any], base: str) -> None:
        place = Place(schema, base)
        for keyword in ("$anchor", "$dynamicAnchor"):
            if isinstance(schema.get(keyword), str):
                self._anchors[base, schema[keyword]] = place
        if isinstance(schema.get("$dynamicAnchor"), str):
            self._dynamic.setdefault(schema["$dynamicAnchor"], []).append(place)
        if schema.get("$recursiveAnchor") is True:
            self._dynamic.setdefault("", []).append(place)
        old_anchor = schema.get("$id", schema.get("id"))
        if isinstance(old_anchor, str) and old_anchor.startswith("#"):
            self._anchors[base, old_anchor[1:]] = place

    def _by_pointer(self, resource: Any, base: str, pointer: str) -> Place | None:
        value = resource
        for part in pointer.split("/")[1:]:
            word = part.replace("~1", "/").replace("~0", "~")
            if isinstance(value, dict) and word in value:
                value = value[word]
            elif isinstance(value, list) and word.isdecimal() and int(word) < len(value):
                value = value[int(word)]
            else:
                return None
            base = self._base(base, value)
        return Place(value, base)

    def closure(self, place: Place) -> str:
        """A text that says everything that a recursive schema depends on: equal texts mean equal schemas."""
        if self._dynamic:  # what a dynamic anchor means depends on the others
            return json.dumps([self.dialect, place.base, place.schema, self.root], sort_keys=True)
        collected: dict[str, Any] = {}
        pending = [place]
        while pending:
            here = pending.pop()
            for reference, base in self._references(here):
                target = self.resolve(reference, base)
                name = f"{base} {reference}"
                if name not in collected:
                    collected[name] = None if target is None else target.schema
                    if target is not None:
                        pending.append(target)
        return json.dumps([self.dialect, place.base, place.schema, collected], sort_keys=True)

    def text_of(self, schema: Any) -> str:
        """A text that says everything that any schema in this document can depend on."""
        return json.dumps([self.root, schema], sort_keys=True)

    def _references(self, place: Place) -> Iterator[tuple[str, str]]:
        pending = [(place.schema, place.base)]
        while pending:
            schema, outer = pending.pop()
            if isinstance(schema, dict):
                base = self._base(outer, schema)
                for keyword in ("$ref", "$dynamicRef", "$recursiveRef"):
                    if isinstance(schema.get(keyword), str):
                        yield schema[keyword], base
                pending.extend((part, base) for part in subschemas(schema))


def _joined(base: str, name: str) -> str:
    try:
        return urljoin(base, name)
    except ValueError:
        return name


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
