"""Every request is told of once when it ends: how, by whom, after how many attempts, and what it was about."""

from typing import Any

import pytest
from tests.unit.kernel.driver import World, call, request

from holdfast.kernel.inputs import FromClient
from holdfast.present.profile import META_CAPABILITIES, META_REVISION, MODERN
from holdfast.vocabulary.events import CallEnded, RequestEnded
from holdfast.wire.codec import decode, encode
from holdfast.wire.envelope import parse

REFUSED = {"code": -32601, "message": "no"}
TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


def told(world: World) -> list[CallEnded]:
    """The ends of requests, logged or only counted, without those of the handshake."""
    ends = [*world.events("tool_call"), *world.events("request")]
    return [event for event in ends if event.method != "initialize"]


def one(world: World) -> CallEnded:
    (event,) = told(world)
    return event


def test_a_success_tells_who_answered_and_in_how_many_attempts() -> None:
    world = World.live()
    world.calls("a", "read")
    world.lose_worker()
    world.make_ready()
    world.worker_answers("a", {})

    event = one(world)
    assert (event.outcome, event.ended_by, event.attempts, event.method) == ("ok", "worker", 2, "tools/call")
    assert event.is_logged
    (replayed,) = world.events("call_replayed")
    assert (replayed.tool, replayed.method) == ("read", "tools/call")


def test_a_failed_result_is_an_error_with_the_words_of_the_tool() -> None:
    world = World.live()
    world.calls(1, "write")
    failed = {"isError": True, "content": [{"type": "image"}, {"type": "text", "text": "disk is full"}]}
    world.worker_answers(
        1, {**failed, "_meta": {"io.holdfast/error": {"code": "NO_SPACE", "category": "resource"}}}
    )

    event = one(world)
    assert (event.outcome, event.code, event.fault_class) == ("error", "NO_SPACE", "resource")
    assert (event.message, event.ended_by) == ("disk is full", "worker")


@pytest.mark.parametrize(
    ("result", "code", "message"),
    [
        ({"isError": True}, None, None),
        ({"isError": True, "content": "no list", "_meta": []}, None, None),
        ({"isError": True, "content": [7, {"text": 3}]}, None, None),
        ({"isError": True, "_meta": {"io.holdfast/error": {"code": "a b\n", "category": 5}}}, None, None),
        ({"isError": True, "content": [{"text": "x" * 9000}]}, None, "x" * 500),
    ],
)
def test_a_failure_that_makes_no_sense_is_told_as_far_as_it_does(
    result: dict[str, Any], code: str | None, message: str | None
) -> None:
    world = World.live()
    world.calls(1, "write")
    world.worker_answers(1, result)

    event = one(world)
    assert (event.outcome, event.code, event.fault_class, event.message) == ("error", code, None, message)


def test_a_protocol_error_is_told_with_its_number() -> None:
    world = World.live()
    world.calls(1, "write")
    world.worker_fails(world.state.pending[1].attempt, "unknown tool")

    event = one(world)
    assert (event.code, event.message, event.ended_by) == ("-32601", "unknown tool", "worker")


def test_a_lost_call_is_told_as_ended_by_the_host() -> None:
    world = World.live()
    world.calls(1, "write")
    world.lose_worker()

    event = one(world)
    assert (event.code, event.fault_class, event.ended_by) == ("AMBIGUOUS_OUTCOME", "ambiguous_outcome", "host")
    assert "may or may not have taken effect" in str(event.message)


def test_other_methods_and_refusals_are_counted_and_not_logged() -> None:
    world = World.live()
    world.client_sends(request(1, "resources/list"))
    world.client_sends(request(1, "resources/list"))
    world.client_sends(request(2, "ping"))
    world.worker_answers(1, {})

    assert [(event.method, event.outcome, event.code, event.attempts) for event in told(world)] == [
        ("resources/list", "rejected", "INVALID_REQUEST", 0),
        ("ping", "ok", None, 0),
        ("resources/list", "ok", None, 1),
    ]
    assert all(isinstance(event, RequestEnded) and not event.is_logged for event in told(world))


def test_a_call_that_is_too_many_is_logged_as_rejected() -> None:
    world = World.live(pending_max=1)
    world.calls(1, "write")
    world.calls(2, "write")

    (refused,) = world.events("tool_call")
    assert (refused.request_id, refused.outcome, refused.code) == (2, "rejected", "QUEUE_OVERLOADED")


def test_of_a_server_of_ours_only_what_it_cannot_tell_itself_is_logged() -> None:
    world = World.live(replays=0)
    world.calls("told by it", "ours")
    world.worker_answers("told by it", {})
    world.calls("never told", "ours")
    world.lose_worker()

    assert [(event.request_id, event.is_logged) for event in told(world)] == [
        ("never told", True),
        ("told by it", False),
    ]


