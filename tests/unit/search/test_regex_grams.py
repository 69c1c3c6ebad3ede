"""Trigrams for regular expressions: a text with a match is never ruled out, and no pattern takes for ever."""

import re
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.rows import each_row
from tests.unit.search.work import calls_made

from holdfast.errors import ToolError
from holdfast.search.regex import compiled
from holdfast.search.regex_grams import grams_of, required_grams


def sets(*alternatives: str) -> tuple[frozenset[str], ...]:
    return tuple(sorted((frozenset(grams.split()) for grams in alternatives), key=sorted))


@pytest.mark.parametrize(
    ("pattern", "required"),
    [
        ("budget", sets("bud udg dge get")),
        ("Retry", sets("ret etr try")),
        (r"def \w+_run", sets("def _ru run")),
        ("foo.*bar", sets("foo bar")),
        ("foo|bar", sets("foo", "bar")),
        ("ab(c|d)", sets("abc", "abd")),
        ("ab[cd]", sets("abc", "abd")),
        ("https?:", sets("htt ttp tp:", "htt ttp tps ps:")),
        ("(foo)+x", sets("foo")),
        ("fo{2}", sets("foo")),
        (r"\bfoo$", sets("foo")),
        ("a b c", ()),
        ("fo", ()),
        ("foo|ab", ()),
        ("(foo)?", ()),
        ("[a-z]{3}", ()),
        ("foo|foobar", sets("foo")),
        ("検索語", sets("検索語")),
        (r"foo\p{L}bar", sets("foo bar")),
        (r"[\PN\p{^Greek}]foo", sets("foo")),
        ("[[:alpha:]]foo", sets("foo")),
        ("[^][:digit:]]foo", sets("foo")),
    ],
)
def test_what_any_match_must_contain_is_known(pattern: str, required: tuple[frozenset[str], ...]) -> None:
    assert required_grams(pattern, "") == required


@pytest.mark.parametrize(
    "pattern", [r"\p{L}+_budget", r"[\pL]_budget", "[[:alpha:]]_budget", "[^[:space:]]_budget"]
)
def test_classes_that_only_re2_knows_are_searched_for(pattern: str) -> None:
    text = "def é_budget(), x_budget"
    assert compiled(pattern).search(text)
    assert any(grams <= grams_of(text) for grams in required_grams(pattern))


def test_the_trigrams_of_a_text_do_not_reach_across_white_space() -> None:
    assert grams_of("Foo ba\tx->y\u00a0ab") == {"foo", "x->", "->y"}
    assert grams_of("") == grams_of("ab cd\n") == set()


def test_every_letter_that_ignoring_case_takes_for_another_has_the_same_trigram() -> None:
    everything = "".join(map(chr, range(0x80, sys.maxunicode + 1)))
    for letter in "abcdefghijklmnopqrstuvwxyz":
        for twin in re.findall(letter, everything, re.IGNORECASE):
            assert grams_of(f"-{twin}-") == {f"-{letter}-"}


ATOMS = [
    "a",
    "B",
    "ab",
    "foo",
    "S",
    "i",
    "é",
    "É",
    "ß",
    "字",
    " ",
    r"\s",
    r"\w",
    ".",
    "[ab]",
    "[^a]",
    "[A-C]",
    r"\.",
    r"\b",
]
PATTERNS = st.recursive(
    st.sampled_from(ATOMS),
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=4).map("".join),
        st.lists(inner, min_size=1, max_size=3).map(lambda parts: f"(?:{'|'.join(parts)})"),
        st.tuples(inner, st.sampled_from(["*", "+", "?", "{2}", "{1,3}", "{0,2}", "+?"])).map(
            lambda pair: f"(?:{pair[0]}){pair[1]}"
        ),
        inner.map(lambda part: f"(?i:{part})"),
    ),
    max_leaves=8,
)


@given(
    PATTERNS,
    st.text(alphabet="aAbBcfoOSsſiıİé É\u0301字.ßΣς", max_size=25),
    st.sampled_from(["", "i", "s", "ims"]),
)
def test_a_text_with_a_match_is_never_ruled_out(pattern: str, text: str, flags: str) -> None:
    bits = sum({"i": re.IGNORECASE, "m": re.MULTILINE, "s": re.DOTALL}[flag] for flag in flags)
    required = required_grams(pattern, flags)
    if required and re.search(pattern, text, bits):
        grams = grams_of(text)
        assert any(alternative <= grams for alternative in required)


