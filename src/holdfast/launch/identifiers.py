"""Names that are made, not given: of runs, traces, spans and of requests that must not happen twice."""

import hashlib
import re
import uuid
from datetime import UTC, datetime

__all__ = ["is_run_id", "key_problem", "request_key", "run_id", "span_id", "stamp", "trace_id", "work_item_id"]

_RUN_ID = re.compile(r"[a-zA-Z0-9_-]{8,64}")
_LONGEST_KEY = 200
_NAMESPACE = uuid.UUID("6f2f7a52-5d0e-5f5e-9a53-0f1f4e1d8a11")


def run_id(now: datetime, suffix: str) -> str:
    """`r_2026-01-21T10-00-00Z_<suffix>`; the suffix is hexadecimal."""
    made = f"r_{now.astimezone(UTC):%Y-%m-%dT%H-%M-%SZ}_{suffix[:8]}"
    assert is_run_id(made)
    return made


def is_run_id(text: object) -> bool:
    """Whether this could be the id of a run."""
    return isinstance(text, str) and _RUN_ID.fullmatch(text) is not None


def key_problem(key: str) -> str:
    """Why this cannot be the key under which a run is started once; empty where it can."""
    if not 0 < len(key) <= _LONGEST_KEY:
        return f"an idempotency_key has 1 to {_LONGEST_KEY} characters"
    is_text = not any("\ud800" <= letter <= "\udfff" for letter in key)
    return "" if is_text else "an idempotency_key holds no half of a character"


def stamp(now: datetime) -> str:
    """A moment as artifacts and events write it: UTC, microseconds, Z."""
    return f"{now.astimezone(UTC):%Y-%m-%dT%H:%M:%S.%f}Z"


def trace_id(run: str) -> str:
    """The one W3C trace of a run."""
    return _hex(f"trace:{run}", 32)


def span_id(*what: str) -> str:
    """A W3C span id that the same work always has."""
    return _hex("span:" + "\0".join(what), 16)


def work_item_id(run: str, worker: str, attempt: int, scope: str) -> str:
    """What one piece of work is called in events and in the store."""
    return f"{run}:{worker}:{attempt}:{scope}"


def request_key(*what: str) -> str:
    """A UUID that the same request always has, so that repeating it does nothing."""
    return str(uuid.uuid5(_NAMESPACE, "\0".join(what)))


def _hex(text: str, length: int) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:length]
