"""The files that vectors are kept in: half-written ones, dead rows, damage; and that searching them is exact."""

import sqlite3
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from holdfast.search.vectors import graph as graphs
from holdfast.search.vectors.cache import VectorCache, key_of
from holdfast.search.vectors.graph import bring_graph_up_to_date, open_graph
from holdfast.search.vectors.neighbours import Neighbours
from holdfast.search.vectors.table import ROW, TableView, TableWriter, coded, rewrite, stamp

WIDTH = 16
Floats = NDArray[np.float32]


def some_vectors(count: int, seed: int = 1) -> Floats:
    vectors = np.random.default_rng(seed).normal(size=(count, WIDTH)).astype(np.float32)
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), np.float32)


def fill(directory: Path, vectors: Floats, *, first: int = 0, files: list[int] | None = None) -> None:
    rows = np.zeros(len(vectors), ROW)
    codes, rows["scale"] = coded(vectors)
    rows["chunk"] = np.arange(first, first + len(vectors))
    rows["file"] = files or [1] * len(vectors)
    writer = TableWriter(directory, WIDTH)
    writer.add(rows, codes)
    writer.close()


def test_small_integers_lose_next_to_nothing() -> None:
    vectors = some_vectors(200)
    codes, scale = coded(vectors)
    again = codes.astype(np.float32) * scale[:, None]
    assert np.abs((again @ again.T) - (vectors @ vectors.T)).max() < 0.02
    assert not coded(np.zeros((1, WIDTH), np.float32))[0].any()


