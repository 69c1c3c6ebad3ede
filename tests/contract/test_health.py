"""The health of a real host, as `holdfast status --json` tells it, through everything that changes it."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from holdfast.testing import HostUnderTest, Traces, script

# A worker that waits with its start for as long as a file is there.
HELD = 'while [ -e "$0" ]; do sleep 0.01; done; exec "$@"'
COMMON = {
    "state",
    "generation",
    "uptime_ms",
    "consecutive_failures",
    "restart_count",
    "rollout",
    "last_fault",
}


def _holdfast(client: HostUnderTest, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "holdfast", *words, "--state-dir", str(client.folder / "state")]
    return subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)


def _health(client: HostUnderTest) -> dict[str, Any]:
    told = _holdfast(client, "status", "--json")
    health: dict[str, Any] = json.loads(told.stdout)
    assert told.returncode == (0 if health["state"] == "ready" else 1)
    return health


def _until(client: HostUnderTest, **wanted: Any) -> dict[str, Any]:
    """The health once it has these values."""
    seen: list[dict[str, Any]] = []

    def reached() -> bool:
        seen.append(_health(client))
        return wanted.items() <= seen[-1].items()

    client.until(reached, what=f"{wanted} in the health")
    return seen[-1]


class Held(NamedTuple):
    """A host whose workers do not start while the file `gate` exists."""

    client: HostUnderTest
    gate: Path


@pytest.fixture
def held(tmp_path: Path) -> Iterator[Held]:
    """A host with a session and a worker that is ready."""
    gate = tmp_path / "gate"
    worker = ["sh", "-c", HELD, str(gate), *script().command(tmp_path / "worker")]
    with HostUnderTest.running(worker, tmp_path, "--name", "patient") as client:
        client.handshake()
        client.call("read")
        yield Held(client, gate)


@pytest.mark.requirement("S3-health-exposed")
@pytest.mark.requirement("S3-health-lifecycle")
@pytest.mark.requirement("S3-health-generation")
@pytest.mark.requirement("S3-health-uptime")
@pytest.mark.requirement("S3-health-failures")
@pytest.mark.requirement("S3-health-restarts")
@pytest.mark.requirement("S3-health-last-fault")
@pytest.mark.requirement("S3-health-extended")
def test_health_tells_the_truth_before_during_and_after_the_loss_of_a_worker(held: Held) -> None:
    client, gate = held
    before = _until(client, state="ready")
    assert before.keys() > COMMON
    assert (before["generation"], before["restart_count"], before["consecutive_failures"]) == (1, 0, 0)
    assert (before["worker_handshake"], before["last_fault"], before["rollout"]) == ("ready", None, "stable")

    gate.touch()
    os.kill(before["worker_pid"], signal.SIGKILL)
    during = _until(client, state="recovering", generation=2)
    assert (during["restart_count"], during["consecutive_failures"]) == (1, 1)
    assert during["worker_handshake"] in {"starting", "initializing"}
    assert (during["last_fault"]["class"], during["last_fault"]["generation"]) == ("process", 1)

    gate.unlink()
    after = _until(client, state="ready", worker_handshake="ready")
    assert (after["generation"], after["restart_count"], after["last_fault"]) == (2, 1, during["last_fault"])
    assert after["uptime_ms"] > during["uptime_ms"] > before["uptime_ms"] > 0
    assert (after["pid"], after["worker_pid"]) == (client.process.pid, client.worker_pid())


@pytest.mark.requirement("S3-health-rollout")
@pytest.mark.requirement("S3-rollout-replacement")
def test_health_tells_of_a_replacement_and_no_call_is_lost_by_it(held: Held, tmp_path: Path) -> None:
    client, gate = held
    number = client.start_call("write", {"token": "t", "seconds": 0.5})
    client.until(lambda: Traces(tmp_path / "worker").effects("write"))
    gate.touch()
    command = [sys.executable, "-m", "holdfast", "restart", "--state-dir", str(tmp_path / "state")]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as restart:
        during = _until(client, rollout="pending")
        gate.unlink()
        assert restart.wait(20) == 0
    assert (during["state"], during["generation"]) == ("ready", 1)
    assert client.answer_of(number)["result"]["structuredContent"] == {"token": "t", "generation": 1}
    after = _until(client, rollout="stable")
    assert (after["generation"], after["last_fault"], after["consecutive_failures"]) == (2, None, 0)


@pytest.mark.requirement("S3-telemetry-events")
def test_events_are_appended_line_by_line_and_outlive_a_killed_host(held: Held, tmp_path: Path) -> None:
    held.client.process.kill()
    held.client.process.wait(20)
    (log,) = (tmp_path / "state").glob("patient/events.jsonl")
    assert [json.loads(line)["event"] for line in log.read_text().splitlines()][:3] == [
        "host_started",
        "worker_started",
        "worker_ready",
    ]
