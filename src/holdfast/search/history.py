"""What git knows about the files of a repository: last author, last change, and how much they change.

One pass over the newest commits counts the lines; a second, cheaper one looks further back for the files that the
first did not meet, for a few seconds at most. Only files of HEAD are told. Nothing here raises because of a
repository: what could not be read is said in `remarks`, and a reading that was stopped has no head, so that it is
never taken for a whole one. It knows nothing of lines and their authors: that is `blame`.
"""

import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import orjson

from holdfast.git.asking import PLAIN_LOG, Git, GitError, GitStoppedError, GitTimeoutError, never
from holdfast.present.counted import counted

__all__ = [
    "FileHistory",
    "History",
    "from_bytes",
    "read_history",
    "to_bytes",
    "update_history",
]

_FORMAT = 1
_LIMIT = 2000
_LOOK_BACK_SECONDS = 5.0
_LOG = ("log", "-z", "--no-merges", *PLAIN_LOG)
_HEADER = b"\x01"
_COMMIT = "--format=%x01%H %ct %aN%x02%P"
# Comparing the contents of more than these many removed and added files per commit costs more than it tells.
_RENAMES = ("-M", "-l200")


@dataclass(slots=True)
class FileHistory:
    """One file of HEAD: who changed it last and when (unix seconds), and its changes inside of the window."""

    last_author: str
    last_modified: int
    churn_added: int = 0
    churn_deleted: int = 0
    commits: int = 0

    @property
    def churn(self) -> int:
        """Lines added and deleted inside of the window."""
        return self.churn_added + self.churn_deleted


@dataclass(slots=True)
class History:
    """The files of HEAD by their path below the root, and which commits were counted."""

    files: dict[str, FileHistory] = field(default_factory=dict)
    head: str = ""  # empty: there is no commit, or nothing could be read
    limit: int = _LIMIT
    since: str | None = None
    window: int = 0  # commits that the churn counts
    shallow: bool = False
    remarks: list[str] = field(default_factory=list)


def read_history(
    root: Path,
    *,
    limit: int = _LIMIT,
    since: str | None = None,
    look_back: float = _LOOK_BACK_SECONDS,
    stop: Callable[[], bool] = never,
) -> History:
    """Read the newest `limit` commits (younger than `since`), then look back for the files that they do not touch.

    Merges count nothing: the commits that they bring do. Renames are followed into the present name.
    """
    git = Git(root, stop=stop)
    try:
        return _read(git, _locate(git), History(limit=limit, since=since), look_back)
    except GitError as error:
        return History(limit=limit, since=since, remarks=[f"git: {error}"])


def update_history(
    old: History, root: Path, *, look_back: float = _LOOK_BACK_SECONDS, stop: Callable[[], bool] = never
) -> History:
    """The history as of now; only the commits since `old` are read where its head is an ancestor of ours.

    A window that has grown by a tenth beyond its limit, a rebase, and a clone that is no longer shallow are read
    anew. Without a new commit, and when it was stopped, `old` itself is the answer.
    """
    git = Git(root, stop=stop)
    try:
        place = _locate(git)
        if place.head == old.head and place.shallow == old.shallow:
            return old
        if place.shallow == old.shallow and _is_ancestor(git, old.head):
            grown = _advance(git, place, old)
            if grown is not None:
                return grown
        return _read(git, place, History(limit=old.limit, since=old.since), look_back)
    except GitStoppedError:
        return old
    except GitError as error:
        return History(limit=old.limit, since=old.since, remarks=[f"git: {error}"])


@dataclass(frozen=True, slots=True)
class _Place:
    """Where HEAD stands; `scope` limits the log to the root, where that is a folder inside of the work tree."""

    head: str
    shallow: bool
    scope: tuple[str, ...]


def _locate(git: Git) -> _Place:
    git.whole("rev-parse", "--git-dir")  # says plainly when this is no repository
    try:
        said = git.whole("rev-parse", "--is-shallow-repository", "--show-prefix", "HEAD")
    except GitStoppedError:
        raise
    except GitError as error:
        raise GitError("the repository has no commit yet") from error
    shallow, *prefix, head = said.decode("utf-8", "surrogateescape").rstrip("\n").split("\n")
    inside = any(prefix)
    return _Place(head, shallow == "true", ("--relative", "--", ".") if inside else ("--",))


