"""The form of a record: one finding or one decision, with every field there is, and where a record gets its name.

A record is a plain dictionary as it is stored. Names are made of what a record is about, so the same finding is
the same record however often it is read; the repository is part of it, since alerts are numbered per repository.
"""

import hashlib
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import orjson

__all__ = [
    "ROUTING",
    "Reading",
    "asset",
    "by_time",
    "content",
    "cvss",
    "decision_prefix",
    "digest",
    "empty_exposure",
    "is_safe_name",
    "lasting",
    "location",
    "now",
    "package",
    "severity",
    "vulnerability",
]

# Who has to deal with it.
ROUTING = ("service", "env", "team", "owner", "repo")

_SAFE_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,127}")
_DIGITS = 40
_MOST_LINES = 2**31
_PREFIX_DIGITS = 16
_TIMES = ("createdAt", "updatedAt")
_OF_ANYBODY = ("generic", "manual")  # sources
# In what scanners write: when it was seen says nothing about what it is. Small letters alone.
_MOVING = frozenset({
    "createdat", "date", "detectedat", "discoveredat", "exportedat", "firstobservedat", "firstseen", "firstseenat",
    "generatedat", "ingestedat", "lastinuseat", "lastobservedat", "lastseen", "lastseenat", "launchedat",
    "modifiedat", "pushedat", "reportedat", "scandate", "scannedat", "scantime", "time", "timestamp", "updatedat",
    "vendorcreatedat", "vendorupdatedat",
})  # fmt: skip
_CVE = re.compile(r"\bCVE-\d{4}-\d{4,}\b", re.IGNORECASE)
_SEVERITY_WORD = re.compile(r"[a-z][a-z _-]{0,39}")
_SAME_SEVERITY = {
    "error": "high", "warning": "medium", "note": "low", "moderate": "medium", "info": "informational",
    "untriaged": "unknown", "undefined": "unknown",
}  # fmt: skip
_SEVERITY_BY_SCORE = ((9.0, "critical"), (7.0, "high"), (4.0, "medium"), (0.1, "low"), (0.0, "informational"))


@dataclass(slots=True)
class Reading:
    """What a source says about one finding, before it is filed.

    `key` makes it the same finding the next time; `name` is a record id that the source insists on.
    """

    vuln: dict[str, Any]
    package: dict[str, Any]
    asset: dict[str, Any]
    exposure: dict[str, Any]
    routing: dict[str, str | None]
    key: str | None = None
    name: str | None = None
    state: str | None = None
    location: dict[str, Any] | None = None
    other_packages: list[dict[str, Any]] = field(default_factory=list)
    other_assets: list[dict[str, Any]] = field(default_factory=list)
    related: list[dict[str, Any]] = field(default_factory=list)  # further places in the code
    notes: list[str] = field(default_factory=list)
    written: Mapping[str, Any] | None = None  # the finding as it was written, where the entry is more than that


def vulnerability(
    *,
    vuln_id: str | None,
    title: str | None,
    description: str | None,
    level: str,
    score: dict[str, Any] | None,
    cwe: list[str],
    references: list[str],
    cve: str | None = None,
) -> dict[str, Any]:
    """What is wrong. The CVE is looked for in the id and the title where it is not named."""
    named = _CVE.search(" ".join(filter(None, (cve, vuln_id, title))))
    cve = named[0].upper() if named else None
    return {
        "vulnId": vuln_id or cve,
        "cve": cve,
        "title": title,
        "description": description,
        "severity": level,
        "cvss": score,
        "cwe": cwe,
        "references": references,
    }


def package(
    *,
    name: str | None = None,
    ecosystem: str | None = None,
    installed: str | None = None,
    affected: str | None = None,
    fixed: str | None = None,
    manifest: str | None = None,
    purl: str | None = None,
) -> dict[str, Any]:
    """Where it is wrong: in which version of which package, and what mends it."""
    return {
        "name": name,
        "ecosystem": ecosystem.lower() if ecosystem else None,
        "installedVersion": installed,
        "affectedRange": affected,
        "fixedVersion": fixed,
        "manifestPath": manifest,
        "purl": purl,
    }


