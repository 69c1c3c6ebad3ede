"""The file of a scanner, from its bytes to single entries: a list, an object around a list, one object, or lines.

Pages of a list are put together, however a tool leaves them: a list of lists, a list of objects around lists, one
such object per line, or one document behind the other. The path is one that the caller names on purpose, so it may
lie anywhere. What an entry means is not decided here.
"""

import json
import os
import stat
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from holdfast.errors import ToolError
from holdfast.search.decode import BOM, decode

__all__ = ["MOST_BYTES", "MOST_ENTRIES", "Intake", "Opener", "read_input"]

# What takes a document of one source apart into its entries where that needs more than finding a list; None where
# it does not.
Opener = Callable[[Any, "Intake"], Iterable[Any] | None]

MOST_BYTES = 64 * 1024 * 1024
MOST_ENTRIES = 100_000

_WRAPPERS = ("alerts", "findings", "records", "items", "results", "issues")
_TOKENS = ("nextToken", "NextToken")
_ABOUT_PAGES = {"ResponseMetadata", "pageInfo", "metadata"}  # objects that stand beside the list of a page
_GZIP = b"\x1f\x8b"
_LINE_FORMATS = (".jsonl", ".ndjson", ".jsonlines")
_STOP_EVERY = 1000  # lines between two looks at whether the work should end


@dataclass(slots=True)
class Intake:
    """The entries of a file as (position, line or nothing, value), and those that could not be read."""

    root: Path  # of the repository that they are about
    entries: list[tuple[int, str, Any]] = field(default_factory=list)
    problems: list[tuple[int, str]] = field(default_factory=list)
    warnings: list[dict[str, str]] = field(default_factory=list)
    has_more: bool = False  # whether the last page says that there is another one

    @property
    def total(self) -> int:
        """How many there are, good or bad."""
        return len(self.entries) + len(self.problems)


def read_input(root: Path, path: str, stop: Callable[[], bool], opener: Opener | None = None) -> Intake:
    """The entries of the file at a path, relative to `root` unless it is absolute."""
    data = _text(_unpacked(_bytes(root, path)))
    intake = Intake(root)
    try:
        _take(intake, orjson.loads(data), opener)
    except orjson.JSONDecodeError as error:
        if not data.strip():
            raise _refused("the input file is empty") from error
        is_named_so = Path(path).name.removesuffix(".gz").lower().endswith(_LINE_FORMATS)
        documents = None if is_named_so else _documents(data)
        for document in documents or ():
            _take(intake, document, opener)
        if documents is None and not _take_lines(intake, data, is_named_so, stop, opener):
            raise _not_json(error) from error
    if intake.has_more:
        message = "the list goes on after its last entry: the scanner was not asked for all pages"
        intake.warnings.append({"code": "more-pages", "message": message})
    return intake


def _take(intake: Intake, value: Any, opener: Opener | None, where: str = "") -> None:
    """Add the entries of a value."""
    opened = None if opener is None else opener(value, intake)
    entries = list(_entries(intake, value) if opened is None else opened)
    if intake.total + len(entries) > MOST_ENTRIES:
        raise _refused(f"there are more than {MOST_ENTRIES:,} entries", hint="part the file and ingest the parts")
    intake.entries += [(position, where, entry) for position, entry in enumerate(entries, intake.total)]


def _entries(intake: Intake, value: Any) -> Iterator[Any]:
    if isinstance(value, list):
        for item in value:
            if isinstance(item, list):
                yield from item
            elif isinstance(item, dict) and _is_page(item):
                yield from _entries(intake, item)
            else:
                yield item
        return
    wrapper = _wrapper(value)
    if wrapper is None:
        yield value
        return
    intake.has_more = any(value.get(token) for token in _TOKENS)
    yield from value[wrapper]


def _wrapper(value: Any) -> str | None:
    """The name under which an object holds a list of findings."""
    if not isinstance(value, dict):
        return None
    return next((key for key in _WRAPPERS if isinstance(value.get(key), list)), None)


def _is_page(value: dict[str, Any]) -> bool:
    """Whether an object of a list is itself a page: little but a list. A finding may have lists, and much else."""
    wrapper = _wrapper(value)
    others = (item for key, item in value.items() if key != wrapper and key not in _ABOUT_PAGES)
    return wrapper is not None and not any(isinstance(item, list | dict) for item in others)


