"""JSON text to values and back, exactly: what cannot be kept is refused, never rounded, merged or guessed.

Duplicate object keys, NaN, lone surrogates, overflowing numbers and bottomless nesting are errors that say how
to answer them. What a message means is not decided here (see `envelope`).

The fast path rests on one proof: if writing the parsed value gives back the very bytes that were read, nothing
was lost in reading them. Bytes that fail this test (white space, escapes, integers beyond 64 bits, duplicate
keys) take the exact path, which costs several times as much and gives the same value.
"""

import json
import marshal
import math
import re
from collections import Counter
from collections.abc import Sequence
from itertools import accumulate
from typing import Any, Literal

import orjson

from holdfast.errors import WireError
from holdfast.vocabulary.ids import RequestId, is_request_id
from holdfast.wire.envelope import INVALID_REQUEST, PARSE_ERROR
from holdfast.wire.legible import legible_request_id

__all__ = ["BOM", "MAX_DEPTH", "RELAY_DEPTH", "decode", "encode", "is_surely_finite", "refuse_unsayable"]

BOM = b"\xef\xbb\xbf"
MAX_DEPTH = 128
RELAY_DEPTH = 512  # what is only passed on may be deeper: whoever reads it has a bound of its own
_MAX_DIGITS = 4300  # the interpreter's own default bound for turning text into an integer

Halves = Literal["refused", "replaced", "kept"]

_STRING_REST = re.compile(rb'"[^"]*"?')
_SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")
# From the left: an escaped backslash and a whole pair are passed over, so that what is left is half a character.
_HALF = re.compile(
    r"(\\\\|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})|\\u[dD][89a-fA-F][0-9a-fA-F]{2}"
)
_NOT_STRUCTURE = bytes(set(range(256)) - set(b'"[]{}'))
_PERHAPS_NOT_FINITE = re.compile(rb"[\xf0-\xff][\x7f\xff]")  # exponents of all ones, little-endian
_WITHOUT_REFERENCES = 2  # the version of the format that writes every value out
_STEPS = bytes.maketrans(b"[{]}", b"\x01\x01\xff\xff")  # +1 and -1 once read as signed bytes


def decode(raw: bytes, *, max_depth: int = MAX_DEPTH, halves: Halves = "refused") -> Any:
    """The value of one JSON text in UTF-8; raises WireError with the code and id to answer with.

    `halves` is about halves of characters (lone surrogates), which JavaScript leaves where it cuts a text:
    "replaced" reads U+FFFD for each, for whoever has to use what it is told; "kept" is for a relay that writes the
    value again in the form in which it came.
    """
    if raw.count(b"[") + raw.count(b"{") > max_depth and _depth(raw) > max_depth:
        text = f"the message is nested deeper than {max_depth} levels"
        raise WireError(INVALID_REQUEST, text, request_id=legible_request_id(raw, raw))
    try:
        value = orjson.loads(raw)
        if orjson.dumps(value) == raw:
            return value
    except (ValueError, TypeError):
        pass  # the exact path finds out whether, and how, the bytes are wrong
    return _decode_exactly(raw, halves)


def encode(value: Any) -> bytes:
    """Compact JSON in UTF-8 on one line; raises TypeError or ValueError for what JSON cannot say."""
    try:
        encoded = orjson.dumps(value)
    except TypeError:
        return _encode_exactly(value)
    if b"null" in encoded and not is_surely_finite(value):  # orjson writes NaN and infinities as null
        refuse_unsayable(value)
    return encoded


def is_surely_finite(value: Any) -> bool:
    """Whether a plain value holds no NaN and no infinity; False may also mean that a closer look is needed.

    In the interpreter's own serialization such a number ends in two bytes that no UTF-8 text can hold one behind
    the other: one pass in C replaces a walk through every value. Other numbers may hold them too, hence "surely".
    """
    try:
        data = marshal.dumps(value, _WITHOUT_REFERENCES)
    except ValueError:  # something that is not plain
        return False
    return not (b"\x7f" in data or b"\xff" in data) or _PERHAPS_NOT_FINITE.search(data) is None


