"""The linter: what it says, where it says it, and what it leaves alone."""

from pathlib import Path

import pytest

from holdfast.contract.documents import RULES, TEMPLATE, Finding, lint_document, parse_document
from holdfast.errors import UsageError

CORPUS = Path(__file__).parents[3] / "specifications"
COMPLETE = (CORPUS / "good" / "complete.md").read_text(encoding="utf-8")


def lint(text: str, *rules: str) -> list[Finding]:
    return lint_document(parse_document(text, name="x.md"), rules=rules or None)


def line_of(text: str, part: str) -> int:
    return text[: text.index(part)].count("\n") + 1


@pytest.mark.requirement("S2-2-template")
def test_the_template_is_clean_but_for_its_placeholders() -> None:
    found = lint(TEMPLATE)

    assert {finding.rule for finding in found} == {"spec.placeholder"}
    assert len(found) == TEMPLATE.count("FILL IN")


@pytest.mark.requirement("S2-2-copy")
def test_a_filled_in_template_is_clean() -> None:
    assert lint(TEMPLATE.replace("FILL IN:", "Here stands")) == []


def test_every_finding_carries_severity_remedy_and_file() -> None:
    for finding in lint(TEMPLATE + "\n## Tool: `x y`\n"):
        assert finding.severity == RULES[finding.rule].severity
        assert finding.remedy
        assert finding.file == "x.md"


def test_rules_can_be_chosen_and_an_unknown_one_is_refused() -> None:
    text = COMPLETE.replace("1.2.0", "1.2").replace("Finds articles in the stock room", "FILL IN: this")

    assert {finding.rule for finding in lint(text)} == {"spec.version-not-semver", "spec.placeholder"}
    assert [finding.rule for finding in lint(text, "spec.placeholder")] == ["spec.placeholder"]
    with pytest.raises(UsageError, match=r"spec\.nonsense"):
        lint(text, "spec.nonsense")


@pytest.mark.parametrize(
    ("old", "new", "rule", "place"),
    [
        ("| `limit` | `integer` |", "| `limit` | `string` |", "table-schema-differ", "| `limit`"),
        (
            '"minimum": 1,\n',
            '"minimum": "one",\n',
            "schema-invalid",
            '{\n  "type": "object",\n  "properties": {\n    "q',
        ),
        ('    "limit": 5\n', '    "limit": "five"\n', "example-invalid", '"limit": "five"'),
        ('"tool_name": "find_articles"', '"tool_name": "other"', "example-wrong-name", '"tool_name": "other"'),
        ('"error_type": "NOT_FOUND"', '"error_type": "GONE_AWAY"', "error-undeclared", '"error_type"'),
        ('"names": ["anvil"]\n}', '"names": [7]\n}', "result-invalid", '"names": [7]'),
        ("**Version**: 1.2.0", "**Version**: one", "version-not-semver", "**Version**"),
        (
            "**Idempotent**: Yes",
            "**Idempotent**: Yes (`at_most_once`)",
            "idempotency-contradiction",
            "**Idempotent**",
        ),
    ],
)
def test_a_finding_points_at_the_line_of_its_cause(old: str, new: str, rule: str, place: str) -> None:
    assert COMPLETE.count(old) >= 1
    text = COMPLETE.replace(old, new, 1)

    assert line_of(text, place) in [finding.line for finding in lint(text, f"spec.{rule}")]


def test_a_placeholder_is_found_in_its_column() -> None:
    [finding] = lint(COMPLETE.replace("Words of the name. |", "Words, TBD or so. |", 1), "spec.placeholder")
    line = parse_document(COMPLETE).source.lines[finding.line - 1]

    assert finding.column == line.index("Words") + len("Words, ") + 1


