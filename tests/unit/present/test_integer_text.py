"""Texts of whole numbers are read exactly, and the pattern of a range matches exactly the texts in it."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.present.integer_text import Range, integer_pattern, parse_integer

BOUND = st.none() | st.integers(-1200, 1200) | st.integers(-(10**25), 10**25)


@pytest.mark.parametrize(
    ("text", "number"),
    [("7", 7), (" 7 ", 7), ("7.000", 7), ("-7", -7), ("-0", 0), ("007", 7), ("\t7.0\n", 7),
     ("9007199254740993.0", 9007199254740993), ("1" * 300, int("1" * 300))],
)  # fmt: skip
def test_the_text_of_a_whole_number_is_read_exactly(text: str, number: int) -> None:
    assert parse_integer(text) == number


@pytest.mark.parametrize(
    "text",
    ["", " ", "7.5", "1e3", "+7", "7.", ".0", "0x7", "7,000", "7 000", "1_000", "--7", "- 7", "٧", "７", "NaN",
     "true", "7.0.0", "\u00a07", "7\0", "9" * 401, "abc.0"],
)  # fmt: skip
def test_other_texts_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="whole number"):
        parse_integer(text)


@given(
    st.lists(st.tuples(BOUND, BOUND), min_size=1, max_size=3), st.integers(-2000, 2000) | st.integers(), st.data()
)
def test_a_pattern_matches_exactly_the_numbers_in_its_ranges(
    ranges: list[Range], number: int, data: st.DataObject
) -> None:
    edges = [edge + step for pair in ranges for edge in pair if edge is not None for step in (-1, 0, 1)]
    number = data.draw(st.sampled_from([*edges, number, -number, 0]))
    zeros = data.draw(st.sampled_from(["", "0", "000"]))
    sign = "-" if number < 0 or (number == 0 and zeros) else ""
    before, after = data.draw(st.sampled_from([("", ""), (" ", ".00"), ("", ".0 ")]))
    text = f"{before}{sign}{zeros}{abs(number)}{after}"
    inside = any((low is None or low <= number) and (high is None or number <= high) for low, high in ranges)
    ranges = [pair for pair in ranges if None in pair or pair[0] <= pair[1]]  # type: ignore[operator]
    matched = bool(ranges) and re.search(integer_pattern(ranges), text) is not None
    assert parse_integer(text) == number
    assert matched == inside


@pytest.mark.parametrize(("low", "high"), [(0, 9), (1, 100), (-5, 5), (99, 1001), (-1001, -99), (7, 7), (0, 0)])
def test_small_ranges_are_exact_number_by_number(low: int, high: int) -> None:
    pattern = re.compile(integer_pattern([(low, high)]))
    matched = {number for number in range(-1500, 1500) if pattern.search(str(number))}
    assert matched == set(range(low, high + 1))
