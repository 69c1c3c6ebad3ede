"""Installing what a repository depends on, with the package manager that its lock file names.

Only ever on request: a package manager does what the repository tells it. Scripts and builds of packages are
switched off wherever the manager can, and so are programs that a repository puts in the manager's own place. It
runs in custody: it ends with the call, and so does everything that it started.
"""

import asyncio
import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from holdfast.errors import ProcessError, ToolError
from holdfast.process import Completed, run
from holdfast.search.discover.sniff import read_start
from holdfast.search.repository import Repository

if TYPE_CHECKING:
    from holdfast.search.index_writer import Progress, Stop

__all__ = ["MANAGERS", "Manager", "install"]

_TAIL_BYTES = 16 * 1024
_POLL = 0.1  # seconds until `stop` is asked again
_BEGINNING = 1024  # bytes of a lock file
_GRACE = 1.0  # seconds that a manager has to clean up


@dataclass(frozen=True, slots=True)
class Manager:
    """A package manager: what its lock files are called, and how it installs exactly what they say."""

    family: str
    program: str
    lock_files: tuple[str, ...]
    arguments: tuple[str, ...]
    environment: tuple[tuple[str, str], ...] = ()
    lock_says: bytes = b""  # at its beginning, where two versions of a manager share the name of the file


MANAGERS = (
    Manager("node", "npm", ("npm-shrinkwrap.json", "package-lock.json"),
            ("ci", "--ignore-scripts", "--no-audit", "--no-fund")),
    Manager("node", "pnpm", ("pnpm-lock.yaml",),
            ("install", "--frozen-lockfile", "--ignore-scripts", "--ignore-pnpmfile"),
            (("CI", "true"),)),
    # A repository may name a program of its own to be run in the place of yarn: that is switched off.
    Manager("node", "yarn", ("yarn.lock",),
            ("install", "--frozen-lockfile", "--ignore-scripts", "--non-interactive"),
            (("YARN_IGNORE_PATH", "1"),), lock_says=b"yarn lockfile v1"),
    Manager("node", "yarn", ("yarn.lock",), ("install", "--immutable", "--mode=skip-build"),
            (("YARN_IGNORE_PATH", "1"), ("YARN_ENABLE_SCRIPTS", "false")), lock_says=b"__metadata:"),
    Manager("node", "bun", ("bun.lock", "bun.lockb"), ("install", "--frozen-lockfile", "--ignore-scripts")),
    Manager("python", "uv", ("uv.lock",),
            ("sync", "--frozen", "--no-install-project", "--no-install-workspace", "--no-build")),
    Manager("python", "poetry", ("poetry.lock",), ("install", "--no-root", "--no-interaction"),
            (("POETRY_INSTALLER_ONLY_BINARY", ":all:"),)),
)  # fmt: skip


def install(repository: Repository, *, progress: "Progress", stop: "Stop") -> str | None:
    """Install what the lock files at the root say; None where there is none. What was run, in one line."""
    managers = _named_by(repository)
    for manager in managers:
        _carry_out(manager, repository, progress, stop)
    return ", ".join(f"{manager.program} {manager.arguments[0]}" for manager in managers) or None


def _named_by(repository: Repository) -> list[Manager]:
    found = [
        (manager, name)
        for manager in MANAGERS
        for name in manager.lock_files
        if (beginning := _beginning(repository.root / name)) is not None and manager.lock_says in beginning
    ]
    managers = list(dict.fromkeys(manager for manager, _ in found))
    families = [manager.family for manager in managers]
    if len(set(families)) < len(families):
        names = ", ".join(name for _, name in found)
        message = f"{repository.root.name} has lock files of several package managers: {names}"
        raise ToolError("INVALID_REQUEST", message, hint="Remove all but one, or leave the installation out.")
    missing = [manager.program for manager in managers if shutil.which(manager.program) is None]
    if missing:
        message = f"{repository.root.name} needs {' and '.join(missing)}, which cannot be found"
        raise ToolError("CAPABILITY_MISSING", message, hint=f"Install {' and '.join(missing)}, or skip this step.")
    return managers


def _beginning(path: Path) -> bytes | None:
    """The first bytes of a regular file; None where there is none."""
    try:
        return read_start(str(path), _BEGINNING)
    except OSError:
        return None


def _carry_out(manager: Manager, repository: Repository, progress: "Progress", stop: "Stop") -> None:
    try:
        done = asyncio.run(_run(manager, repository, progress, stop))
    except ProcessError as error:
        message = f"{manager.program} could not be started or ended"
        details = {**error.details, "reason": error.message}
        raise ToolError(
            "CAPABILITY_MISSING", message, details=details, hint="Check how it is installed."
        ) from error
    if done is None:
        raise ToolError("CANCELLED", f"{manager.program} was stopped in the middle of its work")
    if not done.ok:
        details = {"command": [manager.program, *manager.arguments], "exitCode": done.returncode,
                   "stdout": done.stdout, "stderr": done.stderr}  # fmt: skip
        hint = "Read its output in the details; run it by hand, or leave the installation out."
        message = f"{manager.program} did not install the packages of {repository.root.name}: {done.describe()}"
        raise ToolError("CAPABILITY_MISSING", message, details=details, hint=hint)


async def _run(manager: Manager, repository: Repository, progress: "Progress", stop: "Stop") -> Completed | None:
    """See it to its end; None when it was stopped, and then nothing of it is alive."""
    program = shutil.which(manager.program) or manager.program
    work = asyncio.ensure_future(
        run(
            [program, *manager.arguments],
            cwd=repository.root,
            env={**os.environ, **dict(manager.environment)},
            grace=_GRACE,
            tail_bytes=_TAIL_BYTES,
            on_line=lambda _stream, line: progress("install", 0, None, line[:200]),
        )
    )
    while not (await asyncio.wait({work}, timeout=_POLL))[0]:
        if stop():
            work.cancel()
            await asyncio.wait({work})
            return None
    return work.result()
