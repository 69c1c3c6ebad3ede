"""`show_file`: some lines of one file of the repository, as they are on disk now.

What search would never show is not shown here either: nothing outside of the repository, whatever way leads there,
nothing of git itself, nothing that is ignored. The way to the file is opened step by step without following links,
so that a link that comes between looking and reading leads nowhere.
"""

import codecs
import errno
import hashlib
import os
import stat
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from holdfast.errors import ToolError
from holdfast.search.decode import BOM, decode
from holdfast.search.filed import text_of_filed
from holdfast.search.membership import why_left_out
from holdfast.search.repository import Repository

__all__ = ["DEFAULT_BYTES", "LARGEST_FILE", "MOST_BYTES", "show_file"]

DEFAULT_BYTES = 64 * 1024
MOST_BYTES = 1024 * 1024
LARGEST_FILE = 64 * 1024 * 1024

_LONGEST_PATH = 4096  # bytes; no system has a file with a longer one, and resolving it would take for ever
_LONGEST_SHOWN = 200  # characters of a path in a message
_BLOCK = 64 * 1024
_PIECE = 1024 * 1024
_BINARY_BYTES = 8192  # as much as discovery looks at
_TEXT_BYTES = bytes(sorted({*range(32, 127), *range(128, 256), *b"\b\t\n\v\f\r\x1b"}))
_WIDE_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_ABSENT = {errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG, errno.ELOOP}
_REASONS = {
    "version-control": "it belongs to version control",
    "nested-repository": "it belongs to another repository",
    "dependencies": "it is an installed dependency",
    "ignored": "git ignores it",
    "holdfastignore": ".holdfastignore leaves it out",
    "configured": "the configuration of the repository leaves it out (indexing.ignore)",
}


def show_file(
    repository: Repository,
    *,
    path: str,
    start_line: int | None = None,
    end_line: int | None = None,
    max_bytes: int | None = None,
    records: Path | None = None,
) -> dict[str, Any]:
    """Lines `start_line` to `end_line` of a file, from 1, both included; at most `max_bytes` of UTF-8.

    An end behind the last line means the last line. What does not fit is cut behind a line, or, where not even one
    line fits, between two characters. `records` is the directory of the records of triage, which are shown by the
    paths that hits in them have, and context packs beside them.
    """
    room = DEFAULT_BYTES if max_bytes is None else max_bytes
    _check_numbers(start_line, end_line, room)
    filed = None if records is None else text_of_filed(records, path)
    file = path if filed is not None else _resolved(repository, path)
    data = _read(repository, file) if filed is None else filed
    text, encoding = _text_of(data, file)
    window = _Window(text, start_line or 1, end_line, file)
    shown, encoding, truncated = _shown(window, room, encoding)
    return {
        "repoPath": repository.shown,
        "file": file,
        "startLine": window.first,
        "endLine": window.first + window.lines_in(shown) - 1 if shown else window.first - (not text),
        "totalLines": window.total,
        "text": shown.decode(),
        "truncated": truncated,
        "encoding": encoding,
        "hash": hashlib.sha256(data).hexdigest(),
        "bytes": len(data),
    }


def _check_numbers(start: int | None, end: int | None, room: int) -> None:
    given = (("startLine", start), ("endLine", end))
    problems = [
        f"{name} is {value}; lines count from 1" for name, value in given if value is not None and value < 1
    ]
    if start is not None and end is not None and start > end:
        problems.append(f"startLine {start} is behind endLine {end}")
    if not 1 <= room <= MOST_BYTES:
        problems.append(f"maxBytes is {room}; it may be 1 to {MOST_BYTES}")
    if problems:
        raise ToolError("INVALID_REQUEST", "; ".join(problems), details={"problems": problems})


# Where it is.


def _resolved(repository: Repository, path: str) -> str:
    """The real path of the file, relative to the root."""
    shown = _printable(path)
    if not path or "\0" in path or not _is_unicode(path):
        raise ToolError("INVALID_REQUEST", f"not a path: {shown!r}", hint="Name a file by its path.")
    if len(path.encode()) > _LONGEST_PATH:
        raise _not_found(shown)
    if path.startswith("/") or _climbs_out(path):
        raise _forbidden(shown, "it is outside of the repository")
    root = str(repository.root)
    real = os.path.realpath(f"{root}/{path}")
    if real == root:
        raise _no_file(shown, "it is a directory")
    if not real.startswith(root.rstrip("/") + "/"):
        raise _forbidden(shown, "it leads out of the repository")
    return real[len(root.rstrip("/")) + 1 :]


def _climbs_out(path: str) -> bool:
    """Whether the path leaves the root on its way, even if it came back: that would tell what is around it."""
    depth = 0
    for part in path.split("/"):
        depth += -1 if part == ".." else part not in ("", ".")
        if depth < 0:
            return True
    return False


def _read(repository: Repository, file: str) -> bytes:
    shown = _printable(file)
    if any(part.casefold() == ".git" for part in file.split("/")):
        raise _forbidden(shown, _REASONS["version-control"])
    try:
        with ExitStack() as opened:
            descriptor = _open(str(repository.root), file, shown, opened)
            reason = why_left_out(repository, file)
            if reason is not None:
                raise _forbidden(shown, _REASONS[reason])
            return _whole(descriptor, shown)
    except OSError as trouble:
        if trouble.errno in _ABSENT:
            raise _not_found(shown) from None
        why = (trouble.strerror or type(trouble).__name__).lower()
        raise _forbidden(shown, f"it cannot be read ({why})") from trouble


