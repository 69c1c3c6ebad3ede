"""A change that somebody accepted although its rule says no: which, why, and until when."""

import datetime as dt
import fnmatch
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from holdfast.contract.compare.changes import Change
from holdfast.contract.compare.reading import UnreadableError
from holdfast.contract.compare.rules import RULES
from holdfast.errors import ContractError

__all__ = ["Waiver", "accepted", "is_waived", "read_waiver"]

_FORM = 'such as --accept tool.removed@lookup --reason "nobody calls it" --until 2030-01-31'
_MAX_REASON = 1000


@dataclass(frozen=True, slots=True)
class Waiver:
    """One accepted change: rule and path may hold `*`; it counts up to and including `until`."""

    rule: str
    path: str
    reason: str
    until: dt.date

    def counts(self, today: dt.date) -> bool:
        """Whether it has not run out."""
        return today <= self.until

    def matches(self, change: Change) -> bool:
        """Whether it is about this change."""
        place = f"{change.tool}{change.path}"
        is_place = self.path == place or fnmatch.fnmatchcase(place, self.path)  # a name may hold a bracket
        return is_place and fnmatch.fnmatchcase(change.rule, self.rule)

    def to_json(self) -> dict[str, str]:
        """The waiver as it stands in a lock."""
        return {
            "rule": self.rule,
            "path": self.path,
            "reason": self.reason,
            "until": self.until.isoformat(),
        }


def accepted(address: str, reason: str, until: str, known: Iterable[str] = ()) -> Waiver:
    """The waiver that a person types: RULE@PATH, a reason and a date; `known` are rules beside those of tools."""
    rule, at, path = address.partition("@")
    if not at or not rule:
        raise ContractError(f"{address!r} is not RULE@PATH", remedy=_FORM)
    if not fnmatch.filter([*RULES, *known], rule):
        raise ContractError(f"there is no rule {rule!r}", remedy="copy RULE@PATH from what `check` prints")
    words = " ".join(reason.split())
    if not words or len(words) > _MAX_REASON:
        raise ContractError(f"a waiver needs a reason of up to {_MAX_REASON} characters", remedy=_FORM)
    try:
        day = dt.date.fromisoformat(until)
    except ValueError:
        raise ContractError(f"{until!r} is not a date", remedy=_FORM) from None
    return Waiver(rule, path, words, day)


def read_waiver(value: Any, source: str) -> Waiver:
    """A waiver from a lock."""
    try:
        day = dt.date.fromisoformat(value["until"])
        words = [value[key] for key in ("rule", "path", "reason")]
        if not all(isinstance(word, str) for word in words):
            raise TypeError
    except (TypeError, KeyError, ValueError) as error:
        raise UnreadableError(
            f"{source} holds a waiver that cannot be read", remedy="write the lock again"
        ) from error
    return Waiver(words[0], words[1], words[2], day)


def is_waived(change: Change, waivers: Iterable[Waiver], today: dt.date) -> bool:
    """Whether somebody accepted this change, and the acceptance has not run out."""
    return any(waiver.counts(today) and waiver.matches(change) for waiver in waivers)
