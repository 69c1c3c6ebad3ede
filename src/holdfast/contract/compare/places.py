"""Where things are in a schema: what a local reference leads to, and every field that callers can name.

Only what a reader finds by following names; what a schema means is decided in `contract/inclusion`.
"""

from collections.abc import Iterator
from typing import Any

__all__ = ["escaped", "fields", "followed", "inside", "properties", "tokens_of"]

_MAX_FIELDS = 5000  # of one schema; a schema may name itself in itself without end
_MAX_DEPTH = 12
_MAX_CHAIN = 20
_BRANCHES = ("allOf", "anyOf", "oneOf")


def escaped(name: str) -> str:
    """A name as one part of a JSON Pointer."""
    return name.replace("~", "~0").replace("/", "~1")


def tokens_of(pointer: str) -> list[str]:
    """The names that a JSON Pointer consists of."""
    return [token.replace("~1", "/").replace("~0", "~") for token in pointer.split("/")[1:]]


def inside(value: Any, tokens: list[str]) -> Any:
    """What the names lead to, one after the other; None where they lead nowhere."""
    for token in tokens:
        if isinstance(value, dict):
            value = value.get(token)
        elif isinstance(value, list) and token.isascii() and token.isdigit() and len(token) < 10:
            value = value[int(token)] if int(token) < len(value) else None
        else:
            return None
    return value


def followed(part: Any, root: Any) -> Any:
    """The schema that a chain of references inside the document ends at."""
    for _ in range(_MAX_CHAIN):
        name = part.get("$ref") if isinstance(part, dict) else None
        if not isinstance(name, str) or not (name == "#" or name.startswith("#/")):
            return part
        part = root if name == "#" else inside(root, tokens_of(name[1:]))
    return part


def properties(schema: Any) -> dict[str, Any]:
    """The properties that a schema lists itself."""
    found = schema.get("properties") if isinstance(schema, dict) else None
    return found if isinstance(found, dict) else {}


def fields(schema: Any) -> dict[str, Any]:
    """Each field that the schema names, however deep, as a JSON Pointer; the items of a list are `*`."""
    found: dict[str, Any] = {}
    left = [("", schema, 0)]
    while left and len(found) < _MAX_FIELDS:
        path, part, depth = left.pop()
        if depth > _MAX_DEPTH:
            continue
        for step, child in _children(part, schema):
            if step:
                found.setdefault(path + step, child)
            left.append((path + step, child, depth + 1))
    return found


def _children(part: Any, root: Any) -> Iterator[tuple[str, Any]]:
    target = followed(part, root)
    for one in (part, target) if target is not part else (part,):
        if not isinstance(one, dict):
            continue
        for name, child in properties(one).items():
            yield f"/{escaped(name)}", child
        for word in ("items", "additionalProperties"):
            if isinstance(one.get(word), dict):
                yield "/*", one[word]
        for word in _BRANCHES:
            branches = one.get(word)
            yield from (("", branch) for branch in (branches if isinstance(branches, list) else ()))
