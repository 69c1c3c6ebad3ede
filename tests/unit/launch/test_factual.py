"""Which lines need a claim: a labelled list, both ways, and the syntax of Markdown around them."""

import subprocess
import sys
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.rows import each_row

from holdfast.launch.factual import factual_lines, identifiers_of, names_of, prose_lines

IDENTIFIERS = frozenset({"Table", "read_csv", "tablekit.io", "TableError"})
NAMES = frozenset({"TableKit", "tablekit"})

FACTUAL = [
    ("Reads and writes CSV files.", "format"),
    ("TableKit supports streaming.", "capability"),
    ("It has 3 dependencies.", "number"),
    ("There are three ways to do this.", "number"),
    ("Requires Python 3.11 or later.", "version"),
    ("Runs on Linux.", "platform"),
    ("Works on Windows.", "platform"),
    ("Works with large files.", "capability"),
    ("The `Table` class is the entry point.", "identifier"),
    ("Call read_csv with a path.", "identifier"),
    ("The module tablekit.io is the place for it.", "identifier"),
    ("A TableError is what you get.", "identifier"),
    ("Look at tablekit.streams.Reader.", "identifier"),
    ("Set MAX_ROWS first.", "identifier"),
    ("A StreamReader is lazy.", "identifier"),
    ("The option --strict is off.", "identifier"),
    ("Call close() at the end.", "identifier"),
    ("## `Table`", "identifier"),
    ("### Table.read", "identifier"),
    ("## Python 3.12", "version"),
    ("| `rows` | the rows |", "identifier"),
    ("| Linux | yes |", "platform"),
    ("| CSV | yes | no |", "format"),
    ("- Parses dates.", "capability"),
    ("* Provides a command.", "capability"),
    ("1. Returns nothing.", "capability"),
    ("> Raises an error for an empty file.", "capability"),
    ("You can read a table.", "capability"),
    ("It cannot write.", "capability"),
    ("It does not follow links.", "capability"),
    ("It doesn't need a server.", "capability"),
    ("The keys must be unique.", "capability"),
    ("Tables support slicing.", "capability"),
    ("Plugins require a name.", "capability"),
    ("Both formats are supported.", "capability"),
    ("This is deprecated.", "capability"),
    ("Licensed under MIT.", "capability"),
    ("Compatible with spreadsheets.", "capability"),
    ("Up to 40% faster.", "number"),
    ("It takes 20 ms.", "number"),
    ("Thousands of rows are fine.", "number"),
    ("Version 2 is out.", "version"),
    ("Use >=1.2 here.", "version"),
    ("TableKit 1.4.0 is out.", "version"),
    ("Files ending in .xlsx are tables.", "format"),
    ("A JSON document.", "format"),
    ("An Excel sheet.", "format"),
    ("A library for Python.", "platform"),
    ("Needs Node.js.", "platform"),
    ("A C++ extension.", "platform"),
    ("See [the guide](guide.md), which installs a tool.", "capability"),
    ("[Reads CSV](x.md) in one line.", "format"),
    ("![Diagram of 3 parts](a.png) shown.", "number"),
    ("Edit pyproject.toml first.", "identifier"),
    ("<b>Exports</b> a chart.", "capability"),
    ("Steps &amp; limits: 5", "number"),
    ("**Stores** the index on disk.", "capability"),
    ("What it is: 5 & more.", "number"),
]

NOT_FACTUAL = [
    "",
    "## Installation",
    "## Getting started with TableKit",
    "# TableKit",
    "## Supported formats",
    "## Known limits",
    "### Returns",
    "**Raises**",
    "Install the package:",
    "Before you start",
    "Support",
    "## Support and contact",
    "- [Install](install.md)",
    "- [Reads CSV](csv.md)",
    "[Home](/) | [Docs](/docs/) | [Blog](/blog/)",
    "See also: [Python 3 guide](x.md), [JSON](y.md).",
    "Next: [Quick start](start.md)",
    "See the [API reference](/reference/) for more details.",
    "<https://example.com/v1/x_y>",
    "Repository: <https://example.com/org/a_b>",
    "| Name | Description |",
    "| --- | :---: |",
    "---",
    "***",
    "===",
    "[docs]: https://example.com/v2 'JSON'",
    "1. Open the folder.",
    "2. Close it again.",
    "## Step 1: open the folder",
    "This is _important_ and __bold__.",
    "For example, e.g. this one, i.e. that one.",
    "Source code is on GitHub.",
    "TableKit is a small library.",
    "Use tablekit in your project.",
    "How it works",
    "<!-- 3 things that read_csv supports -->",
    '{{< note version="3" >}}',
    "Questions and answers",
    "Thank you for reading.",
    "What is new",
    "![](/images/v2_chart.png)",
    "<br/>",
    "Frequently asked questions",
    "The project is maintained by volunteers.",
    "- [ ] Tell a friend",
]


