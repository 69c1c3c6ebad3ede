"""Spans: what a collector gets of a request, from which parent, and what becomes of them when nobody collects."""

import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status
from tests.host.answers import eventually
from tests.host.otlp_receiver import Receiver, attributes_of, receiving

from holdfast.errors import UsageError
from holdfast.observe.tracing import Tracing, start_tracing
from holdfast.present.profile import MODERN
from holdfast.vocabulary.events import CallEnded, CallReplayed, RequestEnded, WorkerReady

TRACE, PARENT = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"


def ended(outcome: str = "ok", trace: str | None = None, **more: Any) -> CallEnded:
    told = {"method": "tools/call", "ended_by": "worker", "attempts": 1, **more}
    return CallEnded(7, "1.1", "read", outcome, 250.0, trace=trace, **told)


@pytest.fixture(autouse=True)
def all_gone() -> Iterator[None]:
    """No thread of the SDK outlives its test."""
    yield
    names = ("OtelBatch", "holdfast-tracing")
    assert eventually(lambda: not [one for one in threading.enumerate() if one.name.startswith(names)])


@pytest.fixture
def collector(monkeypatch: pytest.MonkeyPatch) -> Iterator[Receiver]:
    with receiving() as receiver:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", receiver.endpoint)
        yield receiver


def sent(tracing: Tracing, *events: Any) -> None:
    for event in events:
        tracing.take(event)
    tracing.close(10.0)


def test_a_span_tells_a_call_by_the_conventions_of_its_protocol(collector: Receiver) -> None:
    tracing = start_tracing("shop")
    tracing.revision = lambda: "2025-06-18"
    sent(tracing, ended())

    (span,) = collector.spans
    assert (span.name, span.kind, span.status.code) == (
        "tools/call read",
        Span.SPAN_KIND_SERVER,
        Status.STATUS_CODE_UNSET,
    )
    assert abs(span.end_time_unix_nano - span.start_time_unix_nano - 250_000_000) < 10
    assert abs(span.end_time_unix_nano - time.time_ns()) < 60e9
    told = {"mcp.method.name": "tools/call", "mcp.protocol.version": "2025-06-18", "jsonrpc.request.id": "7",
            "gen_ai.tool.name": "read", "gen_ai.operation.name": "execute_tool", "network.transport": "pipe",
            "holdfast.attempts": 1, "holdfast.ended_by": "worker"}  # fmt: skip
    assert told.items() <= attributes_of(span).items()
    assert collector.services == ["shop"]
    assert tracing.counts() == {"spans": 1, "spans_exported": 1, "spans_dropped": 0, "bad_traceparents": 0}


def test_a_request_that_describes_itself_has_its_own_revision_beside_a_handshake(collector: Receiver) -> None:
    tracing = start_tracing("shop")
    tracing.revision = lambda: "2025-06-18"
    sent(tracing, ended(is_modern=True))

    (span,) = collector.spans
    assert attributes_of(span)["mcp.protocol.version"] == MODERN


def test_the_parent_is_the_one_that_the_client_named(collector: Receiver) -> None:
    sent(start_tracing("shop"), ended(trace=f"00-{TRACE}-{PARENT}-01"))

    (span,) = collector.spans
    assert (span.trace_id.hex(), span.parent_span_id.hex()) == (TRACE, PARENT)


@pytest.mark.parametrize(("state", "passed_on"), [("a=1,b=2", "a=1,b=2"), ("no state", ""), (None, "")])
def test_the_state_of_the_trace_is_passed_on_to_the_letter_or_not_at_all(
    collector: Receiver, state: str | None, passed_on: str
) -> None:
    sent(start_tracing("shop"), ended(trace=f"00-{TRACE}-{PARENT}-01", trace_state=state))

    (span,) = collector.spans
    assert (span.parent_span_id.hex(), span.trace_state) == (PARENT, passed_on)


def test_a_parent_that_is_none_is_ignored_and_counted(collector: Receiver) -> None:
    tracing = start_tracing("shop")
    sent(tracing, ended(trace="00-nonsense"), ended(trace=f"00-{TRACE}-{PARENT}-1"))

    assert [span.parent_span_id for span in collector.spans] == [b"", b""]
    assert len({span.trace_id for span in collector.spans}) == 2
    assert tracing.counts()["bad_traceparents"] == 2


def test_a_client_that_does_not_want_to_be_traced_is_not(collector: Receiver) -> None:
    tracing = start_tracing("shop")
    sent(tracing, ended(trace=f"00-{TRACE}-{PARENT}-00"))

    assert collector.spans == []
    assert tracing.counts()["spans_dropped"] == 0


