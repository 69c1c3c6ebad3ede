"""Migration: what moves where, what is derived, what is asked for."""

from holdfast.contract.documents import (
    TEMPLATE,
    SectionKind,
    generate_document,
    lint_document,
    migrate_document,
    parse_document,
)

LOOSE = """\
# Lamps

Before.

### `switch_lamp`

Switches a lamp.

- **Parameters**:
  - `lamp` (string, required): which lamp
  - `on` (boolean, optional, default: true): on or off
- **Returns**: a lamp
- **Example**:
  ```json
  {"tool_name": "switch_lamp", "arguments": {"lamp": "hall"}} // the hall
  ```
- **Idempotent**: Yes

### Changelog

After.
"""


def test_a_loose_tool_gets_the_eight_sections_in_order() -> None:
    [tool] = parse_document(migrate_document(LOOSE).text).tools

    assert [section.kind for section in tool.order] == list(SectionKind)
    assert tool.heading == "Tool: `switch_lamp`"


def test_text_around_the_tools_stays_around_them() -> None:
    text = migrate_document(LOOSE).text

    assert text.startswith("# Lamps\n\nBefore.\n\n## Tool: `switch_lamp`\n")
    assert text.endswith("\n\n## Changelog\n\nAfter.\n")


def test_a_schema_is_derived_from_a_list_of_parameters() -> None:
    [tool] = parse_document(migrate_document(LOOSE).text).tools

    assert tool.input_schema is not None
    assert tool.input_schema.value == {
        "type": "object",
        "properties": {
            "lamp": {"type": "string", "description": "which lamp"},
            "on": {"type": "boolean", "description": "on or off", "default": True},
        },
        "required": ["lamp"],
    }


def test_comments_in_json_become_text_below_it() -> None:
    text = migrate_document(LOOSE).text
    [tool] = parse_document(text).tools

    assert all(fence.json.is_plain for fence in tool.fences)
    assert "Notes on the JSON above: the hall" in text


def test_what_nobody_wrote_is_asked_for_and_never_made_up() -> None:
    migration = migrate_document(LOOSE)
    [tool] = parse_document(migration.text).tools

    assert "FILL IN" in tool.security
    assert tool.errors == ()
    assert any("what the tool may read" in line for line in migration.todo)
    assert any("confirm the version 1.0.0" in line for line in migration.todo)


def test_whether_a_tool_is_idempotent_is_never_guessed() -> None:
    [tool] = parse_document(migrate_document("## Tool: `a`\n\n### Purpose\n\nDoes it well.\n").text).tools

    assert tool.idempotency is not None
    assert tool.idempotency.word is None


def test_a_table_is_derived_from_a_schema() -> None:
    text = (
        '## Tool: `a`\n### Input\n```json\n{"type": "object", "properties": {"x": {"type": "string", '
        '"description": "It."}}, "required": ["x"]}\n```\n'
    )
    [tool] = parse_document(migrate_document(text).text).tools

    assert tool.input_table is not None
    assert [(row.name, row.required, row.description) for row in tool.input_table.rows] == [("x", True, "It.")]


def test_what_fits_under_no_section_is_kept_under_further_notes() -> None:
    text = migrate_document("## Tool: `a`\n### Purpose\nDoes it.\n### Speed\nFast.\n#### In winter\nSlow.\n").text

    assert text.endswith("### Further Notes\n\n#### Speed\n\nFast.\n#### In winter\nSlow.\n")
    assert "spec.unknown-section" not in {finding.rule for finding in lint_document(parse_document(text))}


def test_a_title_in_words_is_kept_beside_the_invocation_name() -> None:
    text = migrate_document("## Tool: Find a thing\n### Invocation Name\n`thing.find`\n").text

    assert "## Tool: `thing.find`\n" in text
    assert "**Title**: Find a thing" in text


def test_a_tool_without_a_name_is_asked_for_one() -> None:
    migration = migrate_document(
        "# T\n\n## Description\n\nDoes it.\n\n## Parameters\n\nNone\n\n## Returns\n\nNone\n"
    )

    assert "## Tool: `FILL_IN`" in migration.text
    assert any("FILL_IN" in line for line in migration.todo)


def test_line_breaks_and_the_byte_order_mark_are_kept() -> None:
    text = migrate_document("\ufeff" + LOOSE.replace("\n", "\r\n")).text

    assert text.startswith("\ufeff# Lamps\r\n")
    assert text.count("\n") == text.count("\r\n")


def test_what_is_canonical_stays_as_it_is() -> None:
    assert migrate_document(TEMPLATE).text == TEMPLATE


def test_a_generated_document_is_left_to_its_generator() -> None:
    text = generate_document({"tools": [{"name": "a"}]})

    assert migrate_document(text).text == text


def test_a_file_with_an_open_fence_is_left_alone_and_told() -> None:
    text = "## Tool: `a`\n\n```json\n{}\n\n### Purpose\n"
    migration = migrate_document(text)

    assert migration.text == text
    assert any("spec.fence-unclosed" in line for line in migration.todo)


def test_a_file_that_is_too_large_is_told_which_limit_it_exceeds() -> None:
    [lines] = migrate_document("x\n" * 100_001).todo
    [characters] = migrate_document("x" * 3_000_001).todo

    assert "100001 lines; at most 100000 are read" in lines
    assert "characters" not in lines
    assert "3000001 characters; at most 3000000 are read" in characters
    assert "lines" not in characters


def test_a_line_break_of_two_characters_is_one_line() -> None:
    assert parse_document("x\r\n" * 60_000).findings == ()


def test_a_file_with_one_foreign_line_break_keeps_its_own() -> None:
    assert "\r" not in migrate_document("\r\n" + LOOSE).text


def test_a_file_that_only_shows_markers_in_a_fence_is_migrated() -> None:
    shown = "```\n<!-- holdfast:begin a/name -->\n<!-- holdfast:end a/name -->\n```\n"

    assert "## Tool: `switch_lamp`" in migrate_document(LOOSE.replace("Before.\n", shown)).text
