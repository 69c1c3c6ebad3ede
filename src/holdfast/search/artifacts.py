"""`report_artifacts`: what lies in the cache, byte for byte, and whether the index in it is healthy.

Bytes are the lengths of the files that are there; a link counts itself and not what it leads to.
"""

import os
import stat
from pathlib import Path
from typing import Any

from holdfast.search.checkup import index_findings
from holdfast.search.home import IndexHome
from holdfast.search.repository import Repository, index_home
from holdfast.search.shape import iso_time
from holdfast.search.upkeep import homes_in

__all__ = ["bytes_below", "fetched_names", "last_used", "report_artifacts"]

_STORE, _TERMS, _BLAME, _TRIAGE = "store.db", "terms", "blame.db", "triage"


def report_artifacts(repository: Repository, cache_dir: Path) -> dict[str, Any]:
    """The bytes of everything that belongs to a repository, the health of its index, and the cache as a whole."""
    home = IndexHome(index_home(repository, cache_dir))
    _, findings = index_findings(repository, cache_dir, afresh=False)
    return {
        "repo": _repository_part(repository, home),
        "health": {
            "issues": [one["message"] for one in findings if one["severity"] != "info"],
            "hints": list(dict.fromkeys(one["remedy"] for one in findings)),
        },
        "overall": _overall(cache_dir),
        "allRepos": [_one_of_all(one) for one in homes_in(cache_dir)],
    }


def bytes_below(path: Path) -> int:
    """The bytes of a file, or of all files below a directory; what vanishes meanwhile counts nothing."""
    return sum(size for _, size in _files(path))


def fetched_names(directory: Path) -> list[str]:
    """The dictionaries or models in a directory, by name; a manifest of them, or a hidden draft, is none."""
    try:
        names = os.listdir(directory)
    except OSError:  # there is none yet
        return []
    return sorted(name for name in names if not name.startswith(".") and not name.endswith(".json"))


def last_used(home: IndexHome) -> float:
    """When an index was last written or opened, in seconds.

    Whoever opens a store makes a file beside it, and so changes the time of the directory. The times of locks
    are not looked at: cleaning up takes them too.
    """
    build = home.current()
    places = [home.directory / "current.json"]
    if build is not None:
        places += [build.directory, build.store, build.terms / "meta.json"]
    return max(map(_time_of, places))


def _repository_part(repository: Repository, home: IndexHome) -> dict[str, Any]:
    current = home.current()
    artifacts = dict.fromkeys(("store", "terms", "blame", "sqlite", "triage", "other"), 0)
    builds: dict[str, int] = {}
    for path, size in _files(home.directory):
        parts = path.relative_to(home.directory).parts
        artifacts["sqlite" if _is_part_of(path, home.portable) else _kind_of(parts)] += size
        if parts[0] == "builds" and len(parts) > 2:
            builds[parts[1]] = builds.get(parts[1], 0) + size
    return {
        "root": str(repository.root),
        "cacheRoot": str(home.directory),
        "totalBytes": sum(artifacts.values()),
        "artifacts": artifacts,
        "sqlite": _portable(home.portable),
        "builds": [
            {"name": name, "bytes": size, "current": current is not None and name == current.name}
            for name, size in sorted(builds.items())
        ],
    }


def _kind_of(parts: tuple[str, ...]) -> str:
    """What a file belongs to, by where it stands; SQLite keeps a log and a map beside its file."""
    if parts[0] == _TRIAGE:
        return "triage"
    if parts[0].startswith(_BLAME):
        return "blame"
    if parts[0] != "builds" or len(parts) < 3:
        return "other"
    if parts[2] == _TERMS:
        return "terms"
    return "store" if parts[2].startswith(_STORE) else "other"


def _is_part_of(path: Path, portable: Path) -> bool:
    return path.parent == portable.parent and path.name.startswith(portable.name)


def _portable(path: Path) -> dict[str, Any] | None:
    return {"path": str(path), "bytes": bytes_below(path)} if path.is_file() else None


def _overall(cache_dir: Path) -> dict[str, Any]:
    total = bytes_below(cache_dir)  # everything of ours lies in there
    return {
        "cacheRoot": str(cache_dir),
        "cacheBytes": total,
        "dictionaryBytes": bytes_below(cache_dir / "dictionaries"),
        "modelBytes": bytes_below(cache_dir / "models"),
        "extensionBytes": bytes_below(cache_dir / "extensions"),
        "totalBytes": total,
    }


def _one_of_all(home: IndexHome) -> dict[str, Any]:
    root = home.root()
    return {
        "id": home.directory.name,
        "root": None if root is None else str(root),
        "bytes": bytes_below(home.directory),
        "lastUsed": iso_time(last_used(home)) if last_used(home) else None,
    }


def _files(path: Path) -> list[tuple[Path, int]]:
    """Every file with its length, links not followed."""
    found = []
    walked = (Path(place, name) for place, below, names in os.walk(path) for name in (*below, *names))
    for file in (path, *walked):
        try:
            status = file.lstat()
        except OSError:  # gone a moment ago
            continue
        if not stat.S_ISDIR(status.st_mode):
            found.append((file, status.st_size))
    return found


def _time_of(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0
