"""The writing side of the term index: one commit per generation."""

import json
from pathlib import Path
from typing import Any

from holdfast.search.engine.tantivy_schema import (
    GENERATION_TERM,
    build_schema,
    documents,
    generation_document,
    generation_of,
)
from holdfast.search.prepared import PreparedFile
from holdfast.search.tokens import body_streams

__all__ = ["TermWriter", "committed_generation"]

_HEAP = 64_000_000  # bytes of postings in memory before a segment is written


class TermWriter:
    """Adds and removes files; nothing is visible before `commit`."""

    def __init__(self, directory: Path, *, fresh: bool) -> None:
        import tantivy

        directory.mkdir(exist_ok=True)
        if fresh:
            self._index = tantivy.Index(build_schema(), path=str(directory))
        else:
            _sweep(directory)
            self._index = tantivy.Index.open(str(directory))
        self._heap = _HEAP if fresh else _HEAP // 4
        self._writer: Any = self._index.writer(self._heap, 1)

    def add(self, file: PreparedFile, number: int, chunk_numbers: range) -> None:
        """The documents of a new file version."""
        path_words = body_streams(file.path)[0]
        for document in documents(file, number, chunk_numbers, path_words):
            self._writer.add_document(document)

    def remove(self, number: int) -> None:
        """A file version that died."""
        import tantivy

        # A deletion by term takes the number for a signed one and finds nothing.
        self._writer.delete_documents_by_query(tantivy.Query.term_query(self._index.schema, "file", number))

    def commit(self, generation: int) -> None:
        """Everything since the last commit becomes visible, all at once, as this generation."""
        self._writer.delete_documents_by_term("facts", GENERATION_TERM)
        self._writer.add_document(generation_document(generation))
        self._writer.commit()

    def finish(self, *, wait: bool) -> None:
        """Let go of the index; after a full build, wait for the merges that go on in the background."""
        if wait:
            self._writer.wait_merging_threads()
        self._writer = None

    def compact(self) -> None:
        """Merge small segments and remove files that no commit refers to."""
        self._writer.commit()
        self._writer.garbage_collect_files()
        self.finish(wait=True)

    def abandon(self) -> None:
        """Let go of the index without a commit."""
        self._writer.rollback()
        self._writer = None


def _sweep(directory: Path) -> None:
    """Remove lists of deletions that no commit refers to.

    They are named after the number of the commit that they were written for. One that a killed writer left is
    in the way of the next commit, which gets the same number.
    """
    noted = json.loads((directory / "meta.json").read_bytes())
    known = {
        f"{segment['segment_id'].replace('-', '')}.{segment['deletes']['opstamp']}.del"
        for segment in noted.get("segments", ())
        if segment.get("deletes")
    }
    for left in directory.glob("*.del"):
        if left.name not in known:
            left.unlink(missing_ok=True)


def committed_generation(directory: Path) -> int:
    """The generation that the term index carries; 0 when it carries none."""
    import tantivy

    index = tantivy.Index.open(str(directory))
    return generation_of(index.searcher(), index.schema)
