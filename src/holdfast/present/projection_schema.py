"""From the marks of an output type to its projection, and to the schema of what the projection lets through.

Both come from the one JSON Schema in which the marks of the fields still stand, so what is announced and what is
sent cannot differ, whichever detail is asked for. Marks that cannot be kept are refused here, when a tool is
registered. Members of a union are not told apart in JSON, so a field must be marked the same in all of them.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from holdfast.errors import ContractError
from holdfast.present.marks import MARKS, check_words
from holdfast.present.projection import Projection, Shape, target_of
from holdfast.present.schema_shape import map_subschemas, resolve, types_of

__all__ = ["Compiled", "compile_projection", "without_marks"]

_SCHEMA_LISTS = ("anyOf", "oneOf", "allOf")
_SOMETIMES_ABSENT = frozenset({"full_only", "concise_only", "skip_none"})


class Compiled(NamedTuple):
    """A projection, or None where no field is marked, and the schema of what is sent."""

    projection: Projection | None
    schema: dict[str, Any]


def compile_projection(schema: dict[str, Any]) -> Compiled:
    """The projection that the marks in a schema declare; ContractError where they cannot be kept."""
    if not _has_marks(schema):
        return Compiled(None, schema)
    _check_places(schema)
    shapes = _Shapes(schema)
    return Compiled(Projection(shapes.root), shapes.published())


def without_marks(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema of an input: marks say nothing there."""
    if not _has_marks(schema):
        return schema
    for name, part in schema.get("properties", {}).items():
        if MARKS in part:
            raise ContractError(f"{name}: a mark for answers stands on an argument", remedy="remove it")
    cleaned: dict[str, Any] = map_subschemas(schema, _unmarked)
    return cleaned


def _has_marks(schema: dict[str, Any]) -> bool:
    found: list[bool] = []

    def look(part: dict[str, Any]) -> dict[str, Any]:
        found.append(MARKS in part)
        return part

    map_subschemas(schema, look)
    return any(found)


def _check_places(schema: dict[str, Any]) -> None:
    """Refuse marks that stand on something that is no field: an item of a list, a whole type."""
    marked: list[list[str]] = []
    fields: list[list[str]] = []

    def look(part: dict[str, Any]) -> dict[str, Any]:
        if MARKS in part:
            marked.append(part[MARKS])
        fields.extend(inner[MARKS] for inner in part.get("properties", {}).values() if MARKS in inner)
        return part

    map_subschemas(schema, look)
    for words in fields:
        marked.remove(words)
    if marked:
        raise ContractError(
            f"{', '.join(marked[0])}: a mark stands on something that is no field", remedy="mark a field"
        )


def _unmarked(part: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in part.items() if key != MARKS}


