"""The rows of a key table and the statements on them; the one place that knows their form.

Transactions are the caller's. A row without an outcome is a claim: it is committed only when somebody ended the
transaction of a `once` block early, and then nobody knows whether the effect is whole.
"""

import re
import sqlite3
from dataclasses import dataclass
from typing import Any

from holdfast.dedup.trouble import KeyTableError
from holdfast.errors import UsageError

__all__ = ["MAX_KEY", "MAX_OUTCOME_BYTES", "KeyRow", "KeyRows", "check_key"]

MAX_KEY = 512  # characters
MAX_OUTCOME_BYTES = 1024 * 1024

_NAME = re.compile(r"(?!sqlite_)[A-Za-z_][A-Za-z0-9_]{0,62}")

# The outcome comes last: to read the other columns, SQLite then need not walk over it.
_CREATE = """
CREATE TABLE IF NOT EXISTS "{table}" (
    tool TEXT NOT NULL, key TEXT NOT NULL, digest TEXT NOT NULL, created REAL NOT NULL, outcome BLOB,
    PRIMARY KEY (tool, key)
)"""
_INDEX = 'CREATE INDEX IF NOT EXISTS "{table}_created" ON "{table}" (created)'
# The cast keeps the answer the same whatever `text_factory` the connection of the tool has.
_FIND = 'SELECT CAST(digest AS BLOB), created, outcome FROM "{table}" WHERE tool = ? AND key = ?'
_INSERT = 'INSERT INTO "{table}" (tool, key, digest, created, outcome) VALUES (?, ?, ?, ?, ?)'
_STORE = 'UPDATE "{table}" SET outcome = ? WHERE tool = ? AND key = ?'
_FORGET = 'DELETE FROM "{table}" WHERE created < ?'


@dataclass(frozen=True, slots=True)
class KeyRow:
    """What is known of one key: the digest of its arguments, when it came, and its outcome as JSON."""

    digest: str
    created: float
    outcome: bytes | None


class KeyRows:
    """The statements on the table `table` of one connection."""

    def __init__(self, connection: sqlite3.Connection, table: str) -> None:
        if not _NAME.fullmatch(table):
            raise UsageError(
                f"{table!r} cannot be the name of a key table",
                remedy="use up to 63 letters, digits and underscores, beginning with a letter",
            )
        self._connection = connection
        self._table = table

    def create(self) -> None:
        """Make the table unless it is there."""
        self._run(_CREATE)
        self._run(_INDEX)

    def find(self, tool: str, key: str) -> KeyRow | None:
        """The row of a key, if there is one."""
        found = self._run(_FIND, tool, key).fetchone()
        return None if found is None else KeyRow(found[0].decode(), found[1], found[2])

    def insert(self, tool: str, key: str, row: KeyRow) -> None:
        """Add the row of a key that has none."""
        self._run(_INSERT, tool, key, row.digest, row.created, row.outcome)

    def store(self, tool: str, key: str, outcome: bytes) -> bool:
        """Give the row of a key its outcome; False when the transaction that inserted it was ended meanwhile."""
        if not self._connection.in_transaction:
            return False
        try:
            return self._run(_STORE, outcome, tool, key).rowcount == 1
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode == sqlite3.SQLITE_ERROR:  # rolled back with the whole table
                return False
            raise

    def forget(self, before: float) -> int:
        """Remove the rows that were created before a time; their number."""
        return self._run(_FORGET, before).rowcount

    def _run(self, statement: str, *values: object) -> sqlite3.Cursor:
        cursor = self._connection.cursor()
        cursor.row_factory = None  # plain tuples, whatever the tool has set for its own queries
        return cursor.execute(statement.replace("{table}", self._table), values)


def check_key(key: Any) -> None:
    """Raise KeyTableError for what cannot be a key."""
    if not isinstance(key, str) or not 1 <= len(key) <= MAX_KEY or "\0" in key or not _is_unicode(key):
        raise KeyTableError(
            "bad_key",
            f"the key {key!r:.80} is not a text of 1 to {MAX_KEY} characters without NUL",
            remedy="use a short text that names the request, such as a UUID",
        )


def _is_unicode(text: str) -> bool:
    """Whether the text has no lone surrogates, which cannot be stored."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
