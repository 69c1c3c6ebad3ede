"""What a worker writes that is no message, too large, doubled or made up: nobody is harmed by it."""

from typing import Any

import pytest
from tests.host.answers import code_of, is_retry_safe, payload_of
from tests.host.conftest import Events, Start

from holdfast.testing import Fault, Traces
from holdfast.testing.scripted_worker.faults import NOISES
from holdfast.wire.codec import RELAY_DEPTH

SMALL = {"max_message_bytes": 64 * 1024}


# --- too large ---------------------------------------------------------------------------------------------------


def test_a_message_of_the_client_that_is_too_large_is_refused_and_the_session_goes_on(host: Start) -> None:
    client = host(knobs=SMALL)
    client.send_raw(b'{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"x":"' + b"x" * 100_000 + b'"}}\n')
    client.until(lambda: any(message.get("id") == 9 for message in client.messages))

    (refusal,) = [message for message in client.messages if message.get("id") == 9]
    assert refusal["error"]["code"] == -32600
    assert payload_of(client.call("read"))["generation"] == 1


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [("big", {"bytes": 200_000}), ("big", {"bytes": 65_500}), ("write", {"token": "t" * 60_000})],
)
def test_an_answer_that_is_too_large_is_told_at_once_and_the_worker_lives_on(
    host: Start, traces: Traces, tool: str, arguments: dict[str, Any]
) -> None:
    client = host(knobs=SMALL)

    answer = client.call(tool, arguments)

    assert code_of(answer) == "RESULT_TOO_LARGE"
    assert is_retry_safe(answer) is (tool == "big")
    assert "65536 bytes" in answer["result"]["content"][0]["text"]
    assert payload_of(client.call("read"))["generation"] == traces.generations() == 1


def test_answers_that_are_too_large_are_no_noise_however_many_there_are(host: Start) -> None:
    client = host(knobs={**SMALL, "noise_max": 0})

    codes = {code_of(client.call("big", {"bytes": 70_000})) for _ in range(3)}

    assert codes == {"RESULT_TOO_LARGE"}
    assert payload_of(client.call("read"))["generation"] == 1


def test_a_list_of_tools_that_is_too_large_is_told_and_holds_up_no_call(host: Start) -> None:
    client = host(knobs={"max_message_bytes": 1024})

    listed = client.answer_of(client.request("tools/list"))

    assert code_of(listed) == "RESULT_TOO_LARGE"
    assert payload_of(client.call("read"))["generation"] == 1


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_an_answer_that_is_no_json_is_told_at_once(host: Start, number: float, traces: Traces) -> None:
    client = host(Fault.on_tool("read", "answer_error", nth=1, code=number))

    answer = client.call("read")

    assert code_of(answer) == "INTERNAL"
    assert "is not a JSON value" in answer["result"]["content"][0]["text"]
    assert payload_of(client.call("read"))["generation"] == traces.generations() == 1


def test_an_answer_that_is_nested_too_deeply_is_told_at_once(host: Start) -> None:
    client = host()
    value: Any = 1
    for _ in range(RELAY_DEPTH - 3):
        value = [value]

    answer = client.call("echo", {"value": value})  # one level deeper than what was asked

    assert code_of(answer) == "INTERNAL"
    assert f"deeper than {RELAY_DEPTH}" in answer["result"]["content"][0]["text"]


# --- noise -------------------------------------------------------------------------------------------------------


def test_noise_on_stdout_harms_no_call(host: Start, events: Events) -> None:
    kinds = sorted(set(NOISES) - {"glued"})
    client = host(*(Fault.on_tool("read", "noise", kind=kind, nth=n) for n, kind in enumerate(kinds, 1)))

    values = [payload_of(client.call("read", {"value": kind}))["value"] for kind in kinds]

    assert values == kinds
    client.assert_nothing_left()
    assert client.log.broken_laws(is_over=True) == []
    assert events("stdout_noise")
    assert not events("worker_lost")


def test_an_answer_behind_text_without_a_newline_arrives_and_the_text_is_noise(
    host: Start, events: Events
) -> None:
    client = host(Fault.on_tool("read", "noise", kind="glued", nth=1))

    assert payload_of(client.call("read", {"value": 7}))["value"] == 7
    assert client.log.broken_laws() == []
    client.until(lambda: events("stdout_noise"))


def test_a_worker_that_writes_nothing_but_noise_is_replaced(host: Start, events: Events) -> None:
    noise = Fault.on_tool("read", "noise", kind="text", generations=(1, 1))
    client = host(noise, knobs={"noise_max": 3})
    for _ in range(4):
        client.call("read")
    client.until(lambda: events("worker_lost"))

    assert payload_of(client.call("read"))["generation"] == 2
    assert events("worker_lost")[0]["code"] == "STDOUT_NOISE"


def test_noise_before_the_handshake_harms_nobody(host: Start) -> None:
    client = host(Fault.on_start("noise", kind="text"), Fault.on_start("noise", kind="binary"))

    assert payload_of(client.call("read"))["generation"] == 1


def test_a_flood_on_stderr_does_not_stop_the_worker(host: Start) -> None:
    client = host(Fault.on_tool("read", "flood_stderr", size=2**20))

    assert payload_of(client.call("read"))["generation"] == 1
    assert "nobody asked for" in client.stderr()


# --- ids ---------------------------------------------------------------------------------------------------------


def test_answers_that_are_doubled_or_have_a_wrong_id_are_dropped(host: Start, traces: Traces) -> None:
    wrong = ["unknown", "old", "null", "wrong_type", "boolean", "list"]
    faults = [Fault.on_tool("read", "answer_with_id", which=which, nth=n) for n, which in enumerate(wrong, 1)]
    client = host(*faults, Fault.on_tool("read", "answer_twice", nth=7))

    assert [payload_of(client.call("read", {"value": n}))["value"] for n in range(9)] == list(range(9))
    client.assert_nothing_left()
    assert client.log.broken_laws(is_over=True) == []
    assert (traces.generations(), len(traces.fired())) == (1, 7)


def test_a_reply_with_the_id_of_another_workers_question_is_harmless(host: Start, events: Events) -> None:
    wrong = Fault.on_tool("read", "answer_with_id", which="old", then_rightly=False, generations=(2, None))
    client = host(Fault.on_tool("write", "kill", generations=(1, 1)), wrong, options=("--deadline", "0.3"))
    client.call("write")
    client.until(lambda: len(events("worker_ready")) == 2)

    assert code_of(client.call("read")) == "TOOL_TIMEOUT"
    assert client.log.broken_laws() == []


def test_a_worker_that_closes_its_stdout_is_replaced(host: Start, events: Events) -> None:
    client = host(Fault.on_tool("read", "close_stdout", generations=(1, 1)))

    assert payload_of(client.call("read"))["generation"] == 2


def test_progress_after_the_answer_reaches_nobody(host: Start) -> None:
    client = host(Fault.on_tool("progress", "progress_after_answer"))
    number = client.start_call("progress", {"steps": 2}, meta={"progressToken": "p"})

    assert payload_of(client.answer_of(number)) == {"steps": 2}
    client.assert_nothing_left()
    assert client.log.broken_laws(is_over=True) == []
