"""The telemetry service: what it keeps, refuses and answers; in process and over HTTP."""

import json
import multiprocessing
import sqlite3
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from holdfast.errors import ToolError, UsageError
from holdfast.launch.http_client import Answer, call
from holdfast.launch.http_service import Application, running
from holdfast.launch.identifiers import request_key
from holdfast.launch.telemetry.http import make_app
from holdfast.launch.telemetry.service import TelemetryService

NOW = datetime(2026, 1, 21, 10, tzinfo=UTC)
RUNS = "/api/v1/runs"


def record(name: str = "one", **changes: Any) -> dict[str, Any]:
    return {
        "event_id": request_key(name),
        "run_id": f"run_{name}",
        "agent_name": "launch.orchestrator",
        "job_type": "launch",
        "start_time": "2026-01-21T10:00:00Z",
        **changes,
    }


def event(run_id: str, seq: int = 1, **changes: Any) -> dict[str, Any]:
    return {
        "event_id": f"{run_id}:{seq}",
        "run_id": run_id,
        "seq": seq,
        "ts": "2026-01-21T10:00:00.000000Z",
        "type": "RUN_CREATED",
        "payload": {},
        "trace_id": "a" * 32,
        "span_id": "b" * 16,
        "parent_span_id": None,
        "prev_hash": "0" * 64,
        "event_hash": "1" * 64,
        **changes,
    }


class Clock:
    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> datetime:
        self.now += timedelta(seconds=1)
        return self.now


@pytest.fixture
def service(tmp_path: Path) -> Iterator[TelemetryService]:
    with TelemetryService(tmp_path / "telemetry.sqlite", now=Clock()) as made:
        yield made


@pytest.fixture
def app(service: TelemetryService) -> Application:
    return make_app(service, None)


def ask(app: Application, method: str, path: str, document: Any = None) -> tuple[int, Any]:
    reply = app.ask(method, path, document)
    return reply.status, reply.document


def test_a_record_is_kept_once_and_a_repeat_returns_what_is_stored(app: Application) -> None:
    status, stored = ask(app, "POST", RUNS, record())
    again = ask(app, "POST", RUNS, record(product="another"))

    assert status == 201
    assert stored["status"] == "running"
    assert again == (200, stored)


@pytest.mark.parametrize(
    ("change", "where"),
    [
        ({"extra": 1}, ""),
        ({"event_id": "x"}, "/event_id"),
        ({"status": "maybe"}, "/status"),
        ({"duration_ms": -1}, "/duration_ms"),
        ({"start_time": "yesterday"}, "/start_time"),
        ({"start_time": "2026-01-21T10:00:00"}, "/start_time"),
        ({"end_time": "0001-01-01T00:00:00+23:59"}, "/end_time"),
        ({"context_json": []}, "/context_json"),
        ({"context_json": {"x": "x" * 300_000}}, ""),
        ({"product": "x" * 4001}, "/product"),
    ],
)
def test_a_record_that_does_not_fit_is_refused_with_its_place(
    app: Application, change: dict[str, Any], where: str
) -> None:
    status, told = ask(app, "POST", RUNS, record(**change))

    assert (status, told["code"]) == (400, "INVALID_INPUT")
    assert told["details"]["violations"][0]["instancePath"] == where
    assert ask(app, "GET", "/api/v1/metadata")[1]["counts"]["runs"] == 0


@pytest.mark.parametrize("document", [None, [], "x", 1, {}, [record()]])
def test_what_is_no_record_at_all_is_refused(app: Application, document: Any) -> None:
    assert ask(app, "POST", RUNS, document)[0] == 400


def test_a_change_adds_to_context_and_finds_out_the_duration(app: Application) -> None:
    ask(app, "POST", RUNS, record(context_json={"trace_id": "t"}))
    changes = {"status": "success", "end_time": "2026-01-21T11:00:01.5+01:00", "context_json": {"state": "DONE"}}

    status, changed = ask(app, "PATCH", f"{RUNS}/{request_key('one')}", changes)

    assert (status, changed["status"], changed["duration_ms"]) == (200, "success", 1500)
    assert changed["context_json"] == {"trace_id": "t", "state": "DONE"}
    assert changed["updated_at"] > changed["created_at"]
    assert ask(app, "PATCH", f"{RUNS}/{request_key('one')}", changes) == (200, changed)


