"""The findings on record, with what was decided about each: the newest decision counts, until it expires."""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from holdfast.search.repository import Repository
from holdfast.search.triage.record import by_time, now
from holdfast.search.triage.record_files import RecordFiles

__all__ = ["list_findings"]

UNDECIDED, EXPIRED = "undecided", "expired"
_WORST_FIRST = ("critical", "high", "medium", "low", "informational", "unknown")


def list_findings(
    repository: Repository, cache_dir: Path, *, status: str | None = None, severity: str | None = None
) -> dict[str, Any]:
    """Every finding in short, the worst first. `status` is that of the decision, `undecided` or `expired`.

    `decisions` and `severities` count all of them, listed or not.
    """
    files = RecordFiles(repository, cache_dir)
    records = list(files.every())
    newest: dict[str, Mapping[str, Any]] = {}
    for record in sorted(records, key=by_time):
        decision = record.get("decision")
        if isinstance(decision, Mapping):
            newest[str(decision.get("findingRecordId"))] = decision
    findings = [_short(record, newest) for record in records if record["recordType"] == "finding"]
    chosen = [
        one
        for one in findings
        if (status is None or one["decision"] == status) and (severity is None or one["severity"] == severity)
    ]
    chosen.sort(key=lambda one: (_place(one["severity"]), one["vulnId"] or "", one["recordId"]))
    return {
        "repoRoot": repository.shown,
        "recordsDir": str(files.records),
        "total": len(findings),
        "findings": chosen,
        "decisions": _counted(findings, "decision"),
        "severities": _counted(findings, "severity"),
    }


def _short(record: Mapping[str, Any], newest: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    vuln, package, place = (_object(record, name) for name in ("vuln", "package", "location"))
    decision = newest.get(str(record.get("recordId")))
    until = None if decision is None else decision.get("expiresAt")
    is_over = isinstance(until, str) and until < now()[: len(until)]
    return {
        "recordId": record.get("recordId"),
        "source": record.get("source"),
        "repo": record.get("repo"),
        "vulnId": vuln.get("vulnId"),
        "severity": vuln.get("severity") or "unknown",
        "title": vuln.get("title"),
        "package": package.get("name"),
        "path": package.get("manifestPath") or place.get("path"),
        "line": None if package.get("manifestPath") else place.get("startLine"),
        "state": record.get("state"),
        "decision": UNDECIDED if decision is None else EXPIRED if is_over else str(decision.get("status")),
        "expiresAt": until,
    }


def _counted(findings: list[dict[str, Any]], field: str) -> dict[str, int]:
    """How many have each value of a field, by name."""
    return dict(sorted(Counter(one[field] for one in findings).items()))


def _object(record: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = record.get(name)
    return found if isinstance(found, Mapping) else {}


def _place(severity: str) -> int:
    return _WORST_FIRST.index(severity) if severity in _WORST_FIRST else len(_WORST_FIRST)
