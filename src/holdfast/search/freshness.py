"""Whether an index is still what lies on disk, found out by sizes and times alone.

On the path of every query, so it loads nothing of the building side.
"""

import os
import time

from holdfast.search.filed import FILED
from holdfast.search.repository import Repository
from holdfast.search.store.reader import StoreReader

__all__ = ["changed_files", "counted_places"]


def changed_files(repository: Repository, reader: StoreReader) -> int | None:
    """How many files and directories may have changed since the index was made; None: it is half written.

    They have another size or time than there, or were touched since: the time of a file can be set back.

    It looks at nothing else, so it is cheap enough for every search; a full comparison is `update`.
    """
    facts = reader.facts()
    if facts.values.get("pending") is not None or facts.values.get("generation") != reader.generation:
        return None
    root = str(repository.root)
    stale = sum(_time_of(root, path) != mtime_ns for path, mtime_ns in reader.directories().items())
    looked_at = [(path, size, when) for path, _, _, size, when in reader.skipped() if when >= 0]
    known = [*_in_repository(root, reader), *looked_at]
    checked_at = int((facts.values.get("checked_at") or 0.0) * 1e9)
    since = range(checked_at + 1, time.time_ns())  # what is later still is told by another clock than ours
    return stale + sum(_differs(root, path, size, when, since) for path, size, when in known)


def counted_places(number: int) -> str:
    """That number with what it counts."""
    return "1 file or directory" if number == 1 else f"{number:,} files or directories"


def _in_repository(root: str, reader: StoreReader) -> list[tuple[str, int, int]]:
    """Path, size and time of what lies in the repository.

    Records of triage do not: one that changes is replaced, and so changes the time of its directory.
    """
    known = reader.known_paths()
    has_own = os.path.isdir(os.path.join(root, FILED))  # of that name; hardly any repository has
    return [
        one for one in known if not one[0].startswith(FILED) or (has_own and _size_and_time(root, one[0])[0] >= 0)
    ]


def _time_of(root: str, path: str) -> int:
    try:
        return os.stat(os.path.join(root, path)).st_mtime_ns  # a whole path stands for itself
    except OSError:
        return -2


def _differs(root: str, path: str, size: int, when: int, since: range) -> bool:
    try:
        status = os.stat(f"{root}/{path}")
    except OSError:
        return True
    return (status.st_size, status.st_mtime_ns) != (size, when) or status.st_ctime_ns in since


def _size_and_time(root: str, path: str) -> tuple[int, int]:
    try:
        status = os.stat(f"{root}/{path}")
    except OSError:
        return -2, -2
    return status.st_size, status.st_mtime_ns