def _open(root: str, file: str, shown: str, opened: ExitStack) -> int:
    """The open file; nothing on the way is a link, and nothing but a regular file is ever opened at its end."""
    *above, name = file.split("/")
    place = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    opened.callback(os.close, place)
    for part in above:
        place = os.open(part, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=place)
        opened.callback(os.close, place)
    _check_kind(os.stat(name, dir_fd=place, follow_symlinks=False), shown)
    descriptor = os.open(name, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=place)
    opened.callback(os.close, descriptor)
    _check_kind(os.fstat(descriptor), shown)
    return descriptor


def _check_kind(status: os.stat_result, shown: str) -> None:
    if stat.S_ISLNK(status.st_mode):
        raise _not_found(shown)  # a link that leads nowhere, or one that came a moment ago
    if stat.S_ISDIR(status.st_mode):
        raise _no_file(shown, "it is a directory")
    if not stat.S_ISREG(status.st_mode):
        raise _no_file(shown, "it is not a regular file")
    if status.st_size > LARGEST_FILE:
        raise _too_large(shown)


def _whole(descriptor: int, shown: str) -> bytes:
    data = bytearray()
    while piece := os.read(descriptor, _PIECE):
        data += piece
        if len(data) > LARGEST_FILE:  # it grows while it is read
            raise _too_large(shown)
    return bytes(data)


# What is in it.


def _text_of(data: bytes, file: str) -> tuple[bytes, str]:
    """The text without a mark at its start, and its encoding where the whole file has to say it; else ""."""
    if data.startswith(_WIDE_MARKS) or _is_wide_text(data):
        decoded = decode(data)
        return decoded.text_bytes, decoded.encoding
    start = data[:_BINARY_BYTES]
    if b"\0" in start or len(start.translate(None, _TEXT_BYTES)) * 10 > len(start):
        raise _no_file(_printable(file), "it is not text")
    return (data[len(BOM) :], "utf-8-sig") if data.startswith(BOM) else (data, "")


def _is_wide_text(data: bytes) -> bool:
    if not data.startswith(codecs.BOM_UTF32_BE):
        return False
    try:
        data.decode("utf-32")
    except UnicodeDecodeError:
        return False
    return True


class _Window:
    """The lines that were asked for. A file may be nothing but line ends, so lines are counted and not listed."""

    def __init__(self, text: bytes, first: int, last: int | None, file: str) -> None:
        # As elsewhere: a carriage return alone ends a line only in a text that has no other line ends.
        self._end = b"\r" if b"\n" not in text and b"\r" in text else b"\n"
        self._text = text
        self.first = first
        self.total = self.lines_in(text)
        if first > max(self.total, 1):
            lines = "1 line" if self.total == 1 else f"{self.total} lines"
            message = f"startLine {first} is behind the end: {_printable(file)} has {lines}"
            raise ToolError("INVALID_REQUEST", message, details={"file": file, "totalLines": self.total})
        start = self._behind_line(first - 1, 0)
        self.raw = text[start : len(text) if last is None else self._behind_line(last - first + 1, start)]

    def lines_in(self, text: bytes) -> int:
        """How many lines there are, a last one without an end included."""
        return text.count(self._end) + (text != b"" and not text.endswith(self._end))

    def _behind_line(self, count: int, at: int) -> int:
        """Where the text goes on behind so many lines from a position on."""
        while count and at < len(self._text):
            in_block = self._text.count(self._end, at, at + _BLOCK)
            if in_block < count:
                count -= in_block
                at += _BLOCK
                continue
            for _ in range(count):
                at = self._text.index(self._end, at) + 1
            return at
        return min(at, len(self._text))

    def cut(self, text: bytes, room: int) -> bytes:
        """As much of a text as there is room for."""
        if len(text) <= room:
            return text
        stop = text.rfind(self._end, 0, room) + 1 or room
        if stop == room:
            while stop > max(room - 3, 0) and text[stop] & 0xC0 == 0x80:  # inside of a character
                stop -= 1
            if stop and text[stop - 1 : stop + 1] == b"\r\n":
                stop -= 1
        return text[:stop]


def _shown(window: _Window, room: int, encoding: str) -> tuple[bytes, str, bool]:
    """What is shown, its encoding, and whether something was cut off.

    Single bytes that are not UTF-8 grow when they are decoded, so there are two cuts; the first saves work.
    """
    raw = window.cut(window.raw, room)
    decoded = decode(raw)
    shown = window.cut(decoded.text_bytes, room)
    truncated = len(raw) < len(window.raw) or len(shown) < len(decoded.text_bytes)
    is_plain = decoded.encoding in ("utf-8", "utf-8-sig")  # the mark, if there is one, was taken off before
    return shown, (encoding or "utf-8") if is_plain else decoded.encoding, truncated


# What is said when it cannot be shown.


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _printable(path: str) -> str:
    shown = "".join(character if character.isprintable() else "?" for character in path[:_LONGEST_SHOWN])
    return shown if len(path) <= _LONGEST_SHOWN else f"{shown}…"


def _forbidden(shown: str, why: str) -> ToolError:
    hint = "Name a file of the repository that search can find, relative to its root."
    return ToolError("FORBIDDEN", f"{shown} may not be shown: {why}", details={"file": shown}, hint=hint)


def _not_found(shown: str) -> ToolError:
    hint = "Paths are relative to the root of the repository, as in the results of a search."
    return ToolError("NOT_FOUND", f"there is no file {shown}", details={"file": shown}, hint=hint)


def _no_file(shown: str, why: str) -> ToolError:
    hint = "Name a text file."
    return ToolError("INVALID_REQUEST", f"{shown} cannot be shown: {why}", details={"file": shown}, hint=hint)


def _too_large(shown: str) -> ToolError:
    return _no_file(shown, f"it is larger than {LARGEST_FILE // 1024**2} MiB")
