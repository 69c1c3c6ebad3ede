"""Decisions: checked, written once, and told apart by everything that they say."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.unit.search.triage_samples import ALERT, Desk

from holdfast.errors import ToolError
from holdfast.search.answers.triage import DecisionResult
from holdfast.search.triage.listing import list_findings
from holdfast.search.triage.record_files import RecordFiles

FULL: dict[str, Any] = {
    "status": "not_affected",
    "justification": "We never load foreign YAML.",
    "reviewer": "dana",
    "expires": "2099-12-31",
    "meta": {"team": "web", "ticket": 7},
    "codes": ["vulnerable_code_not_in_execute_path"],
    "evidence": ["src/app.py:12", "https://ci.example/1"],
}


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


@pytest.fixture
def finding(desk: Desk) -> str:
    return str(desk.ingest([ALERT], "dependabot")["recordIds"][0])


def refusal(desk: Desk, finding: str, **arguments: Any) -> ToolError:
    with pytest.raises(ToolError) as caught:
        desk.decide(finding, **arguments)
    return caught.value


def test_a_decision_is_a_record_with_what_it_is_about(desk: Desk, finding: str) -> None:
    answer = desk.decide(finding, **FULL)
    record = json.loads(Path(answer["jsonPath"]).read_bytes())

    DecisionResult.model_validate(answer)
    assert record["decision"] == {
        "findingRecordId": finding,
        "status": "not_affected",
        "justification": "We never load foreign YAML.",
        "justificationCodes": ["vulnerable_code_not_in_execute_path"],
        "reviewer": "dana",
        "expiresAt": "2099-12-31",
        "evidenceRefs": ["src/app.py:12", "https://ci.example/1"],
    }
    assert (record["recordType"], record["repo"], record["team"]) == ("decision", "octo/shop", "web")
    assert (record["vuln"]["cve"], record["meta"]) == ("CVE-2020-14343", {"ticket": 7})
    assert Path(answer["mdPath"]).read_text().startswith("# Decision (not affected): CVE-2020-14343")


def test_the_same_decision_again_is_the_same_record(desk: Desk, finding: str) -> None:
    first = desk.decide(finding, **FULL)
    written = Path(first["jsonPath"]).read_bytes()
    reordered = FULL | {"evidence": FULL["evidence"][::-1] * 2, "expires": " 2099-12-31 "}
    again = desk.decide(finding, **reordered)

    assert (first["unchanged"], again["unchanged"]) == (False, True)
    assert again["recordId"] == first["recordId"]
    assert Path(first["jsonPath"]).read_bytes() == written


def test_who_comes_back_to_an_earlier_decision_has_the_last_word(desk: Desk, finding: str) -> None:
    first = desk.decide(finding, status="accept")
    desk.decide(finding, status="fix")
    again = desk.decide(finding, status="accept")
    repeated = desk.decide(finding, status="accept")

    assert (again["recordId"], again["unchanged"], repeated["unchanged"]) == (first["recordId"], False, True)
    files = RecordFiles(desk.repository, desk.cache)
    assert [one["decision"]["status"] for one in files.decisions(finding)] == ["accept", "fix"]
    assert list_findings(desk.repository, desk.cache)["findings"][0]["decision"] == "accept"


@pytest.mark.parametrize(
    "change",
    [{"status": "fix"}, {"justification": None}, {"reviewer": "eve"}, {"expires": "2099-12-30"}, {"meta": None},
     {"codes": []}, {"evidence": ["x"]}, {"meta": {"team": "web", "ticket": 8}}, {"meta": {"team": "ops"}}],
)  # fmt: skip
def test_a_decision_that_says_anything_else_is_another_one(
    desk: Desk, finding: str, change: dict[str, Any]
) -> None:
    first, other = desk.decide(finding, **FULL), desk.decide(finding, **(FULL | change))

    assert other["recordId"] != first["recordId"]
    assert other["unchanged"] is False


@pytest.mark.parametrize(
    ("given", "kept"),
    [("2099-12-31", "2099-12-31"), ("20991231", "2099-12-31"), ("2099-12-31T10:00", "2099-12-31T10:00:00Z"),
     ("2099-12-31T10:00:00+02:00", "2099-12-31T08:00:00Z"), ("2099-12-31 10:00Z", "2099-12-31T10:00:00Z")],
)  # fmt: skip
def test_the_end_of_a_decision_is_a_date_or_a_time_in_utc(desk: Desk, finding: str, given: str, kept: str) -> None:
    record = json.loads(Path(desk.decide(finding, expires=given)["jsonPath"]).read_bytes())

    assert record["decision"]["expiresAt"] == kept


@pytest.mark.parametrize(
    "expires", ["soon", "2099-02-30", "31.12.2099", "", "2099-13-01", "0001-01-01T00:00+14:00", "9" * 100, 7]
)
def test_an_end_that_is_no_date_is_refused(desk: Desk, finding: str, expires: Any) -> None:
    error = refusal(desk, finding, expires=expires)

    assert error.code == "INVALID_REQUEST"
    assert [found["instancePath"] for found in error.details["violations"]] == ["/expires"]


def test_a_decision_that_is_over_already_is_kept_and_told(desk: Desk, finding: str) -> None:
    assert [warning["code"] for warning in desk.decide(finding, expires="2001-01-01")["warnings"]] == ["expired"]
    assert desk.decide(finding, expires="2099-01-01")["warnings"] == []


def test_everything_that_is_wrong_is_told_at_once(desk: Desk, finding: str) -> None:
    error = refusal(
        desk, finding, status="maybe", reviewer="r" * 300, codes=["", "x"], evidence="x", justification="\ud800",
        meta={"team": {}},
    )  # fmt: skip
    places = [found["instancePath"] for found in error.details["violations"]]

    assert places == ["/meta/team", "/status", "/justification", "/reviewer", "/codes/0", "/evidence"]
    assert "fix, accept, defer, false_positive, not_affected" in error.details["violations"][1]["message"]


@pytest.mark.parametrize(
    ("name", "code"),
    [("unknown", "NOT_FOUND"), ("../../x", "INVALID_REQUEST"), (".x", "INVALID_REQUEST"), ("", "INVALID_REQUEST"),
     ("x" * 200, "INVALID_REQUEST")],
)  # fmt: skip
def test_a_finding_that_is_not_there_is_not_found(desk: Desk, name: str, code: str) -> None:
    assert refusal(desk, name).code == code
    assert not desk.cache.exists()


def test_a_decision_is_not_a_finding(desk: Desk, finding: str) -> None:
    decision = desk.decide(finding)["recordId"]
    error = refusal(desk, decision)

    assert error.code == "INVALID_REQUEST"
    assert finding in (error.hint or "")


def test_the_history_of_a_finding_is_its_own_and_the_newest_comes_first(desk: Desk, finding: str) -> None:
    other = desk.ingest({"vulnId": "B"})["recordIds"][0]
    made = [desk.decide(finding, justification=f"reason {number}")["recordId"] for number in range(3)]
    desk.decide(other)
    files = RecordFiles(desk.repository, desk.cache)
    history = files.decisions(finding)

    assert {record["recordId"] for record in history} == set(made)
    times = [record["createdAt"] for record in history]
    assert times == sorted(times, reverse=True)
    assert files.decisions("unknown") == []
