"""A run while it happens, for the person who waits: states, sections and gates, a line for each."""

import sys
from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING, Any

from holdfast.present.counted import counted

if TYPE_CHECKING:
    from holdfast.launch.service import RunService

__all__ = ["Watcher", "describe_event"]

_WORKERS = {
    "repo_scout": "cloning and looking at both repositories",
    "facts_builder": "collecting facts and their evidence",
    "snippet_curator": "collecting examples",
    "ia_planner": "planning the pages",
    "section_writer": "writing",
    "linker_patcher": "putting the pages into the site",
    "validator": "validating",
    "fixer": "mending",
    "pr_manager": "opening the pull request",
    "tree_keeper": "bringing the work trees to this machine",
}


class Watcher:
    """Prints what is new in a run whenever it is asked whether to stop."""

    def __init__(
        self, service: "RunService", run_id: str, stop: Callable[[], bool], *, quiet: bool = False
    ) -> None:
        self._service = service
        self._run_id = run_id
        self._stop = stop
        self._quiet = quiet
        self._seen = 0
        self._start: datetime | None = None

    def skip(self) -> None:
        """Take everything so far as told."""
        events = self._service.store.events(self._run_id)
        self._seen = events[-1].seq if events else 0

    def __call__(self) -> bool:
        """Tell what is new; whether the person wants to stop."""
        self.tell()
        return self._stop()

    def tell(self) -> None:
        """Tell what is new."""
        for event in self._service.store.events(self._run_id, after=self._seen):
            self._seen = event.seq
            moment = datetime.fromisoformat(event.ts)
            self._start = self._start or moment
            text = describe_event(event.type, event.payload)
            if text and not self._quiet:
                seconds = (moment - self._start).total_seconds()
                print(f"{seconds:7.1f}s  {text}", file=sys.stderr, flush=True)


def describe_event(kind: str, payload: dict[str, Any]) -> str:
    """One event in words; nothing where it would only be noise."""
    if kind == "RUN_STATE_CHANGED":
        return str(payload["to"])
    if kind == "WORK_ITEM_STARTED":
        scope = payload.get("scope_key", payload.get("scope", ""))
        words = _WORKERS.get(payload["worker"], payload["worker"])
        return f"  {words}" + ("" if scope in ("", "run") else f" {scope}")
    if kind == "WORK_ITEM_FAILED":
        error = payload.get("error", payload)
        return f"  failed: {error.get('code', '')} {error.get('message', '')}".rstrip()
    if kind == "GATE_RUN_FINISHED":
        issues = payload.get("issues", 0)
        return f"    gate {payload['gate']:<16} {payload.get('status', '')}" + (
            f", {counted(issues, 'issue')}" if issues else ""
        )
    if kind == "LLM_CALL_FAILED" and payload["error_class"] != "interrupted":
        return f"    model: {payload['error_summary']}"
    if kind == "RUN_PAUSED":
        return f"  paused: {payload['code']} {payload['message']}"
    if kind == "PR_OPENED":
        return f"  pull request {payload['pr_url']}"
    return ""
