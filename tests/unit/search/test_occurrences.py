"""Postings as arrays: packed and unpacked, changed in place of being written anew, and read on any machine."""

import sqlite3
import sys
import zlib
from array import array
from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.search.engine.collected import Collected
from holdfast.search.engine.occurrences import BLOCK_BITS, Occurrences, block_of
from holdfast.search.engine.portable_schema import FIELDS, KINDS, create_tables
from holdfast.search.engine.table_words import occurrences_of, phrase_counts_of
from holdfast.search.engine.table_writer import PostingWriter

BLOCK = 1 << BLOCK_BITS
TEXTS = st.lists(st.sampled_from("abc"), max_size=12)
Documents = dict[int, list[str]]


def of(documents: Documents) -> Collected:
    gathered = Collected()
    for number, words in sorted(documents.items()):
        gathered.add_words("body", number, words)
    return gathered


@given(st.dictionaries(st.integers(3 * BLOCK, 4 * BLOCK - 1), st.lists(st.just("a"), min_size=1, max_size=300)))
def test_what_is_packed_is_unpacked_again(documents: Documents) -> None:
    found = of(documents).of("body", "a")
    if documents:
        assert Occurrences.unpacked(3, *found.packed()).counted() == found.counted()
        assert Occurrences.unpacked(3, *found.packed()).places == found.places


@pytest.mark.parametrize("place", [0, 255, 256, 65_535, 65_536, 2**31])
def test_a_place_takes_as_many_bytes_as_it_needs(place: int) -> None:
    found = Occurrences(array("I", [7]), array("I", [1]), array("I", [place]))
    numbers, counts, places = found.packed()
    assert counts is None
    assert places is not None
    assert len(places) - 1 == (1 if place < 256 else 2 if place < 65_536 else 4)
    assert Occurrences.unpacked(0, numbers, counts, places).places == found.places


def test_a_row_is_the_same_on_a_machine_that_writes_the_highest_byte_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert sys.byteorder == "little"
    found = Occurrences(array("I", [1, 300]), array("I", [1, 1]), array("I", [2, 70_000]))
    little = found.packed()
    monkeypatch.setattr(sys, "byteorder", "big")
    big = Occurrences.unpacked(0, *little)  # its arrays are turned round once more than they should be here
    assert big.packed() == little
    assert little[0] == bytes([2, 1, 0, 300 - 1 & 255, 300 - 1 >> 8])


@pytest.mark.parametrize(
    ("numbers", "counts", "places"),
    [
        (b"\x02\x01", None, None),  # half a number
        (b"\x03\x01\x00\x00", None, None),  # a width that there is not
        (b"\x02\x01\x00", b"\x01\x01\x01", None),  # a count too many
        (b"\x02\x01\x00", None, b"\x01\x05\x06"),  # a place too many
    ],
)
def test_a_row_that_cannot_be_is_damage(numbers: bytes, counts: bytes | None, places: bytes | None) -> None:
    with pytest.raises(sqlite3.DatabaseError):
        Occurrences.unpacked(0, numbers, counts, places)


@given(one=TEXTS, two=TEXTS, phrase=st.lists(st.sampled_from("abc"), min_size=2, max_size=3))
def test_a_phrase_is_counted_wherever_it_begins(one: list[str], two: list[str], phrase: list[str]) -> None:
    documents = {1: one, BLOCK + 1: two}
    gathered = of(documents)
    found = phrase_counts_of([gathered.of("body", word) for word in phrase])
    ends = {number: range(len(words) - len(phrase) + 1) for number, words in documents.items()}
    expected = Counter(
        number
        for number, starts in ends.items()
        for n in starts
        if documents[number][n : n + len(phrase)] == phrase
    )
    assert found == expected


def changed(db: sqlite3.Connection, gone: Documents, come: Documents) -> None:
    writer = PostingWriter(db)
    for number, words in gone.items():
        writer.remove("body", number, words)
        writer.remove("gram", number, set(words))
    for number, words in sorted(come.items()):
        writer.add_words("body", number, words)
        writer.add_terms("gram", number, set(words))
    writer.flush()


@settings(max_examples=60)
@given(states=st.lists(st.dictionaries(st.integers(0, 3 * BLOCK), TEXTS, max_size=6), min_size=1, max_size=4))
def test_rows_that_were_changed_are_those_of_a_table_made_anew(states: list[Documents]) -> None:
    db = sqlite3.connect(":memory:")
    create_tables(db)
    before: Documents = {}
    for after in states:
        gone = {n: words for n, words in before.items() if after.get(n) != words}
        changed(db, gone, {n: words for n, words in after.items() if before.get(n) != words})
        before = after
    fresh = sqlite3.connect(":memory:")
    create_tables(fresh)
    changed(fresh, {}, before)
    rows = [set(one.execute("SELECT * FROM postings")) for one in (db, fresh)]
    counted = occurrences_of(db, "body", "a").counted()
    db.close()
    fresh.close()
    assert rows[0] == rows[1]
    assert counted == {n: words.count("a") for n, words in before.items() if "a" in words}


def test_memory_is_bounded_however_much_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("holdfast.search.engine.table_writer._MOST_GATHERED", 10)
    db = sqlite3.connect(":memory:")
    create_tables(db)
    numbers = [n * BLOCK // 2 for n in range(40)]
    changed(db, {}, {number: ["a", "b"] for number in numbers})
    found = occurrences_of(db, "body", "b")
    db.close()
    assert list(found.numbers) == numbers
    assert {block_of(n) for n in numbers} == set(range(20))


def test_the_kinds_of_rows_begin_with_the_fields() -> None:
    assert KINDS[: len(FIELDS)] == FIELDS


@pytest.mark.parametrize(
    "columns",
    [
        (0, b"", None, None),
        (1 << 20, bytes([4]) + b"\xff" * 8, None, None),
        (0, bytes([0x84]) + zlib.compress(b"\0" * (80 << 20), 9, -15), None, None),
        (0, bytes([3]) + b"abc", None, None),
        (0, bytes([4]) + b"abc", None, None),
    ],
    ids=["empty", "beyond every number", "a bomb", "a width that is none", "half of a number"],
)
def test_a_row_that_nobody_can_have_written_is_damage(columns: tuple[Any, ...]) -> None:
    with pytest.raises(sqlite3.DatabaseError):
        Occurrences.unpacked(*columns)
