"""Spans for OpenTelemetry: one per request, made when it has ended, sent in batches by a thread of its own.

Only a host that is asked to trace imports this, since it loads the SDK of OpenTelemetry. Where spans go is said by
the standard variables (`OTEL_EXPORTER_OTLP_ENDPOINT` and its kin). A collector that is slow or dead costs spans,
which are counted, and nothing else.
"""

import logging
import os
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

from holdfast.errors import UsageError
from holdfast.observe.redaction import Redactor
from holdfast.observe.traceparent import parse_traceparent
from holdfast.present.profile import MODERN
from holdfast.version import __version__
from holdfast.vocabulary.events import CallEnded, CallReplayed, Event, RequestEnded
from holdfast.vocabulary.ids import RequestId

try:
    from opentelemetry import trace
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult
    from opentelemetry.trace import NonRecordingSpan, SpanContext, SpanKind, StatusCode, TraceFlags, TraceState
except ImportError as missing:
    raise UsageError(
        f"tracing needs the libraries of OpenTelemetry ({missing})", remedy="pip install 'holdfast[otel]'"
    ) from missing
except ValueError as error:  # some of the variables are read while the libraries are loaded
    raise UsageError(
        f"tracing cannot begin: {error}", remedy="correct the variables that begin with OTEL_"
    ) from error

__all__ = ["Tracing", "start_tracing"]

MAX_REPLAYED = 1024  # requests whose replays are remembered until they end
MAX_REPLAYS = 16  # of each
FAREWELL = 1.0  # seconds that the last spans have to leave
_DEFAULT_QUEUE = 2048
_LONGEST_NAME = 200  # clients choose names and ids
_PROTOCOL = "http/protobuf"


class Tracing:
    """Makes spans of events. Nothing here raises or waits, except `close`, which waits for a bounded time."""

    def __init__(self, provider: TracerProvider, exporter: "_CountingExporter") -> None:
        self.revision: Callable[[], str] = str  # of the handshake, for requests that do not describe themselves
        self._provider = provider
        self._exporter = exporter
        self._redactor = Redactor()  # spans leave this machine
        self._tracer = provider.get_tracer("holdfast", __version__)
        self._replays: dict[RequestId, list[tuple[int, CallReplayed]]] = {}
        self._spans = 0
        self._bad_parents = 0
        self._failures = 0

    def take(self, event: Event) -> None:
        """Make a span of a request that has ended; keep what is worth a mark on it."""
        try:
            if isinstance(event, CallEnded | RequestEnded):
                self._end(event)
            elif isinstance(event, CallReplayed):
                self._remember(event)
        except Exception:  # noqa: BLE001 - a library for looking on must not end what it looks at
            self._failures += 1

    def counts(self) -> dict[str, int]:
        """What became of the spans."""
        return {
            "spans": self._spans,
            "spans_exported": self._exporter.exported,
            "spans_dropped": self._exporter.dropped + self._failures,
            "bad_traceparents": self._bad_parents,
        }

    def close(self, bound: float = FAREWELL) -> None:
        """Send what is left, for so many seconds at most."""
        thread = threading.Thread(target=self._provider.shutdown, name="holdfast-tracing-end", daemon=True)
        thread.start()
        thread.join(bound)
        if thread.is_alive():
            self._exporter.shutdown()  # which ends the pauses between its attempts

    def _remember(self, event: CallReplayed) -> None:
        if event.request_id not in self._replays and len(self._replays) >= MAX_REPLAYED:
            del self._replays[next(iter(self._replays))]
        marks = self._replays.setdefault(event.request_id, [])
        if len(marks) < MAX_REPLAYS:
            marks.append((time.time_ns(), event))

    def _end(self, event: CallEnded) -> None:
        ended_at = time.time_ns()
        is_call = event.method == "tools/call" or event.method is None
        method = (event.method or "tools/call")[:_LONGEST_NAME]
        span = self._tracer.start_span(
            f"{method} {event.tool[:_LONGEST_NAME]}" if is_call else method,
            context=self._parent(event.trace, event.trace_state),
            kind=SpanKind.SERVER,
            attributes=self._attributes(event, method, is_call=is_call),
            start_time=ended_at - round(event.duration_ms * 1_000_000),
        )
        for at, replay in self._replays.pop(event.request_id, []) if event.request_id is not None else []:
            seen = {"holdfast.generation": replay.generation, "holdfast.attempt": replay.attempt}
            span.add_event("holdfast.replay", seen, timestamp=at)
        if event.outcome != "ok":
            span.set_status(StatusCode.ERROR, self._redactor.text(event.message or event.code or event.outcome))
        self._spans += 1
        if span.is_recording():
            self._exporter.expect(span.get_span_context().span_id)
        span.end(ended_at)

    def _attributes(self, event: CallEnded, method: str, *, is_call: bool) -> dict[str, Any]:
        told: dict[str, Any] = {
            "mcp.method.name": method,
            "mcp.protocol.version": MODERN if event.is_modern else self.revision() or None,
            "jsonrpc.request.id": None if event.request_id is None else str(event.request_id)[:_LONGEST_NAME],
            "jsonrpc.protocol.version": "2.0",
            "network.transport": "pipe",
            "gen_ai.tool.name": event.tool[:_LONGEST_NAME] if is_call else None,
            "gen_ai.operation.name": "execute_tool" if is_call else None,
            "mcp.resource.uri": self._uri(event.path) if method.startswith("resources/") else None,
            "holdfast.outcome": event.outcome,
            "holdfast.ended_by": event.ended_by,
            "holdfast.attempts": event.attempts,
        }
        if event.outcome != "ok":
            is_number = event.code is not None and event.code.removeprefix("-").isdigit()
            told["error.type"] = event.code or "tool_error"
            told["rpc.response.status_code"] = event.code if is_number else None
            told["holdfast.error.class"] = event.fault_class
        return {name: value for name, value in told.items() if value is not None}

    def _uri(self, text: str | None) -> str | None:
        return None if text is None else self._redactor.text(text)

    def _parent(self, text: str | None, state: str | None) -> Any:
        # Never the context of this thread: a request without a parent begins a trace of its own.
        if text is not None:
            parent = parse_traceparent(text)
            if parent is not None:
                known = SpanContext(
                    parent.trace_id,
                    parent.span_id,
                    is_remote=True,
                    trace_flags=TraceFlags(parent.flags),
                    # Of one that is not to the letter nothing is passed on, as its standard asks.
                    trace_state=TraceState.from_header([state]) if state is not None else None,
                )
                return trace.set_span_in_context(NonRecordingSpan(known), _NO_CONTEXT)
            self._bad_parents += 1
        return _NO_CONTEXT