@each_row(("line", "reason"), FACTUAL)
def test_a_line_that_states_something_is_found_with_the_reason(line: str, reason: str) -> None:
    found = factual_lines(line, identifiers=IDENTIFIERS, names=NAMES)

    assert [item.line for item in found] == [1]
    assert reason in found[0].reasons


@each_row("line", NOT_FACTUAL)
def test_a_line_that_states_nothing_is_left_alone(line: str) -> None:
    assert factual_lines(line, identifiers=IDENTIFIERS, names=NAMES) == []


@pytest.mark.parametrize(
    "body",
    [
        "```python\nread_csv(3)\n```",
        "~~~\nsupports 3\n```\nsupports 4\n~~~",
        "````md\n```\nsupports 3\n```\n````",
        "Text here:\n\n    supports 3\n\n    reads 4",
        "- item\n\n  ```\n  supports 3\n  ```",
        "> ```\n> supports 3\n> ```",
        "<!-- supports 3\nreads 4\n-->",
        "{{< highlight python >}}\nread_csv(3)\n{{< /highlight >}}",
        "```\nnever closed, supports 3",
    ],
)
def test_code_and_comments_state_nothing(body: str) -> None:
    assert factual_lines(body) == []


@pytest.mark.parametrize(
    ("body", "line"),
    [
        ("```\ncode\n```\nIt supports this.", 4),
        ("<!-- a\nb --> It supports this.", 2),
        ("- item\n\n    It supports this.", 3),
        ("words\n    and it supports this.", 2),
        ("`<!--` is text.\nIt is fine.", 1),
        ("{{< highlight py >}}x{{< /highlight >}}\nIt supports this.", 2),
        ("one\r\nIt supports this.\r\n", 2),
    ],
)
def test_lines_are_counted_from_one_through_code_and_comments(body: str, line: int) -> None:
    assert [item.line for item in factual_lines(body)] == [line]


def test_the_text_of_a_line_has_no_mark() -> None:
    found = factual_lines("- Reads CSV. <!-- claim:clm_0123456789abcdef -->")

    assert [item.text for item in found] == ["- Reads CSV."]


def test_names_of_the_product_are_no_facts_and_plain_words_no_identifiers() -> None:
    facts = {
        "product_name": "TableKit",
        "product_slug": "tablekit",
        "api_symbols": [
            {"name": "read", "qualified_name": "tablekit.read"},
            {"name": "Table", "qualified_name": "tablekit.Table"},
            {"name": "to_rows", "qualified_name": "tablekit.Table.to_rows"},
            {"name": "|", "qualified_name": "tablekit.Table.|"},
        ],
        "api_surface_summary": {"modules": ["tablekit"], "classes": ["Table"], "functions": ["read"]},
        "distribution": [{"identifier": "table-kit"}],
    }

    assert identifiers_of(facts) == {"tablekit.read", "tablekit.Table", "to_rows", "tablekit.Table.to_rows"}
    assert names_of(facts) == {"TableKit", "tablekit", "table-kit"}


def test_thousands_of_lines_take_less_than_two_seconds() -> None:
    body = "It supports `read_csv` and [links](a.md) with 3 (nested (brackets)) words.\n" * 3_000
    begun = process_time()

    assert len(factual_lines(body, identifiers=IDENTIFIERS, names=NAMES)) == 3_000
    assert process_time() - begun < 2


@pytest.mark.parametrize(
    "bad", ["[" * 20_000, "`" * 20_000, "<!--" * 5_000, "(" * 20_000, "a." * 20_000, "*" * 20_000], ids=range(6)
)
def test_a_hostile_line_costs_little(bad: str) -> None:
    begun = process_time()
    factual_lines(bad)

    assert process_time() - begun < 1


@given(st.text(alphabet=st.sampled_from("ab1 `~\n#-*[](){}<>!|:_.=%&;'\"\t\r\x00é"), max_size=200))
def test_any_text_has_an_answer_whose_lines_exist(body: str) -> None:
    lines = body.split("\n")

    for item in factual_lines(body):
        assert 1 <= item.line <= len(lines)
        assert item.text in lines[item.line - 1]
    assert all(text.strip() for _, text in prose_lines(body))


def test_the_answer_does_not_depend_on_the_seed_of_hashes() -> None:
    code = (
        "from holdfast.launch.factual import factual_lines as f;"
        "print(f('It supports a_b, c_d and CSV 3.', identifiers={'a_b', 'c_d', 'e_f'}, names={'x', 'y', 'z'}))"
    )
    told = {
        subprocess.check_output([sys.executable, "-c", code], env={"PYTHONHASHSEED": seed})
        for seed in ("0", "1", "77")
    }

    assert len(told) == 1
