"""A document beside its server: every difference is told with its line and the edit that mends it."""

from typing import Any

import pytest
from tests.unit.contract.documents.surfaces import FIND, changed, stock_room

from holdfast.contract.documents import Finding, generate_document, verify_document

TEXT = generate_document(stock_room())
QUERY_SCHEMA = {"type": "object", "properties": {"query": {"type": "string", "description": "Words of the name."}}}


def line_of(part: str, text: str = TEXT) -> int:
    return text[: text.index(part)].count("\n") + 1


def differences(**members: Any) -> list[Finding]:
    return verify_document(TEXT, changed("find_articles", **members), name="x.md")


@pytest.mark.parametrize(
    ("members", "rule", "words", "remedy"),
    [
        ({"version": "1.3.0"}, "version-drift", "version 1.2.0, the server 1.3.0", "Version: 1.3.0"),
        ({"inputSchema": QUERY_SCHEMA}, "schema-drift", "/properties/limit: the file has", "Remove it"),
        ({"outputSchema": {"type": "object"}}, "schema-drift", "the output schema differs", "Remove it"),
        ({"errors": []}, "errors-drift", "does not declare the error code NOTHING_THERE", "Remove NOTHING_THERE"),
        (
            {"errors": [{"code": "NEW_ONE", "meaning": "x", "remedy": "y"}]},
            "errors-drift",
            "NEW_ONE of the server is not documented",
            "Add NEW_ONE",
        ),
        (
            {"effect": {"kind": "at_most_once"}},
            "idempotency-drift",
            "says Yes on idempotency, the server No",
            "No",
        ),
        ({"effect": {"kind": "deduplicated"}}, "idempotency-drift", "the effect is replay_safe", "deduplicated"),
        ({"description": "Finds other things now."}, "region-stale", "generated would be", "Finds other"),
        ({"security": "Reads and writes everything."}, "region-stale", "generated would be", "Reads and writes"),
        ({"name": "find_article"}, "tool-unknown", "no tool 'find_articles'", "find_article"),
        ({"name": "find_article"}, "tool-undocumented", "has the tool 'find_article'", "Generate"),
    ],
)
@pytest.mark.requirement("S2-6-stable-name")
@pytest.mark.requirement("S2-8-accurate")
@pytest.mark.requirement("S2-8-versioned")
def test_each_change_of_the_server_is_found(members: dict[str, Any], rule: str, words: str, remedy: str) -> None:
    found = [finding for finding in differences(**members) if finding.rule == f"spec.{rule}"]

    assert any(words in finding.message and remedy in finding.remedy for finding in found)
    assert all(finding.file == "x.md" for finding in found)


def test_a_difference_stands_on_its_own_line() -> None:
    schema = {**FIND.input_schema, "properties": {**FIND.input_schema["properties"]}}
    schema["properties"]["limit"] = {**schema["properties"]["limit"], "minimum": 2}
    [finding] = differences(inputSchema=schema)

    assert finding.line == line_of('"minimum": 1')
    assert finding.message.endswith("the file has 1, the server has 2")


@pytest.mark.requirement("S2-7.8-testable")
def test_an_example_that_the_server_would_refuse_is_found() -> None:
    schema = {**FIND.input_schema, "required": ["query", "order"]}

    assert line_of('"arguments": {') <= max(
        finding.line for finding in differences(inputSchema=schema) if finding.rule == "spec.example-drift"
    )


def test_a_row_that_was_edited_by_hand_is_found() -> None:
    text = TEXT.replace("| `query` | `string` | Yes |", "| `query` | `integer` | No |", 1)
    found = verify_document(text, stock_room())

    assert {finding.rule for finding in found} == {"spec.schema-drift"}
    assert {finding.line for finding in found} == {line_of("| `query` | `integer`", text)}


def test_a_document_written_by_hand_is_compared_by_meaning() -> None:
    text = (
        "# Ours\n\n## Tool: `find_articles`\n\n### Parameters\n\n| Name | Type |\n|---|---|\n| `path` | string |\n"
    )
    found = verify_document(text, stock_room(FIND))

    assert {finding.rule for finding in found} == {"spec.version-drift", "spec.schema-drift", "spec.errors-drift"}
    assert any("'path'" in finding.message and finding.line == 9 for finding in found)


def test_a_region_that_is_missing_or_of_no_tool_is_found() -> None:
    start, end = TEXT.index("<!-- holdfast:begin lend_article/security"), TEXT.index("<!-- holdfast:begin reserve")
    gone = TEXT[:start] + TEXT[end:]
    extra = TEXT + "<!-- holdfast:begin ghost/name -->\n<!-- holdfast:end ghost/name -->\n"

    assert any(
        "lend_article/security is missing" in finding.message for finding in verify_document(gone, stock_room())
    )
    assert any(
        "ghost/name belongs to no tool" in finding.message for finding in verify_document(extra, stock_room())
    )


def test_text_of_the_owner_is_no_difference() -> None:
    assert (
        verify_document(TEXT.replace("<!-- holdfast:begin lend", "Ours.\n<!-- holdfast:begin lend"), stock_room())
        == []
    )


@pytest.mark.requirement("S2-8-all-tools")
def test_a_document_of_nothing_lacks_every_tool() -> None:
    assert {finding.rule for finding in verify_document("", stock_room())} == {"spec.tool-undocumented"}


def test_a_document_that_is_too_large_is_told_so() -> None:
    assert [finding.rule for finding in verify_document("x" * 3_000_001, {})] == ["spec.document-too-large"]
