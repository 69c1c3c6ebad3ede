"""JSON as people write it: whatever comes in, it is a value or a mistake with its line and column."""

import json
import time
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.rows import each_row

from holdfast.search.configuration.jsonc import MAX_DEPTH, JsoncError, parse_jsonc

NUMBERS = st.integers(-(10**30), 10**30) | st.floats(allow_nan=False, allow_infinity=False)
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | NUMBERS | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)
BETWEEN = st.sampled_from(["", " ", "\n", '// a " ] } , comment\n', "/* , ] } // * / */", "\t/**/\r\n", "//\r"])


def mistake(text: str) -> JsoncError:
    with pytest.raises(JsoncError) as found:
        parse_jsonc(text)
    assert str(found.value).isprintable()
    return found.value


@given(VALUES, st.sampled_from([None, 0, 3]), st.booleans())
def test_valid_json_means_what_it_means_to_everybody(value: Any, indent: int | None, ascii_only: bool) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_only)

    assert parse_jsonc(text) == json.loads(text)
    assert repr(parse_jsonc(text)) == repr(json.loads(text))


def written(value: Any, data: st.DataObject) -> str:
    """The value as text, with comments wherever they may stand and commas behind the last entries."""

    def gap() -> str:
        return data.draw(BETWEEN)

    def entries(parts: list[str], opening: str, closing: str) -> str:
        comma = data.draw(st.sampled_from(["", ","])) if parts else ""
        return opening + gap() + ",".join(f"{gap()}{part}{gap()}" for part in parts) + comma + gap() + closing

    if isinstance(value, dict):
        pairs = [f"{json.dumps(key)}{gap()}:{gap()}{written(item, data)}" for key, item in value.items()]
        return entries(pairs, "{", "}")
    if isinstance(value, list):
        return entries([written(item, data) for item in value], "[", "]")
    return json.dumps(value)


@given(VALUES, st.data())
def test_comments_and_trailing_commas_never_change_the_value(value: Any, data: st.DataObject) -> None:
    text = data.draw(BETWEEN) + written(value, data) + data.draw(BETWEEN)

    assert parse_jsonc(text) == value


SIGNS = st.text('{}[]",:/*\\ \n0e-.tu1', max_size=40)


@given(st.text() | st.binary().map(lambda data: data.decode("latin-1")) | SIGNS)
def test_any_text_is_a_value_or_a_mistake_inside_of_it(text: str) -> None:
    place = (1, 1)
    try:
        parse_jsonc(text)
    except JsoncError as error:
        place = (error.line, error.column)
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").split("\n")
    assert 1 <= place[0] <= len(lines)
    assert 1 <= place[1] <= len(lines[place[0] - 1]) + 1


@given(VALUES, st.data())
def test_nothing_is_taken_that_the_standard_reader_would_not_take(value: Any, data: st.DataObject) -> None:
    text = json.dumps(value)
    assume("/" not in text)  # which may begin a comment, once it stands outside of its quotes
    at = data.draw(st.integers(0, len(text)))
    broken = text[:at] + data.draw(st.sampled_from(list('{}[]":0x\\\n\x01'))) + text[at:]
    try:
        taken = parse_jsonc(broken)
    except JsoncError:
        return
    assert taken == json.loads(broken)


MISTAKES = [
    ("", 1, 1, "ends too early"),
    ("   \n  ", 2, 3, "ends too early"),
    ("{", 1, 2, "a key in double quotes"),
    ('{"a" 1}', 1, 6, "a : is expected"),
    ('{"a": 1 "b": 2}', 1, 9, "a comma or } is expected"),
    ('{"a": 1,\n "b": 2,\n "a": 3}', 3, 2, "the key 'a' stands twice"),
    ('{"a": 1, "\\u0061": 3}', 1, 10, "the key 'a' stands twice"),
    ("[1,,2]", 1, 4, "a value is expected"),
    ("[,]", 1, 2, "a value is expected"),
    ("{,}", 1, 2, "a key in double quotes"),
    ("[1", 1, 3, "ends too early"),
    ("{a: 1}", 1, 2, "a key in double quotes"),
    ("'a'", 1, 1, "a value is expected"),
    ('"a', 1, 1, "does not end"),
    ('"a\nb"', 1, 1, "must be escaped"),
    ('"\\x"', 1, 1, "must be escaped"),
    ('"\\ud800"', 1, 1, "half of a character"),
    ("01", 1, 1, "not a number"),
    ("+1", 1, 1, "a value is expected"),
    ("1.", 1, 2, "behind the end"),
    ("-", 1, 1, "not a number"),
    ("0x10", 1, 1, "not a number"),
    ("٣", 1, 1, "not a number"),
    ("1e999", 1, 1, "too large"),
    ("9" * 101, 1, 1, "too long"),
    ("NaN", 1, 1, "a value is expected"),
    ("-Infinity", 1, 1, "not a number"),
    ("True", 1, 1, "a value is expected"),
    ("nullx", 1, 1, "a value is expected"),
    ("1 2", 1, 3, "behind the end"),
    ("1 /* a", 1, 3, "this comment does not end"),
    ("1 /", 1, 3, "behind the end"),
    ("# a\n1", 1, 1, "a value is expected"),
    ("\0", 1, 1, "a value is expected"),
    ("\r\n\r\n  ?", 3, 3, "a value is expected"),
    ("\ufeff?", 1, 1, "a value is expected"),
    ("[" * (MAX_DEPTH + 1), 1, MAX_DEPTH + 1, "nested deeper"),
    ('{"a":' * 100_000, 1, 5 * MAX_DEPTH + 1, "nested deeper"),
]


@each_row(("text", "line", "column", "words"), MISTAKES, ids=range(len(MISTAKES)))
def test_a_mistake_is_told_with_its_place(text: str, line: int, column: int, words: str) -> None:
    error = mistake(text)

    assert words in error.message
    assert (error.line, error.column) == (line, column)


@pytest.mark.parametrize(
    "text",
    [
        "/*" * 130_000,
        "/* * /" * 40_000,
        "//\n" * 80_000,
        '"' + "\\" * 250_000,
        '"' * 250_001,
        "[" + "1," * 120_000,
        "[" + "\n" * 250_000 + "?",
        "{" + ",".join(f'"{n}":1' for n in range(30_000)),
        "1" * 250_000,
        "a" * 250_000,
    ],
    ids=range(10),
)
def test_a_hostile_text_takes_no_time(text: str) -> None:
    started = time.process_time()

    mistake(text)
    assert time.process_time() - started < 2.0
