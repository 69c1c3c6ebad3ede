"""`check_status`: is everything well? The index, the disk, git, the configuration and what is installed.

Nothing is changed, and whatever is broken is a finding with its remedy, never a failure of the call. The status is
that of the worst finding; what is only good to know does not count.
"""

import os
import shutil
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from holdfast.git.asking import Git, GitError
from holdfast.search.freshness import counted_places
from holdfast.search.home import IndexHome
from holdfast.search.index_state import IndexState, damaged, index_state
from holdfast.search.integrity import damage_of, known_damage_of
from holdfast.search.repository import Repository, index_home
from holdfast.search.shape import iso_time

__all__ = ["check_status", "disk_findings", "index_findings"]

Finding = dict[str, str]

_GIB = 1024**3
_LEAST_SHARE = 0.05  # of a disk, and at least one GiB, should be free
_QUIET_SECONDS = 600.0  # after which a build that nobody touches counts as left behind
_GIT_SECONDS = 5.0
_UPDATE = "Bring it up to date: call build_index, or run `holdfast index build`."
_CONFIGURE = "Do as it says, or change the configuration; config_status tells where each value comes from."
_GC = "Remove it: call cache_gc, or run `holdfast index gc --yes`."


def check_status(
    repository: Repository,
    cache_dir: Path,
    *,
    capabilities: Mapping[str, Any],
    warnings: Iterable[Mapping[str, str]],
) -> dict[str, Any]:
    """Look at everything that a search depends on.

    `capabilities` and `warnings` are what `config_status` tells: names with truth values, nested or not, and what
    the configuration counts on and does not get.
    """
    about, findings = index_findings(repository, cache_dir)
    findings += [
        _finding(one["code"], _severity(one), "configuration", one["message"], _CONFIGURE) for one in warnings
    ]
    findings += _cache_findings(cache_dir)
    findings += _git_findings(repository)
    findings += [_missing(name, hint) for name, hint in _unavailable(capabilities)]
    severities = {finding["severity"] for finding in findings}
    return {
        "status": next((worst for worst in ("error", "warning") if worst in severities), "ok"),
        "findings": findings,
        "index": about,
        "checkedAt": iso_time(time.time()),
    }


def index_findings(
    repository: Repository, cache_dir: Path, *, afresh: bool = True
) -> tuple[dict[str, Any], list[Finding]]:
    """What the index is, and what is wrong with it.

    Without `afresh`, bytes that were checked before are not read again as long as nothing shows that they changed.
    """
    home = IndexHome(index_home(repository, cache_dir))
    state = index_state(repository, cache_dir)
    findings = [*_state_findings(state), *_damage_findings(home, state, afresh=afresh), *_leftovers(home)]
    status = state.status or {}
    about = {name: status.get(name) for name in ("build", "generation", "builtAt", "changedFiles")}
    return {"exists": state.status is not None, **about}, findings


def disk_findings(free: int, total: int) -> list[Finding]:
    """A disk that is nearly full: a build needs room for itself beside the one in use."""
    if free >= max(_GIB, total * _LEAST_SHARE):
        return []
    message = f"the disk of the cache is nearly full: {free / _GIB:.1f} GiB of {total / _GIB:.1f} GiB are free"
    return [
        _finding("disk-nearly-full", "warning", "disk", message, "Free some space; cache_gc removes old indexes.")
    ]


def _finding(code: str, severity: str, area: str, message: str, remedy: str) -> Finding:
    return {"code": code, "severity": severity, "area": area, "message": message, "remedy": remedy}


def _severity(warning: Mapping[str, str]) -> str:
    """A key that is known to do nothing is only good to know."""
    return "info" if warning["code"] == "configuration_no_effect" else "warning"


def _state_findings(state: IndexState) -> Iterator[Finding]:
    problem, status = state.problem, state.status
    if problem is not None:
        severity = "warning" if problem.code == "no-index" else "error"
        yield _finding(problem.code, severity, "index", problem.message, problem.remedy)
    if status is None:
        return
    changed = status["changedFiles"]
    if changed is None:
        yield _finding("index-half-written", "warning", "index", "the last update did not finish", _UPDATE)
    elif changed:
        message = f"the index is not up to date: {counted_places(changed)} changed since it was written"
        yield _finding("index-stale", "warning", "index", message, _UPDATE)
    elif status["headCommit"] != status["commit"]:
        message = "the index is of another commit than the one that is checked out"
        yield _finding("index-stale", "warning", "index", message, _UPDATE)


