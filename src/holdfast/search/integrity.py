"""Whether the bytes of an index are still those that were written, found out within a bounded time.

The store checks its own pages; each file of the term index carries a checksum; both must speak of the same number
of chunks. What cannot be checked in time is left out, and that is said. Reading every byte takes a second where an
index is large, so this process remembers what it found, for those who ask again and again.
"""

import contextlib
import json
import os
import sqlite3
import struct
import zlib
from pathlib import Path
from time import monotonic

from holdfast.search.engine.tantivy_engine import TantivyEngine
from holdfast.search.home import Build, IndexHome
from holdfast.search.store.database import connect_to_read, is_damage
from holdfast.search.store.reader import StoreReader
from holdfast.search.trouble import is_unreadable

__all__ = ["damage_of", "known_damage_of"]

_TABLES = ("facts_of_index", "files", "skipped", "directories", "history", "chunks", "texts")
_STEPS = 10_000  # of SQLite's machine between two looks at the clock
_PIECE = 1024 * 1024
# Every file of the term index ends with: a JSON text with the checksum, its length, and this number.
_TAIL = struct.Struct("<II")
_TAIL_MARK = 1337
_LONGEST_FOOTER = 4096
_MOST_REMEMBERED = 64

Stamps = frozenset[tuple[str, int, int, int]]
Damage = tuple[list[str], bool]
_remembered: dict[Path, tuple[Stamps, Damage]] = {}  # by the directory of the build


class _OutOfTimeError(Exception):
    """The time for the check is over."""


def damage_of(home: IndexHome, build: Build, *, seconds: float = 5.0) -> Damage:
    """What is wrong with a build, and whether all of it could be looked at in the time."""
    stamps = _stamps(build)  # before the look: what changes during it is looked at again
    found = _look(home, build, seconds)
    if len(_remembered) >= _MOST_REMEMBERED:
        _remembered.clear()
    _remembered[build.directory] = (stamps, found)
    return found


def known_damage_of(home: IndexHome, build: Build) -> Damage:
    """The same, as it was found the last time where no file of the build was written since."""
    stamps, found = _remembered.get(build.directory, (None, ([], False)))
    return found if stamps == _stamps(build) else damage_of(home, build)


def _stamps(build: Build) -> Stamps:
    """Changes with everything that is written, be it an update or a mishap; not with who reads."""
    files = [build.store, *(path for path in build.terms.glob("*") if path.suffix != ".lock")]
    log = build.store.with_name(f"{build.store.name}-wal")
    with contextlib.suppress(OSError):
        files += [log] if log.stat().st_size else []  # whoever reads makes an empty one
    return frozenset(map(_stamp, files))


def _stamp(path: Path) -> tuple[str, int, int, int]:
    try:
        status = os.stat(path)
    except OSError:  # gone a moment ago, which is a change too
        return (path.name, 0, 0, 0)
    return (path.name, status.st_size, status.st_mtime_ns, status.st_ino)


def _look(home: IndexHome, build: Build, seconds: float) -> Damage:
    deadline = monotonic() + seconds
    found: list[str] = []
    try:
        with home.reading(build):
            broken = build.seal.damage()
            if broken:
                return [f"a file is not what was written: {broken}"], True
            for check in (_halves, _store, _terms):
                _go_on(deadline)
                found += check(build, deadline)
    except FileNotFoundError:  # it was replaced by another one a moment ago, and that is healthy
        return ([], False) if home.current() != build else (["a part of it is gone"], True)
    except _OutOfTimeError:
        return found, False
    except BaseException as error:
        if not is_unreadable(error):
            raise
        if isinstance(error, sqlite3.DatabaseError) and not is_damage(error):  # locked by somebody
            return found, False
        return [*found, f"a part of it cannot be read ({type(error).__name__})"], True
    return found, True


def _go_on(deadline: float) -> None:
    if monotonic() > deadline:
        raise _OutOfTimeError


def _halves(build: Build, _deadline: float) -> list[str]:
    """One document for each chunk, one for each file, and one that carries the generation."""
    engine = TantivyEngine(build.terms)
    with contextlib.closing(StoreReader(build.store, engine.generation)) as store:
        expected = sum(store.chunk_counts().values()) + len(store.known_paths()) + 1
    if engine.document_count() == expected:
        return []
    return [f"its terms have {engine.document_count()} entries where the store has {expected}"]


def _store(build: Build, deadline: float) -> list[str]:
    with contextlib.closing(connect_to_read(build.store)) as connection:
        connection.set_progress_handler(lambda: int(monotonic() > deadline), _STEPS)
        for table in _TABLES:
            _go_on(deadline)  # older versions of SQLite look at the clock only between two tables
            try:
                said = connection.execute(f"PRAGMA quick_check('{table}')").fetchone()
            except sqlite3.DatabaseError as error:
                if not is_damage(error):
                    raise _OutOfTimeError from error  # interrupted, or locked
                return [f"its store cannot be read: {error}"]
            if said is not None and said[0] != "ok":
                return [f"its store is inconsistent: {str(said[0])[:200]}"]
    return []


def _terms(build: Build, deadline: float) -> list[str]:
    segments = json.loads((build.terms / "meta.json").read_bytes())["segments"]
    names = [segment["segment_id"].replace("-", "") for segment in segments]
    found = []
    for path in sorted(path for name in names for path in build.terms.glob(f"{name}.*")):
        with contextlib.suppress(FileNotFoundError):  # merged away meanwhile
            if not _is_sound(path, deadline):
                found.append(f"its term index has a damaged file: {path.name}")
    return found


def _is_sound(path: Path, deadline: float) -> bool:
    """Whether the content of a file has the checksum that the file says."""
    size = path.stat().st_size
    with path.open("rb") as file:
        file.seek(max(0, size - _TAIL.size - _LONGEST_FOOTER))
        end = file.read()
        length, mark = _TAIL.unpack(end[-_TAIL.size :]) if len(end) >= _TAIL.size else (0, 0)
        if mark != _TAIL_MARK or not 0 < length <= len(end) - _TAIL.size:
            return False
        try:
            expected = json.loads(end[-_TAIL.size - length : -_TAIL.size])["crc"]
        except (ValueError, KeyError, TypeError):
            return False
        file.seek(0)
        left, checksum = size - _TAIL.size - length, 0
        while left > 0 and (piece := file.read(min(_PIECE, left))):
            _go_on(deadline)
            checksum = zlib.crc32(piece, checksum)
            left -= len(piece)
    return bool(checksum == expected)
