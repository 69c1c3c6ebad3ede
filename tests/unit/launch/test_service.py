"""The service over the runs of a workspace: whose store it is, whom it serves, and what it notices."""

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from tests.launch.products import run_config

from holdfast.cli.launch_text import describe_status
from holdfast.errors import ToolError, UsageError
from holdfast.launch import states
from holdfast.launch.engine.local import owned
from holdfast.launch.http_service import Reply, Request, application, running
from holdfast.launch.publishing.client import CommitClient
from holdfast.launch.service import RunService
from holdfast.launch.store.export import write_exports
from holdfast.launch.workspace import Workspace

SHA = "0123456789abcdef0123456789abcdef01234567"


def workspace(root: Path, store: Path | None = None) -> Workspace:
    return Workspace(root, f"sqlite:///{store or root / 'runs.sqlite'}")


@pytest.fixture
def service(tmp_path: Path) -> Iterator[RunService]:
    with RunService(workspace(tmp_path / "launch")) as opened:
        yield opened


def config(tmp_path: Path) -> dict[str, Any]:
    return run_config(tmp_path / "product", SHA, tmp_path / "site", SHA)


def test_a_store_serves_one_launch_directory_and_no_other(tmp_path: Path) -> None:
    store = tmp_path / "shared.sqlite"
    with (
        RunService(workspace(tmp_path / "one", store)),
        pytest.raises(UsageError, match="another launch directory"),
    ):
        RunService(workspace(tmp_path / "two", store))


def test_a_launch_directory_that_was_moved_keeps_its_store(tmp_path: Path) -> None:
    with RunService(workspace(tmp_path / "old")) as opened:
        opened.start(config(tmp_path), drive=False)
    (tmp_path / "old").rename(tmp_path / "new")
    with RunService(workspace(tmp_path / "new")) as opened:
        assert len(opened.runs()) == 1


def test_a_run_that_waits_for_somebody_says_why_until_it_goes_on(service: RunService, tmp_path: Path) -> None:
    run, _ = service.start(config(tmp_path), drive=False)
    assert service.pause(run.run_id) is None
    why = {"code": "TOOLCHAIN_MISSING", "message": "there is no Hugo", "details": {}}
    with service.store.change(run.run_id) as change:
        change.event("RUN_PAUSED", why)
    assert service.pause(run.run_id) == why
    told = describe_status(service.status(run.run_id), [], None, service.pause(run.run_id))
    assert "paused    TOOLCHAIN_MISSING: there is no Hugo" in list(told)
    with service.store.change(run.run_id) as change:
        change.move(states.CANCELLED)
    assert service.pause(run.run_id) is None


def test_what_a_dead_process_asked_for_is_not_done_later(service: RunService, tmp_path: Path) -> None:
    run, _ = service.start(config(tmp_path), drive=False)
    dead = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, check=True)
    asker = f"{socket.gethostname()}:{int(dead.stdout)}:0"
    service.store.ask("old", run.run_id, "drive", asker, datetime.now(UTC))

    with pytest.raises(ToolError, match="nothing to validate"):
        service.validate(run.run_id)

    left = service.store.request("old")
    assert left is not None
    assert (left.state, left.outcome) == ("done", {"interrupted": True})
    assert service.store.items(run.run_id) == []


def test_what_a_living_process_asks_for_is_done_by_whoever_owns_the_engine(
    service: RunService, tmp_path: Path
) -> None:
    run, _ = service.start(config(tmp_path), drive=False)
    asker = f"{socket.gethostname()}:{os.getpid()}:another"
    service.store.ask("theirs", run.run_id, "validate", asker, datetime.now(UTC))

    with pytest.raises(ToolError):
        service.validate(run.run_id)

    asked = service.store.request("theirs")
    assert asked is not None
    assert asked.outcome is not None
    assert asked.outcome["error"]["code"] == "ILLEGAL_STATE"


def test_a_run_whose_starter_died_before_it_began_is_begun_by_the_same_key(
    service: RunService, tmp_path: Path
) -> None:
    first, _ = service.start(config(tmp_path), "key", drive=False)
    again, is_new = service.start(config(tmp_path), "key")
    assert (again.run_id, is_new) == (first.run_id, False)
    assert [asked.kind for asked in service.store.requests(run_id=first.run_id)] == ["drive"]


def test_the_replay_notices_a_changed_object_and_a_changed_export(service: RunService, tmp_path: Path) -> None:
    run, _ = service.start(config(tmp_path), drive=False)
    digest = service.objects.put(b"one")
    with service.store.change(run.run_id) as change:
        change.artifact("reports/a.md", digest, "text", "validator", 3)
    root = service.workspace.run(run.run_id)
    write_exports(service.store, run.run_id, root)
    assert service.replay(run.run_id) == (2, [])

    path = service.objects.path_of(digest)
    path.chmod(0o644)
    path.write_bytes(b"two")
    events = root / "events.ndjson"
    events.write_text(events.read_text().replace("tablekit", "tampered"))

    count, differences = service.replay(run.run_id)
    assert count == 2
    assert [difference.partition(":")[0] for difference in differences][:2] == ["reports/a.md", "events.ndjson"]


def test_a_status_says_whether_anybody_is_at_work(service: RunService, tmp_path: Path) -> None:
    run, _ = service.start(config(tmp_path), drive=False)
    assert service.status(run.run_id)["executing"] is False
    token = service.store.claim(run.run_id, "somebody")
    with owned(service.workspace):
        assert service.status(run.run_id)["executing"] is True
    assert service.status(run.run_id)["executing"] is False  # killed: only its name is left
    service.store.release(run.run_id, token)
    assert service.status(run.run_id)["state"] == states.CREATED


@pytest.mark.parametrize(
    ("endpoint", "answer"),
    [
        ("commit", {"commit_sha": SHA, "affected_paths": ["../../etc/passwd"]}),
        ("commit", {"commit_sha": SHA, "affected_paths": [1, {}]}),
        ("commit", {"commit_sha": "short", "affected_paths": ["a.md"]}),
        ("open_pr", {"pr_url": "javascript:alert(1)", "pr_number": 1}),
        ("open_pr", {"pr_url": ["https://a.example/1"], "pr_number": 1}),
        ("open_pr", {"pr_url": "https://a.example/1", "pr_number": "one"}),
    ],
)
def test_an_answer_of_a_commit_service_that_makes_no_sense_is_not_believed(
    endpoint: str, answer: dict[str, Any]
) -> None:
    def reply(_: Request) -> Reply:
        return Reply(201, answer)

    app = application([("POST", f"/v1/{endpoint}", reply)], token=None)
    request = {"idempotency_key": "a", "patch_bundle": {"patches": [{"path": "a.md"}]}}
    with running(app) as url, pytest.raises(ToolError) as refused:
        getattr(CommitClient(url), endpoint)(request)
    assert refused.value.code == "COMMIT_SERVICE_ERROR"
