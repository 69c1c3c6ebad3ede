"""Every expression of the source with long texts made from itself: minutes, so for the full run only.

One that takes longer than `LIMIT` must be listed here, with what bounds its text. A text with a bound is made no
longer than that. `OPEN` are known and not yet bounded: the list may get shorter, and nothing may be added to it.
"""

import pytest
from tests.regex_pumps import LONG, Expression, expressions, slow_text

pytestmark = pytest.mark.timeout(900)

_PARTS = 16

# Bounds of the text in characters, by file and place, and where each is set.
SHORT = {
    "contract/documents/sections.py: _NUMBERING": (400, "plain_words cuts the text"),
    "contract/documents/types.py: *": (600, "schema_of_type reads no longer text"),
    "search/discover/sniff.py: _TRACE": (200, "lines are cut"),
    "search/query/lexemes.py: *": (4096, "a longer query is refused before"),
    "search/records.py: found": (500, "lines are cut"),
}

# Bounds that are longer than the texts made here; the square of them is what such a text may take.
BOUNDED = {
    "contract/documents/statements.py: _VERSION": "80 times the line, and no square: a version has 80 characters",
    "host/metrics_port.py: _HEADER": "MAX_HEAD_BYTES, 8 KiB, of a local scraper",
    "launch/evidence.py: _BLOCK_END": "a line of a source, LONGEST_LINE of launch/facts/reading.py",
    "launch/facts/ecosystems/fields.py: _STRINGS": "a line of a source, LONGEST_LINE",
    "launch/facts/ecosystems/go/manifest.py: _REQUIRED": "a line of go.mod, LONGEST_LINE",
    "launch/facts/ecosystems/go/surface.py: ^// ?|^/\\*\\s?|\\s*\\*/$": "a line of a source, LONGEST_LINE",
    "launch/facts/ecosystems/json_lines.py: _TOKEN": "JSON that the parser has read: every string ends",
    "launch/facts/ecosystems/rust/documentation.py: _BADGE": "a line of a comment, LONGEST_LINE",
    "launch/facts/ecosystems/rust/surface.py: bare": "a line of a source, LONGEST_LINE",
    "launch/facts/titles.py: _COMMENT": "matched at the beginning: blanks of a line, LONGEST_LINE",
    "launch/facts/toml_lines.py: _STRINGS": "a line of a file that the parser has read, LONGEST_LINE",
    "launch/front_matter.py: rest": "matched at one place, where it is linear",
    "search/extract/*": "the computing time of a file, search/parsing_time.py",
    "search/languages/*": "the computing time of a file, search/parsing_time.py",
    "search/prose.py: _ROLE": "the computing time of a file, search/parsing_time.py",
    "search/risk/*": "the computing time of a file, search/parsing_time.py",
}

OPEN = {
    "launch/facts/changelog.py: _TAIL": "a sentence of a changelog",
    "launch/facts/code_texts.py: _CODE_LIKE": "a block of code in a document",
    "launch/facts/docstrings.py: _GOOGLE_ITEM": "a line of a comment, but joined ones may be longer",
    "launch/facts/docstrings.py: _NUMPY_ITEM": "a line of a comment, but joined ones may be longer",
    "launch/facts/ecosystems/doc_markup.py: _ITEM": "a comment: list items that are not closed",
    "launch/facts/ecosystems/python/checkout.py: _FROM_CHECKOUT": "a README",
    "launch/facts/ecosystems/rust/surface.py: _HIDDEN": "attributes of a definition",
    "launch/facts/ecosystems/rust/surface.py: _MOD": "a source with thousands of attributes before nothing",
    "launch/facts/ecosystems/rust/surface.py: _USE": "a source with thousands of attributes before nothing",
    "launch/facts/refusals.py: <[a-zA-Z/!][^>]*>|\\{[%{\\": "a sentence",
    "launch/facts/refusals.py: ENTRY": "a sentence",
    "launch/facts/refusals.py: PRONOUN": "a sentence",
    "launch/facts/rst_inline.py: _ROLE": "a paragraph",
    "launch/facts/rst_inline.py: _WORD": "a paragraph",
    "launch/facts/sentences.py: _REFERENCES": "a sentence",
    "launch/factual.py: _HIGHLIGHT": "a line of a page",
    "launch/factual.py: _SHORTCODE": "a line of a page",
    "launch/factual.py: _TABLE_RULE": "a line of a page",
    "launch/fixing/line_rules.py: defined": "a line of a page",
    "launch/fixing/line_rules.py: image": "a line of a page",
    "launch/publishing/mirror.py: _LOCKED_OUT": "a message of Git",
    "launch/updating/page_parts.py: (\"[^\"\\n]+\"|'[^'\\n]+'|[^\\": "a line of front matter",
    "launch/writing/blocks.py: _SHORTCODE": "a block of code in a page",
    "launch/writing/inline.py: _IMAGE": "a text that becomes part of a page",
    "launch/writing/inline.py: _NUMBERING": "a text that becomes part of a page",
    "launch/writing/inline.py: _RST_LINK": "a text that becomes part of a page",
    "launch/writing/inline.py: _STRAY_STOP": "a text that becomes part of a page",
    "launch/writing/mentions.py: _MADE": "a block of code in a page",
    "search/downloads/verify.py: \\s*=\\s*": "an option of a request",
    "setup/json_scan.py: *": "the configuration of a client on this machine",
    "setup/toml_text.py: _TOKEN": "the configuration of a client on this machine",
}


def _listed(one: Expression, table: dict[str, str] | dict[str, tuple[int, str]]) -> str:
    """The entry of the table for an expression, which may end with `*`."""
    place = f"{one.file}: {one.place.rpartition(' in line ')[0]}"
    return next((key for key in table if key == place or (key[-1] == "*" and place.startswith(key[:-1]))), "")


@pytest.mark.parametrize("part", range(_PARTS))
def test_an_expression_that_grows_with_the_square_has_a_text_with_a_bound(part: int) -> None:
    slow = {}
    for one in expressions()[part::_PARTS]:
        if _listed(one, BOUNDED) or _listed(one, OPEN):
            continue
        short = _listed(one, SHORT)
        if text := slow_text(one.compiled, one.ways, size=SHORT[short][0] if short else LONG):
            slow[f"{one.file}: {one.place}"] = text

    assert slow == {}


@pytest.mark.parametrize("table", [SHORT, BOUNDED, OPEN], ids=["short", "bounded", "open"])
def test_nothing_is_listed_that_the_source_does_not_have(
    table: dict[str, str] | dict[str, tuple[int, str]],
) -> None:
    assert {_listed(one, table) for one in expressions()} - {""} == set(table)
