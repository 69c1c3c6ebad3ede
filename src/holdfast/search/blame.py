"""Who wrote the lines of a chunk: `git blame`, asked only when somebody wants to know, once per version of a file.

An answer is kept by the path and the content that it is about, together with the commit at which it was given: it
is used again as long as no commit since then touched the file, so that it is always what git would say now.
Nothing here raises because of a repository or of the cache; a file without an answer has a reason.
"""

import hashlib
import os
import threading
import zlib
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from time import monotonic
from types import TracebackType
from typing import TYPE_CHECKING, NamedTuple, Self

import orjson

from holdfast.git.asking import PLAIN_LOG, Git, GitError, never
from holdfast.search.discover.sniff import read_start
from holdfast.search.private import private_files

if TYPE_CHECKING:
    import sqlite3

__all__ = ["UNCOMMITTED", "BlameCache", "authors_of_many", "chunk_authors"]

UNCOMMITTED = "Not Committed Yet"
_PARALLEL = 4
_ALL_SECONDS = 10.0
_LARGEST_FILE = 16 << 20
_MOST_ROWS = 20_000
_MOST_BYTES = 64 << 20
_LARGEST_ROW = 1 << 20
_BUSY_SECONDS = 2.0

Ranges = list[tuple[int, int]]
Runs = list[tuple[int, int, str]]  # first line, number of lines, author; in the order of lines


def chunk_authors(
    root: Path,
    path: str,
    ranges: Ranges,
    *,
    cache: "BlameCache",
    seconds: float = _ALL_SECONDS,
    stop: Callable[[], bool] = never,
    reasons: dict[str, str] | None = None,
) -> list[list[str]]:
    """The authors of each range of lines (from 1, inclusive), whoever wrote most of it first.

    [] when git has no answer; `reasons`, if given, then says why.
    """
    wanted = {path: ranges}
    return authors_of_many(root, wanted, cache=cache, seconds=seconds, stop=stop, reasons=reasons)[path]


def authors_of_many(
    root: Path,
    wanted: Mapping[str, Ranges],
    *,
    cache: "BlameCache",
    seconds: float = _ALL_SECONDS,
    stop: Callable[[], bool] = never,
    reasons: dict[str, str] | None = None,
) -> dict[str, list[list[str]]]:
    """The same for many files, of which four at a time are asked of git; `seconds` are for all of them together.

    Files whose turn did not come in time, or before `stop`, have a reason like all others without an answer.
    """
    from concurrent.futures import ThreadPoolExecutor

    why = reasons if reasons is not None else {}
    ended = threading.Event()
    git = Git(root, stop=lambda: ended.is_set() or stop(), deadline=monotonic() + seconds)
    place = _locate(root, git)
    if isinstance(place, str):
        why.update(dict.fromkeys(wanted, place))
        return {path: [] for path in wanted}
    known, missing = _recall(wanted, place, cache, why)

    def ask(path: str) -> Runs | str:
        try:
            return _blame(path, place)
        except GitError as error:
            return f"git: {error}"

    with ThreadPoolExecutor(_PARALLEL, thread_name_prefix="git-blame") as pool:
        try:
            for path, answer in zip(missing, pool.map(ask, missing), strict=True):
                if isinstance(answer, str):
                    why[path] = answer
                    continue
                known[path] = answer
                # A file that was written meanwhile is not what git was asked about.
                if _key(path, place) == missing[path]:
                    cache.store(missing[path], place.head, answer)
        finally:
            ended.set()  # an interrupted search does not wait for what it asked
    return {
        path: [_authors(known[path], *span) for span in wanted[path]] if path in known else [] for path in wanted
    }


class _Place(NamedTuple):
    """Where we stand, and what else decides what git says."""

    root: Path
    git: Git
    head: str
    shallow: bool
    names: bytes  # the .mailmap


