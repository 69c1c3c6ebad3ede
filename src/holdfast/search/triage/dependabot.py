"""Dependabot alerts, as GitHub's REST interface, its GraphQL interface and its webhooks write them."""

import re
from collections.abc import Iterator
from typing import Any

from holdfast.search.triage.fields import PARAGRAPH, Fields
from holdfast.search.triage.intake import Intake
from holdfast.search.triage.record import (
    Reading,
    asset,
    cvss,
    empty_exposure,
    package,
    severity,
    vulnerability,
)

__all__ = ["alerts_of_query", "read_alert"]

_REPOSITORY = re.compile(r"https?://[^/\s]+/(?:api/v\d+/)?(?:repos/)?([^/\s]+/[^/\s]+)/(?:security/)?dependabot/")


_MOST_LEVELS = 8  # of what a query wraps around a list


def alerts_of_query(document: Any, intake: Intake) -> Iterator[Any] | None:
    """The alerts in an answer of the GraphQL interface, or in a list of them; None where it is something else.

    The repository is named around the list, and not in every alert.
    """
    answers = document if isinstance(document, list) else [document]
    told = [one.get("data") for one in answers if isinstance(one, dict)]
    if not answers or len(told) < len(answers) or not all(isinstance(one, dict) for one in told):
        return None
    return (alert for data in told for alert in _connected(data, None, intake, _MOST_LEVELS))


def _connected(value: Any, repository: str | None, intake: Intake, levels: int) -> Iterator[Any]:
    if isinstance(value, list):
        for item in value:
            yield from _connected(item, repository, intake, levels - 1)
        return
    if not isinstance(value, dict) or levels < 0:
        return
    name = value.get("nameWithOwner")
    repository = name if isinstance(name, str) else repository
    connection = value.get("vulnerabilityAlerts")
    if not isinstance(connection, dict):
        for item in value.values():
            yield from _connected(item, repository, intake, levels - 1)
        return
    page = connection.get("pageInfo")
    intake.has_more = isinstance(page, dict) and page.get("hasNextPage") is True
    edges = connection.get("edges")
    nodes = connection.get("nodes") or [edge.get("node") for edge in edges or () if isinstance(edge, dict)]
    for node in nodes if isinstance(nodes, list) else ():
        known = isinstance(node, dict) and repository is not None and "repository" not in node
        yield node | {"repository": {"nameWithOwner": repository}} if known else node


def read_alert(entry: Fields) -> Reading | None:
    """What an alert says; None where it says neither which one it is nor what is wrong."""
    alert = entry.inner("alert") or entry  # a webhook wraps it, and names the repository beside it
    advisory = alert.inner("security_advisory", "securityVulnerability.advisory", "advisory")
    flaw = alert.inner("security_vulnerability", "vulnerability")
    notes: list[str] = []
    ghsa = advisory.text("ghsa_id") or _identifier(advisory, "GHSA")
    cve = advisory.text("cve_id") or _identifier(advisory, "CVE")
    title = advisory.text("summary") or alert.text("summary", "title")
    found = _package(alert, flaw)
    number = alert.text("number", "id")
    if not (ghsa or cve or title) or not (number or found["name"]):
        return None
    score = _score(advisory)
    return Reading(
        vuln=vulnerability(
            vuln_id=cve or ghsa,
            cve=cve,
            title=title,
            description=advisory.text("description", most=PARAGRAPH),
            level=severity(flaw.text("severity") or advisory.text("severity"), score, notes),
            score=score,
            cwe=advisory.texts("cwes", inside="cwe_id"),
            references=_references(alert, advisory),
        ),
        package=found,
        asset=asset(),
        exposure=empty_exposure(),
        routing={"repo": _repository(entry, alert)},
        key=f"alert:{number}" if number else f"{ghsa or cve}:{found['name']}:{found['manifestPath']}",
        state=alert.text("state"),
        notes=notes,
        written=entry.value("alert") if entry.inner("alert") else None,
    )


def _package(alert: Fields, flaw: Fields) -> dict[str, Any]:
    dependency = alert.inner("dependency")
    named = dependency.inner("package") or flaw.inner("package")
    folder = alert.text("vulnerable_manifest_path")
    return package(
        name=named.text("name"),
        ecosystem=named.text("ecosystem"),
        installed=dependency.text("version_requirement") or alert.text("vulnerable_requirements"),
        affected=flaw.text("vulnerable_version_range"),
        fixed=flaw.text("first_patched_version.identifier", "first_patched_version"),
        manifest=dependency.text("manifest_path") or folder or alert.text("vulnerable_manifest_filename"),
    )


def _score(advisory: Fields) -> dict[str, Any] | None:
    """The score by the newest version of the system; GitHub writes 0.0 where there is none."""
    for place in ("cvss_severities.cvss_v4", "cvss_severities.cvss_v3", "cvss"):
        written = advisory.inner(place)
        vector = written.text("vector_string")
        if vector or written.number("score"):
            return cvss(written.number("score"), vector)
    return None


def _identifier(advisory: Fields, kind: str) -> str | None:
    for identifier in advisory.each("identifiers"):
        if (identifier.text("type") or "").upper() == kind:
            return identifier.text("value")
    return None


def _references(alert: Fields, advisory: Fields) -> list[str]:
    own = alert.text("html_url")
    listed = advisory.texts("references", inside="url")
    return list(dict.fromkeys([own, *listed] if own else listed))


def _repository(entry: Fields, alert: Fields) -> str | None:
    """`owner/name`, as the alert says it itself, or as its address does."""
    said = alert.text("repository.full_name", "repository.name_with_owner", "repository") or entry.text(
        "repository.full_name", "repository.name_with_owner", "repository"
    )
    if said:
        return said
    for address in (alert.text("html_url"), alert.text("url")):
        found = _REPOSITORY.match(address or "")
        if found:
            return found[1]
    return None
