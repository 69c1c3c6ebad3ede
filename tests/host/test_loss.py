"""The worker is lost at every moment; the session goes on, and every request has its one answer."""

import json
import signal
from typing import Any

import pytest
from tests.host.answers import code_of, is_retry_safe, payload_of
from tests.host.conftest import Events, Start

from holdfast.testing import Fault, HostUnderTest, Traces

ONCE = (1, 1)  # only the first process has the fault


def wait_for(host: HostUnderTest, traces: Traces, generations: int) -> None:
    """Wait until so many processes were started."""
    host.until(lambda: traces.generations() >= generations, what=f"generation {generations}")


@pytest.mark.parametrize(
    "fault",
    ["kill_before_read", "kill", "kill_after_effect", "exit_before_answer"],
)
def test_a_read_survives_the_loss_of_its_worker_at_any_moment(host: Start, traces: Traces, fault: str) -> None:
    moment = Fault(fault, request=3, generations=ONCE)  # the handshake and the list come first
    client = host(moment)

    answer = client.call("read", {"value": 7})

    assert payload_of(answer) == {"value": 7, "generation": 2}
    assert len(traces.fired()) == 1
    client.assert_nothing_left()
    assert client.log.broken_laws(is_over=True) == []


@pytest.mark.parametrize("byte", [0, 17, -1])
def test_an_answer_cut_off_at_any_byte_is_fetched_again(host: Start, byte: int) -> None:
    client = host(Fault.on_tool("read", "kill_mid_answer", byte=byte, generations=ONCE))

    assert payload_of(client.call("read"))["generation"] in ({1, 2} if byte == -1 else {2})
    assert client.log.broken_laws() == []


def test_a_write_that_may_have_happened_ends_ambiguous_and_is_not_repeated(host: Start, traces: Traces) -> None:
    client = host(Fault.on_tool("write", "kill_after_effect", generations=ONCE))

    answer = client.call("write", {"token": "t"})

    assert code_of(answer) == "AMBIGUOUS_OUTCOME"
    assert not is_retry_safe(answer)
    assert payload_of(client.call("write", {"token": "u"}))["generation"] == 2
    assert [note["token"] for note in traces.effects()] == ["t", "u"]
    client.assert_nothing_left()
    assert client.log.broken_laws(traces.effects(), is_over=True) == []


def test_a_write_that_no_worker_was_ever_sent_is_done_once_by_the_next_one(host: Start, traces: Traces) -> None:
    client = host()
    client.call("read")  # it is ready
    client.kill_worker(signal.SIGSTOP)  # and reads no more
    filler = client.start_call("read", {"value": "x" * 300_000})  # and its pipe is full
    number = client.start_call("write", {"token": "t"})
    client.answer_of(client.request("ping"))  # by now the host has dispatched what came before
    client.kill_worker()

    assert payload_of(client.answer_of(filler))["generation"] == 2
    assert payload_of(client.answer_of(number)) == {"token": "t", "generation": 2}
    assert len(traces.effects("write")) == 1


def test_a_worker_killed_in_the_middle_of_a_request_never_ran_it_twice(host: Start, traces: Traces) -> None:
    client = host()
    client.call("read")
    client.kill_worker(signal.SIGSTOP)
    number = client.start_call("write", {"token": "t", "filler": "x" * 300_000})  # half of it is in the pipe
    client.answer_of(client.request("ping"))  # by now the host has dispatched what came before
    client.kill_worker()

    answer = client.answer_of(number)

    assert code_of(answer) == "AMBIGUOUS_OUTCOME"  # the host cannot know what became of the first half
    assert traces.effects() == []
    assert payload_of(client.call("read"))["generation"] == 2


def test_calls_that_are_repeated_keep_their_order(host: Start, traces: Traces) -> None:
    client = host(Fault.on_tool("read", "kill", nth=4, generations=ONCE), record=True)
    numbers = [client.start_call("slow", {"value": n, "seconds": 0.2}) for n in range(3)]
    numbers += [client.start_call("read", {"value": n}) for n in range(3, 9)]

    values = [payload_of(client.answer_of(number))["value"] for number in numbers]

    assert values == list(range(9))
    received = [json.loads(line) for line in traces.received(2)]
    again = [message["params"]["arguments"]["value"] for message in received if message["method"] == "tools/call"]
    assert again == sorted(again)
    assert 0 in again


