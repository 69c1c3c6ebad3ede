"""What `holdfast index languages` prints: all languages as a table, or one with each of its fields."""

from collections.abc import Iterable, Iterator
from typing import Any

from holdfast.search.language_report import GROUPS, REMEDY, LanguageRow, described_fields

__all__ = ["describe_language", "describe_languages", "languages_report"]

_LEGEND = "yes: every field of the group; some: those that such a language has, or that are known of it; -: none"


def languages_report(rows: Iterable[LanguageRow]) -> dict[str, Any]:
    """The same for programs."""
    return {"languages": [_reported(row) for row in rows]}


def describe_languages(rows: list[LanguageRow]) -> Iterator[str]:
    """The table, a line per language, and what to do about grammars that are missing."""
    width = max((len(row.language) for row in rows), default=0)
    yield f"{'language':{width}} grammar {' '.join(GROUPS)} files"
    for row in rows:
        marks = " ".join(f"{_mark(row, group):{len(group)}}" for group in GROUPS)
        state = "yes" if row.is_installed else "missing"
        yield f"{row.language:{width}} {state:7} {marks} {_files(row, 3)}".rstrip()
    yield ""
    yield _LEGEND
    if not all(row.is_installed for row in rows):
        yield f"where the grammar is missing, files are found as plain text: {REMEDY}"
    yield "holdfast index languages NAME lists the fields of one language"


def describe_language(row: LanguageRow) -> Iterator[str]:
    """Each field of one language, with what it means."""
    state = "installed" if row.is_installed else f"missing: {REMEDY}"
    files = _files(row, len(row.extensions)) or "by their name or first line"
    yield f"{row.language}: grammar {state}; files: {files}"
    width = max((len(field) for field in row.fields), default=0)
    meanings = dict(described_fields(row))
    for group in GROUPS:
        if fields := row.of(group):
            yield ""
            yield group
        for field in fields:
            yield f"  {field:{width}}  {meanings[field]}"


def _mark(row: LanguageRow, group: str) -> str:
    found = len(row.of(group))
    return "yes" if found == len(GROUPS[group]) else "some" if found else "-"


def _files(row: LanguageRow, most: int) -> str:
    shown = " ".join(f".{extension}" for extension in row.extensions[:most])
    return f"{shown} ..." if len(row.extensions) > most else shown


def _reported(row: LanguageRow) -> dict[str, Any]:
    return {
        "language": row.language,
        "isInstalled": row.is_installed,
        "remedy": "" if row.is_installed else REMEDY,
        "extensions": list(row.extensions),
        "fields": list(row.fields),
    }
