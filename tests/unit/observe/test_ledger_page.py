"""The page for Prometheus: every line can be read back, every series is introduced, no name can spoil it."""

import re
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from holdfast.observe.exposition import head, page, sample
from holdfast.observe.histogram import BOUNDS, Histogram
from holdfast.observe.ledger import Ledger
from holdfast.observe.ledger_page import ledger_page
from holdfast.vocabulary.events import CallEnded

NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
SAMPLE = re.compile(
    rf'({NAME})(\{{{NAME}="(?:[^"\\\n]|\\[\\"n])*"(?:,{NAME}="(?:[^"\\\n]|\\[\\"n])*")*\}})? (\S+)'
)
ABOUT = re.compile(rf"# (?:HELP|TYPE) ({NAME}) .+")
HEALTH: dict[str, Any] = {
    "name": 'a "b"\\\n',
    "state": "ready",
    "uptime_ms": 1500,
    "generation": 3,
    "degraded": True,
    "admits": False,
    "reason_code": "worker_stuck",
}


def rendered(ledger: Ledger, extra: dict[str, int] | None = None) -> list[str]:
    return ledger_page(ledger, HEALTH, [("tools/call", "slow")], extra or {}).decode().splitlines()


def called(*tools: str) -> Ledger:
    ledger = Ledger(lambda: set(tools))
    for tool in tools:
        ledger.take(CallEnded(1, "1.1", tool, "ok", 30.0, method="tools/call", ended_by="worker", attempts=1))
    return ledger


def test_the_page_tells_the_host_its_methods_and_its_tools() -> None:
    lines = rendered(called("read"), {"spans_dropped": 4})

    assert r'holdfast_info{server="a \"b\"\\\n",version=' in "\n".join(lines)
    for line in (
        'holdfast_state{state="ready"} 1',
        "holdfast_uptime_seconds 1.5",
        "holdfast_generation 3",
        "holdfast_degraded 1",
        "holdfast_admits 0",
        'holdfast_degraded_reason{reason="worker_stuck"} 1',
        'holdfast_degraded_reason{reason="worker_stopped"} 0',
        'holdfast_requests_total{method="tools/call",outcome="ok"} 1',
        'holdfast_tool_calls_total{tool="read",outcome="error"} 0',
        'holdfast_tool_call_in_flight{tool="slow"} 1',
        'holdfast_tool_call_duration_seconds_bucket{tool="read",le="0.025"} 0',
        'holdfast_tool_call_duration_seconds_bucket{tool="read",le="0.05"} 1',
        'holdfast_tool_call_duration_seconds_bucket{tool="read",le="+Inf"} 1',
        'holdfast_tool_call_duration_seconds_sum{tool="read"} 0.03',
        'holdfast_tool_call_duration_seconds_count{tool="read"} 1',
        "holdfast_spans_dropped_total 4",
    ):
        assert line in lines


@given(st.lists(st.text(max_size=30), max_size=5))
def test_whatever_tools_are_called_every_line_can_be_read(names: list[str]) -> None:
    introduced: set[str] = set()
    for line in rendered(called(*names)):
        about = ABOUT.fullmatch(line)
        if about is not None:
            introduced.add(about[1])
        else:
            found = SAMPLE.fullmatch(line)
            assert found is not None, line
            assert {found[1], re.sub(r"_(bucket|sum|count)$", "", found[1])} & introduced
            assert float(found[3]) >= 0


def test_every_series_is_told_once_and_their_number_is_bounded() -> None:
    lines = rendered(called(*(f"tool {number}" for number in range(1000))))
    series = [line.rpartition(" ")[0] for line in lines if not line.startswith("#")]

    assert len(series) == len(set(series)) < 8000
    heads = [line for line in lines if line.startswith("#")]
    assert len(heads) == len(set(heads))


def test_numbers_that_are_none_are_written_as_prometheus_reads_them() -> None:
    assert [sample("a", value) for value in (float("inf"), float("-inf"), float("nan"), 7)] == [
        "a +Inf",
        "a -Inf",
        "a NaN",
        "a 7",
    ]
    assert page([*head("a", "gauge", "Words."), sample("a", 1, {"x": "\ud800"})]).endswith(b'a{x="\\ud800"} 1\n')


@given(st.lists(st.floats(0, 5000), min_size=1, max_size=60), st.floats(0, 1))
def test_a_percentile_is_right_to_within_its_bucket(times: list[float], share: float) -> None:
    histogram = Histogram()
    for seconds in times:
        histogram.add(seconds)
    exact = sorted(times)[max(0, min(len(times) - 1, -(-int(share * len(times) * 1e9) // 10**9) - 1))]
    estimate = histogram.quantile(share)

    assert estimate is not None
    below = max(bound for bound in (0.0, *BOUNDS) if bound < exact or bound == 0.0)
    above = min(bound for bound in (*BOUNDS, float("inf")) if bound >= exact)
    assert below <= estimate <= above


def test_without_a_time_there_is_no_percentile() -> None:
    assert Histogram().quantile(0.5) is None
