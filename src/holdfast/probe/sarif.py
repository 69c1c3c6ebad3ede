"""The report of a run as SARIF 2.1.0, which code-scanning services and editors read.

A rule per check, a result per finding: failures by their weight, passes and skips as such. A failure points at the
file of the server where the target is one.
"""

from typing import Any

from holdfast.probe.model import Finding, Report
from holdfast.version import __version__

__all__ = ["sarif_document"]

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
LEVELS = {1: "note", 2: "warning", 3: "error"}
KINDS = {"pass": "pass", "skip": "notApplicable", "fail": "fail"}


def sarif_document(report: Report, file: str = "") -> dict[str, Any]:
    """The log of one run; `file` is the server's file, relative to the working directory, if it has one."""
    rules = [finding.check for finding in report.findings]
    driver = {
        "name": "holdfast-probe",
        "version": __version__,
        "rules": [
            {
                "id": rule.id,
                "shortDescription": {"text": rule.title},
                "fullDescription": {"text": rule.why},
                "help": {"text": rule.how},
                "defaultConfiguration": {"level": LEVELS[rule.weight]},
                "properties": {"group": rule.group, "weight": rule.weight},
            }
            for rule in rules
        ],
    }
    results = [_result(index, finding, report, file) for index, finding in enumerate(report.findings)]
    run = {
        "tool": {"driver": driver},
        "results": results,
        "invocations": [{"executionSuccessful": True}],
        "columnKind": "unicodeCodePoints",
        "properties": {"target": report.target, "transport": report.transport, "server": dict(report.server)},
    }
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _result(index: int, finding: Finding, report: Report, file: str) -> dict[str, Any]:
    failed = finding.status == "fail"
    location: dict[str, Any] = {"logicalLocations": [{"fullyQualifiedName": report.target, "kind": "module"}]}
    if file:
        location["physicalLocation"] = {"artifactLocation": {"uri": file}, "region": {"startLine": 1}}
    return {
        "ruleId": finding.check.id,
        "ruleIndex": index,
        "kind": KINDS[finding.status],
        "level": LEVELS[finding.check.weight] if failed else "none",
        "message": {"text": finding.message or finding.check.title},
        "locations": [location],
        "partialFingerprints": {"probeCheck/v1": f"{report.target}:{finding.check.id}"},
        "properties": {
            "durationMs": round(finding.seconds * 1000),
            "remedy": finding.remedy,
            "exchange": [f"{line.mark} {line.text}" for line in finding.exchange],
        },
    }
