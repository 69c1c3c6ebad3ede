"""Clients of one era, workers of the other, and the real host between them."""

import asyncio
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from tests.clients.journeys import PACKAGES, node, package
from tests.contract.official_schemas import assert_valid, has_definition
from tests.host.answers import code_of
from tests.host.conftest import QUICK
from tests.host.era_client import HERE, Entry, host_command, journey, record_of

from holdfast.present.profile import MODERN
from holdfast.testing import HostUnderTest

TAG = "io.modelcontextprotocol/subscriptionId"
Behind = Callable[..., HostUnderTest]
pytestmark = pytest.mark.filterwarnings("ignore:.*(removed|deprecated) as of 2026-07-28")  # the client's own

DEFINITIONS = {
    "server/discover": "DiscoverRequest",
    "initialize": "InitializeRequest",
    "ping": "PingRequest",
    "tools/list": "ListToolsRequest",
    "tools/call": "CallToolRequest",
    "resources/list": "ListResourcesRequest",
    "resources/read": "ReadResourceRequest",
    "resources/subscribe": "SubscribeRequest",
    "resources/unsubscribe": "UnsubscribeRequest",
    "prompts/list": "ListPromptsRequest",
    "prompts/get": "GetPromptRequest",
    "logging/setLevel": "SetLevelRequest",
    "subscriptions/listen": "SubscriptionsListenRequest",
    "notifications/initialized": "InitializedNotification",
    "notifications/cancelled": "CancelledNotification",
}


def messages(folder: Path) -> list[Entry]:
    """What the workers were sent, in order."""
    lines = record_of(folder).read_text().splitlines()
    return [json.loads(line.removeprefix("in ")) for line in lines if line.startswith("in ")]


def assert_spoken_to_in(revision: str, folder: Path) -> None:
    """Everything that the worker was sent is valid in its revision, but for the question that finds that out."""
    for message in messages(folder):
        definition = DEFINITIONS.get(message.get("method", ""), "JSONRPCMessage")
        if has_definition(revision, definition):
            assert_valid(revision, definition, message)
        else:
            assert message["method"] == ("initialize" if revision == MODERN else "server/discover")


# --- the official clients ----------------------------------------------------------------------------------------


def assert_served(seen: Entry) -> None:
    """What every client of either era sees of either worker."""
    assert (seen["tools"][0], seen["echo"], seen["refused"], seen["after"]) == ("echo", "hi", True, "after")
    assert seen["progress"] == [(1, 2), (2, 2)]
    assert seen["unknown"] == (-32602, "unknown tool nope")
    assert (seen["resources"], seen["read"], seen["prompts"]) == (["memo://a"], "alpha", ["greet"])
    assert seen["held"] == "cancelled"
    assert "may or may not have taken effect" in seen["died"][1]


def test_a_client_without_a_handshake_is_served_completely_by_a_worker_of_2024(tmp_path: Path) -> None:
    seen = asyncio.run(journey("auto", "handshake_worker", tmp_path))

    assert_served(seen)
    assert (seen["revision"], seen["server"], seen["instructions"]) == (MODERN, "elder", "Be patient.")
    assert sorted(seen["changes"]) == ["ResourceUpdated", "ToolsListChanged"]
    assert json.loads(seen["asked"])["content"]["text"] == "blue"
    assert seen["heard"].count("notifications/message") == 1
    assert record_of(tmp_path).with_suffix(".cancelled").exists()
    assert_spoken_to_in("2024-11-05", tmp_path)


def test_a_client_with_a_handshake_is_served_completely_by_a_worker_of_2026(tmp_path: Path) -> None:
    seen = asyncio.run(journey("legacy", "modern_worker", tmp_path))

    assert_served(seen)
    assert (seen["revision"], seen["server"], seen["instructions"]) == ("2025-11-25", "younger", "Be brief.")
    assert {"notifications/tools/list_changed", "notifications/resources/updated"} <= set(seen["heard"])
    assert json.loads(seen["asked"]) == {"action": "accept", "content": {"a": "blue"}}
    assert seen["heard"].count("notifications/message") == 1
    assert record_of(tmp_path).with_suffix(".cancelled").exists()
    assert_spoken_to_in(MODERN, tmp_path)


