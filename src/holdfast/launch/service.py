"""The nine things that can be done with runs, for whoever asks: the MCP tools and the command line.

Reading goes straight to the store. What changes a run goes through the engine, which lets one process at a time
execute it; only a cancellation acts at once, whoever is at work.
"""

import base64
import secrets
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Self

from holdfast.errors import ToolError, UsageError
from holdfast.launch import states
from holdfast.launch.documents import sha256
from holdfast.launch.engine.engine import Engine, never
from holdfast.launch.engine.local import LocalEngine
from holdfast.launch.engine.pool import PoolEngine
from holdfast.launch.engine.refusals import artifact_lost, check_may_cancel
from holdfast.launch.identifiers import is_run_id, key_problem, run_id
from holdfast.launch.issues import ordered, title
from holdfast.launch.private_files import held_private
from holdfast.launch.run_config import checked, config_sha256
from holdfast.launch.store.export import EVENTS_FILE, replay, replay_file
from holdfast.launch.store.objects import ObjectStore
from holdfast.launch.store.opening import open_pool_store, open_store
from holdfast.launch.store.records import POOL, Run
from holdfast.launch.store.refusals import IllegalTransition, KeyConflict, ObjectLost
from holdfast.launch.store.shared_objects import SharedObjects
from holdfast.launch.telemetry.records import calls_for
from holdfast.launch.telemetry.sending import EmbeddedTelemetry, NoTelemetry, make_delivery
from holdfast.launch.workspace import Workspace

if TYPE_CHECKING:
    from holdfast.launch.engine.pool_executor import PoolExecutor
    from holdfast.launch.engine.pool_member import Conditions
    from holdfast.launch.store.change import Change
    from holdfast.launch.store.pool_store import Member
    from holdfast.launch.store.run_store import RunStore

__all__ = ["RunService"]

_PAUSED = "RUN_PAUSED"
_GOING_ON = frozenset({"WORK_ITEM_STARTED", "RUN_STATE_CHANGED"})
_PATIENCE = 2.0  # seconds that telemetry has at the end of a command


