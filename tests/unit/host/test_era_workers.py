"""The two translations, message by message, held to the official schemas."""

from typing import Any

import pytest
from tests.contract.official_schemas import assert_valid
from tests.unit.host.era_wire import ELDER, LEVEL, NO_METHOD, TAG, Wire, elder, younger

from holdfast.present.profile import HANDSHAKE_REVISIONS, META_REVISION, MODERN
from holdfast.wire.codec import decode
from holdfast.wire.envelope import parse

# --- a worker with a handshake -----------------------------------------------------------------------------------


def test_results_of_the_older_era_are_completed() -> None:
    wire = elder()
    wire.says(id=1, result={"content": [], "big": 10**30})

    assert_valid(MODERN, "CallToolResult", wire.told["result"])
    assert wire.told["result"]["big"] == 10**30


def test_half_a_character_survives_the_translation() -> None:
    wire = elder()
    frame = b'{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"\\ud800"}]}}'
    flow = wire.bridge.from_worker(parse(decode(frame, halves="kept")), frame, 0.0)

    assert b"\\ud800" in flow.to_host[0][1]


def test_discovery_asks_whether_the_worker_lives() -> None:
    wire = elder()
    wire.ask(2, "server/discover")
    assert wire.last == {"jsonrpc": "2.0", "id": 2, "method": "ping"}
    assert not wire.host
    wire.says(id=2, error=NO_METHOD)

    assert_valid(MODERN, "DiscoverResult", wire.told["result"])


@pytest.mark.parametrize("method", ["ping", "logging/setLevel", "resources/subscribe", "initialize", "tasks/get"])
def test_methods_that_the_clients_revision_has_not_are_refused(method: str) -> None:
    wire = elder()
    count = len(wire.worker)
    wire.ask(2, method)

    assert wire.told["error"]["code"] == -32601
    assert len(wire.worker) == count


def test_a_stream_is_held_and_tagged() -> None:
    wire = elder()
    wanted = {"toolsListChanged": True, "promptsListChanged": True, "resourceSubscriptions": ["memo://a"]}
    wire.ask(5, "subscriptions/listen", notifications=wanted)
    assert_valid(MODERN, "SubscriptionsAcknowledgedNotification", wire.told)
    assert wire.told["params"]["notifications"] == {
        "toolsListChanged": True,
        "resourceSubscriptions": ["memo://a"],
    }
    assert wire.last["method"] == "resources/subscribe"
    for method, params in (("tools/list_changed", {}), ("resources/updated", {"uri": "memo://a/b"})):
        wire.says(method=f"notifications/{method}", params=params)
        assert_valid(MODERN, "ServerNotification", wire.told)
        assert wire.told["params"]["_meta"][TAG] == 5


def test_nobody_hears_what_nobody_listens_for() -> None:
    wire = elder()
    for method in ("tools/list_changed", "prompts/list_changed", "resources/updated", "message", "tasks/status"):
        wire.says(method=f"notifications/{method}", params={"uri": "memo://a", "level": "error", "data": 1})

    assert wire.host == []


def test_a_stream_that_ends_is_unsubscribed_when_no_other_needs_it() -> None:
    wire = elder()
    for number in (5, 6):
        wire.ask(number, "subscriptions/listen", notifications={"resourceSubscriptions": ["memo://a"]})
    assert [one["method"] for one in wire.worker].count("resources/subscribe") == 1
    wire.send(None, "notifications/cancelled", {"requestId": 5})
    assert wire.last["method"] == "resources/subscribe"
    wire.send(None, "notifications/cancelled", {"requestId": 6})

    assert wire.last["method"] == "resources/unsubscribe"


def test_a_stream_of_very_many_resources_is_bounded() -> None:
    wire = elder()
    uris = [f"memo://{number}" for number in range(5000)]
    wire.ask(5, "subscriptions/listen", notifications={"resourceSubscriptions": uris})

    assert len(wire.told["params"]["notifications"]["resourceSubscriptions"]) == 1000


