"""Records of triage in the index: found by words and by fields, shown by their paths, as fresh as all else."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.unit.search.triage_samples import ALERT, FINDING, Desk

from holdfast.search.home import IndexHome
from holdfast.search.library import build_index, open_index
from holdfast.search.repository import index_home
from holdfast.search.request import SearchRequest
from holdfast.search.show_file import show_file


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    made = Desk(tmp_path)
    (made.repository.root / "app.py").write_text("import yaml\n\n\ndef load(text):\n    return yaml.load(text)\n")
    return made


def found(desk: Desk, query: str = "*", **arguments: Any) -> list[dict[str, Any]]:
    asked = {"query": query, "mode": "records", "output": "full", **arguments}
    with open_index(desk.repository, desk.cache) as index:
        return list(index.search(SearchRequest.from_arguments(asked))["records"])


def stale(desk: Desk) -> bool:
    with open_index(desk.repository, desk.cache) as index:
        return index.is_stale()


def test_a_finding_and_its_decision_are_found_by_words_and_by_fields(desk: Desk) -> None:
    alert = desk.ingest([ALERT], "dependabot", meta={"service": "shop"})["recordIds"][0]
    desk.ingest([FINDING], "aws_inspector")
    decision = desk.decide(alert, status="accept", justification="the loader is safe")["recordId"]
    build_index(desk.repository, desk.cache)

    assert {hit["record"]["recordId"] for hit in found(desk, "PyYAML")} == {alert, decision}
    assert [hit["name"] for hit in found(desk, meta={"vuln.severity": "high"})] == ["CVE-2022-0778"]
    assert [hit["record"]["recordId"] for hit in found(desk, metaJson={"status": "accept"})] == [decision]
    assert [hit["record"]["recordId"] for hit in found(desk, meta=["recordType=finding", "service=shop"])] == [
        alert
    ]
    assert found(desk, "openssl", meta="packageName=openssl")[0]["kind"] == "record"
    assert found(desk, meta="severity=low") == []


def test_new_records_make_the_index_stale_until_it_is_brought_up_to_date(desk: Desk) -> None:
    build_index(desk.repository, desk.cache)
    assert not stale(desk)
    desk.ingest(None, "dependabot", input_path=desk.write([ALERT]))
    build_index(desk.repository, desk.cache)
    desk.ingest([ALERT | {"state": "fixed"}], "dependabot")

    assert stale(desk)
    assert build_index(desk.repository, desk.cache)["action"] == "updated"
    assert (stale(desk), found(desk)[0]["record"]["state"]) == (False, "fixed")
    assert build_index(desk.repository, desk.cache)["action"] == "unchanged"


def test_a_record_is_shown_by_the_path_of_its_hit(desk: Desk) -> None:
    desk.ingest([ALERT], "dependabot")
    build_index(desk.repository, desk.cache)
    (hit,) = found(desk, "PyYAML")
    records = IndexHome(index_home(desk.repository, desk.cache)).records
    shown = show_file(desk.repository, path=hit["file"], records=records)

    assert shown["text"].startswith("# CVE-2020-14343: Improper Input Validation in PyYAML\n")
    assert shown["totalLines"] >= hit["endLine"]


def test_what_is_no_record_in_that_directory_is_told_and_found_nowhere(desk: Desk) -> None:
    record = Path(desk.ingest([ALERT], "dependabot")["records"][0]["jsonPath"])
    (record.parent / "broken.json").write_text("{half")
    (record.parent / "list.json").write_text(json.dumps([1]))
    build_index(desk.repository, desk.cache, full=True)

    assert len(found(desk)) == 1
    with open_index(desk.repository, desk.cache) as index:
        remarks = {one["path"]: one["remark"] for one in index.status()["remarks"]}
    assert remarks == dict.fromkeys([".triage/broken.md", ".triage/list.md"], "it is no record of triage")


def test_files_of_the_repository_in_a_directory_of_that_name_are_files_as_all_others(desk: Desk) -> None:
    own = desk.repository.root / ".triage" / "notes.md"
    own.parent.mkdir()
    own.write_text("# Notes\n\nabout budgets\n")
    desk.ingest([ALERT], "dependabot")
    build_index(desk.repository, desk.cache)
    assert not stale(desk)
    own.write_text("# Notes\n\nabout other things, and longer\n")

    assert stale(desk)
    assert len(found(desk)) == 1
