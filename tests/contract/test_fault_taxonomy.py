"""Typed faults: the classes that are told apart, and the four things that each of them drives."""

import json
from pathlib import Path
from typing import Any

import pytest

from holdfast.errors import CODES
from holdfast.kernel.commands import Record, StartWorker
from holdfast.kernel.health import health
from holdfast.kernel.inputs import WorkerDown, WorkerUp
from holdfast.kernel.machine import begin, step
from holdfast.kernel.policy import Policy
from holdfast.kernel.replies import fault_answer
from holdfast.kernel.state import Pending
from holdfast.present.dialects import Dialect
from holdfast.present.render import Presentation, RenderMode, failure_text
from holdfast.testing import Fault as WorkerFault
from holdfast.testing import HostUnderTest, script
from holdfast.vocabulary.events import WorkerLost
from holdfast.vocabulary.faults import FaultClass, fault

CLASSES = [each.value for each in FaultClass]
TYPICAL = {
    "process": "WORKER_LOST",
    "protocol": "INVALID_REQUEST",
    "timeout": "TOOL_TIMEOUT",
    "downstream": "NOT_FOUND",
    "resource": "QUEUE_OVERLOADED",
    "replay": "REPLAY_EXHAUSTED",
    "rollout": "ROLLOUT_DISRUPTED",
    "ambiguous_outcome": "AMBIGUOUS_OUTCOME",
    "invariant": "INTERNAL",
}
ENTRY = Pending(id=7, sequence=1, method="tools/call", tool="read", params={}, frame=b"{}", accepted_at=0.0)


@pytest.mark.requirement("OURS-18-classes")
@pytest.mark.requirement("S3-faults-taxonomy")
def test_ten_classes_are_told_apart() -> None:
    assert set(CLASSES) == {*TYPICAL, "transport"}
    assert {fault(code, "m").fault_class.value: code for code in TYPICAL.values()} == TYPICAL


@pytest.mark.requirement("S3-faults-typed")
@pytest.mark.parametrize("code", CODES)
def test_every_public_code_belongs_to_a_class_and_says_whether_trying_again_can_help(code: str) -> None:
    made = fault(code, "m")
    assert isinstance(made.fault_class, FaultClass)
    assert made.retryable is CODES[code].retryable


# What ends a worker, and which class of fault that is.
ENDS: dict[str, tuple[str, str]] = {
    "close_stdout": ("transport", "STDOUT_CLOSED"),
    "kill": ("process", "WORKER_EXITED"),
    "freeze": ("timeout", "WORKER_HUNG"),
}

IMPATIENT = {
    "freeze": {"HOLDFAST_PING_TIMEOUT": "0.2", "HOLDFAST_DEADLINE": "0.2", "HOLDFAST_KILL_GRACE": "0.2"},
}


def _losses(folder: Path) -> list[dict[str, Any]]:
    """The losses of workers in the event logs of the hosts that have their state here."""
    logs = (folder / "state").glob("*/events.jsonl")
    records = [json.loads(line) for log in logs for line in log.read_text().splitlines()]
    return [record for record in records if record["event"] == "worker_lost"]


@pytest.mark.requirement("S3-faults-taxonomy")
@pytest.mark.requirement("S3-faults-telemetry")
@pytest.mark.parametrize(("way", "told"), ENDS.items(), ids=list(ENDS))
def test_the_ways_in_which_a_worker_ends_are_told_apart(tmp_path: Path, way: str, told: tuple[str, str]) -> None:
    faulty = WorkerFault.on_tool("read", way, generations=(1, 1))
    worker = script(faulty).command(tmp_path / "w")
    with HostUnderTest.running(worker, tmp_path, environment=IMPATIENT.get(way)) as client:
        client.handshake()
        client.call("read")
        client.until(lambda: _losses(tmp_path), what="the loss on record")
    (lost,) = _losses(tmp_path)
    assert (lost["fault_class"], lost["code"]) == told


def _after_loss(fault_class: str) -> tuple[Any, list[Any]]:
    """The state after a worker was lost to such a fault, and what was commanded then."""
    state, _ = begin(Policy(), 1.0)
    state, _ = step(state, 2.0, WorkerUp(1))
    return step(state, 3.0, WorkerDown(1, {"class": fault_class, "code": "CODE", "message": "what happened"}))


@pytest.mark.requirement("S3-faults-policy")
@pytest.mark.parametrize("fault_class", CLASSES)
def test_a_fault_that_ends_a_worker_starts_the_next(fault_class: str) -> None:
    _, commands = _after_loss(fault_class)
    assert [command.generation for command in commands if isinstance(command, StartWorker)] == [2]


@pytest.mark.requirement("S3-faults-health")
@pytest.mark.parametrize("fault_class", CLASSES)
def test_a_fault_is_told_by_health(fault_class: str) -> None:
    state, _ = _after_loss(fault_class)
    told = {"class": fault_class, "code": "CODE", "message": "what happened", "generation": 1}
    assert health(state, 4.0, 1.0)["last_fault"] == told


@pytest.mark.requirement("S3-faults-telemetry")
@pytest.mark.parametrize("fault_class", CLASSES)
def test_a_fault_is_an_event_with_its_class_and_code(fault_class: str) -> None:
    _, commands = _after_loss(fault_class)
    events = [command.event for command in commands if isinstance(command, Record)]
    (lost,) = (event for event in events if isinstance(event, WorkerLost))
    assert (lost.fault_class, lost.code, lost.message) == (fault_class, "CODE", "what happened")


@pytest.mark.requirement("OURS-18-data")
@pytest.mark.requirement("S3-faults-policy")
@pytest.mark.parametrize("code", TYPICAL.values())
def test_an_answer_of_the_host_says_whether_and_when_a_retry_is_safe(code: str) -> None:
    data = fault_answer(ENTRY, fault(code, "m"), generation=3, after_ms=200)["error"]["data"]
    assert data["class"] == fault(code, "m").fault_class.value
    assert (data["code"], data["generation"], data["attempt"]) == (code, 3, 0)
    assert data["retryable"] is CODES[code].retryable
    assert data["retry"] == {"safe": True, "afterMs": 200}  # no worker ever had the request


@pytest.mark.requirement("S3-faults-shaping")
@pytest.mark.parametrize("fault_class", FaultClass)
def test_a_model_reads_what_happened_the_category_and_whether_to_retry(fault_class: FaultClass) -> None:
    made = fault("CODE", "the disk is full", fault_class=fault_class, retryable=True, hint="Free some space.")
    lines = failure_text(made, Presentation(RenderMode.PORCELAIN), Dialect.STATUS).splitlines()
    assert lines == [
        "error CODE: the disk is full",
        f"category: {fault_class.value}",
        "retry: yes",
        "hint: Free some space.",
    ]
