"""Findings in SARIF 2.1.0, the format in which static analysers and scanners of dependencies report.

A result leans on its run: the rule is named by an index or an id, of the driver or of an extension, and told once
for many results. Everything that belongs to a result is put beside it first; then it is read by itself.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

from holdfast.search.triage.fields import LINE, MOST_ITEMS, PARAGRAPH, Fields, clean
from holdfast.search.triage.intake import Intake
from holdfast.search.triage.record import (
    Reading,
    asset,
    cvss,
    digest,
    empty_exposure,
    location,
    package,
    severity,
    vulnerability,
)

__all__ = ["read_sarif_result", "sarif_results"]

# By the levels of SARIF, the words that all sources share.
_LEVELS = {"error": "high", "warning": "medium", "note": "low", "none": "informational"}
_NOTHING_WRONG = ("pass", "notapplicable")  # kinds of results that are no findings
_CWE = re.compile(r"\bCWE-?0*(\d{1,7})\b", re.IGNORECASE)
_PLACEHOLDER = re.compile(r"\{(\d{1,3})\}")
_SCHEME = re.compile(r"file://[^/]*", re.IGNORECASE)


def sarif_results(document: Any, intake: Intake) -> Iterator[Any]:
    """The results of all runs of a log, or of a list of logs, each with its tool and its rule beside it."""
    if isinstance(document, list):
        for one in document:
            yield from sarif_results(one, intake)
        return
    runs = document.get("runs") if isinstance(document, Mapping) else None
    if not isinstance(runs, list):
        yield document  # it is refused as an entry, with its place
        return
    for run in runs:
        if not isinstance(run, Mapping):
            yield run
            continue
        results = run.get("results")
        for result in results if isinstance(results, list) else ():
            if not isinstance(result, Mapping):
                yield result
            elif str(result.get("kind")).lower() not in _NOTHING_WRONG:
                yield _with_its_rule(_at_home(result, intake.root), run)


def _at_home(result: Mapping[str, Any], root: Path) -> Mapping[str, Any]:
    """A result whose places in the repository are told from its root on, also where they were absolute."""
    told = {
        key: [_place_at_home(one, root) for one in result[key]]
        for key in ("locations", "relatedLocations")
        if isinstance(result.get(key), list)
    }
    return {**result, **told}


def _place_at_home(place: Any, root: Path) -> Any:
    physical = _object(_object(place).get("physicalLocation"))
    artifact = _object(physical.get("artifactLocation"))
    written = artifact.get("uri")
    path = _path_of(written) if isinstance(written, str) else ""
    home = f"{root.as_posix().rstrip('/')}/"
    if not path.startswith(home) or "/../" in path:
        return place
    within = {**artifact, "uri": quote(path.removeprefix(home))}
    return {**place, "physicalLocation": {**physical, "artifactLocation": within}}


def _path_of(address: str) -> str:
    return unquote(_SCHEME.sub("", address))


def _with_its_rule(result: Mapping[str, Any], run: Mapping[str, Any]) -> dict[str, Any]:
    tool = _object(run.get("tool"))
    driver = _object(tool.get("driver"))
    named = _object(result.get("rule"))
    component = _component(named, tool, driver)
    rule = _rule(result, named, component)
    about = {key: driver[key] for key in ("name", "semanticVersion", "version") if key in driver}
    address = _object(_first(run.get("versionControlProvenance"))).get("repositoryUri")
    entry: dict[str, Any] = {"tool": about, "rule": rule, "result": result}
    return entry | ({"repositoryUri": address} if address else {})


def _component(named: Mapping[str, Any], tool: Mapping[str, Any], driver: Mapping[str, Any]) -> Mapping[str, Any]:
    """Whose rules are meant: those of the driver, unless the result points to an extension."""
    at = _object(named.get("toolComponent")).get("index")
    extensions = tool.get("extensions")
    if isinstance(at, int) and isinstance(extensions, list) and 0 <= at < len(extensions):
        return _object(extensions[at])
    return driver


def _rule(result: Mapping[str, Any], named: Mapping[str, Any], component: Mapping[str, Any]) -> dict[str, Any]:
    rules = component.get("rules")
    listed = rules if isinstance(rules, list) else []
    at = result.get("ruleIndex", named.get("index"))
    if isinstance(at, int) and not isinstance(at, bool) and 0 <= at < len(listed):
        return dict(_object(listed[at]))
    wanted = result.get("ruleId") or named.get("id")
    known = [dict(rule) for rule in listed if isinstance(rule, Mapping) and rule.get("id")]
    exact = [rule for rule in known if rule["id"] == wanted]
    # A hierarchical id, such as CA1000/1, means the rule before its last part.
    above = [rule for rule in known if isinstance(wanted, str) and wanted.startswith(f"{rule['id']}/")]
    return (exact or above or [{}])[0]


def read_sarif_result(entry: Fields) -> Reading | None:
    """What a result says; None where it says neither what rule it is of nor what is wrong."""
    result, rule, tool = entry.inner("result"), entry.inner("rule"), entry.inner("tool")
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
        package=package(name=result.text("properties.package_name"), manifest=None),
        asset=asset(),
        exposure=empty_exposure(),
        routing={"repo": _repository(entry.text("repository_uri"))},
        key=_key(result, rule_id, message, where, tool),
        state=_state(result),
        location=where,
        related=[place for one in result.each("related_locations")[:MOST_ITEMS] if (place := _place(one))],
        notes=notes,
    )


def _key(
    result: Fields, rule_id: str | None, message: str | None, where: dict[str, Any] | None, tool: Fields
) -> str:
    """What makes it the same result in the next report: its fingerprints; else rule, place and words."""
    who = tool.text("name")
    for marks in (result.labels("fingerprints"), result.labels("partial_fingerprints")):
        if marks:
            # A fingerprint of one line is the same for the same line in two files.
            return f"sarif:{digest(who, rule_id, where and where['path'], sorted(marks.items()))}"
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
    return location(_path_of(path), start, region.number("end_line") or start)


def _repository(address: str | None) -> str | None:
    """`owner/name` of the address of a repository."""
    found = re.search(r"[/:]([^/:\s]+/[^/\s]+?)(?:\.git)?/?$", address or "")
    return found[1] if found else None


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _first(value: Any) -> Any:
    return value[0] if isinstance(value, list) and value else None
