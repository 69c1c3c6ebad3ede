"""The ledger: counts that add up, bounded series, and a copy that goes on where another one stopped."""

import json
import time
from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.observe.ledger import LONGEST_NAME, MAX_STRANGERS, MAX_TOOLS, OTHER, Ledger
from holdfast.observe.series import COUNTS, OUTCOMES, RECOVERY_CODES
from holdfast.vocabulary.events import CallEnded, CallReplayed, RequestEnded, WorkerLost

HEALTH = {"uptime_ms": 5, "state": "ready", "worker_handshake": "ready", "generation": 2,
          "consecutive_failures": 0, "restart_count": 1, "last_fault": {"code": "WORKER_LOST"}}  # fmt: skip


def ended(tool: str = "read", outcome: str = "ok", ms: float = 4.0, **more: Any) -> CallEnded:
    told = {"method": "tools/call", "ended_by": "worker", "attempts": 1, **more}
    return CallEnded(1, "1.1", tool, outcome, ms, **told)


def request(method: str, outcome: str = "ok", **more: Any) -> RequestEnded:
    return RequestEnded(1, "1.1", method, outcome, 1.0, method=method, ended_by="worker", attempts=1, **more)


def lost() -> WorkerLost:
    return WorkerLost(1, "active", "process", "WORKER_LOST", "it crashed", 1, 1, False)


def snapshot(ledger: Ledger, in_flight: Iterable[tuple[str, str]] = ()) -> dict[str, Any]:
    told = ledger.snapshot(HEALTH, in_flight)
    return json.loads(json.dumps(told))  # type: ignore[no-any-return]


def filled(*events: Any, known: Iterable[str] = ()) -> Ledger:
    ledger = Ledger(lambda: set(known))
    for event in events:
        ledger.take(event)
    return ledger


def test_a_snapshot_has_exactly_the_promised_fields() -> None:
    told = snapshot(filled(ended(), request("tools/list")))

    core = {"uptime_ms", "state", "worker_handshake", "generation", "consecutive_failures", "restart_count"}
    assert set(told) == core | {"totals", "methods", "tools", "last_fault", "in_flight"}
    assert tuple(told["totals"]) == COUNTS
    latency = {"last_latency_ms", "max_latency_ms", "avg_latency_ms", "last_error"}
    assert all(set(row) == {"method", *COUNTS, *latency} for row in told["methods"])
    assert set(told["tools"][0]) == {"tool", *COUNTS, *latency, "in_flight", "outcomes", "latency_ms", "histogram"}
    assert {name: told[name] for name in HEALTH} == HEALTH


def test_a_failed_result_is_an_error_of_the_worker_and_is_remembered() -> None:
    told = snapshot(filled(ended(), ended(outcome="error", code="NOT_FOUND", message="no such file")))

    (tool,) = told["tools"]
    assert (tool["request_count"], tool["success_count"], tool["error_count"]) == (2, 1, 1)
    assert (tool["response_error_count"], tool["recovery_error_count"]) == (1, 0)
    assert (
        tool["last_error"] == told["methods"][0]["last_error"] == {"code": "NOT_FOUND", "message": "no such file"}
    )


@pytest.mark.parametrize("code", sorted(RECOVERY_CODES))
def test_a_call_lost_with_its_worker_is_a_recovery_error_without_a_time(code: str) -> None:
    told = snapshot(filled(lost(), ended(outcome="error", code=code, ended_by="host", ms=9000.0)))

    (tool,) = told["tools"]
    assert (tool["error_count"], tool["recovery_error_count"], tool["recovery_fault_count"]) == (1, 1, 1)
    assert (tool["response_error_count"], tool["last_latency_ms"], tool["max_latency_ms"]) == (0, None, 0)
    assert told["totals"]["recovery_fault_count"] == 1


