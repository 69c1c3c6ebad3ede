"""Keeping indexes small: compact one, and remove what nobody uses any more."""

from pathlib import Path
from typing import Any

from holdfast.errors import ToolError
from holdfast.search.engine.tantivy_writer import TermWriter, committed_generation
from holdfast.search.home import IndexBusyError, IndexHome
from holdfast.search.repository import Repository, index_home
from holdfast.search.store.writer import DamagedIndexError, StoreWriter

__all__ = ["collect_garbage", "compact_index"]


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
        store = StoreWriter.open(build.store)
        try:
            store.settle(committed_generation(build.terms))
            terms = TermWriter(build.terms, fresh=False)
            terms.compact()
            store.compact()
        except DamagedIndexError as error:
            message = f"the index is damaged: {error.message}"
            raise ToolError("NO_INDEX", message, hint="run `holdfast index build --full`") from error
        finally:
            store.close()
        return {"build": build.name, "bytesBefore": before, "bytes": build.size()}


def collect_garbage(
    cache_dir: Path, repository: Repository | None = None, *, dry_run: bool = False
) -> dict[str, Any]:
    """Remove builds that are neither current nor read, of one repository or of all.

    Indexes of repositories that are gone go as well; one that is being written is left alone. A directory that is
    not marked as ours is not touched, whatever it is called: a cache directory may be any directory.
    """
    homes = [index_home(repository, cache_dir)] if repository else sorted((cache_dir / "search").glob("*/"))
    removed: list[tuple[Path, int]] = []
    busy: list[str] = []
    for directory in homes:
        home = IndexHome(directory)
        if not home.is_ours():
            continue
        try:
            with home.writing():
                removed += _drop(home, dry_run=dry_run) if _is_orphan(home) else home.prune(dry_run=dry_run)
        except IndexBusyError:
            busy.append(str(directory))
    listed = [{"path": str(path), "bytes": size} for path, size in removed]
    return {"dryRun": dry_run, "removed": listed, "bytes": sum(size for _, size in removed), "busy": busy}


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
