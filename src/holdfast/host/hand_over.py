"""How a host gives its session to the version of itself that is installed now, up to where there is no way back.

What goes along, and how, is in `takeover`. Here is the order: nothing new for the workers, nothing more from the
client, nothing that changes any more, and only then the question whether the next version takes it.
"""

import asyncio
import os
from collections.abc import Callable

from holdfast.errors import RefusedError, TryAgainError
from holdfast.host.host import Host
from holdfast.host.public_side import PublicSide
from holdfast.host.takeover import objection_to, sealed
from holdfast.kernel.health import is_quiet
from holdfast.stdio.lifetime import Lifetime
from holdfast.stdio.outbox import Outbox
from holdfast.stdio.reader import InputReader
from holdfast.wire.framing import LineFramer

__all__ = ["HandOver"]

_WRITE_BOUND = 2.0  # seconds that answers may take to leave before


class HandOver:
    """The way of one host to its successor."""

    def __init__(
        self,
        host: Host,
        public: PublicSide,
        framer: LineFramer,
        streams: tuple[InputReader, Outbox],
        lifetime: Lifetime,
        metrics_port: Callable[[], int],
    ) -> None:
        self.is_under_way = False
        self.capsule: int | None = None  # what the next version goes on from; from then on it will
        self._host = host
        self._public = public
        self._framer = framer
        self._reader, self._outbox = streams
        self._lifetime = lifetime
        self._metrics_port = metrics_port

    async def begin(self, seconds: float) -> None:
        """Do everything up to the moment from which there is no way back; RefusedError where the host goes on."""
        if self.is_under_way:
            raise TryAgainError("the host is being replaced already")
        self.is_under_way = True
        descriptor = None
        try:
            await self._host.come_to_rest(seconds)
            await self._outbox.drain(_WRITE_BOUND)
            self._reader.pause(True)  # noqa: FBT003
            self._host.freeze(True)  # noqa: FBT003
            descriptor = self._sealed()
            objection = await objection_to(descriptor)
            if objection or self._lifetime.is_over:
                raise RefusedError(objection or "the host is about to end")
        except BaseException:
            self._go_on_after_all(descriptor)
            raise
        self.capsule = descriptor
        self._lifetime.end("reinstalled")

    def _sealed(self) -> int:
        """The capsule; TryAgainError when something has come in since the host came to rest."""
        state, unread = self._host.state, self._framer.unfinished
        is_open = self._outbox.waiting or self._public.holds_batches or not is_quiet(state) or state.pins
        if unread is None or is_open:
            raise TryAgainError(
                "the client has sent or not yet read something that cannot go along at this moment"
            )
        now = asyncio.get_running_loop().time()
        figures = self._host.figures.ledger.to_json()
        return sealed(state, now, unread, self._host.command, figures, self._metrics_port())

    def _go_on_after_all(self, descriptor: int | None) -> None:
        if descriptor is not None:
            os.close(descriptor)
        self.is_under_way = False
        self._host.freeze(False)  # noqa: FBT003
        if not self._public.is_full:
            self._reader.pause(False)  # noqa: FBT003
