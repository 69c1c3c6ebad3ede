"""The screen of `holdfast telemetry`: what it shows, and that no host of another version can break it."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.cli.telemetry_text import describe_telemetry
from holdfast.observe.ledger import Ledger
from holdfast.vocabulary.events import CallEnded

HEALTH: dict[str, Any] = {"uptime_ms": 61_000, "state": "ready", "restart_count": 2}


def ended(tool: str, outcome: str = "ok", ms: float = 1.26, **more: Any) -> CallEnded:
    return CallEnded(1, "1.1", tool, outcome, ms, method="tools/call", ended_by="worker", attempts=1, **more)


def test_the_screen_tells_totals_then_tools_then_methods() -> None:
    ledger = Ledger()
    for event in (ended("read"), ended("write", "error", 12_345.0, code="X", message="a\nb | c")):
        ledger.take(event)
    fault = {"class": "process", "code": "WORKER_LOST", "message": "it\ncrashed"}
    told = ledger.snapshot({**HEALTH, "last_fault": fault}, [("tools/call", "read")])
    lines = list(describe_telemetry({"name": "shop", **told, "tracing": {"spans": 3, "spans_dropped": 1}}))

    assert lines[:6] == [
        "shop: ready, up 1 min 1 s",
        "  requests    3: 1 succeeded, 1 failed, 1 in flight",
        "  failures    1 answered by the worker, 0 because it was lost",
        "  recovery    0 workers lost, 0 requests sent again, 2 restarts",
        "  last fault  process WORKER_LOST: it crashed",
        "  tracing     3 spans, 0 exported, 1 dropped",
    ]
    table = [[cell.strip() for cell in line.split(" | ")] for line in lines[7:]]
    assert table[0] == ["tool", "calls", "errors", "retries", "in flight", "p50", "p95", "max", "last error"]
    assert table[2] == ["read", "2", "0", "0", "1", "1.3 ms", "1.3 ms", "1.3 ms", "-"]
    assert table[3][5:8] == ["12.3 s", "12.3 s", "12.3 s"]
    assert "a b" in lines[10]


@pytest.mark.parametrize(
    "tools", [None, "x", [], [7, None], [{}], [{"tool": None, "latency_ms": "x", "last_error": 5}]]
)
def test_a_host_of_another_version_breaks_nothing(tools: Any) -> None:
    odd = {"tools": tools, "methods": tools, "totals": [], "last_fault": "x", "tracing": 1, "uptime_ms": "soon"}
    assert next(describe_telemetry(odd)) == "host: unknown, up -"
    assert list(describe_telemetry({"methods": tools}))


@given(
    st.dictionaries(
        st.sampled_from(["name", "state", "totals", "tools", "methods", "last_fault", "uptime_ms", "in_flight"]),
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
            lambda inner: (
                st.lists(inner, max_size=3)
                | st.dictionaries(
                    st.sampled_from(["tool", "method", "latency_ms", "p50", "last_error", "code"]), inner
                )
            ),
            max_leaves=8,
        ),
    )
)
def test_whatever_is_told_the_screen_is_lines_without_surprises(telemetry: dict[str, Any]) -> None:
    for line in describe_telemetry(telemetry):
        assert "\n" not in line
        assert "\x1b" not in line


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["telemetry", "nobody"], "there is no running host 'nobody'"),
        (["telemetry", "--json", "--prometheus"], "--json and --prometheus exclude each other"),
        (["run", "--metrics", "0.0.0.0:0", "--", "cat"], "--metrics listens on this machine only"),
    ],
)
def test_a_mistake_is_told_in_one_line_with_a_remedy(tmp_path: Path, words: list[str], told: str) -> None:
    own, dashes, command = words, [], []
    if "--" in words:
        own, dashes, command = words[: words.index("--")], ["--"], words[words.index("--") + 1 :]
    line = [sys.executable, "-m", "holdfast", *own, "--state-dir", str(tmp_path), *dashes, *command]
    done = subprocess.run(line, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=30, check=False)

    assert (done.returncode, done.stdout) == (2, "")
    first, second = done.stderr.splitlines()
    assert told in first
    assert second.startswith("  try: ")
