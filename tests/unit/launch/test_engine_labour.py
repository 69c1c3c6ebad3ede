"""One piece of work, whatever its process does: the store has the truth, and the run goes on or says why not."""

import json
import os
import threading
from pathlib import Path
from typing import Any

import pytest
from tests.launch.stages import Stage, is_alive, until

from holdfast.launch.engine import labour
from holdfast.launch.service import RunService


def statuses(stage: Stage, run_id: str, worker: str = "repo_scout") -> list[str]:
    return [item.status for item in stage.items(run_id, worker)]


def test_a_refusal_that_is_final_ends_the_run_with_it(stage: Stage) -> None:
    stage.order("repo_scout", "refuse")
    run_id = stage.run()
    assert stage.engine.perform("drive", run_id) == {"state": "FAILED"}
    failure = stage.at(run_id).failure
    assert failure == {
        "code": "ALLOWED_PATHS_VIOLATION",
        "message": "it went wrong",
        "details": {"path": "x", "worker": "repo_scout", "scope": "run"},
    }
    assert statuses(stage, run_id) == ["failed"]
    stage.check(run_id)


def test_a_worker_is_in_a_folder_of_its_own_and_has_secrets_only_where_it_signs_in(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORGE_TOKEN", "secret")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    for worker in ("repo_scout", "ia_planner"):
        stage.order(worker, "show")
    stage.engine.perform("drive", stage.run())

    seen = {
        name: json.loads((stage.orders / f"seen-by-{name}").read_text()) for name in ("repo_scout", "ia_planner")
    }
    assert all(here == out for here, out, _ in seen.values())
    assert seen["repo_scout"][2]["FORGE_TOKEN"] == "secret"
    assert "secret" not in seen["ia_planner"][2].values()
    assert seen["ia_planner"][2]["PATH"] == os.environ["PATH"]


@pytest.mark.parametrize(("word", "attempts"), [("later", 3), ("limited", 1), ("missing", 1), ("mute", 3)])
def test_what_may_pass_is_tried_again_and_then_the_run_rests_until_somebody_resumes_it(
    stage: Stage, word: str, attempts: int
) -> None:
    stage.order("repo_scout", *[word] * attempts, "fine")
    run_id = stage.run()
    assert stage.engine.perform("drive", run_id) == {"state": "CREATED"}
    assert statuses(stage, run_id) == ["failed"] * attempts
    (paused,) = stage.told(run_id, "RUN_PAUSED")
    assert paused.payload["details"]["worker"] == "repo_scout"
    assert stage.engine.perform("resume", run_id) == {"state": "CLONED_INPUTS"}
    stage.check(run_id)


@pytest.mark.parametrize(("word", "cause"), [("raise", "ValueError"), ("os-error", "PermissionError")])
def test_any_exception_is_told_by_its_class_and_kept_with_its_traceback(
    stage: Stage, word: str, cause: str
) -> None:
    stage.order("repo_scout", word)
    run_id = stage.run()
    assert stage.engine.perform("drive", run_id) == {"state": "FAILED"}
    failure = stage.at(run_id).failure or {}
    assert (failure["code"], failure["details"]["cause_class"]) == ("INTERNAL", cause)
    assert "secret" not in str(failure)
    kept = stage.workspace.run(run_id) / "logs" / "repo_scout-run-1.stderr"
    assert f"{cause}: " in kept.read_text()
    assert "/secret/path" in kept.read_text()


@pytest.mark.parametrize("word", ["kill", "half"])
def test_a_worker_that_dies_is_started_again(stage: Stage, word: str) -> None:
    stage.order("repo_scout", word, "fine")
    run_id = stage.run()
    assert stage.engine.perform("resume", run_id) == {"state": "CLONED_INPUTS"}
    assert statuses(stage, run_id) == ["failed", "finished"]
    (failed,) = stage.told(run_id, "WORK_ITEM_FAILED")
    assert failed.payload["error"]["details"]["cause_class"] == "WorkerDied"
    stage.check(run_id)


def test_a_worker_that_always_dies_ends_the_run(stage: Stage) -> None:
    stage.order("repo_scout", "kill")
    run_id = stage.run()
    assert stage.engine.perform("drive", run_id) == {"state": "FAILED"}
    assert statuses(stage, run_id) == ["failed"] * 3
    assert (stage.at(run_id).failure or {})["details"]["end"] == "ended by SIGKILL"


def test_a_worker_that_hangs_ends_at_the_limit_of_the_run_with_its_children(stage: Stage) -> None:
    stage.order("repo_scout", "hang")
    run_id = stage.run(budgets={"max_runtime_s": 1})
    assert stage.engine.perform("drive", run_id) == {"state": "FAILED"}
    assert not is_alive(stage.waits("repo_scout"))
    assert not is_alive(int((stage.orders / "child").read_text()))
    failure = stage.at(run_id).failure or {}
    assert failure["code"] == "TOOL_TIMEOUT"
    assert failure["details"]["seconds"] == 1.0
    assert failure["message"] == "repo_scout did not finish within 1 seconds (max_runtime_s)"


def test_whatever_a_worker_prints_changes_nothing(stage: Stage) -> None:
    stage.order("repo_scout", "print")
    run_id = stage.run()
    assert stage.engine.perform("resume", run_id) == {"state": "CLONED_INPUTS"}
    assert statuses(stage, run_id) == ["finished"]
    types = {event.type for event in stage.store.events(run_id)}
    assert not types & {"X", "LONG", "LATE", "HALF", "SECTION_DRAFTED"}
    kept = stage.workspace.run(run_id) / "logs" / "repo_scout-run-1.stderr"
    assert 0 < kept.stat().st_size < 300_000
    stage.check(run_id)


def test_events_that_only_the_store_may_tell_are_refused_and_the_work_goes_on(
    stage: Stage, caplog: pytest.LogCaptureFixture
) -> None:
    stage.order("repo_scout", "forge")
    run_id = stage.run()
    assert stage.engine.perform("resume", run_id) == {"state": "CLONED_INPUTS"}
    assert [event.payload["number"] for event in stage.told(run_id, "HONEST")] == [1]
    assert "pr.json" not in stage.digests(run_id)
    assert caplog.text.count("was refused") == 4
    stage.check(run_id)


@pytest.mark.parametrize(
    ("word", "code"),
    [
        ("misfit", "SCHEMA_VALIDATION_FAILED"), ("tamper", "INTERNAL"), ("lose", "INTERNAL"),
        ("unprintable", "INTERNAL"), ("odd", "INTERNAL"), ("half-a-character", "INTERNAL"),
    ],
)  # fmt: skip
def test_what_cannot_be_kept_or_told_ends_the_run_and_leaves_no_artifact(
    stage: Stage, word: str, code: str
) -> None:
    stage.order("repo_scout", word)
    run_id = stage.run()
    assert stage.engine.perform("drive", run_id) == {"state": "FAILED"}
    assert (stage.at(run_id).failure or {})["code"] == code
    assert statuses(stage, run_id) == ["failed"]
    assert stage.digests(run_id) == {}
    stage.check(run_id)


def test_two_thousand_artifacts_are_kept_together(stage: Stage) -> None:
    stage.order("repo_scout", "many")
    run_id = stage.run()
    assert stage.engine.perform("resume", run_id) == {"state": "CLONED_INPUTS"}
    assert len(stage.digests(run_id)) == 2001
    assert stage.objects.read(stage.digests(run_id)["many/1234.txt"]) == b"4"
    assert not [path for path in stage.workspace.run(run_id).iterdir() if path.name.startswith("repo_scout-")]


def performing(stage: Stage, kind: str, run_id: str, **more: Any) -> tuple[threading.Thread, list[Any]]:
    """Ask in a thread; what it was told, once it has ended."""
    told: list[Any] = []
    thread = threading.Thread(target=lambda: told.append(stage.refused(kind, run_id, **more)))
    thread.start()
    return thread, told


def test_a_cancelled_run_ends_its_worker_and_what_that_started_at_once(any_stage: Stage) -> None:
    stage = any_stage
    stage.order("repo_scout", "hang")
    run_id = stage.run()
    thread, told = performing(stage, "drive", run_id)
    worker = stage.waits("repo_scout")
    with RunService(stage.workspace) as service:
        assert service.cancel(run_id) == "CANCELLED"
    thread.join(2.0)
    assert not thread.is_alive()
    assert not is_alive(worker)
    assert not is_alive(int((stage.orders / "child").read_text()))
    assert (told[0].code, told[0].details["scope"]) == ("CANCELLED", "run")
    assert (stage.state(run_id), statuses(stage, run_id)) == ("CANCELLED", ["failed"])
    stage.check(run_id)


def test_what_a_worker_made_after_its_run_was_cancelled_is_not_kept(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(labour, "_LOOK", 50.0)  # it does not notice before it writes
    stage.order("repo_scout", "wait")
    run_id = stage.run()
    thread, told = performing(stage, "drive", run_id)
    stage.waits("repo_scout")
    with RunService(stage.workspace) as service:
        service.cancel(run_id)
    last = stage.at(run_id).last_seq
    stage.let_go()
    thread.join(20.0)
    assert told[0].code == "CANCELLED"
    assert (stage.at(run_id).last_seq, stage.digests(run_id)) == (last, {})


def test_a_cancelled_request_leaves_the_run_where_it_was_and_the_next_one_goes_on(any_stage: Stage) -> None:
    stage = any_stage
    stage.order("repo_scout", "wait", "fine")
    run_id = stage.run()
    stop = threading.Event()
    thread, told = performing(stage, "drive", run_id, stop=stop.is_set)
    worker = stage.waits("repo_scout")
    stop.set()
    thread.join(20.0)
    assert (told[0].code, told[0].details["scope"]) == ("CANCELLED", "request")
    assert not is_alive(worker)
    (item,) = stage.items(run_id, "repo_scout")
    assert (stage.state(run_id), (item.error or {})["code"]) == ("CREATED", "CANCELLED")
    assert stage.engine.perform("resume", run_id) == {"state": "CLONED_INPUTS"}
    stage.check(run_id)


def test_a_request_that_is_cancelled_while_work_is_recorded_is_cancelled_all_the_same(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    recording, stop = threading.Event(), threading.Event()
    original = labour.Labour._record

    def slow(self: labour.Labour, *arguments: Any) -> None:
        recording.set()
        until(lambda: stage.engine._unwanted, "the cancellation")
        original(self, *arguments)

    monkeypatch.setattr(labour.Labour, "_record", slow)
    run_id = stage.run()
    thread, told = performing(stage, "drive", run_id, stop=stop.is_set)
    assert recording.wait(20.0)
    stop.set()
    thread.join(20.0)
    assert (told[0].code, statuses(stage, run_id)) == ("CANCELLED", ["finished"])
    assert stage.engine.perform("resume", run_id) == {"state": "CLONED_INPUTS"}


def test_a_disk_that_takes_no_artifact_is_told_and_the_run_resumes_later(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_content: Path) -> str:
        raise OSError(28, "No space left on device")

    run_id = stage.run()
    with monkeypatch.context() as patch:
        patch.setattr(stage.objects, "put", full)
        refused = stage.refused("drive", run_id)
    assert (refused.code, refused.retryable, refused.details["cause_class"]) == ("INTERNAL", True, "OSError")
    assert statuses(stage, run_id) == ["failed"]
    assert stage.engine.perform("resume", run_id) == {"state": "CLONED_INPUTS"}
    stage.check(run_id)
