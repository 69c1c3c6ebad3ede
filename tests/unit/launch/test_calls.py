"""Records of calls while the store does not answer."""

import threading

import pytest

from holdfast.launch import calls
from holdfast.launch.calls import MOST_RECORDS, ArgumentCheck


def test_records_that_cannot_be_written_do_not_pile_up(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    hangs, goes_on = threading.Event(), threading.Event()

    def hang(*_: object, **__: object) -> None:
        hangs.set()
        assert goes_on.wait(60)

    monkeypatch.setattr(calls, "_owe_record", hang)
    check = ArgumentCheck("launch_status", {"type": "object", "required": ["run_id"]})
    try:
        check.violations({})
        assert hangs.wait(20)
        for _ in range(MOST_RECORDS + 5):
            assert check.violations({})
        with monkeypatch.context() as hurried:
            hurried.setattr(calls, "_PATIENCE", 0.01)
            calls.close()  # ends, and is no call that would have to be recorded
        left_out = [record for record in caplog.records if "too many wait" in record.message]
        assert len(left_out) == 5
    finally:
        goes_on.set()
        calls.close()
