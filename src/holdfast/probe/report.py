"""The report of a run as one JSON document, for programs. Its form has a version of its own."""

from typing import Any

from holdfast.probe.model import Check, Finding, Report, Score, score
from holdfast.version import __version__

__all__ = ["SCHEMA_VERSION", "check_document", "report_document"]

SCHEMA_VERSION = 1


def report_document(report: Report) -> dict[str, Any]:
    """Everything that was found, in the order of the table."""
    return {
        "schemaVersion": SCHEMA_VERSION,
        "tool": {"name": "holdfast probe", "version": __version__},
        "target": report.target,
        "transport": report.transport,
        "server": dict(report.server),
        "ok": report.ok,
        "score": _score(score(report.findings)),
        "groups": {name: _score(value) for name, value in report.groups().items()},
        "checks": [_finding(finding) for finding in report.findings],
        "durationMs": round(report.seconds * 1000),
    }


def check_document(check: Check) -> dict[str, Any]:
    """One check as it is declared."""
    return {
        "id": check.id,
        "group": check.group,
        "title": check.title,
        "why": check.why,
        "how": check.how,
        "weight": check.weight,
        "transports": list(check.transports),
    }


def _score(value: Score) -> dict[str, Any]:
    return {
        "percent": value.percent,
        "passed": value.passed,
        "judged": value.judged,
        "skippedChecks": value.skipped,
    }


def _finding(finding: Finding) -> dict[str, Any]:
    return {
        **check_document(finding.check),
        "verdict": finding.status,
        "message": finding.message,
        "remedy": finding.remedy,
        "durationMs": round(finding.seconds * 1000),
        "exchange": [{"mark": line.mark, "at": line.at, "text": line.text} for line in finding.exchange],
    }
