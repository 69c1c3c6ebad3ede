"""Findings for people and for programs: plain text, JSON, SARIF 2.1.0 for code hosts, JUnit XML for CI.

The same findings always give the same bytes; nothing here decides whether a run fails.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from holdfast.contract.documents.findings import Finding, Severity
from holdfast.contract.documents.rules import RULES
from holdfast.present.counted import counted
from holdfast.version import __version__

__all__ = ["to_json", "to_junit", "to_sarif", "to_text"]

_SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")
_SARIF_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_NOT_XML = re.compile(r"[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def to_text(findings: Iterable[Finding]) -> str:
    """One line per finding, the remedy under it, and a count at the end."""
    listed = list(findings)
    lines = []
    for one in listed:
        place = f"{one.file or '-'}:{one.line}:{one.column}" if one.line else one.file or "-"
        owner = f" [{one.tool}]" if one.tool else ""
        lines.append(f"{place}: {one.severity}: {_one_line(one.message)}{owner} ({one.rule})")
        lines.append(f"    {_one_line(one.remedy)}")
    lines.append(_summary(listed))
    return "\n".join(lines) + "\n"


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _summary(findings: list[Finding]) -> str:
    counts = Counter(one.severity for one in findings)
    return ", ".join(counted(counts[word], word) for word in _SEVERITIES)


def to_json(findings: Iterable[Finding]) -> str:
    """An object with the findings and their number by severity."""
    listed = list(findings)
    counts = Counter(one.severity for one in listed)
    document = {
        "findings": [asdict(one) for one in listed],
        "counts": {word: counts[word] for word in _SEVERITIES},
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def to_sarif(findings: Iterable[Finding]) -> str:
    """A SARIF 2.1.0 log with one run; only rules that were broken are described in it."""
    listed = list(findings)
    broken = sorted({one.rule for one in listed})
    run = {
        "tool": {
            "driver": {
                "name": "holdfast",
                "version": __version__,
                "rules": [_sarif_rule(rule) for rule in broken],
            }
        },
        "columnKind": "unicodeCodePoints",
        "results": [_sarif_result(one, broken.index(one.rule)) for one in listed],
    }
    log = {"$schema": _SARIF_SCHEMA, "version": "2.1.0", "runs": [run]}
    return json.dumps(log, indent=2, ensure_ascii=False) + "\n"


def _sarif_rule(rule: str) -> dict[str, Any]:
    row = RULES[rule]
    return {
        "id": rule,
        "shortDescription": {"text": row.meaning},
        "fullDescription": {"text": row.sentence},
        "help": {"text": row.remedy},
        "defaultConfiguration": {"level": row.severity},
    }


def _sarif_result(one: Finding, index: int) -> dict[str, Any]:
    result: dict[str, Any] = {
        "ruleId": one.rule,
        "ruleIndex": index,
        "level": one.severity,
        "message": {"text": _sentences(one)},
    }
    if one.file and one.line:
        location: dict[str, Any] = {"artifactLocation": {"uri": _uri(one.file)}}
        location["region"] = {"startLine": one.line, "startColumn": max(one.column, 1)}
        result["locations"] = [{"physicalLocation": location}]
    if one.tool:
        logical = {"name": one.tool, "kind": "function"}
        result.setdefault("locations", [{}])[0]["logicalLocations"] = [logical]
    return result


def _sentences(one: Finding) -> str:
    return f"{one.message}. {one.remedy}".strip()


def _uri(path: str) -> str:
    from urllib.parse import quote

    return quote(path.replace("\\", "/"), safe="/:@!$&'()*+,;=~-._", errors="replace")


def to_junit(findings: Iterable[Finding]) -> str:
    """JUnit XML: a suite with one case per finding, or one passed case where there are none.

    Errors and warnings are failed cases, as for the exit code; a note is a passed one that says so.
    """
    listed = list(findings)
    failed = sum(one.severity != "note" for one in listed)
    cases = [_junit_case(one) for one in listed] or ['  <testcase classname="holdfast" name="specification"/>']
    head = (
        f'<testsuite name="holdfast contract lint" tests="{max(len(listed), 1)}" failures="{failed}" '
        'errors="0" skipped="0">'
    )
    return "\n".join(['<?xml version="1.0" encoding="UTF-8"?>', head, *cases, "</testsuite>"]) + "\n"


def _junit_case(one: Finding) -> str:
    place = f"{one.file or '-'}:{one.line}"
    words = f"{one.severity}: {_sentences(one)}"
    name = _attribute(f"{one.rule} {one.tool or ''} line {one.line}")
    told = (
        f"<system-out>{escape(_sayable(words))}</system-out>"
        if one.severity == "note"
        else f"<failure type={_attribute(one.rule)} message={_attribute(words)}/>"
    )
    return f"  <testcase classname={_attribute(place)} name={name}>{told}</testcase>"


def _attribute(text: str) -> str:
    return quoteattr(_sayable(text))


def _sayable(text: str) -> str:
    """The text without what no XML document can hold."""
    return _NOT_XML.sub("\ufffd", text)
