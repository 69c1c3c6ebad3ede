"""The figures of a real host: through losses, over its socket, on its port, in its log, and as spans."""

import json
import os
import select
import signal
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Any
from urllib.error import HTTPError

import pytest
from tests.host.answers import payload_of
from tests.host.conftest import Events, Start
from tests.host.otlp_receiver import attributes_of, receiving
from tests.host.test_restarts import control

from holdfast.testing import Fault, HostUnderTest

ONCE = (1, 1)
TRACE, PARENT = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"


def holdfast(client: HostUnderTest, *words: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "holdfast", *words, "--state-dir", str(client.folder / "state")]
    return subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)


def address_of(client: HostUnderTest) -> str:
    return str(control(client, "status")["metrics"])


def fetched(client: HostUnderTest, path: str) -> tuple[int, str]:
    try:
        with urllib.request.urlopen(f"http://{address_of(client)}{path}", timeout=10) as answer:
            return answer.status, answer.read().decode()
    except HTTPError as error:
        with error:
            return error.code, error.read().decode()


def tool_of(telemetry: dict[str, Any], name: str) -> dict[str, Any]:
    (found,) = [row for row in telemetry["tools"] if row["tool"] == name]
    return dict(found)


def test_figures_go_on_through_the_loss_of_a_worker(host: Start) -> None:
    client = host(Fault.on_tool("read", "exit", code=3, generations=ONCE))
    client.call("read")
    client.call("read")
    client.start_call("write", {"token": "t", "seconds": 60})
    client.until(lambda: control(client, "telemetry")["in_flight"] == 1)
    during = tool_of(control(client, "telemetry"), "write")
    client.kill_worker()
    client.until(lambda: control(client, "telemetry")["in_flight"] == 0)
    after = control(client, "telemetry")

    assert (during["request_count"], during["in_flight"], during["error_count"]) == (1, 1, 0)
    read, write = tool_of(after, "read"), tool_of(after, "write")
    assert (read["success_count"], read["retry_count"], read["recovery_fault_count"]) == (2, 1, 1)
    assert (write["error_count"], write["recovery_error_count"]) == (1, 1)
    assert write["last_error"]["code"] == "AMBIGUOUS_OUTCOME"
    assert after["totals"]["recovery_fault_count"] == after["restart_count"] == 2
    assert after["last_fault"]["class"] == "process"


@pytest.mark.requirement("S3-telemetry-exposed")
def test_the_screen_shows_totals_and_a_line_per_tool_and_the_page_is_the_same_on_both_ways(host: Start) -> None:
    client = host(options=("--metrics", "0"))
    client.call("read")
    client.call("no such tool\x1b[31m")
    shown = holdfast(client, "telemetry")
    page = holdfast(client, "telemetry", "--prometheus")
    status, fetched_page = fetched(client, "/metrics")

    assert (shown.returncode, shown.stderr) == (0, "")
    assert "requests    3: 2 succeeded, 1 failed, 0 in flight" in shown.stdout
    assert [line.split(" | ")[:3] for line in shown.stdout.splitlines() if line.startswith("read ")] == [
        ["read ", "1    ", "0     "]
    ]
    assert "\x1b" not in shown.stdout
    assert (status, page.returncode) == (200, 0)
    same = [line for line in fetched_page.splitlines() if not line.startswith("holdfast_uptime")]
    assert same == [line for line in page.stdout.splitlines() if not line.startswith("holdfast_uptime")]
    assert 'holdfast_tool_calls_total{tool="other",outcome="error"} 1' in same
    assert f"metrics     http://{address_of(client)}/metrics" in holdfast(client, "status").stdout


def test_json_is_the_whole_document_and_watching_goes_on_until_its_reader_leaves_or_interrupts(
    host: Start,
) -> None:
    client = host()
    client.call("read")
    told = json.loads(holdfast(client, "telemetry", "--json").stdout)
    command = [sys.executable, "-m", "holdfast", "telemetry", str(client.process.pid), "--json", "--watch"]
    environ = {**os.environ, "HOLDFAST_STATE_DIR": str(client.folder / "state")}
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environ) as watching:
        assert watching.stdout is not None
        lines = [json.loads(watching.stdout.readline()) for _ in range(2)]
        watching.stdout.close()
        assert watching.wait(10) == 0
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environ) as interrupted:
        assert interrupted.stdout is not None
        assert select.select([interrupted.stdout], [], [], 10)[0]
        interrupted.send_signal(signal.SIGINT)
        assert (interrupted.wait(10), interrupted.communicate()[1]) == (130, b"")

    assert tool_of(told, "read")["success_count"] == 1
    assert lines[0]["tools"] == lines[1]["tools"] == told["tools"]
    assert lines[0]["uptime_ms"] < lines[1]["uptime_ms"]


def test_health_on_the_port_follows_the_host(host: Start, tmp_path: Path) -> None:
    client = host(
        Fault.on_start("exit", generations=(2, 99)), options=("--metrics", "0"), knobs={"restart_slow": 30}
    )
    address = address_of(client)
    client.call("read")
    before = fetched(client, "/health")
    client.kill_worker()
    client.until(lambda: fetched(client, "/ready")[0] == 503)

    assert before[0] == fetched(client, "/health")[0] == 200
    assert json.loads(before[1])["state"] == "ready"
    assert f"holdfast: metrics at http://{address}/metrics" in client.stderr()


