"""The bridge between a kernel and a worker: how it finds out what the worker is. Nothing brings it down."""

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.contract.official_schemas import assert_valid
from tests.unit.host.era_wire import ELDER, LEVEL, ME, NO_METHOD, TAG, YOUNGER, Wire, elder, younger

from holdfast.host.era_bridge import PATIENCE, EraBridge
from holdfast.host.era_flow import EraMemory
from holdfast.present.profile import HANDSHAKE_REVISIONS, META_REVISION, MODERN
from holdfast.wire.codec import decode, encode
from holdfast.wire.envelope import parse

# --- the same era ------------------------------------------------------------------------------------------------


def test_a_session_with_a_handshake_is_passed_on_byte_for_byte() -> None:
    wire = Wire()
    sent = [wire.send(1, "initialize", {"protocolVersion": "2024-11-05"}), wire.says(id=1, result=ELDER)]
    sent += [wire.send(None, "notifications/initialized"), wire.send(2, "tools/call"), wire.says(id=2, result={})]

    assert all(one is other for one, other in zip(wire.raw, sent, strict=True))
    assert not wire.bridge.listens
    assert not wire.bridge.wants(sent[3])


def test_a_modern_worker_is_asked_once_and_then_passed_everything_byte_for_byte() -> None:
    wire = Wire()
    first = wire.ask(1, "tools/call", name="a")
    assert wire.bridge.held == {1}
    wire.says(id=wire.last["id"], result=YOUNGER)
    sent = [first, wire.says(id=1, result={}), wire.ask(2, "tools/list"), wire.says(id=2, result={})]

    assert all(one is other for one, other in zip(wire.raw[1:], sent, strict=True))
    assert wire.bridge.held == frozenset()
    assert not wire.bridge.listens
    assert_valid(MODERN, "DiscoverRequest", wire.worker[0])


def test_another_spelling_of_the_key_describes_the_request_all_the_same() -> None:
    wire = Wire()
    spelled = json.dumps(ME).replace("/", "\\/")
    payload = b'{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":%s}}' % spelled.encode()

    assert wire.bridge.wants(payload)
    assert wire.bridge.to_worker(payload, 0.0, 1).to_worker[0][1] == 0  # a question of the bridge's own


def test_a_client_that_asks_itself_is_its_own_probe() -> None:
    wire = Wire()
    asked = wire.ask(7, "server/discover")
    wire.ask(8, "tools/list")
    answered = wire.says(id=7, result=YOUNGER)

    assert wire.raw[0] is asked
    assert wire.raw[1] is answered or wire.raw[2] is answered
    assert [message["id"] for message in wire.worker] == [7, 8]


def test_a_client_of_a_later_revision_is_refused_by_the_modern_worker_itself() -> None:
    wire = Wire()
    wire.ask(7, "server/discover", _meta={META_REVISION: "2099-01-01"})
    refusal = {"code": -32022, "message": "no", "data": {"supported": [MODERN], "requested": "2099-01-01"}}
    wire.says(id=7, error=refusal)
    wire.ask(8, "tools/list")

    assert wire.told["error"] == refusal
    assert [message["method"] for message in wire.worker] == ["server/discover", "tools/list"]


def test_a_handshake_after_everything_that_waited_was_cancelled_is_answered_from_the_first() -> None:
    wire = Wire()
    wire.ask(1, "tools/list")
    wire.says(id=wire.last["id"], error=NO_METHOD)
    wire.send(None, "notifications/cancelled", {"requestId": 1})
    wire.says(id=wire.last["id"], result=ELDER)
    wire.send(2, "initialize")

    assert [message["method"] for message in wire.worker].count("initialize") == 1
    assert wire.told["result"] == ELDER


def test_a_worker_that_speaks_both_is_not_looked_at() -> None:
    bridge = EraBridge(EraMemory(), speaks_both=True)

    assert not bridge.wants(b'{"method":"initialize"}')
    assert not bridge.wants(META_REVISION.encode())
    assert not bridge.listens


# --- finding out -------------------------------------------------------------------------------------------------


