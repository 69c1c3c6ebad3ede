"""`holdfast triage`: findings taken in, listed, decided about and packed, as a person types it."""

import json
from pathlib import Path

import pytest
from tests.cli.conftest import Cli
from tests.unit.search.triage_samples import ALERT, FINDING


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    root = tmp_path / "shop"
    root.mkdir()
    (root / "app.py").write_text("import yaml\n\n\ndef load(text):\n    return yaml.load(text)  # PyYAML\n")
    (root / "alerts.json").write_text(json.dumps([ALERT, {"number": 7}]))
    return root


def test_findings_are_taken_in_listed_decided_about_and_packed(cli: Cli, repository: Path) -> None:
    taken = cli("triage", "ingest", "dependabot", "alerts.json", "--meta", "service=shop", cwd=repository)
    assert taken.stdout.splitlines() == [
        "2 findings of dependabot: 1 written, 0 unchanged, 1 bad",
        "  entry 1: nothing in it is what a finding of dependabot has",
    ]
    (finding,) = json.loads(cli("triage", "list", "--json", cwd=repository).stdout)["findings"]
    assert (finding["severity"], finding["decision"], finding["package"]) == ("critical", "undecided", "PyYAML")

    name = finding["recordId"]
    decided = cli(
        "triage", "decide", name, "accept", "--because", "safe", "--expires", "2999-01-31", cwd=repository
    )
    again = cli("triage", "decide", name, "accept", "--because", "safe", "--expires", "2999-01-31", cwd=repository)
    assert decided.stdout.endswith(" written\n")
    assert again.stdout.endswith(" was on record already\n")
    listed = cli("triage", "list", cwd=repository).stdout.splitlines()
    assert listed[0].split()[:3] == [name, "critical", "accept"]
    assert listed[-1] == "1 of 1 finding: 1 accept"

    packed = json.loads(cli("triage", "pack", name, "-o", "pack.json", "--json", cwd=repository).stdout)
    pack = json.loads((repository / "pack.json").read_bytes())
    assert (packed["outPath"], packed["historyCount"]) == (str(repository / "pack.json"), 1)
    files = {hit["file"] for query in pack["repoEvidence"]["queries"] for hit in query["hits"]}
    assert "app.py" in files


def test_a_severity_that_no_finding_has_is_told_with_those_on_record(cli: Cli, repository: Path) -> None:
    cli("triage", "ingest", "dependabot", "alerts.json", cwd=repository)
    done = cli("triage", "list", "--severity", "criticl", cwd=repository)

    assert done.stdout == "0 of 1 finding: 1 undecided\n"
    assert done.stderr == "no finding is criticl; on record are: critical\n"


def test_records_are_found_by_the_next_search(cli: Cli, repository: Path) -> None:
    (repository / "findings.json").write_text(json.dumps({"findings": [FINDING]}))
    cli("triage", "ingest", "aws_inspector", "findings.json", "--build-index", cwd=repository)
    words = ("search", "--no-build", "--mode", "records", "--meta", "vuln.severity=high", "--json", "openssl")
    payload = json.loads(cli(*words, cwd=repository).stdout)

    assert [hit["name"] for hit in payload["records"]] == ["CVE-2022-0778"]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("ingest", "dependabot", "none.json"), "there is no input file none.json"),
        (("ingest", "snyk", "alerts.json"), "'snyk' is not one of"),
        (("ingest", "generic", "alerts.json", "--meta", "service"), "--meta 'service' is not KEY=VALUE"),
        (("decide", "0123", "accept"), "there is no finding 0123"),
        (("decide", "0123", "perhaps"), "'perhaps' is not one of"),
        (("decide", "0123", "fix", "--expires", "soon"), "--expires: must be an ISO date or time"),
        (("pack", "../x", "--no-build"), "RECORD: must be a record id"),
        (("pack", "0123", "-o", "pack.txt", "--no-build"), "--out: "),
    ],
)
def test_what_is_refused_is_one_line_with_its_remedy(
    cli: Cli, repository: Path, words: tuple[str, ...], told: str
) -> None:
    done = cli("triage", *words, cwd=repository)

    assert (done.returncode, done.stdout) == (2, "")
    assert told in done.stderr.splitlines()[0]
    assert done.stderr.splitlines()[1].startswith("  try: ")
    assert "holdfast search" not in done.stderr  # whose help would say nothing of it


def test_an_expired_decision_and_one_that_is_none_are_told_apart(cli: Cli, repository: Path) -> None:
    cli("triage", "ingest", "dependabot", "alerts.json", cwd=repository)
    (finding,) = json.loads(cli("triage", "list", "--json", cwd=repository).stdout)["findings"]
    late = cli("triage", "decide", finding["recordId"], "defer", "--expires", "2020-01-01", cwd=repository)

    assert "note: the decision has expired already: 2020-01-01" in late.stdout
    assert cli("triage", "list", "--status", "expired", cwd=repository).stdout.count(finding["recordId"]) == 1
    assert cli("triage", "list", "--status", "undecided", cwd=repository).stdout.startswith("0 of 1 finding:")


@pytest.mark.parametrize("name", ["", "ingest", "list", "pack", "decide"])
def test_every_command_is_explained_with_an_example(cli: Cli, name: str) -> None:
    done = cli("triage", *filter(None, [name]), "--help")

    assert done.returncode == 0
    assert "holdfast triage" in done.stdout.split("Example")[1]


def test_a_finding_with_nothing_but_a_title_is_listed_with_it(cli: Cli, repository: Path) -> None:
    (repository / "one.json").write_text('[{"id": "F1", "title": "door left open", "severity": "low"}]')
    taken = cli("triage", "ingest", "generic", "one.json", cwd=repository)
    assert taken.stdout == "1 finding of generic: 1 written, 0 unchanged, 0 bad\n"
    assert cli("triage", "list", cwd=repository).stdout.splitlines()[0].endswith(" door left open")


def test_findings_of_one_rule_in_one_file_are_listed_with_their_lines(cli: Cli, repository: Path) -> None:
    found = [{"check_id": "S1", "path": "a.py", "start": {"line": line}} for line in (5, 9)]
    (repository / "report.json").write_text(json.dumps({"results": found, "errors": []}))
    cli("triage", "ingest", "generic", "report.json", cwd=repository)
    listed = cli("triage", "list", cwd=repository).stdout.splitlines()[:2]

    assert sorted(line.split()[-1] for line in listed) == ["a.py:5", "a.py:9"]
