"""Porcelain is bounded, deterministic and says what it leaves out, for any value at all."""

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.present.bounds import Bounds
from holdfast.present.porcelain import DEFAULT_BOUNDS, SURFACE_BOUNDS, Porcelain, SurfaceKind, render_porcelain
from holdfast.present.preview import preview

TEXT = st.text(st.characters(), max_size=60)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXT,
    lambda inner: st.lists(inner, max_size=8) | st.dictionaries(TEXT, inner, max_size=8),
    max_leaves=40,
)
BOUNDS = st.builds(Bounds, st.integers(2, 30), st.integers(40, 200))


@given(JSON, BOUNDS)
def test_any_value_stays_within_its_lines_and_width(value: Any, bounds: Bounds) -> None:
    text = render_porcelain(value, bounds)
    lines = text.splitlines()
    assert text.encode()
    assert text
    assert len(lines) <= bounds.lines
    assert all(len(line) <= bounds.width for line in lines)


@given(JSON)
def test_the_same_value_gives_the_same_text(value: Any) -> None:
    assert render_porcelain(value) == render_porcelain(copy.deepcopy(value))


@given(JSON, st.integers(3, 200))
def test_a_preview_is_one_line_within_its_limit(value: Any, limit: int) -> None:
    text = preview(value, limit)
    assert len(text) <= limit
    assert len(text.splitlines()) <= 1


@pytest.mark.parametrize(
    "value",
    [
        "x" * 5_000_000,
        list(range(300_000)),
        {str(number): number for number in range(50_000)},
        10**6000,
        "\x1b[2J\u202e\x00" * 50,
        {"k" * 1000: "v" * 1000},
        {"": "", " ": {"": [[[[[[1]]]]]]}},
        object(),
    ],
    ids=["long", "wide list", "wide object", "huge number", "control", "long key", "odd keys", "no json"],
)
def test_hostile_values_stay_within_the_default_bounds(value: Any) -> None:
    lines = render_porcelain(value).splitlines()
    assert len(lines) <= DEFAULT_BOUNDS.lines
    assert all(len(line) <= DEFAULT_BOUNDS.width for line in lines)


def test_deep_nesting_is_collapsed_and_does_not_end_in_a_recursion_error() -> None:
    deep: Any = 1
    for _ in range(100_000):
        deep = [deep]
    assert render_porcelain(deep) == "1 item(s)\n[1] [[[[[…]]]]]"


def test_an_object_is_one_line_per_key_in_the_payloads_order() -> None:
    payload = {"zebra": 1, "apple": "two", "odd key": None, "list": [1, 2], "flag": True}
    assert render_porcelain(payload).split("\n") == [
        "zebra: 1",
        'apple: "two"',
        '"odd key": null',
        "list: [1, 2]",
        "flag: true",
    ]


def test_a_list_begins_with_its_size() -> None:
    assert render_porcelain([{"a": 1}, "b"]) == '2 item(s)\n[1] {a=1}\n[2] "b"'


def test_members_that_do_not_fit_are_opened_as_far_as_lines_are_left() -> None:
    hits = [{"path": f"src/file_{number}.py", "line": number} for number in range(9)]
    lines = render_porcelain({"total": 9, "hits": hits, "done": True}, Bounds(6, 80)).split("\n")
    assert lines == [
        "total: 9",
        "hits: 9 item(s)",
        '  [1] {path="src/file_0.py", line=0}',
        '  [2] {path="src/file_1.py", line=1}',
        "  … 7 item(s) omitted",
        "done: true",
    ]


def test_too_many_keys_are_counted_in_the_last_line() -> None:
    lines = render_porcelain(dict.fromkeys("abcdefgh", 1), Bounds(3, 40)).split("\n")
    assert lines == ["a: 1", "b: 1", "… 6 line(s) omitted"]


@pytest.mark.parametrize(
    ("value", "text"),
    [({}, "empty object"), ([], "0 item(s)"), ("", "empty text"), (None, "null"), (False, "false"), (1.5, "1.5")],
)
def test_small_values_have_their_words(value: Any, text: str) -> None:
    assert render_porcelain(value) == text


def test_text_is_its_own_lines() -> None:
    assert render_porcelain("one\ntwo\x1b[0m") == "one\ntwo\\u001b[0m"


def test_every_surface_gives_more_room_in_full_detail() -> None:
    assert set(SURFACE_BOUNDS) == set(SurfaceKind)
    for concise, full in SURFACE_BOUNDS.values():
        assert concise.lines < full.lines
        assert concise.width < full.width


def test_an_author_builds_porcelain_from_parts() -> None:
    built = Porcelain("2 hits\nin 1 file").field("query", "ab").field("took", 1.5).section("Hits")
    built.items(["first", {"line": 2}]).table(("file", "line"), [("a|b", 1)]).note("index is old").note(
        "index is old"
    )
    assert built.text().split("\n") == [
        "2 hits in 1 file",
        "query: ab",
        "took: 1.5",
        "Hits:",
        "- first",
        "- {line=2}",
        "file | line",
        "-----|-----",
        "a\\|b | 1",
        "note: index is old",
    ]


@given(st.lists(TEXT, max_size=40), st.lists(TEXT, max_size=12), BOUNDS)
def test_built_porcelain_is_bounded_and_keeps_its_summary(
    items: list[str], notes: list[str], bounds: Bounds
) -> None:
    built = Porcelain("summary", notes=notes).items(items).field("f", items)
    lines = built.text(bounds).splitlines()
    assert lines[0] == "summary"
    assert len(lines) <= bounds.lines
    assert all(len(line) <= bounds.width for line in lines)


def test_parts_in_the_middle_are_cut_before_the_notes() -> None:
    text = Porcelain("top").items(range(19)).note("end").text(Bounds(4, 40))
    assert text.split("\n") == ["top", "- 0", "… 18 line(s) omitted", "note: end"]
