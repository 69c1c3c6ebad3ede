"""What every call is given when it is admitted, whatever it is a call of; and the record of one that is not."""

from collections.abc import Callable
from typing import Any

from holdfast.observe.sink import EventSink
from holdfast.present.profile import Profile
from holdfast.present.secrets import NO_SECRETS, Secrets
from holdfast.settings import Settings
from holdfast.vocabulary.events import CallEnded
from holdfast.vocabulary.faults import Fault
from holdfast.vocabulary.ids import RequestId
from holdfast.worker.asking import Asking
from holdfast.worker.calls import CallTable
from holdfast.worker.client_log import ClientLog
from holdfast.worker.context import Context

__all__ = ["call_context", "rejection", "trace_parent"]


def call_context(
    calls: CallTable,
    settings: Settings,
    log: EventSink,
    request_id: RequestId,
    name: str,
    meta: dict[str, Any],
    profile: Profile,
    send_progress: Callable[[dict[str, Any]], None],
    *,
    asking: Asking,
    client_log: ClientLog,
    secrets: Secrets = NO_SECRETS,
) -> Context:
    """The context of a call: its progress goes to whoever asked for it."""
    send, fixed = _progress_sender(request_id, name, meta, profile, send_progress)
    return Context(
        tool=name,
        call_id=calls.next_call_id(),
        request_id=request_id,
        meter=calls.meter(send, fixed),
        grace=settings.kill_grace,
        log=log,
        secrets=secrets,
        state=calls.server_state,
        asking=asking,
        client_log=client_log,
    )


def trace_parent(meta: dict[str, Any]) -> str | None:
    """The W3C trace parent that a client sent."""
    trace = meta.get("traceparent")
    return trace[:128] if isinstance(trace, str) else None


def rejection(
    request_id: RequestId, call_id: str, name: str, problem: Fault, method: str | None = None
) -> CallEnded:
    """The record of a call that never began."""
    return CallEnded(
        request_id=request_id,
        call_id=call_id,
        tool=name,
        outcome="rejected",
        duration_ms=0.0,
        code=problem.code,
        fault_class=problem.fault_class.value,
        method=method,
    )


def _progress_sender(
    request_id: RequestId,
    name: str,
    meta: dict[str, Any],
    profile: Profile,
    send: Callable[[dict[str, Any]], None],
) -> tuple[Callable[[dict[str, Any]], None] | None, dict[str, Any]]:
    token = meta.get("progressToken")
    if type(token) is not str and type(token) is not int:
        token = None
    if token is None and profile.progress_needs_token:
        return None, {}
    fixed: dict[str, Any] = {} if token is None else {"progressToken": token}
    if profile.legacy_framing:
        fixed["id"] = request_id
    fixed["tool"] = name
    return send, fixed
