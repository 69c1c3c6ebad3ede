"""Ingesting a file: what is read, what is told, what is written, and that nothing else happens."""

import gzip
import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.unit.search.triage_samples import ALERT, FINDING, Desk

from holdfast.errors import ToolError
from holdfast.search.answers.triage import IngestResult
from holdfast.search.home import IndexHome
from holdfast.search.repository import index_home
from holdfast.search.triage import ingestion, intake
from holdfast.search.triage.record_files import RecordFiles
from holdfast.search.upkeep import collect_garbage


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def refusal(desk: Desk, value: Any, source: str = "generic", **arguments: Any) -> ToolError:
    with pytest.raises(ToolError) as caught:
        desk.ingest(value, source, **arguments)
    assert not list(desk.cache.rglob("*.json"))
    return caught.value


def everything(desk: Desk) -> dict[str, bytes]:
    places = sorted(desk.cache.rglob("records/*"))
    return {path.name: path.read_bytes() for path in places}


# --- what is read ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("wrapper", ["alerts", "findings", "records", "items", "results", "issues"])
def test_a_list_may_stand_alone_or_inside_of_an_object(desk: Desk, wrapper: str) -> None:
    listed = [{"vulnId": "A"}, {"vulnId": "B"}]

    assert desk.ingest(listed)["recordIds"] == desk.ingest({wrapper: listed, "count": 2})["recordIds"]


def test_one_object_is_one_finding_and_pages_of_lists_are_one_list(desk: Desk) -> None:
    assert desk.ingest({"vulnId": "A"})["total"] == 1
    assert desk.ingest([[{"vulnId": "A"}], [{"vulnId": "B"}]])["total"] == 2
    assert desk.ingest([])["total"] == 0


def test_a_document_in_which_nothing_of_a_finding_is_found_is_told(desk: Desk) -> None:
    told = desk.ingest({"auditReportVersion": 2, "vulnerabilities": {"minimist": {"severity": "high"}}})[
        "warnings"
    ]

    assert [warning["code"] for warning in told] == ["nothing-known"]
    assert told[0]["message"].startswith("no rule, title, package or place was found in 1 finding: ")
    assert desk.ingest([{"title": "door left open"}, {"file": "a.py"}])["warnings"] == []


def test_bad_lines_are_told_with_their_numbers_and_cost_only_themselves(desk: Desk) -> None:
    lines = '{"vulnId": "A"}\n\n{"vulnId": \n{"vulnId": "B"}\r\n17\n'
    answer = desk.ingest(lines)

    assert (answer["total"], answer["written"], answer["errors"]) == (4, 2, 2)
    assert [detail["index"] for detail in answer["errorDetails"]] == [1, 3]
    assert answer["errorDetails"][0]["message"].startswith("line 3: no JSON, at column")
    assert answer["errorDetails"][1]["message"] == "line 5: it is not an object"
    IngestResult.model_validate(answer)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_what_a_shell_has_written_in_its_own_way_is_read_too(desk: Desk, encoding: str) -> None:
    assert desk.ingest('{"title": "Zürich"}'.encode(encoding))["written"] == 1


def test_a_list_that_goes_on_elsewhere_is_told(desk: Desk) -> None:
    answer = desk.ingest({"findings": [FINDING], "nextToken": "abc"}, "aws_inspector")

    assert [warning["code"] for warning in answer["warnings"]] == ["more-pages"]


def test_an_explicit_path_may_lie_outside_of_the_repository(desk: Desk, tmp_path: Path) -> None:
    (tmp_path / "alerts.json").write_text(json.dumps([ALERT]))

    assert desk.ingest(None, "dependabot", input_path=str(tmp_path / "alerts.json"))["written"] == 1
    assert desk.ingest(None, "dependabot", input_path="../alerts.json")["unchanged"] == 1


QUERIED = {
    "number": 12,
    "vulnerableManifestPath": "api/requirements.txt",
    "securityVulnerability": {
        "package": {"name": "PyYAML", "ecosystem": "PIP"},
        "advisory": {"ghsaId": "GHSA-8q59-q68h-6hv4", "summary": "Improper Input Validation in PyYAML"},
    },
}


