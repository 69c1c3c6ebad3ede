"""A change that somebody accepted although its rule says no: which, why, and until when.

A person names changes, with `*` where several are alike. What is kept is one waiver for each change that was
there, with the digest of what it led to: another change at the same place later is not accepted by it.
"""

import datetime as dt
import fnmatch
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from holdfast.contract.compare.changes import Change
from holdfast.contract.compare.contents import content_digest
from holdfast.contract.compare.reading import UnreadableError
from holdfast.contract.compare.rules import RULES
from holdfast.contract.compare.view import SurfaceView
from holdfast.errors import ContractError

__all__ = ["MAX_DAYS", "Acceptance", "Waiver", "accepted", "read_waiver", "waivers_for"]

MAX_DAYS = 366  # an exception that nobody looks at for longer is a rule
_FORM = 'such as --accept tool.removed@lookup --reason "nobody calls it" --until DATE'
_COPY = "copy RULE@PATH from what `check` prints"
_MAX_REASON = 1000


@dataclass(frozen=True, slots=True)
class Waiver:
    """One accepted change and the content that it led to; it counts up to and including `until`."""

    rule: str
    path: str
    reason: str
    until: dt.date
    digest: str

    def counts(self, today: dt.date) -> bool:
        """Whether it has not run out."""
        return today <= self.until

    def names(self, change: Change) -> bool:
        """Whether it is about a change of this kind at this place, whatever the change led to."""
        return (self.rule, self.path) == (change.rule, f"{change.tool}{change.path}")

    def to_json(self) -> dict[str, str]:
        """The waiver as it stands in a lock."""
        return {
            "rule": self.rule,
            "path": self.path,
            "reason": self.reason,
            "until": self.until.isoformat(),
            "digest": self.digest,
        }


@dataclass(frozen=True, slots=True)
class Acceptance:
    """What a person typed: rule and path may end in `*`, but neither may begin with it."""

    rule: str
    path: str
    reason: str
    until: dt.date

    def covers(self, change: Change) -> bool:
        """Whether it is about this change; what is wrong whatever the version is has to be named exactly."""
        place = f"{change.tool}{change.path}"
        if change.violation:
            return (self.rule, self.path) == (change.rule, place)
        is_place = self.path == place or fnmatch.fnmatchcase(place, self.path)  # a name may hold a bracket
        return is_place and fnmatch.fnmatchcase(change.rule, self.rule)


def accepted(address: str, reason: str, until: str, today: dt.date, known: Iterable[str] = ()) -> Acceptance:
    """What a person accepts: RULE@PATH, a reason and a date; `known` are rules beside those of tools."""
    rule, at, path = address.partition("@")
    if not at or not rule:
        raise ContractError(f"{address!r} is not RULE@PATH", remedy=_FORM)
    if any(mark in rule.partition(".")[0] for mark in "*?[") or path.removeprefix("/")[:1] in {"*", "?"}:
        raise ContractError(f"{address!r} would accept everything", remedy=_COPY)
    if not fnmatch.filter([*RULES, *known], rule):
        raise ContractError(f"there is no rule {rule!r}", remedy=_COPY)
    words = " ".join(reason.split())
    if not words or len(words) > _MAX_REASON:
        raise ContractError(f"a waiver needs a reason of up to {_MAX_REASON} characters", remedy=_FORM)
    return Acceptance(rule, path, words, _day(until, today))


def _day(until: str, today: dt.date) -> dt.date:
    try:
        day = dt.date.fromisoformat(until)
    except ValueError:
        raise ContractError(f"{until!r} is not a date", remedy=_FORM) from None
    last = today + dt.timedelta(days=MAX_DAYS)
    if day < today:
        raise ContractError(f"{until} is over", remedy=f"--until takes a day up to {last}")
    if day > last:
        raise ContractError(f"{until} is more than a year away", remedy=f"--until takes a day up to {last}")
    return day


def waivers_for(acceptances: Iterable[Acceptance], changes: Iterable[Change], new: SurfaceView) -> list[Waiver]:
    """One waiver for each change that is accepted; an acceptance of nothing is a slip, and told."""
    found: dict[tuple[str, str], Waiver] = {}
    every = list(changes)
    for acceptance in acceptances:
        covered = [change for change in every if acceptance.covers(change)]
        if not covered:
            raise ContractError(
                f"nothing that changed is {acceptance.rule}@{acceptance.path}",
                remedy=_COPY,
            )
        for change in covered:
            path, digest = f"{change.tool}{change.path}", content_digest(change, new)
            found[change.rule, path] = Waiver(change.rule, path, acceptance.reason, acceptance.until, digest)
    return list(found.values())


def read_waiver(value: Any, source: str) -> Waiver:
    """A waiver from a lock."""
    try:
        day = dt.date.fromisoformat(value["until"])
        words = [value[key] for key in ("rule", "path", "reason", "digest")]
        if not all(isinstance(word, str) for word in words):
            raise TypeError
    except (TypeError, KeyError, ValueError) as error:
        raise UnreadableError(
            f"{source} holds a waiver that cannot be read", remedy="write the lock again"
        ) from error
    return Waiver(words[0], words[1], words[2], day, words[3])
