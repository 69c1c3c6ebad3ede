"""SARIF 2.1.0 as analysers write it: rules by index and id, fingerprints, suppressions, places."""

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from tests.unit.search.triage_samples import Desk

from holdfast.errors import ToolError

LOG: dict[str, Any] = {
    "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
    "version": "2.1.0",
    "runs": [
        {
            "tool": {
                "driver": {
                    "name": "CodeQL",
                    "semanticVersion": "2.16.1",
                    "rules": [
                        {"id": "py/unused", "defaultConfiguration": {"level": "note"}},
                        {
                            "id": "py/sql-injection",
                            "shortDescription": {"text": "SQL query built from user-controlled sources"},
                            "fullDescription": {"text": "Building a query from user input is dangerous."},
                            "defaultConfiguration": {"level": "error"},
                            "helpUri": "https://codeql.example/py/sql-injection",
                            "messageStrings": {"default": {"text": "This query depends on {0}."}},
                            "properties": {
                                "security-severity": "8.8",
                                "tags": ["security", "external/cwe/cwe-089"],
                            },
                        },
                    ],
                },
                "extensions": [{"name": "pack", "rules": [{"id": "js/xss", "name": "Cross-site scripting"}]}],
            },
            "versionControlProvenance": [{"repositoryUri": "https://github.com/octo/shop.git"}],
            "results": [
                {
                    "ruleId": "py/sql-injection",
                    "ruleIndex": 1,
                    "message": {"id": "default", "arguments": ["a user-provided value"]},
                    "locations": [
                        {
                            "physicalLocation": {
                                "artifactLocation": {"uri": "src/shop%20front/db.py", "uriBaseId": "%SRCROOT%"},
                                "region": {"startLine": 42, "startColumn": 5, "endLine": 43},
                            }
                        }
                    ],
                    "relatedLocations": [
                        {
                            "physicalLocation": {
                                "artifactLocation": {"uri": "src/web.py"},
                                "region": {"startLine": 7},
                            }
                        }
                    ],
                    "partialFingerprints": {"primaryLocationLineHash": "39fa2ee980eb94b0:1"},
                },
                {
                    "rule": {"id": "js/xss", "index": 0, "toolComponent": {"index": 0}},
                    "level": "warning",
                    "message": {"text": "Cross-site scripting vulnerability."},
                    "suppressions": [{"kind": "inSource", "status": "accepted"}],
                },
                {"ruleId": "py/unused", "kind": "pass", "message": {"text": "nothing is wrong"}},
            ],
        }
    ],
}


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def first(desk: Desk, log: dict[str, Any]) -> dict[str, Any]:
    return desk.record(log, "sarif")


def changed(**result: Any) -> dict[str, Any]:
    log = copy.deepcopy(LOG)
    log["runs"][0]["results"][0] |= result
    return log


def test_a_result_is_read_with_its_rule_its_places_and_its_score(desk: Desk) -> None:
    record = first(desk, LOG)

    assert record["vuln"]["vulnId"] == "py/sql-injection"
    assert record["vuln"]["title"] == "SQL query built from user-controlled sources"
    assert record["vuln"]["description"].startswith(
        "This query depends on a user-provided value.\n\nBuilding a query"
    )
    assert (record["vuln"]["severity"], record["vuln"]["cvss"]["score"]) == ("high", 8.8)
    assert (record["vuln"]["cwe"], record["repo"], record["state"]) == (["CWE-89"], "octo/shop", "open")
    assert record["location"] == {"path": "src/shop front/db.py", "startLine": 42, "endLine": 43}
    assert record["relatedLocations"] == [{"path": "src/web.py", "startLine": 7, "endLine": 7}]


def test_rules_of_extensions_and_suppressions_are_followed_and_what_passed_is_no_finding(desk: Desk) -> None:
    answer = desk.ingest(LOG, "sarif")

    assert (answer["total"], answer["written"], answer["errors"]) == (2, 2, 0)
    records = {record["vuln"]["vulnId"]: record for record in _read(answer)}
    assert records["js/xss"]["vuln"]["title"] == "Cross-site scripting"
    assert (records["js/xss"]["state"], records["js/xss"]["vuln"]["severity"]) == ("suppressed", "medium")


def _read(answer: dict[str, Any]) -> list[dict[str, Any]]:
    return [json.loads(Path(one["jsonPath"]).read_bytes()) for one in answer["records"]]


