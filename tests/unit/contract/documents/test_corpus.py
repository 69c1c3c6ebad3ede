"""The corpus of specifications: every file is read, every rule has a file that breaks it and one that does not."""

import re
from collections import Counter
from pathlib import Path

import pytest
from tests.rows import each_row

from holdfast.contract.documents import RULES, lint_document, migrate_document, parse_document
from holdfast.contract.documents.markdown import MAX_CHARACTERS
from holdfast.contract.documents.sections import kind_of

CORPUS = Path(__file__).parents[3] / "specifications"
FILES = sorted(CORPUS.rglob("*.md"))
GOOD = sorted((CORPUS / "good").glob("*.md"))
LOOSE = [path for path in FILES if path.parent.name in {"template", "bullets", "plain", "none", "other"}]
ON_DOCUMENTS = sorted(rule for rule, row in RULES.items() if row.scope in {"document", "both"})
# A file that comes close to breaking the rule and does not; the complete file passes every rule anyway.
NEAR_MISS = {
    "spec.placeholder": "comments-and-links.md",
    "spec.unknown-section": "further-notes.md",
    "spec.section-missing": "unnumbered-headings.md",
    "spec.section-order": "deeper-headings.md",
    "spec.schema-missing": "no-parameters.md",
    "spec.error-none-declared": "no-parameters.md",
    "spec.name-duplicate": "two-tools.md",
    "spec.idempotency-contradiction": "two-tools.md",
    "spec.table-schema-differ": "nullable-and-enum.md",
    "spec.security-missing-risk": "files-and-network.md",
    "spec.example-incomplete": "json-rpc-example.md",
    "spec.not-text": "crlf-and-mark.md",
}
# What migration mends by itself; everything else may be left for a person.
MENDED = {
    f"spec.{word}"
    for word in (
        "section-missing",
        "section-order",
        "section-empty",
        "section-duplicate",
        "unknown-section",
        "name-differs",
        "version-missing",
        "table-missing",
        "json-with-comments",
        "idempotency-unexplained",
    )
}
UNREADABLE = {"spec.fence-unclosed", "spec.comment-unclosed", "spec.nested-too-deep"}


def text_of(path: Path) -> str:
    return path.read_bytes().decode("utf-8", "replace")


def rules_broken(text: str) -> set[str]:
    return {finding.rule for finding in lint_document(parse_document(text))}


def names(paths: list[Path]) -> list[str]:
    return [str(path.relative_to(CORPUS)) for path in paths]


def test_the_corpus_is_large_and_has_all_five_ways_of_writing() -> None:
    folders = Counter(path.parent.name for path in FILES)

    assert len(FILES) >= 40
    assert all(folders[name] >= 4 for name in ("template", "bullets", "plain", "none", "other", "good"))


@each_row("rule", ON_DOCUMENTS)
@pytest.mark.requirement("S2-3-eight")
@pytest.mark.requirement("S2-3-order")
@pytest.mark.requirement("S2-3.1-purpose")
@pytest.mark.requirement("S2-3.2-name")
@pytest.mark.requirement("S2-3.3-input")
@pytest.mark.requirement("S2-3.5-errors")
@pytest.mark.requirement("S2-3.6-idempotency")
@pytest.mark.requirement("S2-3.7-example")
@pytest.mark.requirement("S2-3.8-security")
@pytest.mark.requirement("S2-4-both")
@pytest.mark.requirement("S2-4-schema")
@pytest.mark.requirement("S2-5-codes")
@pytest.mark.requirement("S2-6-version")
@pytest.mark.requirement("S2-7.1-clarity")
@pytest.mark.requirement("S2-7.2-granular")
@pytest.mark.requirement("S2-7.3-schemas")
@pytest.mark.requirement("S2-7.4-errors")
@pytest.mark.requirement("S2-7.6-security")
@pytest.mark.requirement("S2-7.7-examples")
def test_each_rule_has_a_file_that_breaks_it_and_one_that_does_not(rule: str) -> None:
    failing = CORPUS / "rules" / f"{rule.removeprefix('spec.')}.md"
    passing = CORPUS / "good" / NEAR_MISS.get(rule, "complete.md")
    broken = "x" * (MAX_CHARACTERS + 1) if rule == "spec.document-too-large" else text_of(failing)

    assert rule in rules_broken(broken)
    assert rule not in rules_broken(text_of(passing))


