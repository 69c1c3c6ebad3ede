"""Checksums of an index, so that a bit that flipped on the disk is noticed before it changes an answer.

A seal is a small file beside others that names each of them with its size and its CRC-32. Whoever changes one of
them removes the seal before, and writes another one as the last step; whoever reads compares before it believes.
CRC-32 runs at gigabytes a second, and a file that this process has compared is not read again until it is
written: what remains are a few calls of `stat`. Without a seal, as while somebody writes, nothing is compared.
"""

import json
import os
import zlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from holdfast.search.private import open_private

__all__ = ["Entries", "Seal", "Watched"]

_PIECE = 1 << 20
_MOST_KNOWN = 4096
_MANY_BYTES = 16 << 20  # from here on, another thread is worth its start
_THREADS = 4
_BROKEN = "its checksums"  # are what is damaged

Entries = dict[str, list[int]]  # by name: size and checksum
_Stamp = tuple[int, int, int, int]
_known: dict[str, tuple[_Stamp, int]] = {}  # the checksums of files as they were when this process read them


class Seal:
    """The checksums of some files in one directory, and below it."""

    def __init__(self, place: Path) -> None:
        self._place = place

    def stamp(self) -> tuple[int, int]:
        """Changes with every seal; zeros where there is none."""
        try:
            status = os.stat(self._place)
        except OSError:
            return (0, 0)
        return (status.st_mtime_ns, status.st_ino)

    def entries(self) -> Entries:
        """What stands in it; nothing where there is none that can be read."""
        return _entries(self._read()) or {}

    def remove(self) -> Entries:
        """Take the seal off, before anything is written; what stood in it."""
        data = self._read()
        if data:
            self._place.unlink(missing_ok=True)
            _sync(self._place.parent)
        return _entries(data) or {}

    def write(self, paths: Iterable[Path], *, settled: Mapping[str, list[int]] | None = None) -> None:
        """Seal files as they are now. Of those in `settled`, which are never written again, the sum is known."""
        entries: Entries = {}
        for path in sorted(paths):
            name, size = path.relative_to(self._place.parent).as_posix(), path.stat().st_size
            before = (settled or {}).get(name)
            entries[name] = before if before and before[0] == size else [size, _checksum(str(path))]
        body = json.dumps(entries).encode()
        draft = self._place.with_name(f".{self._place.name}.draft")
        try:
            with open(draft, "wb", opener=open_private) as file:
                file.write(b"%08x\n%s" % (zlib.crc32(body), body))
                file.flush()
                os.fsync(file.fileno())
            draft.replace(self._place)
        finally:
            draft.unlink(missing_ok=True)
        _sync(self._place.parent)

    def damage(self) -> str | None:
        """The name of a file that is not what was sealed; None where all are, and where there is no seal."""
        data = self._read()
        if data is None:
            return None
        entries = _entries(data)
        found = _BROKEN if entries is None else _first_damaged(self._place.parent, entries)
        return found if found and self._read() == data else None  # else somebody has just begun to write

    def watched(self) -> "Watched":
        """The same, for whoever asks again and again."""
        return Watched(self, self._place)

    def _read(self) -> bytes | None:
        try:
            return self._place.read_bytes()
        except FileNotFoundError:
            return None


class Watched:
    """A seal that is compared anew whenever it or one of its files was written; else it costs a `stat` of each."""

    def __init__(self, seal: Seal, place: Path) -> None:
        self._seal = seal
        self._paths = [str(place)]
        self._looked: list[_Stamp | None] = []

    def damage(self) -> str | None:
        """The name of a file that is not what was sealed."""
        stamps = [_stamp_of(path) for path in self._paths]
        if stamps == self._looked:
            return None
        if not self._looked or stamps[0] != self._looked[0]:
            directory = os.path.dirname(self._paths[0])
            self._paths[1:] = [f"{directory}/{name}" for name in self._seal.entries()]
            stamps = [_stamp_of(path) for path in self._paths]
        found = self._seal.damage()
        self._looked = [] if found else stamps  # as they were before the look
        return found


def _first_damaged(directory: Path, entries: Entries) -> str | None:
    """The name of a file that is gone or has another size or another checksum than it should have."""
    paths = {name: f"{directory}/{name}" for name in entries}
    stamps = {name: _stamp_of(path) for name, path in paths.items()}
    for name, (size, _) in entries.items():
        stamp = stamps[name]
        if stamp is None or stamp[0] != size:
            return name
    unread = [path for name, path in paths.items() if _known.get(path, (None,))[0] != stamps[name]]
    if len(unread) > 1 and sum(map(os.path.getsize, unread)) > _MANY_BYTES:
        _read_at_once(sorted(unread, key=os.path.getsize, reverse=True))
    for name, (_, checksum) in entries.items():
        try:
            if _checksum(paths[name]) != checksum:
                return name
        except FileNotFoundError:
            return name
    return None


def _entries(data: bytes | None) -> Entries | None:
    """What a seal says; None where it is damaged itself."""
    checksum, _, body = (data or b"").partition(b"\n")
    if not data or checksum != b"%08x" % zlib.crc32(body):
        return None
    entries: Any = json.loads(body)
    return {str(name): [int(size), int(value)] for name, (size, value) in entries.items()}


def _read_at_once(paths: list[str]) -> None:
    """Take checksums in several threads, which then are known; what goes wrong comes up again when it is used."""
    import threading
    from contextlib import suppress

    left = iter(paths)  # taking the next one is a single step of the interpreter

    def take() -> None:
        for path in left:
            with suppress(OSError):
                _checksum(path)

    threads = [threading.Thread(target=take) for _ in range(min(_THREADS, os.cpu_count() or 1, len(paths)))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def _checksum(path: str) -> int:
    """The checksum of a file, read unless that was done since it was written."""
    known = _known.get(path)
    if known is not None and known[0] == _stamp_of(path):
        return known[1]
    with open(path, "rb", buffering=0) as file:
        stamp = _stamp(os.fstat(file.fileno()))
        value, piece = 0, memoryview(bytearray(min(_PIECE, stamp[0]) or 1))
        while length := file.readinto(piece):
            value = zlib.crc32(piece[:length], value)
        if _stamp(os.fstat(file.fileno())) == stamp:
            if len(_known) >= _MOST_KNOWN:
                _known.clear()
            _known[path] = (stamp, value)
    return value


def _stamp_of(path: str) -> _Stamp | None:
    try:
        return _stamp(os.stat(path))
    except OSError:
        return None


def _stamp(status: os.stat_result) -> _Stamp:
    return (status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)


def _sync(directory: Path) -> None:
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
