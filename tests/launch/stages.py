"""A workspace whose nine workers are the stand-ins: runs that take a moment, and go wrong as a test orders it."""

import json
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.launch import stand_in_workers
from tests.launch.stage_clients import quicken
from tests.launch.stores import HASH, NOW, to_state

from holdfast.errors import ToolError
from holdfast.launch.documents import encode
from holdfast.launch.engine.local import LocalEngine
from holdfast.launch.store.export import replay
from holdfast.launch.store.objects import ObjectStore
from holdfast.launch.store.records import Event, Run, WorkItem
from holdfast.launch.store.run_store import RunStore
from holdfast.launch.workspace import Workspace

__all__ = ["BOUND", "Stage", "is_alive", "outcome_of", "until"]

BOUND = 40.0
_HERE = Path(__file__).resolve().parents[2]
_PAUSE = threading.Event()  # that never comes


def until(reached: Callable[[], Any], what: str = "it") -> Any:
    """Wait for a condition; what it gave."""
    end = time.monotonic() + BOUND
    while not (found := reached()):
        assert time.monotonic() < end, f"{what} did not happen"
        _PAUSE.wait(0.01)
    return found


def is_alive(pid: int) -> bool:
    """Whether there is such a process, which has not ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


class Stage:
    """One workspace, its orders, and the engines of this process and of others."""

    def __init__(self, folder: Path, store_url: str, patch: pytest.MonkeyPatch) -> None:
        self.orders = folder / "orders"
        self.orders.mkdir()
        self.workspace = Workspace(folder / "workspace", store_url)
        self.store = RunStore(store_url)
        self.objects = ObjectStore(self.workspace.objects)
        self._engines: list[LocalEngine] = []
        self._clients: list[subprocess.Popen[str]] = []
        patch.setenv(stand_in_workers.ORDERS, str(self.orders))
        quicken(patch.setattr)
        self.engine = self.another_engine()

    def another_engine(self) -> LocalEngine:
        """One more engine in this process."""
        self._engines.append(LocalEngine(self.workspace, self.store, self.objects))
        return self._engines[-1]

    def close(self) -> None:
        """End whatever is left."""
        for client in self._clients:
            if client.poll() is None:
                client.send_signal(signal.SIGKILL)
            client.communicate()
        for engine in self._engines:
            engine.close()
        self.store.close()

    # --- doing -----------------------------------------------------------------------------------------------

    def run(self, name: str = "r_on_stage", *, state: str = "CREATED", **changes: Any) -> str:
        """A new run with one section, whose work is done until `state`; its id."""
        config = {
            "product_slug": "x", "required_sections": ["docs"], "github_ref": "a" * 40, "site_ref": "b" * 40,
            "site_layout": {"subdomain_roots": {"docs": "content/docs"}}, "max_fix_attempts": 3,
            "budgets": {"max_runtime_s": 60, "max_patch_attempts": 50}, **changes,
        }  # fmt: skip
        self.store.create_run(name, config, HASH, now=NOW)
        if state != "CREATED":
            to_state(self.store, state, name)
        if state == "LINKING":
            self._keep_bundle(name)
        return name

    def _keep_bundle(self, run_id: str) -> None:
        content = encode("patch_bundle", {"schema_version": "1.0", "base_ref": "b" * 40, "patches": []})
        with self.store.change(run_id) as change:
            change.artifact("patch_bundle.json", self.objects.put(content), "patch_bundle", "test", len(content))

    def order(self, worker: str, *words: str) -> None:
        """What the worker does at its first, second, ... attempt."""
        (self.orders / worker).write_text(" ".join(words))

    def let_go(self) -> None:
        """Those who wait go on."""
        (self.orders / "go").touch()

    def waits(self, worker: str, scope: str = "run") -> int:
        """Wait until the worker waits; its process."""
        path = self.orders / f"{worker}-{scope}.here"
        until(lambda: path.exists() and path.read_text(), f"{worker} at its work")
        pid = int(path.read_text())
        path.unlink()
        return pid

    def refused(self, kind: str, run_id: str, **more: Any) -> ToolError:
        """The failure of what has to fail."""
        with pytest.raises(ToolError) as refused:
            self.engine.perform(kind, run_id, **more)
        return refused.value

    def client(self, kind: str, *run_ids: str) -> "subprocess.Popen[str]":
        """Another process that asks for something and prints what it was told."""
        code = "from tests.launch.stage_clients import ask; ask()"
        arguments = [str(self.workspace.root), self.workspace.store_url, kind, *run_ids]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        client: subprocess.Popen[str] = subprocess.Popen(
            [sys.executable, "-c", code, *arguments], cwd=_HERE, text=True, **pipes
        )  # type: ignore[call-overload]
        self._clients.append(client)
        return client

    # --- looking ---------------------------------------------------------------------------------------------

    def state(self, run_id: str) -> str:
        """Where the run is."""
        return self.at(run_id).state

    def at(self, run_id: str) -> Run:
        """The run."""
        run = self.store.run(run_id)
        assert run is not None
        return run

    def items(self, run_id: str, worker: str) -> list[WorkItem]:
        """What was worked by this worker."""
        return [item for item in self.store.items(run_id) if item.worker == worker]

    def told(self, run_id: str, type_: str) -> list[Event]:
        """The events of a type."""
        return [event for event in self.store.events(run_id) if event.type == type_]

    def digests(self, run_id: str) -> dict[str, str]:
        """The artifacts of the run."""
        return {name: one.sha256 for name, one in self.store.artifacts(run_id).items()}

    def check(self, run_id: str) -> None:
        """What is true of every run: its events are whole, and no work was done by two at once."""
        assert replay(self.store, run_id).ok
        for digest in self.digests(run_id).values():
            self.objects.read(digest)
        at_work: Counter[tuple[str, str]] = Counter()
        for event in self.store.events(run_id):
            key = (str(event.payload.get("worker")), str(event.payload.get("scope_key")))
            at_work[key] += {"WORK_ITEM_STARTED": 1, "WORK_ITEM_FINISHED": -1, "WORK_ITEM_FAILED": -1}.get(
                event.type, 0
            )
            assert at_work[key] in (0, 1), event


def outcome_of(client: "subprocess.Popen[str]") -> Any:
    """What another process was told."""
    told, _ = client.communicate(timeout=BOUND)
    return json.loads(told.splitlines()[-1])
