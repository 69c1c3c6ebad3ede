"""Alternatives that one property tells apart: each demands it, and no two allow it the same value.

Of such alternatives no two hold for one object, so "exactly one of them" is simply "one of them". Without this, a
hundred tagged alternatives would have to be set against each other in pairs.
"""

from collections.abc import Iterable

from holdfast.contract.inclusion.nodes import And, Node, Props, Required, Values
from holdfast.contract.inclusion.values import Key

__all__ = ["are_tagged"]


def are_tagged(parts: list[Node]) -> bool:
    """Whether some property tells these terms apart, for values that are objects."""
    tags = [_tags(part) for part in parts]
    if len(tags) < 2:
        return False
    common = set(tags[0]).intersection(*tags[1:])
    return any(_are_disjoint([found[name] for found in tags]) for name in sorted(common))


def _are_disjoint(sets: list[frozenset[Key]]) -> bool:
    return sum(map(len, sets)) == len(frozenset().union(*sets))


def _tags(part: Node) -> dict[str, frozenset[Key]]:
    """The properties that an object must have, with the values that they can have, where those are listed."""
    said = _conjuncts(part)
    required = {name for node in said if isinstance(node, Required) for name in node.names}
    return {
        name: value.keys
        for props in said
        if isinstance(props, Props)
        for name, schema in props.named
        if name in required
        for value in _conjuncts(schema)
        if isinstance(value, Values)
    }


def _conjuncts(node: Node) -> Iterable[Node]:
    return node.parts if isinstance(node, And) else (node,)
