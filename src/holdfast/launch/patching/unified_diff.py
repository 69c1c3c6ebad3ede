"""The difference of two versions of a file as git writes it, so that `git apply` takes it."""

import difflib
import re
from collections.abc import Iterator

__all__ = ["unified_diff"]

_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_CONTEXT = 3
_NO_END = "\\ No newline at end of file"


def unified_diff(path: str, before: bytes | None, after: bytes | None) -> list[str]:
    """Its lines, without their ends; None is no file. Both versions are text."""
    if before == after:
        return []
    old, new = _lines(before), _lines(after)
    tab = "\t" if " " in path else ""  # where the name ends
    head = [f"diff --git a/{path} b/{path}"]
    if before is None:
        head.append("new file mode 100644")
    if after is None:
        head.append("deleted file mode 100644")
    names = [
        "--- /dev/null" if before is None else f"--- a/{path}{tab}",
        "+++ /dev/null" if after is None else f"+++ b/{path}{tab}",
    ]
    body = list(difflib.unified_diff(old, new, n=_CONTEXT, lineterm=""))[2:]
    return [*head, *(names if body else ()), *_told(body)]


def _lines(content: bytes | None) -> list[str]:
    return _LINE.findall((content or b"").decode("utf-8", "replace"))


def _told(body: list[str]) -> Iterator[str]:
    for line in body:
        if line.startswith("@@"):
            yield line
        elif line.endswith("\n"):
            yield line[:-1]
        else:
            yield line
            yield _NO_END