def _locate(root: Path, git: Git) -> "_Place | str":
    try:
        shallow, head = git.whole("rev-parse", "--is-shallow-repository", "HEAD").split()
    except GitError as error:
        return f"git: {error}"
    names = _content(root, ".mailmap")
    return _Place(root, git, head.decode(), shallow == b"true", b"" if isinstance(names, str) else names)


def _recall(
    wanted: Iterable[str], place: _Place, cache: "BlameCache", why: dict[str, str]
) -> tuple[dict[str, Runs], dict[str, bytes]]:
    """What is known already, and the keys of what must be asked."""
    since = _Since(place)
    known: dict[str, Runs] = {}
    missing: dict[str, bytes] = {}
    for path in wanted:
        try:
            place.git.check()
        except GitError as error:
            why[path] = f"git: {error}"
            continue
        key = _key(path, place)
        if isinstance(key, str):
            why[path] = key
            continue
        stored = cache.load(key)
        if stored is not None and since.untouched(stored[0], path):
            known[path] = stored[1]
        else:
            missing[path] = key
    return known, missing


def _key(path: str, place: _Place) -> bytes | str:
    """What an answer about a file is kept by; a text is the reason why there is nothing to ask about."""
    content = _content(place.root, path)
    if isinstance(content, str):
        return content
    about = (path.encode("utf-8", "surrogateescape"), str(place.shallow).encode(), place.names, content)
    return hashlib.sha256(b"\0".join(about)).digest()


def _content(root: Path, path: str) -> bytes | str:
    """What is in a regular file, or the reason why it is not read; a pipe is not waited for."""
    try:
        content = read_start(os.path.join(root, path), _LARGEST_FILE + 1)
    except (OSError, ValueError):
        return "the file cannot be read"
    if content is None:
        return "the file cannot be read"
    return content if len(content) <= _LARGEST_FILE else "the file is too large"


class _Since:
    """Which files were touched by the commits between another one and ours; asked once for each other one."""

    def __init__(self, place: _Place) -> None:
        self._git = place.git
        self._head = place.head
        self._touched: dict[str, set[str] | None] = {}

    def untouched(self, commit: str, path: str) -> bool:
        """Whether nothing since `commit` changed who wrote the file; no for a commit that is no ancestor."""
        if commit == self._head:
            return True
        if commit not in self._touched:
            self._touched[commit] = self._ask(commit)
        touched = self._touched[commit]
        return touched is not None and path not in touched

    def _ask(self, commit: str) -> set[str] | None:
        between = f"{commit}..{self._head}"
        log = ("log", "-z", "-m", *PLAIN_LOG, "--no-renames", "--name-only", "--relative", "--format=")
        try:
            self._git.whole("merge-base", "--is-ancestor", commit, self._head)
            with self._git.start(*log, between, "--") as output:
                return {name.lstrip(b"\n").decode("utf-8", "surrogateescape") for name in output.fields()}
        except GitError:  # rewritten since, or long gone
            return None


def _blame(path: str, place: _Place) -> Runs:
    authors: dict[bytes, str] = {}
    runs: Runs = []
    commit, first, count = b"", 0, 0
    # A list of commits to pass over may be any file, also one without an end; no setting takes it back.
    plain = ("--no-ignore-revs-file", "--no-textconv", "--encoding=UTF-8")
    with place.git.start("blame", "--incremental", *plain, "--", path) as output:
        for line in output.fields(b"\n"):
            word, _, rest = line.partition(b" ")
            if word == b"author":
                authors[commit] = rest.decode("utf-8", "replace") if commit.strip(b"0") else UNCOMMITTED
            elif word == b"boundary" and place.shallow:
                authors[commit] = ""  # the oldest commit of a shallow clone did not write what it found
            elif word == b"filename":  # the last line of each answer
                runs.append((first, count, authors[commit]))
            elif len(word) >= 40 and word.isalnum():
                commit = word
                first, count = (int(number) for number in rest.split()[1:3])
    return sorted(runs)


