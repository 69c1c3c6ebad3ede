"""The session in front of changing workers: lists of tools, facts, questions, cancellation, admission."""

import json
from typing import Any

import pytest
from tests.host.answers import code_of, error_of, payload_of
from tests.host.conftest import Start

from holdfast.present.profile import MODERN
from holdfast.testing import Fault, HostUnderTest, Traces

ONCE = (1, 1)
LATER = (2, None)


def notices(client: HostUnderTest, method: str) -> list[dict[str, Any]]:
    """What the client was told by this method."""
    return [message for message in client.messages if message.get("method") == method]


def names(client: HostUnderTest) -> list[str]:
    """The names of the tools, as the client reads them."""
    listed = client.answer_of(client.request("tools/list"))
    return [tool["name"] for tool in listed["result"]["tools"]]


# --- lists of tools ----------------------------------------------------------------------------------------------


def test_a_server_without_tools_is_served(host: Start, traces: Traces) -> None:
    client = host(Fault.on_start("no_tools"), handshake=False)

    assert "tools" not in client.handshake()["result"]["capabilities"]
    assert client.answer_of(client.request("resources/list"))["result"] == {"resources": []}
    client.kill_worker()
    assert client.answer_of(client.request("resources/list"))["result"] == {"resources": []}
    assert client.answer_of(client.request("tools/list"))["error"]["code"] == -32601
    assert traces.generations() == 2


def test_a_server_that_cannot_list_its_tools_is_served_with_calls_at_most_once(host: Start) -> None:
    client = host(Fault.on_start("list_error"), Fault.on_tool("read", "kill", generations=ONCE))

    assert code_of(client.call("read")) == "AMBIGUOUS_OUTCOME"
    assert payload_of(client.call("read"))["generation"] == 2


def test_pages_without_an_end_are_not_followed_for_ever(host: Start) -> None:
    client = host(Fault.on_start("endless_pages"))

    assert payload_of(client.call("read"))["generation"] == 1


def test_the_pages_of_a_list_are_followed_to_the_end(host: Start) -> None:
    client = host(Fault.on_tool("pid", "kill", generations=ONCE), page_size=1)

    assert payload_of(client.call("pid"))["generation"] == 2  # it is known to be safe, though listed late


def test_a_replacement_that_lists_in_another_order_changes_nothing(host: Start) -> None:
    client = host(Fault.on_start("shuffle_tools", generations=LATER), seed=3)
    first = names(client)
    client.call("read")
    client.kill_worker()

    assert payload_of(client.call("read"))["generation"] == 2
    assert sorted(names(client)) == sorted(first)
    assert names(client) != first
    assert notices(client, "notifications/tools/list_changed") == []


def test_a_replacement_with_other_tools_serves_and_the_change_is_announced_once(
    host: Start, traces: Traces
) -> None:
    client = host(Fault.on_start("list_tools", names=["read", "pid"], generations=LATER))
    client.call("read")
    client.kill_worker()

    assert payload_of(client.call("read"))["generation"] == 2
    assert len(notices(client, "notifications/tools/list_changed")) == 1
    assert names(client) == ["read", "pid"]
    assert traces.generations() == 2


def test_a_change_of_the_list_is_passed_on_and_the_new_list_counts(host: Start, traces: Traces) -> None:
    client = host(
        Fault("list_tools", at="read", tool="write", arguments={"names": ["read", "write"]}),
        Fault.on_tool("write", "list_changed"),
        record=True,
    )
    assert len(names(client)) == 12
    client.call("write", {"token": "t"})
    client.until(lambda: notices(client, "notifications/tools/list_changed"))

    assert names(client) == ["read", "write"]
    asked = [json.loads(line)["method"] for line in traces.received()]
    assert asked.count("tools/list") == 4  # two of the host's own, two of the client's


# --- what a replacement is told ----------------------------------------------------------------------------------


