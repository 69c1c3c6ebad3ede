"""What the commit service remembers: answers by key, the commits that it made, the pull requests that it opened.

One SQLite file. An answer and what it tells of are stored in one transaction, so a key either leads to its whole
answer or to none; then the request is done again, which has the same result.
"""

import json
import os
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from holdfast.errors import UsageError

__all__ = ["Answered", "MadeCommit", "ServiceStore"]

_FORMAT = 1
_BUSY_SECONDS = 30.0
_TABLES = """
CREATE TABLE answers (
    endpoint TEXT NOT NULL, repository TEXT NOT NULL, key TEXT NOT NULL, body_sha256 TEXT NOT NULL,
    document TEXT NOT NULL, PRIMARY KEY (endpoint, repository, key)
) WITHOUT ROWID;
CREATE TABLE commits (
    repository TEXT NOT NULL, commit_sha TEXT NOT NULL, branch TEXT NOT NULL, run_id TEXT NOT NULL,
    base_ref TEXT NOT NULL, created_at TEXT NOT NULL, PRIMARY KEY (repository, commit_sha, branch)
) WITHOUT ROWID;
CREATE TABLE pulls (
    repository TEXT NOT NULL, number INTEGER NOT NULL, url TEXT NOT NULL, branch TEXT NOT NULL,
    commit_sha TEXT NOT NULL, title TEXT NOT NULL, PRIMARY KEY (repository, number)
) WITHOUT ROWID;
"""


class Answered(NamedTuple):
    """An answer that was given before, and the digest of the request that it was given to."""

    body_sha256: str
    document: dict[str, Any]


class MadeCommit(NamedTuple):
    """A commit that the service made, for a branch that need not exist yet."""

    commit_sha: str
    branch: str
    run_id: str
    base_ref: str
    created_at: str


class ServiceStore:
    """The file. Every call opens it anew, so threads and processes may share it."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def answered(self, endpoint: str, repository: str, key: str) -> Answered | None:
        """The answer under this key."""
        with self._opened() as connection:
            row = connection.execute(
                "SELECT body_sha256, document FROM answers WHERE endpoint = ? AND repository = ? AND key = ?",
                (endpoint, repository, key),
            ).fetchone()
        return None if row is None else Answered(row[0], json.loads(row[1]))

    def made_commit(self, repository: str, commit_sha: str, branch: str) -> MadeCommit | None:
        """The commit, if it was made here for this branch."""
        with self._opened() as connection:
            row = connection.execute(
                "SELECT commit_sha, branch, run_id, base_ref, created_at FROM commits"
                " WHERE repository = ? AND commit_sha = ? AND branch = ?",
                (repository, commit_sha, branch),
            ).fetchone()
        return None if row is None else MadeCommit(*row)

    def keep_commit(
        self, repository: str, key: str, body_sha256: str, document: Mapping[str, Any], made: MadeCommit
    ) -> None:
        """Store a commit together with the answer that tells of it."""
        with self._changing() as connection:
            connection.execute("INSERT OR REPLACE INTO commits VALUES (?, ?, ?, ?, ?, ?)", (repository, *made))
            _keep_answer(connection, "commit", repository, key, body_sha256, document)

    def keep_pull(
        self, repository: str, key: str, body_sha256: str, document: Mapping[str, Any], title: str
    ) -> None:
        """Store a pull request together with the answer that tells of it."""
        row = [document[name] for name in ("pr_number", "pr_url", "branch_name", "commit_sha")]
        with self._changing() as connection:
            connection.execute("INSERT OR REPLACE INTO pulls VALUES (?, ?, ?, ?, ?, ?)", (repository, *row, title))
            _keep_answer(connection, "open_pr", repository, key, body_sha256, document)

    @contextmanager
    def _changing(self) -> Iterator[sqlite3.Connection]:
        with self._opened() as connection:
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
            except BaseException:
                connection.execute("ROLLBACK")
                raise
            connection.execute("COMMIT")

    @contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        _make_file(self._path)
        with closing(sqlite3.connect(self._path, timeout=_BUSY_SECONDS, isolation_level=None)) as connection:
            connection.execute("PRAGMA synchronous = FULL")
            _prepare(connection)
            yield connection


def _keep_answer(
    connection: sqlite3.Connection,
    endpoint: str,
    repository: str,
    key: str,
    body_sha256: str,
    document: Mapping[str, Any],
) -> None:
    text = json.dumps(document, ensure_ascii=False)
    row = (endpoint, repository, key, body_sha256, text)
    connection.execute("INSERT OR REPLACE INTO answers VALUES (?, ?, ?, ?, ?)", row)


def _prepare(connection: sqlite3.Connection) -> None:
    if _format(connection) == _FORMAT:
        return
    connection.execute("BEGIN IMMEDIATE")
    found = _format(connection)  # another process may have been faster
    if found == 0:
        for statement in _TABLES.split(";"):
            connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {_FORMAT}")
    connection.execute("COMMIT")
    if found not in (0, _FORMAT):
        raise UsageError(
            f"the commit service's file has format {found}; this version knows {_FORMAT}",
            remedy="use the version of Holdfast that wrote it, or name another directory",
        )


def _format(connection: sqlite3.Connection) -> int:
    (found,) = connection.execute("PRAGMA user_version").fetchone()
    return int(found)


def _make_file(path: Path) -> None:
    """Make the file for this user alone; SQLite would follow the umask."""
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    except FileExistsError:
        return
