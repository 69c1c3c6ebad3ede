"""What is told of the end of a request, to the event log and to whoever counts.

Every request is told of once. The log has a line for each call of a tool; where the worker is a server of our own
that had the call, it writes that line itself, and here the call is only counted. Nothing is remembered for this
while a request is under way: what a client said beside its question is read again from its own bytes.
"""

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from holdfast.errors import WireError
from holdfast.kernel.rules import STREAM_METHODS, describes_itself
from holdfast.kernel.state import Pending
from holdfast.kernel.turn import Turn
from holdfast.vocabulary.events import CallEnded, RequestEnded
from holdfast.vocabulary.execution import Knowledge
from holdfast.vocabulary.faults import Fault
from holdfast.vocabulary.meta import META_ERROR
from holdfast.wire.codec import RELAY_DEPTH, decode
from holdfast.wire.envelope import Request, Response

__all__ = [
    "NO_FAILURE",
    "Failure",
    "Trace",
    "failure_of",
    "failure_of_fault",
    "tell_end",
    "tell_refusal",
    "trace_of",
]

_LONGEST_MESSAGE = 500
_LONGEST_TRACE = 256
_LONGEST_TRACE_STATE = 1024  # twice what its standard asks everybody to pass on
_LONGEST_PATH = 512
_SMALL = 16 * 1024  # bytes of a request up to which its arguments are looked at for a path
_PATH_NAMES = ("path", "file", "uri", "file_path", "filePath", "filepath", "filename", "file_name", "fileName")
_HINTS = re.compile(rb'"(?:traceparent|path|file|uri|file_?[pP]ath|file_?[nN]ame)"')
_CODE = re.compile(r"[A-Za-z0-9_.:-]{1,64}")
_TRACE = b'"traceparent"'


class Failure(NamedTuple):
    """Why a request failed, as far as anybody said so."""

    code: str | None = None
    fault_class: str | None = None
    message: str | None = None


NO_FAILURE = Failure()


class Trace(NamedTuple):
    """The trace that a client counts its request to, in the words of W3C Trace Context, as it sent them."""

    parent: str | None = None
    state: str | None = None


class _Hints(NamedTuple):
    """What a client said beside its question: the trace it belongs to, and the file that it is about."""

    trace: Trace = Trace()
    path: str | None = None


_NO_HINTS = _Hints()


def failure_of_fault(problem: Fault) -> Failure:
    """The failure that the host itself tells."""
    return Failure(problem.code, problem.fault_class.value, problem.message[:_LONGEST_MESSAGE])


def failure_of(response: Response) -> Failure | None:
    """The failure that a worker tells, as an error or as a failed result; None for a success."""
    if response.error is not None:
        told = _object(response.error.get("data"))
        code = _word(told.get("code")) or _word(str(response.error.get("code")))
        return Failure(code, _word(told.get("class")), _text(response.error.get("message")))
    if not isinstance(response.result, dict) or response.result.get("isError") is not True:
        return None
    told = _object(_object(response.result.get("_meta")).get(META_ERROR))
    return Failure(_word(told.get("code")), _word(told.get("category")), _words(response.result.get("content")))


def tell_end(turn: Turn, entry: Pending, outcome: str, why: Failure, *, by_worker: bool) -> None:
    """Tell of the end of a request that was accepted; what no client has asked is none of theirs."""
    if entry.is_own:
        return
    if outcome == "cancelled" and entry.method in STREAM_METHODS:
        outcome, why = "ok", NO_FAILURE  # it lasts until its client has heard enough: that is how it ends well
    hints = _hints_of(entry)
    if hints.path is not None and _is_secretive(turn, entry):
        hints = hints._replace(path=None)
    ours = entry.rule is not None and entry.rule.is_ours and (by_worker or entry.is_in_flight)
    kind = CallEnded if entry.method == "tools/call" and not ours else RequestEnded
    turn.record(
        kind(
            entry.id,
            f"{entry.generation}.{entry.sequence}",
            entry.tool,
            outcome,
            round((turn.now - entry.accepted_at) * 1000, 3),
            why.code,
            why.fault_class,
            None,
            hints.trace.parent,
            entry.method,
            "worker" if by_worker else "host",
            0 if entry.knowledge is Knowledge.NOT_DISPATCHED else entry.replays + 1,
            why.message,
            hints.path,
            hints.trace.state,
            entry.is_modern,
        )
    )


def tell_refusal(turn: Turn, request: Request, why: Failure = NO_FAILURE) -> None:
    """Tell of a request that the host answered without accepting it; without a reason it was answered well."""
    name = request.params.get("name") if request.method == "tools/call" else None
    is_call = request.method == "tools/call"
    trace = trace_of(request.params)
    turn.record(
        (CallEnded if is_call else RequestEnded)(
            request_id=request.id,
            call_id=f"{turn.state.active}.0",
            tool=name if isinstance(name, str) else request.method,
            outcome="ok" if why is NO_FAILURE else "rejected",
            duration_ms=0.0,
            code=why.code,
            fault_class=why.fault_class,
            trace=trace.parent,
            method=request.method,
            ended_by="host",
            attempts=0,
            message=why.message,
            trace_state=trace.state,
            is_modern=describes_itself(request.method, request.params),
        )
    )


def trace_of(params: Mapping[str, Any]) -> Trace:
    """The trace that the parameters of a request name; a state without its parent means nothing."""
    meta = _object(params.get("_meta"))
    parent = _text(meta.get("traceparent"), _LONGEST_TRACE)
    state = meta.get("tracestate")
    is_state = parent is not None and isinstance(state, str) and len(state) <= _LONGEST_TRACE_STATE
    return Trace(parent, state if is_state else None)


def _is_secretive(turn: Turn, entry: Pending) -> bool:
    """Whether a tool takes secrets; then nothing of its arguments is told."""
    worker = turn.state.workers.get(entry.generation)
    facts = worker.catalog.tools.get(entry.tool) if worker is not None else None
    return facts is not None and bool(facts.secrets)


def _hints_of(entry: Pending) -> _Hints:
    frame = entry.frame
    if len(frame) <= _SMALL:
        if _HINTS.search(frame) is None:
            return _NO_HINTS
    elif _TRACE not in frame:
        return _NO_HINTS
    try:
        document = decode(frame, max_depth=RELAY_DEPTH)
    except WireError:  # it was read before, so this does not happen; and a hint is not worth a failure
        return _NO_HINTS
    params = _object(_object(document).get("params"))
    return _Hints(trace_of(params), _path_of(params) if len(frame) <= _SMALL else None)


def _path_of(params: Mapping[str, Any]) -> str | None:
    """What an argument that is called like a path says; the parameters of other methods are looked at too."""
    arguments = params.get("arguments")
    given = arguments if isinstance(arguments, dict) else params
    for name in _PATH_NAMES:
        value = given.get(name)
        if isinstance(value, str) and 0 < len(value) <= _LONGEST_PATH:
            return value
    return None


def _words(content: Any) -> str | None:
    """The first text of a failed result."""
    blocks = content if isinstance(content, list) else []
    texts = (block.get("text") for block in blocks[:4] if isinstance(block, dict))
    return next((_text(text) for text in texts if _text(text)), None)


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _word(value: Any) -> str | None:
    """A code that a worker made up, if it can be one: it is written as it is."""
    return value if isinstance(value, str) and _CODE.fullmatch(value) else None


def _text(value: Any, longest: int = _LONGEST_MESSAGE) -> str | None:
    return value[:longest] if isinstance(value, str) else None
