"""A log of SARIF 2.1.0, from its runs to single results: each with all that belongs to it.

A result leans on its run: the rule is named by an index or an id, of the driver or of an extension, and told once
for many results; a place may be named by an index, or from a base. All of it is put beside the result, also which
one it is of several that say the same of themselves. What a result means is read in `sarif`.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

from holdfast.errors import ToolError
from holdfast.search.triage.fields import Fields, clean
from holdfast.search.triage.intake import Intake
from holdfast.search.triage.record import digest

__all__ = ["fingerprints", "path_of", "sarif_results"]

_VERSION = "2.1"  # rc and errata of it have the same names
_LONGEST_VERSION = 40
_NOTHING_WRONG = ("pass", "notapplicable")  # kinds of results that are no findings
_SCHEME = re.compile(r"file://[^/]*", re.IGNORECASE)


def sarif_results(document: Any, intake: Intake) -> Iterator[Any]:
    """The results of all runs of a log, or of a list of logs, each with its tool and its rule beside it."""
    entries = list(_results(document, intake.root))
    spots: dict[str, set[_Spot]] = {}
    for entry in entries:
        if isinstance(entry, _Entry):
            spots.setdefault(entry.claim, set()).add(entry.spot)
    numbers = {claim: {spot: number for number, spot in enumerate(sorted(at), 1)} for claim, at in spots.items()}
    for entry in entries:
        yield entry.told(numbers[entry.claim][entry.spot]) if isinstance(entry, _Entry) else entry


_Spot = tuple[float, float, str]  # line, column and words


class _Entry:
    """A result with what belongs to it; what it claims to be by its fingerprints, and the spot where it is."""

    def __init__(self, entry: dict[str, Any]) -> None:
        self._entry = entry
        result = Fields(entry["result"])
        marks = fingerprints(result)
        rule = result.text("rule_id", "rule.id") or Fields(entry["rule"]).text("id")
        physical = next(iter(result.each("locations")), Fields(None)).inner("physical_location")
        path = physical.text("artifact_location.uri")
        self.claim = digest(Fields(entry["tool"]).text("name"), rule, path, sorted(marks.items())) if marks else ""
        line, column = (physical.number(f"region.{name}") or 0.0 for name in ("start_line", "start_column"))
        self.spot: _Spot = (line, column, result.text("message.text") or "")

    def told(self, number: int) -> dict[str, Any]:
        """The entry; where others claim to be the same at another spot, with its number among them."""
        return {**self._entry, "occurrence": number} if self.claim and number > 1 else self._entry


def _results(document: Any, root: Path) -> Iterator[Any]:
    if isinstance(document, list):
        for one in document:
            yield from _results(one, root)
        return
    runs = document.get("runs") if isinstance(document, Mapping) else None
    if not isinstance(runs, list):
        yield document  # it is refused as an entry, with its place
        return
    _refuse_other_versions(document.get("version"))
    for run in runs:
        if not isinstance(run, Mapping):
            yield run
            continue
        results = run.get("results")
        for result in results if isinstance(results, list) else ():
            if not isinstance(result, Mapping):
                yield result
            elif str(result.get("kind")).lower() not in _NOTHING_WRONG:
                yield _Entry(_with_its_rule(_at_home(result, run, root), run))


def _refuse_other_versions(version: Any) -> None:
    """Refuse logs of earlier versions: message and place have other names there, so findings would become one."""
    if isinstance(version, str) and not version.startswith(_VERSION):
        raise ToolError(
            "INVALID_REQUEST",
            f"the log is SARIF {clean(version, _LONGEST_VERSION)}, and 2.1.0 is what is read",
            hint="have it written as SARIF 2.1.0; of the C# compiler say /errorlog:FILE,version=2.1",
        )


def _at_home(result: Mapping[str, Any], run: Mapping[str, Any], root: Path) -> Mapping[str, Any]:
    """A result whose places in the repository are told from its root on, however its run names them."""
    told = {
        key: [_place_at_home(one, run, root) for one in result[key]]
        for key in ("locations", "relatedLocations")
        if isinstance(result.get(key), list)
    }
    return {**result, **told}


def _place_at_home(place: Any, run: Mapping[str, Any], root: Path) -> Any:
    physical = _object(_object(place).get("physicalLocation"))
    artifact = _named(_object(physical.get("artifactLocation")), run)
    written = artifact.get("uri")
    if not isinstance(written, str):
        return place
    home = f"{root.as_posix().rstrip('/')}/"
    path = _from_base(artifact, run) + path_of(written)
    if path.startswith(home) and "/../" not in path:
        written = quote(path.removeprefix(home))
    return {**place, "physicalLocation": {**physical, "artifactLocation": {**artifact, "uri": written}}}


def _named(artifact: Mapping[str, Any], run: Mapping[str, Any]) -> Mapping[str, Any]:
    """A place in the list of files of its run, where it says no more than its number there."""
    at, listed = artifact.get("index"), run.get("artifacts")
    if "uri" in artifact or not isinstance(at, int) or not isinstance(listed, list) or not 0 <= at < len(listed):
        return artifact
    return {**artifact, **_object(_object(listed[at]).get("location"))}


def _from_base(artifact: Mapping[str, Any], run: Mapping[str, Any]) -> str:
    """The directory that a relative address begins at; nothing where the run does not say which."""
    bases = _object(run.get("originalUriBaseIds"))
    name, written = artifact.get("uriBaseId"), str(artifact.get("uri"))
    base = _object(bases.get(name)).get("uri") if isinstance(name, str) else None
    if not isinstance(base, str) or written.startswith("/") or _SCHEME.match(written):
        return ""
    return f"{path_of(base).rstrip('/')}/"


def path_of(address: str) -> str:
    """The path that an address of SARIF means."""
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


def fingerprints(result: Fields) -> dict[str, str]:
    """The fingerprints of a result. One that is empty, or a sentence such as `requires login`, is none."""
    for named in ("fingerprints", "partial_fingerprints"):
        marks = {name: mark for name, mark in result.labels(named).items() if mark and not set(mark) & {*" \t\n"}}
        if marks:
            return marks
    return {}


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _first(value: Any) -> Any:
    return value[0] if isinstance(value, list) and value else None