def test_a_failure_is_told_with_its_code_and_without_secrets(collector: Receiver) -> None:
    failed = ended(
        "error", code="AMBIGUOUS_OUTCOME", fault_class="ambiguous_outcome", message="token=abcdef123456"
    )
    refused = RequestEnded(8, "1.2", "x/y", "error", 1.0, "-32601", method="x/y", ended_by="worker", attempts=1)
    sent(start_tracing("shop"), failed, refused)

    call, other = collector.named("tools/call read"), collector.named("x/y")
    assert call.status.code == other.status.code == Status.STATUS_CODE_ERROR
    assert call.status.message == "token=[redacted]"
    assert attributes_of(call)["error.type"] == "AMBIGUOUS_OUTCOME"
    assert attributes_of(other)["rpc.response.status_code"] == "-32601"
    assert "gen_ai.tool.name" not in attributes_of(other)


def test_names_that_a_client_makes_up_are_cut(collector: Receiver) -> None:
    long = CallEnded("i" * 9000, "1.1", "t" * 9000, "ok", 1.0, method="tools/call", ended_by="host", attempts=0)
    sent(start_tracing("shop"), long)

    (span,) = collector.spans
    assert (len(span.name), len(attributes_of(span)["jsonrpc.request.id"])) == (211, 200)


def test_replays_are_marks_on_the_span(collector: Receiver) -> None:
    sent(
        start_tracing("shop"),
        WorkerReady(2, "active", 1),
        CallReplayed(7, "read", 2, 2, "tools/call"),
        CallReplayed(8, "read", 2, 2, "tools/call"),
        ended(attempts=2),
    )

    (span,) = collector.spans
    (mark,) = span.events
    assert (mark.name, attributes_of(mark)) == (
        "holdfast.replay",
        {"holdfast.generation": 2, "holdfast.attempt": 2},
    )


def test_a_collector_that_takes_and_never_answers_holds_up_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", f"http://127.0.0.1:{silent.getsockname()[1]}")
        for name, value in (("QUEUE_SIZE", 20), ("EXPORT_BATCH_SIZE", 10)):
            monkeypatch.setenv(f"OTEL_BSP_MAX_{name}", str(value))
        tracing = start_tracing("shop")
        began = time.monotonic()
        for _ in range(200):
            tracing.take(ended())
        tracing.close(0.1)

    assert time.monotonic() - began < 3
    counts = tracing.counts()
    assert (counts["spans"], counts["spans_exported"]) == (200, 0)
    assert counts["spans_dropped"] >= 200 - 20 - 10


def test_every_span_is_counted_once_whatever_a_slow_collector_makes_of_it(
    collector: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (("QUEUE_SIZE", 20), ("EXPORT_BATCH_SIZE", 10)):
        monkeypatch.setenv(f"OTEL_BSP_MAX_{name}", str(value))
    arrived, may_answer = threading.Event(), threading.Event()
    take = collector.take

    def take_late(path: str, body: bytes) -> None:
        arrived.set()
        assert may_answer.wait(10)
        take(path, body)

    monkeypatch.setattr(collector, "take", take_late)
    tracing = start_tracing("shop")
    for _ in range(10):
        tracing.take(ended())
    assert arrived.wait(10)
    for _ in range(190):  # while the first ten are under way, and twenty more have room
        tracing.take(ended())
    assert tracing.counts()["spans_dropped"] == 170
    may_answer.set()
    tracing.close(10.0)

    counts = tracing.counts()
    assert (counts["spans"], counts["spans_exported"], counts["spans_dropped"]) == (200, 30, 170)
    assert len(collector.spans) == 30


def test_a_collector_that_is_not_there_costs_the_spans_and_says_so(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as gone:
        port = gone.getsockname()[1]
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", f"http://127.0.0.1:{port}")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "1")
    tracing = start_tracing("shop")
    sent(tracing, ended())

    assert tracing.counts()["spans_dropped"] == 1
    assert capfd.readouterr() == ("", "")


def test_the_standard_variables_name_the_service(collector: Receiver, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_RESOURCE_ATTRIBUTES", "service.name=theirs,team=a")
    sent(start_tracing("shop"), ended())

    assert collector.services == ["theirs"]


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("OTEL_TRACES_EXPORTER", "zipkin"),
        ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"),
        ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "http/json"),
        ("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "1000000"),
    ],
)
def test_what_cannot_be_had_is_told_at_once(monkeypatch: pytest.MonkeyPatch, variable: str, value: str) -> None:
    monkeypatch.setenv(variable, value)
    with pytest.raises(UsageError) as refused:
        start_tracing("shop")
    assert refused.value.remedy


@pytest.mark.parametrize(
    ("before", "remedy"),
    [
        ("sys.modules['opentelemetry.sdk'] = None", "holdfast[otel]"),
        ("os.environ['OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT'] = 'many'", "OTEL_"),
    ],
)
def test_libraries_that_cannot_be_loaded_are_told_with_the_remedy(before: str, remedy: str) -> None:
    program = (
        f"import os, sys; {before}\n"
        "from holdfast.cli.app import main\n"
        "sys.exit(main(['run', '--otel', '--', 'cat']))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )

    assert (done.returncode, done.stdout) == (2, "")
    assert remedy in done.stderr.splitlines()[1]
    assert "unexpected" not in done.stderr
