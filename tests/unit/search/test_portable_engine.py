"""The parts of the portable backends: words as FTS5 keeps them, scores to the last digit, files that are none."""

import os
import sqlite3
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.errors import ToolError
from holdfast.search.engine.bm25 import FieldScoring, length_code, single
from holdfast.search.engine.combine import EVERYTHING, all_of, any_of, within
from holdfast.search.engine.portable_file import connect_portable, is_portable
from holdfast.search.engine.portable_schema import create_fts, encoded, has_fts5, streams
from holdfast.search.prepared import ChunkWords

EVERY = frozenset({1, 2, 3, 4})


@pytest.fixture(scope="module")
def tables() -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:")
    create_fts(connection)
    return connection


@given(word=st.text(min_size=1, max_size=12))
def test_any_word_is_one_token_that_is_found_again(tables: sqlite3.Connection, word: str) -> None:
    tables.execute("BEGIN")
    tables.execute("INSERT INTO words (rowid, body, name, identifiers) VALUES (1, ?, '', '')", (encoded(word),))
    places = tables.execute("SELECT term, offset FROM word_places").fetchall()
    found = tables.execute("SELECT rowid FROM words WHERE words MATCH ?", (f'"{encoded(word)}"',)).fetchall()
    tables.execute("ROLLBACK")
    assert places == [(encoded(word), 0)]
    assert found == [(1,)]


@given(one=st.text(), other=st.text())
def test_no_two_words_are_written_alike(one: str, other: str) -> None:
    assert (encoded(one) == encoded(other)) == (one == other)


@pytest.mark.parametrize("word", ["retry", "__init__", "$ref", "os.path", "größe", "漢字", "x1"])
def test_ordinary_words_stay_readable(word: str) -> None:
    assert encoded(word) == word


@pytest.mark.parametrize("word", ["\x1e", "Retry", "a b", '"', "$x41", "\ud800", "\0", "-"])
def test_other_words_are_digits(word: str) -> None:
    assert encoded(word).startswith("$x")


def test_the_words_of_a_row_are_those_that_were_packed() -> None:
    words = ChunkWords(name="retry budget", doc="of retries", body="def retry budget", identifiers="retry_budget")
    texts, lengths = streams(words.packed(), "src budget py")
    assert texts == ("def retry budget $x1e of retries $x1e src budget py", "retry budget", "retry_budget")
    assert lengths == (10, 2, 1)


def test_a_comment_that_is_part_of_the_body_counts_once() -> None:
    words = ChunkWords(name="", doc="retry budget", body="def retry budget", identifiers="")
    texts, lengths = streams(words.packed(), "")
    assert (texts[0], lengths) == ("def retry budget $x1e $x1e", (5, 0, 0))


@pytest.mark.parametrize(
    ("length", "code"), [(0, 0), (39, 39), (40, 40), (41, 40), (42, 41), (55, 47), (10**12, 255)]
)
def test_a_length_is_rounded_down_to_a_byte(length: int, code: int) -> None:
    assert length_code(length) == code


def test_the_score_is_that_of_the_default_backend() -> None:
    scoring = FieldScoring(47.41654, 20656)
    assert scoring.score(scoring.weight([142]), 23, length_code(144)) == 9.672612190246582


@given(value=st.floats(-1e30, 1e30))
def test_single_precision_is_kept(value: float) -> None:
    assert single(single(value)) == single(value)


def test_everything_says_nothing_beside_another_condition() -> None:
    assert all_of([EVERYTHING, {1: 2.0}]) == {1: 2.0}
    assert all_of([]) is EVERYTHING
    assert all_of([{1: 2.0, 2: 1.0}, frozenset({1, 3}), {1: 0.5}]) == {1: 2.5}
    assert all_of([frozenset({1, 2}), frozenset({2})]) == frozenset({2})


def test_either_condition_adds_its_score() -> None:
    assert any_of([{1: 2.0}, {1: 1.0, 2: 1.0}, frozenset({3})]) == {1: 3.0, 2: 1.0, 3: 0.0}
    assert any_of([EVERYTHING, {1: 2.0}], EVERY) == {1: 3.0, 2: 1.0, 3: 1.0, 4: 1.0}
    assert any_of([EVERYTHING, frozenset()], EVERY) is EVERYTHING
    assert any_of([]) == frozenset()
    assert within(EVERYTHING, EVERY) == dict.fromkeys(EVERY, 1.0)


def foreign(place: Path, kind: str) -> Path:
    path = place / "file.db"
    if kind == "database":
        with sqlite3.connect(path) as connection:
            connection.execute("CREATE TABLE somebody (x)")
        connection.close()
    elif kind == "directory":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "link to nowhere":
        path.symlink_to(place / "gone")
    elif kind != "missing":
        path.write_bytes({"empty": b"", "text": b"hello\n" * 50, "head only": b"SQLite format 3\0"}[kind])
    return path


@pytest.mark.parametrize(
    "kind", ["missing", "empty", "text", "head only", "database", "directory", "pipe", "link to nowhere"]
)
def test_what_is_not_ours_is_no_index(tmp_path: Path, kind: str) -> None:
    path = foreign(tmp_path, kind)
    assert not is_portable(path)
    with pytest.raises(ToolError) as caught:
        connect_portable(path, "sqlite")
    assert caught.value.code == "NO_INDEX"
    assert caught.value.hint == "run `holdfast index build --backend sqlite`, or call build_sqlite_index"


def test_this_sqlite_has_fts5() -> None:
    assert has_fts5()