def test_an_error_of_the_host_itself_is_neither_an_answer_nor_a_loss() -> None:
    told = snapshot(filled(ended(outcome="timeout", code="TOOL_TIMEOUT", ended_by="host", ms=50.0)))

    (tool,) = told["tools"]
    assert (tool["error_count"], tool["response_error_count"], tool["recovery_error_count"]) == (1, 0, 0)
    assert (tool["last_latency_ms"], tool["outcomes"]["timeout"]) == (50, 1)


def test_a_request_that_was_refused_took_no_time_worth_telling() -> None:
    told = snapshot(
        filled(ended(outcome="rejected", code="QUEUE_OVERLOADED", ended_by="host", attempts=0, ms=0.0))
    )

    assert told["tools"][0]["last_latency_ms"] is None
    assert told["tools"][0]["histogram"] == []


def test_a_replay_counts_when_it_is_sent_and_its_loss_once_the_call_has_ended() -> None:
    ledger = filled(lost(), CallReplayed(1, "read", 2, 2, "tools/call"))
    before = snapshot(ledger, [("tools/call", "read")])["tools"][0]
    ledger.take(ended(attempts=2))
    after = snapshot(ledger)["tools"][0]

    assert (before["retry_count"], before["request_count"], before["recovery_fault_count"]) == (1, 1, 0)
    assert (after["retry_count"], after["success_count"], after["recovery_fault_count"]) == (1, 1, 1)


def test_what_is_under_way_is_counted_before_it_has_ever_ended() -> None:
    told = snapshot(filled(known=["read"]), [("tools/call", "read"), ("tools/call", "read"), ("ping", "ping")])

    assert told["in_flight"] == told["totals"]["request_count"] == 3
    assert [(row["method"], row["request_count"]) for row in told["methods"]] == [("ping", 1), ("tools/call", 2)]
    assert [(row["tool"], row["in_flight"], row["avg_latency_ms"]) for row in told["tools"]] == [("read", 2, 0)]


def test_times_are_whole_milliseconds_and_their_mean_is_rounded_down() -> None:
    (tool,) = snapshot(filled(ended(ms=1.9), ended(ms=2.9), ended(ms=3.2)))["tools"]

    assert (tool["last_latency_ms"], tool["max_latency_ms"], tool["avg_latency_ms"]) == (3, 3, 2)
    assert tool["histogram"] == [{"le_ms": 2.5, "count": 1}, {"le_ms": 5.0, "count": 2}]
    assert 1.0 < tool["latency_ms"]["p50"] <= tool["latency_ms"]["p95"] <= tool["latency_ms"]["max"] == 3.2


def test_series_are_told_in_the_order_of_their_names() -> None:
    told = snapshot(filled(ended("b"), ended("a"), request("tools/list"), request("initialize")))

    assert [row["tool"] for row in told["tools"]] == ["a", "b"]
    assert [row["method"] for row in told["methods"]] == ["initialize", "tools/call", "tools/list"]


def test_names_that_nobody_declares_are_few_and_then_other() -> None:
    ledger = filled(
        *(ended(f"made up {number}") for number in range(1000)), *(request(f"x/{n}") for n in range(99))
    )
    ledger.tools._known = lambda: {"read"}
    ledger.take(ended("read"))

    assert len(ledger.tools) == MAX_STRANGERS + 2  # those, `other`, and the one that the server has
    assert ledger.tools[OTHER].outcomes["ok"] == 1000 - MAX_STRANGERS
    assert len(ledger.methods) == MAX_STRANGERS + 2  # `tools/call` is declared
    assert snapshot(ledger)["totals"]["success_count"] == 1000 + 99 + 1


def test_even_declared_tools_are_bounded_in_number() -> None:
    names = [f"tool {number}" for number in range(3 * MAX_TOOLS)]
    ledger = filled(*map(ended, names), known=names)

    assert len(ledger.tools) <= MAX_TOOLS + 1
    assert snapshot(ledger, [("tools/call", names[-1])])["tools"][0]["tool"] == OTHER


