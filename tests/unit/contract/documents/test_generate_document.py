"""Generation: complete, the same every time, and the owner's own text kept byte for byte."""

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.unit.contract.documents.surfaces import CLOSE, FIND, LEND, RESERVE, TOOLS, changed, stock_room

from holdfast.contract.canonical import canonical_json
from holdfast.contract.documents import (
    SectionKind,
    generate_document,
    lint_document,
    parse_document,
    verify_document,
)
from holdfast.contract.documents.regions import split_regions
from holdfast.contract.model import ErrorSpec, ToolContract
from holdfast.present.dialects import Dialect

QUIET = settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow])
HOSTILE = st.one_of(
    st.text(min_size=1, max_size=80),
    st.sampled_from(
        [
            "## Tool: `other`",
            "```\nnever closed",
            "<!-- never closed",
            "<!-- holdfast:end find_articles/purpose -->",
            "a\n===\n\n### 2. Invocation Name\n\n`other`",
            "**Input Schema**:\n\n- **Idempotent**: No",
            "Version: 9.9.9",
            "| Code | x |\n|---|---|\n| `BAD_ONE` | y |",
            "- a\n  - b\n    - c\n      - d\n        - e\n          - f\n            - g\n              - h",
            "> " * 30 + "deep",
            "---\ntitle: x\n---",
            "\ttab",
            "trailing \\",
            "pipe | and ` tick",
            "Effect: `at_most_once`",
            "\r\n\x00\ufeff",
        ]
    ),
).filter(str.strip)


def regenerated(text: str) -> str:
    return generate_document(stock_room(), existing=text)


def own_text(text: str) -> str:
    return "".join(piece.text for piece in split_regions(text) if piece.id is None)


@pytest.mark.requirement("S2-3-eight")
def test_a_generated_document_has_eight_sections_per_tool_and_agrees_with_its_server() -> None:
    text = generate_document(stock_room())
    document = parse_document(text)

    assert [tool.name for tool in document.tools] == sorted(tool.name for tool in TOOLS)
    assert all(set(tool.sections) == set(SectionKind) for tool in document.tools)
    assert verify_document(text, stock_room()) == []
    assert lint_document(document) == []


@pytest.mark.requirement("S2-3.4-output")
def test_tables_schemas_and_plain_examples_are_all_there() -> None:
    tool = parse_document(generate_document(stock_room())).tool("find_articles")
    facts = next(one for one in stock_room()["tools"] if one["name"] == "find_articles")

    assert tool is not None
    assert tool.input_table is not None
    assert [(row.name, row.required) for row in tool.input_table.rows] == [
        ("query", True),
        ("limit", False),
        ("order", False),
    ]
    assert tool.input_schema is not None
    assert tool.input_schema.value == facts["inputSchema"]
    assert tool.output_schema is not None
    assert tool.output_schema.value == facts["outputSchema"]
    assert [call.arguments for call in tool.examples] == facts["examples"]
    assert all(fence.json.is_plain for fence in tool.fences)
    assert tool.version is not None
    assert tool.version.text == "1.2.0"


@pytest.mark.parametrize("dialect", list(Dialect))
@pytest.mark.requirement("S2-5-error-form")
def test_the_form_of_a_failure_is_that_of_the_dialect_and_declares_its_code(dialect: Dialect) -> None:
    snapshot = {**stock_room(FIND), "dialect": dialect.value}

    assert "NOTHING_THERE" in generate_document(snapshot)
    assert not [one for one in lint_document(parse_document(generate_document(snapshot))) if "error" in one.rule]


def test_the_order_of_keys_does_not_change_the_text() -> None:
    stored = json.loads(canonical_json(stock_room()))

    assert generate_document(stored) == generate_document(stock_room())


def test_a_server_without_tools_gives_a_document_that_says_so() -> None:
    document = parse_document(generate_document({"server": {"name": "empty"}, "tools": []}))

    assert document.says_no_tools
    assert lint_document(document) == []


def test_what_the_code_does_not_declare_is_said_and_found() -> None:
    text = generate_document(changed("find_articles", security="", examples=[]))

    empty = lint_document(parse_document(text), rules=["spec.section-empty"])
    assert [one.message for one in empty] == [
        "the section 'Usage Examples (for MCP context)' says nothing",
        "the section 'Security Considerations' says nothing",
    ]


def test_a_plain_list_of_tools_can_be_documented() -> None:
    plain = {"tools": [{"name": "weird name|`", "description": "# Heading", "inputSchema": {"type": "object"}}]}
    text = generate_document(plain)

    assert [tool.name for tool in parse_document(text).tools] == ["weird name|`"]
    assert verify_document(text, plain) == []


@QUIET
@given(HOSTILE, HOSTILE, HOSTILE, st.dictionaries(st.text(max_size=12), HOSTILE, max_size=3))
def test_nothing_that_a_server_says_changes_the_structure_of_its_document(
    description: str, security: str, meaning: str, fields: dict[str, str]
) -> None:
    tool = ToolContract(
        name="find_articles",
        description=description,
        input_schema={
            "type": "object",
            "properties": {name: {"type": "string", "description": words} for name, words in fields.items()},
        },
        output_schema={"type": "object", "properties": {}},
        errors=(ErrorSpec("NOTHING_THERE", meaning, meaning),),
        security=security,
    )
    text = generate_document(stock_room(tool, CLOSE))

    assert verify_document(text, stock_room(tool, CLOSE)) == []
    assert len(parse_document(text).tools) == 2
    assert generate_document(stock_room(tool, CLOSE), existing=text) == text


