"""JSON text to values and back, and everything that must be refused on the way."""

import json
import struct
import time
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.rows import each_row

from holdfast.errors import WireError
from holdfast.wire.codec import decode, encode, is_surely_finite, refuse_unsayable
from holdfast.wire.envelope import INVALID_REQUEST, PARSE_ERROR

TEXT = st.text(st.characters(exclude_categories=["Cs"]))
NUMBERS = st.integers() | st.integers(-(10**60), 10**60) | st.floats(allow_nan=False, allow_infinity=False)
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXT,
    lambda inner: st.lists(inner) | st.dictionaries(TEXT, inner),
    max_leaves=30,
)


def refusal_of(raw: bytes, **options: Any) -> WireError:
    with pytest.raises(WireError) as caught:
        decode(raw, **options)
    return caught.value


@settings(deadline=None)
@given(VALUES)
def test_what_is_encoded_decodes_to_the_same_value_and_types(value: Any) -> None:
    encoded = encode(value)
    assert b"\n" not in encoded
    assert repr(decode(encoded)) == repr(value)


@settings(deadline=None)
@given(VALUES, st.sampled_from([None, 2]), st.booleans())
def test_valid_json_in_any_spelling_decodes_as_the_standard_library_does(
    value: Any, indent: int | None, ascii_only: bool
) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_only)
    assert repr(decode(text.encode())) == repr(json.loads(text))


@settings(deadline=None)
@given(st.binary() | st.text(alphabet='{}[]":,\\u0d8e1.-truefalsn \n').map(str.encode))
@example(b"")
@example(b"-")
def test_arbitrary_bytes_decode_as_the_standard_library_does_or_are_refused(raw: bytes) -> None:
    try:
        value = decode(raw)
    except WireError:
        return
    assert repr(value) == repr(json.loads(raw.decode("utf-8-sig")))


@each_row(
    "raw",
    [
        b"",
        b" ",
        b"{",
        b"nul",
        b"NaN",
        b'{"a":Infinity}',
        b"[-Infinity]",
        b"1e400",
        b"[-1e400 ]",
        b"{} {}",
        b"{}x",
        b"\x00",
        b"\xff\xfe{}",
        b'"\xed\xa0\x80"',
        b'"\xc3"',
        b'"\\ud800"',
        b'{"\\uDFFF": 1}',
        b'["\\ud83d\\ud83d"]',
        b"'a'",
        b"[1,]",
        b"01",
        b'"\x01"',
        b"\xef\xbb\xbf",
        b"\xef\xbb\xbf\xef\xbb\xbf{}",
    ],
)
def test_what_is_not_json_is_a_parse_error_without_an_id(raw: bytes) -> None:
    error = refusal_of(raw)
    assert error.jsonrpc_code == PARSE_ERROR
    assert error.request_id is None


@pytest.mark.parametrize(
    ("raw", "request_id"),
    [
        (b'{"id":7,"params":{"a":1,"a":1}}', 7),
        (b'{"params":[{"b":{"a":1,"a":2}}],"id":"x"}', "x"),
        (b'{"id":7,"method":"m","method":"m"}', 7),
        (b'{"id":7,"id":8}', None),
        (b'{"id":7,"id":7}', None),
        (b'{"id":true,"a":1,"a":1}', None),
        (b'{"id":1.0,"a":1,"a":1}', None),
        (b'{"a":1,"a":1}', None),
        (b'[{"id":7,"a":1,"a":1}]', None),
        (b'{"id":7,"\\u0061":1,"a":2}', 7),
    ],
)
def test_duplicate_keys_are_refused_at_any_depth_and_name_the_request_where_it_is_certain(
    raw: bytes, request_id: object
) -> None:
    error = refusal_of(raw)
    assert (error.jsonrpc_code, error.request_id) == (INVALID_REQUEST, request_id)


def test_a_byte_order_mark_is_tolerated() -> None:
    assert decode(b'\xef\xbb\xbf{"id":1}') == {"id": 1}


def test_an_escaped_surrogate_pair_is_one_character() -> None:
    assert decode(b'"\\ud83d\\ude00"') == "\N{GRINNING FACE}"


@pytest.mark.parametrize(
    ("raw", "value"),
    [
        (b'"a\\ud83d"', "a\ufffd"),
        (b'"\\ude00\\uD83D"', "\ufffd\ufffd"),
        (b'"\\ud83d\\ud83d\\ude00"', "\ufffd\N{GRINNING FACE}"),
        (b'"\\\\ud83d"', "\\ud83d"),
        (b'"\\\\\\ud83d"', "\\\ufffd"),
        (b'{"\\ud83d":["\\udfff"]}', {"\ufffd": ["\ufffd"]}),
    ],
)
def test_half_a_character_is_read_as_one_that_stands_for_it_where_that_is_wanted(raw: bytes, value: Any) -> None:
    assert decode(raw, halves="replaced") == value


def test_half_a_character_is_refused_where_nobody_asked_for_it() -> None:
    assert "lone surrogate" in refusal_of(b'{"id":1,"a":"\\ud83d"}').message


