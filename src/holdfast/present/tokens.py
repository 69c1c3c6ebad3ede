"""About how many tokens a language model reads a text as, without the tables of any tokenizer.

No tokenizer is the right one: every family of models has its own, and its tables are megabytes. So this counts
classes of characters and weighs them. The weights were fitted to the larger of what three published tokenizers
(cl100k, o200k, and the one published for Claude) say about prose, source code, JSON, logs, tables and a dozen
scripts, so the estimate is rather too high than too low. For English, source code, JSON, Chinese, Japanese and
Korean it is within about a fifth of cl100k; o200k, which knows other scripts better, needs up to a third less
for these, and less than half for Cyrillic and Arabic. Base64, which nobody reads, may be a quarter too low.
"""

import math
import string

__all__ = ["estimated_tokens"]

_LOWER, _UPPER, _DIGIT = b"l", b"u", b"d"
# Weight of one character of each class. A letter costs little by itself; it is words that cost.
_CLASS_WEIGHTS: dict[bytes, float] = {
    _LOWER: 0.11,
    _UPPER: 0.33,
    _DIGIT: 0.33,
    b"s": 0.02,  # blanks belong to the word after them
    b"n": 0.5,  # line ends
    b"p": 0.52,  # punctuation and control characters
    b"2": 0.6,  # Latin with marks, Greek, Cyrillic: first byte of two
    b"6": 1.0,  # Hebrew, Arabic and their neighbours
    b"i": 1.25,  # the scripts of India and their neighbours: first byte of three
    b"3": 1.0,  # CJK, Hangul, symbols
    b"4": 3.0,  # emoji: first byte of four
}
_WORD = 0.66
_NUMBER = 0.75
_INDENTATION = 0.4
_LONE_MARK = 0.4  # ` | ` in a table: a token of its own, where `);` is one together


def _class_of(byte: int) -> bytes:
    character = chr(byte)
    if character in string.ascii_letters:
        return _LOWER if character.islower() else _UPPER
    if character in string.digits:
        return _DIGIT
    if byte < 0x80:
        return {" ": b"s", "\t": b"s", "\n": b"n", "\r": b"n"}.get(character, b"p")
    # c: inside of a character
    bounds = ((0xC0, b"c"), (0xD6, b"2"), (0xE0, b"6"), (0xE1, b"i"), (0xF0, b"3"), (0x100, b"4"))
    return next(name for end, name in bounds if byte < end)


_CLASSES = b"".join(map(_class_of, range(256)))
_LETTERS = bytes(ord("l") if name in _LOWER + _UPPER else ord("x") for name in _CLASSES)
_DIGITS = bytes(ord("d") if name in _DIGIT else ord("x") for name in _CLASSES)


def estimated_tokens(text: str) -> int:
    """The estimated number of tokens of `text`: 0 for no text, never negative, in time linear in its length."""
    raw = b"\n" + text.encode("utf-8", "surrogatepass")
    classes = raw.translate(_CLASSES)
    weight = sum(classes.count(name) * each for name, each in _CLASS_WEIGHTS.items()) - _CLASS_WEIGHTS[b"n"]
    words = raw.translate(_LETTERS).count(b"xl") + classes.count(b"lu")
    numbers = raw.translate(_DIGITS).count(b"xd")
    weight += words * _WORD + numbers * _NUMBER
    weight += classes.count(b"ns") * _INDENTATION + classes.count(b"sps") * _LONE_MARK
    return math.ceil(weight - 1e-9)
