"""The filter `chunkAuthor`: who wrote the lines of a chunk, asked of git when somebody wants to know, and kept.

Where git gives no answer in time, the last author of the file stands in for the authors of its lines, and the
reason is told: it is for the search to say so.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path

from holdfast.git.asking import never
from holdfast.present.counted import counted
from holdfast.search.repository import Repository
from holdfast.search.store.reader import ChunkRow, StoreReader

__all__ = ["rows_by_author"]

_MOST_REASONS = 5


def rows_by_author(
    repository: Repository,
    store: StoreReader,
    cache: Path,
    rows: list[ChunkRow],
    author: str,
    *,
    stop: Callable[[], bool] = never,
) -> tuple[list[ChunkRow], list[str]]:
    """The chunks, in their order, of which somebody with this in their name wrote a line; and what is not certain.

    Without an answer of git about its lines, a chunk counts as written by the last author of its file.
    """
    files = store.file_rows({row.file for row in rows})
    there = [row for row in rows if row.file in files]  # an update may have removed some a moment ago
    wanted: dict[str, list[tuple[int, int]]] = {}
    for row in there:
        wanted.setdefault(files[row.file].path, []).append((row.start_line, row.end_line))
    said, reasons = _ask(repository, cache, wanted, stop)
    answers = {path: iter(blamed) for path, blamed in said.items()}
    needle = author.lower()
    kept = []
    for row in there:
        about = files[row.file]
        names = next(answers[about.path], None) or [about.author or ""]
        if any(needle in name.lower() for name in names if name):
            kept.append(row)
    if len(there) < len(rows):
        gone = counted(len(rows) - len(there), "chunk")
        reasons.append(f"{gone} went from the index since the search began")
    return kept, reasons


def _ask(
    repository: Repository, cache: Path, wanted: Mapping[str, list[tuple[int, int]]], stop: Callable[[], bool]
) -> tuple[Mapping[str, list[list[str]]], list[str]]:
    from holdfast.search.blame import BlameCache, authors_of_many

    if not wanted:
        return {}, []
    if not repository.is_git:
        return {path: [] for path in wanted}, ["this is no git repository: nobody is known to have written a line"]
    why: dict[str, str] = {}
    with BlameCache(cache) as known:
        said = authors_of_many(repository.root, wanted, cache=known, stop=stop, reasons=why)
    return said, _summed(why)


def _summed(why: Mapping[str, str]) -> list[str]:
    """Each reason once, with the number of files that have it."""
    counts = Counter(reason.replace(f" '{path}'", "") for path, reason in why.items())
    shown = [
        f"the last author stands for the lines of {count} {'file' if count == 1 else 'files'}: {reason}"
        for reason, count in counts.most_common(_MOST_REASONS)
    ]
    more = len(counts) - len(shown)
    return [*shown, f"and for those of more files, for {more} other reasons"] if more else shown