def _depth(raw: bytes) -> int:
    """How many brackets are open at most at the same time; right at least up to the first syntax error."""
    unescaped = raw.replace(b"\\\\", b"").replace(b'\\"', b"")
    structure = unescaped.translate(None, _NOT_STRUCTURE).replace(b'""', b"")
    brackets = _STRING_REST.sub(b"", structure)
    return max(accumulate(memoryview(brackets.translate(_STEPS)).cast("b")), default=0)


class _Pairs:
    """Collects objects, remembering the first key that occurs twice in one and the pairs of the latest."""

    def __init__(self) -> None:
        self.duplicate: str | None = None
        self.latest: Sequence[tuple[str, Any]] = ()

    def to_object(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        built = dict(pairs)
        self.latest = pairs
        if len(built) != len(pairs) and self.duplicate is None:
            times = Counter(key for key, _ in pairs)
            self.duplicate = next(key for key in times if times[key] > 1)
        return built


def _decode_exactly(raw: bytes, halves: Halves) -> Any:
    pairs = _Pairs()
    decoder = json.JSONDecoder(
        object_pairs_hook=pairs.to_object,
        parse_int=_exact_integer,
        parse_float=_finite_number,
        parse_constant=_no_constant,
    )
    try:
        text = raw.removeprefix(BOM).decode()
        has_halves = halves != "kept" and _SURROGATE_ESCAPE.search(text) is not None
        if has_halves and halves == "replaced":
            text = _HALF.sub(lambda found: found[1] or "\\ufffd", text)
        value = decoder.decode(text)
        if has_halves:
            _STRICT.encode(value).encode()
    except UnicodeDecodeError as error:
        raise WireError(PARSE_ERROR, f"the message is not UTF-8 (byte {error.start})") from error
    except UnicodeEncodeError as error:
        text = "the message contains a lone surrogate"
        raise WireError(PARSE_ERROR, text, request_id=legible_request_id(raw, raw)) from error
    except RecursionError as error:
        raise WireError(INVALID_REQUEST, "the message is nested too deeply") from error
    except ValueError as error:
        raise WireError(PARSE_ERROR, f"the message is not JSON: {error}") from error
    if pairs.duplicate is not None:
        root = pairs.latest if type(value) is dict else ()
        message = f"the key {pairs.duplicate[:80]!r} occurs twice in one object"
        raise WireError(INVALID_REQUEST, message, request_id=_single_id(root))
    return value


def _single_id(root: Sequence[tuple[str, Any]]) -> RequestId | None:
    ids = [value for key, value in root if key == "id"]
    return ids[0] if len(ids) == 1 and is_request_id(ids[0]) else None


def _exact_integer(digits: str) -> int:
    if len(digits) > _MAX_DIGITS and len(digits.removeprefix("-")) > _MAX_DIGITS:
        raise ValueError(f"an integer has more than {_MAX_DIGITS} digits")
    return int(digits)


def _finite_number(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise ValueError(f"the number {text[:40]} is out of range")
    return number


def _no_constant(word: str) -> float:
    raise ValueError(f"{word} is not a JSON value")


_STRICT = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def _encode_exactly(value: Any) -> bytes:
    """For what orjson refuses: integers beyond 64 bits, deep nesting, and everything that is an error."""
    try:
        text = _STRICT.encode(value)
        refuse_unsayable(value)
        return text.encode()
    except UnicodeEncodeError as error:
        raise ValueError(
            f"a text with the lone surrogate U+{ord(error.object[error.start]):X} is not JSON"
        ) from error
    except RecursionError as error:
        raise ValueError("the value is nested too deeply for JSON") from error


def refuse_unsayable(value: Any) -> None:
    """Raise TypeError or ValueError for what an encoder would write as something else: odd keys, NaN, infinity."""
    pending = [value]
    while pending:
        item = pending.pop()
        if isinstance(item, dict):
            for key in item:
                if not isinstance(key, str):
                    raise TypeError(f"the object key {key!r} is not a string")
            pending.extend(item.values())
        elif isinstance(item, list | tuple):
            pending.extend(item)
        elif isinstance(item, float) and not math.isfinite(item):
            raise ValueError(f"{item} is not a JSON value")
