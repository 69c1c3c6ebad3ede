"""What makes a host take up a new version by itself: files that change, or a release that is activated."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, NamedTuple

from holdfast.errors import HoldfastError, TryAgainError
from holdfast.host.release_directory import Activation, ReleaseDirectory
from holdfast.host.watching import POLL, Watch

__all__ = ["UpgradePlan", "follow"]

RollOut = Callable[[Sequence[str] | None], Awaitable[Any]]
Serving = Callable[[], Sequence[str]]
_LONGEST_PAUSE = 4.0  # seconds between two attempts at the same version; each reads all of a release
_OFTEN = 5  # starts in a row while which the files changed, after which it goes more slowly
_ENDLESS = 30  # starts in a row so soon after each other that no person could go on like this
_SOON = 5.0  # seconds
_LONG_PAUSE = 30.0  # seconds, at most, before what changed during a start is taken up
_OWN_WORK = (
    "the watched files changed {} each of the last {} starts of the server; changes are taken up more and "
    "more slowly until a start leaves them alone. Watch what people edit, and nothing that the server writes"
)


class UpgradePlan(NamedTuple):
    """What to follow: files of the program, a directory of releases and the one that serves, or nothing."""

    watch: Watch | None = None
    releases: ReleaseDirectory | None = None
    release: str = ""  # that serves first


async def follow(plan: UpgradePlan, roll_out: RollOut, complain: Callable[[str], None], serving: Serving) -> None:
    """Roll out every new version, until cancelled. A problem is told once, and ends nothing.

    A version that is refused is left alone, unless it was refused for this moment only: then it is tried again.
    `serving` is the command that serves: not the one that was taken up last, if that one has been rolled back.
    """
    followed = _Followed(plan, serving)
    haste = _Haste()
    told, pause, has_started = "", POLL, False
    while True:
        await asyncio.sleep(pause)
        problem, pause, last_pause = "", POLL, pause
        try:
            # Looking at many files, and reading all of a release, must not hold up the session.
            found = await asyncio.to_thread(followed.find)
            if has_started:
                has_started = False
                problem = haste.started(asyncio.get_running_loop().time(), has_changed=followed.is_changed)
                pause = max(POLL, haste.pause)
            if found is not None:
                await _take_up(found, roll_out)
                has_started = True
        except TryAgainError as error:
            problem, pause = f"the old version stays for now: {error}", min(2 * last_pause, _LONGEST_PAUSE)
        except (HoldfastError, OSError) as error:
            problem = f"the old version stays: {error}"
        if problem and problem != told:
            complain(problem)
        told = problem


class _Haste:
    """Files that change whenever a server is started, as if it wrote into what is watched.

    What counts is the first look after a start: whoever saves many files fast hits a few starts and not the next.
    A server that writes a little later cannot be told from a person, until no person would go on like that.
    """

    def __init__(self) -> None:
        self.pause = 0.0  # before what has changed is taken up
        self._during = self._soon_after = 0  # starts in a row
        self._last = float("-inf")

    def started(self, now: float, *, has_changed: bool) -> str:
        """A version was started, and the files changed meanwhile or not; what to say of it, once in a row."""
        is_soon = now - self._last < _SOON + self.pause
        self._during = self._during + 1 if has_changed else 0
        self._soon_after = self._soon_after + 1 if is_soon else 0
        self._last = now
        beyond = max(self._during - _OFTEN, self._soon_after - _ENDLESS)
        self.pause = min(2.0 ** min(beyond, 10), _LONG_PAUSE) if beyond >= 0 else 0.0
        if beyond != 0:
            return ""
        return _OWN_WORK.format(*("during", _OFTEN) if self._during >= _OFTEN else ("right after", _ENDLESS))


class _Found(NamedTuple):
    command: Callable[[], tuple[str, ...] | None]  # None is the same command, of which the files have changed
    taken: Callable[[tuple[str, ...] | None], None]  # with that command
    refused: Callable[[], None]


async def _take_up(found: _Found, roll_out: RollOut) -> None:
    try:
        command = await asyncio.to_thread(found.command)
        await roll_out(command)
    except TryAgainError:
        raise
    except (HoldfastError, OSError):
        found.refused()  # it does not get better by being looked at again
        raise
    found.taken(command)


class _Followed:
    def __init__(self, plan: UpgradePlan, serving: Serving) -> None:
        self._watch = plan.watch
        self._releases = plan.releases
        self._release = plan.release  # that serves, as far as this is known
        self._serving = serving
        self._taken: tuple[Activation, tuple[str, ...] | None] | None = None
        self._refused: Activation | None = None  # activating the same release once more is another attempt

    def find(self) -> _Found | None:
        """A version that neither serves nor was refused; it is found again until it is taken or refused."""
        if self._releases is not None:
            releases, chosen = self._releases, self._releases.activation()
            is_new = chosen.release != self._release or self._is_another_attempt(chosen)
            if is_new and chosen != self._refused:
                return _Found(
                    lambda: releases.verified(chosen.release).command,
                    lambda command: self._take(chosen, command),
                    lambda: self._refuse(chosen),
                )
        watch = self._watch
        if watch is not None and watch.find():
            return _Found(lambda: None, lambda _: watch.confirm(), watch.confirm)
        return None

    @property
    def is_changed(self) -> bool:
        """Whether the last look saw other watched files than those that were taken up, at rest or not."""
        return self._watch is not None and self._watch.is_changed

    def _is_another_attempt(self, chosen: Activation) -> bool:
        """Whether a release was activated again after it had been taken up and rolled back."""
        if self._taken is None:
            return False
        activation, command = self._taken
        return chosen != activation and command != tuple(self._serving())

    def _take(self, chosen: Activation, command: tuple[str, ...] | None) -> None:
        self._release = chosen.release
        self._taken = chosen, command

    def _refuse(self, chosen: Activation) -> None:
        self._refused = chosen
