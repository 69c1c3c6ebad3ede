"""The records that telemetry is given: one for a launch, and one for everything that is done in it. Pure.

A record's id follows from what it is about, so saying it twice says it once. A child is called after its parent,
its kind and what it did; every record names its trace and span. What an event of a run means for telemetry is
`calls_for`: whoever writes the event owes these calls from the same moment on.
"""

from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any, NamedTuple

from holdfast.launch.documents import sha256
from holdfast.launch.identifiers import request_key, span_id, stamp, trace_id
from holdfast.observe.redaction import Redactor

__all__ = [
    "RUNS",
    "Call",
    "calls_for",
    "child",
    "child_run_id",
    "commit_calls",
    "launch_event_id",
    "summary_of",
    "tool_call",
    "work_event_id",
]

RUNS = "/api/v1/runs"
ORCHESTRATOR = "launch.orchestrator"
_LONGEST_ID = 200
_LONGEST_TEXT = 2000
_LONGEST_PAYLOAD = 64 * 1024
_ENDS = {"RUN_COMPLETED": "success", "RUN_FAILED": "failure", "RUN_CANCELLED": "cancelled"}
_ITEM_ENDS = {"WORK_ITEM_FINISHED": "success", "WORK_ITEM_FAILED": "failure", "WORK_ITEM_SKIPPED": "success"}


class Call(NamedTuple):
    """One call that telemetry is owed."""

    method: str
    path: str
    document: dict[str, Any]


# --- names ---


def launch_event_id(run_id: str) -> str:
    """The id of the record of a launch."""
    return request_key("telemetry", run_id)


def work_event_id(work_item_id: str) -> str:
    """The id of the record of a piece of work."""
    return request_key("telemetry", "worker", work_item_id)


def child_run_id(run_id: str, kind: str, stable: str) -> str:
    """`<parent>-<kind>-<stable>`; what would be too long ends in its digest."""
    made = f"{run_id}-{kind}-{stable}"
    if len(made) <= _LONGEST_ID:
        return made
    return f"{made[: _LONGEST_ID - 17]}-{sha256(made.encode('utf-8', 'replace'))[:16]}"


# --- what events mean ---


def calls_for(event: Mapping[str, Any], config: Mapping[str, Any]) -> list[Call]:
    """The calls that an event of a run owes to telemetry, in their order; the event itself is the last."""
    made = _MEANINGS.get(event["type"], _nothing)(event, config)
    return [*made, Call("POST", f"{RUNS}/{event['run_id']}/events", _told(event))]


def _launch_begun(event: Mapping[str, Any], config: Mapping[str, Any]) -> list[Call]:
    run_id, telemetry = event["run_id"], config.get("telemetry", {})
    record = {
        "event_id": launch_event_id(run_id),
        "run_id": run_id,
        "agent_name": ORCHESTRATOR,
        "job_type": "launch",
        "start_time": event["ts"],
        "status": "running",
        "product": config.get("product_slug"),
        "product_family": config.get("family"),
        "platform": config.get("target_platform"),
        "git_repo": _safe_text(config.get("site_repo_url")),
        "context_json": {
            **_span(run_id, span_id(run_id), None),
            "project": telemetry.get("project"),
            "run_tags": list(telemetry.get("run_tags", ())),
            "product_repo": _safe_text(config.get("github_repo_url")),
            "product_ref": config.get("github_ref"),
            "site_ref": config.get("site_ref"),
            "config_sha256": event["payload"].get("config_sha256"),
            "state": "CREATED",
        },
    }
    return [Call("POST", RUNS, record)]


def _launch_moved(event: Mapping[str, Any], _: Mapping[str, Any]) -> list[Call]:
    return [_change(event["run_id"], {"context_json": {"state": event["payload"].get("to")}})]


def _launch_ended(event: Mapping[str, Any], _: Mapping[str, Any]) -> list[Call]:
    changes: dict[str, Any] = {"status": _ENDS[event["type"]], "end_time": event["ts"]}
    failure = event["payload"].get("failure")
    if failure is not None:
        changes["error_summary"] = summary_of(failure)
    return [_change(event["run_id"], changes)]


def _work_begun(event: Mapping[str, Any], config: Mapping[str, Any]) -> list[Call]:
    told = event["payload"]
    item, worker, scope = told["work_item_id"], told["worker"], str(told.get("scope_key", ""))
    record = child(
        event["run_id"],
        "worker",
        item.removeprefix(f"{event['run_id']}:"),
        agent=f"launch.{worker}",
        begun=event["ts"],
        span=span_id(item),
        context={"work_item_id": item, "attempt": told.get("attempt"), "scope": scope},
    )
    record["event_id"] = work_event_id(item)
    record |= {"product": config.get("product_slug"), "item_name": _safe_text(scope)}
    if scope in config.get("required_sections", ()):
        record["website_section"] = scope
    return [Call("POST", RUNS, record)]


