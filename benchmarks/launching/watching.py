"""Runs as a benchmark makes them: on repositories of its own, with what each worker and gate has taken."""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from tests.launch.products import run_config

from holdfast.launch import states
from holdfast.launch.service import RunService
from holdfast.launch.store.records import Event
from holdfast.launch.workspace import Workspace

__all__ = ["Repositories", "Timed", "config_for", "timed_run", "workspace_in"]

Repositories = tuple[Path, str, Path, str]
_HUGO_GATES = ("hugo_config", "hugo_build", "internal_links")
_PLENTY = 10**6


@dataclass(frozen=True)
class Timed:
    """One run: seconds in all, in each worker, in each gate; and what it was about."""

    seconds: float
    workers: Mapping[str, float]
    gates: Mapping[str, float]
    pages: int
    state: str

    @property
    def hugo(self) -> float:
        """What Hugo, and the gates that look at what it has built, have taken."""
        return sum(self.gates.get(name, 0.0) for name in _HUGO_GATES)

    @property
    def writing(self) -> float:
        """What is done for pages, without Hugo."""
        names = ("ia_planner", "section_writer", "linker_patcher", "validator")
        return sum(self.workers[name] for name in names) - self.hugo


def workspace_in(folder: Path) -> Workspace:
    """A workspace with a database in a file."""
    return Workspace(folder, f"sqlite:///{folder / 'runs.sqlite'}")


def config_for(repositories: Repositories, **changes: Any) -> dict[str, Any]:
    """A configuration whose budgets are no limit."""
    config = run_config(*repositories, **changes)
    most = dict.fromkeys(config["budgets"], _PLENTY)
    return config | {"budgets": most | {"max_llm_calls": 0, "max_llm_tokens": 0, "max_runtime_s": 3600}}


def timed_run(workspace: Workspace, config: Mapping[str, Any]) -> Timed:
    """One run from its start until it rests; RuntimeError where it fails."""
    with RunService(workspace) as service:
        begun = time.perf_counter()
        run, _ = service.start(config, drive=False)
        service.engine.perform("drive", run.run_id)
        seconds = time.perf_counter() - begun
        ended = service.run(run.run_id)
        if ended.state not in (states.READY_FOR_PR, states.VALIDATING):
            raise RuntimeError(f"the run ended in {ended.state}: {ended.failure}")
        events = service.store.events(run.run_id)
        drafts = [name for name in service.store.artifacts(run.run_id) if name.startswith("drafts/")]
        return Timed(seconds, _workers(events), _gates(events), len(drafts), ended.state)


def _workers(events: list[Event]) -> dict[str, float]:
    """From the start of a worker to its end; of those that work side by side, all together."""
    taken: dict[str, float] = {}
    begun: dict[str, datetime] = {}
    for event in events:
        item = event.payload.get("work_item_id")
        if event.type == "WORK_ITEM_STARTED":
            begun[str(item)] = datetime.fromisoformat(event.ts)
        elif event.type == "WORK_ITEM_FINISHED":
            worker = event.payload["worker"]
            seconds = (datetime.fromisoformat(event.ts) - begun[str(item)]).total_seconds()
            taken[worker] = taken.get(worker, 0.0) + seconds
    return taken


def _gates(events: list[Event]) -> dict[str, float]:
    finished = [event.payload for event in events if event.type == "GATE_RUN_FINISHED"]
    return {payload["gate"]: payload["duration_ms"] / 1000 for payload in finished}
