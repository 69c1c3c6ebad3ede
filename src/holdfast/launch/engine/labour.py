"""One piece of work of a run, from its order to its artifacts: in a process of its own, recorded in the store.

Nothing that the process makes counts before the transaction that records it: artifacts, events and the end of the
item become true together, or not at all.
"""

import asyncio
import json
import logging
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from holdfast.errors import HoldfastError, ToolError, UsageError
from holdfast.git.asking import Git
from holdfast.interpreter import module_command
from holdfast.launch.documents import sha256
from holdfast.launch.engine.allowance import exceeded, late
from holdfast.launch.engine.refusals import artifact_lost
from holdfast.launch.engine.tree_mark import TreeMark
from holdfast.launch.identifiers import span_id, trace_id
from holdfast.launch.pipeline import WHOLE
from holdfast.launch.store.refusals import LeaseLost, ObjectLost
from holdfast.launch.workers import WORKERS, inputs_of
from holdfast.launch.working import CANNOT_TELL, DONE
from holdfast.launch.workspace import Workspace
from holdfast.launch.writing.model.calls_told import model_is_asked, told_calls
from holdfast.process import run as run_process
from holdfast.process.custody import finished

if TYPE_CHECKING:
    from holdfast.launch.store.objects import ObjectStore
    from holdfast.launch.store.run_store import RunStore
    from holdfast.process import Completed

__all__ = ["SCRATCH", "HandedOverError", "Labour", "Parts", "RunLostError", "WorkFailedError"]

T = TypeVar("T")

SCRATCH = "scratch"
_COMMAND = module_command("holdfast.launch.working")
_GRACE = 1.0
_LOOK = 0.2  # seconds between two looks whether the run is still ours
_ATTEMPTS = 3
_PAUSE = 0.5  # seconds before the second attempt of work that may succeed when it is tried again
_LONGEST_EVENT = 8000
_SECRET = re.compile(r"(?i)token|secret|passw|credential|(?:^|_)(?:key|auth|pat|pwd|dsn)(?:_|$)|_URL$|_STORE$")
_CLONES, _BRINGS = "repo_scout", "tree_keeper"  # the workers that make the work trees

_log = logging.getLogger(__name__)


class HandedOverError(HoldfastError):
    """This process leaves between two steps; whoever waits for the run asks again, and another one goes on."""


class RunLostError(HoldfastError):
    """The run was cancelled, or taken over, while it was worked on."""


class WorkFailedError(HoldfastError):
    """A piece of work ended without what it should have made."""

    def __init__(self, failure: Mapping[str, Any], *, worker: str, scope: str, died: bool = False) -> None:
        super().__init__(failure["message"])
        self.code: str = failure["code"]
        self.message: str = failure["message"]
        self.details: dict[str, Any] = {**failure.get("details", {}), "worker": worker, "scope": scope}
        self.retryable = bool(failure.get("retryable"))
        self.worker = worker
        self.scope = scope
        self.died = died


@dataclass(frozen=True, slots=True)
class Parts:
    """What every execution in this process shares."""

    workspace: Workspace
    store: "RunStore"
    objects: "ObjectStore"
    slots: asyncio.Semaphore
    owner: str
    is_leaving: Callable[[], bool]
    is_pool: bool = False  # then other machines may have worked on a run before


