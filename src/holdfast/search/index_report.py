"""`index_status`: where the index of a repository is, what is in it and how fresh it is; always an answer.

All modes live in one store and one term index, so a healthy index has every part of every mode, if only with no
chunks in it.
"""

import os
from pathlib import Path
from typing import Any

from holdfast.git.asking import Git, GitError, GitTimeoutError
from holdfast.search.artifacts import bytes_below, fetched_names
from holdfast.search.home import IndexHome
from holdfast.search.index_state import IndexState, index_state
from holdfast.search.repository import Repository, head, index_home
from holdfast.search.shape import KEYS, iso_time

__all__ = ["git_state", "index_status"]

_MOST_LISTED = 200  # files in a list that is for people
_GIT_SECONDS = 5.0
_MODELS_HINT = "Searches need none. `holdfast index embed` fetches one and uses it; download_models only fetches."
_STATUS = ("status", "--porcelain", "-z", "--untracked-files=normal", "--ignore-submodules=all")
_NOT_SHOWN = ("repository", "path", "chunks", "vectors")  # told elsewhere, or by the command line alone


def index_status(repository: Repository, cache_dir: Path) -> dict[str, Any]:
    """The state of the index and of all that belongs to it; where there is none, everything is told as missing."""
    home = IndexHome(index_home(repository, cache_dir))
    portable = home.portable
    state = index_state(repository, cache_dir)
    problem = state.problem
    return {
        "repoPath": repository.shown,
        "repoId": repository.repo_id,
        "cacheRoot": str(cache_dir),
        "repoCacheRoot": str(home.directory),
        "git": git_state(repository),
        "dictionaries": _dictionaries(cache_dir / "dictionaries"),
        "models": _models(cache_dir / "models"),
        "incremental": {"dir": str(home.builds), "exists": state.status is not None},
        "index": _modes(home, state),
        "sqlite": {"path": str(portable), **_file(portable)},
        "problem": None if problem is None else {"code": problem.code, "message": problem.message},
        "current": None if state.status is None else _current(state.status),
    }


def git_state(repository: Repository) -> dict[str, Any]:
    """What git says about the work tree; where it does not answer in time, why."""
    commit, branch = head(repository)
    is_dirty, warning = _dirtiness(repository) if repository.is_git else (None, None)
    return {
        "isRepo": repository.is_git,
        "head": commit,
        "branch": branch,
        "isDirty": is_dirty,
        "warning": warning,
    }


def _dirtiness(repository: Repository) -> tuple[bool | None, str | None]:
    try:
        with Git(repository.root).start(*_STATUS, seconds=_GIT_SECONDS) as output:
            return any(output.fields()), None  # the first entry is enough
    except GitTimeoutError:
        return None, f"git did not answer within {_GIT_SECONDS:.0f} s"
    except GitError as trouble:
        return None, f"git does not answer: {trouble}"


def _modes(home: IndexHome, state: IndexState) -> dict[str, Any]:
    build = home.current()
    directory = home.builds if build is None else build.directory
    store = _file(None if build is None else build.store)
    terms = _directory(None if build is None else build.terms)
    chunks = {} if state.status is None else state.status["chunks"]
    return {
        key: {
            "dir": str(directory),
            "exists": state.status is not None,
            "chunks": chunks.get(mode, 0),
            "chunkMeta": store,
            "tokenPostings": terms,
        }
        for mode, key in KEYS.items()
    }


def _current(status: dict[str, Any]) -> dict[str, Any]:
    """What the index tells of itself, with lists that stay readable however large the repository is."""
    told = {key: value for key, value in status.items() if key not in _NOT_SHOWN}
    return {
        **told,
        "bytes": bytes_below(Path(status["path"])),  # without what SQLite keeps beside a store that is open
        "skippedFiles": told["skippedFiles"][:_MOST_LISTED],
        "skippedCount": len(told["skippedFiles"]),
        "remarks": told["remarks"][:_MOST_LISTED],
        "remarkCount": len(told["remarks"]),
    }


def _dictionaries(directory: Path) -> dict[str, Any]:
    # Not enabled, whatever is there: nothing reads them.
    return {"dir": str(directory), "files": fetched_names(directory), "enabled": False, "includeSlang": False}


def _models(directory: Path) -> dict[str, Any]:
    names = fetched_names(directory)
    return {
        "dir": str(directory),
        "model": names[0] if names else None,
        "available": bool(names),
        "hint": None if names else _MODELS_HINT,
    }


def _file(path: Path | None) -> dict[str, Any]:
    try:
        status = None if path is None else path.stat()
    except OSError:
        status = None
    if status is None:
        return {"exists": False, "mtime": None, "bytes": 0}
    return {"exists": True, "mtime": iso_time(status.st_mtime), "bytes": status.st_size}


def _directory(path: Path | None) -> dict[str, Any]:
    """The same of a directory: the newest of its files, and the sum of them."""
    files = (
        [] if path is None else [_file(Path(place, name)) for place, _, names in os.walk(path) for name in names]
    )
    there = [file for file in files if file["exists"]]
    if not there:
        return {"exists": False, "mtime": None, "bytes": 0}
    return {"exists": True, "mtime": max(f["mtime"] for f in there), "bytes": sum(f["bytes"] for f in there)}
