"""Tables keep their rules for any cells: one line per row, no bare separator, everything left out counted."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.present.graphemes import display_width
from holdfast.present.table import render_table

CELLS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(), max_size=60)


def test_a_table_has_a_header_a_rule_and_aligned_rows() -> None:
    assert render_table(("name", "size"), [("a.py", 10), ("long_name.py", None)]) == [
        "name         | size",
        "-------------|-----",
        "a.py         | 10",
        "long_name.py | -",
    ]


@given(st.integers(1, 8), st.data())
def test_any_table_is_bounded_and_its_rows_can_be_told_apart(columns: int, data: st.DataObject) -> None:
    rows = data.draw(st.lists(st.lists(CELLS, max_size=columns), max_size=9))
    lines = render_table([f"c{number}" for number in range(columns)], rows, max_rows=5, max_width=60, max_cell=20)
    shown = lines[2 : 2 + min(len(rows), 5)]
    assert len(lines) == 2 + min(len(rows), 5) + (len(rows) > 5)
    assert all(len(line) <= 60 and len(line.splitlines()) == 1 for line in lines)
    cells = len([name for name in lines[0].split(" | ") if name.startswith("c")])
    assert all(len(line.replace("\\\\", "").replace("\\|", "").split("|")) == cells for line in shown)


def test_separators_and_line_breaks_in_cells_are_escaped() -> None:
    assert render_table(("cell",), [("a|b\nc\\d",)])[2] == "a\\|b\\nc\\\\d"


def test_left_out_rows_are_counted_with_the_way_to_get_them() -> None:
    lines = render_table(("n",), ([number] for number in range(9)), max_rows=2, more="ask again with cursor=x2")
    assert lines[-1] == "… 7 row(s) omitted; ask again with cursor=x2"


def test_columns_that_do_not_fit_are_counted_in_the_header() -> None:
    lines = render_table([f"column_{number}" for number in range(9)], [["value"] * 9], max_width=40)
    assert lines[0] == "column_0 | column_1 | column_2 | +6 more"
    assert lines[2] == "value    | value    | value"


def test_a_long_cell_is_cut_and_never_in_the_middle_of_an_escape() -> None:
    assert render_table(("c",), [("ab|||||||",)], max_cell=6)[2] == "ab\\|…"


@pytest.mark.parametrize("value", [[1, {"a": "b|c"}], {"k": None}])
def test_containers_in_cells_are_previews(value: Any) -> None:
    assert len(render_table(("c",), [(value,)])) == 3


def test_a_row_longer_than_the_header_is_an_error() -> None:
    with pytest.raises(ValueError, match="3 cells, the header 2"):
        render_table(("a", "b"), [(1, 2, 3)])


def test_a_table_without_columns_is_an_error() -> None:
    with pytest.raises(ValueError, match="needs a column"):
        render_table((), [])


@pytest.mark.parametrize(
    "names", [("日本語", "a"), ("🚀", "abc"), ("e\u0301e\u0301", "x"), ("日" * 40, "b"), ("x", "日" * 40)]
)
def test_columns_stand_one_below_the_other_on_a_terminal(names: tuple[str, str]) -> None:
    lines = render_table(("name", "n"), [(name, 1) for name in names])

    assert len({display_width(line.split("|")[0]) for line in (lines[0], *lines[2:])}) == 1
    assert all(len(line) <= 120 for line in lines)


def test_a_first_column_of_wide_characters_leaves_no_line_too_long() -> None:
    lines = render_table(("name", "n"), [("日" * 200, 1), ("a", 1)], max_cell=200)

    assert all(len(line) <= 120 for line in lines)
