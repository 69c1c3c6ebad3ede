"""Findings of scanners, as they really write them and as nobody should: a record each, or one reason why not."""

import copy
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.search.triage_samples import ALERT, FINDING, Desk

from holdfast.search.repository import Repository
from holdfast.search.triage.filing import SOURCES, Filing, UnusableFindingError, canonical_source
from holdfast.search.triage.markdown import render
from holdfast.search.triage.routing import Additions

REPOSITORY = Repository(Path("/nowhere/shop"), is_git=False, git_dir=None, repo_id="shop-0123456789ab")


def filed(source: str, value: Any, **routing: str) -> dict[str, Any]:
    return Filing(source, REPOSITORY, Additions(routing=routing)).record(value)


def changed(value: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return copy.deepcopy(value) | changes


def test_an_alert_of_dependabot_is_read_as_a_whole() -> None:
    record = filed("dependabot", ALERT)

    assert record["repo"] == "octo/shop"
    assert record["state"] == "open"
    assert record["package"] == {
        "name": "PyYAML", "ecosystem": "pip", "installedVersion": "= 5.3", "affectedRange": "< 5.4",
        "fixedVersion": "5.4", "manifestPath": "api/requirements.txt", "purl": None,
    }  # fmt: skip
    assert record["vuln"]["vulnId"] == record["vuln"]["cve"] == "CVE-2020-14343"
    assert record["vuln"]["cwe"] == ["CWE-20"]
    assert record["vuln"]["references"][0] == ALERT["html_url"]
    assert record["raw"] == ALERT


def test_a_score_of_zero_stands_for_none_and_the_older_one_counts() -> None:
    assert filed("dependabot", ALERT)["vuln"]["cvss"] == {
        "score": 9.8,
        "vector": "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H",
        "version": "3.1",
    }


def test_an_alert_of_the_query_language_is_read_too() -> None:
    node = {
        "number": 3,
        "vulnerableManifestPath": "web/package-lock.json",
        "securityVulnerability": {
            "package": {"name": "lodash", "ecosystem": "NPM"},
            "firstPatchedVersion": {"identifier": "4.17.21"},
            "advisory": {
                "ghsaId": "GHSA-35jh-r3h4-6jhm",
                "summary": "Command Injection",
                "cwes": {"nodes": [{"cweId": "CWE-77"}]},
            },
        },
    }
    record = filed("dependabot", node)

    assert record["package"]["fixedVersion"] == "4.17.21"
    assert (record["package"]["ecosystem"], record["vuln"]["cwe"]) == ("npm", ["CWE-77"])
    assert record["package"]["manifestPath"] == "web/package-lock.json"


def test_a_webhook_is_the_same_finding_as_the_alert_inside_of_it() -> None:
    bare = changed(ALERT, url=None, html_url=None)
    event = {"action": "created", "alert": bare, "repository": {"full_name": "Octo/Shop"}}

    assert filed("dependabot", event)["recordId"] == filed("dependabot", ALERT)["recordId"]


def test_the_same_number_in_two_repositories_is_two_findings() -> None:
    other = changed(ALERT, html_url="https://github.com/octo/bank/security/dependabot/12")
    nameless = changed(ALERT, url=None, html_url=None)
    ids = {
        filed("dependabot", ALERT)["recordId"],
        filed("dependabot", other)["recordId"],
        filed("dependabot", nameless)["recordId"],
        filed("dependabot", nameless, repo="octo/third")["recordId"],
    }

    assert len(ids) == 4


def test_the_repository_of_a_finding_wins_over_that_of_meta_and_it_is_told() -> None:
    record = filed("dependabot", ALERT, repo="octo/other", team="web")

    assert (record["repo"], record["team"]) == ("octo/shop", "web")
    assert "octo/shop" in record["parseWarnings"][0]


def test_a_finding_of_inspector_is_read_with_versions_scores_and_resources() -> None:
    record = filed("aws_inspector", FINDING)

    assert record["package"]["installedVersion"] == "1:1.0.2k-16.amzn2"
    assert record["package"]["fixedVersion"] == "1:1.0.2k-24.amzn2"
    assert record["vuln"]["cvss"] == {"score": 7.5, "vector": "CVSS:3.1/AV:N/N", "version": "3.1"}
    assert (record["vuln"]["severity"], record["state"]) == ("high", "active")
    assert record["asset"] == {
        "assetId": "i-0abc", "assetType": "AWS_EC2_INSTANCE", "account": "123456789012", "region": "eu-west-1",
        "tags": {"Name": "shop-1", "empty": ""},
    }  # fmt: skip
    assert [(p["name"], p["fixedVersion"]) for p in record["otherPackages"]] == [("openssl-libs", None)]


def test_without_a_list_of_scores_the_one_of_inspector_counts() -> None:
    bare = changed(FINDING, packageVulnerabilityDetails={"vulnerabilityId": "CVE-2022-0778"})

    assert filed("aws_inspector", bare)["vuln"]["cvss"]["score"] == 7.1
    del bare["inspectorScoreDetails"]
    assert filed("aws_inspector", bare)["vuln"]["cvss"] == {"score": 7.5, "vector": None, "version": None}


def test_without_its_arn_a_finding_of_inspector_is_known_by_what_it_is_about() -> None:
    bare = changed(FINDING, findingArn=None)
    other = changed(bare, resources=[{"id": "i-0def"}])

    first, again, elsewhere = (
        filed("aws_inspector", value)["recordId"] for value in (bare, changed(bare, status="CLOSED"), other)
    )

    assert first == again
    assert first != elsewhere


def test_an_event_of_inspector_is_the_same_finding_as_its_detail() -> None:
    event = {"version": "0", "detail-type": "Inspector2 Finding", "resources": ["i-0abc"], "detail": FINDING}

    assert filed("aws_inspector", event)["recordId"] == filed("aws_inspector", FINDING)["recordId"]


def test_an_open_way_from_the_internet_and_a_place_in_the_code_are_kept() -> None:
    steps = [{"componentType": "AWS::EC2::InternetGateway", "componentId": "igw-1"}]
    code = {"cwes": ["CWE-22"], "filePath": {"filePath": "src/app.py", "startLine": 7, "endLine": 9}}
    record = filed(
        "aws_inspector",
        {
            "findingArn": "arn:x",
            "title": "Port 22",
            "networkReachabilityDetails": {"networkPath": {"steps": steps}},
            "codeVulnerabilityDetails": code,
        },
    )

    assert record["exposure"]["internetExposed"] is True
    assert record["location"] == {"path": "src/app.py", "startLine": 7, "endLine": 9}
    assert record["vuln"]["cwe"] == ["CWE-22"]


@pytest.mark.parametrize(
    ("purl", "name", "ecosystem", "version"),
    [
        ("pkg:npm/%40angular/core@12.3.1", "@angular/core", "npm", "12.3.1"),
        ("pkg:npm/@angular/core", "@angular/core", "npm", None),
        ("pkg:pypi/django@4.2?x=y#z", "django", "pip", "4.2"),
        ("pkg:maven/org.apache/log4j@2.0", "org.apache:log4j", "maven", "2.0"),
        ("pkg:", None, None, None),
    ],
)
def test_a_package_url_says_what_nothing_else_does(
    purl: str, name: str | None, ecosystem: str | None, version: str | None
) -> None:
    package = filed("generic", {"purl": purl})["package"]

    assert (package["name"], package["ecosystem"], package["installedVersion"]) == (name, ecosystem, version)


@pytest.mark.parametrize("style", ["flat", "nested"])
def test_a_generic_finding_may_be_flat_or_nested(style: str) -> None:
    flat = {"vulnId": "X-1", "severity": "Moderate", "package": "left-pad", "fixed_version": 2, "asset": "web-1"}
    nested = {
        "vuln": {"vulnId": "X-1", "severity": "Moderate"},
        "package": {"name": "left-pad", "fixedVersion": "2"},
        "asset": {"assetId": "web-1"},
    }
    record = filed("generic", flat if style == "flat" else nested)

    assert (record["vuln"]["vulnId"], record["vuln"]["severity"]) == ("X-1", "medium")
    assert (record["package"]["name"], record["package"]["fixedVersion"]) == ("left-pad", "2")
    assert record["asset"]["assetId"] == "web-1"


SEMGREP = {
    "check_id": "python.lang.subprocess-shell-true",
    "path": "src/a.py",
    "start": {"line": 5, "col": 5},
    "end": {"line": 6, "col": 40},
    "extra": {
        "message": "Found 'subprocess' with shell=True.",
        "severity": "ERROR",
        "metadata": {"cwe": ["CWE-78: OS Command Injection"], "references": ["https://semgrep.example/r"]},
        "fingerprint": "requires login",
    },
}
BANDIT = {
    "test_id": "B602",
    "filename": "src/a.py",
    "line_number": 5,
    "issue_severity": "HIGH",
    "issue_text": "subprocess call with shell=True identified.",
    "code": "5 subprocess.run(x, shell=True)",
}


@pytest.mark.parametrize(("entry", "rule"), [(SEMGREP, "python.lang.subprocess-shell-true"), (BANDIT, "B602")])
def test_what_analysers_write_by_themselves_is_read_with_rule_words_and_place(
    entry: dict[str, Any], rule: str
) -> None:
    record = filed("generic", entry)

    assert (record["vuln"]["vulnId"], record["vuln"]["severity"]) == (rule, "high")
    assert "shell=True" in record["vuln"]["title"]
    assert (record["location"]["path"], record["location"]["startLine"]) == ("src/a.py", 5)
    assert "parseWarnings" not in record


def test_a_severity_that_is_not_said_follows_from_the_score_and_that_is_told() -> None:
    record = filed("generic", {"vulnId": "X-1", "cvss": [{"baseScore": 9.1}]})

    assert record["vuln"]["severity"] == "critical"
    assert record["parseWarnings"] == ["the severity was taken from the CVSS score"]


def test_a_finding_without_any_name_is_named_by_its_content_and_that_is_told() -> None:
    first, second = filed("generic", {"odd": [1]}), filed("generic", {"odd": [2]})

    assert first["recordId"] != second["recordId"]
    assert "identifies" in first["parseWarnings"][0]
    assert first["raw"] == {"odd": [1]}


def test_a_record_that_was_exported_is_read_again_as_itself(tmp_path: Path) -> None:
    stored = Desk(tmp_path).record(ALERT, "dependabot")
    again = filed("manual", stored)

    assert again["recordId"] == stored["recordId"]
    assert {n: again[n] for n in ("vuln", "package", "asset", "exposure", "repo")} == {
        n: stored[n] for n in ("vuln", "package", "asset", "exposure", "repo")
    }


@pytest.mark.parametrize(
    "name", ["../x", "a/b", ".hidden", "", "a" * 129, "x\\y", "ä", "a b", "..", "-x", "a\n", [1]]
)
def test_a_record_id_that_could_lead_elsewhere_is_refused(name: Any) -> None:
    with pytest.raises(UnusableFindingError, match="safe name"):
        filed("generic", {"recordId": name, "vulnId": "X"})


@pytest.mark.parametrize("source", ["dependabot", "aws_inspector"])
@pytest.mark.parametrize(
    "value", [{}, {"name": "shop", "version": "1.0"}, {"recordType": "decision"}, [], 7, None]
)
def test_what_a_source_never_writes_is_no_finding(source: str, value: Any) -> None:
    with pytest.raises(UnusableFindingError):
        filed(source, value)


def test_what_is_too_deep_is_refused_and_what_is_too_long_is_not_kept_word_by_word() -> None:
    deep: Any = {}
    for _ in range(100):
        deep = {"a": deep}
    with pytest.raises(UnusableFindingError, match="deeper"):
        filed("generic", deep)

    record = filed("generic", {"vulnId": "X", "title": "t" * 9000, "description": "d" * 300_000})
    assert "raw" not in record
    assert len(record["vuln"]["title"]) == 500
    assert len(record["vuln"]["description"]) == 20_000


def test_other_names_of_a_source_mean_the_same() -> None:
    assert {canonical_source(name) for name in ("aws", "inspector", "aws-inspector")} == {"aws_inspector"}
    assert canonical_source("snyk") is None


KEYS = st.sampled_from(
    [
        "alert", "detail", "number", "security_advisory", "securityVulnerability", "dependency", "package", "name",
        "cvss", "cvss_severities", "cvss_v3", "score", "baseScore", "severity", "identifiers", "references", "url",
        "cwes", "nodes", "recordId", "recordType", "vuln", "vulnId", "title", "description", "asset", "tags",
        "packageVulnerabilityDetails", "vulnerablePackages", "epoch", "version", "resources", "findingArn",
        "inspectorScore", "codeVulnerabilityDetails", "filePath", "startLine", "location", "exposure", "repo",
        "compensatingControls", "networkReachabilityDetails", "networkPath", "steps", "summary", "ghsa_id", "line",
        "purl", "state",
    ]
)  # fmt: skip
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=20)
    | st.sampled_from(["pkg:npm/@a/b@1", "https://github.com/a/b/security/dependabot/1", "CVE-2020-1234", "9.8"])
)
JSON = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS | st.text(), inner, max_size=6)
)


@settings(max_examples=80, deadline=None)
@given(value=JSON | st.dictionaries(KEYS, JSON, min_size=2, max_size=8), source=st.sampled_from(sorted(SOURCES)))
def test_any_json_becomes_a_record_or_one_reason(value: Any, source: str) -> None:
    try:
        record = filed(source, value)
    except UnusableFindingError:
        return
    assert record["recordId"] == filed(source, copy.deepcopy(value))["recordId"]
    assert render(record).startswith("# ")
    assert record["vuln"]["severity"]
