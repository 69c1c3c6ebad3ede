"""Whether an index is still what lies on disk, found out by sizes and times alone.

On the path of every query, so it loads nothing of the building side.
"""

import os

from holdfast.search.repository import Repository
from holdfast.search.store.reader import StoreReader

__all__ = ["changed_files"]


def changed_files(repository: Repository, reader: StoreReader) -> int | None:
    """How many files and directories have another size or time than in the index; None: it is half written.

    It looks at nothing else, so it is cheap enough for every search; a full comparison is `update`.
    """
    facts = reader.facts()
    if facts.values.get("pending") is not None or facts.values.get("generation") != reader.generation:
        return None
    root = str(repository.root)
    stale = sum(_time_of(root, path) != mtime_ns for path, mtime_ns in reader.directories().items())
    looked_at = [(path, size, when) for path, _, _, size, when in reader.skipped() if when >= 0]
    known = [*reader.known_paths(), *looked_at]
    return stale + sum(_size_and_time(root, path) != (size, when) for path, size, when in known)


def _time_of(root: str, path: str) -> int:
    try:
        return os.stat(f"{root}/{path}").st_mtime_ns
    except OSError:
        return -2


def _size_and_time(root: str, path: str) -> tuple[int, int]:
    try:
        status = os.stat(f"{root}/{path}")
    except OSError:
        return -2, -2
    return status.st_size, status.st_mtime_ns
