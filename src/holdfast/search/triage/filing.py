"""From what a scanner wrote to a record: the one way for every source, with a name, a form and nothing lost."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import orjson

from holdfast.search.repository import Repository
from holdfast.search.triage.dependabot import alerts_of_query, read_alert
from holdfast.search.triage.fields import LINE, Fields
from holdfast.search.triage.generic import read_generic_finding
from holdfast.search.triage.inspector import read_inspector_finding
from holdfast.search.triage.intake import Opener
from holdfast.search.triage.record import ROUTING, Reading, digest, is_safe_name, lasting
from holdfast.search.triage.routing import Additions
from holdfast.search.triage.sarif import read_sarif_result
from holdfast.search.triage.sarif_log import sarif_results

__all__ = ["OPENERS", "SOURCES", "Filing", "UnusableFindingError", "canonical_source"]

SOURCES: dict[str, Callable[[Fields], Reading | None]] = {
    "dependabot": read_alert,
    "aws_inspector": read_inspector_finding,
    "sarif": read_sarif_result,
    "generic": read_generic_finding,
    "manual": read_generic_finding,
}
# Sources whose documents are more than a list.
OPENERS: dict[str, Opener] = {"dependabot": alerts_of_query, "sarif": sarif_results}
_ALIASES = {"aws-inspector": "aws_inspector", "inspector": "aws_inspector", "aws": "aws_inspector"}

_MOST_DEPTH = 64
_LONGEST_RAW = 262_144  # bytes of what the scanner wrote that are kept with the record


class UnusableFindingError(ValueError):
    """An entry that is no finding, with the reason."""


def canonical_source(name: str) -> str | None:
    """The source that is meant by a name; None where there is none."""
    known = _ALIASES.get(name, name)
    return known if known in SOURCES else None


@dataclass(frozen=True, slots=True)
class Filing:
    """Makes records of what one source wrote."""

    source: str
    repository: Repository
    added: Additions

    def record(self, value: Any) -> dict[str, Any]:
        """The record of one entry, its times still open; UnusableFindingError when it is no finding."""
        if not isinstance(value, dict):
            raise UnusableFindingError("it is not an object")
        if _is_deeper(value, _MOST_DEPTH):
            raise UnusableFindingError(f"it is nested deeper than {_MOST_DEPTH} levels")
        entry = Fields(value)
        if (entry.text("record_type") or "finding").lower() != "finding":
            raise UnusableFindingError("its recordType is not finding")
        reading = SOURCES[self.source](entry)
        if reading is None:
            raise UnusableFindingError(f"nothing in it is what a finding of {self.source} has")
        value = value if reading.written is None else reading.written
        try:
            raw = orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
        except (TypeError, ValueError) as error:
            raise UnusableFindingError("it holds something that JSON cannot say") from error
        return self._filed(reading, self._name(reading, value), value, len(raw))

    def _name(self, reading: Reading, value: Any) -> str:
        if reading.name is not None:
            if not is_safe_name(reading.name):
                raise UnusableFindingError(
                    "its recordId is no safe name: letters, digits, '.', '_' and '-', at most 128, no '.' first"
                )
            return reading.name
        key = reading.key
        if key is None:
            reading.notes.append("it has nothing that identifies it: changed in any way, it is another finding")
            key = digest(lasting(value))
        said = reading.routing.get("repo") or self.added.routing.get("repo")
        whose = ["named", said.lower()] if said else ["given", self.repository.repo_id]
        return digest(self.source, whose, key)

    def _filed(self, reading: Reading, name: str, value: Any, raw_bytes: int) -> dict[str, Any]:
        routing = dict.fromkeys(ROUTING) | reading.routing | self.added.routing
        said, given = reading.routing.get("repo"), self.added.routing.get("repo")
        if said:  # the name of the record rests on it, and one list may be about many repositories
            routing["repo"] = said
        if said and given and said.lower() != given.lower():
            reading.notes.append(f"it names the repository {said}, so that of meta was not used")
        if raw_bytes > _LONGEST_RAW:
            reading.notes.append("what the scanner wrote is too long to be kept as a whole")
        record: dict[str, Any] = {
            "recordId": name,
            "recordType": "finding",
            "source": self.source,
            "createdAt": None,  # both are told when it is written
            "updatedAt": None,
            **routing,
            "state": reading.state.lower() if reading.state else None,
            "vuln": reading.vuln,
            "package": reading.package,
            "asset": reading.asset,
            "exposure": reading.exposure | self.added.exposure,
            "location": reading.location,
        }
        record |= {} if not reading.other_packages else {"otherPackages": reading.other_packages}
        record |= {} if not reading.other_assets else {"otherAssets": reading.other_assets}
        record |= {} if not reading.related else {"relatedLocations": reading.related}
        record |= {} if not self.added.other else {"meta": self.added.other}
        record |= {} if not reading.notes else {"parseWarnings": [note[:LINE] for note in reading.notes]}
        return record | ({"raw": value} if raw_bytes <= _LONGEST_RAW else {})


def _is_deeper(value: Any, most: int) -> bool:
    level = [value]
    for _ in range(most):
        below: list[Any] = []
        for one in level:
            children = one.values() if isinstance(one, dict) else one
            below += [child for child in children if isinstance(child, dict | list)]
        if not below:
            return False
        level = below
    return True
