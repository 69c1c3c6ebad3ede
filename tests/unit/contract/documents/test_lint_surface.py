"""The same principles for a server itself."""

from typing import Any

import pytest
from tests.rows import each_row
from tests.unit.contract.documents.surfaces import changed, stock_room

from holdfast.contract.documents import lint_surface


def rules(snapshot: dict[str, Any]) -> set[str]:
    return {finding.rule.removeprefix("spec.") for finding in lint_surface(snapshot)}


def test_a_complete_server_has_no_finding() -> None:
    assert lint_surface(stock_room()) == []


@each_row(
    ("members", "rule"),
    [
        ({"name": "find articles"}, "name-pattern"),
        ({"name": "find_and_lend"}, "tool-too-broad"),
        ({"name": "close_room"}, "name-duplicate"),
        ({"aliases": ["close_room"]}, "name-duplicate"),
        ({"description": "Finds."}, "description-short"),
        ({"description": "Finds words. " * 400}, "description-long"),
        ({"description": "Finds articles. TBD, sorry."}, "placeholder"),
        ({"version": None}, "version-missing"),
        ({"version": "1"}, "version-not-semver"),
        ({"inputSchema": None}, "schema-missing"),
        ({"inputSchema": {"type": "objekt"}}, "schema-invalid"),
        ({"inputSchema": {"type": "array"}}, "schema-not-object"),
        (
            {"inputSchema": {"type": "object", "properties": {"a": {"$ref": "http://x.example/"}}}},
            "schema-external-ref",
        ),
        ({"inputSchema": {"type": "object", "properties": {"a": {"type": "string"}}}}, "property-undescribed"),
        ({"inputSchema": {"type": "object", "properties": {"a": {"description": "It."}}}}, "property-untyped"),
        (
            {
                "inputSchema": {
                    "type": "object",
                    "properties": {"url": {"type": "string", "description": "Where."}},
                }
            },
            "format-unstated",
        ),
        ({"outputSchema": None}, "schema-missing"),
        ({"examples": [{"limit": 5}]}, "example-invalid"),
        ({"examples": []}, "example-missing"),
        ({"outputExample": {"names": "anvil"}}, "result-invalid"),
        ({"errors": [{"code": "A_B", "meaning": "x", "remedy": "y"}] * 2}, "error-duplicate"),
        ({"errors": [{"code": "A_B", "meaning": "", "remedy": "y"}]}, "error-unexplained"),
        ({"effect": None, "idempotency": ""}, "idempotency-unclear"),
        ({"idempotency": "No. Every call counts."}, "idempotency-contradiction"),
        ({"annotations": {"idempotentHint": False}}, "idempotency-contradiction"),
        ({"security": ""}, "security-undeclared"),
        (
            {
                "security": "Careful.",
                "inputSchema": {"type": "object", "properties": {"path": {"type": "string", "description": "A."}}},
            },
            "security-missing-risk",
        ),
    ],
)
@pytest.mark.requirement("S2-7.6-security")
def test_each_rule_finds_its_fault_in_a_server(members: dict[str, Any], rule: str) -> None:
    assert rule in rules(changed("find_articles", **members))


def test_a_server_without_tools_is_told_so() -> None:
    assert rules({"tools": []}) == {"no-tools-found"}


def test_findings_name_the_tool_and_no_line() -> None:
    [finding] = lint_surface(changed("find_articles", security=" "))

    assert (finding.tool, finding.line, finding.file) == ("find_articles", 0, "stock-room")


def test_a_plain_list_of_tools_is_not_asked_for_what_it_cannot_say() -> None:
    tool = {
        "name": "find",
        "description": "Finds articles by name.",
        "inputSchema": {"type": "object"},
        "outputSchema": {"type": "object"},
    }

    assert lint_surface({"tools": [tool]}) == []
    assert rules({"tools": [{**tool, "annotations": {"readOnlyHint": True, "idempotentHint": False}}]}) == {
        "idempotency-contradiction"
    }


@pytest.mark.parametrize(
    "snapshot",
    [
        {},
        {"tools": None},
        {"tools": [None, 3, {}, {"name": 5, "inputSchema": 7, "errors": [3], "examples": [[]], "aliases": 5}]},
        {"server": 3, "dialect": [], "tools": [{"_meta": [], "annotations": 5, "effect": "x", "deprecated": 1}]},
    ],
)
def test_odd_data_is_read_without_a_crash(snapshot: dict[str, Any]) -> None:
    assert lint_surface(snapshot)
