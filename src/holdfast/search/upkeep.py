"""Keeping indexes small: compact one, and remove what nobody uses any more."""

from pathlib import Path
from typing import Any, NamedTuple

from holdfast.errors import ToolError
from holdfast.search.engine.tantivy_writer import TermWriter
from holdfast.search.home import Build, IndexBusyError, IndexHome
from holdfast.search.index_writer import settle
from holdfast.search.repository import Repository, index_home
from holdfast.search.store.writer import DamagedIndexError, StoreWriter

__all__ = ["Swept", "collect_garbage", "compact_index", "homes_in", "sweep"]


def compact_index(repository: Repository, cache_dir: Path) -> dict[str, Any]:
    """Forget every dead version of a file and give the space back; searches go on meanwhile."""
    home = IndexHome(index_home(repository, cache_dir))
    if home.current() is None:  # asked before the lock as well, which would leave a directory behind
        raise _nothing_to_compact()
    with home.writing():
        build = home.current()
        if build is None:
            raise _nothing_to_compact()
        before = build.size()
        try:
            settle(build)
            _compact(build)
        except DamagedIndexError as error:
            message = f"the index is damaged: {error.message}"
            raise ToolError("NO_INDEX", message, hint="run `holdfast index build --full`") from error
        return {"build": build.name, "bytesBefore": before, "bytes": build.size()}


def _compact(build: Build) -> None:
    sealed = build.seal.remove()
    store = StoreWriter.open(build.store)
    try:
        terms = TermWriter(build.terms, fresh=False)
        terms.compact()
        store.compact()
    finally:
        store.close()
    build.write_seal(sealed)


class Swept(NamedTuple):
    """What was removed, or would be; `reason` is orphan or old-build."""

    path: Path
    bytes: int
    reason: str


def collect_garbage(
    cache_dir: Path, repository: Repository | None = None, *, dry_run: bool = False
) -> dict[str, Any]:
    """Remove builds that are neither current nor read, of one repository or of all.

    Indexes of repositories that are gone go as well; one that is being written is left alone. A directory that is
    not marked as ours is not touched, whatever it is called: a cache directory may be any directory.
    """
    removed: list[Swept] = []
    busy: list[str] = []
    for home in homes_in(cache_dir, repository):
        try:
            removed += sweep(home, dry_run=dry_run)
        except IndexBusyError:
            busy.append(str(home.directory))
    listed = [{"path": str(one.path), "bytes": one.bytes} for one in removed]
    return {"dryRun": dry_run, "removed": listed, "bytes": sum(one.bytes for one in removed), "busy": busy}


def homes_in(cache_dir: Path, repository: Repository | None = None) -> list[IndexHome]:
    """The directories of indexes that are marked as ours, by name: of one repository or of all."""
    directories = [index_home(repository, cache_dir)] if repository else sorted((cache_dir / "search").glob("*/"))
    return [home for home in map(IndexHome, directories) if home.is_ours()]


def sweep(home: IndexHome, *, dry_run: bool) -> list[Swept]:
    """Remove what no search can use any more; IndexBusyError when somebody writes there."""
    with home.writing():
        if _is_orphan(home):
            return [Swept(path, size, "orphan") for path, size in _drop(home, dry_run=dry_run)]
        return [Swept(path, size, "old-build") for path, size in home.prune(dry_run=dry_run)]


def _nothing_to_compact() -> ToolError:
    return ToolError("NO_INDEX", "there is no index to compact", hint="run `holdfast index build`")


def _is_orphan(home: IndexHome) -> bool:
    """Its repository is gone, or it never got a build."""
    root = home.root()
    if root is not None:
        return not root.is_dir()
    return not (home.builds.exists() and any(home.builds.iterdir()))


def _drop(home: IndexHome, *, dry_run: bool) -> list[tuple[Path, int]]:
    size = home.size()
    is_removed = home.is_unread() if dry_run else home.remove()
    return [(home.directory, size)] if is_removed else []
