"""Cuts are marked, never exceed their limit and never part what belongs together."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.present.bounds import (
    Bounds,
    clean_line,
    collapse_whitespace,
    tail,
    truncate_bytes,
    truncate_chars,
    truncate_lines,
)
from holdfast.present.preview import preview
from holdfast.present.table import render_table

ANY_TEXT = st.text(st.characters(), max_size=300)
JOINED = st.text(st.sampled_from("ae\u0301\u0308\u200d👩🚀\ufe0f"), max_size=120)


@given(ANY_TEXT | JOINED, st.integers(1, 60))
def test_text_is_cut_to_its_limit_and_the_cut_is_marked(text: str, limit: int) -> None:
    cut = truncate_chars(text, limit)
    assert len(cut) <= limit
    assert (cut == text) == (len(text) <= limit)
    if cut != text:
        assert cut.endswith("…")
        assert text.startswith(cut[:-1])


@pytest.mark.parametrize(
    "whole",
    [
        "e\u0301",
        "👩\u200d👩\u200d👧",
        "👍🏽",
        "\U0001f1e9\U0001f1ea",
        "\u1112\u1161\u11ab",
        "\U0001f3f4\U000e0067\U000e007f",
    ],
    ids=["accent", "joined", "skin", "flag", "syllable", "region"],
)
def test_what_is_read_as_one_character_is_never_parted(whole: str) -> None:
    text = whole * 40
    for limit in range(12, 24):
        cell = render_table(("c",), [(text,)], max_cell=limit)[2]
        for cut in (truncate_chars(text, limit), cell, preview(text, limit)[1:-1]):
            kept = cut.removesuffix("…")
            assert kept
            assert kept == whole * (len(kept) // len(whole))


def test_text_of_accents_alone_is_still_cut() -> None:
    assert truncate_chars("\u0301" * 1000, 100) == "\u0301" * 99 + "…"


@given(ANY_TEXT, st.integers(3, 80))
def test_text_is_cut_to_a_number_of_bytes_without_half_a_character(text: str, limit: int) -> None:
    cut = truncate_bytes(text, limit)
    assert len(cut.encode()) <= limit
    assert cut.endswith("…") or cut == text.encode("utf-8", "replace").decode()


@given(ANY_TEXT, st.integers(2, 12), st.integers(40, 60))
def test_lines_and_their_width_are_bounded_for_any_text(text: str, lines: int, width: int) -> None:
    cut = truncate_lines(text, Bounds(lines, width))
    assert cut.encode() is not None  # nothing is left that cannot be encoded
    assert len(cut.splitlines()) <= lines
    assert all(len(line) <= width for line in cut.splitlines())


def test_left_out_lines_are_counted() -> None:
    text = "\n".join(str(number) for number in range(10))
    assert truncate_lines(text, Bounds(4, 40)).split("\n") == ["0", "1", "2", "… 7 line(s) omitted"]


@given(st.binary(max_size=400), st.integers(64, 200))
def test_the_tail_of_any_bytes_is_text_within_its_limit(data: bytes, limit: int) -> None:
    kept = tail(data, limit)
    whole = data.decode("utf-8", "replace")
    assert len(kept.encode()) <= limit
    assert kept == whole or whole.endswith(kept.partition("\n")[2])


def test_a_tail_begins_with_what_is_missing_and_keeps_the_end() -> None:
    kept = tail("x" * 100_000 + "\nlast words", 80)
    assert kept.startswith("… ")
    assert "byte(s) omitted\n" in kept
    assert kept.endswith("last words")


def test_a_tail_does_not_begin_in_the_middle_of_a_character() -> None:
    assert "�" not in tail("ä€🚀" * 1000, 101)


def test_whitespace_collapses_to_single_spaces() -> None:
    assert collapse_whitespace(" a\n\t b\u00a0c ") == "a b c"


@pytest.mark.parametrize("character", ["\n", "\r", "\x1b", "\x00", "\x85", "\u2028", "\u202e", "\ud800"])
def test_characters_that_break_or_disguise_a_line_become_escapes(character: str) -> None:
    assert clean_line(f"a{character}b") == f"a\\u{ord(character):04x}b"


@pytest.mark.parametrize(("lines", "width"), [(1, 80), (0, 80), (10, 39), (-1, -1)])
def test_bounds_too_small_for_a_marker_are_refused(lines: int, width: int) -> None:
    with pytest.raises(ValueError, match="marker"):
        Bounds(lines, width)


def test_limits_below_one_marker_are_refused() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        truncate_chars("text", 0)
    with pytest.raises(ValueError, match="at least 3"):
        truncate_bytes("text", 2)
