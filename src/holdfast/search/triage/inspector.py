"""Findings of Amazon Inspector (version 2), as `list-findings` and its events write them.

One finding may name several packages and several resources: the first of each is the record's own, the others are
kept beside it.
"""

from typing import Any

from holdfast.search.triage.fields import PARAGRAPH, Fields
from holdfast.search.triage.record import (
    Reading,
    asset,
    cvss,
    empty_exposure,
    location,
    package,
    severity,
    vulnerability,
)

__all__ = ["read_inspector_finding"]

_NO_VERSION = {"notavailable", "not available", "none provided", "n/a"}
# How Inspector names what a package came from, and how everybody else names the ecosystem.
_ECOSYSTEMS = {
    "bundler": "rubygems", "gemspec": "rubygems", "cargo": "rust", "gobinary": "go", "gomod": "go", "jar": "maven",
    "pom": "maven", "nodepkg": "npm", "yarn": "npm", "pnpm": "npm", "pipenv": "pip", "poetry": "pip",
    "pythonpkg": "pip", "dotnet_core": "nuget",
}  # fmt: skip
_INTERNET = "internetgateway"


def read_inspector_finding(entry: Fields) -> Reading | None:
    """What a finding says; None where it says neither which one it is nor what is wrong."""
    finding = entry.inner("detail") or entry  # an event wraps it
    details = finding.inner("package_vulnerability_details")
    code = finding.inner("code_vulnerability_details")
    arn, title, vuln_id = finding.text("finding_arn"), finding.text("title"), details.text("vulnerability_id")
    if not (arn or vuln_id):
        return None
    notes: list[str] = []
    score = _score(finding, details)
    packages = [_package(one) for one in details.each("vulnerable_packages")]
    assets = [_asset(one, finding) for one in finding.each("resources")]
    return Reading(
        vuln=vulnerability(
            vuln_id=vuln_id or code.text("rule_id", "detector_id"),
            title=title,
            description=finding.text("description", most=PARAGRAPH),
            level=severity(finding.text("severity") or details.text("vendor_severity"), score, notes),
            score=score,
            cwe=details.texts("cwes") or code.texts("cwes"),
            references=_references(details, code),
        ),
        package=packages[0] if packages else package(),
        asset=assets[0] if assets else asset(account=finding.text("aws_account_id")),
        exposure=_exposure(finding),
        routing={},
        key=arn or _key_without_arn(vuln_id, assets, packages),
        state=finding.text("status"),
        location=_location(code),
        other_packages=packages[1:],
        other_assets=assets[1:],
        notes=notes,
        written=entry.value("detail") if entry.inner("detail") else None,
    )


def _key_without_arn(vuln_id: str | None, assets: list[dict[str, Any]], packages: list[dict[str, Any]]) -> str:
    where = assets[0]["assetId"] if assets else None
    what = packages[0]["name"] if packages else None
    return f"{vuln_id}:{where}:{what}"


def _package(found: Fields) -> dict[str, Any]:
    manager = (found.text("package_manager") or "").lower()
    fixed = found.text("fixed_in_version")
    return package(
        name=found.text("name"),
        ecosystem=_ECOSYSTEMS.get(manager, manager) or None,
        installed=_version(found),
        fixed=None if fixed is None or fixed.lower() in _NO_VERSION else fixed,
        manifest=found.text("file_path"),
    )


def _version(found: Fields) -> str | None:
    """The version as the package manager of a system writes it: epoch:version-release."""
    version, release, epoch = found.text("version"), found.text("release"), found.number("epoch")
    if version is None:
        return None
    return f"{f'{epoch:g}:' if epoch else ''}{version}{f'-{release}' if release else ''}"


def _score(finding: Fields, details: Fields) -> dict[str, Any] | None:
    """Of several scores the one by the newest version of the system, then the one of the source of the finding."""
    source = details.text("source")
    scores = [
        (cvss(one.number("base_score", "score"), one.text("scoring_vector", "vector"), one.text("version")), one)
        for one in details.each("cvss")
    ]
    known = [
        (score["version"] or "", one.text("source") == source, score["score"] or 0.0, score)
        for score, one in scores
        if score is not None
    ]
    if known:
        return max(known, key=lambda found: found[:3])[3]
    adjusted = finding.inner("inspector_score_details.adjusted_cvss")
    score = finding.number("inspector_score")
    return cvss(
        adjusted.number("score") if adjusted else score, adjusted.text("scoring_vector"), adjusted.text("version")
    )


def _asset(resource: Fields, finding: Fields) -> dict[str, Any]:
    return asset(
        asset_id=resource.text("id"),
        kind=resource.text("type"),
        account=finding.text("aws_account_id"),
        region=resource.text("region"),
        tags=resource.labels("tags"),
    )


def _exposure(finding: Fields) -> dict[str, Any]:
    exposure = empty_exposure()
    steps = finding.each("network_reachability_details.network_path.steps")
    if any((step.text("component_type") or "").lower().endswith(_INTERNET) for step in steps):
        exposure["internetExposed"] = True
    return exposure


def _location(code: Fields) -> dict[str, Any] | None:
    place = code.inner("file_path")
    return location(place.text("file_path", "file_name"), place.number("start_line"), place.number("end_line"))


def _references(details: Fields, code: Fields) -> list[str]:
    own = details.text("source_url")
    listed = details.texts("reference_urls") or code.texts("reference_urls")
    return list(dict.fromkeys([own, *listed] if own else listed))