def test_the_typescript_clients_of_both_eras_are_served_by_the_other(tmp_path: Path) -> None:
    package("@modelcontextprotocol/sdk")
    package("@modelcontextprotocol/client")
    plans = {
        "v1": ("v1", "modern_worker", None, "2025-11-25"),
        "v2": ("v2", "modern_worker", None, "2025-11-25"),
        "v2-modern": ("v2", "handshake_worker", {"mode": {"pin": MODERN}}, MODERN),
    }
    for name in plans:
        (tmp_path / name).mkdir()
    described = {
        name: {"generation": generation, "server": host_command(worker, tmp_path / name), "agree": agree}
        for name, (generation, worker, agree, _) in plans.items()
    }
    done = node(str(HERE / "era_journey.mjs"), str(PACKAGES), json.dumps(described))
    assert done.returncode == 0, done.stderr
    for name, seen in json.loads(done.stdout).items():
        _, worker, _, revision = plans[name]
        assert seen["revision"] == revision
        _assert_typescript_was_served(seen)
        assert_spoken_to_in(MODERN if worker == "modern_worker" else "2024-11-05", tmp_path / name)


def _assert_typescript_was_served(seen: Entry) -> None:
    assert seen["tools"][:2] == ["echo", "steps"]
    assert seen["heard"] == [1, 2]
    assert seen["steps"]["result"]["content"][0]["text"] == "there"
    assert seen["echo"]["result"]["content"] == [{"type": "text", "text": "hi"}]
    assert seen["refused"]["result"]["isError"] is True
    assert seen["unknown"]["error"]["code"] == -32602
    assert seen["read"]["result"]["contents"][0]["text"] == "alpha"
    assert "result" in seen["prompt"]
    assert "error" in seen["cancelled"]
    assert seen["trapped"]["result"]["contents"][0]["text"] == "alpha"
    assert seen["after"]["result"]["content"][0]["text"] == "after"


# --- losses ------------------------------------------------------------------------------------------------------


@pytest.fixture
def behind(tmp_path: Path) -> Iterator[Behind]:
    """Starts a host in front of a program; a name is that of a worker beside this file."""
    with ExitStack() as stack:

        def start(program: str, *arguments: str, **knobs: object) -> HostUnderTest:
            script = [str(HERE / f"{program}.py"), str(record_of(tmp_path)), *arguments]
            command = [sys.executable, *(script if program.endswith("_worker") else ["-c", program])]
            chosen = {f"HOLDFAST_{name.upper()}": str(value) for name, value in knobs.items()}
            running = HostUnderTest.running(command, tmp_path, environment={**QUICK, **chosen})
            return stack.enter_context(running)

        yield start


def read(client: HostUnderTest, uri: str = "memo://trap") -> Any:
    """The text of a resource."""
    return client.answer_of(client.request("resources/read", {"uri": uri}))["result"]["contents"][0]["text"]


def test_a_stream_without_a_handshake_outlives_the_worker_that_never_knew_of_it(behind: Behind) -> None:
    client = behind("handshake_worker")
    client.handshake(MODERN)
    kept = {"toolsListChanged": True, "resourceSubscriptions": ["memo://a"]}
    number = client.request("subscriptions/listen", {"notifications": kept})
    assert read(client) == "alpha"  # the first worker has died of it
    client.call("grow")
    client.call("touch")

    told = [one for one in client.messages if TAG in one.get("params", {}).get("_meta", {})]
    assert {one["params"]["_meta"][TAG] for one in told} == {number}
    assert [one["method"].rsplit("/")[-1] for one in told] == [
        "acknowledged",
        "list_changed",
        "updated",
    ]
    for one in told:
        assert_valid(MODERN, "ServerNotification", one)


def test_a_session_with_a_handshake_outlives_the_worker_that_never_knew_of_it(behind: Behind) -> None:
    client = behind("modern_worker")
    client.handshake("2025-06-18")
    assert client.answer_of(client.request("logging/setLevel", {"level": "info"}))["result"] == {}
    assert client.answer_of(client.request("resources/subscribe", {"uri": "memo://a"}))["result"] == {}
    assert read(client) == "alpha"  # the first worker has died of it
    for tool in ("grow", "touch", "log"):
        client.call(tool)

    told = [one["method"] for one in client.messages if "method" in one and "id" not in one]
    assert "notifications/tools/list_changed" in told
    assert "notifications/resources/updated" in told
    assert "notifications/message" in told


