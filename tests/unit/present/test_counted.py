"""A number stands before the right form of its word."""

import pytest

from holdfast.present.counted import counted


@pytest.mark.parametrize(
    ("number", "told"),
    [(0, "0 files"), (1, "1 file"), (2, "2 files"), (1204, "1,204 files"), (None, "None files"), ("x", "x files")],
)
def test_a_number_is_told_with_what_it_counts(number: object, told: str) -> None:
    assert counted(number, "file") == told
