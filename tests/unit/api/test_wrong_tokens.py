"""Repeated refusals take longer, of one address and not of another; wrong tokens are reported, but seldom."""

import asyncio
from collections.abc import Callable, Coroutine
from functools import wraps

from holdfast.api.wrong_tokens import FREE, MOST_ADDRESSES, MOST_REPORTED, MOST_WAITING, WrongTokens

THERE, ELSEWHERE = "203.0.113.7", "198.51.100.1"


def in_a_loop(test: Callable[[], Coroutine[object, object, None]]) -> Callable[[], None]:
    @wraps(test)
    def run() -> None:
        asyncio.run(test())

    return run


class Watched:
    """What was reported, at a time that stands still."""

    def __init__(self) -> None:
        self.reports: list[tuple[str, int]] = []
        self.now = 1000.0
        self.tokens = WrongTokens(lambda address, count: self.reports.append((address, count)), lambda: self.now)

    async def try_often(self, address: str, times: float) -> None:
        for _ in range(int(times)):
            assert await self.at_once(self.tokens.hold(address, is_wrong=True))

    async def at_once(self, refusal: Coroutine[object, object, bool]) -> bool:
        """Whether a refusal is answered without a wait."""
        task = asyncio.ensure_future(refusal)
        await asyncio.wait([task], timeout=0)
        if task.done():
            return task.result()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        return False


@in_a_loop
async def test_who_goes_on_with_wrong_tokens_waits_and_others_do_not() -> None:
    watched = Watched()
    await watched.try_often(THERE, FREE)

    assert not await watched.at_once(watched.tokens.hold(THERE, is_wrong=True))
    assert await watched.at_once(watched.tokens.hold(ELSEWHERE, is_wrong=True))
    watched.now += 3600
    assert await watched.at_once(watched.tokens.hold(THERE, is_wrong=True))


@in_a_loop
async def test_only_so_many_refusals_of_one_address_wait_and_the_next_loses_its_connection() -> None:
    watched = Watched()
    await watched.try_often(THERE, FREE)
    waiting = [asyncio.ensure_future(watched.tokens.hold(THERE, is_wrong=False)) for _ in range(MOST_WAITING)]
    await asyncio.wait(waiting, timeout=0)

    assert not any(one.done() for one in waiting)
    assert await watched.tokens.hold(THERE, is_wrong=False) is False
    for one in waiting:
        one.cancel()
    await asyncio.gather(*waiting, return_exceptions=True)


@in_a_loop
async def test_the_first_wrong_token_is_reported_at_once_and_the_others_together_later() -> None:
    watched = Watched()
    await watched.tokens.hold(ELSEWHERE, is_wrong=False)
    await watched.try_often(THERE, 5)

    assert watched.reports == [(THERE, 1)]
    watched.tokens._tell()
    assert watched.reports == [(THERE, 1), (THERE, 4)]
    watched.tokens._tell()
    assert len(watched.reports) == 2


@in_a_loop
async def test_however_many_addresses_try_a_report_is_short_and_counts_all_of_them() -> None:
    watched = Watched()
    for number in range(MOST_ADDRESSES + 100):
        await watched.tokens.hold(f"10.0.{number // 256}.{number % 256}", is_wrong=True)
    watched.tokens._tell()

    assert len(watched.reports) == 1 + MOST_REPORTED + 1
    assert sum(count for _, count in watched.reports) == MOST_ADDRESSES + 100
