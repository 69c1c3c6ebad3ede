"""One process at a time executes the runs of a workspace, whichever dies, stops or asks meanwhile."""

import errno
import os
import signal
import socket
import sqlite3
import threading
from contextlib import closing, suppress
from datetime import timedelta
from typing import Any

import pytest
from tests.launch.stages import BOUND, Stage, is_alive, outcome_of, until

from holdfast.errors import ToolError
from holdfast.launch.engine import asking, local
from holdfast.launch.service import RunService
from holdfast.launch.store.refusals import StoreError

READY = {"state": "READY_FOR_PR"}


def owner_at_work(stage: Stage) -> tuple[Any, str, int]:
    """Another process that executes a run whose worker waits; the process, the run, the worker."""
    stage.order("validator", "wait", "fine")
    run_id = stage.run(state="LINKING")
    owner = stage.client("drive", run_id)
    return owner, run_id, stage.waits("validator")


def idle(stage: Stage) -> bool:
    """Whether nobody owns the engine."""
    with local.owned(stage.workspace) as is_owned:
        return is_owned


def test_a_client_takes_over_from_an_owner_that_is_killed_and_gets_its_answer(any_stage: Stage) -> None:
    stage = any_stage
    owner, run_id, worker = owner_at_work(stage)
    other = stage.run("r_of_the_client", state="LINKING")
    client = stage.client("drive", other, run_id)
    until(lambda: stage.store.requests(run_id=other), "the client's request")
    owner.send_signal(signal.SIGKILL)
    owner.wait(BOUND)
    stage.let_go()
    assert outcome_of(client) == [READY, READY]
    until(lambda: not is_alive(worker), "the end of the worker")
    assert [item.status for item in stage.items(run_id, "validator")] == ["failed", "finished"]
    assert len(stage.items(other, "validator")) <= 2
    assert stage.told(run_id, "WORK_ITEM_FAILED")[0].payload["error"]["code"] == "INTERRUPTED"
    stage.check(run_id)
    stage.check(other)


def test_a_caller_whose_owner_is_killed_is_answered_by_the_next_one(stage: Stage) -> None:
    owner, run_id, _ = owner_at_work(stage)
    client = stage.client("validate", stage.run("r_not_yet", state="DRAFT_READY"))
    until(lambda: len(stage.store.requests()) == 2, "the client's request")
    owner.send_signal(signal.SIGKILL)
    ((refused,),) = [outcome_of(client)]
    assert refused["code"] == "ILLEGAL_STATE"
    assert stage.state(run_id) == "LINKING"


def test_four_processes_at_once_on_one_workspace_get_their_answers(stage: Stage) -> None:
    runs = [stage.run(f"r_number_{number}", state="LINKING") for number in range(2)]
    clients = [stage.client("drive", runs[number % 2]) for number in range(4)]
    answers = [outcome_of(client)[0] for client in clients]
    assert all(answer == READY or answer.get("code") == "ILLEGAL_STATE" for answer in answers), answers
    assert answers.count(READY) >= 2
    for run_id in runs:
        # An owner that has its own answer may leave in the middle of another's work, which is then done again.
        assert [item.status for item in stage.items(run_id, "validator")].count("finished") == 1
        stage.check(run_id)


