"""The SARIF log, held to the rules of the format that readers rely on."""

from typing import Any

import pytest

from holdfast.probe.model import Finding, Line, Report, Status
from holdfast.probe.report import report_document
from holdfast.probe.sarif import sarif_document
from holdfast.probe.table import CHECKS
from holdfast.probe.text import checks_as_text, report_as_text
from holdfast.wire.codec import encode

STATUSES: tuple[Status, ...] = ("pass", "fail", "skip")
SERVER = {"name": "a\x1b[2J", "version": "", "revision": "2025-11-25"}


@pytest.fixture
def report() -> Report:
    lines = (Line(">", "sent", 0.1), Line("<", "\u202ereceived", 0.2))
    found = tuple(
        Finding(check, STATUSES[number % 3], "words", "remedy", lines, 0.5) for number, check in enumerate(CHECKS)
    )
    return Report("examples/a.py", "stdio", SERVER, found, 1.5)


def test_the_log_has_what_the_format_requires(report: Report) -> None:
    log = sarif_document(report, "examples/a.py")
    assert log["version"] == "2.1.0"
    assert log["$schema"].endswith("sarif-2.1.0.json")
    (run,) = log["runs"]
    driver = run["tool"]["driver"]
    assert driver["name"]
    assert len({rule["id"] for rule in driver["rules"]}) == len(driver["rules"]) == len(CHECKS)
    assert all(rule["shortDescription"]["text"] and rule["help"]["text"] for rule in driver["rules"])
    assert {rule["defaultConfiguration"]["level"] for rule in driver["rules"]} <= {"note", "warning", "error"}
    assert run["invocations"] == [{"executionSuccessful": True}]


def test_each_result_points_at_its_rule_and_has_a_level_that_fits_its_kind(report: Report) -> None:
    (run,) = sarif_document(report)["runs"]
    rules = run["tool"]["driver"]["rules"]
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        assert result["message"]["text"]
        assert result["kind"] in {"pass", "fail", "notApplicable"}
        # The format: a level other than none is for failures only.
        assert (result["level"] == "none") == (result["kind"] != "fail")
        assert result["locations"][0]["logicalLocations"][0]["fullyQualifiedName"] == "examples/a.py"
        assert "physicalLocation" not in result["locations"][0]


def test_a_file_is_pointed_at_by_a_relative_address_and_a_line(report: Report) -> None:
    (run,) = sarif_document(report, "examples/a.py")["runs"]
    place = run["results"][0]["locations"][0]["physicalLocation"]
    assert place == {"artifactLocation": {"uri": "examples/a.py"}, "region": {"startLine": 1}}


def test_the_json_document_says_everything_once_and_has_a_version(report: Report) -> None:
    document: dict[str, Any] = report_document(report)
    assert encode(document)
    assert document["schemaVersion"] == 1
    assert not document["ok"]
    assert [item["id"] for item in document["checks"]] == [check.id for check in CHECKS]
    assert document["checks"][1]["exchange"][0] == {"mark": ">", "at": 0.1, "text": "sent"}
    assert document["score"]["judged"] == sum(value["judged"] for value in document["groups"].values())


def test_the_text_shows_the_failing_exchange_and_no_control_characters(report: Report) -> None:
    text = "\n".join(report_as_text(report))
    assert "FAIL malformed.half-message: words" in text
    assert "> sent" in text
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert text.splitlines()[-1].startswith("score ")


def test_every_check_has_a_line_in_the_list() -> None:
    lines = list(checks_as_text(CHECKS))
    assert [line.split()[0] for line in lines] == [check.id for check in CHECKS]
