"""The filter `chunkAuthor`: who wrote the lines of a chunk, asked of git when somebody wants to know, and kept."""

from pathlib import Path

from holdfast.search.repository import Repository
from holdfast.search.store.reader import ChunkRow, StoreReader

__all__ = ["rows_by_author"]


def rows_by_author(
    repository: Repository, store: StoreReader, cache: Path, rows: list[ChunkRow], author: str
) -> list[ChunkRow]:
    """The chunks of which somebody with this in their name wrote a line; without blame, the file's last author."""
    from holdfast.search.blame import BlameCache, authors_of_many

    needle = author.lower()
    files = store.file_rows({row.file for row in rows})
    by_file: dict[int, list[ChunkRow]] = {}
    for row in rows:
        by_file.setdefault(row.file, []).append(row)
    wanted = {files[n].path: [(row.start_line, row.end_line) for row in of_file] for n, of_file in by_file.items()}
    with BlameCache(cache) as known:
        said = authors_of_many(repository.root, wanted, cache=known) if repository.is_git else {}
    kept = []
    for number, of_file in by_file.items():
        last = files[number].author or ""
        blamed = said.get(files[number].path) or [[] for _ in of_file]
        for row, names in zip(of_file, blamed, strict=True):
            if any(needle in name.lower() for name in names or [last] if name):
                kept.append(row)
    return kept