def test_a_result_that_moved_is_known_by_its_fingerprint_and_without_one_by_its_place(desk: Desk) -> None:
    moved = copy.deepcopy(LOG)
    moved["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["region"] = {"startLine": 99}
    moved["runs"][0]["results"].reverse()
    ids = set(desk.ingest(LOG, "sarif")["recordIds"])
    assert set(desk.ingest(moved, "sarif")["recordIds"]) == ids

    bare, elsewhere = (changed(partialFingerprints=None) for _ in range(2))
    elsewhere["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["region"] = {"startLine": 99}
    assert first(desk, bare)["recordId"] == first(desk, bare)["recordId"] != first(desk, elsewhere)["recordId"]


def test_a_log_of_an_earlier_version_is_refused_instead_of_losing_messages_and_places(desk: Desk) -> None:
    place = {"resultFile": {"uri": "file:///src/a.cs", "region": {"startLine": 3}}}
    result = {"ruleId": "CS0168", "level": "warning", "message": "x is never used", "locations": [place]}
    log = {"version": "1.0.0", "runs": [{"tool": {"name": "C# Compiler"}, "results": [result]}]}

    with pytest.raises(ToolError, match=r"the log is SARIF 1\.0\.0, and 2\.1\.0 is what is read") as refused:
        desk.ingest(log, "sarif")

    assert refused.value.code == "INVALID_REQUEST"
    assert "version=2.1" in str(refused.value.hint)
    assert desk.ingest(LOG | {"version": "2.1.0-rtm.5"}, "sarif")["errors"] == 0


@pytest.mark.parametrize("scheme", ["file://", "file://localhost", ""])
def test_a_place_that_is_told_from_the_root_of_the_machine_is_one_in_the_repository(
    desk: Desk, scheme: str
) -> None:
    def told(uri: str) -> dict[str, Any]:
        place = {"physicalLocation": {"artifactLocation": {"uri": uri}, "region": {"startLine": 4}}}
        return first(desk, changed(locations=[place], relatedLocations=[place]))

    root = desk.repository.root.as_posix()
    absolute, relative = told(f"{scheme}{root}/src/shop%20front/db.py"), told("src/shop%20front/db.py")
    assert absolute["location"]["path"] == "src/shop front/db.py"
    assert absolute["relatedLocations"] == relative["relatedLocations"]
    assert absolute["recordId"] == relative["recordId"]
    assert root not in json.dumps(absolute)
    assert told(f"{scheme}{root}-other/db.py")["location"]["path"] == f"{root}-other/db.py"
    assert told(f"{scheme}{root}/../db.py")["location"]["path"] == f"{root}/../db.py"


def test_the_same_line_in_two_files_or_repositories_is_two_findings(desk: Desk) -> None:
    place = {"physicalLocation": {"artifactLocation": {"uri": "src/other.py"}}}
    other = copy.deepcopy(LOG)
    del other["runs"][0]["versionControlProvenance"]
    ids = {first(desk, log)["recordId"] for log in (LOG, changed(locations=[place]), other)}

    assert len(ids) == 3


def test_bad_results_are_told_with_their_position_and_good_ones_are_kept(desk: Desk) -> None:
    log = copy.deepcopy(LOG)
    log["runs"][0]["results"][1:1] = [7, {"message": {}}, {"ruleIndex": 99, "ruleId": "x", "locations": "nowhere"}]
    log["runs"].append("no run")
    answer = desk.ingest(log, "sarif")

    assert [bad["index"] for bad in answer["errorDetails"]] == [1, 2, 5]
    assert answer["written"] == 3
    with pytest.raises(ToolError, match="none of the 1 entries"):
        desk.ingest({"version": "2.1.0"}, "sarif")
    assert desk.ingest({"version": "2.1.0", "runs": []}, "sarif")["total"] == 0


def several(fingerprints: dict[str, str], *lines: int) -> dict[str, Any]:
    """A log in which one rule finds something in several lines of one file, all with these fingerprints."""
    log = copy.deepcopy(LOG)
    result = log["runs"][0]["results"][0]
    places = [copy.deepcopy(result) | {"fingerprints": fingerprints} for _ in lines]
    for place, line in zip(places, lines, strict=True):
        place["locations"][0]["physicalLocation"]["region"] = {"startLine": line}
        del place["partialFingerprints"]
    log["runs"][0]["results"] = places
    return log


@pytest.mark.parametrize(
    "fingerprints",
    [
        {"matchBasedId/v1": "requires login"},  # Semgrep where nobody is logged in
        {"contextHash/v1": "9f86d081884c7d65"},  # Flawfinder: three lines of the same words
        {"commitSha": "", "author": ""},  # Gitleaks outside of a history
    ],
    ids=["placeholder", "same words", "empty"],
)
def test_results_that_share_a_fingerprint_are_findings_of_their_own(
    desk: Desk, fingerprints: dict[str, str]
) -> None:
    answer = desk.ingest(several(fingerprints, 5, 9, 17), "sarif")
    again = several(fingerprints, 5, 9, 17)
    again["runs"][0]["results"].reverse()

    assert (answer["written"], answer["errors"]) == (3, 0)
    assert sorted(record["location"]["startLine"] for record in _read(answer)) == [5, 9, 17]
    assert desk.ingest(again, "sarif")["unchanged"] == 3


def test_the_same_result_told_twice_is_one_finding(desk: Desk) -> None:
    answer = desk.ingest(several({"contextHash/v1": "9f86d081884c7d65"}, 5, 5, 9), "sarif")

    assert (answer["written"], [one["index"] for one in answer["errorDetails"]]) == (2, [1])


def test_a_place_is_read_from_the_list_of_files_and_from_the_base_that_its_run_names(desk: Desk) -> None:
    log = changed(locations=[{"physicalLocation": {"artifactLocation": {"index": 1}, "region": {"startLine": 4}}}])
    log["runs"][0]["artifacts"] = [{}, {"location": {"uri": "db.py", "uriBaseId": "ROOTPATH"}}]
    log["runs"][0]["originalUriBaseIds"] = {"ROOTPATH": {"uri": f"file://{desk.repository.root.as_posix()}/api"}}
    assert first(desk, log)["location"] == {"path": "api/db.py", "startLine": 4, "endLine": 4}

    log["runs"][0]["originalUriBaseIds"] = {"ROOTPATH": {"uri": "file:///github/workspace/"}}
    assert first(desk, log)["location"]["path"] == "db.py"
