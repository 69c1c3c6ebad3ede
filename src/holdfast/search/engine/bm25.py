"""BM25 as the default backend reckons it, to the last digit, so that another one chooses the same candidates.

Lengths are kept in one byte, and every step is rounded to single precision. The figures of the whole collection
(documents, average lengths, in how many documents a word stands) are those of the default backend too: it counts
documents that were removed and not yet merged away.
"""

import math
import struct
from bisect import bisect_right
from collections.abc import Iterable

__all__ = ["FieldScoring", "length_code", "single"]

_K1, _B = 1.2, 0.75
_SINGLE = struct.Struct("f")


def single(value: float) -> float:
    """A number in single precision."""
    rounded: float = _SINGLE.unpack(_SINGLE.pack(value))[0]
    return rounded


def length_code(length: int) -> int:
    """The byte that stands for the length of a field: exact up to 40, then with three digits after the first."""
    return bisect_right(_LENGTHS, length) - 1


class FieldScoring:
    """Scores of words in one field."""

    def __init__(self, average_length: float, documents: int) -> None:
        self._documents = documents
        average = single(average_length)
        self._norms = [_norm(length, average) for length in _LENGTHS] if average else [single(_K1)] * 256

    def weight(self, frequencies: Iterable[int], boost: float = 1.0) -> float:
        """What the rarity of a word, or of the words of a phrase, counts; `frequencies` are of documents."""
        idf = 0.0
        for frequency in frequencies:
            idf = single(idf + self._idf(frequency))
        return single(single(idf * single(1.0 + single(_K1))) * boost)

    def score(self, weight: float, count: int, code: int) -> float:
        """The score of a field of this length in which the word stands so many times."""
        return single(weight * single(count / single(count + self._norms[code])))

    def _idf(self, frequency: int) -> float:
        rarity = single(single(self._documents - frequency + 0.5) / single(frequency + 0.5))
        return single(math.log(single(1.0 + rarity)))


def _norm(length: int, average: float) -> float:
    share = single(single(_B * single(length)) / average)
    return single(single(_K1) * single(single(1.0 - _B) + share))


def _length(code: int) -> int:
    """Of a byte: the numbers to 23 as they are; above, three binary digits and an exponent."""
    if code < 24:
        return code
    digits, exponent = (code - 24) & 7, (code - 24) >> 3
    return 24 + (digits if exponent == 0 else (digits | 8) << (exponent - 1))


_LENGTHS = [_length(code) for code in range(256)]
