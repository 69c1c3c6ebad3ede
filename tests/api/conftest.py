"""Fronts for the tests of the HTTP API: one that is shared, and as many with other options as a test wants."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from tests.api.running_front import RunningFront, running_front

Start = Callable[..., RunningFront]


@pytest.fixture(scope="package")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningFront]:
    """The server whose contract is checked; the same for all tests, none of which leaves anything behind."""
    with running_front(tmp_path_factory.mktemp("server")) as front:
        yield front


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Starts a front with options of the test's own."""
    with ExitStack() as stack:

        def begin(**options: Any) -> RunningFront:
            return stack.enter_context(running_front(tmp_path, **options))

        yield begin
