"""What an editor found in the facts of real libraries: each of these was told wrongly once."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from tests.launch.facts_place import PYPROJECT, built, place_of

from holdfast.launch.facts.blocks import sections
from holdfast.launch.facts.code_texts import language_named, without_prompts
from holdfast.launch.facts.docstrings import read_docstring
from holdfast.launch.facts.markdown_blocks import markdown_blocks
from holdfast.launch.facts.rst_blocks import rst_blocks
from holdfast.launch.facts.rst_inline import rst_inline
from holdfast.launch.facts.section_kinds import section_kind
from holdfast.launch.facts.sentences import is_fragment
from holdfast.launch.facts.statements import statements
from holdfast.launch.facts.titles import whole_title

README = b"""# tablekit

tablekit has been successfully used in production at every scale since 2013.
Its ideas proved influential enough to shape other packages.

*Tablekit* is *the* production-ready table solution for Python:

- **Simple**: Everything is about functions that take and return rows.

A **host** for any table, in any format: the file may be broken, and nobody notices.
A **contract toolchain** that shows which changes of a table break its readers.
Tables that hold fast: they survive crashes, and their columns do not drift.

## What it promises

- **One answer.** Every query gets exactly one answer ([queries](docs/queries.md)).
- **The session outlives its worker.** Thousands of kills prove it: `make chaos` does the same to runs.
- **Little overhead.** A query costs about 6 times less CPU than elsewhere. `make bench` prints your figures.
- **Nothing ignored.** Unknown columns are refused, as is what cannot be typed.

## Installation

Install tablekit into a virtual environment to keep your system clean.
Every table deserves a name of its own.
"""
GUIDE = b"""# Scripts

## Introduction

`Table.save` writes a table and can compress its file.

## Feature switches

