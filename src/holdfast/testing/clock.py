"""A clock that a test owns: time stands still while there is work, and jumps when everybody waits.

Deadlines, throttles and grace times of the runtime are all read from the event loop, so a test that runs on
this clock sees a two-minute timeout in a millisecond. It is not for tests that wait for real processes.
"""

import asyncio
import selectors
from collections.abc import Coroutine
from typing import Any, TypeVar

__all__ = ["MockClock", "is_mocked"]

Result = TypeVar("Result")

# Real seconds without any event after which everybody is taken to be waiting for the clock. Threads need a
# moment to hand over their results.
QUIET = 0.002


class MockClock:
    """Virtual time for one event loop: `MockClock().run(test())`."""

    def __init__(self) -> None:
        self.now = 0.0

    def run(self, main: Coroutine[Any, Any, Result]) -> Result:
        """Run the coroutine on a loop whose time is this clock."""
        with asyncio.Runner(loop_factory=lambda: _ClockLoop(self)) as runner:
            return runner.run(main)

    async def advance(self, seconds: float) -> None:
        """Let `seconds` pass, with everything that is due in them."""
        await asyncio.sleep(seconds)


def is_mocked(loop: asyncio.AbstractEventLoop) -> bool:
    """Whether the time of this loop is that of a `MockClock`."""
    return isinstance(loop, _ClockLoop)


class _ClockLoop(asyncio.SelectorEventLoop):
    def __init__(self, clock: MockClock) -> None:
        self._mock_clock = clock
        super().__init__(_JumpingSelector(clock))

    def time(self) -> float:
        return self._mock_clock.now


class _JumpingSelector(selectors.DefaultSelector):
    """Instead of sleeping until the next timer, moves the clock there."""

    def __init__(self, clock: MockClock) -> None:
        super().__init__()
        self._mock_clock = clock

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is None or timeout <= 0:
            return super().select(timeout)
        ready = super().select(QUIET)
        if not ready:
            self._mock_clock.now += timeout
        return ready
