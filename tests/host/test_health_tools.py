"""The host's own tools at a real host: answered at once, whatever the worker does."""

import json
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.host.answers import eventually
from tests.host.conftest import QUICK, Events, Start

from holdfast.host.records import list_hosts
from holdfast.host.remote import ask
from holdfast.present.profile import MODERN
from holdfast.settings import Settings
from holdfast.testing import Fault, HostUnderTest, Traces

SOON = 2.0
FOREIGN = [sys.executable, str(Path(__file__).with_name("talkative_server.py"))]
ON = ("--health-tools",)


def health(host: HostUnderTest, bound: float = SOON) -> dict[str, Any]:
    """What the tool tells."""
    result = host.call("holdfast_health", bound=bound)["result"]
    told: dict[str, Any] = json.loads(result["content"][0]["text"])
    assert result["structuredContent"] == told
    return told


def test_health_is_told_while_the_worker_is_frozen(host: Start) -> None:
    client = host(options=ON)
    client.call("read")
    client.kill_worker(signal.SIGSTOP)
    waiting = client.start_call("read")

    told = health(client)

    assert (told["state"], told["generation"], told["pending"]) == ("ready", 1, 1)
    assert told["counters"]["requests"] >= 2
    telemetry = client.call("holdfast_telemetry", bound=SOON)["result"]["structuredContent"]
    assert telemetry["pid"] == client.process.pid
    client.kill_worker(signal.SIGCONT)
    assert "result" in client.answer_of(waiting)


def test_health_is_told_to_a_client_whose_handshake_is_not_answered_yet(host: Start) -> None:
    client = host(Fault.on_method("initialize", "never_answer"), options=ON, handshake=False)
    too_early = client.start_call("holdfast_health")
    refused = client.answer_of(too_early)
    params = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "a", "version": "1"}}
    client.request("initialize", params)

    assert health(client)["pending"] == 1
    assert refused["error"]["code"] == -32600


def test_health_is_told_while_no_worker_can_be_started(host: Start) -> None:
    knobs = {"restart_budget": 1, "restart_slow": 600}
    client = host(Fault.on_start("exit", generations=(2, None)), options=ON, knobs=knobs)
    client.call("read")
    client.kill_worker()

    assert eventually(lambda: health(client)["degraded"])
    assert health(client)["restart_count"] >= 1
    resource = client.answer_of(client.request("resources/read", {"uri": "holdfast://health"}), SOON)
    assert json.loads(resource["result"]["contents"][0]["text"])["degraded"] is True


def test_the_tool_tells_what_the_command_tells(host: Start, tmp_path: Path) -> None:
    client = host(options=ON)
    client.call("read")
    told = health(client)

    [record] = list_hosts(Settings(state_dir=tmp_path / "state"))
    status = ask(record, "status", SOON)
    passing, private = {"uptime_ms", "counters"}, {"command"}
    assert {key: told[key] for key in told.keys() - passing} == {
        key: status[key] for key in status.keys() - passing - private
    }


def test_clients_are_told_no_secrets_and_not_how_the_server_was_started(tmp_path: Path) -> None:
    command = [*FOREIGN, "--password", "open sesame"]
    with HostUnderTest.running(command, tmp_path, *ON, environment=QUICK) as running:
        running.handshake()
        running.kill_worker()
        assert eventually(lambda: health(running)["restart_count"] == 1)
        fault = health(running)["last_fault"]
        shown = json.dumps(
            [
                running.call("holdfast_health"),
                running.call("holdfast_telemetry"),
                running.answer_of(running.request("resources/read", {"uri": "holdfast://health"})),
                running.answer_of(running.request("resources/read", {"uri": "holdfast://telemetry"})),
            ]
        )

    assert fault["class"] == "process"
    assert "stderr" not in fault
    for private in ("open sesame", "talkative_server.py", str(tmp_path)):
        assert private not in shown


@pytest.mark.parametrize("revision", ["2024-11-05", MODERN])
def test_lists_end_with_the_hosts_own_on_their_last_page(host: Start, revision: str) -> None:
    client = host(options=ON, handshake=False, page_size=4)
    assert client.handshake(revision)["result"]["capabilities"]["tools"]["listChanged"] is True
    names: list[str] = []
    cursor: str | None = None
    while cursor is not None or not names:
        page = client.answer_of(client.request("tools/list", {"cursor": cursor} if cursor else {}))["result"]
        names += [tool["name"] for tool in page["tools"]]
        cursor = page.get("nextCursor")

    assert names.count("holdfast_health") == 1
    assert names.index("holdfast_health") > names.index("read")
    listed = client.answer_of(client.request("resources/list"))["result"]["resources"]
    assert "holdfast://health" in [resource["uri"] for resource in listed]


def test_without_the_switch_there_is_nothing_of_it(host: Start) -> None:
    client = host()

    listed = client.answer_of(client.request("tools/list"))["result"]["tools"]
    assert not [tool for tool in listed if tool["name"].startswith("holdfast_")]
    assert "error" in client.call("holdfast_health")
    assert "error" in client.answer_of(client.request("resources/read", {"uri": "holdfast://health"}))


def test_a_worker_without_tools_still_has_the_hosts_own(host: Start) -> None:
    client = host(Fault.on_start("no_tools"), options=ON, handshake=False)

    assert client.handshake()["result"]["capabilities"]["tools"] == {"listChanged": True}
    listed = client.answer_of(client.request("tools/list"))["result"]["tools"]
    assert "holdfast_health" in [tool["name"] for tool in listed]
    assert health(client)["state"] == "ready"


def test_the_hosts_own_calls_are_on_record_and_never_reach_the_worker(
    host: Start, traces: Traces, events: Events
) -> None:
    client = host(options=ON, record=True)
    health(client)
    client.close()

    assert [call["tool"] for call in events("tool_call")] == ["holdfast_health"]
    assert "holdfast_health" not in "".join(traces.received())


@pytest.fixture
def talkative(tmp_path: Path) -> Iterator[HostUnderTest]:
    """A host in front of a server that has a tool with a name of the host's own."""
    with HostUnderTest.running(FOREIGN, tmp_path, *ON, environment=QUICK) as running:
        running.handshake()
        yield running


def test_a_tool_of_the_worker_goes_before_the_hosts(talkative: HostUnderTest, events: Events) -> None:
    listed = talkative.answer_of(talkative.request("tools/list"))["result"]["tools"]
    told = talkative.call("holdfast_telemetry", {"count": 3})["result"]["content"][0]["text"]

    assert [tool["name"] for tool in listed].count("holdfast_telemetry") == 1
    assert told == "row 0\nrow 1\nrow 2"
    assert health(talkative)["state"] == "ready"


def test_what_the_host_answers_for_a_server_without_resources_is_no_error_in_its_figures(
    talkative: HostUnderTest,
) -> None:
    listed = talkative.answer_of(talkative.request("resources/list"))["result"]["resources"]
    read = talkative.answer_of(talkative.request("resources/read", {"uri": "holdfast://telemetry"}))["result"]

    assert "holdfast://telemetry" in [resource["uri"] for resource in listed]
    figures = {entry["method"]: entry for entry in json.loads(read["contents"][0]["text"])["methods"]}
    assert (figures["resources/list"]["success_count"], figures["resources/list"]["error_count"]) == (1, 0)
