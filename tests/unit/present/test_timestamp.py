"""Timestamps: one moment, one text."""

from datetime import datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.present.timestamp import canonical_timestamp


@pytest.mark.parametrize(
    ("given_text", "canonical"),
    [
        ("2026-01-31T08:30:00Z", "2026-01-31T08:30:00Z"),
        ("2026-01-31t08:30:00z", "2026-01-31T08:30:00Z"),
        ("2026-01-31 10:30:00+02:00", "2026-01-31T08:30:00Z"),
        ("2026-01-01T00:30:00.250+01:00", "2025-12-31T23:30:00.25Z"),
        ("2026-01-31T08:30:00.000Z", "2026-01-31T08:30:00Z"),
        ("2026-01-31T08:30:00.123456789Z", "2026-01-31T08:30:00.123456789Z"),
        ("0099-01-31T08:30:00Z", "0099-01-31T08:30:00Z"),
    ],
)
def test_a_moment_is_written_in_utc_and_loses_nothing(given_text: str, canonical: str) -> None:
    assert canonical_timestamp(given_text) == canonical


@pytest.mark.parametrize(
    "text",
    [
        "",
        "yesterday",
        "2026-01-31",
        "2026-01-31T08:30:00",
        "2026-02-30T08:30:00Z",
        "2026-01-31T25:30:00Z",
        "2026-01-31T08:30:00+99:00",
        "٢٠٢٦-01-31T08:30:00Z",
        "2026-01-31T08:30:00Z\n",
        "0001-01-01T00:00:00+01:00",
        "9999-12-31T23:59:59-01:00",
    ],
)
def test_what_names_no_moment_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"RFC 3339|year|month|day|hour|offset|timezone|isoformat|timedelta"):
        canonical_timestamp(text)


@given(
    st.datetimes(datetime.fromisoformat("0001-01-03"), datetime.fromisoformat("9999-12-29")),
    st.integers(min_value=-23 * 60, max_value=23 * 60),
)
def test_every_spelling_of_a_moment_has_one_canonical_form(moment: datetime, minutes: int) -> None:
    aware = moment.replace(tzinfo=timezone(timedelta(minutes=minutes)))
    canonical = canonical_timestamp(aware.isoformat())
    assert datetime.fromisoformat(canonical) == aware
    assert canonical_timestamp(canonical) == canonical