def test_an_owner_that_is_stopped_keeps_its_run_and_whoever_waits_can_leave(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(asking, "_PATIENCE", 0.2)
    owner, run_id, _ = owner_at_work(stage)
    owner.send_signal(signal.SIGSTOP)
    stage.let_go()
    refused = stage.refused("resume", run_id, stop=lambda: True)  # it is pending, and over at once
    assert (refused.code, refused.details) == ("CANCELLED", {"scope": "request"})
    assert [item.status for item in stage.items(run_id, "validator")] == ["running"]
    owner.send_signal(signal.SIGCONT)
    assert outcome_of(owner) == [READY]
    assert [item.status for item in stage.items(run_id, "validator")] == ["finished"]
    stage.check(run_id)


def test_a_caller_who_stops_is_not_held_by_an_owner_that_does_not_answer(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(asking, "_PATIENCE", 0.2)
    owner, _, _ = owner_at_work(stage)
    second = stage.run("r_second", state="LINKING")
    request = stage.engine.begin("resume", second)
    stage.waits("validator")
    owner.send_signal(signal.SIGSTOP)
    answer = stage.engine._wait(request, lambda: True)
    assert answer["error"]["details"]["reason"] == "owner_does_not_answer"
    owner.send_signal(signal.SIGKILL)


def test_a_run_is_cancelled_although_its_owner_is_stopped(stage: Stage) -> None:
    owner, run_id, worker = owner_at_work(stage)
    owner.send_signal(signal.SIGSTOP)
    with RunService(stage.workspace) as service:
        assert service.cancel(run_id) == "CANCELLED"
    owner.send_signal(signal.SIGCONT)
    (answer,) = outcome_of(owner)
    assert (answer["code"], answer["details"]["scope"]) == ("CANCELLED", "run")
    assert not is_alive(worker)
    stage.check(run_id)


def test_an_engine_that_is_closed_stops_its_work_and_another_goes_on(stage: Stage) -> None:
    stage.order("validator", "wait", "fine")
    run_id = stage.run(state="LINKING")
    told: list[ToolError] = []
    thread = threading.Thread(target=lambda: told.append(stage.refused("drive", run_id)))
    thread.start()
    worker = stage.waits("validator")
    stage.engine.close()
    thread.join(20.0)
    assert (told[0].code, is_alive(worker), idle(stage)) == ("CANCELLED", False, True)
    assert stage.at(run_id).holder is None
    assert stage.another_engine().perform("drive", run_id) == READY
    stage.check(run_id)


def test_an_engine_without_work_lets_another_process_own_it(stage: Stage) -> None:
    assert stage.engine.perform("drive", stage.run(state="VALIDATING")) == {"state": "VALIDATING"}
    until(lambda: idle(stage), "the end of ownership")
    client = stage.client("drive", "r_on_stage")
    assert outcome_of(client) == [{"state": "VALIDATING"}]
    owners = {request.owner for request in stage.store.requests()}
    assert len(owners) == 2


def test_two_engines_in_one_process_take_turns(stage: Stage) -> None:
    stage.order("validator", "wait", "fine")
    run_id = stage.run(state="LINKING")
    other = stage.another_engine()
    request = stage.engine.begin("drive", run_id)
    stage.waits("validator")
    with pytest.raises(ToolError) as refused:
        other.perform("resume", run_id)
    assert (refused.value.code, refused.value.details["reason"]) == ("ILLEGAL_STATE", "busy")
    assert refused.value.retryable
    stage.let_go()
    assert stage.engine._wait(request, lambda: False) == {"done": READY}
    assert {asked.owner for asked in stage.store.requests()} == {stage.engine.identity}


def test_a_request_that_comes_while_the_owner_leaves_is_not_forgotten(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_id, original = stage.run(state="VALIDATING"), local.LocalEngine._serve
    late: list[str] = []

    async def serve(self: local.LocalEngine) -> None:
        await original(self)
        if not late:  # the lock is still held, and nobody looks any more
            late.append(stage.engine.begin("drive", run_id))

    monkeypatch.setattr(local.LocalEngine, "_serve", serve)
    stage.engine.perform("drive", run_id)
    request = until(lambda: late)[0]
    until(lambda: getattr(stage.store.request(request), "state", "") == "done", "the late request")


def test_runs_that_were_interrupted_are_adopted_once(stage: Stage) -> None:
    left = stage.run("r_left_behind", state="LINKING")
    rests = stage.run("r_at_rest", state="VALIDATING")
    stage.store.claim(left, "somebody who is dead")
    assert stage.engine.adopt() == [left]
    until(lambda: stage.state(left) == "READY_FOR_PR", "the end of the adopted run")
    assert (stage.engine.adopt(), stage.state(rests)) == ([], "VALIDATING")
    stage.check(left)


def test_nothing_is_adopted_from_an_owner_that_lives(stage: Stage) -> None:
    _, run_id, _ = owner_at_work(stage)
    assert stage.engine.adopt() == []
    stage.let_go()
    until(lambda: stage.state(run_id) == "READY_FOR_PR", "the end of the run")
    assert {item.attempt for item in stage.store.items(run_id)} == {1}


def test_answered_requests_are_forgotten(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local, "_KEPT", timedelta(0))
    run_id = stage.run(state="VALIDATING")
    for _ in range(3):
        stage.engine.perform("drive", run_id)
        until(lambda: idle(stage), "the end of ownership")
    assert len(stage.store.requests()) == 1


@pytest.mark.parametrize("method", ["take_request", "claim", "change", "answer_request"])
def test_a_store_that_takes_nothing_is_told_and_the_run_resumes_later(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    def full(*_: Any, **__: Any) -> Any:
        raise StoreError("full", "the run store /secret: database or disk is full", remedy="free some space")

    run_id = stage.run(state="LINKING")
    with monkeypatch.context() as patch:
        patch.setattr(stage.store, method, full)
        refused = stage.refused("resume", run_id)
    assert (refused.code, refused.retryable, refused.hint) == ("INTERNAL", True, "free some space")
    assert refused.details == {"run_id": run_id, "cause_class": "StoreError", "reason": "store_full"}
    assert "secret" not in str(refused)
    assert stage.engine.perform("drive", run_id) == READY
    stage.check(run_id)


def test_a_run_that_could_not_be_let_go_is_let_go_later(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any, **__: Any) -> Any:
        raise StoreError("full", "no space")

    run_id = stage.run(state="LINKING")
    with monkeypatch.context() as patch:
        patch.setattr(stage.store, "release", full)
        assert stage.engine.perform("resume", run_id) == {"state": "VALIDATING"}

    def is_ready() -> bool:
        with suppress(ToolError):  # the store may still be found full in the moment in which it is not any more
            return stage.engine.perform("resume", run_id) == READY
        return False

    assert until(is_ready)
    assert until(lambda: idle(stage))
    assert stage.at(run_id).holder is None


def test_a_database_that_is_full_in_the_middle_of_a_drive_is_told(stage: Stage) -> None:
    stage.order("validator", "wait", "fine")
    run_id = stage.run(state="LINKING")
    told: list[ToolError] = []
    thread = threading.Thread(target=lambda: told.append(stage.refused("drive", run_id)))
    thread.start()
    stage.waits("validator")
    path = stage.workspace.store_url.removeprefix("sqlite:///")
    with closing(sqlite3.connect(path, isolation_level=None)) as blocker:
        # Any write now fails as it does on a full disk, and reading goes on.
        blocker.execute("CREATE TRIGGER full BEFORE INSERT ON launch_events BEGIN SELECT RAISE(FAIL, 'full'); END")
        stage.let_go()
        thread.join(20.0)
        blocker.execute("DROP TRIGGER full")
    assert told[0].code == "INTERNAL"
    assert stage.engine.perform("drive", run_id) == READY
    stage.check(run_id)


def test_who_was_declared_dead_writes_nothing_more_and_its_caller_is_served_by_the_next(stage: Stage) -> None:
    owner, run_id, worker = owner_at_work(stage)
    stage.workspace.lock.unlink()  # as somebody does who tidies up: now there can be two
    try:
        answers = [stage.engine.perform("drive", run_id)]
    except ToolError as refused:  # whoever was declared dead has asked again, and was quicker
        answers = [{"details": refused.details}]
    answers += outcome_of(owner)
    assert READY in answers
    assert all(answer == READY or answer["details"]["reason"] == "busy" for answer in answers)
    assert not is_alive(worker)
    assert [item.status for item in stage.items(run_id, "validator")] == ["failed", "finished"]
    stage.check(run_id)


def test_a_client_that_dies_leaves_its_request_to_the_owner(stage: Stage) -> None:
    _, run_id, _ = owner_at_work(stage)
    other = stage.run("r_of_the_client", state="VALIDATING")
    client = stage.client("drive", other)
    until(lambda: stage.store.requests(run_id=other), "the client's request")
    os.kill(client.pid, signal.SIGKILL)
    stage.let_go()
    until(lambda: {asked.state for asked in stage.store.requests()} == {"done"}, "the answers")
    assert client.wait(BOUND) == -signal.SIGKILL
    assert stage.state(run_id) == "READY_FOR_PR"


def test_an_owner_that_leaves_ends_its_step_and_another_goes_on_with_what_nobody_waits_for(stage: Stage) -> None:
    stage.order("linker_patcher", "wait")
    run_id = stage.run(state="DRAFT_READY")
    starter = stage.another_engine()
    stage.engine.ask("drive", stage.run("r_of_the_owner", state="DRAFT_READY"))
    stage.waits("linker_patcher")
    starter.begin("drive", run_id)
    stage.waits("linker_patcher")
    leaving = threading.Thread(target=stage.engine.close, kwargs={"at_once": False})
    leaving.start()
    stage.let_go()
    leaving.join(BOUND)
    until(lambda: stage.state(run_id) == "READY_FOR_PR", "the run that was handed over")
    assert [item.status for item in stage.items(run_id, "linker_patcher")] == ["finished"]
    stage.check(run_id)


def test_a_drive_that_nobody_waits_for_is_asked_for_again_when_its_owner_dies(stage: Stage) -> None:
    owner, first, _ = owner_at_work(stage)
    second = stage.run("r_begun_here", state="LINKING")
    stage.engine.begin("drive", second)
    until(lambda: stage.at(second).holder is not None, "the owner at work on it")
    owner.send_signal(signal.SIGKILL)
    owner.wait(BOUND)
    stage.let_go()
    until(lambda: stage.state(second) == "READY_FOR_PR", "the run that was begun here")
    assert stage.state(first) == "LINKING"  # whoever wanted that one is gone


def test_trouble_nobody_thought_of_is_told_once_and_what_was_begun_is_looked_after_all_the_same(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    looks = []

    def broken(request: str) -> Any:
        looks.append(request)
        raise ZeroDivisionError("in the store")

    monkeypatch.setattr(local, "_LOOK_AFTER", 0.01)
    owner, _, _ = owner_at_work(stage)
    run_id = stage.run("r_begun_here", state="LINKING")
    with monkeypatch.context() as patch:
        patch.setattr(stage.store, "request", broken)
        stage.engine.begin("drive", run_id)
        until(lambda: len(looks) > 3, "more looks")
    until(lambda: stage.at(run_id).holder is not None, "the owner at work on it")
    owner.send_signal(signal.SIGKILL)
    owner.wait(BOUND)
    stage.let_go()
    until(lambda: stage.state(run_id) == "READY_FOR_PR", "the run that was begun here")
    assert [record.exc_info[0] for record in caplog.records if record.exc_info] == [ZeroDivisionError]


def test_a_thread_that_cannot_be_started_is_told_and_nobody_waits_for_it(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    def none_left(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    run_id = stage.run(state="LINKING")
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", none_left)
        with pytest.raises(RuntimeError):
            stage.engine.begin("drive", run_id)
    stage.engine.begin("drive", run_id)
    until(lambda: stage.state(run_id) == "READY_FOR_PR", "the run")


def test_whoever_asked_is_told_that_a_disk_is_full_and_where() -> None:
    told = asking.unexpected("r_1", OSError(errno.ENOSPC, "No space left on device", "/secret/path"))

    assert told.message == f"there is no space left for the run on {socket.gethostname()}"
    assert (told.retryable, told.details["reason"], told.hint) == (
        True, "disk_full", "make room there, then launch_resume",
    )  # fmt: skip
