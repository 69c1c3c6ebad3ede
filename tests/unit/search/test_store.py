import sqlite3
from pathlib import Path

import pytest

from holdfast.search.packing import pack, pack_text
from holdfast.search.prepared import ChunkWords, PreparedChunk, PreparedFile
from holdfast.search.store import writer as writing
from holdfast.search.store.reader import StoreReader
from holdfast.search.store.writer import StoreWriter


def prepared(path: str, text: str) -> PreparedFile:
    words = ChunkWords("name", "", text, "")
    chunk = PreparedChunk("code", "function", "f", 0, len(text), 1, 1, words, words.packed(), [], {}, pack(b"{}"))
    return PreparedFile(
        path, text.encode(), len(text), 7, "code", "python", "utf-8", 1, [], [], [], pack_text(text.encode()), "",
        [chunk], {},
    )  # fmt: skip


def publish(store: StoreWriter, *files: PreparedFile, gone: str = "") -> None:
    store.begin()
    for file in files:
        store.bury(file.path)
        store.add(file)
    if gone:
        store.bury(gone)
    store.prepare()
    store.publish()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    store = StoreWriter.create(tmp_path / "store.db")
    publish(store, prepared("a.py", "first"), prepared("b.py", "other"))
    store.close()
    return tmp_path / "store.db"


def texts(path: Path, generation: int) -> dict[str, bytes]:
    reader = StoreReader(path, generation)
    try:
        return {row.path: reader.text(row.id) for row in reader.files().values()}
    finally:
        reader.close()


def test_a_reader_sees_its_own_generation_whatever_is_written_later(path: Path) -> None:
    store = StoreWriter.open(path)
    publish(store, prepared("a.py", "second"), gone="b.py")
    store.close()
    assert texts(path, 1) == {"a.py": b"first", "b.py": b"other"}
    assert texts(path, 2) == {"a.py": b"second"}


def test_a_reader_is_not_blocked_by_a_writer_in_the_middle(path: Path) -> None:
    store = StoreWriter.open(path)
    store.begin()
    store.bury("a.py")
    store.add(prepared("a.py", "second"))
    assert texts(path, 1) == {"a.py": b"first", "b.py": b"other"}
    store.rollback()
    store.close()


@pytest.mark.parametrize(
    ("committed", "done", "text"), [(2, "rolled forward", b"second"), (1, "rolled back", b"first")]
)
def test_a_half_written_generation_is_settled_by_the_term_index(
    path: Path, committed: int, done: str, text: bytes
) -> None:
    store = StoreWriter.open(path)
    store.begin()
    store.bury("a.py")
    store.add(prepared("a.py", "second"))
    store.prepare()
    store.close()  # killed before `publish`
    again = StoreWriter.open(path)
    assert again.settle(committed) == done
    assert again.settle(committed) == "clean"
    assert texts(path, again.generation)["a.py"] == text
    again.close()


def test_dead_versions_are_forgotten_after_their_grace(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writing, "GRACE_SECONDS", -1)
    store = StoreWriter.open(path)
    for text in ("second", "third", "fourth"):
        publish(store, prepared("a.py", text))
    store.close()
    with sqlite3.connect(path) as database:
        assert database.execute("SELECT count(*) FROM files WHERE path = 'a.py'").fetchone()[0] < 4
    database.close()
    assert texts(path, 4)["a.py"] == b"fourth"


def test_a_closed_store_says_so(path: Path) -> None:
    reader = StoreReader(path, 1)
    reader.close()
    with pytest.raises(RuntimeError, match="closed"):
        reader.files()


def test_thousands_of_rows_are_fetched_by_number(path: Path) -> None:
    reader = StoreReader(path, 1)
    assert set(reader.chunks(range(5000))) == {1, 2}
    reader.close()