class Labour:
    """Carries out the work of one run, as long as `token` is the token of whoever holds it."""

    def __init__(self, parts: Parts, run_id: str, token: int) -> None:
        self._parts = parts
        self._run_id = run_id
        self._token = token
        self._trees = asyncio.Lock()

    async def carry_out(self, worker: str, scope: str, about: Mapping[str, Any] | None = None) -> None:
        """Do it, again where that can help; WorkFailedError where it cannot."""
        if self._parts.is_pool and worker not in (_CLONES, _BRINGS):
            async with self._trees:  # the first of several pieces of work brings them for all
                await self._bring_trees()
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                async with self._parts.slots:
                    await self._attempt(worker, scope, about or {})
            except WorkFailedError as failure:
                is_told_when = "retry_after_s" in failure.details  # whoever says when is not asked before
                if attempt == _ATTEMPTS or is_told_when or not (failure.retryable or failure.died):
                    raise
                await asyncio.sleep(_PAUSE * attempt)
            else:
                return

    async def _bring_trees(self) -> None:
        """Make the work trees of this machine those of the run, where it was worked on elsewhere meanwhile."""
        mark = TreeMark(self._parts.workspace.run(self._run_id))
        if mark.read() != self._bundle():
            mark.clear()
            await self.carry_out(_BRINGS, WHOLE)

    def _bundle(self) -> str:
        """What the work tree of the site is made of, beyond the commit."""
        bundle = self._parts.store.artifacts(self._run_id).get("patch_bundle.json")
        return "" if bundle is None else bundle.sha256

    async def _attempt(self, worker: str, scope: str, about: Mapping[str, Any]) -> None:
        root = self._parts.workspace.run(self._run_id)
        root.mkdir(parents=True, exist_ok=True)
        out = Path(tempfile.mkdtemp(prefix=f"{worker}-", dir=_scratch(root)))
        try:
            item, order = await _undivided(self._begin, worker, scope, about)
            seconds = min(WORKERS[worker].seconds, float(order["config"]["budgets"]["max_runtime_s"]))
            completed = await self._run(item, {**order, "out": str(out)}, seconds)
            _keep_complaints(root / "logs" / f"{worker}-{scope}-{order['attempt']}.stderr", completed)
            if completed.timed_out:
                failure = late(worker, seconds, order["config"]["budgets"])
                raise WorkFailedError(failure, worker=worker, scope=scope)
            outcome = _outcome(out, completed, worker, scope)
            await _undivided(self._record, item, worker, scope, out, outcome)
            if self._parts.is_pool:
                await _undivided(lambda: TreeMark(root).write(self._bundle()))
        except WorkFailedError as failure:
            await _undivided(self._fail, worker, scope, failure.code, failure.message, failure.details)
            raise
        except asyncio.CancelledError:
            self._fail(worker, scope, "CANCELLED", "the work was stopped", {})
            raise
        except Exception as error:
            cause = {"cause_class": type(error).__name__}
            self._fail(worker, scope, "INTERNAL", "the work could not be carried out", cause)
            raise
        finally:
            shutil.rmtree(out, ignore_errors=True)  # a leftover costs space and nothing else

    # --- the order -------------------------------------------------------------------------------------------

    def _begin(self, worker: str, scope: str, about: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
        store = self._parts.store
        artifacts = store.artifacts(self._run_id)
        names = inputs_of(worker, artifacts)
        items = store.items(self._run_id)
        before = [item for item in items if (item.worker, item.scope) == (worker, scope)]
        with store.change(self._run_id, token=self._token) as change:
            if failure := exceeded(worker, items, change.run.config["budgets"]):
                raise WorkFailedError(failure, worker=worker, scope=scope)
            if WORKERS[worker].signs_in:  # another machine, or other settings, may have started the run
                self._check_tokens(worker, scope, change.run.config)
            for item in before:
                if item.status in ("queued", "running"):  # whoever was at it is gone
                    change.fail_item(
                        item.work_item_id, "INTERRUPTED", "the process that did this work has ended", {}
                    )
            attempt = len(before) + 1
            inputs = {name: artifacts[name].sha256 for name in names}
            item_id = change.queue_item(worker, scope, attempt, inputs)
            change.start_item(item_id, self._parts.owner, self._token)
            run = change.run
        given = {
            name: {
                "path": str(self._here(name, artifacts[name].sha256)),
                "sha256": artifacts[name].sha256,
                "schema_id": artifacts[name].schema_id,
            }
            for name in names
        }
        order = {
            "run_id": self._run_id, "worker": worker, "scope": scope, "attempt": attempt, "config": run.config,
            "root": str(self._parts.workspace.run(self._run_id)), "given": given,
            "about": {
                **_commit_date(self._parts.workspace.run(self._run_id) / "work" / "repo"),
                "started_at": run.started_at,
                "service_root": str(self._parts.workspace.services),
                "trace_id": trace_id(self._run_id),
                "links": self._parts.workspace.links,
                "site_is_trusted": self._parts.workspace.trusts(run.config.get("site_repo_url", "")),
                **self._asked_before(worker, run.config),
                **about,
            },
        }  # fmt: skip
        return item_id, order

    def _check_tokens(self, worker: str, scope: str, config: Mapping[str, Any]) -> None:
        try:
            self._parts.workspace.grants.check(config)
        except ToolError as error:
            failure = {"code": error.code, "message": error.message, "details": error.details, "retryable": True}
            raise WorkFailedError(failure, worker=worker, scope=scope) from error

    def _asked_before(self, worker: str, config: Mapping[str, Any]) -> dict[str, Any]:
        """The calls of the model that count already, for the worker that may make more of them."""
        if worker != "section_writer" or not model_is_asked(config):
            return {}
        return {"model_calls": told_calls(self._parts.store.events(self._run_id))}

    def _here(self, name: str, digest: str) -> Path:
        try:
            return self._parts.objects.here(digest)
        except ObjectLost as lost:
            raise artifact_lost(self._run_id, name, lost) from lost

    # --- the process -----------------------------------------------------------------------------------------

    async def _run(self, item: str, order: Mapping[str, Any], seconds: float) -> "Completed":
        def listen(stream: str, line: str) -> None:
            if stream == "stdout":
                self._hear(item, line)

        running = asyncio.ensure_future(
            run_process(
                _COMMAND,
                env=_environment(order["worker"]),
                stdin=json.dumps(order).encode(),
                timeout=seconds,
                grace=_GRACE,
                on_line=listen,
            )
        )
        try:
            while not (await asyncio.wait({running}, timeout=_LOOK))[0]:
                self._check_is_ours()
            return running.result()
        finally:
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)

    def _check_is_ours(self) -> None:
        """A run that was cancelled, or taken by somebody else, is not worked on."""
        run = self._parts.store.run(self._run_id)
        if run is None or run.token != self._token or run.finished_at is not None:
            raise RunLostError("the run is over, or somebody else's")

    def _hear(self, item: str, line: str) -> None:
        said = _said(line)
        if said is None:
            return  # a library that prints
        told = {**said["payload"], "work_item_id": item}
        spans = {"span_id": span_id(item, line), "parent_span_id": span_id(item)}
        try:
            with self._parts.store.change(self._run_id, token=self._token) as change:
                change.event(said["event"], told, **spans)
        except UsageError as refused:  # what a worker cannot know, or cannot be told in JSON, did not happen
            _log.warning("an event of %s was refused: %s", item, refused)

    # --- the outcome -----------------------------------------------------------------------------------------

    def _record(self, item: str, worker: str, scope: str, out: Path, outcome: Mapping[str, Any]) -> None:
        made = outcome["made"]
        for one in made:
            path = out / one["file"]
            if not path.is_file() or sha256(path.read_bytes()) != one["sha256"]:
                failure = {"code": "INTERNAL", "message": f"{one['name']} is not what the worker made"}
                raise WorkFailedError(failure, worker=worker, scope=scope)
            self._parts.objects.put(path)
        try:
            with self._parts.store.change(self._run_id, token=self._token) as change:
                for one in made:
                    size = (out / one["file"]).stat().st_size
                    change.artifact(one["name"], one["sha256"], one["schema_id"], worker, size)
                change.finish_item(item, {one["name"]: one["sha256"] for one in made})
        except UsageError as refused:  # a name that the store cannot keep
            failure = {"code": "INTERNAL", "message": "what the worker made cannot be kept"}
            raise WorkFailedError(failure, worker=worker, scope=scope) from refused

    def _fail(self, worker: str, scope: str, code: str, message: str, details: Mapping[str, Any]) -> None:
        """Whatever of this work was begun has failed; nothing where it came to its end before."""
        try:
            with self._parts.store.change(self._run_id, token=self._token) as change:
                for item in change.items():
                    if (item.worker, item.scope) == (worker, scope) and item.status in ("queued", "running"):
                        change.fail_item(item.work_item_id, code, message, details)
        except LeaseLost:
            return  # the run is somebody else's, or over; that was recorded by whoever did it