@pytest.mark.parametrize(
    "changes", [{}, [], {"run_id": "x"}, {"commit_hash": "abcdef0"}, {"unknown": 1}, {"status": "maybe"}]
)
def test_a_change_of_what_is_fixed_or_unknown_changes_nothing(app: Application, changes: Any) -> None:
    _, stored = ask(app, "POST", RUNS, record())

    assert ask(app, "PATCH", f"{RUNS}/{request_key('one')}", changes)[0] == 400
    assert ask(app, "GET", f"{RUNS}/run_one") == (200, stored)


def test_what_nobody_knows_is_not_found(app: Application) -> None:
    assert ask(app, "PATCH", f"{RUNS}/nobody", {"status": "success"})[0] == 404
    assert ask(app, "GET", f"{RUNS}/nobody")[1]["code"] == "RUN_NOT_FOUND"
    assert ask(app, "GET", f"{RUNS}/nobody/events")[0] == 404
    assert ask(app, "POST", f"{RUNS}/nobody0/events", event("nobody00"))[0] == 400
    assert ask(app, "POST", f"{RUNS}/nobody00/events", event("nobody00"))[0] == 404
    missing = {"error": "there is no record of this run", "run_id": "nobody"}
    assert ask(app, "GET", "/telemetry/nobody") == (404, missing)


def test_a_commit_is_said_once_and_another_one_is_a_conflict(app: Application) -> None:
    ask(app, "POST", RUNS, record())
    path = f"{RUNS}/{request_key('one')}/associate-commit"
    commit = {"commit_hash": "a" * 40, "commit_source": "llm", "author": "A", "timestamp": "2026-01-21T10:00:00Z"}

    status, stored = ask(app, "POST", path, commit)

    assert (status, stored["commit_author"], stored["commit_hash"]) == (200, "A", "a" * 40)
    assert ask(app, "POST", path, commit) == (200, stored)
    status, told = ask(app, "POST", path, commit | {"commit_hash": "b" * 40})
    assert (status, told["code"], told["details"]["commit_hash"]) == (409, "KEY_CONFLICT", "a" * 40)


@pytest.mark.parametrize(
    "commit",
    [
        {},
        {"commit_hash": "abcdef0"},
        {"commit_hash": "main", "commit_source": "ci"},
        {"commit_hash": "abcdef0", "commit_source": "nobody"},
        {"commit_hash": "abcdef0", "commit_source": "ci", "sha": "x"},
        {"commit_hash": ["abcdef0"], "commit_source": "ci"},
        "abcdef0",
    ],
)
def test_a_commit_that_is_none_is_refused(app: Application, commit: Any) -> None:
    ask(app, "POST", RUNS, record())

    assert ask(app, "POST", f"{RUNS}/{request_key('one')}/associate-commit", commit)[0] == 400


def test_a_batch_keeps_what_it_can_and_says_so_for_each(app: Application) -> None:
    ask(app, "POST", RUNS, record("known"))
    batch = {"runs": [record("new"), {"event_id": "bad"}, record("known"), record("new"), 7]}

    status, told = ask(app, "POST", f"{RUNS}/batch", batch)

    assert status == 200
    words = [one["status"] for one in told["results"]]
    assert words == ["created", "failed", "existing", "existing", "failed"]
    assert (told["created"], told["existing"], told["failed"]) == (1, 2, 2)
    assert told["results"][1]["error"]["details"]["violations"]


def test_a_batch_as_one_keeps_everything_or_nothing(app: Application) -> None:
    path = f"{RUNS}/batch-transactional"
    status, told = ask(app, "POST", path, {"runs": [record("a"), record("b", status="maybe"), record("c")]})

    assert status == 400
    assert told["details"]["violations"][0]["instancePath"] == "/runs/1/status"
    assert ask(app, "GET", "/api/v1/metadata")[1]["counts"]["runs"] == 0
    status, told = ask(app, "POST", path, {"runs": [record("a"), record("c"), record("a")]})
    assert (status, told["created"], told["existing"]) == (201, 2, 1)


