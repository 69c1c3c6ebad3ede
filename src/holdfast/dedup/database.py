"""A private SQLite file for one key table: made with care, recognised before it is touched.

Write-ahead log, every commit on disk before it returns. Whoever is killed while making the file leaves an empty
one or a finished one, and the next to come goes on from there.
"""

import os
import sqlite3
import stat
import threading
import time
from pathlib import Path

from holdfast.dedup.rows import KeyRows
from holdfast.dedup.trouble import KeyTableError, translated

__all__ = ["APPLICATION_ID", "FORMAT", "TABLE", "open_database"]

APPLICATION_ID = 0x48464B54  # "HFKT" in the header of the file
FORMAT = 1
TABLE = "holdfast_keys"

_SMALLEST = 512  # bytes of the smallest database page

# One at a time: closing a descriptor of a file drops the locks that this process holds on it through any other,
# so no thread may be at work on the file before the descriptor that made it is closed.
_MAKING = threading.Lock()


def open_database(path: Path, *, timeout: float) -> sqlite3.Connection:
    """Open the file of a key table, making it and its directory if missing; KeyTableError says what is wrong."""
    path = Path(os.path.abspath(path))
    with translated(f"{path} cannot be opened"):
        _make_directories(path.parent)
        with _MAKING:
            _make_file(path)
        _check_file(path)
        connection = sqlite3.connect(path, timeout=timeout, isolation_level=None, check_same_thread=False)
        try:
            _prepare(connection, path, timeout)
        except BaseException:
            connection.close()
            raise
    return connection


def _prepare(connection: sqlite3.Connection, path: Path, timeout: float) -> None:
    """Recognise the file, then set the connection up; a file that is not ours is only read."""
    connection.execute("BEGIN")  # one view of the file, though another process may be making it just now
    fresh = _recognise(connection, path)
    connection.execute("COMMIT")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA cell_size_check = ON")
    connection.execute("PRAGMA journal_size_limit = 1048576")
    _use_write_ahead_log(connection, timeout)
    if fresh:
        connection.execute("BEGIN IMMEDIATE")
        if _recognise(connection, path):  # another process may have been faster
            connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            connection.execute(f"PRAGMA user_version = {FORMAT}")
            KeyRows(connection, TABLE).create()
        connection.execute("COMMIT")


def _recognise(connection: sqlite3.Connection, path: Path) -> bool:
    """Whether the file is still empty; raises for a file that is neither empty nor ours."""
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    (things,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    if (application, version, things) == (0, 0, 0):
        return True
    if application != APPLICATION_ID:
        raise _foreign(path, "it is another program's database")
    if version > FORMAT:
        raise KeyTableError(
            "newer",
            f"{path} has format {version}; this version knows up to {FORMAT}",
            remedy="use the newer version of Holdfast that wrote it, or name another file",
        )
    return False


def _use_write_ahead_log(connection: sqlite3.Connection, timeout: float) -> None:
    """Switch the file over; SQLite does not wait for others in this, so wait for their lock and try again."""
    deadline = time.monotonic() + timeout
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() >= deadline:
                raise
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("ROLLBACK")


def _make_file(path: Path) -> None:
    """Make the file for this user alone, unless something is there; SQLite would follow the umask."""
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    except FileExistsError:
        return


def _check_file(path: Path) -> None:
    """Refuse what SQLite would not: it waits for a named pipe and writes over a file of a few bytes."""
    status = os.stat(path)
    if not stat.S_ISREG(status.st_mode):
        raise _foreign(path, "it is not a file")
    if 0 < status.st_size < _SMALLEST:
        raise KeyTableError(
            "corrupt", f"{path} is too short to be a database", remedy="move it aside, or name another file"
        )


def _make_directories(directory: Path) -> None:
    """Create what is missing of `directory`, for this user alone."""
    if not directory.is_dir():
        _make_directories(directory.parent)
        directory.mkdir(mode=0o700, exist_ok=True)


def _foreign(path: Path, why: str) -> KeyTableError:
    return KeyTableError(
        "foreign", f"{path} is not a key table: {why}", remedy="name another file; this one was left as it was"
    )
