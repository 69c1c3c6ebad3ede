"""Cursors: opaque, checked, bound to a call and a list, of limited age."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.present.continuation import (
    CURSOR_SECONDS,
    Cursor,
    CursorRefused,
    call_digest,
    read_cursor,
    rows_digest,
)

NOW = 1_800_000_000
CALL = call_digest("list", {"day": "today"})
CURSOR = Cursor(13, NOW, CALL, rows_digest([1, 2, 3]))
TEXT = CURSOR.text()


@given(st.integers(min_value=0, max_value=2**32 - 1), st.binary(min_size=6, max_size=6))
def test_a_cursor_comes_back_as_it_was_given(offset: int, rows: bytes) -> None:
    cursor = Cursor(offset, NOW, CALL, rows)
    assert read_cursor(cursor.text(), CALL, NOW + 1) == cursor
    assert len(cursor.text()) == 32


@given(st.text(max_size=40))
def test_text_that_is_no_cursor_is_refused(text: str) -> None:
    with pytest.raises(CursorRefused, match="not a cursor"):
        read_cursor(text, CALL, NOW)


@given(st.integers(min_value=0, max_value=31), st.sampled_from("ABCxyz019-_"))
def test_a_cursor_with_another_character_in_it_is_refused(index: int, character: str) -> None:
    text = CURSOR.text()
    changed = text[:index] + character + text[index + 1 :]
    if changed != text:
        with pytest.raises(CursorRefused):
            read_cursor(changed, CALL, NOW)


@pytest.mark.parametrize("text", [TEXT[:-1], TEXT * 2, TEXT + "\n", " " + TEXT])
def test_half_a_cursor_and_more_than_one_are_refused(text: str) -> None:
    with pytest.raises(CursorRefused):
        read_cursor(text, CALL, NOW)


@pytest.mark.parametrize("later", [CURSOR_SECONDS + 1, 10**8, -301])
def test_a_cursor_that_is_too_old_or_not_yet_made_is_refused(later: int) -> None:
    with pytest.raises(CursorRefused, match="60 minutes"):
        read_cursor(CURSOR.text(), CALL, NOW + later)


@pytest.mark.parametrize(
    ("tool", "arguments"), [("list", {"day": "tomorrow"}), ("other", {"day": "today"}), ("list", {})]
)
def test_a_cursor_of_another_call_is_refused(tool: str, arguments: dict[str, Any]) -> None:
    with pytest.raises(CursorRefused, match="another call"):
        read_cursor(CURSOR.text(), call_digest(tool, arguments), NOW)


def test_the_same_call_is_the_same_in_any_order_form_and_detail() -> None:
    one = call_digest("list", {"a": 1, "b": {"x": [1, {"p": 1, "q": 2}], "y": 2}, "render": "json"})
    again = {"cursor": "…", "b": {"y": 2, "x": [1, {"q": 2, "p": 1}]}, "a": 1, "detail": "full"}
    other = call_digest("list", again)
    assert one == other


def test_numbers_beyond_64_bits_are_told_apart() -> None:
    assert call_digest("list", {"n": 2**70}) != call_digest("list", {"n": 2**70 + 1})


def test_rows_are_compared_by_their_selector_where_they_have_one() -> None:
    before, after = [{"slug": "a", "load": 1}], [{"slug": "a", "load": 2}]
    assert rows_digest(before, "slug") == rows_digest(after, "slug")
    assert rows_digest(before) != rows_digest(after)
    assert rows_digest([*before, *before], "slug") != rows_digest(before, "slug")