@pytest.mark.parametrize("batch", [[], {"runs": []}, {"runs": [{}] * 1001}, {"runs": {}}, {"runs": [], "x": 1}])
@pytest.mark.parametrize("path", ["batch", "batch-transactional"])
def test_a_batch_that_is_empty_or_too_long_is_refused(app: Application, path: str, batch: Any) -> None:
    assert ask(app, "POST", f"{RUNS}/{path}", batch)[0] == 400


@pytest.fixture
def many(service: TelemetryService) -> TelemetryService:
    for number in range(12):
        begun = f"2026-01-{number + 1:02}T00:00:00+0{number % 3}:00"
        status = "success" if number % 2 else "failure"
        parent = None if number == 0 else "run_0"
        service.add_run(record(str(number), start_time=begun, status=status, parent_run_id=parent))
    return service


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({}, list(range(11, -1, -1))),
        ({"limit": "3"}, [11, 10, 9]),
        ({"limit": "3", "offset": "10"}, [1, 0]),
        ({"status": "success", "limit": "2"}, [11, 9]),
        ({"run_id": "run_4"}, [4]),
        ({"parent_run_id": "run_0", "since": "2026-01-10T00:00:00Z"}, [11, 10, 9]),
        ({"until": "2026-01-02T00:00:00Z"}, [1, 0]),
        ({"since": "2026-01-02T00:00:00 01:00", "until": "2026-01-03T00:00:00Z"}, [2, 1]),
        ({"job_type": "gate"}, []),
        ({"product": "%' OR 1=1 --"}, []),
    ],
)
def test_a_page_holds_what_the_query_asks_for(
    many: TelemetryService, query: dict[str, str], expected: list[int]
) -> None:
    page = many.runs(query)

    assert [int(one["run_id"].removeprefix("run_")) for one in page["runs"]] == expected


@pytest.mark.parametrize(
    "query",
    [
        {"limit": "0"},
        {"limit": "1001"},
        {"limit": "-1"},
        {"limit": "٣"},
        {"offset": "99999999999"},
        {"since": "yesterday"},
        {"order": "run_id"},
    ],
)
def test_a_query_that_asks_for_what_there_is_not_is_refused(
    service: TelemetryService, query: dict[str, str]
) -> None:
    with pytest.raises(ToolError) as caught:
        service.runs(query)
    assert caught.value.details["violations"][0]["instancePath"] == f"/{next(iter(query))}"


def test_pages_lead_from_one_to_the_next_until_all_is_seen(many: TelemetryService) -> None:
    seen: list[str] = []
    offset: int | None = 0
    while offset is not None:
        page = many.runs({"limit": "5", "offset": str(offset)})
        seen += [one["run_id"] for one in page["runs"]]
        offset = page["next_offset"]

    assert len(seen) == len(set(seen)) == 12


def test_a_page_ends_where_its_bytes_do(service: TelemetryService) -> None:
    for number in range(40):
        service.add_run(record(str(number), context_json={"x": "y" * 250_000}))

    page = service.runs({"limit": "1000"})

    assert 30 < len(page["runs"]) < 40
    assert page["next_offset"] == len(page["runs"])


def test_a_picture_holds_the_launch_its_children_and_its_events(app: Application) -> None:
    ask(app, "POST", RUNS, record("parent"))
    ask(app, "POST", RUNS, record("child", parent_run_id="run_parent", job_type="gate"))
    assert ask(app, "POST", f"{RUNS}/run_parent/events", event("run_parent", 2))[0] == 201
    assert ask(app, "POST", f"{RUNS}/run_parent/events", event("run_parent", 1))[0] == 201
    assert ask(app, "POST", f"{RUNS}/run_parent/events", event("run_parent", 1, type="X"))[0] == 200

    status, picture = ask(app, "GET", "/telemetry/run_parent")

    assert (status, picture["run"]["run_id"], picture["is_complete"]) == (200, "run_parent", True)
    assert [one["run_id"] for one in picture["children"]] == ["run_child"]
    assert [(one["seq"], one["type"]) for one in picture["events"]] == [(1, "RUN_CREATED"), (2, "RUN_CREATED")]


def test_events_can_be_asked_for_by_type_and_page(service: TelemetryService) -> None:
    service.add_run(record("parent"))
    for seq in range(1, 8):
        service.add_event("run_parent", event("run_parent", seq, type="EVEN" if seq % 2 == 0 else "ODD"))

    page = service.events("run_parent", {"type": "EVEN", "limit": "2", "offset": "1"})

    assert [one["seq"] for one in page["events"]] == [4, 6]


