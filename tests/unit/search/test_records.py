"""Logs, stack traces, lines of JSON, findings, and the conditions that ask for their fields."""

import time
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.errors import ToolError
from holdfast.search.decode import MAX_CHUNK_BYTES
from holdfast.search.model import Chunk
from holdfast.search.records import extract_records, matches_meta, meta_conditions, record_chunk

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
def test_hostile_logs_take_no_time(line: str) -> None:
    before = time.process_time()

    extract_records("x.log", (line * (100_000 // len(line))).encode())

    assert time.process_time() - before < 3


FINDING: dict[str, Any] = {
    "recordId": "ab12",
    "recordType": "finding",
    "source": "scanner",
    "service": "shop",
    "owner": "",
    "vuln": {
        "vulnId": "GHSA-1",
        "cve": "CVE-2026-1",
        "title": "Bad parse",
        "severity": "high",
        "cwe": ["CWE-1", "CWE-2"],
    },
    "package": {"name": "left-pad", "ecosystem": "npm", "fixedVersion": "1.2"},
    "asset": {"assetId": "i-1"},
    "decision": {"status": "accepted"},
    "raw": {"secret": "x"},
}


def test_a_finding_is_a_chunk_with_its_fields_and_readable_text() -> None:
    chunk = record_chunk(FINDING)

    assert (chunk.mode, chunk.kind, chunk.name, chunk.doc) == ("records", "record", "GHSA-1", "Bad parse")
    assert chunk.record == {
        "recordType": "finding", "source": "scanner", "recordId": "ab12", "service": "shop", "vulnId": "GHSA-1",
        "cve": "CVE-2026-1", "packageName": "left-pad", "packageEcosystem": "npm", "severity": "high",
        "status": "accepted", "assetId": "i-1",
    }  # fmt: skip
    assert chunk.text is not None
    assert chunk.text.startswith("# GHSA-1: Bad parse\n\n- CVE: CVE-2026-1\n")
    assert "- CWE: CWE-1, CWE-2" in chunk.text
    assert (chunk.end, chunk.end_line) == (len(chunk.text.encode()), chunk.text.count("\n") + 1)


@pytest.mark.parametrize(
    "record", [{}, {"vuln": "x", "package": [1], "recordId": 7}, {"vuln": {"title": {"a": 2**70}}}]
)
def test_a_misshapen_finding_is_still_a_chunk(record: dict[str, Any]) -> None:
    chunk = record_chunk(record)

    assert chunk.name
    assert chunk.text


RECORD: dict[str, Any] = {
    "severity": "High",
    "tags": ["Alpha", {"k": "Beta"}],
    "user": {"id": 17, "name": "Ann", "roles": [{"name": "admin"}, {"name": "ops"}]},
    "a.b": "dotted",
    "none": None,
    "empty": [],
    "off": False,
    "zero": 0,
}


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        (("severity", "high"), True),
        (("severity", "IG"), True),
        (("Severity", "high"), False),
        (("tags", "alph"), True),
        (("tags", '"k":"beta"'), True),
        (("tags.0", "alpha"), True),
        (("tags.9", None), False),
        (("user.name", "ANN"), True),
        (("user", '"name":"ann"'), True),
        (("user.id", "17"), True),
        (("user.roles.name", "ops"), True),
        (("user.id.deeper", None), False),
        (("a.b", "dotted"), True),
        (("none", None), False),
        (("empty", None), False),
        (("off", None), True),
        (("off", "false"), True),
        (("zero", None), True),
        (("missing", None), False),
        (("missing", "x"), False),
    ],
)
def test_a_condition_holds_or_not(condition: tuple[str, str | None], expected: bool) -> None:
    assert matches_meta(RECORD, [condition]) is expected


def test_all_conditions_must_hold_and_none_is_no_condition() -> None:
    assert matches_meta(RECORD, [("severity", "high"), ("user.name", "ann")])
    assert not matches_meta(RECORD, [("severity", "high"), ("user.name", "bob")])
    assert matches_meta(RECORD, [])


@pytest.mark.parametrize(
    ("meta", "meta_json", "expected"),
    [
        (None, None, []),
        ("severity=high", None, [("severity", "high")]),
        (" url = a=b ", None, [("url", "a=b")]),
        ("severity", None, [("severity", None)]),
        ("severity=", None, [("severity", None)]),
        (["a=1", {"b": 2}], None, [("a", "1"), ("b", "2")]),
        (
            {"a": None, "b": "", "c": True, "d": ["x", "y"]},
            None,
            [("a", None), ("b", None), ("c", "true"), ("d", "x"), ("d", "y")],
        ),
        (None, {"user": {"name": "ann"}}, [("user.name", "ann")]),
        (None, [{"a": 1}, {"b": {}}], [("a", "1"), ("b", None)]),
        ("x=1", '{"a": "b"}', [("x", "1"), ("a", "b")]),
        (None, '[{"a": 1.5}]', [("a", "1.5")]),
    ],
)
def test_every_form_of_the_arguments_is_understood(meta: object, meta_json: object, expected: list[Any]) -> None:
    assert meta_conditions(meta, meta_json) == expected


@pytest.mark.parametrize(
    ("meta", "meta_json"),
    [
        (7, None),
        (True, None),
        ("", None),
        ("=x", None),
        ([["a=1"]], None),
        ({"": 1}, None),
        ({"a": [["b"]]}, None),
        (None, ""),
        (None, "{"),
        (None, "3"),
        (None, "[1]"),
        (None, ["a=1"]),
        (None, 5),
        (None, '{"a": "\ud800"}'),
        (None, '{"a":' * 60 + "1" + "}" * 60),
    ],
)
def test_anything_else_is_refused_and_never_ignored(meta: object, meta_json: object) -> None:
    with pytest.raises(ToolError) as caught:
        meta_conditions(meta, meta_json)

    assert caught.value.code == "INVALID_REQUEST"
    assert "\n" not in caught.value.message


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


@given(st.dictionaries(st.text(), JSON), st.text(), st.none() | st.text())
def test_no_record_and_no_condition_is_too_odd(record: dict[str, Any], path: str, wanted: str | None) -> None:
    matches_meta(record, [(path, wanted)])

    for key, value in record.items():
        if isinstance(value, str) and value:
            assert matches_meta(record, [(key, value.upper())]) or value.upper().lower() != value.lower()
    assert orjson.loads(orjson.dumps(record)) == record