def test_a_worker_with_a_handshake_gets_one_in_the_name_of_the_client() -> None:
    wire = elder(progressToken="p", traceparent="00-1")

    assert [message["method"] for message in wire.worker] == [
        "server/discover",
        "initialize",
        "notifications/initialized",
        "tools/call",
    ]
    for revision in HANDSHAKE_REVISIONS:
        assert_valid(revision, "InitializeRequest", wire.worker[1])
        assert_valid(revision, "CallToolRequest", wire.last)
    assert wire.last["params"]["_meta"] == {"progressToken": "p", "traceparent": "00-1"}


def test_silence_is_an_answer_too() -> None:
    wire = Wire()
    wire.ask(1, "tools/list")
    wire.wait(PATIENCE)
    assert wire.last["method"] == "initialize"
    wire.says(id=wire.last["id"], result=ELDER)

    assert wire.last["method"] == "tools/list"
    assert wire.bridge.due == 0


def test_a_worker_that_was_only_slow_is_taken_for_what_it_is() -> None:
    wire = Wire()
    wire.ask(1, "tools/list")
    probe = wire.last["id"]
    wire.wait(PATIENCE)
    wire.says(id=probe, result=YOUNGER)

    assert META_REVISION in wire.last["params"]["_meta"]
    wire.says(id="holdfast-era-initialize", error=NO_METHOD)
    assert wire.told["error"] == NO_METHOD  # which the kernel does not know, and drops


def test_a_slow_start_is_not_taken_for_a_refusal() -> None:
    wire = Wire()
    wire.send(1, "initialize", {"protocolVersion": "2024-11-05"})
    wire.wait(PATIENCE)
    assert wire.last["method"] == "server/discover"
    wire.says(id=wire.last["id"], error=NO_METHOD)
    answer = wire.says(id=1, result=ELDER)

    assert wire.raw[-1] is answer
    assert not wire.bridge.listens


def test_an_error_that_names_no_request_answers_the_question() -> None:
    wire = Wire()
    wire.ask(1, "tools/list")
    wire.says(id=None, error={"code": -32700, "message": "cannot read that"})

    assert wire.last["method"] == "initialize"


def test_a_refusal_that_is_no_question_of_era_reaches_the_client_as_it_is() -> None:
    wire = Wire()
    wire.send(1, "initialize")
    refusal = wire.says(id=1, error={"code": -32603, "message": "no licence"})

    assert wire.raw[-1] is refusal
    assert len(wire.worker) == 1


def test_a_handshake_that_is_none_is_the_workers_to_refuse() -> None:
    bridge = EraBridge(EraMemory())
    payload = encode({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}})
    flow = bridge.to_worker(payload, 0.0, 1) if bridge.wants(payload) else None
    refusal = encode({"jsonrpc": "2.0", "id": 1, "error": {"code": -32602, "message": "no protocolVersion"}})

    assert flow is None or flow.to_worker == [(payload, 1)]
    assert not bridge.listens or bridge.from_worker(parse(decode(refusal)), refusal, 1.0).to_worker == []


def test_a_worker_that_knows_neither_speaks_for_itself() -> None:
    wire = Wire()
    first = wire.ask(1, "tools/list")
    wire.says(id=wire.last["id"], error=NO_METHOD)
    wire.says(id=wire.last["id"], result={"protocolVersion": "1999-01-01"})
    assert wire.raw[-1] is first

    other = Wire()
    other.send(1, "initialize", {"protocolVersion": "2025-06-18"})
    refusal = other.says(id=1, error=NO_METHOD)
    other.says(id=other.last["id"], error=NO_METHOD)
    assert other.raw[-1] is refusal
    other.send(2, "initialize")
    assert other.last["id"] == 2


def test_a_worker_that_did_not_survive_the_question_is_followed_by_one_that_is_not_asked() -> None:
    memory = EraMemory()
    Wire(memory).ask(1, "tools/list")
    second = Wire(memory)
    second.ask(2, "server/discover")

    assert second.last["method"] == "initialize"
    second.says(id=second.last["id"], error=NO_METHOD)
    assert second.last["method"] == "server/discover"


def test_the_next_worker_without_a_handshake_is_not_offered_one() -> None:
    memory = younger().memory
    wire = Wire(memory)
    wire.send(5, "initialize", {"protocolVersion": "2025-06-18"})
    assert wire.last["method"] == "server/discover"
    wire.says(id=wire.last["id"], result=YOUNGER)

    assert [message["id"] for message in wire.host] == [5]
    assert wire.host[0]["result"]["protocolVersion"] == "2025-06-18"


