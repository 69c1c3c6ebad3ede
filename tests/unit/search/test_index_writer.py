"""A writer of both stores that cannot begin."""

import sqlite3
from pathlib import Path

import pytest

from holdfast.search.home import Build
from holdfast.search.index_writer import IndexWriter
from holdfast.search.store.writer import StoreWriter


def test_a_writer_that_cannot_begin_keeps_nobody_else_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    build = Build(tmp_path / "build")
    build.directory.mkdir()
    with IndexWriter(build, fresh=True) as first:
        first.commit()

    def busy(_: StoreWriter) -> None:
        raise sqlite3.OperationalError("database is locked")

    with monkeypatch.context() as patched:
        patched.setattr(StoreWriter, "begin", busy)
        with pytest.raises(sqlite3.OperationalError, match="locked") as refused:
            IndexWriter(build, fresh=False)
    with IndexWriter(build, fresh=False) as second:
        assert second.store.generation == 1
    assert refused.traceback  # what was refused is still known, and holds on to whatever it did not let go of
