"""A record as Markdown for people. Nothing that a scanner wrote can become markup, a link or HTML here.

Every text is escaped and cut; only references that are plain web addresses become links.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from holdfast.search.triage.fields import LINE, as_text, clean

__all__ = ["render"]

_LINE = 300
_TEXT = 4000
_MOST_LINES = 60
_MOST_LINKS = 20
_SPECIAL = str.maketrans({character: f"\\{character}" for character in "\\`*_{}[]<>#|~&!$@^"})
_ADDRESS_START = re.compile(r":(?=//)|(?<=www)\.", re.IGNORECASE)  # what renderers make links of by themselves
_BLOCK_START = re.compile(r"^(\d{1,9})([.)])|^([-+=:])")
_PLAIN_ADDRESS = re.compile(r"https?://[A-Za-z0-9.-]+(?::\d{1,5})?(?:[/?#][A-Za-z0-9._~:/?#@!$&'()*+,;=%-]*)?")
_PACKAGE = (
    ("Name", "name"), ("Ecosystem", "ecosystem"), ("Installed", "installedVersion"), ("Affected", "affectedRange"),
    ("Fixed in", "fixedVersion"), ("Manifest", "manifestPath"), ("Package URL", "purl"),
)  # fmt: skip
_ASSET = (("Asset", "assetId"), ("Type", "assetType"), ("Account", "account"), ("Region", "region"))
_ROUTING = (("Service", "service"), ("Environment", "env"), ("Team", "team"), ("Owner", "owner"),
            ("Repository", "repo"))  # fmt: skip
_EXPOSURE = (
    ("Internet", "internetExposed"), ("Endpoint", "publicEndpoint"), ("Data", "dataSensitivity"),
    ("Business", "businessCriticality"), ("Controls", "compensatingControls"),
)  # fmt: skip
_DECISION = (
    ("Status", "status"), ("Reviewer", "reviewer"), ("Expires", "expiresAt"), ("Codes", "justificationCodes"),
    ("Finding", "findingRecordId"),
)  # fmt: skip


def render(record: Mapping[str, Any]) -> str:
    """The whole record, except for what the scanner wrote word by word."""
    vuln = _object(record, "vuln")
    decision = _object(record, "decision")
    lines = [f"# {_title(record, vuln, decision)}", ""]
    lines += _list([("Record", record.get("recordId")), ("Source", record.get("source"))])
    lines += _list([("State", record.get("state")), *_pairs(record, _ROUTING)])
    if decision:
        lines += _section("Decision", _list(_pairs(decision, _DECISION)))
        lines += _section("Justification", _quote(decision.get("justification")))
        lines += _section("Evidence", _links(decision.get("evidenceRefs")))
    lines += _section("Vulnerability", _list(_about(vuln)))
    lines += _section("Package", _list(_pairs(_object(record, "package"), _PACKAGE)))
    lines += _section("Asset", _list(_pairs(_object(record, "asset"), _ASSET)))
    lines += _section("Location", _list(_place(_object(record, "location"))))
    lines += _section("Exposure", _list(_pairs(_object(record, "exposure"), _EXPOSURE)))
    lines += _section("Description", _quote(vuln.get("description")))
    lines += _section("References", _links(vuln.get("references")))
    return "\n".join(lines).rstrip("\n") + "\n"


def _title(record: Mapping[str, Any], vuln: Mapping[str, Any], decision: Mapping[str, Any]) -> str:
    named = [text for name in ("vulnId", "title") if (text := as_text(vuln.get(name), _LINE))]
    about = named[1:] if len(named) == 2 and named[0] in named[1] else named
    title = ": ".join(about) or as_text(record.get("recordId"), _LINE)
    status = as_text(decision.get("status"), _LINE).replace("_", " ")
    return _escaped(f"Decision ({status}): {title}" if decision else title)


def _about(vuln: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    yield "Id", vuln.get("vulnId")
    yield "CVE", vuln.get("cve")
    yield "Severity", vuln.get("severity")
    score = _object(vuln, "cvss")
    yield "CVSS", ", ".join(filter(None, (as_text(score.get(name), _LINE) for name in ("score", "vector"))))
    yield "CWE", vuln.get("cwe")


def _place(location: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    yield "Path", location.get("path")
    yield "Line", location.get("startLine")


def _pairs(written: Mapping[str, Any], names: Iterable[tuple[str, str]]) -> list[tuple[str, Any]]:
    return [(label, written.get(name)) for label, name in names]


def _object(record: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = record.get(name)
    return found if isinstance(found, Mapping) else {}


def _section(heading: str, lines: list[str]) -> list[str]:
    return ["", f"## {heading}", "", *lines] if lines else []


def _list(pairs: Iterable[tuple[str, Any]]) -> list[str]:
    return [f"- {label}: {_escaped(text)}" for label, value in pairs if (text := _words(value))]


def _words(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return clean(", ".join(as_text(item, _LINE) for item in value[:_MOST_LINKS]), _LINE)
    return as_text(value, _LINE)


def _quote(value: Any) -> list[str]:
    """A longer text, line by line; what could begin a block of its own is escaped as well."""
    lines = [" ".join(line.split()) for line in as_text(value, _TEXT).split("\n")]
    shown = lines[:_MOST_LINES] + (["…"] if len(lines) > _MOST_LINES else [])
    quoted = (_lead(_escaped(line)) for line in shown)
    return [f"> {line}".rstrip() for line in quoted] if any(lines) else []


def _links(value: Any) -> list[str]:
    texts = [as_text(item, LINE) for item in value] if isinstance(value, list) else []
    shown = [text for text in texts if text][:_MOST_LINKS]
    return [f"- <{text}>" if _PLAIN_ADDRESS.fullmatch(text) else f"- {_lead(_escaped(text))}" for text in shown]


def _lead(text: str) -> str:
    return _BLOCK_START.sub(_escaped_start, text)


def _escaped(text: str) -> str:
    return _ADDRESS_START.sub(lambda found: "\\" + found[0], text.translate(_SPECIAL))


def _escaped_start(found: re.Match[str]) -> str:
    return f"{found[1]}\\{found[2]}" if found[1] else f"\\{found[3]}"