@settings(max_examples=25, deadline=None)
@given(cut=st.integers(0, 10 * ROW.itemsize), left=st.integers(0, 10 * WIDTH))
def test_whatever_is_cut_off_the_next_writer_goes_on_behind_the_last_whole_row(
    cut: int, left: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    place = tmp_path_factory.mktemp("t") / "code"
    fill(place, some_vectors(10))
    for name, size in (("rows", cut), ("vectors", left)):
        with (place / name).open("r+b") as file:
            file.truncate(size)
    kept = len(TableView.open(place, WIDTH))
    assert kept == min(cut // ROW.itemsize, left // WIDTH)
    fill(place, some_vectors(3, seed=2), first=100)
    view = TableView.open(place, WIDTH)
    assert view.rows["chunk"].tolist() == [*range(kept), 100, 101, 102]
    assert (view.vectors[-3:] == coded(some_vectors(3, seed=2))[0]).all()


def test_a_table_that_is_not_there_is_an_empty_one(tmp_path: Path) -> None:
    assert len(TableView.open(tmp_path / "none", WIDTH)) == 0
    assert stamp(tmp_path / "none") == (0, 0)
    near = Neighbours(tmp_path / "none", WIDTH, [1])
    assert (near.count, near.nearest(some_vectors(1)[0], 5), near.of([1, 2], some_vectors(1)[0])) == (0, {}, {})


def test_the_nearest_are_those_that_comparing_all_gives(tmp_path: Path) -> None:
    vectors, question = some_vectors(300), some_vectors(1, seed=9)[0]
    fill(tmp_path, vectors)
    near = Neighbours(tmp_path, WIDTH, [1])
    found = near.nearest(question, 10)
    codes, scale = coded(vectors)
    cosines = codes.astype(np.float32) @ question * scale
    assert list(found) == np.argsort(-cosines, kind="stable")[:10].tolist()
    assert found[next(iter(found))] == pytest.approx(float((vectors @ question).max()), abs=0.01)


@settings(max_examples=20, deadline=None)
@given(chunks=st.lists(st.integers(-5, 320), unique=True, max_size=320))
def test_the_cosines_of_some_chunks_are_theirs_in_any_order(
    chunks: list[int], tmp_path_factory: pytest.TempPathFactory
) -> None:
    place = tmp_path_factory.mktemp("t")
    vectors, question = some_vectors(300), some_vectors(1, seed=9)[0]
    fill(place, vectors)
    found = Neighbours(place, WIDTH, [1]).of(chunks, question)
    assert found.keys() == {chunk for chunk in chunks if 0 <= chunk < 300}
    assert all(
        cosine == pytest.approx(float(vectors[chunk] @ question), abs=0.01) for chunk, cosine in found.items()
    )


def test_dead_versions_of_a_chunk_crowd_nobody_out(tmp_path: Path) -> None:
    question = some_vectors(1, seed=9)[0]
    fill(tmp_path, np.repeat(question[None, :], 500, axis=0), files=[7] * 500)
    fill(tmp_path, some_vectors(20), first=1000, files=[8] * 20)
    near = Neighbours(tmp_path, WIDTH, [8])
    assert near.count == 20
    assert min(near.nearest(question, 5)) >= 1000


def test_a_rewritten_table_has_only_what_was_kept(tmp_path: Path) -> None:
    place = tmp_path / "code"
    fill(place, some_vectors(6))
    before = stamp(place)
    rewrite(place, WIDTH, [True, False, True, False, False, True])
    assert TableView.open(place, WIDTH).rows["chunk"].tolist() == [0, 2, 5]
    assert stamp(place) != before
    assert [path.name for path in tmp_path.iterdir()] == ["code"]


@pytest.fixture
def linked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Floats]:
    """A table with a graph over its first rows, and some behind them."""
    monkeypatch.setattr(graphs, "MOST_EXACT", 500)
    vectors = some_vectors(1040)
    fill(tmp_path, vectors[:1000], files=[n % 3 for n in range(1000)])
    bring_graph_up_to_date(tmp_path, TableView.open(tmp_path, WIDTH), lambda *_: None)
    fill(tmp_path, vectors[1000:], first=1000, files=[0] * 40)
    return tmp_path, vectors


def test_a_graph_finds_nearly_what_comparing_all_finds(linked: tuple[Path, Floats]) -> None:
    place, vectors = linked
    near = Neighbours(place, WIDTH, [0, 1, 2])
    assert near.source == "hnsw"
    hits = 0
    for question in some_vectors(20, seed=5):
        best = set(np.argsort(-(vectors @ question))[:10].tolist())
        hits += len(best & set(near.nearest(question, 10)))
    assert hits >= 190


def test_rows_behind_the_graph_and_only_living_ones_are_found(linked: tuple[Path, Floats]) -> None:
    place, vectors = linked
    near = Neighbours(place, WIDTH, [0])
    found = near.nearest(vectors[1030], 30)
    assert next(iter(found)) == 1030
    assert all(chunk >= 1000 or chunk % 3 == 0 for chunk in found)
    assert len(found) == 30


def test_a_graph_grows_when_too_much_is_outside_and_goes_when_it_is_not_needed(
    linked: tuple[Path, Floats],
) -> None:
    place, _ = linked
    fill(place, some_vectors(200, seed=3), first=5000)
    view = TableView.open(place, WIDTH)
    bring_graph_up_to_date(place, view, lambda *_: None)
    assert len(open_graph(place, len(view))) == 1240
    few = TableView(view.rows[:10], view.vectors[:10])
    bring_graph_up_to_date(place, few, lambda *_: None)
    assert open_graph(place, 10) is None


@pytest.mark.parametrize("content", [b"", b"rubbish" * 100])
def test_a_damaged_graph_is_as_good_as_none(content: bytes, linked: tuple[Path, Floats]) -> None:
    place, vectors = linked
    (place / "graph").write_bytes(content)
    near = Neighbours(place, WIDTH, [0, 1, 2])
    assert near.source == "dense"
    assert next(iter(near.nearest(vectors[4], 3))) == 4


def test_the_cache_knows_vectors_by_model_and_text(tmp_path: Path) -> None:
    cache = VectorCache(tmp_path / "v.db")
    keys = [key_of("m", "a"), key_of("m", "b"), key_of("n", "a")]
    assert len(set(keys)) == 3
    cache.put([(keys[0], b"\x01" * WIDTH), (keys[1], b"\x02" * (WIDTH + 1))])
    assert cache.get(keys, WIDTH) == {keys[0]: b"\x01" * WIDTH}
    cache.keep_only([keys[1]])
    assert (cache.count(), cache.get(keys, WIDTH)) == (1, {})
    cache.close()


@pytest.mark.parametrize("damage", ["rubbish", "table", "text"])
def test_a_damaged_cache_begins_anew(damage: str, tmp_path: Path) -> None:
    path = tmp_path / "v.db"
    if damage == "rubbish":
        path.write_bytes(b"\0rubbish" * 1000)
    else:
        database: Any = sqlite3.connect(path)
        column = "other BLOB" if damage == "table" else "key TEXT, codes TEXT"
        database.execute(f"CREATE TABLE vectors ({column})")
        database.execute(
            "INSERT INTO vectors VALUES ('x')" if damage == "table" else "INSERT INTO vectors VALUES ('x', 'y')"
        )
        database.commit()
        database.close()
    cache = VectorCache(path)
    cache.put([(b"k" * 16, b"\x01" * WIDTH)])
    assert cache.get([b"k" * 16, b"x"], WIDTH) == {b"k" * 16: b"\x01" * WIDTH}
    cache.close()