TYPES = st.sampled_from(["string", "integer", "object", "array", "null", ["string", "null"], "bogus", []])
SCHEMAS: st.SearchStrategy[Any] = st.recursive(
    st.sampled_from([True, False, {}, {"$ref": "#/$defs/a"}, {"$ref": "#"}, {"$ref": "http://x.example/"}]),
    lambda inner: st.fixed_dictionaries(
        {},
        optional={
            "type": TYPES,
            "properties": st.dictionaries(
                st.sampled_from(["a", "", "x|y", "`q`", "a\nb", "none"]), inner, max_size=2
            ),
            "required": st.lists(st.sampled_from(["a", "x|y"]), max_size=2),
            "anyOf": st.lists(inner, max_size=2),
            "allOf": st.lists(inner, max_size=2),
            "enum": st.lists(st.sampled_from(["a", 1, None, {}, "`|"]), max_size=3),
            "const": st.sampled_from(["a", 1, None, {}]),
            "default": st.sampled_from(["a", 1, None, "|" * 99]),
            "examples": st.sampled_from([["a"], [], 7]),
            "items": inner,
            "$defs": st.dictionaries(st.just("a"), inner, max_size=1),
        },
    ),
    max_leaves=6,
)


@QUIET
@given(SCHEMAS, SCHEMAS)
def test_whatever_its_schemas_a_tool_agrees_with_its_document(given_schema: Any, returned_schema: Any) -> None:
    tool = {"name": "a", "description": "It.", "inputSchema": given_schema, "outputSchema": returned_schema}
    text = generate_document({"tools": [tool]})
    found = {finding.rule for finding in lint_document(parse_document(text))}

    assert verify_document(text, {"tools": [tool]}) == []
    assert not found & {"spec.table-schema-differ", "spec.table-example-invalid", "spec.json-invalid"}


@QUIET
@given(st.text(max_size=120), st.integers(0, 30), st.text(max_size=120), st.integers(0, 30))
def test_the_owners_text_is_kept_byte_for_byte(first: str, one: int, second: str, other: int) -> None:
    pieces = [piece.text for piece in split_regions(generate_document(stock_room(FIND, LEND, CLOSE)))]
    pieces.insert(min(one, len(pieces)), first + "\n")
    pieces.insert(min(other, len(pieces)), second + "\n")
    existing = "".join(pieces)
    text = regenerated(existing)

    assert own_text(text) == own_text(existing)
    assert regenerated(text) == text
    assert "`reserve.article`" in text


@QUIET
@given(st.text(max_size=200))
def test_a_document_without_regions_is_kept_whole(existing: str) -> None:
    text = regenerated(existing)

    assert own_text(existing) in own_text(text)
    assert regenerated(text) == text


def test_a_title_of_the_owner_is_the_only_title() -> None:
    text = regenerated("# Ours\n\nHello.\n")

    assert text.startswith("# Ours\n\nHello.\n<!-- holdfast:begin")
    assert [block.text for block in parse_document(text).blocks if block.level == 1] == ["Ours"]


def test_regions_of_a_tool_that_is_gone_go_and_its_owners_text_stays() -> None:
    before = generate_document(stock_room()).replace(
        "<!-- holdfast:end lend_article/errors -->\n",
        "<!-- holdfast:end lend_article/errors -->\nNote on lending.\n",
    )
    text = generate_document(stock_room(FIND, RESERVE), existing=before)

    assert "lend_article" not in text
    assert "Note on lending.\n" in text


def test_a_new_tool_stands_in_its_alphabetical_place() -> None:
    before = generate_document(stock_room(FIND, LEND))

    assert generate_document(stock_room(FIND, LEND, CLOSE), existing=before) == generate_document(
        stock_room(FIND, LEND, CLOSE)
    )


def test_a_lost_section_comes_back_where_it_was() -> None:
    whole = generate_document(stock_room())
    pieces = [piece.text for piece in split_regions(whole) if piece.id != "find_articles/errors"]

    assert regenerated("".join(pieces)) == whole


def test_line_breaks_of_the_file_are_kept() -> None:
    text = regenerated("# Ours\r\n\r\nHello.\r\n")

    assert text.count("\n") == text.count("\r\n")
    assert verify_document(text, stock_room()) == []


def test_a_region_that_is_not_ended_is_text_of_the_owner_and_told() -> None:
    existing = "# Ours\n<!-- holdfast:begin find_articles/name -->\nmine\n"

    assert own_text(existing) == existing
    assert "spec.marker-broken" in {finding.rule for finding in verify_document(existing, stock_room())}


@pytest.mark.parametrize("odd", [{}, {"tools": [{}]}, {"tools": [{"name": 3, "inputSchema": []}]}])
def test_odd_snapshots_give_a_document(odd: dict[str, Any]) -> None:
    assert generate_document(odd).startswith("<!-- holdfast:begin document -->")
