"""Pages: every row exactly once, whatever the rows, the surface and the detail."""

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.errors import ContractError
from holdfast.present.bounds import Bounds
from holdfast.present.paging import Paging, declared_paging, paged_schema, porcelain_page, with_rows
from holdfast.present.payload_cap import cap_of
from holdfast.present.porcelain import SURFACE_BOUNDS, SurfaceKind

ROWS = st.lists(
    st.integers()
    | st.text(max_size=10)
    | st.sampled_from(["😀" * 300, "语" * 300, "a\nb", "w " * 300])
    | st.dictionaries(st.text(max_size=5), st.integers(), max_size=4),
    max_size=120,
)
BOUNDS = st.sampled_from([bounds for both in SURFACE_BOUNDS.values() for bounds in both])
LIST = {"type": "array", "items": {"type": "integer"}}


def all_pages(payload: dict[str, Any], bounds: Bounds) -> list[tuple[str, int]]:
    pages: list[tuple[str, int]] = []
    first = 0
    while True:
        text, count = porcelain_page(payload, "rows", first, bounds, lambda row: f"{row:032}")
        pages.append((text, count))
        first += count
        if first >= len(payload["rows"]):
            return pages
        assert count > 0


@given(ROWS, st.dictionaries(st.text(min_size=1, max_size=8), st.text(max_size=200), max_size=30), BOUNDS)
def test_every_row_is_on_exactly_one_page_and_every_page_within_bounds(
    rows: list[Any], others: dict[str, str], bounds: Bounds
) -> None:
    pages = all_pages({**others, "rows": rows}, bounds)
    shown = [int(number) for text, _ in pages for number in re.findall(r"^\[(\d+)\] ", text, re.MULTILINE)]
    assert shown == list(range(1, len(rows) + 1))
    for text, _ in pages:
        lines = text.split("\n")
        assert len(lines) <= bounds.lines
        assert max(map(len, lines)) <= bounds.width
        assert cap_of(bounds).holds(text)


@given(ROWS, BOUNDS)
def test_the_marker_counts_the_rows_that_are_left_and_says_where_they_begin(
    rows: list[Any], bounds: Bounds
) -> None:
    given_so_far = 0
    for text, count in all_pages({"rows": rows}, bounds):
        given_so_far += count
        marker = re.search(r"… (\d+) row\(s\) omitted; continue with cursor=(\d+)$", text)
        left = len(rows) - given_so_far
        assert (marker is None) if left == 0 else (marker is not None)
        if marker is not None:
            assert (int(marker[1]), int(marker[2])) == (left, given_so_far)


def test_a_short_list_is_one_page_without_a_marker() -> None:
    bounds = SURFACE_BOUNDS[SurfaceKind.LIST].concise
    page = porcelain_page({"day": "today", "rows": [1, 2]}, "rows", 0, bounds, str)
    assert page.text == 'day: "today"\nrows: 2 item(s)\n[1] 1\n[2] 2'


def test_an_empty_list_is_one_page() -> None:
    page = porcelain_page({"rows": []}, "rows", 0, SURFACE_BOUNDS[SurfaceKind.LIST].concise, str)
    assert (page.text, page.rows) == ("rows: 0 item(s)", 0)


def test_fewer_rows_can_be_wanted_than_fit() -> None:
    bounds = SURFACE_BOUNDS[SurfaceKind.LIST].concise
    page = porcelain_page({"rows": list(range(10))}, "rows", 2, bounds, str, most=3)
    assert page.rows == 3
    assert page.text.endswith("… 5 row(s) omitted; continue with cursor=5")


def test_the_data_of_a_page_holds_its_rows_and_the_cursor_if_there_is_one() -> None:
    payload = {"rows": [1, 2, 3], "day": "today"}
    assert with_rows(payload, "rows", 1, 1, "c") == {"rows": [2], "day": "today", "next_cursor": "c"}
    assert with_rows(payload, "rows", 2, 5, None) == {"rows": [3], "day": "today"}


@pytest.mark.parametrize(
    ("given_pages", "paging"),
    [(False, None), (True, Paging()), ("rows", Paging("rows")), (Paging("a", 5), Paging("a", 5))],
)
def test_pages_are_declared_in_a_word(given_pages: object, paging: Paging | None) -> None:
    assert declared_paging(given_pages) == paging


@pytest.mark.parametrize("wrong", [1, 0.5, ["rows"]])
def test_a_wrong_declaration_of_pages_is_refused(wrong: object) -> None:
    with pytest.raises(ContractError, match="pages"):
        declared_paging(wrong)


@pytest.mark.parametrize("rows", [0, -1, 10_001, True, 1.5])
def test_a_page_of_json_has_a_sensible_number_of_rows(rows: Any) -> None:
    with pytest.raises(ContractError, match="json_rows"):
        Paging("rows", rows)


def test_the_only_list_of_an_answer_is_found_behind_a_reference() -> None:
    schema = {"$ref": "#/$defs/Day", "$defs": {"Day": {"type": "object", "properties": {"rows": LIST}}}}
    paged, field = paged_schema(schema, Paging())
    assert field == "rows"
    assert set(paged["properties"]) == {"rows", "next_cursor"}
    assert "$ref" not in paged


@pytest.mark.parametrize(
    ("schema", "paging", "reason"),
    [
        (LIST, Paging(), "0 lists"),
        ({"properties": {"a": LIST, "b": LIST}}, Paging(), "2 lists"),
        ({"properties": {"a": LIST}}, Paging("b"), "no list"),
        ({"properties": {"a": {"type": "string"}}}, Paging("a"), "no list"),
        ({"properties": {"a": LIST, "next_cursor": {}}}, Paging(), "of its own"),
        ({"properties": {"a": {"anyOf": [LIST, {"type": "null"}]}}}, Paging(), "0 lists"),
    ],
)
def test_an_answer_without_one_list_has_no_pages(schema: dict[str, Any], paging: Paging, reason: str) -> None:
    with pytest.raises(ContractError, match=reason):
        paged_schema(schema, paging)