def test_the_log_is_heard_by_whoever_asked_for_it_while_it_asks() -> None:
    wire = elder(**{LEVEL: "warning"})
    assert wire.worker[-2]["params"] == {"level": "warning"}
    for level in ("info", "error"):
        wire.says(method="notifications/message", params={"level": level, "data": 1})
    wire.says(id=1, result={"content": []})
    wire.says(method="notifications/message", params={"level": "error", "data": 2})

    assert [note["params"]["level"] for note in wire.host if "params" in note] == ["error"]


def test_a_question_in_the_middle_of_a_call_is_put_to_the_client() -> None:
    wire = elder(progressToken="old")
    wire.says(id="q", method="sampling/createMessage", params={"messages": [], "maxTokens": 1})
    asked = wire.told["result"]
    assert_valid(MODERN, "InputRequiredResult", asked)
    input_ = {"inputResponses": {"input": {"role": "assistant"}}, "requestState": asked["requestState"]}
    wire.ask(2, "tools/call", name="a", **input_, _meta={"progressToken": "new"})
    assert wire.last == {"jsonrpc": "2.0", "id": "q", "result": {"role": "assistant"}}
    wire.says(method="notifications/progress", params={"progressToken": "old", "progress": 1})
    assert wire.told["params"]["progressToken"] == "new"
    wire.says(id=1, result={"content": []})

    assert (wire.told["id"], wire.told["result"]["resultType"]) == (2, "complete")


def test_a_call_that_went_on_can_be_cancelled() -> None:
    wire = elder()
    wire.says(id="q", method="sampling/createMessage", params={})
    wire.ask(2, "tools/call", name="a", requestState=wire.told["result"]["requestState"])
    assert wire.last["error"]["message"] == "the client did not answer"
    wire.send(None, "notifications/cancelled", {"requestId": 2})

    assert wire.last["params"]["requestId"] == 1


def test_an_answer_that_did_not_wait_for_the_input_is_kept_for_it() -> None:
    wire = elder()
    wire.says(id="q", method="sampling/createMessage", params={})
    state = wire.told["result"]["requestState"]
    wire.says(id=1, result={"content": []})
    assert len(wire.host) == 1
    wire.ask(2, "tools/call", name="a", requestState=state)
    assert wire.told["id"] == 2
    wire.ask(3, "tools/call", name="a", requestState=state)

    assert wire.told["error"]["data"]["code"] == "AMBIGUOUS_OUTCOME"


def test_input_for_a_call_of_one_worker_is_not_given_to_another() -> None:
    first, second = elder(), elder()
    for wire in (first, second):
        wire.says(id="q", method="sampling/createMessage", params={})
    states = [wire.told["result"]["requestState"] for wire in (first, second)]
    count = len(second.worker)
    second.ask(2, "tools/call", name="a", requestState=states[0], inputResponses={"input": {"role": "assistant"}})
    assert second.told["error"]["data"]["code"] == "AMBIGUOUS_OUTCOME"
    assert len(second.worker) == count
    second.ask(3, "tools/call", name="a", requestState=states[1], inputResponses={"input": {"role": "assistant"}})

    assert second.last == {"jsonrpc": "2.0", "id": "q", "result": {"role": "assistant"}}


def test_a_question_that_fits_no_call_is_refused() -> None:
    wire = elder()
    wire.says(id="q", method="elicitation/create", params={})
    assert wire.last["error"]["code"] == -32601
    wire.ask(2, "tools/call", name="b")
    wire.says(id="r", method="sampling/createMessage", params={})

    assert "several" in wire.last["error"]["message"]
    assert wire.host == []


def test_a_revision_that_nobody_speaks_is_refused_with_those_that_are() -> None:
    wire = elder()
    wire.ask(2, "tools/list", _meta={META_REVISION: "2099-01-01"})

    assert_valid(MODERN, "UnsupportedProtocolVersionError", wire.told)


def test_a_client_with_a_handshake_may_come_later() -> None:
    wire = elder()
    wire.send(2, "initialize", {"protocolVersion": "2025-06-18"})
    assert wire.told["result"] == ELDER
    wire.send(None, "notifications/initialized")
    plain = wire.send(3, "tools/list")
    wire.says(method="notifications/tools/list_changed")

    assert wire.raw[-2] is plain
    assert wire.told == {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}


