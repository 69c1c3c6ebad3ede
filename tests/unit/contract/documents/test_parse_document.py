"""Reading specifications: whatever people write is read with its lines, and no text at all breaks the reader."""

import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from holdfast.contract.documents import (
    IdempotencyWord,
    SectionKind,
    generate_document,
    lint_document,
    migrate_document,
    parse_document,
)
from holdfast.contract.documents.document import ToolSection
from holdfast.errors import UsageError
from holdfast.vocabulary.effects import EffectKind

QUIET = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])

PIECES = st.sampled_from(
    [
        "# Title",
        "## Tool: `a_tool`",
        "## Tool: other",
        "### `code_name`",
        "## bare_name",
        "### 3. Input Schema (Parameters)",
        "##### Output",
        "## Error Handling",
        "### Idempotency",
        "### Usage Examples",
        "### Security Considerations",
        "### Invocation Name",
        "Setext\n======",
        "Setext again\n---",
        "- **Parameters**: `x` (string, required): y",
        "  - `z` (integer): w",
        "1. **Idempotent**: No",
        "| Name | Type |\n|---|---|\n| `a` | string |\n| b | enum[x, y] |",
        "| Tool | Description |\n|---|---|\n| `t` | does |",
        '```json\n{"type": "object", "properties": {"a": {"type": "string"}}}\n```',
        '```json\n{"tool_name": "a_tool", "arguments": {"a": 1,}} // c\n```',
        "```json\n{",
        "```",
        "~~~\nx",
        "<!-- comment -->",
        "<!-- open",
        "<!-- holdfast:begin a_tool/name -->",
        "<!-- holdfast:end a_tool/name -->",
        "> # quoted\n> ```",
        "\t- tab",
        "    code",
        "Version: 1.0",
        "This module exposes no tools.",
        "`OUT_OF_STOCK`: none left",
        "---",
        "",
        "text **bold** `code",
        "\ufeff",
        "\r",
        "\x00\x07",
        "FILL IN: it",
    ]
)


def only_tool(text: str) -> ToolSection:
    [tool] = parse_document(text).tools
    return tool


def use(text: str) -> None:
    """Everything that takes a text takes this one."""
    document = parse_document(text, name="x.md")
    lines = len(document.source.lines)
    assert all(1 <= finding.line <= max(lines, 1) for finding in lint_document(document))
    migrate_document(text)
    try:
        assert generate_document({"tools": []}, existing=text)
    except UsageError as refused:
        assert "line " in str(refused)  # noqa: PT017 - a refusal is one of the two answers, and it names a place


@QUIET
@given(st.text(max_size=400))
def test_no_text_breaks_anything(text: str) -> None:
    use(text)


@QUIET
@given(st.binary(max_size=400))
def test_no_bytes_break_anything(data: bytes) -> None:
    use(data.decode("utf-8", "replace"))


@settings(QUIET, max_examples=150)
@given(st.lists(PIECES, max_size=14), st.sampled_from(["\n", "\n\n", "\r\n", "\r"]))
@pytest.mark.requirement("S2-1-parsable")
def test_no_markdown_breaks_anything(pieces: list[str], between: str) -> None:
    use(between.join(pieces))


@settings(QUIET, max_examples=60)
@given(st.lists(PIECES, min_size=1, max_size=14), st.sampled_from(["\n", "\n\n"]))
def test_migration_ends_after_one_step_on_any_markdown(pieces: list[str], between: str) -> None:
    once = migrate_document(between.join(pieces)).text

    assert migrate_document(once).text == once


def test_ten_megabytes_are_refused_at_once() -> None:
    started = time.process_time()
    document = parse_document("## Tool: `x`\n" * 800_000)

    assert [finding.rule for finding in lint_document(document)] == ["spec.document-too-large"]
    assert time.process_time() - started < 3


