"""What leaves a process: in order, framed, counted while it waits, and lost when nobody is left to read."""

import asyncio
import os
from pathlib import Path
from typing import Self

from holdfast.stdio.outbox import HIGH_WATER, Outbox
from holdfast.vocabulary.events import Event
from holdfast.wire.framing import ContentLengthFramer, LineFramer


class NoLog:
    """An event log that nobody reads."""

    def emit(self, event: Event) -> None: ...
    def flush(self) -> None: ...
    def close(self) -> None: ...


class Session:
    """An outbox that writes to a pipe, and the client at the other end of it."""

    def __init__(self, framer: LineFramer | ContentLengthFramer | None = None) -> None:
        self.told: list[str] = []
        self.lost = asyncio.Event()
        self.reader, self.writer = os.pipe()
        self.outbox = Outbox(
            framer or LineFramer(),
            NoLog(),
            on_full=lambda full: self.told.append("full" if full else "free"),
            on_lost=self.lost.set,
        )

    async def __aenter__(self) -> Self:
        await self.outbox.open(self.writer, self.reader)
        return self

    async def __aexit__(self, *_: object) -> None:
        os.close(self.reader)
        await asyncio.wait_for(self.lost.wait(), 5.0)
        await asyncio.sleep(0)  # the transport closes its end right after

    def read(self) -> bytes:
        return os.read(self.reader, 1_000_000)


def test_encoded_bytes_leave_in_order_with_other_messages_and_as_they_are() -> None:
    async def scenario() -> bytes:
        async with Session() as session:
            session.outbox.send({"a": 1})
            session.outbox.send_bytes(b'{ "b" : 2.0 }')
            session.outbox.send([])
            await session.outbox.drain(5.0)
            return session.read()

    assert asyncio.run(scenario()) == b'{"a":1}\n{ "b" : 2.0 }\n[]\n'


def test_encoded_bytes_are_framed_and_leave_in_the_same_turn_of_the_loop() -> None:
    async def scenario() -> bytes:
        async with Session(ContentLengthFramer()) as session:
            session.outbox.send_bytes(b"{}")
            await asyncio.sleep(0)
            return session.read()

    assert asyncio.run(scenario()) == b"Content-Length: 2\r\n\r\n{}"


def test_what_is_not_written_yet_is_counted() -> None:
    async def scenario() -> None:
        async with Session() as session:
            assert session.outbox.waiting == 0
            session.outbox.send_bytes(b"x" * 100_000)
            assert session.outbox.waiting == 100_001
            session.outbox.flush()
            left = session.outbox.waiting  # what the pipe could not hold
            assert 0 < len(session.read()) == 100_001 - left

    asyncio.run(scenario())


def test_a_client_that_does_not_read_makes_the_outbox_full_and_its_leaving_empties_it() -> None:
    async def scenario() -> None:
        async with Session() as session:
            session.outbox.send_bytes(b"x" * (HIGH_WATER + 100_000))
            session.outbox.flush()
            assert session.told == ["full"]
        session.outbox.send_bytes(b"nobody gets this")
        session.outbox.flush()
        assert session.outbox.waiting == 0

    asyncio.run(scenario())


def test_a_file_takes_everything_at_once(tmp_path: Path) -> None:
    async def scenario(target: int) -> None:
        outbox = Outbox(LineFramer(), NoLog(), on_full=lambda full: None, on_lost=lambda: None)
        await outbox.open(target, target)
        outbox.send_bytes(b"[1]")
        assert outbox.waiting == 4
        outbox.flush()
        assert outbox.waiting == 0

    with (tmp_path / "out").open("wb") as file:
        asyncio.run(scenario(file.fileno()))
    assert (tmp_path / "out").read_bytes() == b"[1]\n"