class _Shapes:
    """All shapes of a schema.

    A shape stands for a set of schemas, so the members of a union are one shape, and a type that holds itself ends
    where it began.
    """

    def __init__(self, schema: dict[str, Any]) -> None:
        self._schema = schema
        self._definitions: dict[str, Any] = schema.get("$defs", {})
        # With the schemas that a shape stands for: an identity means something only while its owner lives.
        self._known: dict[frozenset[int], tuple[Shape, list[dict[str, Any]]]] = {}
        self.root = self._shape([schema])
        for shape, alternatives in list(self._known.values()):
            self._check(shape, alternatives)
        self._spread_marks()

    def _shape(self, schemas: Iterable[Any]) -> Shape:
        alternatives = list(self._alternatives(schemas))
        key = frozenset(map(id, alternatives))
        if key in self._known:
            return self._known[key][0]
        shape = Shape()
        self._known[key] = (shape, alternatives)
        items: list[Any] = []
        values: list[Any] = []
        for schema in alternatives:
            items += [schema["items"]] if "items" in schema else []
            items += schema.get("prefixItems", [])
            values += [schema["additionalProperties"]] if "additionalProperties" in schema else []
            values += schema.get("patternProperties", {}).values()
        for name, parts in _by_field(alternatives).items():
            shape.fields[name] = (_words(name, parts), self._shape(parts))
        shape.items = self._shape(items) if items else None
        shape.values = self._shape(values) if values else None
        return shape

    def _check(self, shape: Shape, alternatives: list[dict[str, Any]]) -> None:
        _check_names(shape)
        shape.first = tuple(name for name in (shape.named("selector"), shape.named("title")) if name is not None)
        parts = _by_field(alternatives)
        for name, (words, inner) in shape.fields.items():
            self._check_field(name, words, parts[name], inner)

    def _alternatives(self, schemas: Iterable[Any]) -> Iterator[dict[str, Any]]:
        """The schemas, and all that they refer to or consist of, each once."""
        waiting = [schema for schema in schemas if isinstance(schema, dict)]
        seen: set[int] = set()
        while waiting:
            schema = waiting.pop()
            if id(schema) in seen:
                continue
            seen.add(id(schema))
            yield schema
            target = resolve(schema["$ref"], self._definitions) if "$ref" in schema else None
            parts = [target, *(part for keyword in _SCHEMA_LISTS for part in schema.get(keyword, ()))]
            waiting += [part for part in parts if isinstance(part, dict)]

    def _check_field(self, name: str, words: frozenset[str], parts: list[Any], inner: Shape) -> None:
        types = frozenset().union(*(types_of(part, self._definitions) for part in parts))
        if "skip_none" in words and "null" not in types:
            raise ContractError(f"{name}: skip_none, and it is never None", remedy="drop skip_none")
        if "selector" in words and types != {"string"}:
            raise ContractError(f"{name}: a selector is text", remedy="make it a str")
        for word in ("title", "timestamp"):
            if word in words and not types <= {"string", "null"}:
                raise ContractError(f"{name}: a {word} is text or a datetime", remedy=f"drop {word}()")
        if "reference" in words and target_of(inner).named("selector") is None:
            raise ContractError(
                f"{name}: a reference to something without a selector",
                remedy="mark the field that names it with selector()",
            )

    def _spread_marks(self) -> None:
        """Tell each shape whether there is a mark in it, however deep; the others are passed on untouched."""
        changed = True
        while changed:
            changed = False
            for shape, _ in self._known.values():
                marked = any(words for words, _ in shape.fields.values()) or any(
                    inner.is_marked for inner in shape.inner()
                )
                changed |= marked and not shape.is_marked
                shape.is_marked = marked

    # --- the published schema --------------------------------------------------------------------------------

    def published(self) -> dict[str, Any]:
        """The schema of what is sent in any detail."""
        changed: dict[str, Any] = map_subschemas(self._schema, self._published_object)
        changed = map_subschemas(changed, _unmarked)
        return _without_unused_definitions(changed)

    def _published_object(self, schema: dict[str, Any]) -> dict[str, Any]:
        if "properties" not in schema:
            return schema
        shown = {
            name: self._published_field(part)
            for name, part in schema["properties"].items()
            if "skip" not in part.get(MARKS, ())
        }
        first = [name for word in ("selector", "title") for name in shown if word in shown[name].get(MARKS, ())]
        shown = {name: shown[name] for name in [*first, *(name for name in shown if name not in first)]}
        required = [
            name
            for name in schema.get("required", ())
            if name in shown and _SOMETIMES_ABSENT.isdisjoint(shown[name].get(MARKS, ()))
        ]
        rest = {key: value for key, value in schema.items() if key not in {"properties", "required"}}
        return {**rest, "properties": shown, **({"required": required} if required else {})}

    def _published_field(self, part: dict[str, Any]) -> dict[str, Any]:
        words = part.get(MARKS, ())
        if "reference" in words:
            part = {**_annotations(part), **self._reference(part)}
        if "skip_none" in words:
            part = _without_null(part)
            part.pop("default", None)
        return part

    def _reference(self, part: dict[str, Any]) -> dict[str, Any]:
        """The schema of a reference in place of the object itself, with the same lists and nulls around it."""
        types = types_of(part, self._definitions)
        forms: list[dict[str, Any]] = []
        whole = self._reference_object(part)
        if "object" in types:
            forms.append(whole)
        if "array" in types:
            forms.append({"type": "array", "items": whole})
        if "null" in types:
            forms.append({"type": "null"})
        return forms[0] if len(forms) == 1 else {"anyOf": forms}

    def _reference_object(self, part: dict[str, Any]) -> dict[str, Any]:
        target = target_of(self._shape([part]))
        names = {"slug": target.named("selector"), "title": target.named("title")}
        properties: dict[str, Any] = {}
        for role, name in names.items():
            found = [schema["properties"][name] for schema in self._objects(part) if name in schema["properties"]]
            if found:
                properties[role] = _without_null(_unmarked(found[0]))
        return {"type": "object", "properties": properties, "required": ["slug"]}

    def _objects(self, part: dict[str, Any]) -> Iterator[dict[str, Any]]:
        for schema in self._alternatives([part]):
            if "properties" in schema:
                yield schema
            if isinstance(schema.get("items"), dict):
                yield from self._objects(schema["items"])


