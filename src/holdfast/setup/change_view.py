"""A change of a file as a person looks at it before it is made: a unified diff of the one place that differs."""

import re
from collections.abc import Iterator

from holdfast.present.bounds import clean_line, truncate_chars
from holdfast.setup.client_config import Change

__all__ = ["describe_change"]

_CONTEXT = 3
_WIDTH = 300  # characters of a line; some programs write a whole file as one


def describe_change(change: Change) -> list[str]:
    """The lines of the diff; none where nothing changes."""
    if change.action == "none":
        return []
    path = clean_line(str(change.file.path))
    before = _lines(change.file.data)
    after = _lines(change.after)
    return [
        f"--- {path if change.file.data is not None else '/dev/null'}",
        f"+++ {path if change.after is not None else '/dev/null'}",
        *_hunk(before, after),
    ]


def _lines(data: bytes | None) -> list[str]:
    """With their ends, so that a last line without one differs from a last line with one."""
    return re.findall(r"[^\n]*\n|[^\n]+", (data or b"").decode("utf-8", "replace"))


def _hunk(before: list[str], after: list[str]) -> Iterator[str]:
    """An entry stands in one place, so the diff is what is left between the lines that both start and end with."""
    shorter = min(len(before), len(after))
    head = next((at for at in range(shorter) if before[at] != after[at]), shorter)
    tail = next((at for at in range(shorter - head) if before[-1 - at] != after[-1 - at]), shorter - head)
    start, unshown = max(0, head - _CONTEXT), max(0, tail - _CONTEXT)
    yield f"@@ -{_range(before, start, unshown)} +{_range(after, start, unshown)} @@"
    yield from _marked(" ", before[start:head])
    yield from _marked("-", before[head : len(before) - tail])
    yield from _marked("+", after[head : len(after) - tail])
    yield from _marked(" ", before[len(before) - tail : len(before) - unshown])


def _range(lines: list[str], start: int, unshown: int) -> str:
    size = len(lines) - unshown - start
    return f"{start + 1 if size else start},{size}"


def _marked(mark: str, lines: list[str]) -> Iterator[str]:
    for line in lines:
        yield mark + truncate_chars(clean_line(line.rstrip("\r\n")), _WIDTH)
        if not line.endswith("\n"):
            yield "\\ No newline at end of file"
