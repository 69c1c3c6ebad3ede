"""The laws of a run: each broken one is told, and none that holds."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.testing import ChurnLog

OK: dict[str, Any] = {"result": {"content": []}}


def request(number: Any, tool: str = "read", token: Any = None, **params: Any) -> dict[str, Any]:
    params = {"name": tool, "arguments": {} if token is None else {"token": token}, **params}
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}


def answer(number: Any, body: dict[str, Any] = OK) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, **body}


def run(*steps: tuple[str, Any]) -> ChurnLog:
    log = ChurnLog()
    for what, message in steps:
        getattr(log, what)(message)
    return log


def cancel(number: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": number}}


def progress(token: Any) -> dict[str, Any]:
    return {
        "jsonrpc": "2.0",
        "method": "notifications/progress",
        "params": {"progressToken": token, "progress": 1},
    }


def test_a_request_with_one_answer_breaks_no_law() -> None:
    log = run(("sent", request(1)), ("received", answer(1)))

    assert log.broken_laws(is_over=True) == []
    assert log.outcomes == {"read: result": 1}


def test_a_request_without_an_answer_breaks_a_law_only_at_the_end() -> None:
    log = run(("sent", request(1)))

    assert log.broken_laws() == []
    assert log.broken_laws(is_over=True) == ["law 1: request 1 (read) was not answered"]


def test_a_cancelled_request_may_be_answered_once_or_not_at_all() -> None:
    unanswered = run(("sent", request(1)), ("sent", cancel(1)))
    answered = run(("sent", request(1)), ("sent", cancel(1)), ("received", answer(1)))
    twice = run(("sent", request(1)), ("sent", cancel(1)), ("received", answer(1)), ("received", answer(1)))

    assert unanswered.broken_laws(is_over=True) == answered.broken_laws(is_over=True) == []
    assert len(twice.broken_laws(is_over=True)) == 1


@given(st.sampled_from([None, 2, 1.0, "1", True, [1], {}]))
def test_an_answer_goes_to_the_very_id_that_was_sent(number: Any) -> None:
    log = run(("sent", request(1)), ("received", answer(number)))

    assert [law[:5] for law in log.broken_laws(is_over=True)] == ["law 2", "law 1"]


def test_an_answer_that_was_never_meant_for_anybody_is_noticed() -> None:
    log = run(("sent", request(1)), ("received", answer(1, {"result": {"content": [], "stray": True}})))

    assert log.broken_laws() == ["law 2: request 1 (read) got an answer that was not its own"]


def test_progress_is_for_known_tokens_and_before_the_answer() -> None:
    log = run(("sent", request(1, _meta={"progressToken": "a"})), ("received", progress("a")))
    assert log.broken_laws() == []

    log.received(progress("b"))
    log.received(answer(1))
    log.received(progress("a"))
    assert [law[:25] for law in log.broken_laws()] == ["law 3: progress for nobod", "law 3: progress of reques"]


def test_what_is_no_message_breaks_a_law() -> None:
    log = run(("sent", request(1)), ("received", []), ("received", {"id": 1}), ("received", answer(1, {})))
    log.read_noise(b"noise")

    assert [law[:5] for law in log.broken_laws()] == ["law 4"] * 4


def test_an_effect_may_not_happen_twice_unless_it_may() -> None:
    effects = [{"tool": tool, "token": "a"} for tool in ("write", "guarded", "idempotent")]
    keys = [{"tool": "add_once", "key": "a"}]
    log = ChurnLog()

    assert log.broken_laws(effects + keys) == []
    assert len(log.broken_laws(effects * 2 + keys * 2)) == 3


def test_what_was_told_about_an_effect_must_be_true() -> None:
    safe = {"error": {"code": -32010, "message": "lost", "data": {"retry": {"safe": True}}}}
    unsafe = {"error": {"code": -32011, "message": "unknown", "data": {"retry": {"safe": False}}}}
    log = run(
        ("sent", request(1, "write", "done")),
        ("received", answer(1)),
        ("sent", request(2, "write", "lost")),
        ("received", answer(2, safe)),
        ("sent", request(3, "write", "unknown")),
        ("received", answer(3, unsafe)),
    )
    honest = [{"tool": "write", "token": token} for token in ("done", "unknown")]
    lying = [{"tool": "write", "token": token} for token in ("lost", "unknown")]

    assert log.broken_laws(honest, is_over=True) == []
    assert len(log.broken_laws(lying, is_over=True)) == 2


@pytest.mark.parametrize("meta", [1, "x", [], None, {"io.holdfast/error": 7}, {"io.holdfast/error": {"retry": 7}}])
def test_whatever_a_hostile_server_puts_into_its_meta_is_an_answer(meta: Any) -> None:
    log = run(("sent", request(1)), ("received", answer(1, {"result": {"_meta": meta}})))

    assert log.outcomes == {"read: result": 1}
    assert log.broken_laws(is_over=True) == []


def test_a_tool_error_tells_about_a_retry_in_its_meta() -> None:
    told = {"io.holdfast/error": {"code": "TOOL_TIMEOUT", "retry": {"safe": True}}}
    log = run(
        ("sent", request(1, "write", "a")), ("received", answer(1, {"result": {"isError": True, "_meta": told}}))
    )

    assert log.outcomes == {"write: tool error": 1}
    assert len(log.broken_laws([{"tool": "write", "token": "a"}], is_over=True)) == 1