# --- a worker without a handshake --------------------------------------------------------------------------------


@pytest.mark.parametrize("revision", HANDSHAKE_REVISIONS)
def test_a_worker_without_a_handshake_is_introduced_as_if_it_had_one(revision: str) -> None:
    wire = younger(revision=revision)

    assert_valid(revision, "InitializeResult", wire.host[0]["result"])
    assert wire.host[0]["result"]["protocolVersion"] == revision
    wire.send(None, "notifications/initialized")
    assert_valid(MODERN, "SubscriptionsListenRequest", wire.last)
    assert wire.last["params"]["notifications"] == {"toolsListChanged": True}


def test_requests_describe_the_client_and_results_lose_what_it_does_not_know() -> None:
    wire = younger({"roots": {"listChanged": True}})
    wire.send(2, "tools/list", {"cursor": "c"})
    assert_valid(MODERN, "ListToolsRequest", wire.last)
    wire.says(
        id=2, result={"tools": [], "resultType": "complete", "ttlMs": 1, "cacheScope": "public", "_meta": {}}
    )

    assert wire.told == {"jsonrpc": "2.0", "id": 2, "result": {"tools": []}}


def test_a_ping_is_answered_by_whatever_the_worker_says() -> None:
    wire = younger()
    wire.send(2, "ping")
    assert wire.last["method"] == "server/discover"
    wire.says(id=2, error=NO_METHOD)

    assert wire.told == {"jsonrpc": "2.0", "id": 2, "result": {}}


def test_the_log_level_goes_with_every_request() -> None:
    wire = younger()
    wire.send(2, "logging/setLevel", {"level": "loud"})
    assert wire.told["error"]["code"] == -32602
    wire.send(3, "logging/setLevel", {"level": "info"})
    assert wire.told["result"] == {}
    wire.send(4, "tools/list")

    assert wire.last["params"]["_meta"][LEVEL] == "info"


def test_a_subscription_is_a_stream() -> None:
    wire = younger()
    wire.send(2, "resources/subscribe", {"uri": "memo://a"})
    own = wire.last["id"]
    kept = {"resourceSubscriptions": ["memo://a"]}
    assert wire.told["id"] == 1
    wire.says(
        method="notifications/subscriptions/acknowledged", params={"notifications": kept, "_meta": {TAG: own}}
    )
    assert wire.told == {"jsonrpc": "2.0", "id": 2, "result": {}}
    wire.says(method="notifications/resources/updated", params={"uri": "memo://a", "_meta": {TAG: own}})
    assert wire.told["params"] == {"uri": "memo://a"}
    wire.send(3, "resources/unsubscribe", {"uri": "memo://a"})

    assert wire.last["params"] == {"requestId": own}


@pytest.mark.parametrize("refusal", [{"error": NO_METHOD}, {"result": {}}])
def test_a_subscription_that_the_worker_refuses_is_refused(refusal: dict[str, Any]) -> None:
    wire = younger()
    wire.send(2, "resources/subscribe", {"uri": "memo://a"})
    wire.says(id=wire.last["id"], **refusal)
    assert "error" in wire.told
    wire.send(3, "resources/subscribe", {"uri": "memo://b"})
    meta = {"_meta": {TAG: wire.last["id"]}}
    wire.says(method="notifications/subscriptions/acknowledged", params={"notifications": {}, **meta})

    assert (wire.told["id"], wire.told["error"]["code"]) == (3, -32602)


def test_whoever_subscribes_is_answered_though_the_subscription_ends_first() -> None:
    wire = younger()
    wire.send(2, "resources/subscribe", {"uri": "memo://a"})
    wire.send(3, "resources/unsubscribe", {"uri": "memo://a"})

    assert [(message["id"], message["result"]) for message in wire.host[1:]] == [(2, {}), (3, {})]


def test_a_changed_list_is_told_without_its_tag() -> None:
    wire = younger()
    own = wire.last["id"]
    wire.says(method="notifications/tools/list_changed", params={"_meta": {TAG: own, "x": 1}})

    assert wire.told["params"] == {"_meta": {"x": 1}}


