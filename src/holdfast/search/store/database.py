"""The tables of the store, and how a connection to them is opened.

A file row is one version of a file: it is born in one generation of the index and dies in another. A chunk belongs
to one version. So a reader that holds generation 7 sees exactly the rows of 7, whatever a writer adds at the same
time.
"""

import contextlib
import sqlite3
from pathlib import Path
from urllib.parse import quote

__all__ = ["ALIVE", "connect", "connect_to_read", "create", "is_damage", "is_made_like_ours"]

# Rows that a reader of one generation sees; the generation is bound twice.
ALIVE = "born <= ? AND (died IS NULL OR died > ?)"

_TABLES = """
CREATE TABLE facts_of_index (key TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE files (
    id INTEGER PRIMARY KEY, path TEXT NOT NULL, born INTEGER NOT NULL, died INTEGER,
    digest BLOB NOT NULL, size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL,
    mode TEXT NOT NULL, language TEXT NOT NULL, encoding TEXT NOT NULL, lines INTEGER NOT NULL,
    chunks INTEGER NOT NULL, summary BLOB NOT NULL
);
CREATE INDEX files_by_path ON files (path) WHERE died IS NULL;
CREATE INDEX files_by_death ON files (died) WHERE died IS NOT NULL;
CREATE TABLE texts (file INTEGER PRIMARY KEY, text BLOB NOT NULL);
CREATE TABLE chunks (
    id INTEGER PRIMARY KEY, file INTEGER NOT NULL, mode TEXT NOT NULL, kind TEXT NOT NULL, name TEXT NOT NULL,
    start INTEGER NOT NULL, end INTEGER NOT NULL, start_line INTEGER NOT NULL, end_line INTEGER NOT NULL,
    words BLOB NOT NULL, details BLOB NOT NULL
);
CREATE INDEX chunks_by_file ON chunks (file);
CREATE TABLE skipped (path TEXT PRIMARY KEY, reason TEXT NOT NULL, detail TEXT NOT NULL, size INTEGER NOT NULL,
    mtime_ns INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE directories (path TEXT PRIMARY KEY, mtime_ns INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE history (
    path TEXT PRIMARY KEY, author TEXT NOT NULL, modified INTEGER NOT NULL,
    added INTEGER NOT NULL, deleted INTEGER NOT NULL, commits INTEGER NOT NULL
) WITHOUT ROWID;
"""


def connect(path: Path, *, writing: bool = False, fresh: bool = False) -> sqlite3.Connection:
    """A connection to the store; readers never wait for a writer (write-ahead log).

    A fresh store is thrown away as a whole when its build fails, so it is written without a journal.
    """
    connection = sqlite3.connect(path, timeout=10.0, isolation_level=None, check_same_thread=False)
    connection.execute("PRAGMA mmap_size = 268435456")
    if fresh:
        connection.execute("PRAGMA journal_mode = OFF")
        connection.execute("PRAGMA synchronous = OFF")
    elif writing:
        connection.execute("PRAGMA synchronous = FULL")  # on disk before the terms say so
    return connection


def is_made_like_ours(path: Path) -> bool:
    """Whether a store has our tables and nothing else: no view, and no trigger that would act when it is written.

    Asked of a file that comes from elsewhere before it is used in any other way.
    """
    asked = "SELECT type, name, sql FROM sqlite_schema"
    with contextlib.closing(sqlite3.connect(":memory:")) as own:
        own.executescript(_TABLES)
        expected = set(own.execute(asked))
    try:
        with contextlib.closing(sqlite3.connect(f"file:{quote(str(path))}?mode=ro", uri=True)) as foreign:
            return set(foreign.execute(asked).fetchmany(len(expected) + 1)) == expected
    except sqlite3.Error:
        return False


def connect_to_read(path: Path) -> sqlite3.Connection:
    """A connection that writes nothing; where not even the log can be shared, such as on a full or read-only disk,
    the store is read as it stands: a writer leaves nothing in the log."""
    if not path.exists():
        raise FileNotFoundError(path)
    connection = connect(path)
    try:
        connection.execute("PRAGMA query_only = ON")
        connection.execute("SELECT 1 FROM facts_of_index").fetchone()
    except sqlite3.OperationalError as error:
        connection.close()
        if is_damage(error):
            raise
        address = f"file:{quote(str(path))}?mode=ro&immutable=1"
        return sqlite3.connect(address, uri=True, isolation_level=None, check_same_thread=False)
    return connection


def is_damage(error: sqlite3.DatabaseError) -> bool:
    """Whether the file itself is broken; a full disk, a lock or missing rights are not its fault."""
    if not isinstance(error, sqlite3.OperationalError):
        return True
    return "no such table" in str(error) or "no such column" in str(error)


def create(path: Path) -> sqlite3.Connection:
    """A new store with empty tables, for a full build."""
    connection = connect(path, fresh=True)
    connection.execute("PRAGMA page_size = 8192")
    connection.executescript(_TABLES)
    return connection
