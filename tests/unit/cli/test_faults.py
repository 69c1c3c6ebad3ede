"""Internal errors as the author reads them, from tracebacks of every kind."""

import subprocess
from collections.abc import Callable
from pathlib import Path
from traceback import format_exception
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.cli.faults import FaultWatch, describe_fault, describe_record
from holdfast.observe.event_log import NullEventLog
from holdfast.vocabulary.events import FaultRecorded, MessageRejected

HERE = str(Path(__file__))


def fault_of(
    work: Callable[[], Any], cause_class: str = "", details: dict[str, Any] | None = None
) -> FaultRecorded:
    with pytest.raises(Exception) as caught:
        work()
    error = caught.value
    trace = "".join(format_exception(error))
    return FaultRecorded("f1", "c1", "boom", cause_class or type(error).__name__, str(error), trace, details)


def boom() -> None:
    raise ValueError("first line\nsecond line")


def library() -> None:
    subprocess.run(["true"], check=True, timeout="soon", capture_output=True)  # type: ignore[call-overload]


def chained() -> None:
    try:
        boom()
    except ValueError as error:
        raise RuntimeError from error


def test_the_innermost_frame_of_the_author_carries_the_cause() -> None:
    lines = list(describe_fault(fault_of(boom)))

    assert lines[-1].startswith("  " + shown(HERE))
    assert lines[-1].endswith(" in boom: ValueError: first line second line")
    assert lines[-2].endswith(" in fault_of")


def test_frames_of_libraries_are_left_out() -> None:
    assert " in library: TypeError: " in list(describe_fault(fault_of(library)))[-1]


def test_the_last_exception_of_a_chain_is_the_cause() -> None:
    assert list(describe_fault(fault_of(chained)))[-1].endswith(" in chained: RuntimeError")


def test_violations_of_the_output_contract_are_listed() -> None:
    fault = FaultRecorded("f1", None, "t", "OutputContractViolation", "does not fit", "ValueError: does not fit",
                          {"violations": [{"instancePath": "/count", "message": "is no number"}]})  # fmt: skip

    assert list(describe_fault(fault)) == ["  OutputContractViolation: does not fit", "    /count: is no number"]


def test_a_broken_rule_of_a_projection_is_told_once() -> None:
    details = {"violations": [{"path": "/when", "rule": "timestamp"}]}
    fault = FaultRecorded("f1", None, "t", "ProjectionViolation", "/when: timestamp", "", details)

    assert list(describe_fault(fault)) == ["  ProjectionViolation: /when: timestamp"]


def test_the_whole_traceback_is_given_when_asked_for() -> None:
    lines = list(describe_fault(fault_of(boom), whole=True))

    assert lines[0] == "Traceback (most recent call last):"
    assert "second line" in lines


@given(st.text(), st.text(), st.text(), st.booleans())
def test_no_fault_breaks_a_line_of_the_terminal(cause: str, message: str, trace: str, whole: bool) -> None:
    lines = describe_fault(FaultRecorded("f1", None, None, cause, message, trace), whole=whole)

    assert not [line for line in lines if "\n" in line or "\x1b" in line]


def test_a_record_of_the_log_is_told_field_by_field_with_its_traceback() -> None:
    record = {"event": "fault", "fault_id": "f1", "message": "a\nb", "traceback": "Traceback\n  File\n"}

    assert list(describe_record(record)) == ["event: fault", "fault_id: f1", "message: a b", "Traceback", "  File"]


def test_a_watch_keeps_faults_and_nothing_else() -> None:
    faults: list[FaultRecorded] = []
    watch = FaultWatch(NullEventLog(), faults)
    watch.emit(MessageRejected(-32600, "no"))
    watch.emit(fault_of(boom))
    watch.flush()
    watch.close()

    assert [fault.cause_class for fault in faults] == ["ValueError"]


def shown(filename: str) -> str:
    try:
        return str(Path(filename).relative_to(Path.cwd()))
    except ValueError:
        return filename
