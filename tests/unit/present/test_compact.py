"""Compact JSON is exact; details of any kind become JSON."""

import datetime as dt
import json
from pathlib import PurePosixPath
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.present.compact import compact_json, json_ready

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


class Hostile:
    """An object that cannot even say what it is."""

    def __str__(self) -> str:
        raise RuntimeError("no")


@given(JSON)
def test_compact_json_is_one_line_that_reads_back_exactly(value: Any) -> None:
    text = compact_json(value)
    assert json.loads(text) == value
    assert "\n" not in text


def test_integers_beyond_64_bits_are_written_exactly() -> None:
    assert compact_json({"n": 2**80}) == '{"n":1208925819614629174706176}'


def test_what_is_not_json_is_an_error_and_not_a_guess() -> None:
    with pytest.raises(TypeError):
        compact_json({"o": object()})


@given(JSON)
def test_json_is_ready_as_it_is(value: Any) -> None:
    assert json_ready(value) == value


@pytest.mark.parametrize(
    ("value", "ready"),
    [
        (b"\xffok", "\ufffdok"),
        ("\ud800", "?"),
        (float("nan"), "nan"),
        (float("-inf"), "-inf"),
        ({3, 1, 2}, [1, 2, 3]),
        ((1, [2]), [1, [2]]),
        ({1: {None: 2}}, {"1": {"None": 2}}),
        (PurePosixPath("/a/b"), "/a/b"),
        (dt.date(2026, 1, 2), "2026-01-02"),
        (Hostile(), "<Hostile>"),
        (1 << 5000, "<integer of 5001 bits>"),
    ],
)
def test_values_that_are_not_json_become_json(value: Any, ready: Any) -> None:
    assert json_ready(value) == ready


def test_a_list_that_holds_itself_ends() -> None:
    endless: list[Any] = []
    endless += [endless, endless]
    assert json_ready(endless) == ["…", "…"]


def test_deep_nesting_ends() -> None:
    deep: Any = "bottom"
    for _ in range(5000):
        deep = [deep]
    assert "…" in compact_json(json_ready(deep))
