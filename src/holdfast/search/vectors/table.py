"""The vectors of the chunks of one mode of a build, as two files that only grow and are mapped into memory.

    vectors    one row of small integers per chunk
    rows       which chunk and file each is of, its scale, and the key of its content

A row of `vectors` is on disk before the one of `rows` that makes it count, so whatever is killed leaves whole rows
and perhaps some bytes behind them, which the next writer cuts off. Between two writers there is a seal with the
checksums of all files; a table that differs from it is not searched, and the next writer begins it anew. Chunks of
dead file versions stay until there are more of them than of the living; whoever reads knows which files live.
"""

import contextlib
import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.search.seals import Seal
from holdfast.search.vectors.model import Vectors

__all__ = ["GRAPH", "ROW", "TableView", "TableWriter", "coded", "rewrite", "seal_of", "stamp", "write_seal"]

ROW = np.dtype([("chunk", "<i8"), ("file", "<i8"), ("scale", "<f4"), ("key", "V16")])
GRAPH = "graph"
Codes = NDArray[np.int8]
_ROWS, _VECTORS = "rows", "vectors"
_STEPS = 127


def coded(vectors: Vectors) -> tuple[Codes, NDArray[np.float32]]:
    """Vectors of length one as small integers, and the scale of each."""
    largest = np.maximum(np.abs(vectors).max(axis=1, keepdims=True), 1e-9)
    codes = np.rint(vectors / largest * _STEPS).astype(np.int8)
    lengths = np.linalg.norm(codes.astype(np.float32), axis=1)
    return codes, (1.0 / np.maximum(lengths, 1.0)).astype(np.float32)


def stamp(directory: Path) -> tuple[int, int]:
    """Changes whenever rows come or the table is written anew."""
    try:
        status = (directory / _ROWS).stat()
    except OSError:
        return (0, 0)
    return (status.st_ino, status.st_size)


def seal_of(directory: Path) -> Seal:
    """The checksums of a table."""
    return Seal(directory / "seal.json")


def write_seal(directory: Path) -> None:
    """Seal a table as it is now, as the last step of writing it; where that fails it stays without a seal."""
    paths = (directory / name for name in (_ROWS, _VECTORS, GRAPH))
    with contextlib.suppress(OSError):
        seal_of(directory).write(path for path in paths if path.exists())


@dataclass(frozen=True, slots=True)
class TableView:
    """The rows that a table had when it was opened."""

    rows: NDArray[Any]  # of ROW
    vectors: Codes  # mapped

    @classmethod
    def open(cls, directory: Path, dimensions: int) -> "TableView":
        """What is there; without any rows where there is no table, or none that can be read."""
        try:
            # The file of rows comes first: what it counts is in the other one already.
            size = (directory / _ROWS).stat().st_size // ROW.itemsize
            count = min(size, (directory / _VECTORS).stat().st_size // dimensions)
            if count:
                rows = np.fromfile(directory / _ROWS, ROW, count)
                vectors = np.memmap(directory / _VECTORS, np.int8, "r", shape=(count, dimensions))
                return cls(rows, vectors)
        except (OSError, ValueError):
            pass  # it was taken away a moment ago
        return cls(np.empty(0, ROW), np.empty((0, dimensions), np.int8))

    def __len__(self) -> int:
        return len(self.rows)


class TableWriter:
    """Adds rows; needs the lock of the index's vectors."""

    def __init__(self, directory: Path, dimensions: int) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        self._directory, self._is_sealed = directory, bool(seal_of(directory).entries())
        count = len(TableView.open(directory, dimensions))
        self._vectors = _opened(directory / _VECTORS, count * dimensions)
        try:
            self._rows = _opened(directory / _ROWS, count * ROW.itemsize)
        except BaseException:
            os.close(self._vectors)
            raise

    def close(self) -> None:
        """Leave the table, sealed."""
        os.close(self._vectors)
        os.close(self._rows)
        if not self._is_sealed:
            write_seal(self._directory)

    def add(self, rows: NDArray[Any], codes: Codes) -> None:
        """Add rows of ROW with their codes; on disk in this order."""
        if self._is_sealed:
            seal_of(self._directory).remove()
            self._is_sealed = False
        _write(self._vectors, codes.tobytes())
        os.fdatasync(self._vectors)
        _write(self._rows, rows.tobytes())


def rewrite(directory: Path, dimensions: int, kept: Sequence[bool] | NDArray[np.bool_]) -> None:
    """Leave out all rows but some; whoever has mapped the old files keeps them."""
    view = TableView.open(directory, dimensions)
    draft = directory.with_name(f".{directory.name}.draft")
    shutil.rmtree(draft, ignore_errors=True)
    writer = TableWriter(draft, dimensions)
    try:
        chosen = np.flatnonzero(kept)
        writer.add(view.rows[chosen], view.vectors[chosen])
    finally:
        writer.close()
    shutil.rmtree(directory)  # for a moment there is none, which is a search by words alone
    draft.rename(directory)


def _opened(path: Path, size: int) -> int:
    """A file to append to, without what a writer that died has left behind its last whole row."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    if os.fstat(descriptor).st_size != size:
        os.ftruncate(descriptor, size)
    return descriptor


def _write(descriptor: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]