def _authors(runs: Runs, start: int, end: int) -> list[str]:
    lines: dict[str, int] = {}
    for first, count, author in runs:
        shared = min(end, first + count - 1) - max(start, first) + 1
        if shared > 0 and author:
            lines[author] = lines.get(author, 0) + shared
    return sorted(lines, key=lambda author: (-lines[author], author))


class BlameCache:
    """Answers of git in a small SQLite file, for one thread. A file that cannot be used is like an empty one."""

    def __init__(self, path: Path, *, most: int = _MOST_ROWS, most_bytes: int = _MOST_BYTES) -> None:
        import sqlite3

        self._most = most
        self._most_bytes = most_bytes
        self._error = sqlite3.Error
        self._database: sqlite3.Connection | None = None
        # A file that is not ours, or half of one, is replaced once; where nothing can be written, nothing is kept.
        for _ in range(2):
            try:
                path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                with private_files():
                    self._database = _opened(path)
                return
            except sqlite3.OperationalError:
                return
            except (sqlite3.DatabaseError, OSError):
                with suppress(OSError):
                    path.unlink()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        if self._database is not None:
            self._database.close()
            self._database = None

    def load(self, key: bytes) -> tuple[str, Runs] | None:
        """The commit at which an answer was given, and the answer."""
        if self._database is None:
            return None
        try:
            row = self._database.execute("SELECT head, runs FROM blame WHERE key = ?", (key,)).fetchone()
            if row is None:
                return None
            about = orjson.loads(zlib.decompress(row[1]))
            names = about["authors"]
            return row[0], [(first, count, names[author]) for first, count, author in about["runs"]]
        except (self._error, zlib.error, KeyError, IndexError, TypeError, ValueError):
            return None

    def store(self, key: bytes, head: str, runs: Runs) -> None:
        """Keep an answer; the oldest ones make room."""
        if self._database is None:
            return
        names = {name: number for number, name in enumerate(dict.fromkeys(author for _, _, author in runs))}
        about = {"authors": list(names), "runs": [(first, count, names[author]) for first, count, author in runs]}
        packed = zlib.compress(orjson.dumps(about))
        if len(packed) > _LARGEST_ROW:
            return
        # A disk that is full or a file that is locked: the answer is good without being kept.
        with suppress(self._error), self._database:
            self._database.execute(
                "INSERT OR REPLACE INTO blame (key, head, runs) VALUES (?, ?, ?)", (key, head, packed)
            )
            self._database.execute(
                "DELETE FROM blame WHERE rowid <= (SELECT max(rowid) FROM blame) - ?", (self._most,)
            )
            self._shrink(self._database)

    def _shrink(self, database: "sqlite3.Connection") -> None:
        """Give up the older half until the rest fits; its pages are used again, so the file grows no further."""
        while _bytes_used(database) > self._most_bytes:
            gone = database.execute(
                "DELETE FROM blame WHERE rowid IN "
                "(SELECT rowid FROM blame ORDER BY rowid LIMIT (SELECT count(*) / 2 FROM blame))"
            )
            if gone.rowcount <= 0:  # a single answer is left
                break


def _bytes_used(database: "sqlite3.Connection") -> int:
    pages, unused, size = (
        int(database.execute(f"PRAGMA {name}").fetchone()[0])
        for name in ("page_count", "freelist_count", "page_size")
    )
    return (pages - unused) * size


def _opened(path: Path) -> "sqlite3.Connection":
    import sqlite3

    database = sqlite3.connect(path, timeout=_BUSY_SECONDS)
    try:
        database.execute("PRAGMA synchronous = OFF")  # what is lost can be asked again
        database.execute("CREATE TABLE IF NOT EXISTS blame (key BLOB PRIMARY KEY, head TEXT, runs BLOB)")
        database.execute("SELECT key, head, runs FROM blame LIMIT 1").fetchone()
        database.commit()
    except BaseException:
        database.close()
        raise
    return database