@pytest.mark.parametrize("path", GOOD, ids=names(GOOD))
@pytest.mark.requirement("S2-8-adhere")
def test_a_good_file_has_no_finding_at_all(path: Path) -> None:
    assert lint_document(parse_document(text_of(path))) == []


@each_row("path", FILES, ids=names(FILES))
def test_every_file_is_read_and_every_position_lies_inside_it(path: Path) -> None:
    document = parse_document(text_of(path), name=path.name)
    last = len(document.source.lines)

    assert all(1 <= finding.line <= last for finding in lint_document(document))
    for tool in document.tools:
        assert 1 <= tool.line <= tool.end_line <= last
        assert tool.origin != "heading" or tool.heading.split("\n")[0] in document.source.lines[tool.line - 1]
        for section in tool.order:
            assert tool.line <= section.line <= section.end_line <= tool.end_line


@each_row("path", FILES, ids=names(FILES))
@pytest.mark.requirement("S2-9-evolve")
def test_migration_mends_what_needs_no_person_and_lists_the_rest(path: Path) -> None:
    migration = migrate_document(text_of(path))
    findings = lint_document(parse_document(migration.text))
    left = {finding.rule for finding in findings}

    assert left & UNREADABLE or not left & MENDED
    assert len(findings) <= len(migration.todo) + len([one for one in findings if one.rule == "spec.placeholder"])
    for finding in findings:
        assert any(line.startswith(f"line {finding.line}: ") for line in migration.todo)


@each_row("path", FILES, ids=names(FILES))
def test_migrating_twice_changes_nothing_more(path: Path) -> None:
    once = migrate_document(text_of(path))

    assert migrate_document(once.text).text == once.text


@each_row("path", LOOSE, ids=names(LOOSE))
def test_migration_loses_no_word_but_the_names_of_sections(path: Path) -> None:
    text = text_of(path)
    kept = "\n".join(line for line in text.splitlines() if not names_a_section(line))
    before = Counter(re.findall(r"\w{2,}", kept.lower()))
    after = Counter(re.findall(r"\w{2,}", migrate_document(text).text.lower()))

    assert not before - after


def names_a_section(line: str) -> bool:
    label = re.sub(r"^[\s\d.#*+-]*", "", line).partition(":")[0]
    return kind_of(label) is not None


@each_row("path", LOOSE, ids=names(LOOSE))
def test_migration_finds_the_same_tools_again(path: Path) -> None:
    text = text_of(path)

    before = [tool.name for tool in parse_document(text).tools]
    assert [tool.name for tool in parse_document(migrate_document(text).text).tools] == before


def test_the_dialects_are_told_apart() -> None:
    found = {path: [tool.name for tool in parse_document(text_of(path)).tools] for path in LOOSE}
    by_name = {f"{path.parent.name}/{path.stem}": tools for path, tools in found.items()}

    assert by_name["template/several-tools"] == ["read_note", "write_note"]
    assert by_name["bullets/labels"] == ["search_text", "rebuild_index"]
    assert by_name["bullets/signatures"] == ["add", "divide"]
    assert by_name["plain/numbered-names"] == ["rewind_tape", "play_tape"]
    assert by_name["other/tool-table"] == ["boil_water", "bake_bread"]
    assert by_name["other/implied-tool"] == ["translate_sentence"]
    assert all(tools == [] for name, tools in by_name.items() if name.startswith("none/"))


@pytest.mark.parametrize("path", sorted((CORPUS / "none").glob("*.md")), ids=lambda path: path.stem)
def test_a_file_that_says_that_there_are_no_tools_is_complete(path: Path) -> None:
    document = parse_document(text_of(path))

    assert document.says_no_tools
    assert lint_document(document) == []
