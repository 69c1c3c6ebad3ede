"""What a file is by its first bytes, where its name alone does not settle it.

At most 64 KiB are read, once: while size and time of a file stay the same, nothing is read again. Only regular
files are opened, and never in a way that could wait: a pipe in the place of a file would hang whoever opens it.
"""

import os
import re
import stat
from dataclasses import dataclass

from holdfast.search.discover.kinds import (
    AMBIGUOUS,
    BINARY_EXTENSIONS,
    DOCUMENTS,
    INTERPRETERS,
    MINIFIABLE,
    MINIFIED_NAMES,
    TEXT,
    Kind,
    extension_of,
    kind_of_language,
    kind_of_name,
)

__all__ = ["HEAD_BYTES", "Look", "look_at", "read_start"]

HEAD_BYTES = 65536
_BINARY_BYTES = 8192
_RECORD_BYTES = 16384
_LONG_LINE = 500  # characters of the average line of a minified file
_SMALL = 5 * 1024  # a file of this size may be one line and still be worth reading
_FEWEST_LINES = 3  # a single line with a date in it is not a log yet
_RECORD_SHARE = 0.3

# Bytes that text may hold; the other control characters are rare in it.
_PLAIN = bytes(sorted({*range(32, 127), *range(128, 256), *b"\b\t\n\v\f\r\x1b"}))
_WIDE = {
    b"\xff\xfe\x00\x00": "utf-32",
    b"\x00\x00\xfe\xff": "utf-32",
    b"\xff\xfe": "utf-16",
    b"\xfe\xff": "utf-16",
}