async def _undivided(do: Callable[..., T], *arguments: Any) -> T:
    """What a thread has begun to write comes to its end: a cancellation meanwhile is raised afterwards."""
    return await finished(asyncio.ensure_future(asyncio.to_thread(do, *arguments)))


def _environment(worker: str) -> dict[str, str]:
    """The environment of a worker: without secrets where it signs in nowhere, since foreign text is its work."""
    signs_in = WORKERS[worker].signs_in
    return {name: value for name, value in os.environ.items() if signs_in or not _SECRET.search(name)}


def _scratch(root: Path) -> Path:
    """Where workers put what they make, before it counts; whoever claims the run empties it."""
    path = root / SCRATCH
    path.mkdir(parents=True, exist_ok=True)
    return path


def _said(line: str) -> dict[str, Any] | None:
    """The event that a line of a worker tells; None for progress, and for whatever a library prints."""
    if len(line) > _LONGEST_EVENT:
        return None
    try:
        said = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(said, dict) or not isinstance(said.get("event"), str):
        return None
    return said if isinstance(said.get("payload"), dict) else None


def _commit_date(repository: Path) -> dict[str, str]:
    """When the product's commit was made: the only date that pages may have; nothing before there is a clone."""
    if not repository.is_dir():
        return {}
    return {"commit_date": Git(repository).whole("show", "-s", "--format=%cs", "HEAD").decode().strip()}


def _keep_complaints(path: Path, completed: "Completed") -> None:
    """What a worker said on stderr, for whoever looks after a failure; callers are never shown it."""
    if completed.stderr:
        path.parent.mkdir(exist_ok=True)
        path.write_text(completed.stderr, encoding="utf-8")


def _outcome(out: Path, completed: "Completed", worker: str, scope: str) -> Mapping[str, Any]:
    """What `done.json` tells, or why there is none."""
    try:
        outcome: Mapping[str, Any] = json.loads((out / DONE).read_bytes())
    except (FileNotFoundError, ValueError) as error:
        failure: dict[str, Any] = {
            "code": "INTERNAL",
            "message": f"the process of {worker} ended before its work did",
            "details": {"cause_class": "WorkerDied", "end": completed.outcome.describe()},
            "retryable": completed.returncode == CANNOT_TELL,
        }
        raise WorkFailedError(failure, worker=worker, scope=scope, died=True) from error
    if "failed" in outcome:
        raise WorkFailedError(outcome["failed"], worker=worker, scope=scope)
    return outcome
