"""The bars of the benchmark: a figure that misses one is named, so that the run can fail."""

import pytest
from benchmarks.host_overhead import missed


@pytest.mark.parametrize(
    ("figure", "bar", "is_missed"),
    [(2.0, "<= 2", False), (2.1, "<= 2", True), (5.0, ">= 5", False), (4.9, ">= 5", True), (50.0, "< 50", True)],
)
def test_a_figure_on_the_wrong_side_of_its_bar_is_missed(figure: float, bar: str, is_missed: bool) -> None:
    assert missed({"it": (figure, bar)}) == (["it"] if is_missed else [])
