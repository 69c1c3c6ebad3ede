"""Text of a repository as Markdown: safe, readable, and one sentence at a time."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.launch.claim_marks import claims_of
from holdfast.launch.writing.blocks import (
    Block,
    Bullets,
    Code,
    Heading,
    Link,
    Links,
    Paragraph,
    Row,
    Sentence,
    Table,
    fitted,
    markdown,
    tidied,
    unrepeated,
)
from holdfast.launch.writing.inline import anchor, as_sentence, cell, code, plain, prose, sentences_of, slug
from holdfast.launch.writing.signatures import wrapped


@pytest.mark.parametrize(
    ("text", "made"),
    [
        ("plain words", "plain words"),
        ("a <b>tag</b>", "a tag"),
        ("base 2<sup>10</sup>, not <script>", "base 2^10, not &lt;script>"),
        ("follow best practices <logging-best-practices>.", "follow best practices."),
        ("by Will <https://x.example/1>`_ from rich", "by Will <https://x.example/1> from rich"),
        ("List<int> stays", "List&lt;int> stays"),
        ("see [the guide](docs/guide.md)", "see the guide"),
        ("![badge](https://x.example/b.svg) text", "text"),
        ("**bold** and *soft* and __init__", "bold and soft and init"),
        ("call `read_csv(path)` now", "call `read_csv(path)` now"),
        ("snake_case stays, _lead gets escaped", "snake_case stays, \\_lead gets escaped"),
        (":class:`~pkg.Table` and `text <https://x.example>`_", "`pkg.Table` and text"),
        ("at https://x.example/a, or", "at <https://x.example/a>, or"),
        ("{{< shortcode >}}", "&#123;{&lt; shortcode >}}"),
        ("# no heading", "\\# no heading"),
        ("1. no list", "1\\. no list"),
        ("- no bullet", "\\- no bullet"),
        ("a &amp; b & c &lt;b&gt;", "a & b & c &lt;b>"),
        ("two\nlines\x00", "two lines"),
    ],
)
def test_only_code_and_addresses_stay_what_they_are(text: str, made: str) -> None:
    assert prose(text) == made


@pytest.mark.parametrize(
    ("text", "made"),
    [("a`b", "``a`b``"), ("`x`", "`` `x` ``"), ("{{< x >}}", "&#123;{&lt; x >}}"), ("", ""), ("a\n  b", "`a b`")],
)
def test_code_spans_hold_whatever_is_in_them(text: str, made: str) -> None:
    assert code(text) == made


@given(st.text(alphabet="`*_[]()<>!{}#|&\\-+=:~.1a <>%\n/\"'", max_size=60))
def test_no_text_makes_tags_shortcodes_marks_or_a_new_line(text: str) -> None:
    for made in (prose(text), code(text), as_sentence(text), cell(prose(text))):
        assert "\n" not in made
        assert "{{<" not in made
        assert "{{%" not in made
        assert claims_of(made) == []
        outside = re.sub(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)", "", made)
        assert not re.search(r"<(?!https?:)", outside)


def test_a_sentence_begins_with_a_capital_and_ends_with_a_full_stop() -> None:
    assert as_sentence("reads files") == "Reads files."
    assert as_sentence("tablekit reads files:", frozenset({"tablekit"})) == "tablekit reads files."
    assert as_sentence("`read` is fast!") == "`read` is fast!"


def test_sentences_are_not_cut_at_abbreviations_versions_or_in_code() -> None:
    text = "Use 1.2 e.g. here. kit is small. It has `a. B` too. Done"
    assert sentences_of(text, frozenset({"kit"})) == [
        "Use 1.2 e.g. here.",
        "kit is small.",
        "It has `a. B` too.",
        "Done",
    ]


def test_titles_addresses_and_fragments_are_plain() -> None:
    assert plain("The **`Table`** [class](x.md)") == "The Table class"
    assert slug("Join two Tables!") == "join-two-tables"
    assert anchor("Table.read_csv") == "tableread_csv"


def test_a_long_signature_has_a_line_per_parameter() -> None:
    parameters = ("path: str | Path", "*", "types: dict[str, type] = {}", "label: str = 'a, (b'", "tail: int = 0")
    signature = f"read({', '.join(parameters)}) -> Table"
    lines = wrapped(signature).split("\n")
    assert lines[0] == "read("
    assert lines[4] == "    label: str = 'a, (b',"
    assert lines[-1] == ") -> Table"
    assert wrapped("read(path)") == "read(path)"


def test_blocks_are_lines_with_marks_and_blank_lines_between() -> None:
    key = ("clm_0123456789abcdef",)
    text = markdown(
        [
            Heading(2, "`x`", key),
            Paragraph((Sentence("One.", key), Sentence("Two."))),
            Table(("A", "B", "C"), (Row(("a|b", "", "c"), key),)),
            Code("python", "a = '```'\n```\n"),
            Links((Link("T", "../t/", "About."),)),
        ]
    )
    mark = " <!-- claim:clm_0123456789abcdef -->"
    assert text == (
        f"## `x`{mark}\n\nOne.{mark}\nTwo.\n\n| A | C |\n| --- | --- |\n| a\\|b | c{mark} |\n\n"
        "````python\na = '```'\n```\n````\n\n- [T](../t/): About.\n"
    )


def test_a_shortcode_in_code_is_shown_and_not_run() -> None:
    assert markdown([Code("html", "{{< fig a >}}")]) == "```html\n{{</* fig a */>}}\n```\n"


def test_headings_over_nothing_and_repetitions_are_left_out() -> None:
    said = Paragraph((Sentence("Said."),))
    blocks: list[Block] = [
        Heading(2, "Empty"),
        Heading(2, "Full"),
        said,
        Bullets((Sentence("full"), Sentence("Said"))),
        Heading(2, "End"),
    ]
    assert tidied(unrepeated(blocks, "Title")) == [Heading(2, "Full"), said]


def test_what_does_not_fit_is_left_out_from_the_end_but_the_ways_on_stay() -> None:
    ways: list[Block] = [Heading(2, "Next"), Links((Link("T", "../t/"),))]
    parts: list[Block] = [
        block for n in range(9) for block in (Heading(2, f"H{n}"), Paragraph((Sentence(f"S{n}."),)))
    ]
    kept = fitted([*parts, *ways], 20)
    assert kept[-2:] == ways
    assert markdown(kept).count("\n") <= 20
    assert kept[0] == Heading(2, "H0")
