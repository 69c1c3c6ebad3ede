"""Deadlines that stand still: while somebody else takes the time."""

import asyncio
from collections.abc import Callable

from holdfast.worker.deadlines import Deadlines

BOUND = 20.0


def run(scenario: Callable[[Deadlines[str], list[str], asyncio.Event], object]) -> list[str]:
    async def main() -> list[str]:
        expired: list[str] = []
        news = asyncio.Event()

        def expire(key: str) -> None:
            expired.append(key)
            news.set()

        deadlines: Deadlines[str] = Deadlines(asyncio.get_running_loop(), expire)
        scenario(deadlines, expired, news)
        async with asyncio.timeout(BOUND):
            await news.wait()
        return expired

    return asyncio.run(main())


def test_a_key_that_is_paused_does_not_expire_and_goes_on_when_it_is_resumed() -> None:
    def scenario(deadlines: Deadlines[str], *_: object) -> None:
        deadlines.add("paused", 0.01)
        deadlines.pause("paused")
        deadlines.add("other", 0.05)

    assert run(scenario) == ["other"]

    def resumed(deadlines: Deadlines[str], *_: object) -> None:
        deadlines.add("paused", 0.01)
        deadlines.pause("paused")
        deadlines.resume("paused")

    assert run(resumed) == ["paused"]


def test_who_was_paused_twice_is_resumed_twice() -> None:
    def scenario(deadlines: Deadlines[str], *_: object) -> None:
        deadlines.add("paused", 0.01)
        deadlines.pause("paused")
        deadlines.pause("paused")
        deadlines.resume("paused")
        deadlines.add("other", 0.05)

    assert run(scenario) == ["other"]


def test_what_was_removed_while_it_was_paused_never_expires() -> None:
    def scenario(deadlines: Deadlines[str], *_: object) -> None:
        deadlines.add("removed", 0.01)
        deadlines.pause("removed")
        deadlines.remove("removed")
        deadlines.resume("removed")
        deadlines.pause("never added")
        deadlines.resume("never added")
        deadlines.add("other", 0.05)

    assert run(scenario) == ["other"]