def test_a_cancelled_request_that_waits_is_never_sent() -> None:
    wire = Wire()
    wire.ask(1, "tools/list")
    wire.ask(2, "tools/call", name="a")
    wire.send(None, "notifications/cancelled", {"requestId": 2})
    assert wire.bridge.held == {1}
    wire.says(id=wire.worker[0]["id"], result=YOUNGER)

    assert [message.get("id") for message in wire.worker[1:]] == [1]


def test_what_a_worker_asks_meanwhile_is_answered_meanwhile() -> None:
    wire = Wire()
    wire.ask(1, "tools/list")
    wire.says(id="x", method="ping")
    wire.pass_on({"jsonrpc": "2.0", "id": "x", "result": {}})

    assert wire.told["method"] == "ping"
    assert wire.last == {"jsonrpc": "2.0", "id": "x", "result": {}}


# --- hostility ---------------------------------------------------------------------------------------------------

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=5,
)
NUMBERS = st.integers(1, 6)
IDS = NUMBERS | st.sampled_from([f"holdfast-era-{name}" for name in ("discover", "initialize", "1", "2", "3")])
OBJECTS = st.sampled_from([ELDER, YOUNGER, {}, {"resultType": "input_required"}]) | st.dictionaries(
    st.sampled_from(["resultType", "inputRequests", "requestState", "tools", "content", "capabilities", "_meta"]),
    JSON | st.just("input_required") | st.just({"k": {"method": "sampling/createMessage"}}),
    max_size=4,
)
METHODS = st.sampled_from(
    (
        "initialize",
        "server/discover",
        "ping",
        "tools/call",
        "tools/list",
        "subscriptions/listen",
        "resources/subscribe",
        "resources/unsubscribe",
        "logging/setLevel",
        "x",
    )
)
NOTES = st.sampled_from(
    (
        "notifications/cancelled",
        "notifications/initialized",
        "notifications/progress",
        "notifications/message",
        "notifications/tools/list_changed",
        "notifications/resources/updated",
        "notifications/subscriptions/acknowledged",
        "y",
    )
)
PARAMS = st.dictionaries(
    st.sampled_from(["_meta", "uri", "level", "notifications", "requestId", "requestState", "progressToken"]),
    JSON | IDS | st.just(ME) | st.just({**ME, LEVEL: "debug"}) | st.builds(lambda tag: {TAG: tag}, IDS),
    max_size=4,
)
STEPS = st.one_of(
    st.tuples(st.just("send"), st.none() | NUMBERS, METHODS | NOTES, PARAMS),
    st.tuples(st.just("ask"), NUMBERS, METHODS, PARAMS),
    st.tuples(st.just("reply"), IDS, st.just(""), OBJECTS),
    st.tuples(st.just("result"), IDS, st.just(""), OBJECTS | JSON),
    st.tuples(st.just("error"), st.none() | IDS, st.just(""), JSON),
    st.tuples(st.just("note"), st.none(), NOTES, PARAMS),
    st.tuples(st.just("question"), IDS, METHODS | st.just("sampling/createMessage"), PARAMS),
    st.tuples(st.just("wait"), st.none(), st.just(""), st.just({})),
)


def take(wire: Wire, step: tuple[str, Any, str, Any]) -> None:
    """Let one thing happen."""
    kind, number, method, value = step
    if kind == "send":
        wire.send(number, method, value)
    elif kind == "ask":
        wire.send(number, method, {**value, "_meta": ME})
    elif kind == "reply":
        wire.pass_on({"jsonrpc": "2.0", "id": number, "result": value})
    elif kind == "result":
        wire.says(id=number, result=value)
    elif kind == "error":
        wire.says(id=number, error={"code": -32601, "message": "no", "data": value})
    elif kind == "note":
        wire.says(method=method, params=value)
    elif kind == "question":
        wire.says(id=number, method=method, params=value)
    else:
        wire.wait(10)


@settings(max_examples=100, deadline=None)
@given(first=st.sampled_from([Wire, elder, younger]), steps=st.lists(STEPS, max_size=12))
def test_no_order_of_messages_brings_the_bridge_down(first: Any, steps: list[tuple[str, Any, str, Any]]) -> None:
    wire = first()
    for step in steps:
        take(wire, step)
    for message in (*wire.worker, *wire.host):
        parse(message)
    assert len(wire.bridge.held) <= len(steps) + 1
