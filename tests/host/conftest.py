"""A real host in front of the scripted worker, at the pipes of the churn client."""

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from holdfast.testing import Fault, HostUnderTest, Traces, script

Start = Callable[..., HostUnderTest]
Events = Callable[..., list[dict[str, Any]]]

# What a person would wait for, made short: a test that meets one of these bounds still ends in time.
QUICK = {
    "HOLDFAST_KILL_GRACE": "0.3",
    "HOLDFAST_DRAIN": "0.5",
    "HOLDFAST_RESTART_DELAY": "0.01",
    "HOLDFAST_RESTART_DELAY_MAX": "0.05",
}


@pytest.fixture(autouse=True)
def no_surprise(tmp_path: Path, events: Events) -> Iterator[None]:
    """Whatever a test is about: the host itself never fails, neither aloud nor in its log."""
    yield
    stderr = tmp_path / "stderr"
    assert not stderr.exists() or b"Traceback" not in stderr.read_bytes()
    if (tmp_path / "state").is_dir():
        assert [event for event in events("fault") if event["cause_class"] != "HoldfastError"] == []


@pytest.fixture
def host(tmp_path: Path) -> Iterator[Start]:
    """Starts `holdfast run` in front of a worker with these faults; `handshake=False` leaves that to the test.

    `options` are flags, `knobs` are settings by their names; the rest goes to the script.
    """
    with ExitStack() as stack:

        def start(
            *faults: Fault,
            options: tuple[str, ...] = (),
            knobs: dict[str, object] | None = None,
            handshake: bool = True,
            **scripted: Any,
        ) -> HostUnderTest:
            command = script(*faults, **scripted).command(tmp_path / "worker")
            chosen = {f"HOLDFAST_{name.upper()}": str(value) for name, value in (knobs or {}).items()}
            running = HostUnderTest.running(command, tmp_path, *options, environment={**QUICK, **chosen})
            stack.enter_context(running)
            if handshake:
                running.handshake()
            return running

        yield start


@pytest.fixture
def traces(tmp_path: Path) -> Traces:
    """What the workers of this test leave behind."""
    return Traces(tmp_path / "worker")


@pytest.fixture
def events(tmp_path: Path) -> Events:
    """The lines of the event log so far, or those of one name."""

    def read(name: str | None = None) -> list[dict[str, Any]]:
        files = sorted((tmp_path / "state").glob("*/events.jsonl"))
        lines = [json.loads(line) for file in files for line in file.read_bytes().splitlines()]
        return [line for line in lines if name in {None, line["event"]}]

    return read
