"""Documents as blocks, blocks as sentences, and which sentences are worth telling."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.launch.facts_place import PYPROJECT, built, claims_by_text, place_of
from tests.rows import each_row

from holdfast.launch.facts.blocks import sections
from holdfast.launch.facts.markdown_blocks import markdown_blocks
from holdfast.launch.facts.phrases import described, featured, in_sentence, listed
from holdfast.launch.facts.rst_blocks import rst_blocks
from holdfast.launch.facts.rst_inline import rst_inline
from holdfast.launch.facts.section_kinds import section_kind
from holdfast.launch.facts.sentences import refusal, split, tidy
from holdfast.launch.facts.statements import statements
from holdfast.launch.facts.titles import whole_title

MARKDOWN = """\
---
title: ignored
---
# Tablekit

[![badge](https://x/b.svg)](https://x)

Reads **tables** from [files](https://x), see `read_csv`.
Second line.

- [Install](#install)
- **Fast**: one pass.

```python
import tablekit
```

```{note}
Notes are {meth}`~tablekit.Table.read` too.
```

| a | b |
|---|---|
| 1 | 2 |
"""

RST = """\
Tablekit
========

.. image:: badge.svg

Reads :class:`~tablekit.Table` from ``files``, see `the docs <https://x>`_.

.. code-block:: python

    import tablekit

Then::

    print(1)

* **Fast**: one
  pass.

  * nested item

>>> 1 + 1
2

.. note:: A short note
   goes on here.

====  ====
a     b
====  ====
1     2
====  ====

Last words.
"""


def test_markdown_keeps_words_and_lines_and_drops_badges_contents_and_tables() -> None:
    found = [(block.kind, block.text, block.start_line, block.end_line) for block in markdown_blocks(MARKDOWN)]
    assert found == [
        ("heading", "Tablekit", 4, 4),
        ("paragraph", "Reads tables from files, see `read_csv`.\nSecond line.", 8, 9),
        ("item", "Fast: one pass.", 12, 12),
        ("code", "import tablekit", 15, 15),
        ("paragraph", "Notes are `read` too.", 19, 19),
    ]


def test_restructured_text_is_read_without_docutils() -> None:
    found = [(block.kind, block.text, block.start_line) for block in rst_blocks(RST) if block.text]
    assert found == [
        ("heading", "Tablekit", 1),
        ("paragraph", "Reads `Table` from `files`, see the docs.", 6),
        ("code", "import tablekit", 10),
        ("paragraph", "Then:", 12),
        ("code", "print(1)", 14),
        ("item", "Fast: one\npass.", 16),
        ("item", "nested item", 19),
        ("code", ">>> 1 + 1\n2", 21),
        ("paragraph", "A short note\ngoes on here.", 24),
        ("paragraph", "Last words.", 33),
    ]


def test_the_bold_beginning_of_an_item_is_its_name() -> None:
    for blocks in (markdown_blocks(MARKDOWN), rst_blocks(RST)):
        assert next(block.lead for block in blocks if block.kind == "item") == "Fast"


def test_sections_know_the_headings_that_lead_to_them() -> None:
    found = sections(markdown_blocks("# A\n\n## B\n\n### C\n\n## D\n"))
    assert [section.trail for section in found] == [(), ("A",), ("A", "B"), ("A", "B", "C"), ("A", "D")]


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("``code`` and **bold** and *soft*", "`code` and bold and soft"),
        (":func:`tablekit.read` returns", "`tablekit.read` returns"),
        (":pr:`12` fixed", "\ufffb fixed"),
        ("see :ref:`labels`", "see \ufffc"),
        ("see :doc:`Guide <guide>`", "see Guide"),
        ("a |version| b", "a \ufffc b"),
        ("snake_case_ and plain_name stay", "snake_case and plain_name stay"),
        (
            "the spec: `<https://x.org/a_b#c_>`__, `words <https://y.org>`_",
            "the spec: https://x.org/a_b#c_, words",
        ),
        (r"2 \* 3\ s", "2 * 3s"),
        ("``a --- b`` --- decorators -- and --flag a---b", "`a --- b` — decorators – and --flag a---b"),
        (r":class:`Option`\s and C:\data", r"`Option`s and C:\data"),
    ],
)
def test_inline_markup_of_restructured_text_is_taken_off(text: str, plain: str) -> None:
    assert rst_inline(text) == plain


def test_sentences_end_where_they_end_and_know_their_lines() -> None:
    text = "It reads e.g. CSV files. Version 1.2 is\nnew (see A. B). `x. Y` is code. tablekit is small."
    found = split(text, "tablekit")
    assert [sentence.text for sentence in found] == [
        "It reads e.g. CSV files.",
        "Version 1.2 is new (see A. B).",
        "`x. Y` is code.",
        "tablekit is small.",
    ]
    assert [(sentence.first, sentence.last) for sentence in found] == [(0, 0), (0, 1), (1, 1), (1, 1)]


@pytest.mark.parametrize(
    "sentence",
    [
        "Tablekit reads and writes CSV files.",
        "`Table.read` opens a file and guesses its format.",
        "tablekit supports typed columns.",
        "Joins hold the right table in memory.",
        "You can pass a list of names to `select`.",
        "Python 3.9 or newer is required.",
        "Use `read` to load a table from a file.",
        "It is possible to change the separator.",
    ],
)
def test_a_sentence_that_can_stand_alone_is_taken(sentence: str) -> None:
    assert refusal(sentence, "tablekit") == ""


@each_row(
    ("sentence", "reason"),
    [
        ("This also works with tables.", "pointer"),
        ("They can be joined by a key.", "begins_with_a_pronoun"),
        ("However, joins need more memory.", "leans_on_another"),
        ("The options are listed below.", "pointer"),
        ("See the guide for all options.", "pointer"),
        ("Small, typed tables for Python.", "no_verb"),
        ("Reads and writes CSV files.", "no_subject"),
        ("reads a table from a file.", "begins_small"),
        ("The reader takes options:", "no_statement"),
        ("You want a table that is fast?", "no_statement"),
        ("Tables are <b>fast</b> to read.", "residue"),
        ("The docs are at https://example.com today.", "address"),
        ("We read all tables at once.", "speaker"),
        ("Please open an issue for bugs.", "contributor_talk"),
        ("Parquet files are planned for later.", "future"),
        ("Tables (of any kind are read.", "unbalanced"),
        ("`sep`: Sets the separator of columns.", "entry_of_a_list"),
        ("$ pip install tablekit is enough.", "shell"),
        ("Tables are fast!", "chatter"),
        ("It works.", "begins_with_a_pronoun"),
        ("Tables work.", "too_short"),
        ("The \ufffc class reads a table.", "lost_words"),
    ],
)
def test_a_sentence_that_cannot_stand_alone_is_refused_by_rule(sentence: str, reason: str) -> None:
    assert refusal(sentence, "tablekit") == reason


@pytest.mark.parametrize(
    ("item", "sentence"),
    [
        ("Arbitrary nesting of commands", "Kit features arbitrary nesting of commands."),
        ("Supports lazy loading", "Kit supports lazy loading."),
        ("Read CSV files", "With Kit you can read CSV files."),
        ("Support for CSV files", "Kit features support for CSV files."),
        ("Fully typed", "Kit is fully typed."),
        ("100% spec compliant", "Kit is 100% spec compliant."),
        ("Pure Python with zero dependencies", "Kit is pure Python with zero dependencies."),
        ("No required dependencies", "Kit has no required dependencies."),
        ("it's small", ""),
        ("Fast", ""),
    ],
)
def test_an_item_of_a_list_of_features_becomes_a_sentence(item: str, sentence: str) -> None:
    assert featured("Kit", item) == sentence


@pytest.mark.parametrize(
    ("description", "sentence"),
    [
        ("A small table library", "Kit is a small table library."),
        ("Composable command line toolkit", "Kit is a composable command line toolkit."),
        ("Unicode library for tables", "Kit is a Unicode library for tables."),
        ("Provides tables.", "Kit provides tables."),
        ("Safely pass data around", "With Kit you can safely pass data around."),
        ("Kit is a table library", "Kit is a table library."),
        ("Kit - a table library", "Kit is a table library."),
        ("plugin and hook mechanisms", "Kit describes itself as “plugin and hook mechanisms”."),
        ("Tables. Done right!", "Kit describes itself as “Tables. Done right!”."),
    ],
)
def test_a_description_becomes_a_sentence_about_the_product(description: str, sentence: str) -> None:
    assert described("Kit", description) == sentence


def test_titles_and_lists_fit_into_sentences() -> None:
    assert in_sentence("Showing Progress Bars") == "showing progress bars"
    assert in_sentence("Reading CSV from Python") == "reading CSV from Python"
    assert (listed(["a"]), listed(["a", "b"]), listed(["a", "b", "c"])) == ("a", "a and b", "a, b and c")


def test_the_headings_above_decide_what_a_section_is_about() -> None:
    assert section_kind(["Tablekit", "Contributing", "Usage"]) == "noise"
    assert section_kind(["Tablekit", "Usage", "Reading files"]) == "workflow"
    assert section_kind(["Known issues"]) == "limitation"
    assert section_kind(["Tablekit", "Is it fast to install?"]) == ""


def test_it_stays_with_the_sentence_it_leans_on_or_means_the_product() -> None:
    section = sections(
        markdown_blocks("# K\n\nReaders take many options. They are all named.\n\nIt's small and typed.\n")
    )[1]
    about = [found.text for found in statements(section, "Kit", features=False, about_product=True)]
    assert about == ["Readers take many options. They are all named.", "Kit is small and typed."]
    apart = [found.text for found in statements(section, "Kit", features=False)]
    assert apart == ["Readers take many options. They are all named."]


@pytest.mark.parametrize(
    "names", ["`mode`: how it reads.", "`mode`, `kind`: how it reads.", "`mode` - how it reads."]
)
def test_what_follows_the_name_of_an_entry_speaks_of_that_name_and_does_not_stand_alone(names: str) -> None:
    text = f"# K\n\n## Options\n\n- {names} Unknown values raise `ValueError`.\n- Readers take many options.\n"
    section = sections(markdown_blocks(text))[2]
    told = [found.text for found in statements(section, "Kit", features=False)]
    assert told == ["Readers take many options."]


@settings(max_examples=60, deadline=None)
@given(st.text(alphabet=st.sampled_from("aB .:`*_#-=>|[](){}<&\n\t\\~+12"), max_size=200))
def test_no_text_breaks_a_reader_and_lines_stay_within_the_file(text: str) -> None:
    lines = text.count("\n") + 1
    for block in [*markdown_blocks(text), *rst_blocks(text)]:
        assert 1 <= block.start_line <= block.end_line <= lines + 1
        for sentence in split(block.text):
            refusal(sentence.text, "kit")


def test_the_brackets_of_a_call_are_no_empty_brackets() -> None:
    assert tidy("Call `flush()` before the end (, ).") == "Call `flush()` before the end."


_FORMATS = b"""# tablekit

Tablekit is a table library.

## Table format

The third argument named `fmt` says how the table is drawn. It has these values:

`grid` is like the tables of an editor.

Most formats show lines between rows.

## Multiline cells

Most formats support cells of several lines.

`plain` and `simple` accept cells of any width.

## Signs

Spaces around values are ignored and can be left out.

Tablekit can draw tables of any width.
"""


def test_what_stands_behind_sentences_that_are_not_told_goes_on(tmp_path: Path) -> None:
    facts, _, _ = built(place_of(tmp_path, {"pyproject.toml": PYPROJECT, "README.md": _FORMATS}))
    told = claims_by_text(facts)

    assert "goes_on" in told["`grid` is like the tables of an editor."]
    assert "Most formats show lines between rows." not in told, "most of which?"
    for text in (
        "Most formats support cells of several lines.",
        "`plain` and `simple` accept cells of any width.",
    ):
        assert "goes_on" not in told[text]


def test_a_rule_of_what_is_read_is_no_feature(tmp_path: Path) -> None:
    facts, _, _ = built(place_of(tmp_path, {"pyproject.toml": PYPROJECT, "README.md": _FORMATS}))
    kinds = {text: claim["claim_kind"] for text, claim in claims_by_text(facts).items()}

    assert kinds["Spaces around values are ignored and can be left out."] == "other"
    assert kinds["Tablekit can draw tables of any width."] == "feature"
    assert refusal("Useful when the width is not known in advance.", "tablekit") == "no_subject"


@pytest.mark.parametrize(
    ("trail", "title"),
    [
        (("Languages", "What is known"), "Languages: what is known"),
        (("MCP over HTTP", "Who may ask"), "MCP over HTTP: who may ask"),
        (("Effects", "How it works"), "Effects: how it works"),
        (("Effects", "Using it"), "Effects: using it"),
        (("What is known",), "What is known"),
        (("Tables", "How to use it"), "Tables: how to use it"),
        (("Tables", "What a table holds"), "What a table holds"),
        (("Tables", "How to read files"), "How to read files"),
        (("Tables", "Running it in Docker"), "Running it in Docker"),
        (("Tables", "Parsing"), "Parsing"),
    ],
)
def test_a_title_that_says_nothing_alone_stands_behind_that_of_its_document(
    trail: tuple[str, ...], title: str
) -> None:
    assert whole_title(trail) == title


_BESIDE = b"""# Table Kit

> "An amazing level of senseless perfectionism."

- **Small.** 117 bytes (packed). Size Limit controls the size.
- **Portable.** Table Kit supports any system.

```python
import tablekit
```

Table Kit is built by Big House, an agency for tables.

See also:

- `tables.tex` (2021)
- State of Tables (2023)
"""


def test_quotations_makers_and_reading_matter_are_no_features_and_the_title_is_no_task(tmp_path: Path) -> None:
    facts, _, catalog = built(place_of(tmp_path, {"pyproject.toml": PYPROJECT, "README.md": _BESIDE}))
    told = claims_by_text(facts)
    features = {claim["claim_text"] for claim in facts["claims"] if claim["claim_kind"] == "feature"}

    assert features == {"Table Kit supports any system."}
    assert not [text for text in told if "perfectionism" in text or "2021" in text or "2023" in text]
    assert facts["positioning"]["short_description"] == "tablekit is a small table library."
    assert facts["workflows"] == []
    assert not catalog["snippets"][0].get("introduction")


def test_a_readme_whose_sections_stand_beside_each_other_has_no_title_that_is_about_all(tmp_path: Path) -> None:
    readme = b"# Installation\n\nRun `pip install tablekit` there.\n\n# Format\n\nThe default is to show lines.\n"
    facts, _, _ = built(place_of(tmp_path, {"pyproject.toml": PYPROJECT, "README.md": readme}))

    assert facts["positioning"]["short_description"] == "tablekit is a small table library."


def test_an_introduction_comes_with_the_sentence_that_it_leans_on(tmp_path: Path) -> None:
    readme = (
        b"# tablekit\n\n## Streams\n\n`load` and `read` accept streams. It is thus possible to read any source.\n"
        b"\n```python\nimport tablekit\n```\n"
    )
    _, _, catalog = built(place_of(tmp_path, {"pyproject.toml": PYPROJECT, "README.md": readme}))

    told = catalog["snippets"][0]["introduction"]
    assert told == "`load` and `read` accept streams. It is thus possible to read any source."


def test_what_speaks_of_something_that_only_an_unsaid_sentence_named_is_not_told(tmp_path: Path) -> None:
    readme = (
        b"# tablekit\n\ntablekit is a kit.\n\nFor the purpose of this, a *store* is a mapping of a fixed "
        b"size.  When the store is full, tablekit must choose which row to discard.  Rows are read by tablekit in "
        b"their order.\n"
    )
    facts, _, _ = built(place_of(tmp_path, {"pyproject.toml": PYPROJECT, "README.md": readme}))

    said = " ".join(claim["claim_text"] for claim in facts["claims"])
    assert "Rows are read by tablekit" in said
    assert "When the store is full" not in said


def test_an_introduction_that_ends_before_code_comes_with_all_that_it_leans_on(tmp_path: Path) -> None:
    readme = (
        b"# tablekit\n\n## Streams\n\nTables may be large. `load` accepts a stream. It reads lines. This lets you "
        b"begin early:\n\n```python\nimport tablekit\n```\n\n"
        b"This is how it ends:\n\n```python\nimport tablekit as t\n```\n"
    )
    _, _, catalog = built(place_of(tmp_path, {"pyproject.toml": PYPROJECT, "README.md": readme}))

    told = [one["introduction"] for one in catalog["snippets"]]
    assert told == ["`load` accepts a stream. It reads lines. This lets you begin early:", "This is how it ends:"]
