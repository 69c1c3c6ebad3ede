"""Paths as a reader should see them, and `file://` URIs as the paths they mean.

Purely lexical: no file is looked at, no link is followed, so `..` is never resolved here. What may be read or
written is decided elsewhere, by somebody who does look.
"""

import re
from enum import Enum
from pathlib import PurePath, PurePosixPath
from urllib.parse import unquote

__all__ = [
    "FILE_SCHEME_PATTERN",
    "FILE_URI_PATTERN",
    "NOT_A_PATH_PATTERN",
    "PathStyle",
    "local_path",
    "render_path",
]


class PathStyle(Enum):
    """Whether a path is given from the root of the work at hand, or from the root of the file system."""

    RELATIVE = "relative"
    ABSOLUTE = "absolute"


_HEX = "[0-9A-Fa-f]"
_TRAIL = f"%[89ABab]{_HEX}"
# Escapes that decode to UTF-8, spelled out because a schema cannot call a decoder. `%00` (no path holds NUL)
# and `%2F` (a slash that is no separator names no file) are left out.
_ONE_BYTE = f"0[1-9A-Fa-f]|[13-7]{_HEX}|2[0-9A-Ea-e]"
_TWO_BYTES = f"[Cc][2-9A-Fa-f]|[Dd]{_HEX}"
_THREE_BYTES = f"[Ee](?:0%[ABab]{_HEX}|[Dd]%[89]{_HEX}|[1-9A-Ca-cEeFf]{_TRAIL})"
_FOUR_BYTES = f"[Ff](?:0%[9ABab]{_HEX}|4%8{_HEX}|[1-3]{_TRAIL}){_TRAIL}"
_ESCAPE = f"%(?:{_ONE_BYTE}|(?:{_TWO_BYTES}|{_THREE_BYTES}|{_FOUR_BYTES}){_TRAIL})"

# These patterns stand in published schemas as well, so that what is announced and what is accepted cannot
# differ; hence no `\s` and no flags, which mean something else in each dialect of regular expressions.
FILE_SCHEME_PATTERN = "^[Ff][Ii][Ll][Ee]://"
_LOCAL_HOST = "[Ll][Oo][Cc][Aa][Ll][Hh][Oo][Ss][Tt]"
# The URIs that mean a local path without doubt: no other host, no query, no fragment, no stray `%`.
FILE_URI_PATTERN = rf"{FILE_SCHEME_PATTERN}(?:{_LOCAL_HOST})?/(?:[^%?#]|{_ESCAPE})*$"
# With blanks around it nobody can tell which file is meant; NUL is in no path.
NOT_A_PATH_PATTERN = r"\u0000|^[\t-\r ]|[\t-\r ]$"

_FILE_URI = re.compile(FILE_URI_PATTERN.removesuffix("$") + r"\Z")
_NOT_A_PATH = re.compile(NOT_A_PATH_PATTERN.removesuffix("$") + r"\Z")
_FILE_SCHEME = re.compile(FILE_SCHEME_PATTERN)


def local_path(text: str, *, style: PathStyle | None = None, root: str | None = None) -> str:
    """The local path that `text` means: a path, or a `file://` URI; ValueError says why it means none.

    `//` and `.` segments are dropped, `..` is kept. With a root, style ABSOLUTE puts the root before a relative
    path, and style RELATIVE takes it away from a path inside it; a path outside stays as it is.
    """
    if not text:
        raise ValueError("is empty")
    if _NOT_A_PATH.search(text):
        raise ValueError("holds a NUL character" if "\0" in text else "has whitespace around it")
    if _FILE_SCHEME.match(text):
        if not _FILE_URI.match(text):
            raise ValueError("is not the file:// URI of a local path")
        text = _uri_path(text)
    path = PurePosixPath(text)
    if root is not None and style is PathStyle.ABSOLUTE:
        path = PurePosixPath(root) / path
    if root is not None and style is PathStyle.RELATIVE:
        path = _inside(path, PurePosixPath(root))
    return str(path)


def render_path(path: str | PurePath, root: str | PurePath | None = None) -> str:
    """The path as a reader is shown it: `/` between segments, relative where it lies inside `root`.

    Without a root, or outside it, the path is shown whole. A `file://` URI is shown as its path; one that
    means no local path is shown unchanged.
    """
    if isinstance(path, PurePath):
        shown = PurePosixPath(path.as_posix())
    elif _FILE_URI.match(path):
        shown = PurePosixPath(_uri_path(path))
    elif _FILE_SCHEME.match(path):
        return path
    else:
        shown = PurePosixPath(path)
    if root is not None:
        shown = _inside(shown, PurePosixPath(root.as_posix() if isinstance(root, PurePath) else root))
    return str(shown)


def _uri_path(uri: str) -> str:
    return unquote(uri[uri.index("/", len("file://")) :], errors="strict")


def _inside(path: PurePosixPath, root: PurePosixPath) -> PurePosixPath:
    # `/root/../etc` begins like a path inside the root and is none.
    if ".." in path.parts or not path.is_relative_to(root):
        return path
    return path.relative_to(root)