def _is_ancestor(git: Git, commit: str) -> bool:
    if not commit:
        return False
    try:
        git.whole("merge-base", "--is-ancestor", commit, "HEAD")
    except GitStoppedError:
        raise
    except GitError:  # not one, or long gone: git's way of saying no
        return False
    return True


def _read(git: Git, place: _Place, into: History, look_back: float) -> History:
    into.head, into.shallow = place.head, place.shallow
    if place.shallow:
        into.remarks.append("git: a shallow clone: what is older than its oldest commit is not known")
    arguments = [f"--max-count={into.limit}", *([f"--since={into.since}"] if into.since else [])]
    window = _Window(place.shallow)
    whole = _fill(window, git, [*arguments, place.head, *place.scope], into)
    present = _present(git, place.head)
    into.files = {path: known for path, known in window.files.items() if path in present}
    into.window = window.commits
    missing = present.difference(into.files)
    if missing and (window.commits >= into.limit or into.since or not whole):
        # A window that ended early may have broken off in the middle of its last commit.
        skipped = into.window if whole and not into.since else 0
        _look_back(git, place, into, missing, skipped, look_back)
    return into


def _advance(git: Git, place: _Place, old: History) -> History | None:
    """`old` and what came since; None when it must be read anew, e.g. its window has grown too long."""
    into, window = History(limit=old.limit, since=old.since), _Window(place.shallow)
    whole = _fill(window, git, [f"{old.head}..{place.head}", *place.scope], into)
    into.window = old.window + window.commits
    if not whole or into.window > into.limit + into.limit // 10:
        return None
    into.remarks = list(old.remarks)
    into.head, into.shallow = place.head, place.shallow
    files = dict(window.files)
    for was, known in old.files.items():
        path = window.names.get(was, was)
        files[path] = _sum(files[path], known) if path in files else known
    present = _present(git, place.head)
    into.files = {path: known for path, known in files.items() if path in present}
    return into


def _sum(newer: FileHistory, older: FileHistory) -> FileHistory:
    # A branch that is merged brings commits that may be older than the last one known.
    last = newer if newer.last_modified >= older.last_modified else older
    return FileHistory(
        last.last_author, last.last_modified, newer.churn_added + older.churn_added,
        newer.churn_deleted + older.churn_deleted, newer.commits + older.commits,
    )  # fmt: skip


def _fill(window: "_Window", git: Git, arguments: list[str], into: History) -> bool:
    """Count the commits of a log; False when it ended early."""
    try:
        with git.start(*_LOG, *_RENAMES, "--numstat", _COMMIT, *arguments) as output:
            window.read(output.fields())
    except GitError as error:
        if isinstance(error, GitStoppedError) and not isinstance(error, GitTimeoutError):
            raise
        # A damaged, partial or very slow repository: what was read until there is true.
        into.remarks.append(f"git: the log ends after {window.commits} commits: {error}")
        return False
    return True


def _header(said: bytes) -> tuple[str, int, bool]:
    """Author, time, and whether the commit has no parent."""
    about, _, parents = said[1:].partition(b"\x02")
    _, time, author = about.split(b" ", 2)
    return author.decode("utf-8", "replace"), int(time), not parents


def _text(path: bytes) -> str:
    return path.decode("utf-8", "surrogateescape")


