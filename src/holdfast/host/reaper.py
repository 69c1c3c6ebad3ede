"""What a dead host left behind, found by its record and cleaned up by the next one: processes, containers, files.

A keeper ends the tree of a host that is killed, so as a rule there is nothing to find but the record. Processes
are recognized only by tokens in their environment, and a token that a living host carries is left alone: whoever
asks could be part of that tree itself. One reaper works on a record at a time; a record whose leftovers could not
be removed is kept for the next.
"""

import asyncio
import os
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from holdfast.host.output_store import forget_old_outputs
from holdfast.host.private_places import records_directory
from holdfast.host.records import HostRecord, list_hosts, remove_files
from holdfast.process.command import MARKER
from holdfast.process.containers import container_engine, remove_labelled
from holdfast.settings import Settings

__all__ = ["Reaped", "reap"]

_KILL_BOUND = 5.0
_CONTAINER_BOUND = 20.0
_MARGIN = 1.0  # seconds beyond its grace that the keeper of a dead host gets to end the tree by itself
_TICK = 0.1


@dataclass(frozen=True, slots=True)
class Reaped:
    """What was done about one dead host; `left` are processes that still live, `problem` what went wrong."""

    host: str
    name: str
    pid: int
    killed: tuple[int, ...] = ()
    left: tuple[int, ...] = ()
    containers: tuple[str, ...] = ()
    problem: str = ""


async def reap(settings: Settings, *, only: str | None = None) -> list[Reaped]:
    """Clean up after every dead host, or only the one with this id. Cheap when all hosts live."""
    reaped = []
    for record in list_hosts(settings):
        if not record.alive and only in {None, record.host}:
            with _taken(record.file) as taken:
                if taken:
                    reaped.append(await _reap_one(settings, record))
    if only is None:
        forget_old_outputs(records_directory(settings))
    return reaped


async def _reap_one(settings: Settings, record: HostRecord) -> Reaped:
    killed, left, containers = set[int](), set[int](), list[str]()
    problems: list[str] = []
    tokens = set(record.tokens)
    spared = tokens & _tokens_of_the_living(settings)
    if spared:
        problems.append("part of what it left is in use by a living host")
    given_up = threading.Event()
    try:
        for token in sorted(tokens - spared):
            patience = settings.kill_grace + _MARGIN
            found = await asyncio.to_thread(_end_carriers, token, patience, given_up)
            killed |= found[0]
            left |= found[1]
    finally:
        given_up.set()  # whoever cancels this need not wait for the thread's patience
    engine = container_engine(record.command)
    for label in sorted(tokens - spared) if engine else ():
        removal = await remove_labelled(engine or (), label, _CONTAINER_BOUND)
        containers += removal.containers
        problems += [removal.problem] if removal.problem else []
    if not left and not spared:
        # A container engine that is not there to be asked now may never be; the record does not wait for it.
        remove_files(record)
    return Reaped(
        record.host,
        record.name,
        record.pid,
        tuple(sorted(killed)),
        tuple(sorted(left)),
        tuple(containers),
        "; ".join(dict.fromkeys(problems)),
    )


def _end_carriers(token: str, patience: float, given_up: threading.Event) -> tuple[set[int], set[int]]:
    """Kill what carries the token unless its keeper does; who was killed, and who is left."""
    deadline = time.monotonic() + patience
    carriers = _carriers(token)
    while carriers and time.monotonic() < deadline:
        if given_up.wait(_TICK):
            return set(), carriers
        carriers = _carriers(token)
    if not carriers:
        return set(), set()
    from holdfast.process.sweep import sweep

    survivors = set(sweep(token, 0, bound=_KILL_BOUND))
    return carriers - survivors, survivors


def _carriers(token: str) -> set[int]:
    return {pid for pid in _processes() if token in _tokens_in(pid)}


def _tokens_of_the_living(settings: Settings) -> set[str]:
    """The tokens that this process, a living host, or an ancestor of one of them carries."""
    living = [record for record in list_hosts(settings) if record.alive]
    pending = [os.getpid(), *(record.pid for record in living)]
    seen, tokens = set[int](), {token for record in living for token in record.carried}
    while pending:
        pid = pending.pop()
        if pid > 1 and pid not in seen:
            seen.add(pid)
            tokens |= _tokens_in(pid)
            pending.append(_parent(pid))
    return tokens


def _processes() -> Iterable[int]:
    if sys.platform == "linux":
        return [int(name) for name in os.listdir("/proc") if name.isdigit()]
    import psutil

    return psutil.pids()


def _tokens_in(pid: int) -> set[str]:
    """The tokens in the environment of a process; none where it has ended or may not be looked at."""
    return {token for token in _marker(pid).split(":") if token}


def _marker(pid: int) -> str:
    if sys.platform == "linux":
        try:
            environment = Path(f"/proc/{pid}/environ").read_bytes()
        except OSError:
            return ""
        start = f"{MARKER}=".encode()
        found = [entry for entry in environment.split(b"\0") if entry.startswith(start)]
        return found[0][len(start) :].decode(errors="replace") if found else ""
    import psutil

    try:
        return str(psutil.Process(pid).environ().get(MARKER, ""))
    except psutil.Error:
        return ""


def _parent(pid: int) -> int:
    if sys.platform == "linux":
        try:
            data = Path(f"/proc/{pid}/stat").read_bytes()
        except OSError:
            return 0
        return int(data[data.rindex(b")") + 2 :].split()[1])
    import psutil

    try:
        return int(psutil.Process(pid).ppid())
    except psutil.Error:
        return 0


@contextmanager
def _taken(file: Path) -> Iterator[bool]:
    """Hold the record against other reapers; False when one has it, or is done with it.

    A lock rather than a new name: the kernel gives it back when the reaper itself is killed half-way.
    """
    if sys.platform == "win32":
        yield file.exists()  # job objects end trees there; only the file is left to delete
        return
    import fcntl

    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_NOFOLLOW)
    except FileNotFoundError:
        yield False
        return
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
            return
        yield file.exists()  # the one who had the lock may have removed the file meanwhile
    finally:
        os.close(descriptor)
