"""Moments as text, in the one form that everybody reads: RFC 3339, in UTC.

A time without an offset is refused, not guessed: it could be any of forty moments.
"""

import re
from datetime import UTC, datetime

__all__ = ["canonical_timestamp"]

_MOMENT = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2})[Tt ]([0-9]{2}:[0-9]{2}:[0-9]{2})(\.[0-9]+)?([Zz]|[+-][0-9]{2}:[0-9]{2})"
)


def canonical_timestamp(text: str) -> str:
    """The moment that `text` names, such as `2026-01-31T08:30:00.25Z`; ValueError where it names none.

    Digits of a fraction are kept, however many there are; zeros at its end are not.
    """
    match = _MOMENT.fullmatch(text)
    if match is None:
        raise ValueError(f"{text[:40]!r} is not an RFC 3339 timestamp with an offset")
    day, time, fraction, offset = match.groups()
    try:
        moment = datetime.fromisoformat(f"{day}T{time}{offset.upper()}").astimezone(UTC)
    except OverflowError:
        raise ValueError(f"{text!r} lies before the year 1 or after the year 9999 in UTC") from None
    digits = (fraction or "").rstrip("0").rstrip(".")
    return f"{moment:%Y-%m-%dT%H:%M:%S}{digits}Z".rjust(20 + len(digits), "0")
