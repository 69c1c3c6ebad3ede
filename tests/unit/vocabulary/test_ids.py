"""Ids are exact, except where a cancellation has to be understood."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.vocabulary.ids import is_request_id, match_cancellation


@pytest.mark.parametrize("value", [True, False, None, 1.0, [], {}, b"1"])
def test_only_strings_and_integers_identify_a_request(value: object) -> None:
    assert not is_request_id(value)
    assert match_cancellation(value, {1, "1"}) is None


@given(st.one_of(st.integers(), st.text()))
def test_the_exact_id_wins(wanted: int | str) -> None:
    other = str(wanted) if isinstance(wanted, int) else 7

    assert match_cancellation(wanted, {wanted, other}) == wanted
    assert type(match_cancellation(wanted, {wanted, other})) is type(wanted)


@given(st.integers())
def test_the_other_spelling_of_an_id_is_understood(number: int) -> None:
    assert match_cancellation(str(number), {number}) == number
    assert match_cancellation(number, {str(number)}) == str(number)


@pytest.mark.parametrize("text", ["01", "+1", " 1", "1.0", "1e0", "", "-", "１", "9" * 5000])
def test_text_that_is_not_how_an_integer_is_written_matches_none(text: str) -> None:
    assert match_cancellation(text, {1, 0, -1}) is None
