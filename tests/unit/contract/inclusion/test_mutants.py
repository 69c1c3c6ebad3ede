"""One-change mutants of one tool: none may pass unseen, and each asks for the right bump."""

import copy
from typing import Any

import pytest

from holdfast.contract.inclusion import bumps_of, compare_schemas

INPUT: dict[str, Any] = {
    "type": "object",
    "properties": {
        "query": {"type": "string", "description": "What to look for."},
        "limit": {"type": "integer", "default": 10, "minimum": 1, "maximum": 100},
        "mode": {"enum": ["fast", "exact", "fuzzy"], "default": "fast"},
        "filter": {"$ref": "#/$defs/Filter"},
    },
    "required": ["query"],
    "additionalProperties": False,
    "$defs": {
        "Filter": {"type": "object", "properties": {"path": {"type": "string"}, "size": {"type": "integer"}}}
    },
}
OUTPUT: dict[str, Any] = {
    "type": "object",
    "properties": {"hits": {"type": "array", "items": {"type": "string"}}, "total": {"type": "integer"}},
    "required": ["hits", "total"],
}

# name -> (side, what is changed, the bump that is needed)
MUTANTS: dict[str, tuple[str, Any, str]] = {
    "required added": ("in", lambda s: s["required"].append("limit"), "major"),
    "required property added": (
        "in", lambda s: (s["properties"].update(repo={"type": "string"}), s["required"].append("repo")), "major",
    ),
    "optional added": ("in", lambda s: s["properties"].update(lang={"type": "string"}), "minor"),
    "enum narrowed": ("in", lambda s: s["properties"]["mode"]["enum"].pop(), "major"),
    "nested reference type": (
        "in", lambda s: s["$defs"]["Filter"]["properties"]["size"].update(type="string"), "major",
    ),
    "nested reference required": ("in", lambda s: s["$defs"]["Filter"].update(required=["path"]), "major"),
    "output field no longer required": ("out", lambda s: s["required"].remove("total"), "major"),
    "output field added": ("out", lambda s: s["properties"].update(took={"type": "number"}), "minor"),
    "description": ("in", lambda s: s["properties"]["query"].update(description="Other."), "minor"),
    "rename": (
        "in", lambda s: (s["properties"].update(text=s["properties"].pop("query")), s.update(required=["text"])),
        "major",
    ),
    "default": ("in", lambda s: s["properties"]["limit"].update(default=50), "major"),
    "maximum": ("in", lambda s: s["properties"]["limit"].update(maximum=20), "major"),
    "new pattern": ("in", lambda s: s["properties"]["query"].update(pattern="^[a-z]+$"), "major"),
    "additional properties": ("in", lambda s: s.update(additionalProperties=True), "minor"),
    "output item type": ("out", lambda s: s["properties"]["hits"]["items"].update(type="integer"), "major"),
}  # fmt: skip


@pytest.mark.parametrize("name", MUTANTS)
def test_each_mutant_is_caught_with_its_bump(name: str) -> None:
    side, change, bump = MUTANTS[name]
    old = INPUT if side == "in" else OUTPUT
    new = copy.deepcopy(old)
    change(new)
    found = compare_schemas(old, new).changes

    assert found, "no change was seen"
    assert max(bumps_of(change)[side == "out"] for change in found).value == bump


@pytest.mark.parametrize(
    "name", [name for name, (_, _, bump) in MUTANTS.items() if bump == "major" and name != "default"]
)
def test_each_breaking_mutant_has_a_witness(name: str) -> None:
    side, change, _ = MUTANTS[name]
    old = INPUT if side == "in" else OUTPUT
    new = copy.deepcopy(old)
    change(new)
    verdict = compare_schemas(old, new)

    assert (verdict.witness_lost if side == "in" else verdict.witness_gained) is not None


def test_key_order_alone_is_not_a_mutant() -> None:
    turned = dict(reversed(list(INPUT.items())))

    assert compare_schemas(INPUT, turned).changes == ()