def test_json_that_is_broken_is_told_at_its_column() -> None:
    [finding] = lint(COMPLETE.replace('    "limit": 5\n', '    "limit": five\n'), "spec.example-not-json")

    assert finding.column == len('    "limit": ') + 1


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ("| `limit` | `integer` | Yes | How many. | `10` |", "required in the table, optional in the schema"),
        ("| `limit` | `array[string]` | No | How many. | |", "array in the table, integer in the schema"),
        ("| `lmit` | `integer` | No | How many. | `10` |", "it is in the table but not in the schema"),
    ],
)
def test_a_table_that_drifted_from_its_schema_is_told_how(row: str, words: str) -> None:
    text = COMPLETE.replace("| `limit` | `integer` | No | How many articles to return. | `10` |", row)

    assert any(words in finding.message for finding in lint(text, "spec.table-schema-differ"))


def test_a_default_in_table_and_schema_is_compared() -> None:
    table = (
        "## Tool: `a`\n### Input\n| Name | Type | Required | Default |\n|-|-|-|-|\n| `x` | integer | no | {} |\n"
    )
    schema = '```json\n{"type": "object", "properties": {"x": {"type": "integer", "default": 3}}}\n```\n'

    assert lint(table.format("3") + schema, "spec.table-schema-differ") == []
    assert len(lint(table.format("4") + schema, "spec.table-schema-differ")) == 1


def test_references_inside_the_schema_are_followed() -> None:
    text = (
        "## Tool: `a`\n### Input\n| Name | Type | Required |\n|-|-|-|\n| `x` | string | yes |\n"
        '```json\n{"$ref": "#/$defs/A", "$defs": {"A": {"type": "object", "properties": {"x": '
        '{"$ref": "#/$defs/B"}}, "required": ["x"]}, "B": {"type": "string"}}}\n```\n'
    )

    assert lint(text, "spec.table-schema-differ", "spec.schema-invalid", "spec.schema-external-ref") == []


@pytest.mark.parametrize(
    ("name", "parameters", "security", "risks"),
    [
        ("read_file", "path", "Careful.", 1),
        ("read_file", "path", "Only files below the work folder are read.", 0),
        ("fetch_page", "url", "Careful.", 1),
        ("run_command", "command", "Careful.", 1),
        ("delete_page", "id", "Careful.", 1),
        ("log_in", "password", "Careful.", 1),
        ("delete_file", "path", "Careful.", 2),
        ("add_numbers", "max_tokens", "Careful.", 0),
    ],
)
@pytest.mark.requirement("S2-3.8-security")
def test_a_risk_that_names_show_must_be_spoken_of(name: str, parameters: str, security: str, risks: int) -> None:
    text = (
        f"## Tool: `{name}`\n### Input\n| Name | Type |\n|-|-|\n| `{parameters}` | string |\n"
        f"### Security\n{security}\n"
    )

    assert len(lint(text, "spec.security-missing-risk")) == risks


@pytest.mark.requirement("OURS-20-partially")
@pytest.mark.parametrize(
    ("word", "effect", "agrees"),
    [
        ("Yes", "replay_safe", True),
        ("Yes", "deduplicated", True),
        ("Yes", "probe_required", False),
        ("Yes", "at_most_once", False),
        ("No", "at_most_once", True),
        ("No", "replay_safe", False),
        ("Partially", "probe_required", True),
        ("Partially", "at_most_once", True),
        ("Partially", "replay_safe", False),
    ],
)
@pytest.mark.requirement("S2-7.5-effect")
def test_the_word_on_idempotency_agrees_with_the_effect_or_is_refused(
    word: str, effect: str, agrees: bool
) -> None:
    text = f"## Tool: `a`\n### Idempotency\n**Idempotent**: {word}\n\n**Effect**: `{effect}`\n"

    assert (lint(text, "spec.idempotency-contradiction") == []) is agrees


def test_a_section_filled_by_its_owner_counts_though_the_code_declares_nothing() -> None:
    empty = "## Tool: `a`\n### Security Considerations\n\nNot declared in the code.\n"

    assert len(lint(empty, "spec.section-empty")) == 1
    assert lint(empty + "\nReads nothing.\n", "spec.section-empty") == []


def test_every_rule_says_what_it_means_enforces_and_asks_for() -> None:
    for rule, row in RULES.items():
        assert rule == row.id
        assert rule.startswith("spec.")
        assert row.meaning.endswith(".")
        assert row.sentence.endswith(".")
        assert row.remedy
