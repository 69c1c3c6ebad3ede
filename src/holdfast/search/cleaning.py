"""`cache_gc` and `clean_artifacts`: whole indexes removed, by age, by size or on demand.

Only a directory with our mark is ever touched, and in it only what an index is made of: records of triage are a
person's work and stay, and so does whatever else lies there. What is being written or read is left alone.
"""

import math
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from holdfast.errors import ToolError
from holdfast.search.artifacts import last_used
from holdfast.search.configuration import CacheLimits
from holdfast.search.home import IndexBusyError, IndexHome
from holdfast.search.repository import Repository, index_home
from holdfast.search.upkeep import homes_in, sweep

__all__ = ["cache_gc", "clean_artifacts"]

_DAY = 86400.0
_NO_LIMITS = CacheLimits(None, None)
_READ = "it is being read"
_WRITTEN = "it is being written"
_TRIAGE = "records of triage are kept"


def cache_gc(
    cache_dir: Path,
    repository: Repository | None = None,
    *,
    dry_run: bool = False,
    max_bytes: int | None = None,
    max_age_days: float | None = None,
    own: tuple[Repository, CacheLimits] | None = None,
) -> dict[str, Any]:
    """Remove what no search can use any more, then whole indexes until the limits hold.

    The index that was used longest ago goes first; with a `repository`, only its own may go. `max_bytes` is for
    all indexes that are looked at together. `own` is what the files of a repository say where the call does not:
    that is about its own index and no other.
    """
    _check_limits(max_bytes, max_age_days)
    _check_place(cache_dir)
    collection = _Collection(homes_in(cache_dir, repository), dry_run=dry_run)
    totals = {"repos": len(collection.sizes), "bytes": sum(collection.sizes.values())}
    collection.remove_unused()
    whose, limits = (None, _NO_LIMITS) if own is None else (index_home(own[0], cache_dir).name, own[1])
    if max_age_days is not None:
        collection.remove_older(max_age_days * _DAY)
    elif limits.max_age_days is not None:
        collection.remove_older(limits.max_age_days * _DAY, whose)
    if max_bytes is not None:
        collection.remove_beyond(max_bytes)
    elif limits.max_bytes is not None:
        collection.remove_beyond(limits.max_bytes, whose)
    oldest = limits.max_age_days if max_age_days is None else max_age_days
    most = limits.max_bytes if max_bytes is None else max_bytes
    return {
        "mode": "builds" if oldest is most is None else "repo",
        "dryRun": dry_run,
        "cacheRoot": str(cache_dir),
        "limits": {"maxBytes": most, "maxAgeDays": oldest},
        "totals": totals,
        "removals": collection.removals,
        "failedRemovals": collection.failures,
        "kept": collection.kept,
        "freedBytes": sum(removal["bytes"] for removal in collection.removals),
    }


def clean_artifacts(
    cache_dir: Path, repository: Repository, *, all_repositories: bool = False, dry_run: bool = False
) -> dict[str, Any]:
    """Remove the index of a repository, or of all; the next search has to build it anew.

    ToolError QUEUE_OVERLOADED where the one index that was meant is in use; of all, those in use are kept. A dry
    run tells of either that it would be kept.
    """
    _check_place(cache_dir)
    removals: list[dict[str, Any]] = []
    kept: list[dict[str, str]] = []
    for home in homes_in(cache_dir, None if all_repositories else repository):
        size = home.size()
        failure = _remove(home, dry_run=dry_run)
        if failure in (_READ, _WRITTEN) and not (all_repositories or dry_run):
            message = f"the index of {repository.root.name} cannot be removed: {failure}"
            raise ToolError(
                "QUEUE_OVERLOADED", message, hint="Wait until it is not used any more, and call again."
            )
        if failure is not None:
            kept.append(_entry(home.directory, failure))
            continue
        removals.append({"id": home.directory.name, "path": str(home.directory), "bytes": size})
        kept += _kept_in(home)
    return {
        "repoPath": repository.shown,
        "dryRun": dry_run,
        "removals": removals,
        "kept": kept,
        "freedBytes": sum(removal["bytes"] for removal in removals),
        "output": "\n".join(_told(removals, kept, dry_run=dry_run)),
    }


