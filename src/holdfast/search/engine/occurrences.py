"""Where one term stands: in which documents, how often in each, and at which places.

Kept as arrays, in memory and in the rows of a portable file alike. A row holds the documents of one block of
numbers, so that a change of a few documents rewrites few bytes. Numbers are written as small as they can be, with
the lowest byte first, whatever machine the file is made on.
"""

import sqlite3
import sys
import zlib
from array import array
from collections.abc import Container, Iterable, Sequence
from itertools import accumulate, chain, compress, islice, repeat
from operator import sub
from typing import NamedTuple

__all__ = ["BLOCK_BITS", "OFFSET_BITS", "Occurrences", "block_of"]

BLOCK_BITS = 14  # of a number that are told within a block
OFFSET_BITS = 32  # of a place: the number of a document and an offset in it, as one number

_NOTHING = array("I")
_DEFLATED, _WORTH_DEFLATING = 0x80, 48
_MOST_BYTES = 64 << 20  # of one row; a file may come from anywhere
_TYPES = {1: "B", 2: "H", 4: "I"}
_Row = tuple[bytes, bytes | None, bytes | None]


def block_of(number: int) -> int:
    """The block that a document belongs to."""
    return number >> BLOCK_BITS


class Occurrences(NamedTuple):
    """One term, by ascending numbers of documents.

    Places are there where phrases are looked for. Without counts, the term stands in every document once.
    """

    numbers: "array[int]"
    counts: "array[int]"
    places: "array[int]"

    @classmethod
    def none(cls) -> "Occurrences":
        """A term that stands nowhere yet."""
        return cls(array("I"), array("I"), array("I"))

    @classmethod
    def of_set(cls) -> "Occurrences":
        """The same for a plain set, of which there are many: they share what stays empty."""
        return cls(array("I"), _NOTHING, _NOTHING)

    def counted(self) -> dict[int, int]:
        """How often the term stands in each document."""
        return dict(zip(self.numbers, self._counts(), strict=True))

    def starts(self, before: int, among: Container[int]) -> set[int]:
        """Where something begins, in some documents, that has the term so many words behind its first."""
        each = chain.from_iterable(map(repeat, self.numbers, self._counts()))
        return {
            (number << OFFSET_BITS) + place - before
            for number, place in zip(each, self.places, strict=True)
            if number in among
        }

    def without(self, numbers: Iterable[int]) -> "Occurrences":
        """The same without some documents."""
        lost = set(numbers)
        if lost.isdisjoint(self.numbers):
            return self
        kept = [number not in lost for number in self.numbers]
        each = chain.from_iterable(map(repeat, kept, self._counts()))
        parts = (compress(self.numbers, kept), compress(self.counts, kept), compress(self.places, each))
        return Occurrences(*(array("I", part) for part in parts))

    def extended(self, other: "Occurrences") -> "Occurrences":
        """The same with the documents of another one."""
        both = Occurrences.joined([self, other])
        return both if list(both.numbers) == sorted(both.numbers) else both._in_order()

    @classmethod
    def joined(cls, parts: "Sequence[Occurrences]") -> "Occurrences":
        """One after the other, as the blocks of a term are."""
        both = cls.none()
        is_plain = not any(part.counts for part in parts)
        for part in parts:
            both.numbers.extend(part.numbers)
            both.counts.extend(_NOTHING if is_plain else part._counts())
            both.places.extend(part.places)
        return both

    def packed(self) -> _Row:
        """The columns of the row; None says the same as a column that can be told from the others."""
        base = block_of(self.numbers[0]) << BLOCK_BITS
        steps = array("H", map(sub, self.numbers, chain((base,), self.numbers)))
        is_plain = not self.counts or max(self.counts) == 1
        counts = None if is_plain else _packed(_smallest(self.counts))
        return _packed(steps), counts, _packed(_smallest(self.places)) if self.places else None

    @classmethod
    def unpacked(cls, block: int, numbers: bytes, counts: bytes | None, places: bytes | None) -> "Occurrences":
        """What was packed; sqlite3.DatabaseError where that cannot be."""
        steps = _unpacked(numbers)
        try:
            found = array("I", islice(accumulate(steps, initial=block << BLOCK_BITS), 1, None))
        except OverflowError:
            raise sqlite3.DatabaseError("a row of postings has a number that no document has") from None
        many = _NOTHING if counts is None else _unpacked(counts)
        where = _NOTHING if places is None else _unpacked(places)
        row = cls(found, many, where)
        if len(row._counts()) != len(found) or (where and sum(row._counts()) != len(where)):
            raise sqlite3.DatabaseError("a row of postings does not fit together")
        return row

    def _counts(self) -> "array[int]":
        return self.counts or array("I", [1]) * len(self.numbers)

    def _in_order(self) -> "Occurrences":
        ends = list(accumulate(self._counts(), initial=0))
        order = sorted(range(len(self.numbers)), key=self.numbers.__getitem__)
        return Occurrences(
            array("I", [self.numbers[one] for one in order]),
            array("I", [self.counts[one] for one in order if self.counts]),
            array("I", chain.from_iterable(self.places[ends[one] : ends[one + 1]] for one in order)),
        )


def _smallest(values: "array[int]") -> "array[int]":
    most = max(values)
    return array("B" if most < 1 << 8 else "H" if most < 1 << 16 else "I", values)


def _packed(values: "array[int]") -> bytes:
    """The width of a number, and the numbers; deflated where that is worth it, which the first bit tells."""
    data = _lowest_first(values).tobytes()
    if len(data) >= _WORTH_DEFLATING and len(smaller := zlib.compress(data, 1, -15)) < len(data):
        return bytes([_DEFLATED | values.itemsize]) + smaller
    return bytes([values.itemsize]) + data


def _unpacked(packed: bytes) -> "array[int]":
    first = packed[0] if packed else 0
    data = _inflated(packed[1:]) if first & _DEFLATED else packed[1:]
    width = first & ~_DEFLATED
    if width not in _TYPES or len(data) % width:
        raise sqlite3.DatabaseError("a row of postings is damaged")
    values: array[int] = array(_TYPES[width])
    values.frombytes(data)
    return array("I", _lowest_first(values))


def _inflated(data: bytes) -> bytes:
    inflater = zlib.decompressobj(-15)
    whole = inflater.decompress(data, _MOST_BYTES)
    if inflater.unconsumed_tail:
        raise sqlite3.DatabaseError("a row of postings is larger than any can be")
    return whole


def _lowest_first(values: "array[int]") -> "array[int]":
    if sys.byteorder == "big":
        values = values[:]
        values.byteswap()
    return values