def _by_field(alternatives: list[dict[str, Any]]) -> dict[str, list[Any]]:
    """The schemas that each field has in the alternatives."""
    groups: dict[str, list[Any]] = {}
    for schema in alternatives:
        for name, part in schema.get("properties", {}).items():
            groups.setdefault(name, []).append(part)
    return groups


def _words(name: str, parts: list[Any]) -> frozenset[str]:
    said = [tuple(part.get(MARKS, ())) if isinstance(part, dict) else () for part in parts]
    for words in said:
        try:
            check_words(words)
        except ContractError as error:
            raise ContractError(f"{name}: {error.message}", remedy=error.remedy) from None
    if len(set(map(frozenset, said))) > 1:
        raise ContractError(
            f"{name}: marked differently in the members of a union", remedy="mark it the same in all of them"
        )
    return frozenset(said[0])


def _check_names(shape: Shape) -> None:
    for word in ("selector", "title"):
        names = [name for name, (words, _) in shape.fields.items() if word in words]
        if len(names) > 1:
            raise ContractError(f"{names[0]} and {names[1]} are both the {word}", remedy="keep one of them")
    if shape.named("title") and not shape.named("selector"):
        raise ContractError(
            f"{shape.named('title')}: a title without a selector", remedy="mark the field that names the object"
        )


def _annotations(part: Mapping[str, Any]) -> dict[str, Any]:
    return {key: part[key] for key in ("title", "description", "deprecated", MARKS) if key in part}


def _without_null(part: dict[str, Any]) -> dict[str, Any]:
    """The schema without the alternative null, as far as it says so itself."""
    part = dict(part)
    if isinstance(part.get("type"), list):
        part["type"] = [name for name in part["type"] if name != "null"]
    branches = [branch for branch in part.get("anyOf", ()) if branch != {"type": "null"}]
    if len(branches) == 1:
        del part["anyOf"]
        return {**branches[0], **part}
    return {**part, "anyOf": branches} if branches else part


def _without_unused_definitions(schema: dict[str, Any]) -> dict[str, Any]:
    definitions = schema.get("$defs", {})
    used: set[str] = set()
    waiting: list[Any] = [{key: value for key, value in schema.items() if key != "$defs"}]
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict):
            name = str(part.get("$ref", "")).removeprefix("#/$defs/")
            if name in definitions and name not in used:
                used.add(name)
                waiting.append(definitions[name])
            waiting += part.values()
        elif isinstance(part, list):
            waiting += part
    kept = {name: value for name, value in definitions.items() if name in used}
    rest = {key: value for key, value in schema.items() if key != "$defs"}
    return {**rest, "$defs": kept} if kept else rest
