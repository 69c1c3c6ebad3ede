"""Requests with a wrong token or none: wrong ones are logged by the host, and repeated refusals take longer.

Only refusals wait, and a token is compared before: one that is right is never held up by what others at its
address do. Few refusals wait at the same time; the others are answered at once and their connection is closed, so
that waiting cannot fill this process.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic

from holdfast.api.addresses import neighbourhood

__all__ = ["WrongTokens"]

FREE = 20.0  # refusals that are answered at once
FORGIVEN = 2.0  # refusals a second that are forgotten again
STEP = 0.1  # seconds that each one more adds
LONGEST = 2.0
MOST_WAITING = 16  # refusals of one address that wait
MOST_ADDRESSES = 1024  # that are remembered
REPORT_EVERY = 10.0  # seconds between two reports
MOST_REPORTED = 8  # addresses in each; the others are counted together


@dataclass(slots=True)
class _Neighbour:
    """What is remembered of one address."""

    level: float = 0.0
    looked_at: float = 0.0
    waiting: int = 0
    unreported: int = 0


class WrongTokens:
    """The refusals of one front; `report` gets an address and a count, never what was sent."""

    def __init__(self, report: Callable[[str, int], None], clock: Callable[[], float] = monotonic) -> None:
        self._report = report
        self._clock = clock
        self._known: OrderedDict[str, _Neighbour] = OrderedDict()
        self._unreported = 0  # of addresses that were forgotten
        self._timer: asyncio.TimerHandle | None = None

    async def hold(self, address: str, *, is_wrong: bool) -> bool:
        """Wait as long as this refusal has to; False where its connection should rather be closed.

        `is_wrong` says that there was a token: to have none is no attempt at anything.
        """
        entry = self._entry(neighbourhood(address))
        if is_wrong:
            entry.unreported += 1
            if self._timer is None:
                self._tell()
        wait = min(LONGEST, (entry.level - FREE) * STEP)
        if wait <= 0:
            return True
        if entry.waiting >= MOST_WAITING:
            return False
        entry.waiting += 1
        try:
            await asyncio.sleep(wait)
        finally:
            entry.waiting -= 1
        return True

    def _entry(self, address: str) -> _Neighbour:
        now = self._clock()
        entry = self._known.setdefault(address, _Neighbour(looked_at=now))
        self._known.move_to_end(address)
        left = max(0.0, entry.level - (now - entry.looked_at) * FORGIVEN)
        entry.level = min(FREE + LONGEST / STEP, left) + 1
        entry.looked_at = now
        if len(self._known) > MOST_ADDRESSES:
            self._unreported += self._known.popitem(last=False)[1].unreported
        return entry

    def _tell(self) -> None:
        """Report what was not reported, and look again after a while, unless there was nothing."""
        self._timer = None
        tried = [(entry.unreported, address) for address, entry in self._known.items() if entry.unreported]
        tried.sort(reverse=True)
        others = self._unreported + sum(count for count, _ in tried[MOST_REPORTED:])
        for count, address in tried[:MOST_REPORTED]:
            self._report(address, count)
        if others:
            self._report("", others)
        for entry in self._known.values():
            entry.unreported = 0
        self._unreported = 0
        if tried or others:
            self._timer = asyncio.get_running_loop().call_later(REPORT_EVERY, self._tell)
