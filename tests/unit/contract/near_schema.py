"""Values close to a schema: mostly valid, now and then just outside a bound or of another kind altogether."""

from typing import Any

from hypothesis import strategies as st

WORDS = st.sampled_from(["", "a", "b", "red", "5", "2024-01-01", "2024-01-01T00:00:00Z", "1.5"])
SCALARS = st.none() | st.booleans() | st.integers(-20, 20) | st.sampled_from([0.0, 1.0, -2.5]) | WORDS
JUNK = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(WORDS, inner, max_size=2))

NEAR: dict[str, st.SearchStrategy[Any]] = {
    "integer": st.integers(-2, 12) | st.sampled_from([1.0, 5.0, 2.5]),
    "number": st.integers(-20, 20) | st.floats(-20, 20),
    "string": WORDS | st.text(max_size=9),
    "boolean": st.booleans(),
    "null": st.none(),
}


def near(schema: dict[str, Any], root: dict[str, Any]) -> st.SearchStrategy[Any]:
    """A strategy for values of `schema`, references taken from the definitions of `root`."""
    if "$ref" in schema:
        name = schema["$ref"].removeprefix("#/$defs/")
        return st.deferred(lambda: near(root["$defs"][name], root))
    if "anyOf" in schema or "oneOf" in schema:
        return st.one_of([near(branch, root) for branch in schema.get("anyOf") or schema["oneOf"]])
    if "enum" in schema or "const" in schema:
        return st.sampled_from(schema.get("enum", [schema.get("const")]))
    if schema.get("type") == "array":
        return _array(schema, root)
    if schema.get("type") == "object":
        return _object(schema, root)
    return NEAR.get(schema.get("type", ""), JUNK)


def near_or_not(schema: dict[str, Any], root: dict[str, Any]) -> st.SearchStrategy[Any]:
    """As `near`, with one value in eight of any kind."""
    return st.integers(0, 7).flatmap(lambda chance: near(schema, root) if chance else JUNK)


def _array(schema: dict[str, Any], root: dict[str, Any]) -> st.SearchStrategy[Any]:
    if "prefixItems" in schema:
        return st.tuples(*(near_or_not(item, root) for item in schema["prefixItems"])).map(list)
    return st.lists(near(schema["items"], root), max_size=3)


def _object(schema: dict[str, Any], root: dict[str, Any]) -> st.SearchStrategy[Any]:
    if "properties" not in schema:
        return st.dictionaries(WORDS, near(schema["additionalProperties"], root), max_size=2)
    parts = {name: near(part, root) for name, part in schema["properties"].items()}
    required = {name: part for name, part in parts.items() if name in schema.get("required", ())}
    return st.fixed_dictionaries(
        required, optional={name: part for name, part in parts.items() if name not in required}
    )


def arguments_near(schema: dict[str, Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Arguments for an input schema; each may be missing, and each may be wrong."""
    parts = {name: near_or_not(part, schema) for name, part in schema["properties"].items()}
    whole = st.fixed_dictionaries(parts)
    some = st.fixed_dictionaries({}, optional=parts)
    return st.integers(0, 3).flatmap(lambda chance: whole if chance else some)
