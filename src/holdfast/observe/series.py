"""The figures of one method or one tool: how its requests ended, how long they took, what went wrong last.

Seven counts tell how requests ended. `request_count` is not kept: it is what has ended and what is under way.
"""

from typing import Any

from holdfast.observe.histogram import Histogram
from holdfast.vocabulary.events import CallEnded

__all__ = ["COUNTS", "OUTCOMES", "RECOVERY_CODES", "Series"]

COUNTS = (
    "request_count",
    "success_count",
    "error_count",
    "response_error_count",  # of these, what the worker itself answered
    "recovery_error_count",  # and what the loss of the worker made of it
    "recovery_fault_count",
    "retry_count",
)
OUTCOMES = ("ok", "error", "cancelled", "timeout", "rejected")
# A request that ends with one of these was lost with its worker, and could not be had again.
RECOVERY_CODES = frozenset({"AMBIGUOUS_OUTCOME", "REPLAY_EXHAUSTED", "ROLLOUT_DISRUPTED", "WORKER_LOST"})
_LONGEST_MESSAGE = 200
_HIGHEST = 2**63


class Series:
    """What is known about all requests of one name."""

    __slots__ = ("_failure", "last_ms", "outcomes", "recovery_errors", "recovery_faults", "response_errors",
                 "retries", "times")  # fmt: skip

    def __init__(self) -> None:
        self.outcomes = dict.fromkeys(OUTCOMES, 0)
        self.response_errors = 0
        self.recovery_errors = 0
        self.recovery_faults = 0
        self.retries = 0
        self.times = Histogram()
        self.last_ms: float | None = None
        self._failure: tuple[str | None, str | None, str | None] | None = None

    def add(self, event: CallEnded) -> None:
        """Count one request that has ended."""
        attempts = event.attempts or 0
        if attempts > 1:
            self.recovery_faults += attempts - 1
        outcome = event.outcome
        if outcome == "ok":
            self.outcomes["ok"] += 1
        else:
            self.outcomes[outcome if outcome in self.outcomes else "error"] += 1
            if self._add_error(event) or not attempts:
                return  # it took no time that says anything about its kind
        self.last_ms = event.duration_ms
        self.times.add(event.duration_ms / 1000)

    def _add_error(self, event: CallEnded) -> bool:
        """Count a failure; whether its worker was lost."""
        self._failure = (event.code, event.fault_class, event.message)
        if event.ended_by == "worker":
            self.response_errors += 1
        elif event.code in RECOVERY_CODES:
            self.recovery_errors += 1
            self.recovery_faults += 1
            return True
        return False

    @property
    def last_error(self) -> dict[str, str] | None:
        """What went wrong last: its code, class and message, as far as they are known."""
        if self._failure is None:
            return None
        told = zip(("code", "class", "message"), self._failure, strict=True)
        return {name: text[:_LONGEST_MESSAGE] for name, text in told if text}

    @property
    def errors(self) -> int:
        """How many did not end well."""
        return sum(self.outcomes.values()) - self.outcomes["ok"]

    def counts(self, in_flight: int) -> dict[str, int]:
        """The seven counts."""
        ended = sum(self.outcomes.values())
        well = self.outcomes["ok"]
        figures = (
            ended + in_flight,
            well,
            ended - well,
            self.response_errors,
            self.recovery_errors,
            self.recovery_faults,
            self.retries,
        )
        return dict(zip(COUNTS, figures, strict=True))

    def latency(self) -> dict[str, int | None]:
        """The last, the longest and the mean time, in whole milliseconds."""
        count = self.times.count
        return {
            "last_latency_ms": None if self.last_ms is None else int(self.last_ms),
            "max_latency_ms": int(self.times.longest * 1000),
            "avg_latency_ms": int(self.times.total * 1000 / count) if count else 0,
        }

    def to_json(self) -> dict[str, Any]:
        """Everything, so that another process can go on counting."""
        return {
            "outcomes": dict(self.outcomes),
            "response_errors": self.response_errors,
            "recovery_errors": self.recovery_errors,
            "recovery_faults": self.recovery_faults,
            "retries": self.retries,
            "buckets": list(self.times.counts),
            "seconds": self.times.total,
            "longest": self.times.longest,
            "last_ms": self.last_ms,
            "last_error": self.last_error,
        }

    @classmethod
    def from_json(cls, document: Any) -> "Series":
        """The same again; ValueError where it is not what `to_json` gave."""
        given = _object(document, cls().to_json().keys())
        made = cls()
        outcomes = _object(given["outcomes"], OUTCOMES)
        made.outcomes = {name: _count(outcomes[name]) for name in OUTCOMES}
        for name in ("response_errors", "recovery_errors", "recovery_faults", "retries"):
            setattr(made, name, _count(given[name]))
        buckets = given["buckets"]
        if not isinstance(buckets, list) or len(buckets) != len(made.times.counts):
            raise ValueError("a histogram has other buckets")
        made.times.counts = [_count(bucket) for bucket in buckets]
        made.times.total = _time(given["seconds"])
        made.times.longest = _time(given["longest"])
        made.last_ms = None if given["last_ms"] is None else _time(given["last_ms"])
        made._failure = _failure(given["last_error"])
        return made


def _object(value: Any, keys: Any) -> dict[str, Any]:
    if not isinstance(value, dict) or value.keys() != set(keys):
        raise ValueError("a series has other fields")
    return value


def _count(value: Any) -> int:
    if type(value) is not int or not 0 <= value < _HIGHEST:
        raise ValueError("a count is no count")
    return value


def _time(value: Any) -> float:
    if type(value) not in (int, float) or not 0 <= value < _HIGHEST:  # NaN is neither
        raise ValueError("a time is no time")
    return float(value)


def _failure(value: Any) -> tuple[str | None, str | None, str | None] | None:
    if value is None:
        return None
    if not isinstance(value, dict) or not value.keys() <= {"code", "class", "message"}:
        raise ValueError("an error has other fields")
    if any(not isinstance(text, str) or len(text) > _LONGEST_MESSAGE for text in value.values()):
        raise ValueError("an error has other fields")
    return value.get("code"), value.get("class"), value.get("message")
