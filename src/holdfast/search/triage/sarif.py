"""Findings in SARIF 2.1.0, the format in which static analysers and scanners of dependencies report.

One result is read by itself; `sarif_log` has put beside it what it leans on.
"""

import re
from typing import Any

from holdfast.search.triage.fields import LINE, MOST_ITEMS, PARAGRAPH, Fields, clean
from holdfast.search.triage.record import (
    Reading,
    asset,
    cvss,
    digest,
    empty_exposure,
    location,
    severity,
    vulnerability,
)
from holdfast.search.triage.sarif_log import fingerprints, path_of
from holdfast.search.triage.sarif_package import package_of_result

__all__ = ["read_sarif_result"]

# By the levels of SARIF, the words that all sources share.
_LEVELS = {"error": "high", "warning": "medium", "note": "low", "none": "informational"}
_CWE = re.compile(r"\bCWE-?0*(\d{1,7})\b", re.IGNORECASE)
_PLACEHOLDER = re.compile(r"\{(\d{1,3})\}")


def read_sarif_result(entry: Fields) -> Reading | None:
    """What a result says; None where it says neither what rule it is of nor what is wrong."""
    result, rule = entry.inner("result"), entry.inner("rule")
    rule_id = result.text("rule_id", "rule.id") or rule.text("id")
    message = _message(result, rule)
    if not result or not (rule_id or message):
        return None
    notes: list[str] = []
    score = cvss(rule.number("properties.security-severity"), None)
    where = next(filter(None, map(_place, result.each("locations"))), None)
    tags = [*rule.texts("properties.tags"), *result.texts("properties.tags")]
    return Reading(
        vuln=vulnerability(
            vuln_id=rule_id,
            title=rule.text("short_description.text", "name") or clean(message or "", LINE) or None,
            description=_description(message, rule),
            level=_severity(result, rule, score, notes),
            score=score,
            cwe=list(dict.fromkeys(f"CWE-{found[1]}" for tag in tags if (found := _CWE.search(tag)))),
            references=[
                address for address in (rule.text("help_uri"), result.text("hosted_viewer_uri")) if address
            ],
        ),
        package=package_of_result(entry, message),
        asset=asset(),
        exposure=empty_exposure(),
        routing={"repo": _repository(entry.text("repository_uri"))},
        key=_key(entry, rule_id, message, where),
        state=_state(result),
        location=where,
        related=[place for one in result.each("related_locations")[:MOST_ITEMS] if (place := _place(one))],
        notes=notes,
    )


def _key(entry: Fields, rule_id: str | None, message: str | None, where: dict[str, Any] | None) -> str:
    """What makes it the same result in the next report: its fingerprints; else rule, place and words."""
    result, who = entry.inner("result"), entry.text("tool.name")
    marks = fingerprints(result)
    if marks:
        # A fingerprint of one line is the same for the same line in two files, and twice in one.
        number = entry.number("occurrence")
        again = [int(number)] if number else []
        return f"sarif:{digest(who, rule_id, where and where['path'], sorted(marks.items()), *again)}"
    guid = result.text("guid", "correlation_guid")
    if guid:
        return f"sarif:{guid}"
    return f"sarif:{digest(who, rule_id, message, where)}"


def _message(result: Fields, rule: Fields) -> str | None:
    """The words of a result; those that its rule keeps for it, with their gaps filled."""
    said = result.text("message.text", "message.markdown", most=PARAGRAPH)
    if said is None:
        name = result.text("message.id") or "default"
        said = rule.inner("message_strings").text(f"{name}.text", most=PARAGRAPH)
    if said is None:
        return None
    given = [clean(str(item)) for item in result.items("message.arguments")]
    return _PLACEHOLDER.sub(lambda gap: given[int(gap[1])] if int(gap[1]) < len(given) else gap[0], said)


def _description(message: str | None, rule: Fields) -> str | None:
    about = rule.text("full_description.text", "help.text", "help.markdown", most=PARAGRAPH)
    return "\n\n".join(part for part in (message, about) if part)[:PARAGRAPH] or None


def _severity(result: Fields, rule: Fields, score: dict[str, Any] | None, notes: list[str]) -> str:
    """As it is said in numbers, else by the level of the result, else by that of its rule."""
    if score is not None and score["score"] is not None:
        return severity(None, score, [])
    word = result.text("level") or rule.text("default_configuration.level") or "warning"
    known = _LEVELS.get(word.lower())
    return known or severity(word, None, notes)


def _state(result: Fields) -> str:
    """Suppressed where somebody has accepted that; else what became of it since the last report."""
    states = [(one.text("status") or "accepted").lower() for one in result.each("suppressions")]
    if "accepted" in states:
        return "suppressed"
    return "fixed" if (result.text("baseline_state") or "").lower() == "absent" else "open"


def _place(written: Fields) -> dict[str, Any] | None:
    physical = written.inner("physical_location")
    region = physical.inner("region")
    path = physical.text("artifact_location.uri")
    if path is None:
        return None
    start = region.number("start_line")
    return location(path_of(path), start, region.number("end_line") or start)


def _repository(address: str | None) -> str | None:
    """`owner/name` of the address of a repository."""
    found = re.search(r"[/:]([^/:\s]+/[^/\s]+?)(?:\.git)?/?$", address or "")
    return found[1] if found else None
