"""How long a forge wants us to wait, from what it answered: limits per hour, and those for haste. Pure.

GitHub says 403 or 429 with `retry-after`, or with `x-ratelimit-remaining: 0` and the moment of
`x-ratelimit-reset`, or only in words; then a minute is the least. Gitea, and proxies before it, say 429.
"""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

__all__ = ["UNTOLD_SECONDS", "limit_seconds", "moment_after", "spent_seconds"]

UNTOLD_SECONDS = 60.0
"""How long to wait where nobody says how long."""

_LONGEST = 86400.0
_LIMITING = frozenset({403, 429})
_TOO_MANY = 429
_WORDS = re.compile(r"rate limit|abuse detection|too many requests", re.IGNORECASE)
_NUMBER = re.compile(r"[0-9]{1,15}(?:\.[0-9]{1,9})?")


def limit_seconds(status: int, headers: Mapping[str, str], message: str, now: float) -> float | None:
    """How long to wait after this refusal (`now` as of `time.time`); None where it is no limit that was met."""
    if status not in _LIMITING:
        return None
    asked = _after(headers.get("retry-after", ""), now)
    if asked is not None:
        return asked
    spent = spent_seconds(headers, now)
    if spent is not None:
        return spent
    return UNTOLD_SECONDS if status == _TOO_MANY or _WORDS.search(message) else None


def spent_seconds(headers: Mapping[str, str], now: float) -> float | None:
    """How long nothing may be asked any more after this answer, for it was the last; None where more may be."""
    if headers.get("x-ratelimit-remaining", "").strip() != "0":
        return None
    reset = headers.get("x-ratelimit-reset", "").strip()
    if not _NUMBER.fullmatch(reset):
        return UNTOLD_SECONDS
    # By the forge's own clock, where it tells it: ours may be wrong.
    return _bounded(float(reset) - (_moment(headers.get("date", "")) or now))


def _after(text: str, now: float) -> float | None:
    text = text.strip()
    if _NUMBER.fullmatch(text):
        return _bounded(float(text))
    moment = _moment(text)
    return None if moment is None else _bounded(moment - now)


def _moment(text: str) -> float | None:
    try:
        moment = parsedate_to_datetime(text)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def _bounded(seconds: float) -> float:
    return min(max(seconds, 0.0), _LONGEST)


def moment_after(seconds: float, now: float) -> str:
    """The moment so many seconds after `now`, as people and programs read it."""
    return datetime.fromtimestamp(now + seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
