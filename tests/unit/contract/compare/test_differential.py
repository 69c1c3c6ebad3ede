"""The same pairs of tools given to another program for the same job: no break that it finds is missed by us."""

import copy
import random
from collections.abc import Callable
from typing import Any

import jsonschema_rs
import mcp_contract as other  # type: ignore[import-untyped]
import pytest

from holdfast.contract.compare.changes import Change
from holdfast.contract.compare.diff import diff_surfaces
from holdfast.contract.compare.view import read_surface

Schema = dict[str, Any]
TYPES: list[Any] = ["string", "integer", "number", "boolean", ["string", "null"], ["integer", "null"]]
WORDS = ["name", "count", "age", "size"]

# Breaks of the other program that are none, and what proves it.
NO_BREAK = {
    "argument-type-changed": "a wider type accepts every call that was valid: proven inclusion",
    "enum-value-removed": "the list of values is gone, so every value of it is still accepted: proven inclusion",
    "output-enum-value-added": "the field was free before, so the list only narrows it: proven inclusion",
    "output-field-removed": "the field was optional: each client copes without it, and somebody must acknowledge",
}


def _part(chance: random.Random) -> Schema:
    if chance.random() < 0.25:
        return {"type": "string", "enum": chance.sample(WORDS, chance.randint(1, 3))}
    return {"type": chance.choice(TYPES)}


def _object(chance: random.Random, depth: int = 0) -> Schema:
    names = chance.sample(["a", "b", "c", "d", "e"], chance.randint(1, 4))
    parts = {
        name: _object(chance, depth + 1) if depth < 1 and chance.random() < 0.2 else _part(chance)
        for name in names
    }
    required = [name for name in names if chance.random() < 0.4]
    closed = {"additionalProperties": False} if chance.random() < 0.5 else {}
    return {"type": "object", "properties": parts, "required": required, **closed}


def _add(schema: Schema, chance: random.Random) -> None:
    schema["properties"][chance.choice("fgh")] = _part(chance)


def _remove(schema: Schema, chance: random.Random) -> None:
    name = chance.choice(list(schema["properties"]))
    del schema["properties"][name]
    schema["required"] = [one for one in schema["required"] if one != name]


def _retype(schema: Schema, chance: random.Random) -> None:
    schema["properties"][chance.choice(list(schema["properties"]))] = _part(chance)


def _require(schema: Schema, chance: random.Random) -> None:
    name = chance.choice(list(schema["properties"]))
    schema["required"] = sorted(set(schema["required"]) ^ {name})


def _relist(schema: Schema, chance: random.Random) -> None:
    for part in schema["properties"].values():
        if "enum" in part:
            part["enum"] = chance.sample(WORDS, chance.randint(1, 4))


MUTATIONS: list[Callable[[Schema, random.Random], None]] = [_add, _remove, _retype, _require, _relist]


def _pair(number: int) -> tuple[Schema, Schema]:
    chance = random.Random(number)
    old: Schema = {
        "name": "tool",
        "description": "Do it.",
        "inputSchema": _object(chance),
        "outputSchema": _object(chance),
    }
    new = copy.deepcopy(old)
    side = new[chance.choice(["inputSchema", "outputSchema"])]
    if side["properties"]:
        chance.choice(MUTATIONS)(side, chance)
    return old, new


def _theirs(old: Schema, new: Schema) -> set[str]:
    surfaces = [
        other.surface_from_schema(tool["name"], tool["description"], tool["inputSchema"], tool["outputSchema"])
        for tool in (old, new)
    ]
    report = other.compare(*(other.Contract(tools=[surface]) for surface in surfaces))
    return {change.kind for change in report.changes if change.severity == other.BREAKING}


def _is_confirmed(item: Change, old: Schema, new: Schema) -> bool:
    if item.direction == "input":
        value = item.witness["arguments"]
        return jsonschema_rs.is_valid(old["inputSchema"], value) > jsonschema_rs.is_valid(
            new["inputSchema"], value
        )
    return jsonschema_rs.is_valid(new["outputSchema"], item.witness) > jsonschema_rs.is_valid(
        old["outputSchema"], item.witness
    )


def _is_harmless(item: Change, old: Schema) -> bool:
    """Whether it is proven that nothing breaks: inclusion where it counts, or a field that nobody had to get."""
    if item.rule == "object.property_removed_from_open" and item.direction == "output":
        return item.acknowledge and item.path.rpartition("/")[2] not in old["outputSchema"]["required"]
    return item.effect in ({"equal", "widens"} if item.direction == "input" else {"equal", "narrows"})


@pytest.mark.parametrize("block", range(4))
def test_no_break_that_another_program_finds_is_missed(block: int) -> None:
    for number in range(block * 100, block * 100 + 100):
        old, new = _pair(number)
        diff = diff_surfaces(read_surface({"tools": [old]}), read_surface({"tools": [new]}))
        theirs = _theirs(old, new)
        if theirs and not diff.breaking:
            assert theirs <= NO_BREAK.keys(), (number, theirs, diff.to_json())
            assert all(_is_harmless(item, old) for item in diff.changes), (number, diff.to_json())
        if diff.breaking and not theirs:
            proven = [item for item in diff.changes if item.is_breaking]
            assert all(_is_confirmed(item, old, new) for item in proven), (number, diff.to_json())
