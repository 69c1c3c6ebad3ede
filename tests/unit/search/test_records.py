"""Logs in windows, stack traces, and lines of JSON with their fields."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.search.work import grows_evenly

from holdfast.search.decode import MAX_CHUNK_BYTES
from holdfast.search.model import Chunk
from holdfast.search.records import extract_records

PYTHON = (
    "Traceback (most recent call last):\n"
    "  File \"a.py\", line 3, in run\n    budget()\nKeyError: 'limit'\n\n"
    "During handling of the above exception, another exception occurred:\n\n"
    'Traceback (most recent call last):\n  File "b.py", line 9, in main\n    run()\n'
    "errors.BudgetError: used up\n"
)
JAVA = (
    "java.lang.IllegalStateException: closed\n\tat com.example.Pool.take(Pool.java:12)\n"
    "\tat com.example.Main.main(Main.java:3)\nCaused by: java.io.IOException: gone\n"
    "\tat x.Y.z(Y.java:1)\n\t... 2 more\n"
)
GO = "panic: runtime error: index out of range\n\ngoroutine 1 [running]:\nmain.run(0x1)\n\t/src/main.go:9 +0x1d\n"


def records(text: str) -> list[Chunk]:
    return extract_records("logs/app.log", text.encode()).chunks


def log(count: int) -> str:
    return "".join(f"2026-01-01T00:00:{number:02} INFO served {number}\n" for number in range(count))


@pytest.mark.parametrize(
    ("trace", "name"),
    [
        (PYTHON, "errors.BudgetError"),
        (JAVA, "java.lang.IllegalStateException"),
        (GO, "panic: runtime error: index out of range"),
    ],
)
def test_a_stack_trace_is_one_record_named_by_what_happened(trace: str, name: str) -> None:
    before, found, after = records(log(3) + trace + log(2))

    assert (before.name, before.start_line, before.end_line) == ("app.log", 1, 3)
    assert found.name == name
    assert (found.start_line, found.end_line) == (4, 3 + trace.count("\n"))
    assert (after.kind, after.mode, after.end_line) == ("record", "records", 5 + trace.count("\n"))


def test_a_log_is_cut_into_windows_of_fifty_lines() -> None:
    assert [(chunk.start_line, chunk.end_line) for chunk in records(log(120))] == [(1, 50), (51, 100), (101, 120)]


def test_each_line_of_json_is_a_record_with_its_fields() -> None:
    text = '{"level":"error","msg":"budget used up","user":{"id":7}}\nplain\n{"level": "info"}\n{broken}\n[1]\n'

    first, plain, second, rest = records(text)

    assert first.name == "budget used up"
    assert first.record == {"level": "error", "msg": "budget used up", "user": {"id": 7}}
    assert (plain.record, second.name, second.record) == (None, "app.log", {"level": "info"})
    assert (rest.start_line, rest.end_line) == (4, 5)


def test_beyond_many_thousand_lines_of_json_the_fields_are_left_out_and_this_is_said() -> None:
    found = extract_records("x.log", b'{"a":1}\n' * 5_100)

    assert sum(chunk.record is not None for chunk in found.chunks) == 5_000
    assert found.chunks[-1].end_line == 5_100
    assert found.remarks == ["the fields of 100 lines are not searchable"]


def test_json_that_could_not_be_stored_again_is_ordinary_text() -> None:
    deep = '{"a":' * 400 + "1" + "}" * 400
    giant = '{"a":"' + "x" * MAX_CHUNK_BYTES + '"}'

    assert [chunk.record for chunk in records(deep)] == [None]
    assert [chunk.record for chunk in records(giant)] == [None, None]


LINES = st.sampled_from(
    [
        "",
        "INFO x",
        *PYTHON.splitlines(),
        *JAVA.splitlines(),
        *GO.splitlines(),
        '{"a": 1}',
        "  at x",
        "{",
        "x" * 20_000,
    ]
)


@given(st.lists(LINES | st.text(), max_size=40), st.sampled_from(["\n", "\r\n"]))
def test_every_line_with_something_in_it_is_in_exactly_one_record(lines: list[str], end: str) -> None:
    data = end.join(lines).encode("utf-8", "replace")

    position = 0
    for chunk in extract_records("x.log", data).chunks:
        assert not data[position : chunk.start].strip()
        assert 0 < chunk.end - chunk.start <= MAX_CHUNK_BYTES or chunk.record
        position = chunk.end
    assert not data[position:].strip()


@pytest.mark.parametrize(
    "line", ["Traceback (most recent call last):\n", "x\n at y\n", "panic: \n", " {\n", "a(((((\n"]
)
def test_the_work_on_a_hostile_log_grows_with_its_length(line: str) -> None:
    assert grows_evenly(lambda count: extract_records("x.log", line.encode() * count), 250)
