"""How long a forge wants to be left alone: what it documents, and whatever else a header may hold."""

import math
from email.utils import formatdate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.launch.publishing.forge_limits import limit_seconds, moment_after, spent_seconds

NOW = 1_800_000_000.0
SPENT = {"x-ratelimit-remaining": "0", "x-ratelimit-reset": str(int(NOW) + 90)}

ASKED = [
    (403, {"retry-after": "30"}, "", 30.0),
    (429, {"retry-after": " 7 "}, "", 7.0),
    (429, {"retry-after": formatdate(NOW + 12, usegmt=True)}, "", 12.0),
    (403, SPENT, "API rate limit exceeded for user ID 1.", 90.0),
    (403, SPENT | {"retry-after": "5"}, "", 5.0),
    (403, SPENT | {"date": formatdate(NOW + 60, usegmt=True)}, "", 30.0),  # our clock is a minute late
    (403, {"x-ratelimit-remaining": "0"}, "", 60.0),
    (403, {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "1"}, "", 0.0),
    (403, {}, "You have exceeded a secondary rate limit", 60.0),
    (403, {"x-ratelimit-remaining": "4000"}, "You have triggered an abuse detection mechanism.", 60.0),
    (429, {}, "", 60.0),
    (429, {"retry-after": "soon"}, "", 60.0),
    (403, {"x-ratelimit-remaining": "4000"}, "Resource not accessible by integration", None),
    (200, SPENT, "", None),
    (503, {"retry-after": "30"}, "", None),
]


@pytest.mark.parametrize(("status", "headers", "message", "seconds"), ASKED)
def test_a_limit_says_how_long(status: int, headers: dict[str, str], message: str, seconds: float | None) -> None:
    assert limit_seconds(status, headers, message, NOW) == seconds


def test_the_last_request_of_an_hour_is_known_as_such() -> None:
    assert spent_seconds(SPENT, NOW) == 90.0
    assert spent_seconds({"x-ratelimit-remaining": "1", "x-ratelimit-reset": "9"}, NOW) is None
    assert spent_seconds({}, NOW) is None
    assert moment_after(90.0, NOW) == "2027-01-15T08:01:30Z"


VALUES = st.text(max_size=20) | st.integers().map(str) | st.floats().map(str) | st.just("0")
HEADERS = st.dictionaries(
    st.sampled_from(["retry-after", "x-ratelimit-remaining", "x-ratelimit-reset", "date"]), VALUES
)


@given(st.sampled_from([200, 403, 429]), HEADERS, st.text(max_size=40))
def test_whatever_headers_hold_the_time_is_none_or_bounded(
    status: int, headers: dict[str, str], message: str
) -> None:
    seconds = limit_seconds(status, headers, message, NOW)
    assert seconds is None or (math.isfinite(seconds) and 0 <= seconds <= 86400)