`Table.load` can skip all empty rows of a table.
"""


def told(root: Path, name: str, text: bytes) -> dict[str, Any]:
    return built(place_of(root / "place", {"pyproject.toml": PYPROJECT, name: text}))[0]


def group(facts: dict[str, Any], name: str) -> list[str]:
    texts = {claim["claim_id"]: claim["claim_text"] for claim in facts["claims"]}
    return [texts[claim] for claim in facts["claim_groups"][name]]


@pytest.fixture(scope="module")
def facts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    files = {"pyproject.toml": PYPROJECT, "README.md": README, "docs/scripts.md": GUIDE}
    return built(place_of(tmp_path_factory.mktemp("facts") / "place", files))[0]


def test_the_product_is_what_it_is_and_not_since_when_it_is_used(facts: dict[str, Any]) -> None:
    described = facts["positioning"]["short_description"]
    assert described == "tablekit is the production-ready table solution for Python."


def test_what_says_what_the_product_is_comes_before_what_it_aims_at(tmp_path: Path) -> None:
    readme = b"# tablekit\n\ntablekit aims to please all readers of tables. tablekit is a library for tables.\n"
    described = told(tmp_path, "README.md", readme)["positioning"]["short_description"]
    assert described == "tablekit is a library for tables. tablekit aims to please all readers of tables."


def test_where_nothing_says_what_it_is_the_manifest_does(tmp_path: Path) -> None:
    readme = b"# tablekit\n\nTables that hold fast: they survive crashes, and they do not drift.\n"
    described = told(tmp_path, "README.md", readme)["positioning"]["short_description"]
    assert described == "tablekit is a small table library."


def test_key_features_are_whole_sentences_about_what_it_does(facts: dict[str, Any]) -> None:
    assert group(facts, "key_features") == [
        "Simple: Everything is about functions that take and return rows.",
        "tablekit features a host for any table, in any format: the file may be broken, and nobody notices.",
        "tablekit features a contract toolchain that shows which changes of a table break its readers.",
        "Every query gets exactly one answer.",
        "Unknown columns are refused, as is what cannot be typed.",
    ]
    assert facts["limitations"] == []


def test_install_steps_are_about_installing(facts: dict[str, Any]) -> None:
    steps = group(facts, "install_steps")
    assert "Install tablekit into a virtual environment to keep your system clean." in steps
    assert not [step for step in steps if "deserves" in step]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Definitions and comments, found by words and by what the code means: what it calls.", True),
        ("A code search, as a command and over HTTP, that needs no model.", True),
        ("Fast: tablekit is not slow.", False),
        ("You can pass anything that supports reading.", False),
        ("Read whatever stands in a file that was closed.", False),
    ],
)
def test_a_noun_with_a_relative_clause_is_no_sentence(text: str, expected: bool) -> None:
    assert is_fragment(text) is expected


@pytest.mark.parametrize("sentence", ["It is possible to add others.", "It's also useful to wait."])
def test_an_it_that_means_nothing_is_not_the_product(sentence: str) -> None:
    section = sections(markdown_blocks(f"tablekit reads all files. {sentence}"))[0]
    found = [one.text for one in statements(section, "tablekit", features=False, about_product=True)]
    assert found == ["tablekit reads all files.", sentence]


@pytest.mark.parametrize(
    ("title", "kind"),
    [
        ("Feature switches", ""),
        ("What is searched", ""),
        ("What tablekit is not", "noise"),
        ("Key features", "feature"),
        ("What is tablekit", "feature"),
    ],
)
def test_a_heading_tells_features_only_where_it_says_so(title: str, kind: str) -> None:
    assert section_kind([title]) == kind


def test_a_link_alone_in_brackets_leaves_no_word_behind() -> None:
    text = "Reads files ([files](a.md)), writes some ([`x`](b.md); or not), and ([more](c.md))\nends."
    assert markdown_blocks(text)[0].text == "Reads files, writes some (`x`; or not), and\nends."


def test_output_of_a_session_keeps_its_indentation_and_its_comments() -> None:
    session = "    >>> show(f)\n    def f():\n        return None\n    # no output!\n    >>> 1\n    1"
    assert without_prompts("python", session) == "show(f)\n# def f():\n#     return None\n# no output!\n1\n# 1"


def test_how_a_file_is_started_is_python_and_no_example(tmp_path: Path) -> None:
    start = "if __name__ == '__main__':\n    hello()"
    assert language_named("", start) == "python"
    readme = f"# tablekit\n\n## Usage\n\n```python\n{start}\n```\n\n```python\nhello(1)\n```\n".encode()
    _, _, catalog = built(place_of(tmp_path / "place", {"pyproject.toml": PYPROJECT, "README.md": readme}))
    assert [one["code"] for one in catalog["snippets"]] == ["hello(1)"]


@pytest.mark.parametrize("name", ["setup.py", "conftest.py", "__init__.py", "noxfile.py", "conf.py"])
def test_what_a_project_has_for_itself_is_no_example(tmp_path: Path, name: str) -> None:
    files = {"pyproject.toml": PYPROJECT, f"examples/shop/{name}": b'"""Sell tables."""\n\nprint(1)\n'}
    facts, _, catalog = built(place_of(tmp_path / "place", files))
    assert (facts["workflows"], facts["example_inventory"], catalog["snippets"]) == ([], [], [])


def test_a_command_that_is_explained_stays_code(tmp_path: Path) -> None:
    source = b'"""`tablekit call`: one call of one table."""\n'
    module = told(tmp_path, "tablekit/__init__.py", source)["api_symbols"][0]
    assert module["summary"] == "`tablekit call`: one call of one table."


def test_a_summary_that_begins_with_the_name_of_the_package_gets_no_capital(tmp_path: Path) -> None:
    source = b'"""tablekit is small and typed."""\n'
    module = told(tmp_path, "tablekit/__init__.py", source)["api_symbols"][0]
    assert module["summary"] == "tablekit is small and typed."


def test_markup_in_docstrings_leaves_nothing_behind() -> None:
    links = "see `best\npractices <best-practices>`, `text <https://x>`_."
    assert rst_inline(links) == "see best\npractices, text."
    text = "Tell `x`.\n\n```pycon\n>>> f('`')\n1\n```\n\nArgs:\n    size: As 2<sup>10</sup>.\n"
    found = read_docstring(text)
    assert found.parameters[0].text == "As 2^10."
    assert found.documentation.split("\n\n")[1] == "```pycon\n>>> f('`')\n1\n```"


def test_of_a_large_package_classes_and_functions_are_told_and_not_only_modules(tmp_path: Path) -> None:
    source = (
        '"""Module {0}."""\nLIMIT_{0} = {0}\nclass Tool{0}:\n    """A tool."""\n'
        '    def run(self):\n        """Run it."""\ndef make_{0}():\n    """Make it."""\n'
        '__all__ = ["LIMIT_{0}", "Tool{0}", "make_{0}"]\n'
    )
    init = b'"""Tables."""\nfrom .part.module_900 import Tool900\n__all__ = ["Tool900"]\n'
    files = {"pyproject.toml": PYPROJECT, "tablekit/__init__.py": init, "tablekit/part/__init__.py": b""}
    files |= {f"tablekit/part/module_{number:03d}.py": source.format(number).encode() for number in range(950)}
    symbols = built(place_of(tmp_path / "place", files))[0]["api_symbols"]
    counts = Counter(one["kind"] for one in symbols)
    assert counts == {"module": 400, "class": 451, "function": 450, "method": 600, "constant": 99}
    assert "tablekit.Tool900" in {one["qualified_name"] for one in symbols}


def test_code_of_a_domain_and_code_of_a_doctest_are_shown() -> None:
    assert [block.kind for block in rst_blocks(".. click:example::\n\n    import click\n")] == ["code"]
    assert [block.text for block in markdown_blocks("```{doctest}\n>>> 1\n1\n```\n")] == [">>> 1\n1"]
    assert without_prompts("python", ">>> f()  # doctest: +SKIP\n1") == "f()\n# 1"


def test_a_format_that_only_the_inside_of_the_product_reads_is_none_of_its_formats(tmp_path: Path) -> None:
    reader = b'"""Readers."""\n\n\ndef load(path):\n    """Read a {} file."""\n'
    files = {"pyproject.toml": PYPROJECT, "tablekit/__init__.py": reader.replace(b"{}", b"CSV")}
    files |= {"tablekit/a/__init__.py": b"", "tablekit/a/b.py": reader.replace(b"{}", b"SQLite")}
    facts = built(place_of(tmp_path / "place", files))[0]
    assert [one["format"] for one in facts["supported_formats"]] == ["CSV"]


def test_what_holds_even_when_something_cannot_be_done_is_no_limit(tmp_path: Path) -> None:
    readme = b"# tablekit\n\ntablekit is a library for tables.\n\n## Reading\n\n"
    readme += b"tablekit answers at once, also while a file hangs or cannot be read.\n\n"
    readme += b"Even if a file is small, tablekit does not support tables of tables.\n\n"
    readme += b"tablekit cannot be used from two threads.\n"
    facts = told(tmp_path, "README.md", readme)
    texts = {claim["claim_id"]: claim["claim_text"] for claim in facts["claims"]}
    assert {texts[claim] for claim in facts["limitations"]} == {
        "Even if a file is small, tablekit does not support tables of tables.",
        "tablekit cannot be used from two threads.",
    }


@pytest.mark.parametrize(
    ("changes", "news", "version"),
    [
        (b"# Changes\n\n## 2.1.0 (2024-01-08)\n\n- Reads rows.\n\n## 2.0.0\n\n- New.\n", "", "2.1.0"),
        (b"# Changes\n\n## Unreleased\n\n- Reads rows.\n\n## 2.0.0\n\n- New.\n", "", ""),
        (b"# Changes\n\n## 2.1.0\n\n- Reads rows.\n", "changelog.d/12.feature.md", ""),
        (b"# Changes\n\n## 2.1.0\n\n- Reads rows.\n", "changelog.d/README.md", "2.1.0"),
    ],
)
def test_a_version_that_only_the_list_of_changes_has_is_told_where_nothing_came_after_it(
    tmp_path: Path, changes: bytes, news: str, version: str
) -> None:
    manifest = PYPROJECT.replace(b'version = "1.4.2"', b'dynamic = ["version"]')
    files = {"pyproject.toml": manifest, "CHANGELOG.md": changes} | ({news: b"Reads rows."} if news else {})
    facts, evidence, _ = built(place_of(tmp_path / "place", files))
    assert facts.get("version", {}).get("value", "") == version
    if version:
        claim = next(one for one in evidence["claims"] if one["claim_id"] == facts["version"]["claim_id"])
        assert [(at["path"], at["start_line"]) for at in claim["citations"]] == [("CHANGELOG.md", 3)]


def test_what_points_to_elsewhere_is_not_told_of_a_change(tmp_path: Path) -> None:
    changes = b"# Changes\n\n## 1.4.2\n\n- Tables can now be joined. See the documentation for more details.\n"
    facts = told(tmp_path, "CHANGELOG.md", changes)
    texts = {claim["claim_id"]: claim["claim_text"] for claim in facts["claims"]}
    assert [texts[one] for one in facts["changes"][0]["claim_ids"]] == ["Tables can now be joined."]


def test_the_caveats_of_one_topic_are_no_limits_of_the_product(tmp_path: Path) -> None:
    guide = b"# Threads\n\n## Caveats\n\nYou still need `Lock` around the state of threads.\n\n"
    guide += b"tablekit still needs `Lock` for its state.\n"
    facts = told(tmp_path, "docs/threads.md", guide)
    texts = {claim["claim_id"]: claim["claim_text"] for claim in facts["claims"]}
    assert [texts[one] for one in facts["limitations"]] == ["tablekit still needs `Lock` for its state."]


def test_what_a_readme_says_of_something_else_is_not_what_the_product_is(tmp_path: Path) -> None:
    readme = b"# tablekit\n\nThe `csv` library of Python is a gem for a variety of problems.\n"
    facts = told(tmp_path, "README.md", readme)
    assert facts["positioning"]["short_description"].startswith("tablekit is a small table library.")


def test_where_code_was_taken_from_is_not_what_the_product_is(tmp_path: Path) -> None:
    readme = (
        b"# tablekit\n\ntablekit is a library for tables.\n\nA part of it has been adapted from another one.\n"
    )
    facts = told(tmp_path, "README.md", readme)
    assert facts["positioning"]["short_description"] == "tablekit is a library for tables."


def test_who_writes_something_is_not_said_only_to_read(tmp_path: Path) -> None:
    module = b'"""Tables."""\n\n\ndef loads(text):\n    """Parse a TOML text."""\n\n\n'
    writer = b'def dumps(table):\n    """Turn a table into a text."""\n'
    files = {"pyproject.toml": PYPROJECT, "tablekit/__init__.py": module}
    facts = built(place_of(tmp_path / "reader", files))[0]
    assert facts["supported_formats"][0]["direction"] == "read"
    facts = built(place_of(tmp_path / "both", files | {"tablekit/__init__.py": module + writer}))[0]
    assert "direction" not in facts["supported_formats"][0]


@pytest.mark.parametrize(
    ("text", "summary"),
    [
        (
            "Break *rows* into lists of length *n*:\n\n    >>> chunked(rows, 2)\n",
            "Break rows into lists of length n.",
        ),
        ("Use it in code like this:\n\n    >>> chunked(rows, 2)\n", ""),
        ("The lists of the rows are:\n\n    >>> chunked(rows, 2)\n", ""),
        ("Break rows into one of these sorts of lists:\n\n- long\n- short\n", ""),
    ],
)
def test_a_summary_that_leads_to_code_says_what_a_name_does_where_it_does(text: str, summary: str) -> None:
    assert read_docstring(text).summary == summary


def test_a_note_is_not_what_the_product_is(tmp_path: Path) -> None:
    readme = b"# tablekit\n\ntablekit is a library for tables.\n\nNote that the project is complete.\n"
    facts = told(tmp_path, "README.md", readme)
    assert facts["positioning"]["short_description"] == "tablekit is a library for tables."


@pytest.mark.parametrize(
    ("trail", "title"),
    [
        (("queues", "Events", "`active`"), "Events: `active`"),
        (("queues", "API", ".add(task, options?)"), "API: .add(task, options?)"),
        (("queues", "Custom queues"), "Custom queues"),
        (("queues", "usage"), "usage"),
        (("queues", "Guide", "Sorting"), "Sorting"),
    ],
)
def test_the_name_of_a_method_or_an_event_stands_behind_what_it_is_a_part_of(
    trail: tuple[str, ...], title: str
) -> None:
    assert whole_title(trail) == title