@given(st.data())
def test_a_text_made_to_match_is_never_ruled_out(data: st.DataObject) -> None:
    pattern = data.draw(PATTERNS)
    text = data.draw(st.from_regex(pattern))
    required = required_grams(pattern, "")
    assert not required or any(alternative <= grams_of(text) for alternative in required)


ORDINARY = [
    r"def \w+_budget", r"(\w+\.)*\w+", r'"(?:[^"\\]|\\.)*"', r"(?:(?:public|private|static)\s+)*class",
    r"https?://\S+", r"^(\d+\.)+\d+$", "foo.*bar.*baz", r"(?:.|\n)*x", "[0-9a-f]{32}", r"(\d{1,3}\.){3}\d{1,3}",
    r"\bfoo\s*\(\s*\w+\s*\)", r"class (\w+)\((\w+)\)", "TODO|FIXME|XXX", "(foo|bar|baz)+", "a.*b.*c.*d", "",
    r"\s*def\s+\w+\s*\(.*\)\s*:", "(?i)error", "[[a]", "(?P<name>x)y",
]  # fmt: skip

ENDLESS = [
    "(a+)+x", "(a|a)*x", r"(\w+,?)*x", "(.*)*x", "(x+x+)+y", "a?" * 30 + "a" * 30, r"(\s|.)*x",
    ".*a.*a.*a.*a.*a.*a",
]  # fmt: skip


@each_row("pattern", ORDINARY + ENDLESS)
def test_any_pattern_comes_to_an_end_on_any_text(pattern: str) -> None:
    # An engine that tries one way after the other would not come to an end on these in a lifetime.
    expression = compiled(pattern)
    for text in ("a" * 20_000 + "!", "a." * 10_000 + "!", "static " * 3_000, '"' + "\\a" * 10_000):
        expression.search(text)


def test_the_ends_of_lines_are_meant_by_their_signs_and_offsets_are_those_of_the_bytes() -> None:
    source = "# é\ndef f():\n".encode()
    assert [match.span() for match in compiled("^DEF .*$", "i").finditer(source)] == [(5, 13)]


@pytest.mark.parametrize("pattern", ["(?=x)y", "(?<!x)y", r"(a)\1", "(?>a)b", "a++b", r"(a)?(?(1)b|c)"])
def test_what_no_engine_of_bounded_time_supports_is_refused(pattern: str) -> None:
    with pytest.raises(ToolError, match="not supported"):
        compiled(pattern)


@pytest.mark.parametrize(
    ("pattern", "flags", "position", "message"),
    [
        ("ab(", "", 2, "unterminated subpattern"),
        ("a[z-b]", "", 2, "bad character range"),
        (r"[\p{Greek}]ab(", "", 13, "unterminated subpattern"),
        ("x" * 1001, "", 1000, "1,000 are allowed"),
        ("a{99999999999}", "", 0, "too large"),
        ("a{5000}", "", 0, "not supported"),
        ("a", "g", 0, "flag 'g'"),
        ("a", "x", 0, "flag 'x'"),
    ],
)
def test_a_mistake_in_a_pattern_is_told_with_its_position(
    pattern: str, flags: str, position: int, message: str
) -> None:
    with pytest.raises(ToolError, match=message) as caught:
        compiled(pattern, flags)
    assert caught.value.details["position"] == position


@given(st.text(alphabet="ab(|)*+?{2,}[]^-\\wd.$:=!<P>#", max_size=40))
def test_no_pattern_ends_in_anything_but_a_pattern_or_a_refusal(pattern: str) -> None:
    try:
        expression = compiled(pattern)
    except ToolError:
        return
    expression.search("ab" * 20)
    required_grams(pattern, "")


@pytest.mark.parametrize(
    "pattern", ["(a|b)" * 190, "|".join("abcdefghij" * 40), "[abc]" * 190, "(?:a|b)?" * 12 + "c"]
)
def test_of_a_pattern_with_many_ways_through_it_few_are_followed(pattern: str) -> None:
    compiled(pattern)
    assert calls_made(lambda: required_grams(pattern, "")) < 300 * len(pattern)
    assert len(required_grams(pattern, "")) <= 16
