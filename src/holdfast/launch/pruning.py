"""What runs have left behind and nobody needs any more: their clones and work trees, mirrors, lost objects.

The history stays: runs, events and artifacts are in the store as they were, so that `status`, `artifact`, `events`
and `replay` go on to work. What goes is what can be made again, and is large.
"""

import contextlib
import shutil
import time
from collections.abc import Collection, Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from holdfast.errors import ToolError, UsageError
from holdfast.launch import states
from holdfast.launch.engine.local import owned
from holdfast.launch.publishing.addresses import repository_id
from holdfast.launch.store.refusals import Busy

if TYPE_CHECKING:
    from holdfast.launch.service import RunService

__all__ = ["Leftover", "leftovers", "parsed_age", "removed"]

_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_FRESH_OBJECT = 3600.0  # seconds in which a worker may be about to tell of what it has put there
_MANY = 1_000_000
_MOST_TOLD = 20


@dataclass(frozen=True, slots=True)
class Leftover:
    """Something that can go. `kind`: run, unknown_run, mirror or object; `run_id` and `state` of a run."""

    kind: str
    path: str  # from the root of the workspace
    bytes: int
    run_id: str = ""
    state: str = ""
    since: str = ""

    def told(self) -> dict[str, Any]:
        """As JSON, without what does not apply."""
        return {name: value for name, value in asdict(self).items() if value != ""}


def parsed_age(text: str) -> timedelta:
    """`30d`, `12h`, `45m`, `2w`; UsageError for anything else."""
    number, unit = text[:-1], text[-1:]
    if not (number.isascii() and number.isdigit() and len(number) <= 6 and unit in _UNITS):
        raise UsageError(f"{text!r} is no age", remedy="write it like 30d, 12h, 45m or 2w")
    return timedelta(**{_UNITS[unit]: int(number)})


def leftovers(
    service: "RunService",
    age: timedelta,
    wanted: Collection[str] = states.TERMINAL,
    *,
    now: datetime | None = None,
) -> list[Leftover]:
    """What could go, the largest first. Of runs those in the states that are wanted, which nobody executes."""
    unknown = [state for state in wanted if state not in states.STATES]
    if unknown:
        raise UsageError(f"there is no state {unknown[0]!r}", remedy=f"one of {', '.join(states.STATES)}")
    moment = (now or datetime.now(UTC)) - age
    every = service.store.runs(limit=_MANY)
    found = [*_runs(service, every, moment, wanted), *_unknown_runs(service, every, moment)]
    found += [*_mirrors(service, every, moment), *_objects(service, every)]
    return sorted(found, key=lambda one: (-one.bytes, one.path))


def removed(service: "RunService", chosen: Collection[Leftover]) -> int:
    """Remove them, and how many bytes that were; ToolError where runs are executed meanwhile, by whomever."""
    with owned(service.workspace) as is_owned:
        if not is_owned:
            raise ToolError(
                "ILLEGAL_STATE",
                "runs of this workspace are being executed",
                details={"reason": "busy"},
                hint="prune again when they rest (launch_list_runs)",
                retryable=True,
            )
        freed, troubles = 0, []
        for one in list(_still_there(service, chosen)):
            try:
                with _out_of_reach(service, one) as may_go:
                    if may_go:
                        _remove(service.workspace.root / one.path)
                        freed += one.bytes
            except OSError as error:
                troubles.append(f"{one.path}: {error.strerror or type(error).__name__}")
    if troubles:
        raise ToolError(
            "INTERNAL",
            f"{len(troubles)} of {len(chosen)} could not be removed: {troubles[0]}",
            details={"reason": "cannot_remove", "troubles": troubles[:_MOST_TOLD], "freed_bytes": freed},
            hint="remove by hand what is named, or make it writable and prune again",
            retryable=True,
        )
    return freed


@contextlib.contextmanager
def _out_of_reach(service: "RunService", one: Leftover) -> Iterator[bool]:
    """The lock of the workspace keeps its own engine away; what keeps a pool away from a run is to hold it."""
    if not (one.run_id and service.workspace.is_pool):
        yield True
        return
    service.engine.wake()  # whoever holds a run has to live
    try:
        token = service.store.claim(one.run_id, service.engine.identity)
    except Busy:
        yield False
        return
    try:
        yield service.run(one.run_id).state == one.state
    finally:
        service.store.release(one.run_id, token)


def _still_there(service: "RunService", chosen: Collection[Leftover]) -> Iterator[Leftover]:
    """Those that may go even now: a run may have been resumed since they were looked for, an object used again."""
    kept = _kept_objects(service, service.store.runs(limit=_MANY))
    for one in chosen:
        run = service.store.run(one.run_id) if one.run_id else None
        is_same_run = run is not None and run.holder is None and run.state == one.state
        if (one.kind != "run" or is_same_run) and (one.kind != "object" or Path(one.path).name not in kept):
            yield one


def _runs(
    service: "RunService", every: list[Any], moment: datetime, wanted: Collection[str]
) -> Iterator[Leftover]:
    for run in every:
        since = run.finished_at or run.started_at
        folder = service.workspace.run(run.run_id)
        is_old = datetime.fromisoformat(since) <= moment
        if run.state in wanted and run.holder is None and is_old and folder.is_dir():
            yield Leftover("run", _from_root(service, folder), _size(folder), run.run_id, run.state, since)


def _unknown_runs(service: "RunService", every: list[Any], moment: datetime) -> Iterator[Leftover]:
    """Directories of runs that the store does not know: it was replaced, or the run was never written down."""
    known = {run.run_id for run in every}
    root = service.workspace.root / "runs"
    for folder in sorted(root.iterdir()) if root.is_dir() else ():
        is_old = folder.lstat().st_mtime <= moment.timestamp()
        if folder.name not in known and folder.is_dir() and not folder.is_symlink() and is_old:
            yield Leftover("unknown_run", _from_root(service, folder), _size(folder))


def _mirrors(service: "RunService", every: list[Any], moment: datetime) -> Iterator[Leftover]:
    """Mirrors of sites, of which the commit service makes another when it needs one."""
    used = {repository_id(run.config["site_repo_url"]) for run in every if run.state not in states.TERMINAL}
    root = service.workspace.services / "commits" / "mirrors"
    for folder in sorted(root.glob("*.git")):
        last = max((path.lstat().st_mtime for path in (folder, *folder.iterdir())), default=0.0)
        if folder.stem not in used and last <= moment.timestamp():
            yield Leftover("mirror", _from_root(service, folder), _size(folder))


def _objects(service: "RunService", every: list[Any]) -> Iterator[Leftover]:
    """Contents that no artifact of any run has any more."""
    kept = _kept_objects(service, every)
    oldest = time.time() - _FRESH_OBJECT
    for path in sorted(service.workspace.objects.glob("??/*")):
        about = path.lstat()
        if path.name not in kept and about.st_mtime <= oldest:
            yield Leftover("object", _from_root(service, path), about.st_size)


def _kept_objects(service: "RunService", every: list[Any]) -> set[str]:
    return {one.sha256 for run in every for one in service.store.artifacts(run.run_id).values()}


def _from_root(service: "RunService", path: Path) -> str:
    return path.relative_to(service.workspace.root).as_posix()


def _size(folder: Path) -> int:
    """The bytes of all files below; one that vanishes meanwhile has none."""
    total = 0
    for path in folder.rglob("*"):
        try:
            total += path.lstat().st_size if not path.is_dir() or path.is_symlink() else 0
        except OSError:
            continue
    return total


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
