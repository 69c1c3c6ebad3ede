"""A pool of machines: processes with directories and names of their own, on one PostgreSQL database."""

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
from tests.launch import lonely_worker, stand_in_workers
from tests.launch.postgres import fresh_schema
from tests.launch.stages import until
from tests.launch.stores import HASH, NOW, to_state

from holdfast.launch.documents import encode
from holdfast.launch.service import RunService
from holdfast.launch.workspace import Workspace

__all__ = ["Machine", "Pool", "new_pool"]

_HERE = Path(__file__).resolve().parents[2]
_LEASE = 120  # a busy machine must not lose its runs; whoever is dead is declared so


@dataclass
class Machine:
    """One process that works in the pool."""

    name: str
    process: "subprocess.Popen[bytes]"
    output: Path

    def said(self, kind: str) -> list[str]:
        """What it has told of this kind."""
        lines = [json.loads(line) for line in self.output.read_text().splitlines() if line.startswith("{")]
        return [line["text"] for line in lines if line["kind"] == kind]

    def kill(self) -> None:
        """End it as a power failure would."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(20)


class Pool:
    """The database, the machines, and whoever asks."""

    def __init__(self, folder: Path, url: str, *, lease: int = _LEASE, stand_ins: bool = True) -> None:
        self.folder, self.url, self.lease = folder, url, lease
        self.orders, self.locks = folder / "orders", folder / "locks"
        self.orders.mkdir()
        self.locks.mkdir()
        self.machines: list[Machine] = []
        self._stand_ins = stand_ins

    def environment(self, name: str) -> dict[str, str]:
        """What a process of this name is told."""
        orders = {stand_in_workers.ORDERS: str(self.orders)} if self._stand_ins else {}
        return {
            **os.environ, **orders,
            lonely_worker.ALONE: str(self.locks),
            "HOLDFAST_STATE_DIR": str(self.folder / name),
            "HOLDFAST_LAUNCH_STORE": self.url,
            "HOLDFAST_LAUNCH_ENGINE": "dbos",
            "HOLDFAST_LAUNCH_LEASE": str(self.lease),
        }  # fmt: skip

    def machine(self, name: str, *options: str) -> Machine:
        """One more machine."""
        output = self.folder / f"{name}.{len(self.machines)}.out"
        code = "from tests.launch.pools import work; work()"
        with output.open("ab") as stdout:
            process = subprocess.Popen(
                [sys.executable, "-c", code, "launch", "work", "--json", "--executor", name, *options],
                cwd=_HERE, env=self.environment(name), stdin=subprocess.DEVNULL, stdout=stdout, stderr=stdout,
            )  # fmt: skip
        self.machines.append(Machine(name, process, output))
        return self.machines[-1]

    def command(self, *words: str, name: str = "client") -> "subprocess.Popen[str]":
        """What a person types on a machine that executes nothing."""
        return subprocess.Popen(
            [sys.executable, "-m", "holdfast", "launch", *words],
            env=self.environment(name), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True,
        )  # fmt: skip

    def service(self, name: str = "client") -> RunService:
        """The service on a machine that executes nothing."""
        return RunService(Workspace(self.folder / name / "launch", self.url, is_pool=True))

    def order(self, worker: str, *words: str) -> None:
        """What the stand-in of a worker does at its first, second, ... attempt."""
        (self.orders / worker).write_text(" ".join(words))

    def waits(self, worker: str) -> int:
        """Wait until the stand-in of a worker waits; its process."""
        path = self.orders / f"{worker}-run.here"
        until(lambda: path.exists() and path.read_text(), f"{worker} at its work: {self.said()}")
        pid = int(path.read_text())
        path.unlink()
        return pid

    def ready(self, service: RunService, run_id: str, **changes: Any) -> str:
        """A run with one section that is about to be validated; its id."""
        config = {
            "product_slug": "x", "required_sections": ["docs"], "github_ref": "a" * 40, "site_ref": "b" * 40,
            "site_layout": {"subdomain_roots": {"docs": "content/docs"}}, "max_fix_attempts": 3,
            "budgets": {"max_runtime_s": 60, "max_patch_attempts": 50}, **changes,
        }  # fmt: skip
        service.store.create_run(run_id, config, HASH, now=NOW)
        to_state(service.store, "LINKING", run_id)
        content = encode("patch_bundle", {"schema_version": "1.0", "base_ref": "b" * 40, "patches": []})
        digest = service.objects.put(content)
        with service.store.change(run_id) as change:
            change.artifact("patch_bundle.json", digest, "patch_bundle", "test", len(content))
        return run_id

    def hold(self) -> None:
        """Those who are ordered to wait do so again, and are told from those who waited before."""
        for path in (self.orders / "go", *self.orders.glob("*.here")):
            path.unlink(missing_ok=True)

    def declare_dead(self, machine: Machine) -> None:
        """Its lease is over now, and not only when it would be."""
        with psycopg.connect(_plain(self.url), autocommit=True) as connection:
            told = "UPDATE launch_members SET lease_seconds = 0 WHERE name = %s"
            assert connection.execute(told, (machine.name,)).rowcount == 1

    def let_go(self) -> None:
        """Those who wait go on."""
        (self.orders / "go").touch()

    def said(self) -> str:
        """Everything that machines have told, for whoever wonders."""
        return "\n".join(f"--- {one.name}\n{one.output.read_text()[-2000:]}" for one in self.machines)

    def twice(self) -> list[str]:
        """What two machines did at the same time."""
        return lonely_worker.twice(self.locks)

    def drop_queue(self) -> None:
        """Lose all tables of the queue; machines that use them at this moment may be in the way, once or twice."""
        with psycopg.connect(_plain(self.url), autocommit=True) as connection:
            drop = f'DROP SCHEMA IF EXISTS "{self._queue_schema(connection)}" CASCADE'.encode()

            def is_dropped() -> bool:
                try:
                    connection.execute(drop)
                except psycopg.errors.DeadlockDetected:
                    return False
                return True

            until(is_dropped, "the end of the queue")

    def queue_rows(self, columns: str, table: str = "workflow_status") -> list[Any]:
        """What the queue has."""
        with psycopg.connect(_plain(self.url)) as connection:
            schema = self._queue_schema(connection)
            return connection.execute(f'SELECT {columns} FROM "{schema}".{table}'.encode()).fetchall()

    def queue_bounds(self) -> list[Any]:
        """How many the queue lets all machines carry out at the same time."""
        return self.queue_rows("concurrency", "queues")

    @staticmethod
    def _queue_schema(connection: "psycopg.Connection[Any]") -> str:
        row = connection.execute("SELECT current_schema()").fetchone()
        assert row is not None
        return f"{row[0]}_dbos"

    def end(self) -> None:
        """End whatever is left."""
        for machine in self.machines:
            if machine.process.poll() is None:
                machine.kill()
        self.drop_queue()


@contextlib.contextmanager
def new_pool(folder: Path, server: str, *, lease: int = _LEASE, stand_ins: bool = True) -> Iterator[Pool]:
    """An empty pool; nothing is left of it afterwards."""
    with fresh_schema(server) as url:
        pool = Pool(folder, url, lease=lease, stand_ins=stand_ins)
        try:
            yield pool
        finally:
            pool.end()


def _plain(url: str) -> str:
    return url.replace("postgresql+psycopg://", "postgresql://")


def work() -> None:
    """`holdfast launch work` of a machine whose workers know when they are not alone."""
    from holdfast.cli.app import main
    from holdfast.launch.engine import labour

    vars(labour)["_COMMAND"] = (sys.executable, "-m", "tests.launch.lonely_worker")
    sys.exit(main())