@pytest.mark.parametrize("form", ["nodes", "edges", "organization", "list"])
def test_an_export_of_the_query_language_is_the_same_finding_as_the_alert_itself(desk: Desk, form: str) -> None:
    listed = {"edges": [{"node": QUERIED}]} if form == "edges" else {"nodes": [QUERIED]}
    alerts = {**listed, "pageInfo": {"hasNextPage": form == "nodes"}}
    repository = {"nameWithOwner": "octo/shop", "vulnerabilityAlerts": alerts}
    data: Any = {"repository": repository}
    if form == "organization":
        data = {"organization": {"repositories": {"nodes": [repository]}}}
    answer = desk.ingest([{"data": data}] if form == "list" else {"data": data}, "dependabot")

    assert answer["recordIds"] == desk.ingest([ALERT], "dependabot")["recordIds"]
    assert [warning["code"] for warning in answer["warnings"]] == (["more-pages"] if form == "nodes" else [])


def test_pages_are_put_together_however_they_are_kept(desk: Desk) -> None:
    numbered = [FINDING | {"findingArn": f"arn:{number}"} for number in range(4)]
    pages = [{"findings": numbered[:2], "nextToken": "x"}, {"findings": numbered[2:], "ResponseMetadata": {}}]
    forms = [
        pages,
        "\n".join(map(json.dumps, pages)),
        json.dumps(numbered[:2]) + json.dumps(numbered[2:], indent=1),
        json.dumps(pages[0], indent=1) + "\n" + json.dumps(pages[1], indent=1),
    ]
    answers = [desk.ingest(form, "aws_inspector") for form in forms]

    assert [(one["total"], one["errors"], one["warnings"]) for one in answers] == [(4, 0, [])] * 4
    assert len({tuple(one["recordIds"]) for one in answers}) == 1


def test_what_was_packed_is_unpacked_and_never_beyond_the_limit(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    packed = gzip.compress(b'{"vulnId": "A"}\n{"vulnId": "B"}\n') + gzip.compress(b'{"vulnId": "C"}\n')
    answer = desk.ingest(None, input_path=desk.write(packed, "findings.jsonl.gz"))

    assert (answer["written"], answer["errors"]) == (3, 0)
    shutil.rmtree(desk.cache)
    assert "no whole gzip file" in refusal(desk, packed[:20]).message
    monkeypatch.setattr(intake, "MOST_BYTES", 10_000)
    assert "larger than" in refusal(desk, gzip.compress(b" " * 1_000_000)).message


def test_the_same_findings_in_another_order_another_file_and_at_another_time_are_the_same_records(
    desk: Desk,
) -> None:
    findings: list[dict[str, Any]] = [
        {"ruleId": "S1", "file": "a.py", "line": 3},
        {"ruleId": "S1", "file": "b.py", "line": 3},
        {"odd": [1]},
    ]
    later = [{**finding, "lastSeen": "2027-01-01", "scan": {"time": 7}} for finding in reversed(findings)]
    first = desk.ingest([{**finding, "scan": {}} for finding in findings])
    again = desk.ingest(None, input_path=desk.write(later, "later.json"))

    assert (first["written"], len(set(first["recordIds"]))) == (3, 3)
    assert set(again["recordIds"]) == set(first["recordIds"])
    assert len(list(desk.cache.rglob("records/*.json"))) == 3


# --- what is refused ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("hello", 1),
        ('[\n  {"a": 1},\n  {"a": 2}\n', 4),
        ('{"a": 1,\n "b": }\n', 2),
        ("[" * 5000, 1),
        ("\0\x01", 1),
    ],
)
def test_what_is_not_json_is_refused_with_its_place(desk: Desk, text: str, line: int) -> None:
    error = refusal(desk, text)

    assert (error.code, error.details["line"]) == ("INVALID_REQUEST", line)
    assert "column" in error.message


@pytest.mark.parametrize("text", ["", " \n\t"])
def test_an_empty_file_is_refused(desk: Desk, text: str) -> None:
    assert refusal(desk, text).code == "INVALID_REQUEST"