def test_a_stream_that_its_client_has_heard_enough_of_has_ended_well() -> None:
    world = World.live()
    world.client_sends(request(1, "subscriptions/listen"))
    world.cancels(1)

    assert (one(world).outcome, one(world).code) == ("ok", None)


@pytest.mark.parametrize(
    ("arguments", "path"),
    [
        ({"path": "a.py", "file": "b.py"}, "a.py"),
        ({"uri": "file:///c.py"}, "file:///c.py"),
        ({"filePath": "C:\\d.py"}, "C:\\d.py"),
        ({"path": 7, "file_name": "e.py"}, "e.py"),
        ({"text": '{"path": "f.py"}'}, None),
        ({"deeper": {"path": "g.py"}}, None),
        ({"path": ""}, None),
        ({"path": "x" * 513}, None),
        ({"path": "h.py", "body": "x" * 20_000}, None),
        ([{"path": "i.py"}], None),
    ],
)
def test_what_a_call_is_about_is_what_an_argument_of_that_name_says(arguments: Any, path: str | None) -> None:
    world = World.live()
    world.client_sends(call(1, "write", arguments))
    world.worker_answers(1, {})

    assert one(world).path == path


@pytest.mark.parametrize("padding", [0, 100_000])
def test_the_trace_of_a_client_is_told_whatever_the_size_of_its_call(padding: int) -> None:
    world = World.live()
    world.client_sends(call(1, "write", {"x": "y" * padding}, traceparent=TRACE))
    world.worker_answers(1, {})

    assert one(world).trace == TRACE


def test_a_call_that_is_refused_belongs_to_the_trace_of_its_client_too() -> None:
    world = World.live(pending_max=1)
    world.client_sends(call(1, "write", {}, traceparent=TRACE))
    world.client_sends(call(2, "write", {}, traceparent=TRACE, tracestate="a=1"))

    (refused,) = world.events("tool_call")
    assert (refused.code, refused.trace, refused.trace_state) == ("QUEUE_OVERLOADED", TRACE, "a=1")


@pytest.mark.parametrize(
    ("meta", "is_modern"), [({META_REVISION: MODERN, META_CAPABILITIES: {}}, True), ({}, False)]
)
def test_the_era_of_each_request_is_told_whatever_the_session_is(meta: dict[str, Any], is_modern: bool) -> None:
    world = World.live(pending_max=1)
    world.client_sends(call(1, "write", {}, **meta))
    world.client_sends(call(2, "write", {}, **meta))
    world.worker_answers(1, {})

    assert [event.is_modern for event in world.events("tool_call")] == [is_modern, is_modern]


@pytest.mark.parametrize(
    ("sent", "told"),
    [
        ({"traceparent": TRACE, "tracestate": "a=1,b=2"}, (TRACE, "a=1,b=2")),
        ({"traceparent": TRACE, "tracestate": 7}, (TRACE, None)),
        ({"traceparent": TRACE, "tracestate": "a=" + "1" * 2000}, (TRACE, None)),
        ({"tracestate": "a=1"}, (None, None)),
    ],
)
def test_the_state_of_a_trace_goes_with_its_parent_and_is_never_cut(
    sent: dict[str, Any], told: tuple[str | None, str | None]
) -> None:
    world = World.live()
    world.client_sends(call(1, "write", {}, **sent))
    world.worker_answers(1, {})

    assert (one(world).trace, one(world).trace_state) == told


@pytest.mark.parametrize("value", [7, None, ["x"], {"traceparent": "x"}])
def test_a_trace_that_is_no_text_is_none(value: Any) -> None:
    world = World.live()
    world.client_sends(call(1, "write", {"traceparent": "in an argument"}, traceparent=value))
    world.worker_answers(1, {})

    assert one(world).trace is None


def test_a_resource_that_is_read_is_what_the_request_is_about() -> None:
    world = World.live()
    world.client_sends(request(1, "resources/read", {"uri": "file:///a"}))
    world.worker_answers(1, {})

    assert one(world).path == "file:///a"


@pytest.mark.parametrize("ending", ["answered", "refused", "crowded out", "replayed", "withdrawn"])
def test_what_no_client_has_asked_is_told_of_nowhere(ending: str) -> None:
    world = World.live(pending_max=1)
    if ending == "crowded out":
        world.calls("a", "read")
    before = dict(world.state.counts)
    asked = request("own", "resources/read")
    world.give(FromClient(parse(decode(encode(asked))), encode(asked), is_own=True))
    if ending == "replayed":
        world.lose_worker()
        world.make_ready()
    if ending == "refused":
        world.worker_says({"jsonrpc": "2.0", "id": world.state.pending["own"].attempt, "error": REFUSED})
    elif ending == "withdrawn":
        world.cancels("own")
    elif ending != "crowded out":
        world.worker_answers("own", {})

    assert told(world) == []
    changed = {name for name, count in world.state.counts.items() if count != before.get(name, 0)}
    assert changed <= {"workers_lost"}
