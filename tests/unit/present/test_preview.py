"""One value on one line: who gets the room."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from holdfast.present.preview import preview, show

ROWS = st.dictionaries(st.text(max_size=6), st.integers() | st.text(max_size=40), max_size=8)


def test_room_that_short_members_do_not_need_goes_to_the_long_ones() -> None:
    row = {"n": 1, "name": "a name of thirty characters or", "m": 2}
    assert preview(row, 60) == '{n=1, name="a name of thirty characters or", m=2}'


def test_of_two_long_members_both_are_shown_in_part() -> None:
    shown = preview({"a": "x" * 30, "b": "y" * 30, "c": 1}, 50)
    assert len(shown) <= 50
    assert 'a="xxx' in shown
    assert 'b="yyy' in shown


@given(st.lists(ROWS, max_size=4) | ROWS, st.integers(min_value=3, max_value=200))
def test_what_fits_as_a_whole_is_shown_as_a_whole(value: Any, limit: int) -> None:
    text, complete = show(value, limit)
    assert len(text) <= limit
    wide = show(value, 10_000)
    if complete:
        assert text == wide.text
