"""How much of what it is sent a client has to read in a time."""

import pytest

from holdfast.api.connection import SLOWEST_READER, reads_too_slowly

MEGABYTE = 1_000_000


@pytest.mark.parametrize(
    ("before", "now", "is_too_slow"),
    [
        (MEGABYTE, MEGABYTE, True),
        (MEGABYTE, MEGABYTE - 1, True),
        (MEGABYTE, MEGABYTE - 30 * SLOWEST_READER + 1, True),
        (MEGABYTE, MEGABYTE - 30 * SLOWEST_READER, False),
        (MEGABYTE, 0, False),
        (100, 1, True),
        (100, 0, False),
    ],
)
def test_a_client_has_to_keep_a_rate_and_to_take_the_rest_as_a_whole(
    before: int, now: int, is_too_slow: bool
) -> None:
    assert reads_too_slowly(before, now, 30.0) is is_too_slow
