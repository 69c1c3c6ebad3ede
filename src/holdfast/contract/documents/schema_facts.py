"""Facts about the JSON Schemas of a document: are they valid, closed in themselves, what do they describe.

Nothing is ever fetched: a reference to somewhere else is a fact to report. No function raises on a hostile schema.
"""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from holdfast.contract.documents.jsonc import MAX_DEPTH, depth_within

__all__ = ["Property", "definitions", "external_references", "properties", "schema_fault", "violations", "walk"]

_SCHEMA_MAPS = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")
_SCHEMA_LISTS = ("anyOf", "oneOf", "allOf", "prefixItems")
_SCHEMAS = (
    "items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames",
    "unevaluatedItems", "unevaluatedProperties", "contentSchema",
)  # fmt: skip
_MAX_NODES = 20_000
_MAX_VIOLATIONS = 5


@dataclass(frozen=True, slots=True)
class Property:
    """One property of the object that a schema describes."""

    name: str
    schema: Any
    required: bool
    pointer: str


def schema_fault(schema: Any) -> str | None:
    """Why a schema cannot be used, or None where it can."""
    if not isinstance(schema, (dict, bool)):
        return "a schema is an object, true or false"
    if not depth_within(schema, MAX_DEPTH):
        return f"it is nested deeper than {MAX_DEPTH}"
    import jsonschema_rs

    try:
        jsonschema_rs.Draft202012Validator(schema, offline=True)
    except ValueError as error:  # every refusal of the engine is one
        return _first_sentence(error)
    return None


def violations(schema: Any, value: Any) -> list[tuple[str, str]]:
    """Where and how a value breaks a schema, the first few; none where the schema itself cannot be used."""
    if schema_fault(schema) is not None or not depth_within(value, MAX_DEPTH):
        return []
    import jsonschema_rs

    found = []
    try:
        for error in jsonschema_rs.Draft202012Validator(schema, offline=True).iter_errors(value):
            found.append(("/" + "/".join(map(str, error.instance_path)), _first_sentence(error)))
            if len(found) == _MAX_VIOLATIONS:
                break
    except ValueError as error:
        return [("/", _first_sentence(error))]
    return sorted(found)


def _first_sentence(error: ValueError) -> str:
    text = str(getattr(error, "message", None) or error).split("\n", 1)[0]
    return text if len(text) <= 200 else text[:197] + "..."


def walk(schema: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every object schema in a schema with its JSON Pointer, the outermost first; bounded."""
    waiting: deque[tuple[str, Any]] = deque([("", schema)])
    for _ in range(_MAX_NODES):
        if not waiting:
            return
        pointer, node = waiting.popleft()
        if isinstance(node, dict):
            yield pointer, node
            waiting += _children(pointer, node)


def _children(pointer: str, node: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    for keyword in _SCHEMA_MAPS:
        if isinstance(node.get(keyword), dict):
            for name, member in node[keyword].items():
                yield f"{pointer}/{keyword}/{_escaped(name)}", member
    for keyword in _SCHEMA_LISTS:
        if isinstance(node.get(keyword), list):
            for number, member in enumerate(node[keyword]):
                yield f"{pointer}/{keyword}/{number}", member
    for keyword in _SCHEMAS:
        if keyword in node:
            yield f"{pointer}/{keyword}", node[keyword]


def _escaped(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")


def external_references(schema: Any) -> list[tuple[str, str]]:
    """The references that lead out of the schema, each with its pointer."""
    return [
        (f"{pointer}/{keyword}", node[keyword])
        for pointer, node in walk(schema)
        for keyword in ("$ref", "$dynamicRef")
        if isinstance(node.get(keyword), str) and not node[keyword].startswith("#")
    ]


def definitions(schema: Any) -> dict[str, Any]:
    """The definitions of a schema by name."""
    found = schema.get("$defs") if isinstance(schema, dict) else None
    return found if isinstance(found, dict) else {}


def properties(schema: Any) -> list[Property]:
    """The properties of the object that a schema describes, through references and allOf at its root."""
    found: dict[str, Property] = {}
    waiting: deque[tuple[str, Any]] = deque([("", schema)])
    seen: set[str] = set()
    for _ in range(200):
        if not waiting:
            break
        pointer, node = waiting.popleft()
        if not isinstance(node, dict):
            continue
        for one in _own_properties(pointer, node):
            earlier = found.get(one.name)
            found[one.name] = one if earlier is None or one.required else earlier
        reference = node.get("$ref")
        if isinstance(reference, str) and reference.startswith("#/$defs/") and reference not in seen:
            seen.add(reference)
            waiting.append((reference[1:], definitions(schema).get(_named(reference))))
        if isinstance(node.get("allOf"), list):
            waiting += [(f"{pointer}/allOf/{number}", member) for number, member in enumerate(node["allOf"])]
    return list(found.values())


def _named(reference: str) -> str:
    return reference.removeprefix("#/$defs/").replace("~1", "/").replace("~0", "~")


def _own_properties(pointer: str, node: dict[str, Any]) -> Iterator[Property]:
    own = node.get("properties")
    required = node.get("required")
    names = required if isinstance(required, list) else []
    for name, schema in (own if isinstance(own, dict) else {}).items():
        yield Property(name, schema, name in names, f"{pointer}/properties/{_escaped(name)}")