def _work_ended(event: Mapping[str, Any], _: Mapping[str, Any]) -> list[Call]:
    told = event["payload"]
    changes: dict[str, Any] = {"status": _ITEM_ENDS[event["type"]], "end_time": event["ts"]}
    if event["type"] == "WORK_ITEM_FAILED":
        error = told.get("error", {})
        changes["error_summary"] = summary_of(error)
        if error.get("code") == "TOOL_TIMEOUT":
            changes["status"] = "timeout"
    elif told.get("outputs"):
        changes["output_summary"] = summary_of(sorted(told["outputs"]))
        changes["items_succeeded"] = len(told["outputs"])
    return [Call("PATCH", f"{RUNS}/{work_event_id(told['work_item_id'])}", changes)]


def _gate_ended(event: Mapping[str, Any], _: Mapping[str, Any]) -> list[Call]:
    told, (begun, milliseconds) = event["payload"], _times(event)
    gate = str(told.get("gate", "unknown"))
    record = child(
        event["run_id"],
        "gate",
        f"{gate}-{event['seq']}",
        agent=f"launch.gate.{gate}",
        begun=begun,
        ended=event["ts"],
        status="success" if told.get("ok") else "failure",
        span=event["span_id"],
        parent_span=event.get("parent_span_id"),
        context={key: value for key, value in told.items() if key not in {"gate", "ok"}},
    )
    return [Call("POST", RUNS, record | {"item_name": gate, "duration_ms": milliseconds})]


def _model_asked(event: Mapping[str, Any], _: Mapping[str, Any]) -> list[Call]:
    told = event["payload"]
    call_id = str(told.get("call_id", "unknown"))
    record = child(
        event["run_id"],
        "llm_call",
        call_id,
        agent="launch.llm",
        begun=event["ts"],
        span=event["span_id"],
        parent_span=event.get("parent_span_id"),
        context={**told, "evidence_path": f"evidence/llm_calls/{call_id}.json"},
    )
    return [Call("POST", RUNS, record)]


def _model_answered(event: Mapping[str, Any], _: Mapping[str, Any]) -> list[Call]:
    told, (_begun, milliseconds) = event["payload"], _times(event)
    is_answer = event["type"] == "LLM_CALL_FINISHED"
    usage = told.get("token_usage") if isinstance(told.get("token_usage"), Mapping) else {}
    changes: dict[str, Any] = {
        "status": "success" if is_answer else "failure",
        "end_time": event["ts"],
        "metrics_json": {"tokens": dict(usage or {}), "finish_reason": told.get("finish_reason")},
    }
    if is_answer:
        changes |= {"duration_ms": milliseconds, "context_json": {"output_hash": told.get("output_hash")}}
    else:
        changes["error_summary"] = summary_of(told.get("error_summary") or told.get("error_class") or "")
        changes["context_json"] = {name: told.get(name) for name in ("error_class", "retryable")}
    key = request_key("telemetry", "llm_call", event["run_id"], str(told.get("call_id", "unknown")))
    return [Call("PATCH", f"{RUNS}/{key}", changes)]


def _published(event: Mapping[str, Any], _: Mapping[str, Any]) -> list[Call]:
    """The commit service did its part; `commit_calls` then tells every record which commit it was."""
    told = event["payload"]
    record = child(
        event["run_id"],
        "commit_service",
        str(told.get("commit_sha")),
        agent="launch.commit_service",
        begun=event["ts"],
        ended=event["ts"],
        status="success",
        span=event["span_id"],
        parent_span=event.get("parent_span_id"),
        context=dict(told),
    )
    branch = _safe_text(told.get("branch"))
    changes = {"git_branch": branch, "output_summary": summary_of(told.get("pr_url", ""))}
    return [Call("POST", RUNS, record | {"git_branch": branch}), _change(event["run_id"], changes)]


def _nothing(_: Mapping[str, Any], __: Mapping[str, Any]) -> list[Call]:
    return []


_MEANINGS: dict[str, Callable[[Mapping[str, Any], Mapping[str, Any]], list[Call]]] = {
    "RUN_CREATED": _launch_begun,
    "RUN_STATE_CHANGED": _launch_moved,
    **dict.fromkeys(_ENDS, _launch_ended),
    "WORK_ITEM_STARTED": _work_begun,
    **dict.fromkeys(_ITEM_ENDS, _work_ended),
    "GATE_RUN_FINISHED": _gate_ended,
    "LLM_CALL_STARTED": _model_asked,
    "LLM_CALL_FINISHED": _model_answered,
    "LLM_CALL_FAILED": _model_answered,
    "PR_OPENED": _published,
}


def commit_calls(
    run_id: str,
    events: Iterable[Mapping[str, Any]],
    *,
    commit_hash: str,
    author: str | None = None,
    timestamp: str | None = None,
    source: str = "llm",
) -> list[Call]:
    """Say which commit a launch led to, of its own record first, then of every one that its events made."""
    about = [launch_event_id(run_id)]
    for event in events:
        made = _MEANINGS.get(event["type"], _nothing)(event, {})
        about += [call.document["event_id"] for call in made if call.method == "POST"]
    document = {"commit_hash": commit_hash, "commit_source": source, "author": author, "timestamp": timestamp}
    told = {key: value for key, value in document.items() if value is not None}
    return [Call("POST", f"{RUNS}/{event_id}/associate-commit", dict(told)) for event_id in dict.fromkeys(about)]


