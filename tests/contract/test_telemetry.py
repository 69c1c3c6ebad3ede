"""The telemetry of a real host, as `holdfast telemetry --json` tells it, against what is promised of it."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from holdfast.testing import Fault, HostUnderTest, script

pytestmark = pytest.mark.xdist_group("telemetry")  # one host for all of them

COUNTS = {
    "request_count",
    "success_count",
    "error_count",
    "response_error_count",
    "recovery_error_count",
    "recovery_fault_count",
    "retry_count",
}
CORE = {
    "uptime_ms",
    "state",
    "worker_handshake",
    "generation",
    "consecutive_failures",
    "restart_count",
    "totals",
    "methods",
    "last_fault",
}


@pytest.fixture(scope="module")
def telemetry(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What a host tells after a success, a failed result, an unknown method, a replay and a lost call."""
    folder: Path = tmp_path_factory.mktemp("telemetry")
    faults = (
        Fault.on_tool("read", "exit", code=3, generations=(1, 1)),
        Fault.on_tool("write", "exit", code=4, generations=(2, 2)),
    )
    with HostUnderTest.running(script(*faults).command(folder / "worker"), folder) as client:
        client.handshake()
        client.call("read")
        client.call("write", {"token": "t"})
        client.call("read")
        client.call("no such tool")
        client.answer_of(client.request("no/such/method"))
        state = str(folder / "state")
        command = [sys.executable, "-m", "holdfast", "telemetry", "--json", "--state-dir", state]
        told = subprocess.run(command, capture_output=True, text=True, timeout=30, check=True)
    found: dict[str, Any] = json.loads(told.stdout)
    return found


def row(telemetry: dict[str, Any], method: str) -> dict[str, Any]:
    return dict(next(one for one in telemetry["methods"] if one["method"] == method))


@pytest.mark.requirement("S3-telemetry-counts")
def test_telemetry_counts_requests_successes_errors_and_retries(telemetry: dict[str, Any]) -> None:
    totals = telemetry["totals"]

    assert telemetry.keys() > CORE
    assert totals.keys() == COUNTS
    assert (totals["request_count"], totals["success_count"], totals["error_count"]) == (6, 3, 3)
    assert (totals["response_error_count"], totals["recovery_error_count"]) == (2, 1)
    assert (totals["retry_count"], totals["recovery_fault_count"]) == (1, 2)


@pytest.mark.requirement("S3-telemetry-methods")
def test_telemetry_aggregates_per_method_and_per_tool(telemetry: dict[str, Any]) -> None:
    names = [one["method"] for one in telemetry["methods"]]
    assert names == sorted(names) == ["initialize", "no/such/method", "tools/call"]
    calls = row(telemetry, "tools/call")
    latency = {"last_latency_ms", "max_latency_ms", "avg_latency_ms"}
    assert calls.keys() == {"method", "last_error"} | COUNTS | latency
    assert all(type(calls[name]) is int for name in latency)
    assert calls["avg_latency_ms"] <= calls["max_latency_ms"]
    tools = {one["tool"]: one for one in telemetry["tools"]}
    assert (tools["read"]["success_count"], tools["read"]["retry_count"], tools["write"]["error_count"]) == (
        2,
        1,
        1,
    )


@pytest.mark.requirement("S3-telemetry-last-error")
def test_telemetry_has_the_last_error_of_a_method(telemetry: dict[str, Any]) -> None:
    assert row(telemetry, "initialize")["last_error"] is None
    assert "no such tool" in row(telemetry, "tools/call")["last_error"]["message"]
    assert row(telemetry, "no/such/method")["last_error"]["code"] == "-32601"
    tools = {one["tool"]: one["last_error"] for one in telemetry["tools"]}
    assert tools["write"]["code"] == "AMBIGUOUS_OUTCOME"


@pytest.mark.requirement("S3-telemetry-restart-fault")
def test_telemetry_has_the_fault_that_last_led_to_a_restart(telemetry: dict[str, Any]) -> None:
    fault = telemetry["last_fault"]
    assert (fault["class"], fault["code"], fault["generation"]) == ("process", "WORKER_EXITED", 2)
    assert "4" in fault["message"]
    assert (telemetry["restart_count"], telemetry["generation"]) == (2, 3)
