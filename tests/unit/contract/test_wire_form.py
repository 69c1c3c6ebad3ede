"""The published definition of a tool."""

from typing import Any

import pytest
from tests.unit.contract.shapes import Money

from holdfast.contract.derive import derive_tool
from holdfast.contract.model import Deprecation, ToolContract
from holdfast.contract.surface import Surface
from holdfast.contract.wire_form import tool_definition, tool_definitions
from holdfast.present.dialects import Dialect
from holdfast.vocabulary.effects import Effect, at_most_once, deduplicated, probe_required, replay_safe


def price(sku: str) -> Money:
    """Tell the price."""
    return Money(len(sku))


def surface(*tools: ToolContract, **changes: Any) -> Surface:
    return Surface(
        **{"name": "shop", "version": "2.0.0rc1", "surface_version": "1.4.0", "tools": tools, **changes}
    )


def contract(**declared: Any) -> ToolContract:
    return derive_tool(price, **declared).contract


def test_a_definition_has_every_field_of_every_revision() -> None:
    tool = contract(title="Price", version="1.2.0", schema_version=3, effect=replay_safe(), read_only=True)
    definition = tool_definition(tool, surface(tool))
    assert definition == {
        "name": "price",
        "title": "Price",
        "description": "Tell the price.",
        "inputSchema": tool.input_schema,
        "outputSchema": definition["outputSchema"],
        "annotations": {
            "title": "Price",
            "readOnlyHint": True,
            "destructiveHint": False,
            "idempotentHint": True,
        },
        "schemaVersion": 3,
        "toolingVersion": "2.0.0-rc.1",
        "_meta": {
            "io.holdfast/contract": {
                "version": "1.2.0",
                "schemaVersion": 3,
                "toolingVersion": "2.0.0-rc.1",
                "surfaceVersion": "1.4.0",
            },
            "io.holdfast/effect": {"recovery": {"kind": "replay_safe"}, "state": {"kind": "stateless"}},
            "io.holdfast/supervision": {"dialect": "status"},
        },
    }
    assert definition["outputSchema"]["properties"]["status"] == {"const": "success"}


@pytest.mark.parametrize(
    ("effect", "hint"),
    [
        (replay_safe(), True),
        (deduplicated("/arguments/sku"), True),
        (probe_required("other"), False),
        (at_most_once(), False),
    ],
)
def test_the_idempotent_hint_follows_from_the_effect(effect: Effect, hint: bool) -> None:
    tools = (contract(effect=effect), contract(name="other"))
    assert tool_definition(tools[0], surface(*tools))["annotations"]["idempotentHint"] is hint


def test_output_schemas_are_left_out_where_the_server_does_not_publish_them() -> None:
    tool = contract()
    assert "outputSchema" not in tool_definition(tool, surface(tool, output_schema_published=False))


def test_an_alias_is_a_definition_of_its_own_that_names_the_tool() -> None:
    tool = contract(aliases=("cost",))
    named, alias = tool_definitions(surface(tool))
    assert (named["name"], alias["name"]) == ("price", "cost")
    assert alias["inputSchema"] == named["inputSchema"]
    assert alias["_meta"]["io.holdfast/contract"]["deprecated"]["replacement"] == "price"
    assert "Use `price` instead." in alias["description"]
    assert "deprecated" not in named["_meta"]["io.holdfast/contract"]


def test_a_deprecated_tool_says_so_in_data_and_in_words() -> None:
    tools = (contract(deprecated=Deprecation("1.1.0", "Too slow", "other")), contract(name="other"))
    definition = tool_definition(tools[0], surface(*tools))
    assert definition["description"].endswith("Deprecated since 1.1.0. Too slow. Use `other` instead.")
    assert definition["_meta"]["io.holdfast/contract"]["deprecated"] == {
        "since": "1.1.0",
        "reason": "Too slow",
        "replacement": "other",
    }


def test_a_supervisor_learns_the_timeout_of_a_tool_and_how_its_server_words_a_failure() -> None:
    tool = contract(timeout=2.5)
    told = tool_definition(tool, surface(tool, dialect=Dialect.POC))["_meta"]["io.holdfast/supervision"]
    assert told == {"dialect": "poc", "timeoutMs": 2500}