def test_a_port_that_is_taken_is_told_before_anything_is_served(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        command = [sys.executable, "-m", "holdfast", "run", "--metrics", port, "--", "touch", "ran"]
        environ = {**os.environ, "HOLDFAST_STATE_DIR": str(tmp_path / "state")}
        streams: dict[str, Any] = {"stdin": subprocess.DEVNULL, "capture_output": True, "text": True}
        done = subprocess.run(command, cwd=tmp_path, env=environ, timeout=20, check=False, **streams)

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.splitlines()[1] == "  try: stop it, or choose another port"
    assert not (tmp_path / "ran").exists()
    assert not (tmp_path / "state").exists()


def test_a_server_that_stands_alone_has_no_metrics(tmp_path: Path) -> None:
    (tmp_path / "shop.py").write_text("from holdfast import Server\nserver = Server('shop')\n")
    command = [sys.executable, "-m", "holdfast", "serve", "--standalone", "--metrics", "0", "shop.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=20, check=False)

    assert (done.returncode, done.stderr.splitlines()[0]) == (2, "holdfast: --metrics needs the host")


@pytest.mark.requirement("S3-telemetry-hot-paths")
def test_every_so_many_calls_the_log_says_what_is_hot(host: Start, events: Events) -> None:
    client = host()
    numbers = [client.start_call("read", {"path": f"src/{number % 20}.py"}) for number in range(500)]
    for number in numbers:
        client.answer_of(number)
    client.until(lambda: events("hot_paths"))

    (hot,) = events("hot_paths")
    assert (hot["calls"], hot["hottest_tools"][0]["name"], len(hot["hottest_paths"])) == (500, "read", 12)
    assert hot["hottest_paths"][0] == {**hot["hottest_paths"][0], "name": "src/0.py", "calls": 25, "errors": 0}
    assert "path" not in events("tool_call")[0]


def test_a_line_of_the_log_tells_how_a_call_failed(host: Start, events: Events) -> None:
    client = host()
    number = client.request("tools/call", {"name": "no such tool", "arguments": {}})
    client.answer_of(number)
    client.until(lambda: events("tool_call"))

    (line,) = events("tool_call")
    told = {"request_id": number, "tool": "no such tool", "outcome": "error", "ended_by": "worker", "attempts": 1}
    assert told.items() <= line.items()
    assert line["duration_ms"] >= 0
    assert "unknown tool" in line["message"]


def spans_of(client: HostUnderTest) -> dict[str, int]:
    counts: dict[str, int] = control(client, "telemetry")["tracing"]
    return counts


def traced(host: Start, endpoint: str, *faults: Fault, **more: Any) -> HostUnderTest:
    os.environ["OTEL_EXPORTER_OTLP_ENDPOINT"] = endpoint
    try:
        return host(*faults, options=("--otel",), **more)
    finally:
        del os.environ["OTEL_EXPORTER_OTLP_ENDPOINT"]


def test_a_call_becomes_a_span_of_its_client_with_a_mark_for_its_replay(host: Start) -> None:
    with receiving() as collector:
        client = traced(host, collector.endpoint, Fault.on_tool("read", "exit", code=3, generations=ONCE))
        meta = {"traceparent": f"00-{TRACE}-{PARENT}-01", "vendor": "x"}
        number = client.request("tools/call", {"name": "read", "arguments": {}, "_meta": meta})
        answer = client.answer_of(number)
        client.call("no such tool")
        client.assert_nothing_left()  # the end of the host sends what is left

    assert payload_of(answer)
    call, failed = collector.named("tools/call read"), collector.named("tools/call no such tool")
    assert (call.trace_id.hex(), call.parent_span_id.hex()) == (TRACE, PARENT)
    assert [attributes_of(mark)["holdfast.generation"] for mark in call.events] == [2]
    assert (attributes_of(call)["holdfast.attempts"], attributes_of(call)["holdfast.outcome"]) == (2, "ok")
    assert attributes_of(call)["mcp.protocol.version"]
    assert (failed.status.code, failed.parent_span_id) == (2, b"")
    assert collector.named("initialize").status.code == 0
    assert set(collector.services) == {"scripted_worker"}


def test_a_collector_that_is_gone_costs_spans_and_no_call(host: Start) -> None:
    with socket.create_server(("127.0.0.1", 0)) as gone:
        endpoint = f"http://127.0.0.1:{gone.getsockname()[1]}"
    client = traced(host, endpoint)
    for _ in range(50):
        assert payload_of(client.call("read"))
    assert spans_of(client)["spans"] >= 50
    assert spans_of(client)["spans_exported"] == 0
    client.assert_nothing_left(bound=10.0)
    assert "Traceback" not in client.stderr()
    assert "retrying" not in client.stderr()


def test_a_host_that_does_not_trace_loads_nothing_of_it(host: Start) -> None:
    client = host()
    assert "tracing" not in control(client, "telemetry")
    assert "_upb" not in Path(f"/proc/{client.process.pid}/maps").read_text()
