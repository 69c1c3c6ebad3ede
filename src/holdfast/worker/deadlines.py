"""Deadlines of many calls on one timer.

A timer per call would be made and cancelled for every call, and almost none ever fires. Here the loop holds one
timer, for the earliest deadline; a call that ends in time costs a dictionary entry.
"""

import asyncio
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

__all__ = ["Deadlines"]

Key = TypeVar("Key", bound=Hashable)


class Deadlines(Generic[Key]):
    """Calls `expire(key)` once for every key whose time has come and that was not removed before."""

    def __init__(self, loop: asyncio.AbstractEventLoop, expire: Callable[[Key], None]) -> None:
        self._loop = loop
        self._expire = expire
        self._due: dict[Key, float] = {}
        self._paused: dict[Key, tuple[float, int]] = {}  # what is left, and how often it was paused
        self._timer: asyncio.TimerHandle | None = None

    def add(self, key: Key, seconds: float) -> None:
        """Let the key expire in `seconds`."""
        when = self._loop.time() + seconds
        self._due[key] = when
        if self._timer is None or when < self._timer.when():
            self._arm(when)

    def remove(self, key: Key) -> None:
        """The key is done; the timer may stay, it finds nothing and looks for the next."""
        self._due.pop(key, None)
        self._paused.pop(key, None)

    def pause(self, key: Key) -> None:
        """Let the time of the key stand still, until it was resumed as often."""
        left, times = self._paused.get(key, (0.0, 0))
        when = self._due.pop(key, None)
        if when is not None:
            left = max(0.0, when - self._loop.time())
        if when is not None or times:
            self._paused[key] = left, times + 1

    def resume(self, key: Key) -> None:
        """Let the time of the key go on; one that was removed meanwhile stays so."""
        left, times = self._paused.pop(key, (0.0, 0))
        if times > 1:
            self._paused[key] = left, times - 1
        elif times:
            self.add(key, left)

    def _arm(self, when: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self._loop.call_at(when, self._look)

    def _look(self) -> None:
        self._timer = None
        now = self._loop.time()
        for key in [key for key, when in self._due.items() if when <= now]:
            if self._due.pop(key, None) is not None:  # the end of one may have taken another along
                self._expire(key)
        if self._due and self._timer is None:
            self._arm(min(self._due.values()))
