"""One event to one line that can always be written."""

import json
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.observe.record import Clock, to_line
from holdfast.observe.redaction import Redactor
from holdfast.vocabulary.events import EVENTS, CallEnded, FaultRecorded, KillFailed

REDACTOR = Redactor(cwd="/work/project", home="/home/me", roots={"home", "work", "etc"})
LIMIT = 4096


def fault(message: str = "m", traceback: str = "t", details: Any = None) -> FaultRecorded:
    return FaultRecorded("f-1", None, None, "ValueError", message, traceback, details)


def circular() -> dict[str, Any]:
    loop: dict[str, Any] = {}
    loop["again"] = [loop] * 50
    return loop


ODDITIES = {
    "not finite": [float("nan"), float("inf")],
    "surrogate": "\ud800 caf\udce9",
    "big": 2**200,
    "too big": 10**5000,
    "keys": {1: "a", None: "b"},
    "path": Path("/x"),
    "set": {1},
    "proxy": MappingProxyType({"a": 1}),
    "bytes": b"abc",
    "object": object(),
    "circular": circular(),
}


@pytest.mark.parametrize("redactor", [None, REDACTOR])
@pytest.mark.parametrize("oddity", ODDITIES)
def test_what_json_cannot_say_is_said_in_words(oddity: str, redactor: Redactor | None) -> None:
    line = to_line(fault(details={oddity: ODDITIES[oddity]}), "now", redactor, 256 * 1024)
    assert line.count(b"\n") == 1
    record = json.loads(line)
    assert (record["fault_id"], record["ts"]) == ("f-1", "now")
    assert oddity in record["details"]


def test_integers_and_lists_keep_their_values() -> None:
    record = json.loads(to_line(KillFailed("c", (1, 2**70), "m"), "now", REDACTOR, LIMIT))
    assert record == {"event": "kill_failed", "ts": "now", "call_id": "c", "survivors": [1, 2**70], "message": "m"}


@pytest.mark.parametrize("depth", [30, 60, 250, 500, 850, 900, 910, 920, 930, 940, 950, 2000])
def test_any_depth_of_details_can_be_recorded(depth: int) -> None:
    details: Any = "/etc/passwd"
    for _ in range(depth):
        details = [details]
    for redactor in (None, REDACTOR):
        line = to_line(fault(details={"deep": details}), "now", redactor, 1_000_000)
        assert line.startswith(b'{"event":"fault"')
        assert redactor is None or b"/etc" not in line


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters()), inner),
    max_leaves=20,
)


@settings(deadline=None, max_examples=50)
@given(st.text(st.characters()), st.dictionaries(st.text(), JSON, max_size=5), st.integers(512, 5000))
def test_any_content_is_one_line_of_json_within_the_limit(message: str, details: Any, limit: int) -> None:
    for redactor in (None, REDACTOR):
        line = to_line(fault(message, message * 9, details), "now", redactor, limit)
        assert json.loads(line)["event"] == "fault"
        assert line.count(b"\n") == 1
        assert len(line) <= limit


@pytest.mark.parametrize("text", ["x", "\x00", "\N{GRINNING FACE}", "/etc/passwd ", '"'])
@pytest.mark.parametrize("redactor", [None, REDACTOR])
def test_a_record_that_is_too_long_keeps_its_beginning_and_end_and_says_so(
    text: str, redactor: Redactor | None
) -> None:
    event = fault("begin " + text * 100_000 + " end", details={"list": list(range(5000))})
    line = to_line(event, "now", redactor, LIMIT)
    record = json.loads(line)
    assert len(line) <= LIMIT
    assert record["shortened"] is True
    assert record["message"].startswith("begin")
    assert record["message"].endswith(" end")
    assert record["fault_id"] == "f-1"


def test_a_secret_is_redacted_before_it_could_be_cut_in_half() -> None:
    secret = "ghp_" + "Ab1" * 12
    for padding in range(1900, 2100, 7):
        line = to_line(fault("x" * padding + " " + secret + " " + "y" * 9000), "now", REDACTOR, LIMIT)
        assert b"Ab1Ab1" not in line


def test_secrets_and_paths_are_taken_out_of_every_field() -> None:
    event = fault(
        "open /home/me/x.txt", 'File "/work/project/a.py"', {"password": "hunter2", "n": [{"apiKey": "k"}]}
    )
    record = json.loads(to_line(event, "now", REDACTOR, LIMIT))
    assert record["message"] == "open ~/x.txt"
    assert record["traceback"] == 'File "a.py"'
    assert record["details"] == {"password": "[redacted]", "n": [{"apiKey": "[redacted]"}]}


def test_a_secret_in_an_id_that_the_client_chose_is_redacted() -> None:
    line = to_line(CallEnded("sk-abcdefghijklmnopqrstuvwx", "c", "t", "ok", 1.0), "now", REDACTOR, LIMIT)
    assert json.loads(line)["request_id"] == "[redacted]"


def test_no_field_of_an_event_has_the_name_of_a_secret() -> None:
    names = {name for kind in EVENTS for name in kind.__dataclass_fields__}
    assert REDACTOR.value(dict.fromkeys(names, "x")) == dict.fromkeys(names, "x")


def test_the_clock_tells_the_present_in_utc_with_milliseconds() -> None:
    clock = Clock()
    before = datetime.now(UTC)
    told = [datetime.fromisoformat(clock.now()) for _ in range(3)]
    assert told == sorted(told)
    assert all(abs((moment - before).total_seconds()) < 5 for moment in told)