def _damage_findings(home: IndexHome, state: IndexState, *, afresh: bool) -> Iterator[Finding]:
    build = home.current()
    if state.status is None or build is None:
        return
    look = damage_of if afresh else known_damage_of
    damage, is_complete = look(home, build)
    for problem in map(damaged, damage):
        yield _finding(problem.code, "error", "index", problem.message, problem.remedy)
    if not is_complete:
        message = "the index could not be checked completely in the time that a check may take"
        yield _finding(
            "check-incomplete", "info", "index", message, "Call check_status again when there is less to do."
        )


def _leftovers(home: IndexHome) -> Iterator[Finding]:
    """Builds that are neither used nor being made; they cost room and nothing else.

    The writer's lock is not tried: a writer that came just then would give up.
    """
    current = home.current()
    names = [] if not home.is_ours() or not home.builds.is_dir() else sorted(os.listdir(home.builds))
    unused = [name for name in names if current is None or name != current.name]
    left = [name for name in unused if _is_abandoned(home, home.builds / name)]
    if left:
        what = "a build that was" if len(left) == 1 else f"{len(left)} builds that were"
        message = f"the cache holds {what} replaced or never finished"
        yield _finding("build-left-over", "info", "index", message, _GC)


def _is_abandoned(home: IndexHome, directory: Path) -> bool:
    if _is_read(directory):
        return False
    if not _is_alive(_writer_of(home)):
        return True
    times = [_time_of(path) for path in (directory, *directory.glob("*"), *directory.glob("terms/*"))]
    return time.time() - max(times) > _QUIET_SECONDS


def _is_read(directory: Path) -> bool:
    """Whether somebody searches a build; who comes to read it meanwhile waits for the blink that this takes."""
    import fcntl

    try:
        with (directory / "readers.lock").open() as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:  # nobody ever did
        return False
    return False


def _writer_of(home: IndexHome) -> int:
    """The process that last held the writer's lock."""
    try:
        return int((home.directory / "writer.lock").read_text() or 0)
    except (OSError, ValueError):
        return 0


def _is_alive(pid: int) -> bool:
    if pid <= 0:
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True


def _time_of(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def _cache_findings(cache_dir: Path) -> Iterator[Finding]:
    existing = next(
        place for place in (cache_dir.absolute(), *cache_dir.absolute().parents) if os.path.lexists(place)
    )
    other = "Choose another cache directory, or change its permissions."
    if not existing.is_dir():
        yield _finding("cache-not-a-directory", "error", "disk", "the cache is not a directory", other)
        return
    if not os.access(existing, os.W_OK | os.X_OK):
        yield _finding("cache-not-writable", "error", "disk", "the cache cannot be written to", other)
    usage = shutil.disk_usage(existing)
    yield from disk_findings(usage.free, usage.total)


def _git_findings(repository: Repository) -> Iterator[Finding]:
    severity = "warning" if repository.is_git else "info"
    lost = "ignore rules are read without it, and authors and history are unknown"
    if shutil.which("git") is None:
        yield _finding("git-missing", severity, "git", f"git is not installed: {lost}", "Install git.")
    elif repository.is_git:
        try:
            Git(repository.root).whole("rev-parse", "--git-dir", seconds=_GIT_SECONDS)
        except GitError as trouble:
            message = f"git does not answer for this repository: {lost}"
            yield _finding("git-refuses", severity, "git", message, f"Mend what git says: {trouble}")


def _unavailable(capabilities: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, str]]:
    """Names of what is missing, with the hint that comes with it, if any."""
    for name in sorted(capabilities):
        value, full = capabilities[name], f"{above}{name}"
        if isinstance(value, Mapping):
            if value.get("available") is False:
                yield full, str(value.get("hint") or "")
            else:
                yield from _unavailable(value, f"{full}.")
        elif value is False:
            yield full, ""


def _missing(name: str, hint: str) -> Finding:
    message = f"the capability {name} is not available"
    return _finding(
        "capability-missing", "info", "capabilities", message, hint or "config_status tells more about it."
    )