@pytest.mark.parametrize(
    ("path", "code"),
    [("none.json", "NOT_FOUND"), ("input.json/x", "NOT_FOUND"), (".", "INVALID_REQUEST"),
     ("pipe", "INVALID_REQUEST"), ("a\0b", "INVALID_REQUEST"), ("x" * 5000, "INVALID_REQUEST"),
     ("y" * 300, "INVALID_REQUEST"),
     ("loop", "INVALID_REQUEST"), (" ", "INVALID_REQUEST"), ("/dev/zero", "INVALID_REQUEST")],
)  # fmt: skip
def test_a_path_without_a_file_is_refused_in_the_callers_words(desk: Desk, path: str, code: str) -> None:
    desk.write({"vulnId": "A"})
    os.mkfifo(desk.repository.root / "pipe")
    (desk.repository.root / "loop").symlink_to("loop")
    error = refusal(desk, None, input_path=path)

    assert error.code == code
    assert str(desk.repository.root) not in error.message


def test_a_file_that_is_too_large_or_has_too_many_entries_is_refused(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(intake, "MOST_BYTES", 1000)
    monkeypatch.setattr(intake, "MOST_ENTRIES", 10)

    assert "larger than" in refusal(desk, [{"title": "x" * 2000}]).message
    assert "more than 10 entries" in refusal(desk, [{}] * 11).message
    assert "more than 10 entries" in refusal(desk, "{}\n" * 11).message


def test_all_wrong_arguments_are_told_at_once(desk: Desk) -> None:
    meta = {"service": ["a"], "exposure": {"internetExposed": "perhaps", "colour": "red"}}
    error = refusal(desk, None, "snyk", input_path="", meta=meta)
    places = [found["instancePath"] for found in error.details["violations"]]

    assert error.code == "INVALID_REQUEST"
    assert places == [
        "/meta/service",
        "/meta/exposure.internetExposed",
        "/meta/exposure.colour",
        "/source",
        "/inputPath",
    ]
    assert "dependabot, aws_inspector, sarif, generic, manual" in error.details["violations"][3]["message"]


@pytest.mark.parametrize("meta", [{"a": "\ud800"}, {"a": 2**80}, {"a": "x" * 70_000}, {"a": object()}, [1]])
def test_meta_that_json_cannot_say_or_that_is_too_long_is_refused(desk: Desk, meta: Any) -> None:
    assert refusal(desk, {"vulnId": "A"}, meta=meta).code == "INVALID_REQUEST"


def test_a_file_without_any_finding_is_refused_with_the_reasons(desk: Desk) -> None:
    error = refusal(desk, [{"name": "x"}, 1, None], "dependabot")

    assert (error.code, error.details["errors"]) == ("INVALID_REQUEST", 3)
    assert [detail["index"] for detail in error.details["errorDetails"]] == [0, 1, 2]


# --- what is written ------------------------------------------------------------------------------------------


def test_the_same_findings_again_change_nothing(desk: Desk) -> None:
    first = desk.ingest([ALERT], "dependabot")
    before = everything(desk)
    again = desk.ingest([ALERT], "dependabot")

    assert (again["written"], again["unchanged"], again["recordIds"]) == (0, 1, first["recordIds"])
    assert everything(desk) == before


def test_a_finding_that_changed_keeps_its_id_and_the_time_of_its_making(desk: Desk) -> None:
    old = desk.record(ALERT, "dependabot")
    new = desk.record(ALERT | {"state": "fixed"}, "dependabot")

    assert (new["recordId"], new["createdAt"]) == (old["recordId"], old["createdAt"])
    assert new["state"] == "fixed"
    assert new["updatedAt"] >= old["updatedAt"]


def test_a_finding_in_a_list_then_in_an_event_and_seen_again_later_is_unchanged(desk: Desk) -> None:
    listed = FINDING | {"lastObservedAt": 1657108800.0}
    event = {"id": "e-1", "detail-type": "Inspector2 Finding", "time": "2027-01-01T00:00:00Z"}
    retold = event | {"detail": FINDING | {"lastObservedAt": "Wed Jul 06 2022"}}
    alert = {"action": "created", "alert": ALERT, "repository": {"full_name": "octo/shop"}}
    told = [("aws_inspector", one) for one in (listed, retold, listed)]
    told += [("dependabot", one) for one in (ALERT, alert, ALERT | {"updated_at": "2027-01-01T00:00:00Z"})]

    assert [desk.ingest([one], source)["written"] for source, one in told] == [1, 0, 0, 1, 0, 0]


def test_a_date_that_somebody_wrote_by_hand_is_a_change(desk: Desk) -> None:
    told = [{"vulnId": "A", "due": {"date": day}} for day in ("2027-01-01", "2027-02-01")]

    assert [desk.ingest([one])["written"] for one in told] == [1, 1]


def test_what_is_lost_or_damaged_is_written_anew(desk: Desk) -> None:
    record = desk.ingest({"vulnId": "A"})["records"][0]
    Path(record["mdPath"]).unlink()
    assert desk.ingest({"vulnId": "A"})["unchanged"] == 1
    assert Path(record["mdPath"]).exists()

    Path(record["jsonPath"]).write_text("{")
    assert desk.ingest({"vulnId": "A"})["written"] == 1


def test_a_finding_twice_in_one_file_is_told(desk: Desk) -> None:
    answer = desk.ingest([{"vulnId": "A"}, {"vulnId": "B"}, {"vulnId": "A", "title": "other"}])

    assert (answer["written"], answer["errors"]) == (2, 1)
    assert answer["errorDetails"][0]["index"] == 2
    assert "same finding as entry 0" in answer["errorDetails"][0]["message"]


def test_a_record_of_another_kind_is_never_written_over(desk: Desk) -> None:
    finding = desk.ingest([ALERT], "dependabot")["recordIds"][0]
    decision = desk.decide(finding)["recordId"]
    before = everything(desk)
    hostile = [{"recordId": finding, "title": "x"}, {"recordId": decision, "title": "x"}, {"vulnId": "fine"}]
    answer = desk.ingest(hostile)

    assert [detail["index"] for detail in answer["errorDetails"]] == [0, 1]
    assert before.items() <= everything(desk).items()


def test_meta_goes_where_it_belongs_and_the_rest_is_kept(desk: Desk) -> None:
    meta = {
        "service": "shop",
        "internetExposed": "yes",
        "exposure.publicEndpoint": "https://shop.example/pay",
        "exposure": {"compensatingControls": "waf, mtls"},
        "ticket": {"id": 7},
    }
    record = desk.record(ALERT, "dependabot", meta=meta)

    assert record["service"] == "shop"
    assert record["exposure"]["internetExposed"] is True
    assert record["exposure"]["publicEndpoint"] == "https://shop.example/pay"
    assert record["exposure"]["compensatingControls"] == ["waf", "mtls"]
    assert record["meta"] == {"ticket": {"id": 7}}


def test_a_long_answer_is_cut_and_everything_is_counted(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ingestion, "MOST_LISTED", 10)
    answer = desk.ingest([{"vulnId": f"V-{number}"} for number in range(13)])

    assert (answer["written"], len(answer["recordIds"]), len(answer["records"])) == (13, 10, 10)
    assert [warning["code"] for warning in answer["warnings"]] == ["list-cut"]


# --- what happens when it is interrupted ----------------------------------------------------------------------


def test_stopping_in_the_middle_leaves_everything_as_it_was(desk: Desk) -> None:
    desk.ingest({"vulnId": "A"})
    before = everything(desk)
    asked = iter(range(10))
    with pytest.raises(ToolError) as caught:
        desk.ingest([{"vulnId": f"V-{n}"} for n in range(50)], stop=lambda: next(asked, 9) >= 5)

    assert caught.value.code == "CANCELLED"
    assert everything(desk) == before
    assert not list(desk.cache.rglob("staging-*"))


def test_stopping_ends_the_wait_for_another_writer(desk: Desk) -> None:
    import fcntl

    desk.ingest({"vulnId": "A"})
    with next(desk.cache.rglob("writer.lock")).open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(ToolError) as caught:
            desk.ingest({"vulnId": "B"}, stop=lambda: True)

    assert caught.value.code == "CANCELLED"


def test_a_writer_that_does_not_end_is_named(desk: Desk) -> None:
    files = RecordFiles(desk.repository, desk.cache)
    with files.writing(lambda: False), pytest.raises(ToolError) as caught, files.writing(lambda: False, wait=0):
        pass

    assert caught.value.code == "QUEUE_OVERLOADED"
    assert str(os.getpid()) in caught.value.message


CHILD = """
import os, resource, signal, sys
from pathlib import Path
from holdfast.errors import ToolError
from holdfast.search.repository import find_repository
from holdfast.search.triage import ingest

def progress(stage, done, total, detail):
    if how == "killed" and done >= 100:
        os.kill(os.getpid(), signal.SIGKILL)

root, cache, path, how = sys.argv[1:]
if how == "full":
    sys.dont_write_bytecode = True
    resource.setrlimit(resource.RLIMIT_FSIZE, (600, 600))
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
try:
    answer = ingest(find_repository(root), Path(cache), source="generic", input_path=path, meta=None,
                    progress=progress, stop=lambda: False)
    print(answer["written"], answer["unchanged"])
except ToolError as error:
    print(error.code)
"""


def child(desk: Desk, path: str, how: str = "") -> subprocess.Popen[str]:
    command = [sys.executable, "-c", CHILD, str(desk.repository.root), str(desk.cache), path, how]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def test_a_writer_that_is_killed_leaves_the_old_state_and_the_next_one_cleans_up(desk: Desk) -> None:
    desk.ingest({"vulnId": "A"})
    before = everything(desk)
    path = desk.write([{"vulnId": f"V-{number}"} for number in range(150)], "many.json")
    with child(desk, path, "killed") as process:
        assert process.wait(timeout=30) == -signal.SIGKILL

    assert everything(desk) == before
    assert list(desk.cache.rglob("staging-*"))
    assert desk.ingest(None, input_path=path)["written"] == 150
    assert not list(desk.cache.rglob("staging-*"))


def test_a_full_disk_is_told_and_changes_nothing(desk: Desk) -> None:
    desk.ingest({"vulnId": "A"})
    before = everything(desk)
    path = desk.write([{"vulnId": "B", "title": "x" * 400}], "long.json")
    with child(desk, path, "full") as process:
        assert process.communicate(timeout=30)[0].strip() == "CAPABILITY_MISSING"

    assert everything(desk) == before


def test_two_processes_at_once_lose_nothing(desk: Desk) -> None:
    shared = [{"vulnId": f"S-{number}"} for number in range(100)]
    paths = [
        desk.write([*shared, *({"vulnId": f"{name}-{number}"} for number in range(100))], f"{name}.json")
        for name in "ab"
    ]
    with child(desk, paths[0]) as first, child(desk, paths[1]) as second:
        counts = [[int(n) for n in one.communicate(timeout=30)[0].split()] for one in (first, second)]

    assert sorted(counts) == [[100, 100], [200, 0]]
    records = [json.loads(data) for name, data in everything(desk).items() if name.endswith(".json")]
    assert len({record["vuln"]["vulnId"] for record in records}) == 300


def test_no_clean_up_of_the_index_removes_records(desk: Desk) -> None:
    desk.ingest({"vulnId": "A"})
    before = everything(desk)
    home = IndexHome(index_home(desk.repository, desk.cache))
    with home.writing():
        home.promote(home.new_build(), desk.repository.root / "gone")
    collect_garbage(desk.cache)
    collect_garbage(desk.cache)

    assert not home.builds.exists()
    assert everything(desk) == before
    assert (home.directory / "triage" / ".gitignore").read_text() == "*\n"


def test_a_cache_that_may_not_be_written_to_is_told(desk: Desk) -> None:
    desk.cache.write_text("a file, not a directory")
    with pytest.raises(ToolError) as caught:
        desk.ingest({"vulnId": "A"})

    assert caught.value.code == "CAPABILITY_MISSING"
