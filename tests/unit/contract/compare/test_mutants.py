"""One tool and one change at a time: what a comparison of tools has to notice, and what it must not."""

import copy
from typing import Any, NamedTuple

import jsonschema_rs
import pytest
from tests.unit.contract.compare.surfaces import deep

from holdfast.contract.compare.diff import SurfaceDiff, diff_surfaces
from holdfast.contract.compare.view import read_surface

TOOL: dict[str, Any] = {
    "name": "search",
    "description": "Search the stock.",
    "inputSchema": {
        "type": "object",
        "properties": {
            "words": {"type": "string"},
            "limit": {"type": "integer", "minimum": 1, "maximum": 100, "default": 10},
            "order": {"type": "string", "enum": ["name", "count", "age"]},
            "filter": {"$ref": "#/$defs/Filter"},
        },
        "required": ["words"],
        "additionalProperties": False,
        "$defs": {
            "Filter": {
                "type": "object",
                "properties": {"sku": {"type": "string"}, "least": {"type": "integer"}},
                "required": ["sku"],
            }
        },
    },
    "outputSchema": {
        "type": "object",
        "properties": {"total": {"type": "integer"}, "items": {"type": "array", "items": {"type": "string"}}},
        "required": ["total", "items"],
    },
    "annotations": {"readOnlyHint": True},
    "_meta": {"io.holdfast/contract": {"version": "1.0.0", "schemaVersion": 1}},
}
PROPERTIES = "tools.0.inputSchema.properties"
FILTER = "tools.0.inputSchema.$defs.Filter"


class Mutant(NamedTuple):
    """One change, and what must be said about it; a path of "" is the whole tool."""

    name: str
    path: str
    value: Any
    bump: str
    rule: str
    direction: str = "input"


def _required(document: dict[str, Any]) -> None:
    deep(f"{PROPERTIES}.shop", {"type": "string"})(document)
    deep("tools.0.inputSchema.required", ["words", "shop"])(document)


MUTANTS = [
    Mutant("required added", "", _required, "major", "object.required_property_added"),
    Mutant("optional added", f"{PROPERTIES}.shop", {"type": "string"}, "minor",
           "object.optional_property_added_to_closed"),
    Mutant("enum narrowed", f"{PROPERTIES}.order.enum", ["name", "count"], "major", "enum.value_removed"),
    Mutant("nested type", f"{FILTER}.properties.least", {"type": "string"}, "major", "type.replaced"),
    Mutant("nested required", f"{FILTER}.required", ["sku", "least"], "major", "object.property_became_required"),
    Mutant("output no longer required", "tools.0.outputSchema.required", ["items"], "major",
           "object.property_became_optional", "output"),
    Mutant("output field added", "tools.0.outputSchema.properties.took", {"type": "number"}, "minor",
           "object.optional_property_added_typed", "output"),
    Mutant("description", "tools.0.description", "Search all.", "patch", "text.description_changed", "tool"),
    Mutant("annotation flipped", "tools.0.annotations.readOnlyHint", False, "major", "annotations.read_only_lost",
           "tool"),
    Mutant("renamed", "tools.0.name", "find", "major", "tool.renamed", "tool"),
    Mutant("default changed", f"{PROPERTIES}.limit.default", 50, "major", "annotation.default_changed"),
    Mutant("maximum tightened", f"{PROPERTIES}.limit.maximum", 20, "major", "number.maximum_tightened"),
    Mutant("pattern added", f"{PROPERTIES}.words.pattern", "^[a-z]+$", "major", "string.pattern_added"),
    Mutant("object opened", "tools.0.inputSchema.additionalProperties", True, "minor", "object.opened"),
    Mutant("item type changed", "tools.0.outputSchema.properties.items.items", {"type": "integer"}, "major",
           "type.replaced", "output"),
    Mutant("schemaVersion changed", "tools.0._meta.io.holdfast/contract", None, "none", "version.above_floor",
           "tool"),
]  # fmt: skip


def _mutated(mutant: Mutant) -> SurfaceDiff:
    old, new = ({"tools": [copy.deepcopy(TOOL)]} for _ in range(2))
    if mutant.name == "schemaVersion changed":
        new["tools"][0]["_meta"]["io.holdfast/contract"]["schemaVersion"] = 2
    elif callable(mutant.value):
        mutant.value(new)
    else:
        deep(mutant.path, mutant.value)(new)
    return diff_surfaces(read_surface(old), read_surface(new))


@pytest.mark.parametrize("mutant", MUTANTS, ids=[mutant.name for mutant in MUTANTS])
def test_every_mutant_is_told_by_its_rule(mutant: Mutant) -> None:
    diff = _mutated(mutant)
    found = {(item.rule, item.direction, item.bump.value) for item in diff.changes}

    assert (mutant.rule, mutant.direction, mutant.bump) in found
    assert diff.bump.value == mutant.bump
    assert diff.breaking is (mutant.bump == "major")


def test_the_order_of_keys_is_no_change() -> None:
    turned = {key: TOOL[key] for key in reversed(TOOL)}
    turned["inputSchema"] = {key: TOOL["inputSchema"][key] for key in reversed(TOOL["inputSchema"])}

    assert diff_surfaces(read_surface({"tools": [TOOL]}), read_surface({"tools": [turned]})).changes == ()


@pytest.mark.parametrize("mutant", MUTANTS, ids=[mutant.name for mutant in MUTANTS])
def test_every_broken_schema_is_proven_by_a_witness_that_another_validator_confirms(mutant: Mutant) -> None:
    diff = _mutated(mutant)
    old, new = diff.old.tools["search"].facets, diff.new.tools.get("search", diff.old.tools["search"]).facets
    for item in diff.changes:
        if (
            item.direction == "tool" or not item.is_breaking or item.effect == "equal"
        ):  # a default: no value shows it
            continue
        side, value = (
            ("input", item.witness["arguments"]) if item.direction == "input" else ("output", item.witness)
        )
        accepted = [jsonschema_rs.is_valid(facets[side], value) for facets in (old, new)]
        assert accepted == ([True, False] if side == "input" else [False, True]), item


@pytest.mark.parametrize("hints", [{}, {"readOnlyHint": True}])
def test_a_changed_default_is_a_break_of_every_tool(hints: dict[str, bool]) -> None:
    old, new = ({"tools": [{**copy.deepcopy(TOOL), "annotations": hints}]} for _ in range(2))
    new["tools"][0]["inputSchema"]["properties"]["limit"]["default"] = 50
    (item,) = diff_surfaces(read_surface(old), read_surface(new)).changes

    assert (item.rule, item.bump.value, item.acknowledge) == ("annotation.default_changed", "major", True)