class RunService:
    """Everything that can be done with the runs of one workspace."""

    def __init__(self, workspace: Workspace, *, workers: int = 4, engine: Engine | None = None) -> None:
        self._held = ExitStack()
        try:
            self._held.enter_context(held_private(workspace.root))
            self._open(workspace, workers, engine)
        except BaseException:
            self._held.close()
            raise

    def _open(self, workspace: Workspace, workers: int, engine: Engine | None) -> None:
        self.workspace = workspace
        self._pool = open_pool_store(workspace.store_url, owes=calls_for) if workspace.is_pool else None
        self.store: RunStore = self._pool or open_store(workspace.store_url, owes=calls_for)
        self.objects = ObjectStore(workspace.objects)
        if self._pool is not None:
            self.objects = SharedObjects(workspace.objects, self._pool)
        self._check_owner()
        telemetry = NoTelemetry if workspace.is_pool else EmbeddedTelemetry
        self._telemetry = telemetry(workspace.services / "telemetry.sqlite")
        self._delivery = make_delivery(self.store, self._telemetry, workspace.grants)
        self._owes = False
        self.engine: Engine = engine or self._engine(workers)

    def _check_owner(self) -> None:
        """The files of a run are where one store says: in one directory, or in the database of a pool."""
        if self.store.belongs_to(POOL if self.workspace.is_pool else self.workspace.number()):
            return
        is_of_pool = not self.workspace.is_pool and self.store.belongs_to(POOL)
        self.store.close()
        if is_of_pool:
            raise UsageError(
                "the run store belongs to a pool of machines",
                remedy="--launch-engine dbos, or HOLDFAST_LAUNCH_ENGINE=dbos",
            )
        raise UsageError(
            "the run store belongs to another launch directory, which has the files of its runs",
            remedy="use another database for the pool (HOLDFAST_LAUNCH_STORE)"
            if self.workspace.is_pool
            else "use that one (--launch-dir), or another store (HOLDFAST_LAUNCH_STORE)",
        )

    def _engine(self, workers: int) -> Engine:
        if self._pool is not None:
            return PoolEngine(self._pool)
        return LocalEngine(self.workspace, self.store, self.objects, workers=workers)

    def members(self) -> "list[Member] | None":
        """The machines that work in the pool; None where there is no pool."""
        return None if self._pool is None else self._pool.members()

    def bound_pool(self, most: int) -> None:
        """From now on the whole pool executes at most so many runs at the same time; 0 for no bound."""
        assert self._pool is not None
        self._pool.set_bound(most)

    def pool_executor(self, conditions: "Conditions", tell: Callable[[str, str], None]) -> "PoolExecutor":
        """This machine as one that executes the runs of its pool; `tell` is told what it does."""
        from holdfast.launch.engine.pool_executor import PoolExecutor

        assert self._pool is not None
        self._deliver()
        return PoolExecutor(self.workspace, self._pool, self.objects, conditions, tell)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self.close(at_once=kind is not None)

    def close(self, *, at_once: bool = True) -> None:
        """Let go of everything; runs that are being executed stay as they are."""
        self.engine.close(at_once=at_once)
        if self._owes and not at_once:
            self.flush_telemetry(_PATIENCE)  # the rest is delivered by whoever comes next
        self._delivery.stop()
        self._telemetry.close()
        self.store.close()
        self._held.close()

    def owe(self, method: str, path: str, document: Mapping[str, Any], *, run_id: str | None = None) -> None:
        """Owe telemetry a call that no event of a run tells of."""
        self.store.owe(method, path, document, run_id=run_id or "")
        self._deliver()

    def flush_telemetry(self, timeout: float) -> bool:
        """Wait until what is owed to telemetry was tried; False where time ran out."""
        return self._delivery.flush(timeout)

    def _deliver(self) -> None:
        """From now on there is something to deliver."""
        self._owes = True
        self._delivery.start()

    # --- reading ---------------------------------------------------------------------------------------------

    def run(self, name: str) -> Run:
        """The run of this id; RUN_NOT_FOUND."""
        found = self.store.run(name) if is_run_id(name) else None
        if found is None:
            raise ToolError("RUN_NOT_FOUND", "there is no run with this id", details=_named(name))
        return found

    def status(self, name: str) -> dict[str, Any]:
        """Where a run is: state, sections, open issues, artifacts."""
        run = self.run(name)
        return {
            "run_id": run.run_id,
            "state": run.state,
            "executing": self.is_executing(run),
            "section_states": self.store.section_states(name),
            "open_issues": [
                {
                    "issue_id": issue["issue_id"],
                    "severity": issue["severity"],
                    "gate": issue["gate"],
                    "title": title(issue),
                }
                for issue in self.open_issues(name)
            ],
            "artifacts": [
                {"name": one.name, "sha256": one.sha256}
                for one in sorted(self.store.artifacts(name).values(), key=lambda one: one.name)
            ],
        }

    def is_executing(self, run: Run) -> bool:
        """Whether somebody works on a run at this moment."""
        return run.holder is not None and self.engine.is_at_work(run.holder)

    def pause(self, name: str) -> dict[str, Any] | None:
        """Why a run waits for somebody to go on with it; None where nothing kept it from going on."""
        told = [event for event in self.store.events(name) if event.type in _GOING_ON or event.type == _PAUSED]
        is_paused = bool(told) and told[-1].type == _PAUSED and not self.is_executing(self.run(name))
        return dict(told[-1].payload) if is_paused else None

    def open_issues(self, name: str) -> list[dict[str, Any]]:
        """What the gates found and nobody has mended, with all that is known of it, the worst first."""
        return ordered(issue for issue in self.store.issues(name) if issue["status"] != "RESOLVED")

    def artifact(self, name: str, artifact_name: str) -> dict[str, Any]:
        """One artifact of a run, from its index; text as it is, anything else in base64."""
        self.run(name)
        kept = self.store.artifacts(name).get(artifact_name)
        if kept is None:
            raise ToolError(
                "INVALID_INPUT",
                "the run has no artifact of this name",
                details={"run_id": name, "artifact_name": artifact_name[:200]},
                hint="launch_get_status lists the artifacts",
                retryable=False,
            )
        try:
            content = self.objects.read(kept.sha256)
        except ObjectLost as lost:
            raise artifact_lost(name, artifact_name, lost) from lost
        text, kind = _as_text(content, artifact_name)
        return {"name": artifact_name, "content_type": kind, "sha256": kept.sha256, "content": text}

    def runs(
        self, *, product_slug: str | None = None, state: str | None = None, limit: int = 1000
    ) -> list[dict[str, Any]]:
        """The runs, the newest first."""
        if state is not None and state not in states.STATES:
            raise ToolError(
                "INVALID_INPUT",
                "there is no such state",
                details={"violations": [{"instancePath": "/filter/state", "message": "not a state"}]},
                hint=f"one of {', '.join(states.STATES)}",
            )
        return [
            {
                "run_id": run.run_id,
                "product_slug": run.product_slug,
                "state": run.state,
                "started_at": run.started_at,
                "finished_at": run.finished_at,
            }
            for run in self.store.runs(product_slug=product_slug, state=state, limit=limit)
        ]

    def replay(self, name: str) -> tuple[int, list[str]]:
        """How many events a run has, and everything that is not as they say: tables, exports, artifacts."""
        self.run(name)
        report = replay(self.store, name)
        found = list(report.differences)
        for artifact in self.store.artifacts(name).values():
            try:
                self.objects.read(artifact.sha256)
            except ObjectLost as lost:
                found.append(f"{artifact.name}: {lost}")
        exported = self.workspace.run(name) / EVENTS_FILE
        if exported.is_file():
            found += [f"{EVENTS_FILE}: {difference}" for difference in replay_file(exported).differences]
        return report.events, found

    # --- changing --------------------------------------------------------------------------------------------

    def start(self, config: Any, key: str | None = None, *, drive: bool = True) -> tuple[Run, bool]:
        """Start a run, or find the one that the same key started before; whether it is a new one."""
        if key is not None and (problem := key_problem(key)):
            raise ToolError("INVALID_INPUT", problem)
        settled = checked(config)
        self.workspace.grants.check(settled)
        digest = config_sha256(settled)
        now = datetime.now(UTC)
        suffix = secrets.token_hex(4) if key is None else sha256(f"{key}\0{digest}".encode())
        try:
            run, is_new = self.store.create_run(run_id(now, suffix), settled, digest, now=now, idempotency_key=key)
        except KeyConflict as conflict:
            raise ToolError(
                "INVALID_INPUT",
                "this idempotency_key started a run with another configuration",
                details={
                    "existing_run_id": conflict.existing_run_id,
                    "existing_config_sha256": conflict.existing_config_sha256,
                    "given_config_sha256": conflict.given_config_sha256,
                },
                hint="use a new key for a new configuration",
                retryable=False,
            ) from conflict
        self._deliver()
        # Whoever started it may have died before it asked for this.
        is_untouched = run.state == states.CREATED and run.holder is None and not self.store.items(run.run_id)
        if drive and is_untouched and not self.store.requests(state="pending", run_id=run.run_id):
            self.engine.begin("drive", run.run_id)
        return run, is_new

    def validate(self, name: str, *, stop: Callable[[], bool] = never) -> dict[str, Any]:
        """Let the gates look at the run's work tree; their report."""
        return self._perform("validate", name, stop)

    def fix_next(self, name: str, *, stop: Callable[[], bool] = never) -> dict[str, Any]:
        """Mend the next issue, and validate again."""
        return self._perform("fix", name, stop)

    def resume(self, name: str, *, stop: Callable[[], bool] = never) -> dict[str, Any]:
        """Go on with an interrupted run until its next change of state; its status."""
        self._perform("resume", name, stop)
        return self.status(name)

    def open_pr(self, name: str, *, stop: Callable[[], bool] = never) -> dict[str, Any]:
        """Open the pull request of a run that is ready."""
        return self._perform("open_pr", name, stop)

    def cancel(self, name: str) -> str:
        """End a run for good, whoever executes it; its state."""
        run = self.run(name)
        check_may_cancel(run)
        if run.state == states.CANCELLED:
            return states.CANCELLED
        # Whoever works on it finds from here on that it is not theirs any more; nothing of theirs is kept.
        self.store.release(name, run.token)
        try:
            with self.store.change(name) as change:
                _cancel(change)
            self.store.release(name, change.run.token)  # somebody may have taken it in between
        except IllegalTransition:  # it came to its end this very moment
            check_may_cancel(self.run(name))
        return states.CANCELLED

    def _perform(self, kind: str, name: str, stop: Callable[[], bool]) -> dict[str, Any]:
        self.run(name)
        self._deliver()
        return self.engine.perform(kind, name, stop=stop)


def _cancel(change: "Change") -> None:
    """End the run and whatever was begun of it; IllegalTransition or ToolError where it has ended otherwise."""
    check_may_cancel(change.run)
    if change.run.state != states.CANCELLED:
        change.move(states.CANCELLED, reason="asked for")
    for item in change.items():
        if item.status in ("queued", "running"):
            change.fail_item(item.work_item_id, "CANCELLED", "the run was cancelled", {})


def _as_text(content: bytes, name: str) -> tuple[str, str]:
    kinds = {"json": "application/json", "md": "text/markdown", "ndjson": "application/x-ndjson"}
    kind = kinds.get(name.rpartition(".")[2], "text/plain")
    try:
        return content.decode("utf-8"), kind
    except UnicodeDecodeError:
        return base64.b64encode(content).decode("ascii"), "application/octet-stream;base64"


def _named(name: object) -> dict[str, Any]:
    return {"run_id": name} if is_run_id(name) else {"given": str(name)[:100]}
