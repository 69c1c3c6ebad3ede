"""What a pull request says about pages that were there before: which edits of people stand, and what is new."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

__all__ = ["code_span", "update_lines"]

_MOST_KEPT = 30
_MOST_ROWS = 50
_LONGEST = 600
_TITLE = "## What people wrote"
_LISTS = (
    ("left_alone", "Left as they are"),
    ("deleted_by_people", "Deleted by people, and not written again"),
    ("not_planned", "No longer needed by the new version, and kept"),
)


def update_lines(report: Mapping[str, Any]) -> list[str]:
    """The section on people's edits; nothing where nobody edited anything that the new version changes."""
    pages = report["pages"]
    lines = [*_kept(pages), *_stale(pages)]
    for status, title in _LISTS:
        rows = [page for page in pages if page["status"] == status]
        if rows:
            lines += [f"{title}:", "", *(f"- {_told(page)}" for page in rows[:_MOST_ROWS]), *_more(rows), ""]
    return [_TITLE, "", *lines] if lines else []


def code_span(text: str) -> str:
    """Text as it is, in a span of code that it cannot end; a bar would end the cell of a table."""
    plain = " ".join(text.split()).replace("|", "\\|")
    fence = "`" * (max((len(run) for run in re.findall("`+", plain)), default=0) + 1)
    space = " " if "`" in plain else ""
    return f"{fence}{space}{plain}{space}{fence}"


def _kept(pages: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Each text that people changed and the new version too: theirs stands, the new one is for them to judge."""
    every = [(page["path"], kept) for page in pages for kept in page["kept"]]
    if not every:
        return
    yield "The new version would change lines that people have edited. Their text stays as it is (`-`); what it"
    yield "says instead (`+`) is not in this pull request:"
    yield ""
    for path, kept in every[:_MOST_KEPT]:
        what = "front matter" if kept["kind"] == "front_matter" else "section"
        where = f", {what} {code_span(kept['where'])}" if kept["where"] else ""
        yield f"{code_span(path)}{where}:"
        yield ""
        yield from _difference(kept["yours"], kept["new"])
        yield ""
    if len(every) > _MOST_KEPT:
        yield f"And {len(every) - _MOST_KEPT} more, in `update_report.json` of the run."
        yield ""


def _difference(yours: str, new: str) -> list[str]:
    lines = [*(f"-{line}" for line in _lines(yours)), *(f"+{line}" for line in _lines(new))]
    longest = max((len(run) for line in lines for run in re.findall("`{3,}", line)), default=2)
    fence = "`" * (longest + 1)
    return [f"{fence}diff", *lines, fence]


def _lines(text: str) -> list[str]:
    shown = text if len(text) <= _LONGEST else text[:_LONGEST] + " …"
    return [
        "".join(char if char.isprintable() or char == "\t" else "\ufffd" for char in line)
        for line in shown.rstrip("\n").split("\n")
        if shown
    ]


def _stale(pages: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    every = [(page["path"], mark) for page in pages for mark in page["stale_marks"]]
    if not every:
        return
    yield "Marks of claims that the product no longer makes, on lines that people keep. Check each, and remove the"
    yield "mark or the line:"
    yield ""
    for path, mark in every[:_MOST_ROWS]:
        yield f"- {code_span(path)}, line {mark['line']}: {code_span(mark['text'][:200] or mark['claim_id'])}"
    yield from _more(every)
    yield ""


def _told(page: Mapping[str, Any]) -> str:
    reason = page.get("reason", "")
    return code_span(page["path"]) + (f": {reason}" if reason else "")


def _more(rows: Sequence[Any]) -> list[str]:
    return [f"- and {len(rows) - _MOST_ROWS} more"] if len(rows) > _MOST_ROWS else []
