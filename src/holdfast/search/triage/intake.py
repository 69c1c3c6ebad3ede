"""The file of a scanner, from its bytes to single entries: a list, an object around a list, one object, or lines.

The path is one that the caller names on purpose, so it may lie anywhere. What an entry means is not decided here.
"""

import os
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from holdfast.errors import ToolError
from holdfast.search.decode import BOM, decode

__all__ = ["MOST_BYTES", "MOST_ENTRIES", "Intake", "read_input"]

MOST_BYTES = 64 * 1024 * 1024
MOST_ENTRIES = 100_000

_WRAPPERS = ("alerts", "findings", "records", "items")
_LINE_FORMATS = {".jsonl", ".ndjson", ".jsonlines"}
_STOP_EVERY = 1000  # lines between two looks at whether the work should end


@dataclass(slots=True)
class Intake:
    """The entries of a file as (position, line or nothing, value), and those that could not be read."""

    entries: list[tuple[int, str, Any]] = field(default_factory=list)
    problems: list[tuple[int, str]] = field(default_factory=list)
    warnings: list[dict[str, str]] = field(default_factory=list)

    @property
    def total(self) -> int:
        """How many there are, good or bad."""
        return len(self.entries) + len(self.problems)


def read_input(root: Path, path: str, stop: Callable[[], bool]) -> Intake:
    """The entries of the file at a path, relative to `root` unless it is absolute."""
    data = _text(_bytes(root, path))
    intake = Intake()
    try:
        _take(intake, orjson.loads(data))
    except orjson.JSONDecodeError as error:
        if not data.strip():
            raise _refused("the input file is empty") from error
        if not _take_lines(intake, data, Path(path).suffix.lower() in _LINE_FORMATS, stop):
            raise _not_json(error) from error
    return intake


def _take(intake: Intake, value: Any, where: str = "") -> None:
    """Add the entries of a value; pages of a list are put together, as tools leave them: a list of lists."""
    entries = list(_entries(intake, value))
    if intake.total + len(entries) > MOST_ENTRIES:
        raise _refused(f"there are more than {MOST_ENTRIES:,} entries", hint="part the file and ingest the parts")
    intake.entries += [(position, where, entry) for position, entry in enumerate(entries, intake.total)]


def _entries(intake: Intake, value: Any) -> Iterator[Any]:
    if isinstance(value, list):
        for item in value:
            pages = item if isinstance(item, list) else [item]
            yield from pages
        return
    wrapper = next(
        (key for key in _WRAPPERS if isinstance(value, dict) and isinstance(value.get(key), list)), None
    )
    if wrapper is None:
        yield value
        return
    if value.get("nextToken") or value.get("NextToken"):
        message = "the list goes on after its last entry: the scanner was not asked for all pages"
        intake.warnings.append({"code": "more-pages", "message": message})
    yield from value[wrapper]


def _take_lines(intake: Intake, data: bytes, is_named_so: bool, stop: Callable[[], bool]) -> bool:
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
            _take(intake, value, f"line {number}: ")
    return good > 0 and (is_named_so or good >= len(intake.problems))


def _bytes(root: Path, path: str) -> bytes:
    try:
        real = os.path.realpath(root / path)
        # A pipe without a writer must not be waited for.
        descriptor = os.open(real, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise ToolError(
            "NOT_FOUND", f"there is no input file {_shown(path)}", details={"inputPath": path}
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
