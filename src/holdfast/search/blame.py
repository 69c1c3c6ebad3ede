"""Who wrote the lines of a chunk: `git blame`, asked only when somebody wants to know, once per version of a file.

An answer is kept by the path and the content that it is about, together with the commit at which it was given: it
is used again as long as no commit since then touched the file, so that it is always what git would say now.
Nothing here raises because of a repository or of the cache; a file without an answer has a reason.
"""

import hashlib
import threading
import zlib
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing, suppress
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, NamedTuple, Self

import orjson

from holdfast.search.history import GitError, git_output, never

if TYPE_CHECKING:
    import sqlite3

__all__ = ["UNCOMMITTED", "BlameCache", "authors_of_many", "chunk_authors"]

UNCOMMITTED = "Not Committed Yet"
_PARALLEL = 4
_MOST_ROWS = 20_000
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
    timeout: float = 15.0,
    reasons: dict[str, str] | None = None,
) -> list[list[str]]:
    """The authors of each range of lines (from 1, inclusive), whoever wrote most of it first.

    [] when git has no answer; `reasons`, if given, then says why.
    """
    return authors_of_many(root, {path: ranges}, cache=cache, timeout=timeout, reasons=reasons)[path]


def authors_of_many(
    root: Path,
    wanted: Mapping[str, Ranges],
    *,
    cache: "BlameCache",
    timeout: float = 15.0,
    stop: Callable[[], bool] = never,
    reasons: dict[str, str] | None = None,
) -> dict[str, list[list[str]]]:
    """The same for many files, of which four at a time are asked of git; `timeout` is for each of them."""
    from concurrent.futures import ThreadPoolExecutor

    why = reasons if reasons is not None else {}
    ended = threading.Event()
    place = _locate(root, lambda: ended.is_set() or stop())
    if isinstance(place, str):
        why.update(dict.fromkeys(wanted, place))
        return {path: [] for path in wanted}
    known, missing = _recall(root, wanted, place, cache, why)

    def ask(path: str) -> Runs | str:
        try:
            return _blame(root, path, place, timeout)
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
                if _key(root, path, place) == missing[path]:
                    cache.store(missing[path], place.head, answer)
        finally:
            ended.set()  # an interrupted search does not wait for what it asked
    return {
        path: [_authors(known[path], *span) for span in wanted[path]] if path in known else [] for path in wanted
    }


class _Place(NamedTuple):
    """Where we stand, and what else decides what git says."""

    head: str
    shallow: bool
    names: bytes  # the .mailmap
    stop: Callable[[], bool]


def _locate(root: Path, stop: Callable[[], bool]) -> "_Place | str":
    try:
        said = b"".join(git_output(root, ["rev-parse", "--is-shallow-repository", "HEAD"], stop=stop)).split()
    except GitError as error:
        return f"git: {error}"
    return _Place(said[1].decode(), said[0] == b"true", _content(root / ".mailmap") or b"", stop)


def _recall(
    root: Path, wanted: Iterable[str], place: _Place, cache: "BlameCache", why: dict[str, str]
) -> tuple[dict[str, Runs], dict[str, bytes]]:
    """What is known already, and the keys of what must be asked."""
    since = _Since(root, place)
    known: dict[str, Runs] = {}
    missing: dict[str, bytes] = {}
    for path in wanted:
        key = _key(root, path, place)
        if key is None:
            why[path] = "the file cannot be read"
            continue
        stored = cache.load(key)
        if stored is not None and since.untouched(stored[0], path):
            known[path] = stored[1]
        else:
            missing[path] = key
    return known, missing


def _key(root: Path, path: str, place: _Place) -> bytes | None:
    content = _content(root / path)
    if content is None:
        return None
    about = (path.encode("utf-8", "surrogateescape"), str(place.shallow).encode(), place.names, content)
    return hashlib.sha256(b"\0".join(about)).digest()


def _content(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except (OSError, ValueError):
        return None


class _Since:
    """Which files were touched by the commits between another one and ours; asked once for each other one."""

    def __init__(self, root: Path, place: _Place) -> None:
        self._root = root
        self._head = place.head
        self._stop = place.stop
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
        log = ["log", "-z", "-m", "--no-renames", "--name-only", "--relative", "--format=", between, "--"]
        try:
            for arguments in (["merge-base", "--is-ancestor", commit, self._head], log):
                said = b"".join(git_output(self._root, arguments, stop=self._stop))
        except GitError:  # rewritten since, or long gone
            return None
        return {name.lstrip(b"\n").decode("utf-8", "surrogateescape") for name in said.split(b"\0")}


def _blame(root: Path, path: str, place: _Place, timeout: float) -> Runs:
    arguments = ["blame", "--incremental", "--no-textconv", "--encoding=UTF-8", "--", path]
    authors: dict[bytes, str] = {}
    runs: Runs = []
    commit, first, count = b"", 0, 0
    pieces = git_output(root, arguments, stop=place.stop, seconds=timeout)
    with closing(pieces):
        for line in _lines(pieces):
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


def _lines(pieces: Iterable[bytes]) -> Iterable[bytes]:
    rest = b""
    for piece in pieces:
        *whole, rest = (rest + piece).split(b"\n")
        yield from whole


def _authors(runs: Runs, start: int, end: int) -> list[str]:
    lines: dict[str, int] = {}
    for first, count, author in runs:
        shared = min(end, first + count - 1) - max(start, first) + 1
        if shared > 0 and author:
            lines[author] = lines.get(author, 0) + shared
    return sorted(lines, key=lambda author: (-lines[author], author))


class BlameCache:
    """Answers of git in a small SQLite file, for one thread. A file that cannot be used is like an empty one."""

    def __init__(self, path: Path, *, most: int = _MOST_ROWS) -> None:
        import sqlite3

        self._most = most
        self._error = sqlite3.Error
        self._database: sqlite3.Connection | None = None
        # A file that is not ours, or half of one, is replaced once; where nothing can be written, nothing is kept.
        for _ in range(2):
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
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