@pytest.mark.parametrize("name", ["", "x" * (LONGEST_NAME + 1), "a\nb", "\ud800", "\x1b[31m", "\u200b"])
def test_a_name_that_could_spoil_a_page_is_other(name: str) -> None:
    assert [row["tool"] for row in snapshot(filled(ended(name), known=[name]))["tools"]] == [OTHER]


def test_a_long_message_is_cut_when_it_is_told() -> None:
    (tool,) = snapshot(filled(ended(outcome="error", message="x" * 10_000)))["tools"]
    assert len(tool["last_error"]["message"]) == 200


EVENTS = st.one_of(
    st.builds(
        ended,
        st.sampled_from(["a", "b", "zz"]),
        st.sampled_from([*OUTCOMES, "disconnected"]),
        st.floats(0, 1e7),
        code=st.sampled_from([None, "X", *RECOVERY_CODES]),
        ended_by=st.sampled_from(["worker", "host", None]),
        attempts=st.sampled_from([None, 0, 1, 2, 5]),
    ),
    st.builds(request, st.sampled_from(["ping", "tools/list", "x/y"]), st.sampled_from(OUTCOMES)),
    st.just(lost()),
    st.builds(CallReplayed, st.just(1), st.just("a"), st.just(2), st.just(2), st.sampled_from([None, "ping"])),
)


@given(st.lists(EVENTS, max_size=40))
def test_counts_add_up_and_survive_being_carried_over(events: list[Any]) -> None:
    ledger = filled(*events)
    told = snapshot(ledger, [("tools/call", "a")])

    for row in (told["totals"], *told["methods"], *told["tools"]):
        under_way = row["request_count"] - row["success_count"] - row["error_count"]
        assert under_way in {0, 1}
        assert row["response_error_count"] + row["recovery_error_count"] <= row["error_count"]
    assert all(0 <= row["avg_latency_ms"] <= row["max_latency_ms"] for row in told["methods"])
    again = Ledger.from_json(json.loads(json.dumps(ledger.to_json())))
    assert snapshot(again, [("tools/call", "a")]) == told


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
        max_leaves=12,
    )
)
def test_whatever_else_is_carried_over_is_refused(document: Any) -> None:
    with pytest.raises(ValueError, match=r"."):
        Ledger.from_json(document)


@pytest.mark.parametrize(
    ("where", "value"),
    [
        (("workers_lost",), -1),
        (("workers_lost",), True),
        (("methods",), []),
        (("methods", "tools/call", "retries"), 1.5),
        (("methods", "tools/call", "retries"), 2**64),
        (("methods", "tools/call", "buckets"), [1]),
        (("methods", "tools/call", "buckets"), ["x"] * 18),
        (("methods", "tools/call", "seconds"), float("nan")),
        (("methods", "tools/call", "last_error"), {"code": "x" * 9999}),
        (("methods", "tools/call", "last_error"), {"secret": "x"}),
        (("methods", "tools/call", "outcomes"), {"ok": 1}),
        (("methods", "tools/call", "extra"), 1),
        (("tools", "a\nb"), {}),
        (("tools",), {str(number): {} for number in range(10_000)}),
        (("version",), 2),
    ],
)
def test_one_wrong_value_is_enough_to_be_refused(where: tuple[str, ...], value: Any) -> None:
    document = filled(ended(outcome="error", code="X")).to_json()
    place: Any = document
    for name in where[:-1]:
        place = place[name]
    place[where[-1]] = value

    with pytest.raises(ValueError, match=r"."):
        Ledger.from_json(document)


def test_an_event_costs_the_same_however_many_came_before() -> None:
    names = [f"tool {number}" for number in range(MAX_TOOLS)]
    events = [ended(name) for name in names]
    ledger = filled(known=names)

    def cost(of: Ledger) -> float:
        began = time.perf_counter()
        for event in events * 5:
            of.take(event)
        return (time.perf_counter() - began) / (5 * len(events))

    first = min(cost(filled(known=names)) for _ in range(5))
    for _ in range(20):
        cost(ledger)
    assert min(cost(ledger) for _ in range(5)) < first * 3 + 5e-6
