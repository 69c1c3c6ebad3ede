"""Reports: plain text, JSON, SARIF, JUnit."""

import json
from xml.etree import ElementTree as ET

import jsonschema_rs
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.contract.documents import RULES, Finding, to_json, to_junit, to_sarif, to_text

FINDINGS = [
    Finding("spec.placeholder", "error", "left <&> over", 3, 7, "a_tool", "docs/my spec.md", "Write it."),
    Finding("spec.version-missing", "warning", "no version", 0, 1, None, "", "State it."),
]
MESSAGE = {"type": "object", "required": ["text"], "properties": {"text": {"type": "string", "minLength": 1}}}
# The part of the SARIF 2.1.0 format that is used here, closed so that nothing else can slip in.
SARIF = {
    "type": "object",
    "additionalProperties": False,
    "required": ["version", "runs"],
    "properties": {
        "$schema": {"type": "string"},
        "version": {"const": "2.1.0"},
        "runs": {"type": "array", "items": {"$ref": "#/$defs/run"}},
    },
    "$defs": {
        "run": {
            "type": "object",
            "additionalProperties": False,
            "required": ["tool", "results"],
            "properties": {
                "tool": {
                    "type": "object",
                    "required": ["driver"],
                    "properties": {"driver": {"$ref": "#/$defs/driver"}},
                },
                "columnKind": {"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
                "results": {"type": "array", "items": {"$ref": "#/$defs/result"}},
            },
        },
        "driver": {
            "type": "object",
            "required": ["name"],
            "additionalProperties": False,
            "properties": {
                "name": {"type": "string"},
                "version": {"type": "string"},
                "rules": {"type": "array", "uniqueItems": True, "items": {"$ref": "#/$defs/rule"}},
            },
        },
        "rule": {
            "type": "object",
            "required": ["id"],
            "additionalProperties": False,
            "properties": {
                "id": {"type": "string"},
                "shortDescription": MESSAGE,
                "fullDescription": MESSAGE,
                "help": MESSAGE,
                "defaultConfiguration": {
                    "type": "object",
                    "properties": {"level": {"enum": ["none", "note", "warning", "error"]}},
                },
            },
        },
        "result": {
            "type": "object",
            "required": ["message"],
            "additionalProperties": False,
            "properties": {
                "ruleId": {"type": "string"},
                "ruleIndex": {"type": "integer", "minimum": 0},
                "level": {"enum": ["none", "note", "warning", "error"]},
                "message": MESSAGE,
                "locations": {"type": "array", "items": {"$ref": "#/$defs/location"}},
            },
        },
        "location": {
            "type": "object",
            "additionalProperties": False,
            "properties": {
                "physicalLocation": {
                    "type": "object",
                    "properties": {
                        "artifactLocation": {
                            "type": "object",
                            "properties": {"uri": {"type": "string", "pattern": r"^[!-~]+$"}},
                        },
                        "region": {
                            "type": "object",
                            "properties": {
                                "startLine": {"type": "integer", "minimum": 1},
                                "startColumn": {"type": "integer", "minimum": 1},
                            },
                        },
                    },
                },
                "logicalLocations": {"type": "array", "items": {"type": "object", "required": ["name"]}},
            },
        },
    },
}
ANY_FINDINGS = st.lists(
    st.builds(
        Finding,
        st.sampled_from(sorted(RULES)),
        st.sampled_from(["error", "warning", "note"]),
        st.text(),
        st.integers(0, 99),
        st.integers(1, 99),
        st.none() | st.text(),
        st.text(),
        st.text(),
    ),
    max_size=4,
)


def test_text_is_one_line_per_finding_and_a_count() -> None:
    assert to_text(FINDINGS) == (
        "docs/my spec.md:3:7: error: left <&> over [a_tool] (spec.placeholder)\n    Write it.\n"
        "-: warning: no version (spec.version-missing)\n    State it.\n"
        "1 error, 1 warning, 0 notes\n"
    )


def test_json_holds_every_member_of_every_finding() -> None:
    document = json.loads(to_json(FINDINGS))

    assert document["counts"] == {"error": 1, "warning": 1, "note": 0}
    assert [Finding(**one) for one in document["findings"]] == FINDINGS


def test_sarif_names_rule_level_and_place() -> None:
    [run] = json.loads(to_sarif(FINDINGS))["runs"]
    first, second = run["results"]

    assert run["tool"]["driver"]["rules"][first["ruleIndex"]]["id"] == "spec.placeholder"
    assert first["locations"][0]["physicalLocation"] == {
        "artifactLocation": {"uri": "docs/my%20spec.md"},
        "region": {"startLine": 3, "startColumn": 7},
    }
    assert "locations" not in second


@settings(max_examples=40, deadline=None)
@given(ANY_FINDINGS)
def test_any_findings_give_valid_reports(findings: list[Finding]) -> None:
    jsonschema_rs.Draft202012Validator(SARIF).validate(json.loads(to_sarif(findings)))
    suite = ET.fromstring(to_junit(findings))

    assert len(suite.findall("testcase")) == max(len(findings), 1)
    failed = sum(one.severity != "note" for one in findings)
    assert len(suite.findall("testcase/failure")) == failed == int(suite.attrib["failures"])
    assert len(suite.findall("testcase/system-out")) == len(findings) - failed
    assert len(json.loads(to_json(findings))["findings"]) == len(findings)
    assert to_text(findings).count("(spec.") >= len(findings)


def test_no_findings_are_a_passed_case() -> None:
    assert ET.fromstring(to_junit([])).attrib == {
        "name": "holdfast contract lint",
        "tests": "1",
        "failures": "0",
        "errors": "0",
        "skipped": "0",
    }
    assert to_text([]) == "0 errors, 0 warnings, 0 notes\n"
