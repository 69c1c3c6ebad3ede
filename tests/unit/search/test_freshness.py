"""How many places changed is said as a person would."""

import pytest

from holdfast.search.freshness import counted_places


@pytest.mark.parametrize(
    ("number", "told"),
    [(1, "1 file or directory"), (2, "2 files or directories"), (1204, "1,204 files or directories")],
)
def test_a_number_of_changed_places_agrees_with_what_it_counts(number: int, told: str) -> None:
    assert counted_places(number) == told
