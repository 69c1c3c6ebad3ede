"""Findings of any other origin: whatever names they use for the usual things, and those written by hand.

A finding may be flat (`packageName`, `severity`) or nested as our own records are (`package.name`,
`vuln.severity`), so a record that was exported can be read again.
"""

from typing import Any

from holdfast.search.triage.fields import LINE, PARAGRAPH, Fields, as_text
from holdfast.search.triage.purl import purl_parts
from holdfast.search.triage.record import (
    ROUTING,
    Reading,
    asset,
    cvss,
    empty_exposure,
    location,
    package,
    severity,
    vulnerability,
)

__all__ = ["exposure_of", "read_generic_finding"]

_NAMES = ("vuln_id", "vulnerability_id", "cve", "cve_id", "ghsa_id", "rule_id", "check_id", "test_id")


def read_generic_finding(entry: Fields) -> Reading | None:
    """What a finding says; nearly anything is one, as long as it has fields."""
    if not entry:
        return None
    notes: list[str] = []
    found = _package(entry)
    on = _asset(entry)
    vuln = _vulnerability(entry, notes)
    stable = entry.text("stable_key", "finding_id", "id", "uid")
    about = (vuln["vulnId"], found["name"], on["assetId"])
    where = (found["manifestPath"], found["installedVersion"])
    place = _location(entry)
    # Two findings of one rule differ by where they are.
    spot = () if place is None else (place["path"], place["startLine"])
    return Reading(
        vuln=vuln,
        package=found,
        asset=on,
        exposure=exposure_of(entry.inner("exposure")),
        routing={name: entry.text(name, f"{name}.full_name") for name in ROUTING},
        key=stable or (":".join(map(str, (*about, *where, *spot))) if any(about) else None),
        name=_insisted_name(entry.value("record_id")),
        state=entry.text("state") or (entry.text("status") if not entry.inner("status") else None),
        location=place,
        notes=notes,
    )


def _insisted_name(value: Any) -> str | None:
    """A record id exactly as it is given: one that would have to be cleaned is none."""
    if value is None or isinstance(value, str):
        return value
    return as_text(value, LINE)


def exposure_of(written: Fields) -> dict[str, Any]:
    """Who can reach it, as far as it is said."""
    controls = written.value("compensating_controls")
    listed = controls.split(",") if isinstance(controls, str) else written.texts("compensating_controls")
    return empty_exposure() | {
        "internetExposed": written.flag("internet_exposed"),
        "publicEndpoint": written.text("public_endpoint"),
        "dataSensitivity": written.text("data_sensitivity"),
        "businessCriticality": written.text("business_criticality"),
        "compensatingControls": [text for control in listed if (text := as_text(control, LINE))],
    }


def _vulnerability(entry: Fields, notes: list[str]) -> dict[str, Any]:
    inner = entry.inner("vuln", "vulnerability")
    both = (inner, entry, entry.inner("extra"), entry.inner("extra.metadata"))  # where Semgrep says nearly all
    score = _score(inner) or _score(entry)
    word = _first(both, "severity", "severity.level", "severity.value", "severity.label", "issue_severity")
    return vulnerability(
        vuln_id=_first(both, *_NAMES) or entry.text("vulnerability", "vuln"),
        cve=_first(both, "cve", "cve_id"),
        title=_first(both, "title", "summary") or entry.text("name") or _first(both, "message", "issue_text"),
        description=inner.text("description", most=PARAGRAPH)
        or entry.text("description", "details", most=PARAGRAPH),
        level=severity(word, score, notes),
        score=score,
        cwe=_texts(both, "cwe", "cwes", inside="cwe_id"),
        references=_texts(both, "references", "reference", "urls", "url", inside="url"),
    )


def _score(written: Fields) -> dict[str, Any] | None:
    """A score that is an object, a list of them, or only a number."""
    for one in written.each("cvss"):
        score = cvss(
            one.number("score", "base_score"),
            one.text("vector", "vector_string", "scoring_vector"),
            one.text("version"),
        )
        if score is not None:
            return score
    return cvss(
        written.number("cvss", "cvss_score", "base_score"), written.text("cvss_vector", "vector"), version=None
    )


def _package(entry: Fields) -> dict[str, Any]:
    inner = entry.inner("package", "component", "dependency")
    both = (inner, entry)
    purl = _first(both, "purl", "package_url")
    from_purl = purl_parts(purl)
    return package(
        name=inner.text("name") or entry.text("package_name", "package", "component") or from_purl[1],
        ecosystem=inner.text("ecosystem", "type", "package_manager")
        or entry.text("package_ecosystem", "ecosystem", "package_manager")
        or from_purl[0],
        installed=inner.text("version")
        or _first(both, "installed_version", "package_version", "current_version")
        or from_purl[2],
        affected=_first(both, "affected_range", "affected_versions", "vulnerable_version_range"),
        fixed=_first(both, "fixed_version", "fixed_in_version", "fixed_in", "fix_version", "patched_version"),
        manifest=_first(both, "manifest_path", "manifest"),
        purl=purl,
    )


def _asset(entry: Fields) -> dict[str, Any]:
    inner = entry.inner("asset", "resource")
    return asset(
        asset_id=inner.text("asset_id", "id", "name") or entry.text("asset_id", "asset", "resource", "host"),
        kind=inner.text("asset_type", "type") or entry.text("asset_type"),
        account=_first((inner, entry), "account", "account_id"),
        region=_first((inner, entry), "region"),
        tags=inner.labels("tags"),
    )


def _location(entry: Fields) -> dict[str, Any] | None:
    inner = entry.inner("location")
    if inner and inner.text("path", "file"):
        return location(inner.text("path", "file"), inner.number("start_line", "line"), inner.number("end_line"))
    path = entry.text("location", "file", "file_path", "path", "filename")
    start = entry.number("line", "start_line", "start.line", "line_number")
    return location(path, start, entry.number("end_line", "end.line"))


def _first(both: tuple[Fields, ...], *paths: str) -> str | None:
    return next((text for fields in both if (text := fields.text(*paths))), None)


def _texts(both: tuple[Fields, ...], *paths: str, inside: str) -> list[str]:
    return next((texts for fields in both if (texts := fields.texts(*paths, inside=inside))), [])
