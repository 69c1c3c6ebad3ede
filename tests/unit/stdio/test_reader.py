"""What arrives on stdin: every byte, then the end, whatever kind of file the input is."""

import asyncio
import os
from pathlib import Path

from holdfast.stdio.reader import InputReader


async def read_all(descriptor: int, *, paused_first: bool = False) -> list[bytes]:
    """Every piece that was handed over, up to the end."""
    pieces: list[bytes] = []
    ended = asyncio.Event()
    reader = InputReader(pieces.append, ended.set)
    if paused_first:
        reader.pause(True)
    await reader.open(descriptor)
    if paused_first:
        reader.pause(True)
        await asyncio.sleep(0)
        assert pieces == []
        reader.pause(False)
    await asyncio.wait_for(ended.wait(), 5.0)
    return pieces


def test_a_pipe_is_read_to_its_end_which_is_told_once() -> None:
    reader, writer = os.pipe()
    os.write(writer, b"x" * 65_000)
    os.close(writer)
    pieces = asyncio.run(read_all(reader))
    assert b"".join(pieces) == b"x" * 65_000
    assert [at for at, piece in enumerate(pieces) if not piece] == [len(pieces) - 1]


def test_a_file_is_read_to_its_end_which_is_told_once(tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(b"y" * 200_000)
    descriptor = os.open(tmp_path / "in", os.O_RDONLY)
    pieces = asyncio.run(read_all(descriptor))
    os.close(descriptor)
    assert b"".join(pieces) == b"y" * 200_000
    assert [at for at, piece in enumerate(pieces) if not piece] == [len(pieces) - 1]


def test_a_paused_reader_hands_nothing_over_until_it_may() -> None:
    reader, writer = os.pipe()
    os.write(writer, b"later")
    os.close(writer)
    assert asyncio.run(read_all(reader, paused_first=True)) == [b"later", b""]


def test_a_paused_file_is_read_once_it_may(tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(b"later")
    descriptor = os.open(tmp_path / "in", os.O_RDONLY)
    assert asyncio.run(read_all(descriptor, paused_first=True)) == [b"later", b""]
    os.close(descriptor)
