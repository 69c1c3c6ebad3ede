"""`holdfast index languages`: which languages there are, and what is known of each."""

import json

from tests.cli.conftest import Cli

from holdfast.cli.language_table import describe_language, describe_languages
from holdfast.search.language_report import GROUPS, LanguageRow, described_fields, language_fields, language_named
from holdfast.search.languages import LANGUAGES, fields_of

BARE = LanguageRow("bare", is_installed=False, extensions=(), fields=("signature", "doc"))


def test_the_table_has_a_line_for_every_language_and_fits_into_a_terminal(cli: Cli) -> None:
    lines = cli("index", "languages").stdout.splitlines()

    assert [line.split()[0] for line in lines[1 : len(LANGUAGES) + 1]] == sorted(LANGUAGES)
    assert max(len(line) for line in lines) <= 110
    assert max(len(line) for line in lines[: len(LANGUAGES) + 1]) <= 100
    assert lines[0].split() == ["language", "grammar", *GROUPS, "files"]


def test_a_column_tells_whether_all_some_or_none_of_its_fields_are_known(cli: Cli) -> None:
    rows = {line.split()[0]: line.split() for line in cli("index", "languages").stdout.splitlines() if line}

    assert rows["typescript"][1:9] == ["yes"] * 8
    assert rows["go"][2:5] == ["some", "some", "some"]
    assert rows["swift"][-1] == ".swift"


def test_a_missing_grammar_is_told_with_what_brings_it() -> None:
    lines = list(describe_languages([BARE]))

    assert lines[1].split()[:3] == ["bare", "missing", "some"]
    assert any("pip install 'holdfast[languages]'" in line for line in lines)
    assert next(describe_language(BARE)) == (
        "bare: grammar missing: pip install 'holdfast[languages]'; files: by their name or first line"
    )


def test_where_nothing_is_missing_nothing_is_to_be_installed() -> None:
    installed = LanguageRow("full", is_installed=True, extensions=("a",), fields=("signature",))

    assert not any("pip" in line for line in describe_languages([installed]))


def test_one_language_lists_each_of_its_fields_with_what_it_means(cli: Cli) -> None:
    lines = cli("index", "languages", "go").stdout.splitlines()

    assert lines[0] == "go: grammar installed; files: .go"
    assert {line.split()[0] for line in lines if line.startswith("  ")} == fields_of("go")
    assert all(line.split(maxsplit=1)[1] for line in lines if line.startswith("  "))


def test_a_language_is_known_by_its_other_names_too(cli: Cli) -> None:
    for name, language in (("C++", "cpp"), ("py", "python"), (".rs", "rust"), ("tsx", "tsx"), (" Go ", "go")):
        assert cli("index", "languages", name).stdout.startswith(f"{language}: ")


def test_an_unknown_language_is_one_line_with_a_remedy(cli: Cli) -> None:
    for name in ("klingon", "markdown", "", "../go", "__init__", "rules"):
        done = cli("index", "languages", name)

        assert done.returncode == 2
        assert done.stdout == ""
        assert "holdfast index languages" in done.stderr


def test_programs_get_the_same_as_json(cli: Cli) -> None:
    every = json.loads(cli("index", "languages", "--json").stdout)["languages"]
    (one,) = json.loads(cli("index", "languages", "swift", "--json").stdout)["languages"]

    assert [row["language"] for row in every] == sorted(LANGUAGES)
    assert one in every
    assert (one["isInstalled"], one["extensions"]) == (True, ["swift"])
    assert set(one["fields"]) == fields_of("swift")


def test_every_field_of_every_language_is_in_a_group_and_has_a_meaning() -> None:
    for row in language_fields():
        assert set(row.fields) == fields_of(row.language), row.language
        assert all(meaning for _, meaning in described_fields(row))
        assert sorted({field for group in GROUPS for field in row.of(group)}) == sorted(row.fields)


def test_a_language_that_is_not_described_has_no_row() -> None:
    assert language_named("klingon") is None
    assert language_named("json") is None