def test_a_replacement_knows_the_log_level_and_the_subscriptions(host: Start) -> None:
    client = host()
    client.answer_of(client.request("logging/setLevel", {"level": "debug"}))
    client.answer_of(client.request("logging/setLevel", {"level": "error"}))
    for uri in ("file:///a", "file:///b"):
        client.answer_of(client.request("resources/subscribe", {"uri": uri}))
    client.answer_of(client.request("resources/unsubscribe", {"uri": "file:///a"}))
    client.kill_worker()

    told = payload_of(client.call("pid"))

    assert (told["generation"], told["level"], told["subscriptions"]) == (2, "error", ["file:///b"])
    assert told["revision"] == "2025-11-25"


def test_a_replacement_that_speaks_another_revision_is_never_served(host: Start, traces: Traces) -> None:
    client = host(Fault.on_start("other_revision", revision="2024-11-05", generations=(2, 3)))
    client.call("read")
    client.kill_worker()

    assert payload_of(client.call("pid"))["revision"] == "2025-11-25"
    assert traces.generations() == 4


def test_an_initialize_that_fails_is_told_and_may_be_tried_again(host: Start) -> None:
    client = host(Fault.on_method("initialize", "answer_error", nth=1), handshake=False)

    params = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}
    refused = client.answer_of(client.request("initialize", params))

    assert refused["error"]["message"] == "scripted"
    assert client.handshake()["result"]["protocolVersion"] == "2025-11-25"
    assert payload_of(client.call("read"))["generation"] == 1


@pytest.mark.parametrize("revision", ["2024-11-05", "2025-06-18", MODERN])
def test_every_revision_survives_the_loss_of_a_worker(host: Start, revision: str) -> None:
    client = host(Fault.on_tool("read", "kill", generations=ONCE), handshake=False)
    client.handshake(revision)

    assert payload_of(client.call("read"))["generation"] == 2
    assert client.log.broken_laws() == []


def test_a_batch_that_uses_an_id_in_flight_again_takes_nobodys_answer(host: Start) -> None:
    client = host(handshake=False)
    client.handshake("2025-03-26")
    running = client.start_call("slow", {"value": 7, "seconds": 0.3})
    again = {"jsonrpc": "2.0", "id": running, "method": "tools/list"}
    client.send_raw(json.dumps([again, {"jsonrpc": "2.0", "id": "b", "method": "ping"}]).encode() + b"\n")
    client.until(lambda: any(isinstance(message, list) for message in client.messages))

    (batch,) = [message for message in client.messages if isinstance(message, list)]
    assert [(one["id"], "error" in one) for one in batch] == [(running, True), ("b", False)]
    client.until(lambda: any(isinstance(m, dict) and m.get("id") == running for m in client.messages))
    (answer,) = [m for m in client.messages if isinstance(m, dict) and m.get("id") == running]
    assert payload_of(answer)["value"] == 7


def test_a_batch_survives_the_loss_of_a_worker_and_is_answered_whole(host: Start) -> None:
    client = host(Fault.on_tool("read", "kill", nth=2, generations=ONCE), handshake=False)
    client.handshake("2025-03-26")
    calls: list[dict[str, Any]] = [
        {
            "jsonrpc": "2.0",
            "id": f"b{n}",
            "method": "tools/call",
            "params": {"name": "read", "arguments": {"value": n}},
        }
        for n in range(3)
    ]
    client.send_raw(json.dumps([*calls, {"jsonrpc": "2.0", "method": "notifications/x"}, 7]).encode() + b"\n")
    client.until(lambda: any(isinstance(message, list) for message in client.messages))

    (batch,) = [message for message in client.messages if isinstance(message, list)]
    values = {answer["id"]: payload_of(answer)["value"] for answer in batch if answer["id"] is not None}
    assert values == {"b0": 0, "b1": 1, "b2": 2}
    assert [answer["error"]["code"] for answer in batch if answer["id"] is None] == [-32600]


# --- questions of workers ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["roots/list", "sampling/createMessage", "elicitation/create"])
def test_a_question_of_the_worker_reaches_the_client_and_its_answer_the_worker(host: Start, method: str) -> None:
    client = host()

    response = payload_of(client.call("ask", {"method": method}))["response"]

    assert response["result"] == client.answers[method]
    assert response["id"] == "ask-1-1"  # as the worker has numbered it