def _documents(data: bytes) -> list[Any] | None:
    """Documents that stand one behind the other, as `gh api --paginate` writes them; None: it is something else.

    One per line is something else: then a bad one costs only itself.
    """
    text = data.decode("utf-8", "replace").rstrip()
    decoder = json.JSONDecoder()
    found, at, is_by_lines = [], _after_space(text, 0), True
    try:
        while at < len(text):
            value, end = decoder.raw_decode(text, at)
            begins = _after_space(text, end)
            is_by_lines &= "\n" not in text[at:end] and (begins == len(text) or "\n" in text[end:begins])
            found.append(value)
            at = begins
    except (ValueError, RecursionError):
        return None
    return None if is_by_lines else found


def _after_space(text: str, at: int) -> int:
    while at < len(text) and text[at].isspace():
        at += 1
    return at


def _take_lines(
    intake: Intake, data: bytes, is_named_so: bool, stop: Callable[[], bool], opener: Opener | None
) -> bool:
    """Read one value per line; False when the text is something else.

    A broken document of JSON has lines of its own, so most of the lines must be values unless the name of the
    file says what it is.
    """
    good = 0
    for number, line in enumerate(data.split(b"\n"), 1):
        if number % _STOP_EVERY == 0 and stop():
            raise ToolError("CANCELLED", "reading the input was stopped; no record was changed")
        if not line.strip():
            continue
        try:
            value = orjson.loads(line)
        except orjson.JSONDecodeError as error:
            intake.problems.append((intake.total, f"line {number}: no JSON, at column {error.colno}: {error.msg}"))
            if intake.total > MOST_ENTRIES:
                return False
        else:
            good += 1
            _take(intake, value, opener, f"line {number}: ")
    return good > 0 and (is_named_so or good >= len(intake.problems))


def _bytes(root: Path, path: str) -> bytes:
    try:
        real = os.path.realpath(root / path)
        # A pipe without a writer must not be waited for.
        descriptor = os.open(real, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise ToolError(
            "NOT_FOUND",
            f"there is no input file {_shown(path)}",
            details={"inputPath": path},
            hint="Name a file of findings that exists.",
        ) from error
    except PermissionError as error:
        raise ToolError("FORBIDDEN", f"the input file {_shown(path)} may not be read") from error
    except (OSError, ValueError) as error:
        raise _refused(f"{_shown(path)} is no path of a file") from error
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise _refused(f"{_shown(path)} is not a file")
        with open(descriptor, "rb", closefd=False) as file:
            data = file.read(MOST_BYTES + 1)
    finally:
        os.close(descriptor)
    if len(data) > MOST_BYTES:
        raise _refused(f"the input file is larger than {MOST_BYTES // 2**20} MiB", hint="part it")
    return data


def _unpacked(data: bytes) -> bytes:
    """What was packed with gzip, up to the size that any other file may have; what was not, as it is."""
    if not data.startswith(_GZIP):
        return data
    whole = bytearray()
    try:
        while data:
            unpacker = zlib.decompressobj(wbits=31)
            whole += unpacker.decompress(data, MOST_BYTES + 1 - len(whole))
            if len(whole) > MOST_BYTES:
                raise _refused(f"the input file is larger than {MOST_BYTES // 2**20} MiB unpacked", hint="part it")
            if not unpacker.eof:
                raise zlib.error("it ends too early")
            data = unpacker.unused_data
    except zlib.error as error:
        raise _refused(f"the input file is no whole gzip file: {error}") from error
    return bytes(whole)


def _text(data: bytes) -> bytes:
    """UTF-8 without a mark; what a shell has written in UTF-16 is read as well."""
    return decode(data).text_bytes.removeprefix(BOM)


def _shown(path: str) -> str:
    """The last part of a path: messages do not tell where things are."""
    name = "".join(c if c.isprintable() else "?" for c in Path(path).name)
    return name[:200] or "of that name"


def _refused(message: str, *, hint: str | None = None, details: dict[str, Any] | None = None) -> ToolError:
    return ToolError("INVALID_REQUEST", message, hint=hint, details=details)


def _not_json(error: orjson.JSONDecodeError) -> ToolError:
    return _refused(
        f"the input file is not JSON: line {error.lineno}, column {error.colno}: {error.msg}",
        details={"line": error.lineno, "column": error.colno},
        hint="give a JSON list, an object, or one object per line; of `gh api --paginate` also say --slurp",
    )