@pytest.mark.parametrize(
    "fault",
    [
        Fault.on_start("exit", generations=ONCE, code=1),
        Fault.on_method("initialize", "kill", generations=ONCE),
        Fault.on_method("initialize", "kill_mid_answer", byte=40, generations=ONCE),
        Fault.on_method("notifications/initialized", "kill", generations=ONCE),
        Fault.on_method("tools/list", "kill", generations=ONCE),
    ],
    ids=lambda fault: f"{fault.do} at {fault.method or 'start'}",
)
def test_a_worker_lost_during_the_handshake_costs_the_client_nothing(
    host: Start, fault: Fault, traces: Traces
) -> None:
    client = host(fault, handshake=False)

    answer = client.handshake()

    assert answer["result"]["serverInfo"]["name"] == "scripted-worker"
    assert payload_of(client.call("write", {"token": "t"}))["generation"] == 2
    assert traces.effects() == [{"tool": "write", "token": "t", "generation": 2}]
    assert client.log.broken_laws(traces.effects()) == []


def test_a_worker_lost_right_after_it_became_ready_costs_a_reader_nothing(host: Start) -> None:
    client = host(Fault.on_method("tools/list", "kill_after_answer", generations=ONCE))

    assert payload_of(client.call("read"))["generation"] == 2


@pytest.mark.parametrize("method", ["initialize", "notifications/initialized", "tools/list"])
def test_a_replacement_lost_during_its_own_handshake_is_replaced_too(
    host: Start, method: str, traces: Traces
) -> None:
    client = host(
        Fault.on_tool("read", "kill", generations=ONCE), Fault.on_method(method, "kill", generations=(2, 3))
    )

    assert payload_of(client.call("read"))["generation"] == 4
    assert traces.generations() == 4


def test_two_losses_in_a_row_are_survived_and_a_third_ends_the_call(host: Start) -> None:
    client = host(Fault.on_tool("read", "kill", generations=(1, 2)), Fault.on_tool("slow", "kill"))

    assert payload_of(client.call("read"))["generation"] == 3
    answer = client.call("slow")
    assert code_of(answer) == "REPLAY_EXHAUSTED"
    assert is_retry_safe(answer)
    assert payload_of(client.call("read"))["generation"] == 6


def test_a_worker_lost_while_a_later_page_is_listed_is_replaced(host: Start) -> None:
    client = host(Fault.on_method("tools/list", "kill", nth=2, generations=ONCE), page_size=3)

    answer = client.call("write", {"token": "t"})

    assert payload_of(answer)["generation"] == 2


def test_a_list_that_the_client_reads_page_by_page_survives_a_loss_between_pages(host: Start) -> None:
    client = host(page_size=5)
    client.call("read")
    names: list[str] = []
    params: dict[str, Any] = {}
    while True:
        page = client.answer_of(client.request("tools/list", params))["result"]
        names += [tool["name"] for tool in page["tools"]]
        if "nextCursor" not in page:
            break
        params = {"cursor": page["nextCursor"]}
        client.kill_worker()

    assert len(names) == len(set(names)) == 12


def test_a_worker_lost_while_its_question_is_open_voids_the_question(host: Start) -> None:
    client = host()
    client.answers["roots/list"] = {"roots": []}
    asked: list[dict[str, Any]] = []
    client._answer = asked.append  # type: ignore[assignment, method-assign]  # it never says a word
    number = client.start_call("ask")
    client.until(lambda: asked)
    client.kill_worker()
    client.until(lambda: len(asked) == 2)  # the call is repeated, and asks again

    first, second = asked
    voided = [message for message in client.messages if message.get("method") == "notifications/cancelled"]
    assert [note["params"]["requestId"] for note in voided] == [first["id"]]
    assert first["id"] != second["id"]
    client.send({"jsonrpc": "2.0", "id": first["id"], "result": {"roots": ["late"]}})
    client.send({"jsonrpc": "2.0", "id": second["id"], "result": {"roots": []}})
    assert payload_of(client.answer_of(number))["response"]["result"] == {"roots": []}


def test_losses_and_replays_are_told_in_the_log_in_order(host: Start, events: Events) -> None:
    client = host(Fault.on_tool("read", "exit", code=3, generations=ONCE))
    client.call("read")
    client.assert_nothing_left()

    story = [
        (event["event"], event.get("generation"))
        for event in events()
        if event["event"] not in {"host_started", "host_stopped"}
    ]
    assert story == [
        ("worker_started", 1),
        ("worker_ready", 1),
        ("worker_lost", 1),
        ("worker_started", 2),
        ("worker_ready", 2),
        ("call_replayed", 2),
        ("tool_call", None),
    ]
    (lost,) = events("worker_lost")
    assert (lost["code"], lost["in_flight"], lost["role"]) == ("WORKER_EXITED", 1, "active")
    assert "3" in lost["message"]
