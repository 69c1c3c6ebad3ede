"""One transaction of a key table: begun with the write lock in hand, committed whole or rolled back whole."""

import contextlib
import sqlite3
from collections.abc import Iterator

from holdfast.dedup.trouble import translated
from holdfast.errors import UsageError

__all__ = ["ended_early", "transaction"]

_SAVEPOINT = "holdfast_once"


@contextlib.contextmanager
def transaction(connection: sqlite3.Connection, *, join: bool = False) -> Iterator[None]:
    """A block in one transaction; with `join`, it may be part of one that is open and whose owner ends it."""
    with translated("the transaction could not begin"):
        joined = connection.in_transaction
    if joined and not join:
        raise UsageError(
            "a transaction is open on this connection",
            remedy="commit it first, or pass join=True and commit it afterwards",
        )
    try:
        with translated("the transaction could not begin"):
            # IMMEDIATE waits for other writers here, before the effect, and not in the middle of it.
            connection.execute(f"SAVEPOINT {_SAVEPOINT}" if joined else "BEGIN IMMEDIATE")
        yield
        _commit(connection, joined=joined)
    except BaseException:
        _roll_back(connection, joined=joined)
        raise


def ended_early() -> UsageError:
    """The error of a block whose transaction somebody else has ended."""
    return UsageError(
        "the transaction was ended inside the once block",
        remedy="leave commit and rollback to the block; executescript commits too",
    )


def _commit(connection: sqlite3.Connection, *, joined: bool) -> None:
    if not connection.in_transaction:
        raise ended_early()
    with translated("the transaction could not be committed"):
        try:
            connection.execute(f"RELEASE {_SAVEPOINT}" if joined else "COMMIT")
        except sqlite3.OperationalError as error:
            if joined and error.sqlite_errorcode == sqlite3.SQLITE_ERROR:  # there is no such savepoint any more
                raise ended_early() from error
            raise


def _roll_back(connection: sqlite3.Connection, *, joined: bool) -> None:
    undo = (f"ROLLBACK TO {_SAVEPOINT}", f"RELEASE {_SAVEPOINT}") if joined else ("ROLLBACK",)
    # What made us roll back is the error to tell. If SQLite cannot roll back, it has done so already or the
    # connection is lost, and then the next process to open the file does it.
    with contextlib.suppress(sqlite3.Error):
        for statement in undo if connection.in_transaction else ():
            connection.execute(statement)
