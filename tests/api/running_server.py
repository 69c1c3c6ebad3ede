"""The search server as people start it, with HTTP, on repositories of its own; nothing of it is played.

Each has a state directory and a mark of its own, so that a test finds its processes and its event log.
"""

import json
import os
import re
import signal
import subprocess
import sys
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from tests.api.client import BOUND, Client, until
from tests.search.sample import write_sample

from holdfast.search.library import build_index
from holdfast.search.repository import find_repository
from holdfast.testing.marked import MARK, command_line, marked_processes

__all__ = ["SOURCE", "Place", "RunningServer", "command", "port_of", "running_server", "started", "write_place"]

SOURCE = 'def leave_alone():\n    return open("/etc/passwd")  # /home/me/secret/file.py\n'


class Place(NamedTuple):
    """Where a server finds what it serves."""

    project: Path  # has an index
    bare: Path  # has none
    broken: Path  # has a configuration that cannot be read
    cache: Path


def write_place(root: Path) -> Place:
    """Three repositories, and a fourth in the same cache that nobody is to serve."""
    place = Place(root / "project", root / "bare", root / "broken", root / "cache")
    write_sample(place.project)
    (place.project / "src" / "paths.py").write_text(SOURCE)
    for other in (place.bare, place.broken, root / "confidential"):
        other.mkdir()
        (other / "one.py").write_text("def one(): ...\n")
    (place.broken / "holdfast.toml").write_text("[search")
    for indexed in (place.project, root / "confidential"):
        build_index(find_repository(indexed), place.cache)
    return place


def command(place: Place, *words: str) -> list[str]:
    """The command that serves the place."""
    repos = [word for root in (place.project, place.bare, place.broken) for word in ("--repo", str(root))]
    http = [] if "--http" in words else ["--http", "127.0.0.1:0"]
    serve = [sys.executable, "-m", "holdfast", "serve", "search"]
    return [*serve, *repos, *http, "--cache-dir", str(place.cache), *words]


def port_of(stderr: Path) -> int:
    """The port that a server says it listens on, once it says so."""
    said = re.compile(r"HTTP on http://\S+:(\d+) ")
    until(lambda: said.search(stderr.read_text()) is not None, "the server listens")
    found = said.search(stderr.read_text())
    assert found is not None
    return int(found[1])


class RunningServer(Client):
    """One server: its processes, what it counts and what it writes."""

    def __init__(self, place: Place, folder: Path, process: subprocess.Popen[bytes], mark: str) -> None:
        super().__init__(port_of(folder / "stderr"))
        self.place = place
        self.process = process
        self.mark = mark
        self._folder = folder

    @property
    def host(self) -> dict[str, Any]:
        """What the host says of itself."""
        told: dict[str, Any] = self.get("/health").json["result"]["host"]
        return told

    def count(self, name: str) -> int:
        """One of the host's counters."""
        counted: int = self.host["counters"][name]
        return counted

    def front_pid(self) -> int:
        """The process that speaks HTTP."""
        (pid,) = [pid for pid in marked_processes(self.mark) if "holdfast.search.http" in command_line(pid)]
        return pid

    def logged(self, event: str) -> list[dict[str, Any]]:
        """The events of one kind that host and worker have logged so far."""
        logs = (self._folder / "state").glob("*/events.jsonl")
        events = [json.loads(line) for log in logs for line in log.read_text().splitlines()]
        return [one for one in events if one["event"] == event]

    @contextmanager
    def busy(self) -> Iterator[int]:
        """Hold up the worker, which then is busy with whatever it is asked; its process id."""
        until(lambda: self.get("/search?q=budget").status == 200, "there is a worker, and the host has met it")
        pid: int = self.host["worker_pid"]
        os.kill(pid, signal.SIGSTOP)
        try:
            yield pid
        finally:
            if pid in marked_processes(self.mark):
                os.kill(pid, signal.SIGCONT)

    def wait_for_pending(self, count: int) -> None:
        """Wait until this many requests are with the worker."""
        until(lambda: self.host["pending"] == count, f"{count} requests are under way")


@contextmanager
def running_server(
    place: Place, folder: Path, *words: str, environment: Mapping[str, str] | None = None
) -> Iterator[RunningServer]:
    """Serve HTTP alone; at the end it is told to end, and must leave nothing behind."""
    with started(folder, command(place, *words), environment or {}) as (process, mark):
        yield RunningServer(place, folder, process, mark)


@contextmanager
def started(
    folder: Path, line: Sequence[str], environment: Mapping[str, str]
) -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    """A server and the mark of its processes; at the end it is told to end, and must leave nothing behind."""
    mark = uuid.uuid4().hex
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "stderr").open("wb") as stderr:
        process = subprocess.Popen(
            line,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=stderr,
            env={**own_environment(folder, mark), **environment},
        )
    try:
        yield process, mark
    finally:
        process.terminate()
        try:
            code = process.wait(BOUND)
        finally:
            process.kill()
    until(lambda: marked_processes(mark) == [], "every process of the server ends")
    said = (folder / "stderr").read_text(errors="replace")
    assert code == 128 + signal.SIGTERM, said
    assert "Traceback" not in said, said


def own_environment(folder: Path, mark: str) -> dict[str, str]:
    """An environment in which nothing on this machine has a say."""
    outer = {key: value for key, value in os.environ.items() if not key.startswith("HOLDFAST_")}
    own = {MARK: mark, "HOLDFAST_STATE_DIR": str(folder / "state"), "HOLDFAST_CONFIG": "none"}
    # Tests halt a worker to have it busy for as long as they like: here that is no reason to replace it.
    return {**outer, **own, "HOLDFAST_LIVENESS_INTERVAL": "0"}