# Files may be hostile: no two repetitions below compete for the same characters over more than one line.
_SHEBANG = re.compile(r"#!\s*(?:\S*/)?env\s+(?:-\S+\s+|\w+=\S*\s+)*(?:\S*/)?([\w.+-]+)|#!\s*(?:\S*/)?([\w.+-]+)")
_CPP = re.compile(
    r"""^[ \t]*(?:class\s+\w[^;(){:]{0,200}[{:] | namespace\b | template\s*< | using\s+\w+ | enum\s+class\b
    | (?:public|private|protected)\s*: | virtual\s | constexpr\s | \#[ \t]*include\s*<[a-z_]+>)
    | \bstd::\w | \boperator[ \t]*[=<>+*\[(-]""",
    re.MULTILINE | re.VERBOSE,
)
_OBJC = re.compile(
    r"^[ \t]*(?:@(?:interface|implementation|protocol|class|import)\b|#[ \t]*import\b)", re.MULTILINE
)
_MATLAB = re.compile(r"^[ \t]*(?:%|function\b|classdef\b|end[ \t]*$)", re.MULTILINE)
_MONTHS = "Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec"
_TIMESTAMP = re.compile(
    rf"""\d{{4}}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d | \b(?:{_MONTHS})\s+\d{{1,2}}\s+\d\d:\d\d:\d\d
    | \b\d\d/(?:{_MONTHS}|\d\d)/\d{{4}}[: ]\d\d:\d\d | ^\W?\d\d:\d\d:\d\d | ^\[\s*\d+\.\d+\]""",
    re.VERBOSE,
)
_TRACE = re.compile(
    r"""^(?:Traceback\ \(most\ recent | \s+File\ ".*",\ line\ \d+ | \s+at\ \S+.*[:)] | Caused\ by:
    | Exception\ in\s | goroutine\ \d+\ \[ | panic:\s | thread\ '.*'\ panicked\ at | \#\d+\s+0x[0-9a-f]+
    | [\w.]+(?:Error|Exception): | \s+\.\.\.\ \d+\ more)""",
    re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class Look:
    """What one look at a file says: its kind, or the reason (with details) why it is not indexed."""

    kind: Kind = TEXT
    reason: str = ""
    detail: str = ""


def look_at(path: str, name: str, size: int) -> Look:
    """Say what a file is, reading its start only if its name and size do not settle it."""
    extension = extension_of(name)
    if extension in BINARY_EXTENSIONS:
        return Look(reason="binary", detail=f".{extension}")
    if extension in DOCUMENTS:
        return _look_at_document(extension)
    if name.lower().endswith(MINIFIED_NAMES):
        return Look(reason="minified", detail="by its name")
    named = kind_of_name(name)
    if size == 0:
        return Look(named or TEXT)
    try:
        head = read_start(path, HEAD_BYTES)
    except OSError as trouble:
        return Look(reason="unreadable", detail=trouble.strerror or type(trouble).__name__)
    if head is None:
        return Look(reason="special", detail="it is no regular file any more")
    text = _as_text(head)
    if text is None:
        return Look(reason="binary", detail="control characters in its first bytes")
    return _look_at_text(text, named, extension, size)


def _look_at_document(extension: str) -> Look:
    import importlib.util

    if extension == "pdf" and importlib.util.find_spec("pypdf") is None:
        return Look(reason="document", detail="its text needs: pip install 'holdfast[documents]'")
    return Look(DOCUMENTS[extension])


def read_start(path: str, limit: int) -> bytes | None:
    """The first bytes of a regular file; None for anything else, which is not waited for and not followed."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return None
        return os.read(descriptor, limit)
    finally:
        os.close(descriptor)


def _as_text(head: bytes) -> str | None:
    """The start of a file as text, good enough to judge it by; None when it is not text."""
    for mark, encoding in _WIDE.items():
        if head.startswith(mark) and len(head) > len(mark):
            return head.decode(encoding, "replace")
    start = head[:_BINARY_BYTES]
    if b"\0" in start or len(start.translate(None, _PLAIN)) * 10 > len(start):
        return None
    return head.decode("utf-8", "replace").removeprefix("\ufeff")


def _look_at_text(text: str, named: Kind | None, extension: str, size: int) -> Look:
    kind = _kind_of_text(text, named, extension)
    if kind.language in MINIFIABLE and size > _SMALL:
        average = len(text) // (max(text.count("\n"), text.count("\r")) + 1)
        if average > _LONG_LINE:
            return Look(reason="minified", detail=f"{average} characters in an average line")
    return Look(kind)


def _kind_of_text(text: str, named: Kind | None, extension: str) -> Kind:
    if extension in AMBIGUOUS and (named is None or named.language == "text"):
        return kind_of_language("log") if _is_record(text[:_RECORD_BYTES]) else TEXT
    if extension in {"h", "m", "mm"}:
        return kind_of_language(_c_family(text, extension))
    if extension == "ts" and text.lstrip().startswith("<?xml"):  # translations of a user interface
        return kind_of_language("xml")
    if named is not None and named != TEXT:
        return named
    return _by_shebang(text) or named or TEXT


def _c_family(text: str, extension: str) -> str:
    if _OBJC.search(text):
        return "objc"
    if extension == "h":
        return "cpp" if _CPP.search(text) else "c"
    return "matlab" if extension == "m" and _MATLAB.search(text) else "objc"


def _by_shebang(text: str) -> Kind | None:
    found = _SHEBANG.match(text[:256].partition("\n")[0])
    if found is None:
        return None
    program = (found[1] or found[2]).lower()
    language = INTERPRETERS.get(program) or INTERPRETERS.get(program.rstrip("0123456789.-"))
    return kind_of_language(language) if language else None


def _is_record(text: str) -> bool:
    """Whether most of it was written by a program: lines with a time, or the lines of a stack trace."""
    lines = [line[:200] for line in text.splitlines() if line.strip()]
    if len(lines) < _FEWEST_LINES:
        return False
    if _TRACE.match(lines[0]):
        return True
    telling = sum(1 for line in lines if _TIMESTAMP.search(line[:80]) or _TRACE.match(line))
    return telling >= len(lines) * _RECORD_SHARE