class _Collection:
    """Indexes that may be removed, and what became of them."""

    def __init__(self, homes: list[IndexHome], *, dry_run: bool) -> None:
        self.removals: list[dict[str, Any]] = []
        self.failures: list[dict[str, str]] = []
        self.kept: list[dict[str, str]] = []
        self.sizes = {home: home.size() for home in homes}  # of those that are still there
        self._used = {home: last_used(home) for home in homes}
        self._dry_run = dry_run

    def remove_unused(self) -> None:
        """Old builds, and indexes of repositories that are gone."""
        for home in list(self.sizes):
            try:
                swept = sweep(home, dry_run=self._dry_run)
            except IndexBusyError:
                self._give_up(home, _WRITTEN)
                continue
            except OSError as trouble:
                self._give_up(home, _why(trouble))
                continue
            for path, size, reason in swept:
                self._note(home, path, size, reason)
                self.sizes[home] -= size
                if reason == "orphan":
                    del self.sizes[home]
                    self.kept += _kept_in(home)

    def remove_older(self, seconds: float, whose: str | None = None) -> None:
        """Indexes that nobody used for so long; `whose` is the only one that may go."""
        now = time.time()
        for home in self._longest_unused_first(whose):
            if now - self._used[home] > seconds:
                self._remove(home, "age")

    def remove_beyond(self, most: int, whose: str | None = None) -> None:
        """Indexes until the others have no more than so many bytes together; `whose` alone counts, and goes."""
        for home in self._longest_unused_first(whose):
            if sum(size for one, size in self.sizes.items() if whose in (None, one.directory.name)) <= most:
                return
            self._remove(home, "quota")

    def _longest_unused_first(self, whose: str | None) -> list[IndexHome]:
        failed = {failure["path"] for failure in self.failures}
        meant = [home for home in self.sizes if whose in (None, home.directory.name)]
        candidates = [home for home in meant if str(home.directory) not in failed]
        return sorted(candidates, key=lambda home: (self._used[home], home.directory.name))

    def _remove(self, home: IndexHome, reason: str) -> None:
        failure = _remove(home, dry_run=self._dry_run)
        if failure is not None:
            self._give_up(home, failure)
            return
        self._note(home, home.directory, self.sizes.pop(home), reason)
        self.kept += _kept_in(home)

    def _note(self, home: IndexHome, path: Path, size: int, reason: str) -> None:
        self.removals.append({"id": home.directory.name, "path": str(path), "bytes": size, "reason": reason})

    def _give_up(self, home: IndexHome, reason: str) -> None:
        self.failures.append(_entry(home.directory, reason))


def _remove(home: IndexHome, *, dry_run: bool) -> str | None:
    """Remove an index, or say why not."""
    try:
        with home.writing():
            is_free = home.is_unread() and (dry_run or home.remove())
    except IndexBusyError:
        return _WRITTEN
    except OSError as trouble:
        return _why(trouble)
    return None if is_free else _READ


def _kept_in(home: IndexHome) -> list[dict[str, str]]:
    records = home.directory / "triage"
    return [_entry(records, _TRIAGE, home.directory.name)] if records.exists() else []


def _entry(path: Path, reason: str, name: str = "") -> dict[str, str]:
    return {"id": name or path.name, "path": str(path), "reason": reason}


def _why(trouble: OSError) -> str:
    return (trouble.strerror or type(trouble).__name__).lower()


def _told(removals: list[dict[str, Any]], kept: list[dict[str, str]], *, dry_run: bool) -> Iterator[str]:
    removed, left = ("would remove", "would keep") if dry_run else ("removed", "kept")
    for removal in removals:
        yield f"{removed} {removal['id']}, {removal['bytes']:,} bytes"
    for entry in kept:
        yield f"{left} {entry['id']}: {entry['reason']}"
    if not removals and not kept:
        yield "there is nothing to remove"


def _check_limits(max_bytes: int | None, max_age_days: float | None) -> None:
    problems = []
    if max_bytes is not None and max_bytes < 0:
        problems.append(f"maxBytes is {max_bytes}; give 0 or more")
    if max_age_days is not None and not (max_age_days >= 0 and math.isfinite(max_age_days)):
        problems.append(f"maxAgeDays is {max_age_days}; give 0 or more")
    if problems:
        raise ToolError("INVALID_REQUEST", "; ".join(problems), details={"problems": problems})


def _check_place(cache_dir: Path) -> None:
    """Nothing is removed where a cache directory was plainly named by mistake, whatever is in there."""
    real = os.path.realpath(cache_dir)
    if real in (os.path.dirname(real), os.path.realpath(os.path.expanduser("~"))):
        message = "the cache is the root of the file system or a home directory; nothing is removed there"
        hint = "Choose a cache directory of its own."
        raise ToolError("FORBIDDEN", message, details={"cacheRoot": real}, hint=hint)
