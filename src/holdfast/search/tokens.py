"""Text to the terms that an index holds: the words inside of identifiers, and the identifiers themselves.

Source text gives two streams. `subwords` is every word in the order of the text, stemmed, and is what positions
and phrases are taken from: `retry_budget`, `retryBudget` and "retry budget" all give `retry budget` there.
`identifiers` holds what is lost by that: names of several words, or with `_` or `$` around them, as a whole
(`retrybudget`, `__init__`), and dotted names of two to four parts (`subprocess.run`). Neither knows operators and
punctuation; those are found by regular expressions over the text.

How a name falls into words:

- at `_` and `$`, and where its case changes; capitals in a row are one word (HTTPServerError: http server error),
  with a plural s if there is one (parseURLs: parse urls);
- between letters and digits, always: prose writes UTF-8, SHA-256 and Python 3 where code writes utf8, sha256 and
  python3, and only the parts (`utf 8`) are common to them. `utf8` as such is in `identifiers`;
- not at all where letters and digits change more than four times: that is a hash or an encoded value, one word;
- text that is written without spaces (Chinese, Japanese, Korean) gives each pair of neighbouring characters.

A word of more than 64 characters, and an ASCII name of more than 200, is data that nobody searches for: dropped.
Text that is not ASCII is brought to its compatibility form (NFKC) first and compared by case folding.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import NamedTuple

from holdfast.search.stems import stem

__all__ = ["Terms", "body_streams", "exact_words", "subwords", "terms_of"]

_RUN = re.compile(r"[\w$]+(?:\.[\w$]+)*")
# The words of an identifier, over its text where that is ASCII and over its shape (see `_shape`) elsewhere.
_WORD = re.compile(r"[A-Z]{2,}s(?![a-z])|[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|~+")
_PIECE = re.compile(r"[A-Za-z0-9~]+")
_CHANGE = re.compile(r"(?<=[A-Za-z])(?=[0-9])|(?<=[0-9])(?=[A-Za-z])")
# Scripts without spaces between words: kana, ideographs, Hangul.
_UNSPACED = re.compile(r"[\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\U00020000-\U0003ffff]")

_SOME_CHANGES = re.compile(r"[0-9][A-Za-z]+[0-9]")  # what may be a hash or an encoded value; most names are not

_MOST_CHANGES = 4
_LONGEST_WORD = 64
_LONGEST_RUN = 200
_MOST_DOTTED_PARTS = 4
_MOST_REMEMBERED = 1 << 16


class Terms(NamedTuple):
    """What one run of text, such as a word of a query, is looked up as."""

    subwords: tuple[str, ...]  # stemmed, in order
    identifiers: tuple[str, ...]  # the whole first: a dotted name, then its parts that are names of several words


class _Remembered(dict[str, str]):
    """Terms of the runs met so far, joined by spaces: a text repeats its names many times over."""

    def __init__(self, terms: Callable[[str], Iterable[str]]) -> None:
        super().__init__()
        self._terms = terms
        self._older: dict[str, str] = {}

    def __missing__(self, run: str) -> str:
        joined = self._older.get(run)
        if joined is None:
            joined = " ".join(self._terms(run))
        if len(run) <= _LONGEST_RUN:
            if len(self) >= _MOST_REMEMBERED:
                self._older = dict(self)  # what is used again moves over, the rest is forgotten in the next turn
                self.clear()
            self[run] = joined
        return joined


def terms_of(run: str) -> Terms:
    """The terms of one word or name, such as `subprocess.run`; of running text, those of all its words."""
    runs = _runs(run)
    subwords = tuple(word for each in runs for word in _subwords(each))
    return Terms(subwords, tuple(name for each in runs for name in _identifiers(each)))


def body_streams(text: str) -> tuple[str, str]:
    """(subwords, identifiers) of a text, each joined by single spaces, in the order of the text."""
    runs = _runs(text)
    subwords = " ".join(filter(None, map(_SUBWORDS.__getitem__, runs)))
    return subwords, " ".join(filter(None, map(_IDENTIFIERS.__getitem__, runs)))


def subwords(text: str) -> list[str]:
    """The first stream of a text alone, word by word."""
    if text.isascii() and text.isidentifier():
        return _subwords(text)
    return [word for run in _runs(text) for word in _SUBWORDS[run].split()]


def exact_words(text: str) -> set[str]:
    """Every name and every word inside of a name as it is written, for searches that respect case."""
    words: set[str] = set()
    for run in set(_runs(text)):
        words.add(run)
        for identifier in run.split("."):
            words.add(identifier)
            words.update(_split(identifier))
    return words


def _runs(text: str) -> list[str]:
    return _RUN.findall(text if text.isascii() else unicodedata.normalize("NFKC", text))


def _folded(text: str) -> str:
    return text.lower() if text.isascii() else text.casefold()


def _subwords(run: str) -> list[str]:
    """The stemmed words of a run. Case folding may turn a letter into several characters, never into a space."""
    if "." not in run:
        return [_stem(word) for word in _split(run)]
    return [_stem(word) for identifier in run.split(".") for word in _split(identifier)]


def _identifiers(run: str) -> list[str]:
    """Those names of a run that its words alone would not tell."""
    if "." not in run:
        return [_folded(run)] if _is_name(run) else []
    parts = run.split(".")
    names = [_folded(part) for part in parts if _is_name(part)]
    if len(parts) <= _MOST_DOTTED_PARTS and len(run) <= _LONGEST_RUN:
        names.insert(0, _folded(run))
    return names


def _is_name(identifier: str) -> bool:
    if len(identifier) > _LONGEST_RUN or _UNSPACED.search(identifier):
        return False
    words = _split(identifier)
    return bool(words) and len(words[0]) != len(identifier)


@lru_cache(1 << 14)
def _stem(word: str) -> str:
    return stem(_folded(word))


@lru_cache(1 << 10)  # two streams ask for the words of the same run, one right after the other
def _split(identifier: str) -> list[str]:
    """The words of an identifier as they are written."""
    if not identifier.isascii():
        return list(_split_shape(identifier, _shape(identifier)))
    if len(identifier) > _LONGEST_RUN:
        return []
    if len(identifier) <= _LONGEST_WORD and not _SOME_CHANGES.search(identifier):
        return _WORD.findall(identifier)
    return list(_split_shape(identifier, identifier))


def _split_shape(text: str, shape: str) -> Iterable[str]:
    for piece in _PIECE.finditer(shape):
        start, end = piece.span()
        if "~" not in piece[0] and len(_CHANGE.findall(piece[0])) > _MOST_CHANGES:
            if end - start <= _LONGEST_WORD:
                yield text[start:end]
            continue
        for word in _WORD.finditer(shape, start, end):
            yield from _words_of(text[word.start() : word.end()], unspaced=word[0][0] == "~")


def _words_of(text: str, *, unspaced: bool) -> Iterable[str]:
    if unspaced and len(text) > 1:
        return map(str.__add__, text, text[1:])
    return [text] if unspaced or len(text) <= _LONGEST_WORD else []


def _shape(text: str) -> str:
    """The text with each character replaced by one of A, a, 0, ~ (a script without spaces) or _ for its class."""
    return "".join(map(_class_of, text))


def _class_of(character: str) -> str:
    if _UNSPACED.match(character):
        return "~"
    if character.isupper():
        return "A"
    if character.isalpha():
        return "a"
    return "0" if character.isnumeric() else "_"


_SUBWORDS = _Remembered(_subwords)
_IDENTIFIERS = _Remembered(_identifiers)