@pytest.mark.parametrize(("worker", "revision"), [("handshake_worker", MODERN), ("modern_worker", "2024-11-05")])
def test_a_worker_that_is_killed_in_a_call_is_replaced(behind: Behind, worker: str, revision: str) -> None:
    client = behind(worker)
    client.handshake(revision)
    held = client.start_call("hold")
    first = client.call("pid")["result"]["content"][0]["text"]
    client.kill_worker()

    assert code_of(client.answer_of(held)) == "AMBIGUOUS_OUTCOME"
    assert client.call("pid")["result"]["content"][0]["text"] != first
    assert_valid(revision, "ListToolsResult", client.answer_of(client.request("tools/list"))["result"])
    client.close()
    client.assert_nothing_left()


# --- hostility ---------------------------------------------------------------------------------------------------


def test_a_worker_that_does_not_survive_the_question_is_asked_only_once(behind: Behind, tmp_path: Path) -> None:
    client = behind("handshake_worker", "fragile")

    assert client.handshake(MODERN)["result"]["capabilities"]["tools"] == {"listChanged": True}
    assert [one["method"] for one in messages(tmp_path)].count("server/discover") == 1


def test_a_worker_that_says_nothing_before_the_handshake_gets_one(behind: Behind) -> None:
    client = behind("handshake_worker", "silent")

    assert_valid(MODERN, "DiscoverResult", client.handshake(MODERN)["result"])


def test_a_worker_that_does_not_know_the_handshake_is_asked_the_other_way(behind: Behind) -> None:
    client = behind("modern_worker", "-32601")

    assert_valid("2024-11-05", "InitializeResult", client.handshake("2024-11-05")["result"])
    assert_valid("2024-11-05", "ListToolsResult", client.answer_of(client.request("tools/list"))["result"])


HOSTILE = """
import json, sys
MANY = {{str(n): {{"x": "y" * 900}} for n in range(999)}}
CAN = {{"tools": 1, "resources": [], "logging": None, "experimental": MANY}}
ELDER = {{"protocolVersion": "2024-11-05", "capabilities": CAN, "serverInfo": 7, "tools": [1], "content": 3}}
YOUNGER = {{"supportedVersions": ["2026-07-28"], "capabilities": CAN, "resultType": ["x"], "_meta": 1}}
REFUSED = {{"error": {{"code": -32601, "message": "no"}}}}
for line in sys.stdin:
    message = json.loads(line)
    if "id" in message and "method" in message:
        number, method = message["id"], message["method"]
        print(json.dumps({{"jsonrpc": "2.0", "id": number, **({answer})}}), flush=True)
"""
ANSWERS = {
    "wrong ids": (MODERN, '{"id": f"holdfast-era-{number}", "result": {}}'),
    "garbage": (MODERN, '{"result": [1, None]}'),
    "errors only": (MODERN, '{"error": {"code": 1, "message": "no", "data": 7}}'),
    "a strange elder": (MODERN, 'REFUSED if method == "server/discover" else {"result": ELDER}'),
    "a strange younger": ("2025-11-25", 'REFUSED if method == "initialize" else {"result": YOUNGER}'),
    "neither": ("2025-11-25", 'REFUSED if method == "initialize" else {"result": "no"}'),
}


@pytest.mark.parametrize(("revision", "answer"), ANSWERS.values(), ids=ANSWERS)
def test_a_hostile_worker_neither_hangs_nor_ends_the_session(behind: Behind, answer: str, revision: str) -> None:
    client = behind(HOSTILE.format(answer=answer), deadline=0.3, start_timeout=0.3, ping_timeout=0.2)
    client.handshake(revision)
    answered = [client.call("echo"), client.answer_of(client.request("tools/list"))]

    assert all(("result" in one) != ("error" in one) for one in answered)
    assert client.process.poll() is None