def test_names_and_numbers_tell_what_there_is(many: TelemetryService) -> None:
    many.add_run(record("odd", job_type='a"b\\c\nd'))
    app = make_app(many, None)
    metrics = app.ask("GET", "/metrics")

    assert ask(app, "GET", "/api/v1/metadata")[1]["job_types"] == ['a"b\\c\nd', "launch"]
    assert 'holdfast_telemetry_runs{job_type="launch",status="success"} 6\n' in metrics.document
    assert 'job_type="a\\"b\\\\c\\nd"' in metrics.document
    assert metrics.content_type.startswith("text/plain")


def test_it_works_the_same_over_http_and_wants_its_token(service: TelemetryService) -> None:
    with running(make_app(service, "swordfish")) as url:

        def over_http(method: str, path: str, document: Any = None, token: str | None = "swordfish") -> Answer:
            return call(method, url + path, json=document, token=token)

        assert over_http("GET", "/health", token=None).json()["status"] == "ok"
        assert over_http("POST", RUNS, record(), token=None).status == 401
        assert over_http("POST", RUNS, record()).status == 201
        assert over_http("GET", f"{RUNS}?limit=1&product=x").json()["runs"] == []
        assert over_http("PATCH", f"{RUNS}/{request_key('one')}", {"status": "partial"}).status == 200
        assert b"holdfast_telemetry_runs" in over_http("GET", "/metrics").body
        assert over_http("POST", RUNS, {"x": "y" * 5_000_000}).status == 413


def test_what_was_kept_is_there_after_a_restart(tmp_path: Path) -> None:
    for _ in range(2):
        with TelemetryService(tmp_path / "deep" / "telemetry.sqlite") as service:
            stored, is_new = service.add_run(record())
            service.check()

    assert not is_new
    assert stored["run_id"] == "run_one"


def write(path: Path, number: int) -> None:
    with TelemetryService(path) as service:
        for count in range(20):
            service.add_run(record(f"{number}-{count}"))
            service.add_run(record(f"shared-{count}"))


def test_processes_that_open_a_new_file_at_once_all_write_into_it(tmp_path: Path) -> None:
    path = tmp_path / "telemetry.sqlite"
    context = multiprocessing.get_context("fork")
    processes = [context.Process(target=write, args=(path, number)) for number in range(4)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(30)

    with TelemetryService(path) as service:
        assert service.metadata()["counts"]["runs"] == 100
    assert [process.exitcode for process in processes] == [0, 0, 0, 0]


def test_a_file_of_a_newer_version_or_of_no_database_is_left_alone(tmp_path: Path) -> None:
    newer, foreign = tmp_path / "newer.sqlite", tmp_path / "foreign.sqlite"
    with sqlite3.connect(newer) as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()
    foreign.write_bytes(b"not a database" * 100)

    for path in (newer, foreign):
        with pytest.raises(UsageError):
            TelemetryService(path)
    assert foreign.read_bytes() == b"not a database" * 100


def test_a_file_that_is_locked_is_said_to_be_busy_and_works_again(tmp_path: Path) -> None:
    path = tmp_path / "telemetry.sqlite"
    with TelemetryService(path) as service:
        service._ledger._connection.execute("PRAGMA busy_timeout = 20")  # five seconds are long in a test
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(ToolError) as caught:
            service.add_run(record())
        other.close()

        assert (caught.value.code, caught.value.retryable) == ("NOT_READY", True)
        assert service.add_run(record())[1]


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=10), inner, max_size=3),
    max_leaves=10,
)
_KEYS = st.sampled_from([*record(), "status", "end_time", "context_json", "items_failed", "commit_source"])


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(changes=st.dictionaries(_KEYS, _JSON, max_size=4))
def test_whatever_is_sent_is_kept_as_it_is_or_refused(app: Application, changes: dict[str, Any]) -> None:
    sent = {**record(), "event_id": request_key(json.dumps(changes)), **changes}

    status, told = ask(app, "POST", RUNS, sent)

    assert status in {201, 200, 400}
    if status == 201:
        assert sent.items() <= told.items()