@pytest.mark.parametrize(
    "text",
    [
        "> " * 5_000 + "deep",
        "- " * 5_000 + "deep",
        "\n".join("  " * depth + "- item" for depth in range(300)),
        "`" * 20_000,
        "|" * 20_000,
        "|a" * 5_000 + "\n" + "|-" * 5_000 + "\n" + "|\n" * 500,
        "[" * 20_000,
        "<!--\n" * 5_000,
        "# x\n" * 5_000,
        "## Tool: `x`\n" * 2_000,
        "## Tool: `x`\n### Input Schema\n```json\n" + "[" * 20_000 + "\n```",
        "## Tool: `x`\n### Input Schema\n```json\n" + "/*" * 20_000 + "\n```",
        "## Tool: `x`\n### Usage\n```json\n" + '"' * 20_001 + "\n```",
    ],
    ids=lambda text: repr(text[:12]),
)
def test_hostile_texts_are_read_in_time(text: str) -> None:
    started = time.process_time()
    lint_document(parse_document(text))

    assert time.process_time() - started < 8


def test_nothing_behind_too_deep_a_list_is_lost_in_silence() -> None:
    document = parse_document("> " * 60 + "x\n\n## Tool: `a`\n")

    assert [finding.rule for finding in document.findings] == ["spec.nested-too-deep"]
    assert document.findings[0].line == 1


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("front", ["", "---\ntitle: x\n---\n"])
def test_lines_are_counted_as_an_editor_counts_them(newline: str, mark: str, front: str) -> None:
    text = front + "# T\n\n## Tool: `a_tool`\n\n### Idempotency\n\nYes. It changes nothing.\n"
    tool = only_tool(mark + text.replace("\n", newline))
    first = front.count("\n")

    assert tool.line == first + 3
    assert tool.sections[SectionKind.IDEMPOTENCY].line == first + 5
    assert tool.idempotency is not None
    assert tool.idempotency.line == first + 7


@pytest.mark.parametrize(
    "heading",
    [
        "### 3. Input Schema (Parameters)",
        "### Input Schema",
        "#### 3) input schema:",
        "###### **Parameters**",
        "### 2.3 Arguments ###",
        "Inputs\n------",
    ],
)
def test_a_section_is_known_by_its_words_at_any_level(heading: str) -> None:
    tool = only_tool(f"# T\n\n## Tool: `a`\n\n{heading}\n\n| Name | Type |\n|---|---|\n| `x` | string |\n")

    assert tool.input_table is not None
    assert tool.input_table.rows[0].name == "x"


def test_a_table_and_a_schema_are_read_with_their_lines() -> None:
    text = (
        "## Tool: `a`\n### Parameters\n| Parameter | Type | Required | Description | Default |\n"
        '|---|---|:-:|---|---|\n| `x` | `string \\| null` | yes | a \\| b | "q" |\n\n'
        '```json\n{\n  "type": "object"\n}\n```\n'
    )
    tool = only_tool(text)

    assert tool.input_table is not None
    [row] = tool.input_table.rows
    assert (row.name, row.type_text, row.required, row.description) == ("x", "`string | null`", True, "a | b")
    assert (row.default, row.line) == ('"q"', 5)
    assert tool.input_schema is not None
    assert (tool.input_schema.value, tool.input_schema.line) == ({"type": "object"}, 8)


def test_a_list_of_parameters_is_read_like_a_table() -> None:
    tool = only_tool("### `a`\n\n- **Parameters**:\n  - `x` (integer, optional, default: 3): how many\n")

    assert tool.input_table is not None
    [row] = tool.input_table.rows
    assert (row.name, row.type_text, row.required, row.default, row.line) == ("x", "integer", False, "3", 4)


