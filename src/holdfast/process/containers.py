"""Containers that a command starts: labelled, so that they can be found and removed when the command is gone.

Killing `docker run` leaves its container alone, since the container is a child of the engine's service. Known are
`docker` and `podman`, given directly as the command; behind a shell or `sudo` they are not recognized. Tested with
a program that plays the engine; no real engine has been part of any test.
"""

import time
from collections.abc import Sequence
from pathlib import PurePath
from typing import NamedTuple

from holdfast.errors import ProcessError

__all__ = ["LABEL", "WORKER_LABEL", "Removal", "container_engine", "labelled", "remove_labelled"]

LABEL = "io.holdfast.custody"  # of everything that one host starts
WORKER_LABEL = "io.holdfast.worker"  # of what one of its commands starts

_ENGINES = frozenset({"docker", "podman", "podman-remote"})
# Global options whose value is the next word; all others are switches or hold their value behind `=`.
_WITH_VALUE = frozenset(
    {
        "-H", "-c", "-l", "--config", "--context", "--host", "--log-level", "--tlscacert", "--tlscert", "--tlskey",
        "--cdi-spec-dir", "--cgroup-manager", "--conmon", "--connection", "--default-mounts-file",
        "--events-backend", "--hooks-dir", "--identity", "--imagestore", "--module", "--network-cmd-path",
        "--network-config-dir", "--out", "--registries-conf", "--root", "--runroot", "--runtime", "--runtime-flag",
        "--ssh", "--storage-driver", "--storage-opt", "--tmpdir", "--url", "--volumepath",
    }
)  # fmt: skip
_AT_ONCE = 100  # ids in one command


class Removal(NamedTuple):
    """Which containers were removed, and what went wrong meanwhile, if anything."""

    containers: list[str]
    problem: str = ""


def container_engine(argv: Sequence[str]) -> tuple[str, ...] | None:
    """The engine of a command that starts a container, with its global options; None for any other command."""
    at = _position_of_run(argv)
    if at is None:
        return None
    return tuple(argv[: at - 1] if argv[at - 1] == "container" else argv[:at])


def labelled(argv: Sequence[str], label: str, worker: str = "") -> tuple[str, ...]:
    """The command with our labels for the container that it starts; any other command as it is."""
    at = _position_of_run(argv)
    if at is None:
        return tuple(argv)
    own = ("--label", f"{WORKER_LABEL}={worker}") if worker else ()
    return (*argv[: at + 1], "--label", f"{LABEL}={label}", *own, *argv[at + 1 :])


async def remove_labelled(engine: Sequence[str], label: str, timeout: float, *, key: str = LABEL) -> Removal:
    """Remove every container with this label, running or not, within `timeout` seconds. Raises nothing."""
    deadline = time.monotonic() + timeout
    removed: list[str] = []
    try:
        listed = await _ask([*engine, "ps", "-aq", "--filter", f"label={key}={label}"], deadline)
        ids = [word for word in listed.split() if word.isalnum()]
        for first in range(0, len(ids), _AT_ONCE):
            batch = ids[first : first + _AT_ONCE]
            await _ask([*engine, "rm", "-f", *batch], deadline)
            removed += batch
    except ProcessError as error:
        return Removal(removed, error.message)
    return Removal(removed)


async def _ask(command: list[str], deadline: float) -> str:
    from holdfast.process.runner import run

    left = deadline - time.monotonic()
    if left <= 0:
        raise ProcessError(f"{command[0]!r} took too long")
    completed = await run(command, timeout=left, grace=min(1.0, left), check=True)
    return completed.stdout


def _position_of_run(argv: Sequence[str]) -> int | None:
    if not argv or PurePath(argv[0]).name.removesuffix(".exe") not in _ENGINES:
        return None
    at = 1
    while at < len(argv) and argv[at].startswith("-"):
        at += 2 if argv[at] in _WITH_VALUE else 1
    if at < len(argv) and argv[at] == "container":
        at += 1
    return at if at < len(argv) and argv[at] == "run" else None