def test_ids_are_not_confused_by_the_integers_they_equal() -> None:
    assert [type(decode(raw)) for raw in (b"1", b"1.0", b"true", b'"1"')] == [int, float, bool, str]


def test_integers_are_exact_up_to_4300_digits_and_refused_beyond() -> None:
    assert decode(b"18446744073709551616") == 2**64
    assert decode(b"-" + b"9" * 4300) == -(10**4300) + 1
    error = refusal_of(b'{"id":' + b"9" * 4301 + b"}")
    assert error.jsonrpc_code == PARSE_ERROR
    assert "4300 digits" in error.message


@pytest.mark.parametrize("depth", [1, 127, 128, 254, 256, 900])
@pytest.mark.parametrize(("opening", "closing"), [(b"[", b"]"), (b'{"a":', b"}"), (b'[ "[\\"[", ', b"]")])
def test_nesting_up_to_the_bound_is_read_and_one_level_more_is_refused(
    depth: int, opening: bytes, closing: bytes
) -> None:
    raw = opening * depth + b"1" + closing * depth
    assert decode(encode(decode(raw, max_depth=depth)), max_depth=depth) == decode(raw, max_depth=depth)
    assert refusal_of(raw, max_depth=depth - 1).jsonrpc_code == INVALID_REQUEST


def test_brackets_side_by_side_or_inside_strings_are_not_depth() -> None:
    assert len(decode(b"[" + b"[],{}," * 5000 + b"0]")) == 10_001
    assert decode(b'["' + b"[{" * 5000 + b'","\\"[[["]', max_depth=1)[1] == '"[[['


@pytest.mark.parametrize(
    "raw",
    [
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b"[" * 100_000 + b"]" * 100_000,
        b"[{" * 50_000 + b"}" * 100_000,
        b"[" * 100_000 + b'"',
        b'"' + b'\\"[' * 100_000,
        b"]" * 100_000,
    ],
)
def test_a_hundred_thousand_brackets_are_answered_at_once(raw: bytes) -> None:
    started = time.process_time()
    assert refusal_of(raw).jsonrpc_code in {PARSE_ERROR, INVALID_REQUEST}
    assert time.process_time() - started < 0.5


def test_nesting_beyond_the_interpreter_is_refused_whatever_the_bound() -> None:
    assert refusal_of(b"[" * 5000 + b"]" * 5000, max_depth=10_000).jsonrpc_code == INVALID_REQUEST


def circular() -> list[Any]:
    loop: list[Any] = []
    loop.append(loop)
    return loop


def bottomless() -> list[Any]:
    nested: list[Any] = []
    for _ in range(100_000):
        nested = [nested]
    return nested


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (float("nan"), "nan is not a JSON value"),
        ({"a": [None, {"b": float("-inf")}]}, "-inf is not a JSON value"),
        ([2**70, float("inf")], "not JSON compliant"),
        ("\ud800", r"lone surrogate U\+D800"),
        ({"\udfff": 2**70}, r"lone surrogate U\+DFFF"),
        ({1: 2}, "the object key 1 is not a string"),
        ({"a": {True: 2**70}}, "the object key True is not a string"),
        pytest.param(object(), "not JSON serializable", id="an object"),
        (b"bytes", "not JSON serializable"),
        (circular(), "Circular|nested"),
        (bottomless(), "nested too deeply"),
    ],
)
def test_what_json_cannot_say_is_refused_with_the_reason(value: Any, reason: str) -> None:
    with pytest.raises((TypeError, ValueError), match=reason):
        encode(value)


def test_null_is_written_where_it_is_meant() -> None:
    assert encode({"id": None, "text": "null", "n": [1.5]}) == b'{"id":null,"text":"null","n":[1.5]}'


def test_integers_beyond_64_bits_are_written_exactly() -> None:
    assert encode({"n": [2**200, -(2**63) - 1], "ü": "\n"}) == (
        f'{{"n":[{2**200},{-(2**63) - 1}],"ü":"\\n"}}'.encode()
    )


ANY_NUMBERS = st.recursive(
    st.none() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(TEXT, inner),
    max_leaves=20,
)


@settings(deadline=None)
@given(ANY_NUMBERS)
def test_what_looks_finite_at_a_glance_is_finite(value: Any) -> None:
    if is_surely_finite(value):
        refuse_unsayable(value)


@pytest.mark.parametrize(
    "bits", [0x7FF0000000000000, 0xFFF0000000000000, 0x7FF0000000000001, 0x7FF8000000000000, 0xFFFFFFFFFFFFFFFF]
)
def test_every_bit_pattern_of_infinity_and_nan_is_noticed(bits: int) -> None:
    number = struct.unpack("<d", struct.pack("<Q", bits))[0]
    assert not is_surely_finite({"text": "x" * 200, "deep": [[number]]})


def test_an_ordinary_answer_is_known_to_be_finite_at_a_glance() -> None:
    assert is_surely_finite({"score": 34.8716, "annScore": None, "line": 120, "text": "def größe(𝛼): …"})