class _Window:
    """The counts of commits that are read from the newest to the oldest."""

    def __init__(self, shallow: bool) -> None:
        self.files: dict[str, FileHistory] = {}
        self.names: dict[str, str] = {}  # what older commits call a file -> what it is called now
        self.commits = 0
        self._shallow = shallow

    def read(self, fields: Iterator[bytes]) -> None:
        """Count the commits of a log with numbers of lines."""
        author, time, skip = "", 0, False
        renamed: dict[str, str] = {}
        for said in fields:
            if said.startswith(_HEADER):
                # Only now: two files of one commit may have swapped their names.
                self.names.update(renamed)
                renamed = {}
                author, time, orphan = _header(said)
                # The oldest commit of a shallow clone seems to have written every file.
                skip = orphan and self._shallow
                self.commits += not skip
            elif said.strip():
                added, deleted, name = said.removeprefix(b"\n").split(b"\t", 2)
                before = b"" if name else next(fields, b"")
                path = _text(name or next(fields, b""))
                path = self.names.get(path, path)
                if before:
                    renamed[_text(before)] = path
                if not skip:
                    self._count(path, author, time, added, deleted)
        self.names.update(renamed)

    def _count(self, path: str, author: str, time: int, added: bytes, deleted: bytes) -> None:
        known = self.files.get(path)
        if known is None:
            known = self.files[path] = FileHistory(author, time)
        known.commits += 1
        if added != b"-":  # a binary file has no lines
            known.churn_added += int(added)
            known.churn_deleted += int(deleted)


def _present(git: Git, head: str) -> set[str]:
    """The files of HEAD below the root; a submodule is none."""
    with git.start("ls-tree", "-r", "-z", head) as output:
        entries = (entry for entry in output.fields() if not entry.startswith(b"160000"))
        return {_text(entry.split(b"\t", 1)[1]) for entry in entries}


def _look_back(git: Git, place: _Place, into: History, missing: set[str], skipped: int, seconds: float) -> None:
    """Author and time of the files that the window did not meet: names only, until all were seen."""
    arguments = [*_LOG, "--no-renames", "--name-status", _COMMIT, f"--skip={skipped}", place.head, *place.scope]
    try:
        with git.start(*arguments, seconds=seconds) as output:
            _find_missing(output.fields(), place, into, missing)
    except GitTimeoutError:
        into.remarks.append(f"git: {counted(len(missing), 'file')} older than what was read in {seconds:g} s")
    except GitStoppedError:
        raise
    except GitError as error:
        into.remarks.append(f"git: the older log could not be read: {error}")


def _find_missing(fields: Iterator[bytes], place: _Place, into: History, missing: set[str]) -> None:
    author, time, skip = "", 0, False
    for said in fields:
        if said.startswith(_HEADER):
            author, time, orphan = _header(said)
            skip = orphan and place.shallow
        elif said.strip():
            path = _text(next(fields, b""))
            if path in missing and not skip:
                missing.discard(path)
                into.files[path] = FileHistory(author, time)
                if not missing:
                    return


def to_bytes(history: History) -> bytes:
    """The history in a compact form: columns, each author once, paths as the bytes that they are."""
    authors = {
        name: number for number, name in enumerate(dict.fromkeys(f.last_author for f in history.files.values()))
    }
    about = {
        "format": _FORMAT, "head": history.head, "limit": history.limit, "since": history.since,
        "window": history.window, "shallow": history.shallow, "remarks": history.remarks, "authors": list(authors),
        "files": [
            [authors[f.last_author], f.last_modified, f.churn_added, f.churn_deleted, f.commits]
            for f in history.files.values()
        ],
    }  # fmt: skip
    # A path need not be UTF-8, so it cannot be part of the JSON.
    paths = b"\0".join(path.encode("utf-8", "surrogateescape") for path in history.files)
    return zlib.compress(orjson.dumps(about) + b"\n" + paths, 3)


def from_bytes(stored: bytes) -> History:
    """The history that `to_bytes` stored; ValueError for anything else, also of another format."""
    try:
        head, _, names = zlib.decompress(stored).partition(b"\n")
        about = orjson.loads(head)
        if about.pop("format") != _FORMAT:
            raise ValueError("another format")
        authors, rows = about.pop("authors"), about.pop("files")
        paths = [_text(name) for name in names.split(b"\0")] if rows else []
        files = {
            path: FileHistory(authors[author], *numbers)
            for path, (author, *numbers) in zip(paths, rows, strict=True)
        }
        return History(files=files, **about)
    except (zlib.error, KeyError, IndexError, TypeError, AttributeError, ValueError) as error:
        raise ValueError(f"not a stored history: {error}") from error
