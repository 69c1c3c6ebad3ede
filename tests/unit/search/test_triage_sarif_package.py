"""The package that a result of SARIF is about: in properties, in package URLs, in the lines of Trivy's message."""

from pathlib import Path
from typing import Any

import pytest
from tests.unit.search.triage_samples import Desk

TRIVY = (
    "Package: libssl3\nInstalled Version: 3.0.2-0ubuntu1\nVulnerability CVE-2022-0778\nSeverity: HIGH\n"
    "Fixed Version: 3.0.2-0ubuntu1.2\nLink: [CVE-2022-0778](https://avd.aquasec.com/nvd/cve-2022-0778)"
)
PURL = "pkg:npm/%40scope/left-pad@1.2.3"


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def about(
    desk: Desk, text: str = "bad", tool: str = "scan", rule: dict[str, Any] | None = None, **result: Any
) -> dict[str, Any]:
    """What the record says of the package, as far as it says something."""
    driver = {"name": tool, "rules": [{"id": "CVE-2022-0778", **(rule or {})}]}
    found = {"ruleId": "CVE-2022-0778", "message": {"text": text}, **result}
    log = {"version": "2.1.0", "runs": [{"tool": {"driver": driver}, "results": [found]}]}
    return {name: said for name, said in desk.record(log, "sarif")["package"].items() if said}


def test_the_message_of_trivy_tells_package_and_versions(desk: Desk) -> None:
    told = {"name": "libssl3", "installedVersion": "3.0.2-0ubuntu1", "fixedVersion": "3.0.2-0ubuntu1.2"}

    assert about(desk, TRIVY, "Trivy") == told


def test_a_version_that_mends_nothing_yet_is_none(desk: Desk) -> None:
    told = about(desk, TRIVY.replace("3.0.2-0ubuntu1.2", ""), "Trivy")

    assert told == {"name": "libssl3", "installedVersion": "3.0.2-0ubuntu1"}


@pytest.mark.parametrize(
    ("tool", "text"),
    [
        ("Trivy", "Artifact: main.tf\nType: terraform\nVulnerability AVD-1\nSeverity: LOW\nMessage: Package: x"),
        ("Trivy", "Artifact: app/.env\nSecret AWS\nMatch: Package: x"),
        ("Other", TRIVY),
    ],
)
def test_other_messages_are_no_packages(desk: Desk, tool: str, text: str) -> None:
    assert about(desk, text, tool) == {}


def test_fields_win_over_the_message_and_those_of_the_result_over_those_of_its_rule(desk: Desk) -> None:
    of_rule = {"properties": {"packageName": "rule", "fixedVersion": "9", "purl": "pkg:npm/other@1"}}
    told = about(desk, TRIVY, "Trivy", of_rule, properties={"package": {"name": "own", "version": "2"}})

    assert told == {
        "name": "own", "installedVersion": "2", "fixedVersion": "9", "ecosystem": "npm", "purl": "pkg:npm/other@1",
    }  # fmt: skip


@pytest.mark.parametrize(
    "said",
    [
        {"properties": {"purl": PURL}},
        {"rule": {"properties": {"purls": [PURL]}}},
        {"locations": [{"logicalLocations": [{"name": "x"}, {"fullyQualifiedName": PURL}]}]},
    ],
)
def test_a_package_url_tells_name_ecosystem_and_version(desk: Desk, said: dict[str, Any]) -> None:
    told = {"name": "@scope/left-pad", "ecosystem": "npm", "installedVersion": "1.2.3", "purl": PURL}

    assert about(desk, **said) == told


@pytest.mark.parametrize("purls", [[PURL, "pkg:npm/b@1"], ["npm/b"], [7], {"a": 1}])
def test_package_urls_that_leave_open_what_is_meant_mean_nothing(desk: Desk, purls: Any) -> None:
    assert about(desk, rule={"properties": {"purls": purls}}) == {}
