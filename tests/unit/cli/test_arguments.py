"""Words on the command line to the arguments of a call."""

import io
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.rows import each_row

from holdfast.cli.arguments import read_arguments
from holdfast.errors import UsageError

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "text": {"type": "string"},
        "count": {"type": "integer"},
        "ratio": {"type": "number"},
        "on": {"type": "boolean"},
        "tags": {"type": "array", "items": {"type": "string"}},
        "ids": {"anyOf": [{"type": "array", "items": {"type": "integer"}}, {"type": "null"}]},
        "box": {"$ref": "#/$defs/Box"},
        "maybe": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
        "either": {"type": ["integer", "string"]},
        "word": {"enum": ["a", "b"]},
        "level": {"enum": [1, 2]},
        "fixed": {"const": True},
        "loop": {"$ref": "#/$defs/Loop"},
    },
    "$defs": {
        "Box": {"type": "object"},
        "Loop": {"anyOf": [*[{"$ref": "#/$defs/Loop"}] * 9, {"type": "integer"}]},
    },
}


@each_row(
    ("word", "value"),
    [
        ("text=5", "5"),
        ("text=", ""),
        ("text=a=b:=c", "a=b:=c"),
        ("count=-5", -5),
        ("count=99999999999999999999", 99999999999999999999),
        ("count=5.0", "5.0"),
        ("count=many", "many"),
        ("ratio=1.5", 1.5),
        ("ratio=2", 2),
        ("ratio=1e3", 1000.0),
        ("ratio=NaN", "NaN"),
        ("on=true", True),
        ("on=False", False),
        ("tags=[1, 2]", [1, 2]),
        ("box={}", {}),
        ("maybe=null", None),
        ("maybe=7", 7),
        ("either=7", "7"),
        ("word=a", "a"),
        ("level=2", 2),
        ("fixed=true", True),
        ("loop=3", 3),
        ("unknown=3", "3"),
        ("unknown:=3", 3),
        ('text:="quoted"', "quoted"),
        ("count:=null", None),
    ],
)
def test_a_value_is_typed_by_the_schema_of_its_key(word: str, value: Any) -> None:
    [(_, found)] = read_arguments([word], SCHEMA).items()

    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["sku=a\udcff"], "is not UTF-8"),
        (["lookup"], "not understood"),
        (["=5"], "not understood"),
        ([":=5"], "not understood"),
        (["text=a", "text=b"], "twice"),
        (["tags=[a"], "tags takes JSON"),
        (["x:={"], "x takes JSON"),
        (["on=1"], "on takes true or false, not '1'"),
        (["on=yes"], "on takes true or false, not 'yes'"),
        (['{"a": 1, "a": 2}'], "occurs twice"),
        (["{broken"], "not JSON"),
        (["{}", "text=a"], "an object cannot be combined with key=value"),
        (["text=a", "@file"], "an object cannot be combined with key=value"),
        (["@/nowhere/file.json"], "cannot be read"),
        (["@\0"], "cannot be read"),
    ],
)
def test_words_that_mean_nothing_are_refused_with_a_remedy(words: list[str], reason: str) -> None:
    with pytest.raises(UsageError, match=reason) as caught:
        read_arguments(words, SCHEMA)

    assert caught.value.remedy


@pytest.mark.parametrize(
    ("word", "message", "remedy"),
    [
        ("text:=A-1", "text:= takes JSON, and 'A-1' is none", "text=A-1"),
        ("text:=a b", "text:= takes JSON, and 'a b' is none", "'text=a b'"),
        ("ids=1,2,3", "ids takes a list", "ids='[1, 2, 3]'"),
        ("ids=5", "ids takes a list", "ids='[5]'"),
        ("tags=a, b", "tags takes a list", """tags='["a", "b"]'"""),
        ("box=5", "box takes an object", """box='{"name": "value"}'"""),
    ],
)
def test_a_slip_is_answered_with_what_was_meant(word: str, message: str, remedy: str) -> None:
    with pytest.raises(UsageError) as caught:
        read_arguments([word], SCHEMA)

    assert (caught.value.message, caught.value.remedy) == (message, remedy)


def test_an_empty_stdin_is_told_as_such(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b" \n")))

    with pytest.raises(UsageError, match="stdin was empty"):
        read_arguments(["-"], SCHEMA)


def test_a_json_object_is_taken_as_it_is() -> None:
    assert read_arguments(['{"count": "5", "new": [1]}'], SCHEMA) == {"count": "5", "new": [1]}


def test_no_words_are_no_arguments() -> None:
    assert read_arguments([], SCHEMA) == {}


def test_a_file_holds_the_arguments(tmp_path: Path) -> None:
    file = tmp_path / "arguments.json"
    file.write_bytes(b'\xef\xbb\xbf {"text": "\xc3\xa4"}\n')

    assert read_arguments([f"@{file}"], SCHEMA) == {"text": "ä"}


def test_stdin_must_hold_an_object(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"[1]")))

    with pytest.raises(UsageError, match="stdin must be a JSON object, not array"):
        read_arguments(["-"], SCHEMA)


@pytest.mark.parametrize(
    "schema", [{}, {"properties": []}, {"properties": {"a": 3}}, {"properties": {"a": {"type": 3}}}]
)
def test_a_schema_that_says_nothing_leaves_text(schema: dict[str, Any]) -> None:
    assert read_arguments(["a=1"], schema) == {"a": "1"}


@given(st.text(), st.text())
def test_any_text_is_an_argument_or_a_usage_error(key: str, value: str) -> None:
    try:
        arguments = read_arguments([f"{key}={value}"], SCHEMA)
    except UsageError:
        return
    assert len(arguments) == 1