def asking(wire: Wire, number: int) -> None:
    """The worker answers a request with a question."""
    asked = {"k": {"method": "elicitation/create", "params": {"message": "?"}}}
    wire.says(id=number, result={"resultType": "input_required", "inputRequests": asked, "requestState": "s"})


def test_input_that_a_call_needs_is_asked_of_the_client() -> None:
    wire = younger({"elicitation": {}})
    wire.send(2, "tools/call", {"name": "a", "arguments": {"b": 1}})
    asking(wire, 2)
    assert (wire.told["method"], wire.told["params"]) == ("elicitation/create", {"message": "?"})
    wire.pass_on({"jsonrpc": "2.0", "id": wire.told["id"], "result": {"action": "accept"}})
    assert_valid(MODERN, "CallToolRequest", wire.last)
    assert wire.last["params"]["inputResponses"] == {"k": {"action": "accept"}}
    assert wire.last["params"]["requestState"] == "s"
    assert wire.last["id"] != 2
    wire.says(id=wire.last["id"], result={"content": [], "resultType": "complete"})

    assert wire.told == {"jsonrpc": "2.0", "id": 2, "result": {"content": []}}


def test_a_client_that_cannot_be_asked_is_told_what_it_lacks() -> None:
    wire = younger()
    wire.send(2, "tools/call", {"name": "a"})
    asking(wire, 2)

    assert wire.told["error"]["data"]["code"] == "CAPABILITY_MISSING"
    assert "'elicitation'" in wire.told["error"]["message"]


def test_a_client_that_does_not_answer_ends_its_call() -> None:
    wire = younger({"elicitation": {}})
    wire.send(2, "tools/call", {"name": "a"})
    asking(wire, 2)
    wire.pass_on({"jsonrpc": "2.0", "id": wire.told["id"], "error": {"code": -1, "message": "busy"}})

    assert (wire.told["id"], "busy" in wire.told["error"]["message"]) == (2, True)


def test_a_worker_that_never_has_enough_is_stopped() -> None:
    wire = younger({"elicitation": {}})
    wire.send(2, "tools/call", {"name": "a"})
    for _ in range(10):
        asking(wire, wire.last["id"])
        wire.pass_on({"jsonrpc": "2.0", "id": wire.told["id"], "result": {}})
    asking(wire, wire.last["id"])

    assert "10 times" in wire.told["error"]["message"]


def test_a_call_is_cancelled_under_the_id_that_the_worker_knows() -> None:
    wire = younger({"elicitation": {}})
    wire.send(2, "tools/call", {"name": "a"})
    asking(wire, 2)
    question = wire.told["id"]
    wire.pass_on({"jsonrpc": "2.0", "id": question, "result": {}})
    repeated = wire.last["id"]
    wire.send(None, "notifications/cancelled", {"requestId": 2})
    assert wire.last["params"] == {"requestId": repeated}

    wire.send(3, "tools/call", {"name": "a"})
    asking(wire, 3)
    count = len(wire.worker)
    wire.send(None, "notifications/cancelled", {"requestId": 3})
    assert wire.told["method"] == "notifications/cancelled"
    assert len(wire.worker) == count


def test_a_worker_with_very_many_questions_is_not_followed() -> None:
    wire = younger({"sampling": {}})
    wire.send(2, "tools/call", {"name": "a"})
    asked = {str(number): {"method": "sampling/createMessage"} for number in range(5000)}
    wire.says(id=2, result={"resultType": "input_required", "inputRequests": asked})

    assert [message["id"] for message in wire.host] == [1, 2]
    assert "5000 questions" in wire.told["error"]["message"]


def test_a_result_of_a_kind_that_nobody_asked_for_is_an_error() -> None:
    wire = younger()
    wire.send(2, "tools/call", {"name": "a"})
    wire.says(id=2, result={"resultType": "task", "taskId": "t"})

    assert "'task'" in wire.told["error"]["message"]


def test_what_clients_notify_stays_with_the_host() -> None:
    wire = younger()
    count = len(wire.worker)
    wire.send(None, "notifications/roots/list_changed")
    wire.send(None, "notifications/initialized")

    assert len(wire.worker) == count
