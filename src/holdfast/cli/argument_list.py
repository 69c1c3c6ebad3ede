"""The arguments of a tool in few words, from its input schema: name, type with limits, need, description.

Schemas of foreign servers may hold anything, so nothing is taken for granted here. What takes more than a few
words is left to `--json`.
"""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from holdfast.present.bounds import collapse_whitespace, truncate_chars
from holdfast.wire.codec import encode

__all__ = ["ArgumentRow", "argument_rows", "follow", "shortened"]

WIDTH = 100
TYPE_WIDTH = 48
MAX_REFERENCES = 32  # a schema may refer to itself

# How each limit is written behind the type.
_LIMITS = {
    "minimum": ">={}",
    "exclusiveMinimum": ">{}",
    "maximum": "<={}",
    "exclusiveMaximum": "<{}",
    "multipleOf": "multiple of {}",
    "minLength": "length>={}",
    "maxLength": "length<={}",
    "minItems": "items>={}",
    "maxItems": "items<={}",
    "pattern": "pattern {}",
}


class ArgumentRow(NamedTuple):
    """One argument, or one field of an argument that is an object."""

    name: str
    kind: str
    need: str
    words: str


def argument_rows(schema: Mapping[str, Any], hidden: frozenset[str] = frozenset()) -> Iterator[ArgumentRow]:
    """The arguments in the order of the schema, each followed by its fields, one level deep."""
    aliases = _aliases(schema)
    required = {*_names(schema.get("required")), *_required_under_any_name(schema)}
    for name, raw in _object(schema.get("properties")).items():
        if name in hidden:
            continue
        rule = _object(raw)
        if name in aliases:
            yield ArgumentRow(name, _kind(rule, schema), f"alias of {aliases[name]}", "")
            continue
        yield _row(name, rule, required, schema)
        prefix, fields = _fields(name, rule, schema)
        for field, inner in _object(fields.get("properties")).items():
            yield _row(f"{prefix}.{field}", _object(inner), _qualified(prefix, fields), schema)


def follow(reference: Any, root: Mapping[str, Any]) -> Any:
    """What a `$ref` inside the document refers to; None for every other reference."""
    if not isinstance(reference, str) or not reference.startswith("#/"):
        return None
    found: Any = root
    for part in reference[2:].split("/"):
        found = found.get(part.replace("~1", "/").replace("~0", "~")) if isinstance(found, dict) else None
    return found


def shortened(text: str) -> str:
    """The text on one line of bounded length."""
    return truncate_chars(collapse_whitespace(text), WIDTH)


def _row(name: str, rule: dict[str, Any], required: set[str], root: Mapping[str, Any]) -> ArgumentRow:
    need = "required" if name in required else "optional"
    if "default" in rule:
        need = f"default {_literal(rule['default'])}"
    words = rule.get("description")
    told = shortened(words) if isinstance(words, str) else ""
    if rule.get("deprecated") is True:
        told = f"deprecated; {told}" if told else "deprecated"
    return ArgumentRow(name, _kind(rule, root), need, told)


# --- types ---------------------------------------------------------------------------------------------------


def _kind(rule: dict[str, Any], root: Mapping[str, Any]) -> str:
    return truncate_chars(collapse_whitespace(_type(rule, root)), TYPE_WIDTH)


def _type(rule: dict[str, Any], root: Mapping[str, Any], depth: int = 4) -> str:
    rule = _target(rule, root)
    if depth == 0:
        return "..."
    if isinstance(rule.get("enum"), list):
        return "|".join(_literal(value) for value in rule["enum"])
    if "const" in rule:
        return _literal(rule["const"])
    declared = rule.get("type")
    if declared == "array":
        items = f" of {_type(_object(rule['items']), root, depth - 1)}" if "items" in rule else ""
        return _limited(f"array{items}", rule)
    if isinstance(declared, str):
        return _limited(declared, rule)
    if isinstance(declared, list):
        return _limited("|".join(str(item) for item in declared), rule)
    branches = rule.get("anyOf") or rule.get("oneOf")
    if isinstance(branches, list):
        return "|".join(dict.fromkeys(_type(_object(branch), root, depth - 1) for branch in branches))
    reference = rule.get("$ref")  # one that leads nowhere we can see
    return reference.rpartition("/")[2] if isinstance(reference, str) else "any"


def _limited(kind: str, rule: dict[str, Any]) -> str:
    found = [form.format(_literal(rule[key])) for key, form in _LIMITS.items() if key in rule]
    return " ".join([kind, *found])


def _target(rule: dict[str, Any], root: Mapping[str, Any]) -> dict[str, Any]:
    for _ in range(MAX_REFERENCES):
        found = follow(rule.get("$ref"), root)
        if not isinstance(found, dict):
            break
        rule = found
    return rule


def _fields(name: str, rule: dict[str, Any], root: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """The object whose fields are worth a row each, and what to write before their names."""
    rule = _target(rule, root)
    choices = rule.get("anyOf")
    branches = [_object(branch) for branch in choices] if isinstance(choices, list) else []
    branches = [branch for branch in branches if branch.get("type") != "null"]
    if len(branches) == 1:  # the object or null
        rule = _target(branches[0], root)
    if "items" in rule:
        return f"{name}[]", _target(_object(rule["items"]), root)
    return name, rule


def _qualified(prefix: str, fields: dict[str, Any]) -> set[str]:
    return {f"{prefix}.{field}" for field in _names(fields.get("required"))}


# --- further names of an argument ----------------------------------------------------------------------------


def _aliases(schema: Mapping[str, Any]) -> dict[str, str]:
    """Arguments that stand for another one, which then must not be given."""
    found = {}
    for name, rule in _object(schema.get("dependentSchemas")).items():
        excluded = [field for field, own in _object(_object(rule).get("properties")).items() if own is False]
        if len(excluded) == 1:
            found[name] = excluded[0]
    return found


def _required_under_any_name(schema: Mapping[str, Any]) -> set[str]:
    """Arguments that are required by their own name or by an alias."""
    clauses = _object(schema.get("else")).get("allOf")
    found: set[str] = set()
    for clause in clauses if isinstance(clauses, list) else []:
        branches = _object(clause).get("anyOf")
        for branch in branches if isinstance(branches, list) else []:
            found.update(_names(_object(branch).get("required")))
    return found


def _names(value: Any) -> list[str]:
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def _literal(value: Any) -> str:
    return value if isinstance(value, str) and value else truncate_chars(encode(value).decode(), 40)


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
