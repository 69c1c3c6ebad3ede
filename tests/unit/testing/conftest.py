"""A scripted worker without a host in front of it, at the pipes of the churn client."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from holdfast.testing import Fault, HostUnderTest, Traces, script

Start = Callable[..., HostUnderTest]


@pytest.fixture
def worker(tmp_path: Path) -> Iterator[Start]:
    """Starts the next generation of a worker with these faults; `handshake=False` leaves that to the test."""
    with ExitStack() as stack:

        def start(*faults: Fault, handshake: bool = True, **options: Any) -> HostUnderTest:
            command = script(*faults, **options).command(tmp_path / "worker")
            started = stack.enter_context(HostUnderTest(command, tmp_path))
            if handshake:
                started.handshake()
            return started

        yield start


@pytest.fixture
def traces(tmp_path: Path) -> Traces:
    """What the workers of this test leave behind."""
    return Traces(tmp_path / "worker")