_NO_CONTEXT = trace.set_span_in_context(trace.INVALID_SPAN)


class _CountingExporter(SpanExporter):
    """Passes spans on to another exporter, and counts what was delivered and what was not.

    The queue of the SDK does not say what it loses: the oldest, as soon as there are more spans than it holds. So
    its content is followed here by the ids of the spans, and put right by what really leaves.
    """

    def __init__(self, inner: SpanExporter, queue: int) -> None:
        self._inner = inner
        self._queue = queue
        self._lock = threading.Lock()  # spans come from one thread and leave from another
        self._waiting: dict[int, None] = {}  # the oldest first
        self.exported = 0
        self.dropped = 0

    def expect(self, span: int) -> None:
        """One more span is on its way; where the queue is full, another one is lost for it."""
        with self._lock:
            self._waiting[span] = None
            if len(self._waiting) > self._queue:
                self._lose_oldest()

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Send a batch; this runs in the thread of the SDK, and may take as long as it likes."""
        with self._lock:
            for span in spans:
                self._leave(span.context.span_id)
        result = SpanExportResult.FAILURE
        try:
            result = self._inner.export(spans)
        finally:
            with self._lock:
                if result is SpanExportResult.SUCCESS:
                    self.exported += len(spans)
                else:
                    self.dropped += len(spans)
        return result

    def _leave(self, span: int) -> None:
        if span not in self._waiting:
            self.dropped -= 1  # it had left the queue already when it was taken for lost
            return
        while next(iter(self._waiting)) != span:
            self._lose_oldest()
        del self._waiting[span]

    def _lose_oldest(self) -> None:
        del self._waiting[next(iter(self._waiting))]
        self.dropped += 1

    def shutdown(self) -> None:
        """Stop sending."""
        self._inner.shutdown()

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        """Nothing is kept here."""
        return self._inner.force_flush(timeout_millis)


def start_tracing(server: str) -> Tracing:
    """Begin to trace the server of that name; UsageError where the variables ask for what there is not."""
    for variable, only in (
        ("OTEL_TRACES_EXPORTER", "otlp"),
        ("OTEL_EXPORTER_OTLP_PROTOCOL", _PROTOCOL),
        ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", _PROTOCOL),
    ):
        given = os.environ.get(variable, "").strip()
        if given not in {"", only}:
            raise UsageError(f"{variable} is {given!r}, and only {only} is there", remedy=f"{variable}={only}")
    # Its complaints about a collector are no business of whoever reads our stderr: they are counted instead.
    for name in ("opentelemetry", "urllib3"):
        logger = logging.getLogger(name)
        logger.addHandler(logging.NullHandler())
        logger.propagate = False
    try:
        exporter = _CountingExporter(OTLPSpanExporter(), _queue_size())
        provider = TracerProvider(resource=_resource(server), shutdown_on_exit=False)
        provider.add_span_processor(BatchSpanProcessor(exporter))
    except ValueError as error:
        raise UsageError(
            f"tracing cannot begin: {error}", remedy="correct the variables that begin with OTEL_"
        ) from error
    return Tracing(provider, exporter)


def _queue_size() -> int:
    given = os.environ.get("OTEL_BSP_MAX_QUEUE_SIZE", "")
    return int(given) if given.isascii() and given.isdigit() and int(given) else _DEFAULT_QUEUE


def _resource(server: str) -> Resource:
    """Who sends the spans; what the standard variables say about it counts before what we know."""
    said = os.environ.get("OTEL_SERVICE_NAME") or "service.name=" in os.environ.get("OTEL_RESOURCE_ATTRIBUTES", "")
    return Resource.create({} if said else {"service.name": server})