def test_questions_are_bounded_and_one_too_many_is_refused(host: Start) -> None:
    client = host()
    client.answers.clear()
    asked: list[Any] = []
    client._answer = asked.append  # type: ignore[method-assign, assignment]  # the client never answers
    numbers = [client.start_call("ask") for _ in range(257)]
    client.until(lambda: len(asked) == 256)

    refused = payload_of(client.answer_of(numbers[-1]))["response"]

    assert refused["error"]["code"] == -32001
    assert len(client.drain()) == 0


def test_a_ping_is_answered_while_there_is_no_worker(host: Start) -> None:
    client = host(Fault.on_method("initialize", "never_answer"), handshake=False)

    assert client.answer_of(client.request("ping"))["result"] == {}


# --- cancellation ------------------------------------------------------------------------------------------------


def test_a_cancelled_call_is_told_to_the_worker_and_leaves_nothing_behind(host: Start, traces: Traces) -> None:
    client = host(knobs={"pending_max": 4}, record=True)
    client.call("read")
    for _ in range(20):  # many more than may be pending
        client.cancel(client.start_call("slow", {"seconds": 30}))

    assert payload_of(client.call("read"))["generation"] == 1
    told = [json.loads(line) for line in traces.received(1)]
    slow = [message["id"] for message in told if message.get("params", {}).get("name") == "slow"]
    ended = [m["params"]["requestId"] for m in told if m["method"] == "notifications/cancelled"]
    assert slow == ended
    client.assert_nothing_left()
    assert client.log.broken_laws(is_over=True) == []


def test_a_call_that_is_cancelled_while_it_waits_never_runs(host: Start, traces: Traces) -> None:
    client = host(Fault.on_method("initialize", "delay", seconds=0.2), handshake=False)
    params = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}
    opening = client.request("initialize", params)
    client.notify("notifications/initialized")
    number = client.start_call("write", {"token": "cancelled"})
    client.cancel(number)
    client.answer_of(opening)

    assert payload_of(client.call("write", {"token": "wanted"}))["token"] == "wanted"
    assert [note["token"] for note in traces.effects()] == ["wanted"]
    assert client.log.broken_laws(traces.effects()) == []


@pytest.mark.parametrize("fault", ["ignore_cancel", "answer_cancelled"])
def test_whatever_a_worker_says_to_a_cancellation_the_client_hears_nothing_more(host: Start, fault: str) -> None:
    client = host(Fault.on_tool("slow", fault))
    client.call("read")
    number = client.start_call("slow", {"seconds": 0.1})
    client.cancel(number)
    client.call("slow", {"seconds": 0.15})

    assert all(message.get("id") != number for message in client.messages)
    assert client.log.broken_laws() == []


def test_a_cancelled_call_is_not_repeated_when_its_worker_dies(host: Start, traces: Traces) -> None:
    client = host(record=True)
    client.call("read")
    client.cancel(client.start_call("slow", {"seconds": 30}))
    client.kill_worker()

    assert payload_of(client.call("read"))["generation"] == 2
    assert not any('"slow"' in line for line in traces.received(2))


def test_an_id_that_is_in_flight_cannot_be_used_again(host: Start) -> None:
    client = host()
    client.call("read")
    number = client.start_call("slow", {"seconds": 0.2})
    client.send_raw(b'{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"read"}}\n' % number)

    first = client.answer_of(number)
    second = client.answer_of(number)

    assert first["error"]["code"] == -32600
    assert payload_of(second)["generation"] == 1


def test_one_request_too_many_is_refused_at_once(host: Start) -> None:
    client = host(knobs={"pending_max": 2})
    client.call("read")
    waiting = [client.start_call("slow", {"seconds": 0.3}) for _ in range(2)]

    refused = client.call("read")

    assert error_of(refused)["code"] == "QUEUE_OVERLOADED"
    assert error_of(refused)["retry"]["safe"] is True
    assert all("result" in client.answer_of(number) for number in waiting)