# --- records ---


def child(
    run_id: str,
    kind: str,
    stable: str,
    *,
    agent: str,
    begun: str,
    ended: str | None = None,
    status: str = "running",
    span: str | None = None,
    parent_span: str | None = None,
    context: Mapping[str, Any],
) -> dict[str, Any]:
    """The record of one thing that was done in a launch; secrets and paths are taken out of its context."""
    record: dict[str, Any] = {
        "event_id": request_key("telemetry", kind, run_id, stable),
        "run_id": child_run_id(run_id, kind, _safe_text(stable) or ""),
        "parent_run_id": run_id,
        "agent_name": agent[:_LONGEST_ID],
        "job_type": kind,
        "start_time": begun,
        "status": status,
        "context_json": {
            **_bounded(context),
            **_span(run_id, span or span_id(run_id, kind, stable), parent_span or span_id(run_id)),
        },
    }
    if ended is not None:
        record["end_time"] = ended
    return record


def tool_call(
    *,
    tool: str,
    run_id: str | None,
    call_id: str,
    request_id: str | None,
    arguments: Mapping[str, Any],
    begun: datetime,
    ended: datetime,
    error: Mapping[str, Any] | None = None,
    result: Any = None,
    client_id: str | None = None,
) -> dict[str, Any]:
    """The record of one call of a tool, whether or not it was about a run."""
    owner = run_id if isinstance(run_id, str) and 0 < len(run_id) <= _LONGEST_ID else None
    duration = max(0, round((ended - begun).total_seconds() * 1000))
    context = {
        "tool": tool,
        "arguments": dict(arguments),
        "result": None if result is None else summary_of(result),
        "duration_ms": duration,
        "request_id": request_id,
        "client_id": client_id,
    }
    record = child(
        owner or "no_run",
        "mcp_tool_call",
        call_id,
        agent="launch.mcp",
        begun=stamp(begun.astimezone(UTC)),
        ended=stamp(ended.astimezone(UTC)),
        status="success" if error is None else "failure",
        context=context,
    )
    if owner is None:  # a trace of its own: nothing ties it to any run
        record["parent_run_id"] = None
        record["context_json"] |= {"trace_id": trace_id(call_id), "parent_span_id": None}
    if error is not None:
        record["error_summary"] = summary_of(error)
    return record | {"item_name": tool[:_LONGEST_ID], "duration_ms": duration}


def summary_of(value: Any) -> str:
    """A value in at most two thousand characters, with no secret and no absolute path."""
    if isinstance(value, Mapping) and {"code", "message"} <= set(value):
        value = f"{value['code']}: {value['message']}"
    if isinstance(value, list | tuple) and all(isinstance(one, str) for one in value):
        value = ", ".join(value)
    return _cut(_redactor().text(_clean(value if isinstance(value, str) else str(_redactor().value(value)))))


def _times(event: Mapping[str, Any]) -> tuple[str, int]:
    """When something began that ended with this event, and how long it took; 0 where the event does not say."""
    told = event["payload"]
    given = told.get("duration_ms", told.get("latency_ms", 0))
    milliseconds = max(0, round(given)) if isinstance(given, int | float) else 0
    begun = datetime.fromisoformat(event["ts"]) - timedelta(milliseconds=milliseconds)
    return stamp(begun), milliseconds


def _change(run_id: str, changes: dict[str, Any]) -> Call:
    return Call("PATCH", f"{RUNS}/{launch_event_id(run_id)}", changes)


def _span(run_id: str, span: str, parent: str | None) -> dict[str, Any]:
    return {"trace_id": trace_id(run_id), "span_id": span, "parent_span_id": parent}


def _told(event: Mapping[str, Any]) -> dict[str, Any]:
    """The event as it may leave; its hash is that of the event in the store, which keeps it whole."""
    return {**event, "payload": _bounded(event["payload"])}


def _bounded(payload: Mapping[str, Any]) -> dict[str, Any]:
    safe: dict[str, Any] = _cleaned(_redactor().value(dict(payload)))
    size = len(str(safe))
    return safe if size <= _LONGEST_PAYLOAD else {"left_out": "too large", "size": size}


def _safe_text(text: Any) -> str | None:
    return _cut(_redactor().text(_clean(text))) if isinstance(text, str) else None


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST_TEXT else text[: _LONGEST_TEXT - 1] + "…"


def _cleaned(value: Any) -> Any:
    if isinstance(value, str):
        return _clean(value)
    if isinstance(value, dict):
        return {_clean(key): _cleaned(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_cleaned(item) for item in value]
    return value if value is None or isinstance(value, bool | int | float) else str(value)


def _clean(text: str) -> str:
    """Halves of characters cannot be sent."""
    return text.encode("utf-8", "replace").decode()


@cache
def _redactor() -> Redactor:
    # Where this process runs is nobody's business, and must not change what is told.
    return Redactor(cwd="", home="")