@pytest.mark.parametrize(
    ("words", "word"),
    [
        ("Idempotent: Yes", IdempotencyWord.YES),
        ("- **Idempotent**: No", IdempotencyWord.NO),
        ("**Idempotent:** `Partially`", IdempotencyWord.PARTIALLY),
        ("Yes, always.", IdempotencyWord.YES),
        ("This tool is not idempotent.", IdempotencyWord.NO),
        ("The call is idempotent.", IdempotencyWord.YES),
        ("It is partially idempotent.", IdempotencyWord.PARTIALLY),
        ("Nobody knows.", None),
        ("Nothing happens. Yesterday it did.", None),
    ],
)
def test_the_word_on_idempotency_is_read_from_what_people_write(words: str, word: IdempotencyWord | None) -> None:
    tool = only_tool(f"## Tool: `a`\n### Idempotency\n{words}\n")

    assert tool.idempotency is not None
    assert tool.idempotency.word is word


def test_each_word_on_idempotency_goes_with_its_effects_and_no_other() -> None:
    assert IdempotencyWord.YES.effects == {EffectKind.REPLAY_SAFE, EffectKind.DEDUPLICATED}
    assert IdempotencyWord.NO.effects == {EffectKind.AT_MOST_ONCE}
    assert IdempotencyWord.PARTIALLY.effects == {EffectKind.PROBE_REQUIRED, EffectKind.AT_MOST_ONCE}


@pytest.mark.parametrize(
    ("statement", "version"),
    [
        ("Version: 1.0.2", "1.0.2"),
        ("**Version**: `2.0.0`", "2.0.0"),
        ("- **Tool Version:** v1.1.0", "1.1.0"),
        ("Finds things (version: 3.0.1).", "3.0.1"),
        ("Finds things. Version: 1.0.2", "1.0.2"),
        ("Finds things. **Version:** 1.0.2. It is quick.", "1.0.2"),
        ("Finds things. Version: 1.0.2-rc1\nIt is quick.", "1.0.2-rc1"),
        ("Needs Python. Version: 3.11", None),
        ("Needs a parser. Version: 1.0.2 of it is the oldest.", None),
        ("Schema version: 4", None),
        ("Aversion: 1.0.0", None),
    ],
)
def test_a_version_is_read_from_a_line_or_a_sentence_of_its_own(statement: str, version: str | None) -> None:
    tool = only_tool(f"## Tool: `a`\n### Purpose\nFinds things.\n\n{statement}\n")

    assert (tool.version.text if tool.version else None) == version


def test_error_codes_are_read_from_tables_lists_and_prose() -> None:
    for section in (
        "| Code | Meaning |\n|---|---|\n| `NO_STOCK` | none |\n| FileNotFound | gone |",
        "- `NO_STOCK`: none\n- **FileNotFound**: gone\n- other text",
        "Returns `NO_STOCK` or `FileNotFound` where `file_path` leads nowhere; `status` tells which.",
    ):
        tool = only_tool(f"## Tool: `a`\n### Errors\n{section}\n")
        assert [error.code for error in tool.errors] == ["NO_STOCK", "FileNotFound"]


def test_calls_and_results_are_told_apart() -> None:
    tool = only_tool(
        '## Tool: `a`\n### Usage\n```json\n{"tool_name": "a", "arguments": {}}\n```\nThe response:\n'
        '```json\n{"status": "success"}\n```\n```python\na()\n```\n'
    )

    assert [(call.tool_name, call.arguments) for call in tool.examples] == [("a", {})]
    assert [result.value for result in tool.results] == [{"status": "success"}]


def test_the_invocation_name_of_its_section_wins_over_the_heading() -> None:
    tool = only_tool("## Tool: Find a thing\n### Invocation Name\n`thing.find`\n")

    assert (tool.name, tool.heading_name) == ("thing.find", "Find a thing")


def test_sections_of_the_document_do_not_belong_to_its_last_tool() -> None:
    document = parse_document(
        "## Tool: `a`\n### Purpose\nDoes it.\n\n## Security Considerations\n\nFor all tools.\n"
    )

    assert SectionKind.SECURITY not in document.tools[0].sections
    assert document.tools[0].end_line == 4
