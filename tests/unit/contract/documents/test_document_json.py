"""JSON in documents: comments and trailing commas are read and counted; the rest is refused with its place."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.contract.documents.json_lines import key_lines
from holdfast.contract.documents.jsonc import MAX_DEPTH, read_json

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=80, deadline=None)
@given(VALUES)
def test_json_is_read_as_json(value: object) -> None:
    told = read_json(json.dumps(value))

    assert told.is_plain
    assert told.value == value


@settings(max_examples=80, deadline=None)
@given(st.text(alphabet='{}[],:"/*\\ \n1atrue'))
def test_nothing_that_looks_like_json_breaks_the_reader(text: str) -> None:
    told = read_json(text)
    key_lines(text)

    assert told.error or told.line == 1


def test_comments_and_trailing_commas_are_forgiven_and_told() -> None:
    told = read_json('{"a": 1, // one\n "b": [2,], /* two\n lines */ "c": "// no, /* comment */ ,]",\n}')

    assert told.value == {"a": 1, "b": [2], "c": "// no, /* comment */ ,]"}
    assert told.comments == ("one", "two\n lines")
    assert (told.trailing_commas, told.is_plain) == (2, False)


@pytest.mark.parametrize(
    ("text", "line", "column"), [('{"a": }', 1, 7), ('{\n  "a" 1\n}', 2, 7), ("// c\n{a: 1}", 2, 2)]
)
def test_what_is_not_json_is_refused_with_its_place(text: str, line: int, column: int) -> None:
    told = read_json(text)

    assert told.error
    assert (told.line, told.column) == (line, column)


@pytest.mark.parametrize(
    "text", ["NaN", "[Infinity]", "1e999", "9" * 5000, '"\\ud800"', "[" * 500 + "]" * 500, "[" * 100_000, "/*"]
)
def test_what_cannot_be_sent_is_refused(text: str) -> None:
    assert read_json(text).error


def test_nesting_is_read_up_to_the_bound() -> None:
    assert not read_json("[" * MAX_DEPTH + "]" * MAX_DEPTH).error
    assert read_json("[" * (MAX_DEPTH + 2) + "]" * (MAX_DEPTH + 2)).error


def test_a_key_that_stands_twice_is_told() -> None:
    assert read_json('{"a": 1, "b": {"c": 1, "c": 2}}').repeated_keys == ("c",)


def test_each_member_is_found_on_its_line() -> None:
    text = '{\n"a": {\n"b/c": [1,\n2, {"d":\n3}]}, // "x": 1\n"e": "f\\"g"\n}'
    lines = key_lines(text)

    assert lines["/a"] == 1
    assert lines["/a/b~1c"] == 2
    assert lines["/a/b~1c/1"] == 3
    assert lines["/a/b~1c/2/d"] == 3
    assert lines["/e"] == 5
    assert "/x" not in lines


def test_a_string_of_escaped_quotes_without_an_end_is_read_once() -> None:
    text = '{"a": "' + '\\"' * 499_000  # the square of it would take longer than the time limit of a test

    assert read_json(text).line == 1
    assert set(key_lines(text)) == {"", "/a"}