def asset(
    *,
    asset_id: str | None = None,
    kind: str | None = None,
    account: str | None = None,
    region: str | None = None,
    tags: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """What runs it."""
    return {"assetId": asset_id, "assetType": kind, "account": account, "region": region, "tags": dict(tags or {})}


def location(path: str | None, start: float | None, end: float | None) -> dict[str, Any] | None:
    """The place in the code, where a finding is about one."""
    return None if path is None else {"path": path, "startLine": _line(start), "endLine": _line(end)}


def empty_exposure() -> dict[str, Any]:
    """Who can reach it, as long as nobody has said so."""
    return {
        "internetExposed": None,
        "publicEndpoint": None,
        "dataSensitivity": None,
        "businessCriticality": None,
        "compensatingControls": [],
    }


def cvss(score: float | None, vector: str | None, version: str | None = None) -> dict[str, Any] | None:
    """A score of the Common Vulnerability Scoring System; the version is read from the vector if need be."""
    if score is not None and not 0 <= score <= 10:
        score = None
    if score is None and vector is None:
        return None
    if version is None and vector is not None and vector.upper().startswith("CVSS:"):
        version = vector[5:].partition("/")[0]
    return {"score": score, "vector": vector, "version": version}


def _line(number: float | None) -> int | None:
    return int(number) if number is not None and 1 <= number < _MOST_LINES else None


def severity(word: str | None, score: dict[str, Any] | None, notes: list[str]) -> str:
    """The severity in small letters: as it is said, else as its score says, else `unknown`."""
    said = (word or "").strip().lower()
    if _SEVERITY_WORD.fullmatch(said):
        return _SAME_SEVERITY.get(said, said)
    if said:
        notes.append("the severity is not a word")
    number = score["score"] if score else None
    if number is None:
        return "unknown"
    notes.append("the severity was taken from the CVSS score")
    return next(name for least, name in _SEVERITY_BY_SCORE if number >= least or least == 0.0)


def digest(*parts: object) -> str:
    """A name for what the parts say together: the same for the same, and different for anything else."""
    text = orjson.dumps(parts, option=orjson.OPT_SORT_KEYS)
    return hashlib.sha256(text).hexdigest()[:_DIGITS]


def decision_prefix(finding_id: str) -> str:
    """How the names of all decisions about a finding begin, so that its history is found by names alone."""
    return digest("decisions", finding_id)[:_PREFIX_DIGITS]


def is_safe_name(name: str) -> bool:
    """Whether a name given by others may become that of a file: no way out of the directory, nothing hidden."""
    return bool(_SAFE_NAME.fullmatch(name))


def content(record: Mapping[str, Any]) -> dict[str, Any]:
    """A record without its times: what counts when it is asked whether something changed.

    Scanners move theirs with every scan, and write them in one form in a list and in another in an event. Where
    anybody may write what they like, a date may be what matters.
    """
    kept = {name: value for name, value in record.items() if name not in _TIMES}
    return kept if "raw" not in kept or kept.get("source") in _OF_ANYBODY else kept | {"raw": lasting(kept["raw"])}


def lasting(value: Any) -> Any:
    """What somebody else wrote, without the times in it."""
    if isinstance(value, dict):
        kept = ((key, item) for key, item in value.items() if _letters(key) not in _MOVING)
        return {key: lasting(item) for key, item in kept}
    return [lasting(item) for item in value] if isinstance(value, list) else value


def _letters(key: str) -> str:
    return "".join(filter(str.isalpha, key)).lower()


def now(after: str = "") -> str:
    """The present, as records write it; to the millisecond, since decisions are told in their order.

    It is later than `after`, whatever the clock says: one that was set back changes no order.
    """
    moment = datetime.now(UTC)
    with suppress(ValueError):
        moment = max(moment, datetime.fromisoformat(after) + timedelta(milliseconds=1))
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def by_time(record: Mapping[str, Any]) -> tuple[str, str]:
    """What records are sorted by, the newest last: when their word was given, the last time that it was."""
    return str(record.get("updatedAt") or record.get("createdAt")), str(record.get("recordId"))
