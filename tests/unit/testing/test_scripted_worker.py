"""The scripted worker where nothing goes wrong: a real MCP server with tools that do what they declare."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from holdfast.present.profile import HANDSHAKE_REVISIONS, MODERN
from holdfast.testing import HostUnderTest, Traces

Start = Callable[..., HostUnderTest]


def payload(answer: dict[str, Any]) -> Any:
    return answer["result"]["structuredContent"]


@pytest.mark.parametrize("revision", HANDSHAKE_REVISIONS)
def test_a_session_is_opened_at_every_revision_with_a_handshake(worker: Start, revision: str) -> None:
    server = worker(handshake=False)

    assert server.handshake(revision)["result"]["protocolVersion"] == revision
    assert payload(server.call("pid"))["revision"] == revision
    assert server.answer_of(server.request("ping"))["result"] == {}
    assert server.log.broken_laws(is_over=True) == []


def test_requests_that_describe_themselves_need_no_handshake(worker: Start) -> None:
    server = worker(handshake=False)
    found = server.handshake(MODERN)["result"]

    assert MODERN in found["supportedVersions"]
    assert server.call("read")["result"]["resultType"] == "complete"
    assert server.answer_of(server.request("tools/list"))["result"]["cacheScope"] == "public"


def test_a_request_before_the_handshake_is_refused(worker: Start) -> None:
    server = worker(handshake=False)

    assert server.call("read")["error"]["code"] == -32600
    assert server.answer_of(server.request("ping"))["result"] == {}


def test_tools_declare_their_effect_in_the_listing(worker: Start) -> None:
    server = worker()
    tools = {tool["name"]: tool for tool in server.answer_of(server.request("tools/list"))["result"]["tools"]}
    recovery = {name: tools[name]["_meta"]["io.holdfast/effect"]["recovery"] for name in ("add_once", "guarded")}

    assert tools["read"]["annotations"] == {"readOnlyHint": True}
    assert "annotations" not in tools["write"]
    assert tools["idempotent"]["annotations"] == {"idempotentHint": True}
    assert recovery["add_once"] == {"kind": "deduplicated", "key": "/arguments/key"}
    assert recovery["guarded"] == {"kind": "probe_required", "probe": "guarded_probe"}


def test_the_listing_comes_in_pages_that_together_are_the_whole(worker: Start) -> None:
    server = worker(page_size=5)
    names, cursor, pages = [], "0", 0
    while cursor is not None:
        page = server.answer_of(server.request("tools/list", {"cursor": cursor}))["result"]
        names += [tool["name"] for tool in page["tools"]]
        cursor, pages = page.get("nextCursor"), pages + 1

    assert pages == 3
    assert len(names) == len(set(names)) == 12


def test_each_write_takes_effect_before_it_is_answered(worker: Start, traces: Traces) -> None:
    server = worker()
    server.start_call("write", {"token": "a", "seconds": 60})
    server.until(lambda: traces.effects("write"))

    server.call("write", {"token": "a"})
    assert [note["token"] for note in traces.effects("write")] == ["a", "a"]
    assert "law 5: write took effect 2 times for 'a'" in server.log.broken_laws(traces.effects())


def test_a_deduplicated_call_takes_effect_once_per_key_in_all_generations(worker: Start, traces: Traces) -> None:
    first = payload(worker().call("add_once", {"key": "k/../1", "amount": 1}))
    again = payload(worker().call("add_once", {"key": "k/../1", "amount": 2}))

    assert first == again == {"key": "k/../1", "amount": 1}
    assert len(traces.effects("add_once")) == 1
    assert traces.generations() == 2


def test_the_probe_tells_whether_a_guarded_call_was_done(worker: Start) -> None:
    server = worker()
    before = payload(server.call("guarded_probe", {"token": "a"}))
    done = payload(server.call("guarded", {"token": "a"}))
    after = payload(server.call("guarded_probe", {"token": "a"}))

    assert before == {"outcome": "safe_to_retry"}
    assert after == {"outcome": "completed", "result": done}


def test_echo_returns_the_arguments_and_the_very_line_that_was_read(worker: Start) -> None:
    server = worker()
    line = '{"jsonrpc":"2.0" , "id":"e","method":"tools/call","params":{"name":"echo","arguments":{"n":1.10}}}'
    server.send_raw(line.encode() + b"\n")
    server.until(lambda: any(message.get("id") == "e" for message in server.messages))

    assert payload(server.messages[-1]) == {"arguments": {"n": 1.1}, "line": line}


def test_progress_is_told_to_whoever_gave_a_token(worker: Start) -> None:
    server = worker()
    server.answer_of(server.start_call("progress", {"steps": 3, "pause": 0.001}, {"progressToken": "p"}))
    server.call("progress")
    notices = [message["params"] for message in server.messages if "method" in message]

    assert [notice["progress"] for notice in notices] == [1, 2, 3]
    assert server.log.broken_laws(is_over=True) == []


def test_ask_returns_what_the_client_answered(worker: Start) -> None:
    server = worker()
    sampled = payload(server.call("ask", {"method": "sampling/createMessage"}))["response"]
    refused = payload(server.call("ask", {"method": "no/such"}))["response"]

    assert sampled["result"]["content"]["text"] == "sampled"
    assert refused["error"]["code"] == -32601


def test_a_slow_call_heeds_its_cancellation(worker: Start) -> None:
    server = worker()
    number = server.start_call("slow", {"seconds": 0.02})
    server.cancel(number)
    server.call("slow", {"seconds": 0.04})

    assert json.dumps(number) not in [json.dumps(message.get("id")) for message in server.messages]
    assert server.log.broken_laws(is_over=True) == []


def test_a_big_result_and_a_big_request_cross_each_other(worker: Start) -> None:
    server = worker()
    numbers = [server.start_call("big", {"bytes": 300_000, "ballast": "y" * 300_000}) for _ in range(3)]
    texts = [server.answer_of(number)["result"]["content"][0]["text"] for number in numbers]

    assert [len(text) for text in texts] == [300_000] * 3


def test_what_the_session_was_told_is_remembered(worker: Start) -> None:
    server = worker()
    server.answer_of(server.request("logging/setLevel", {"level": "debug"}))
    server.answer_of(server.request("resources/subscribe", {"uri": "a:1"}))
    server.answer_of(server.request("resources/subscribe", {"uri": "a:2"}))
    server.answer_of(server.request("resources/unsubscribe", {"uri": "a:1"}))

    assert payload(server.call("pid")) | {"pid": 0} == {
        "pid": 0,
        "generation": 1,
        "revision": HANDSHAKE_REVISIONS[-1],
        "level": "debug",
        "subscriptions": ["a:2"],
    }


def test_what_is_no_request_of_this_server_is_answered_with_an_error(worker: Start, traces: Traces) -> None:
    server = worker(record=True)
    unknown_tool, unknown_method = server.call("nothing"), server.answer_of(server.request("no/such"))
    server.send_raw(b"{half\n")
    server.until(lambda: server.messages[-1].get("id", 0) is None)

    assert (unknown_tool["error"]["code"], unknown_method["error"]["code"]) == (-32602, -32601)
    assert server.messages[-1]["error"]["code"] == -32700
    assert traces.received(1)[-1] == "{half"


def test_the_worker_ends_with_its_input_and_leaves_nothing(worker: Start) -> None:
    server = worker()
    server.start_call("slow", {"seconds": 60})

    assert server.close() == 0
    server.assert_nothing_left()
