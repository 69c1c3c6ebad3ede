"""Headings in three kinds of markup, what only looks like one, and the promise that no line is lost."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.rows import each_row
from tests.unit.search.work import grows_evenly

from holdfast.search.decode import BOM, MAX_CHUNK_BYTES
from holdfast.search.model import Chunk
from holdfast.search.prose import extract_prose

LANGUAGES = ["markdown", "rst", "asciidoc", "text"]


def sections(language: str, text: str) -> list[Chunk]:
    return extract_prose(language, "docs/guide.md", text.encode()).chunks


def names(language: str, text: str) -> list[str]:
    return [chunk.name for chunk in sections(language, text)]


def test_a_section_is_named_by_the_headings_that_lead_to_it() -> None:
    text = "# Holdfast\nIt holds.\n\n## Install\n\n### From source ###\nmake\n## Use `it` [now](x)\n# Other\n"

    assert names("markdown", text) == [
        "Holdfast",
        "Holdfast > Install",
        "Holdfast > Install > From source",
        "Holdfast > Use it now",
        "Other",
    ]


def test_ranges_are_exact_and_the_first_paragraph_is_the_doc() -> None:
    text = "# Größe\n\n![badge](x)\n\nWhat it\nis.\n\nMore.\n\n\n## Next\nx\n"

    first, second = sections("markdown", text)

    assert text.encode()[first.start : first.end].decode() == "# Größe\n\n![badge](x)\n\nWhat it\nis.\n\nMore."
    assert (first.start_line, first.end_line, first.doc) == (1, 8, "What it is.")
    assert (second.start_line, second.end_line, second.doc, second.kind) == (11, 12, "x", "section")


@pytest.mark.parametrize(
    "block",
    [
        "```sh\n# not one\n```",
        "~~~\n# not one\n```\n# not two\n~~~",
        "````\n```\n# not one\n````",
        "<!--\n# not one\n-->",
        "<pre>\n# not one\n</pre>",
        "    # code",
        "#hashtag",
        "#######  seven",
        "- item\n---",
        "> quote\n---",
        "text\n\n---\n\ntext",
        "| a |\n---",
        "```\n# never closed",
    ],
)
def test_what_only_looks_like_a_heading_is_none(block: str) -> None:
    assert names("markdown", f"# Real\n\n{block}\n") == ["Real"]


def test_underlined_paragraphs_are_headings_of_two_levels() -> None:
    text = "Intro\nof two lines\n====\ntext\n\nPart\n---\n*x*\n"

    assert names("markdown", text) == ["Intro of two lines", "Intro of two lines > Part"]


def test_text_before_the_first_heading_belongs_to_the_file() -> None:
    text = '---\ntitle: "The Guide"\n# no heading\n---\nHello.\n\n# One\nx\n'

    first, second = sections("markdown", text)

    assert (first.name, first.start_line, first.end_line) == ("guide.md", 1, 5)
    assert first.doc == "The Guide\nHello."
    assert second.name == "One"


def test_front_matter_that_never_ends_is_ordinary_text() -> None:
    assert names("markdown", "---\ntitle: x\n\n# One\n") == ["guide.md", "One"]


def test_headings_in_html_count_and_pictures_are_no_titles() -> None:
    text = '<h1 align="center">Hold <b>fast</b></h1>\n<h2><img src="x"></h2>\n# [![b](c)](d)\ntext\n'

    assert names("markdown", text) == ["Hold fast", "b"]


def test_a_byte_order_mark_hides_no_heading() -> None:
    (chunk,) = extract_prose("markdown", "a.md", BOM + b"# One\r\ntext\r\n").chunks

    assert (chunk.name, chunk.start, chunk.end) == ("One", 0, len(BOM + b"# One\r\ntext"))


def test_adornment_decides_the_levels_of_restructured_text() -> None:
    text = (
        "=====\nTitle\n=====\n\nIntro ``x``.\n\nInstall\n=======\n\nFrom :ref:`source`\n------------------\n"
        "make\n\nUse\n===\nx::\n\n  Code\n  ----\n\n====  ====\nA     B\n====  ====\n\n----\n\nend\n"
    )

    assert names("rst", text) == [
        "Title",
        "Title > Install",
        "Title > Install > From source",
        "Title > Use",
    ]


def test_short_underlines_and_transitions_are_no_titles() -> None:
    assert names("rst", "Some longer text\n--\n\n.....\n\nHello\n...\n") == ["guide.md"]
    assert names("rst", "One\n===\nTwo\n---\n") == ["One", "One > Two"]


def test_asciidoc_has_equal_signs_underlines_and_blocks() -> None:
    text = (
        "= Guide\n:toc:\n\n== Install\n[source]\n----\n== not one\n----\n\n=== From source\nx\n\n"
        "Old Style\n---------\ny\n\n====\nAn example\n====\n"
    )

    assert names("asciidoc", text) == [
        "Guide",
        "Guide > Install",
        "Guide > Install > From source",
        "Guide > Old Style",
    ]


def test_plain_text_is_cut_between_paragraphs() -> None:
    text = "".join(f"line {line}\n" if line % 10 else "\n" for line in range(1, 131))

    found = sections("text", text)

    assert [(chunk.start_line, chunk.end_line) for chunk in found] == [(1, 59), (61, 119), (121, 129)]
    assert [bool(chunk.doc) for chunk in found] == [True, False, False]


def test_a_long_section_is_cut_between_paragraphs_but_not_inside_of_code() -> None:
    code = "```\n" + "x\n\n" * 30 + "```\n"
    text = "# Long\n" + "text\n" * 90 + "\n" + code

    found = sections("markdown", text)

    assert [(chunk.name, chunk.start_line, chunk.end_line) for chunk in found] == [
        ("Long", 1, 91),
        ("Long", 93, 154),
    ]


@each_row("language", LANGUAGES)
@each_row("piece", ["[", "<!--\n", "```\n", "# a\n", "- ", "a\n-\n", "====\na\n", "*_", "---- "])
def test_hostile_documents_are_cut_in_bounded_pieces_with_even_work(language: str, piece: str) -> None:
    found = extract_prose(language, "x", piece.encode() * (40_000 // len(piece))).chunks

    assert all(chunk.end - chunk.start <= MAX_CHUNK_BYTES for chunk in found)
    assert grows_evenly(lambda count: extract_prose(language, "x", piece.encode() * count), 200)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("text", ["", "\n \n", "\r\n"])
def test_nothing_gives_nothing(language: str, text: str) -> None:
    assert sections(language, text) == []


LINES = st.sampled_from(
    [
        "",
        " ",
        "text",
        "# A",
        "## B",
        "===",
        "---",
        "----",
        "```",
        "<!--",
        "-->",
        "* x",
        "= A",
        "== B",
        "+++",
        "    c",
    ]
)


@given(
    st.sampled_from(LANGUAGES),
    st.lists(LINES | st.text(), max_size=60) | st.lists(LINES, min_size=100, max_size=300),
    st.sampled_from(["\n", "\r\n", "\r"]),
)
def test_every_line_with_something_in_it_is_in_exactly_one_section(
    language: str, lines: list[str], end: str
) -> None:
    data = end.join(lines).encode("utf-8", "replace")

    found = extract_prose(language, "x.md", data).chunks

    position = 0
    for chunk in found:
        assert not data[position : chunk.start].strip()
        assert chunk.name
        assert chunk.start < chunk.end
        assert data[chunk.start : chunk.end].count(b"\n") == chunk.end_line - chunk.start_line or b"\r" in data
        position = chunk.end
    assert not data[position:].strip()
