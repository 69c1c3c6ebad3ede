"""What runs wrote into the site, kept in the site: one small file beside the pages, of digests and not of text.

By it the next run, on whatever machine and with whatever store, tells what people changed from what a run wrote; a
page that it names and that is gone was deleted by people. It holds what was meant to be on a page, not what is: a
line that people keep out stays out. Hugo does not publish it, since its name begins with a dot. It names no run
and no commit, so the same pages always have the same record.
"""

import json
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from holdfast.launch.updating.page_parts import Parts, digest

__all__ = ["RECORD", "PageRecord", "Records", "is_record", "record_path"]

RECORD = ".holdfast-launch.json"
"""The name of the file, in the folder of the pages that it tells of."""
_VERSION = "1.0"
_ABOUT = (
    "What `holdfast launch` wrote into this folder, by digest, so that its next run can tell your edits from its "
    "own text. Keep this file with the pages. Take a page out of it, and that page is all yours."
)
_KEY = "front_matter"
_SECTIONS = "sections"
_SIX = re.compile(r"[A-Za-z0-9_-]{6}")
_SECTION = re.compile(r"(?:[A-Za-z0-9_-]{6})?:(?:[A-Za-z0-9_-]{6})*")
_LARGEST = 5_000_000


class PageRecord(NamedTuple):
    """A page as it was written: keys of its front matter by digest, sections as key and digests of units."""

    front_matter: Mapping[str, str]
    sections: tuple[tuple[str, tuple[str, ...]], ...]

    @classmethod
    def of(cls, page: Parts) -> "PageRecord":
        """The record of a page that was written just so."""
        keys = {entry.key: digest(entry.text) for entry in page.entries if entry.key}
        return cls(keys, tuple((section.key, section.digests) for section in page.sections))


class Records:
    """The records of several folders, by the path of the page. They are changed in memory, and written as text."""

    def __init__(self, files: Mapping[str, bytes | None]) -> None:
        """`files`: the paths at which records may be, with what is there."""
        self._pages: dict[str, dict[str, PageRecord]] = {}
        self.broken: list[str] = []
        for path, content in files.items():
            self._pages[path] = {}
            if content is None:
                continue
            try:
                self._pages[path] = _decoded(content)
            # Somebody edited it, or it came out of a merge: then nothing is known, and nothing is touched.
            except (ValueError, KeyError, RecursionError):
                self.broken.append(path)

    def get(self, page: str) -> PageRecord | None:
        """What was written at this path; None where nothing is known of it."""
        return self._pages.get(record_path(page), {}).get(_name(page))

    def put(self, page: str, record: PageRecord) -> None:
        """From now on this is what was written there."""
        self._pages.setdefault(record_path(page), {})[_name(page)] = record

    def remove(self, page: str) -> None:
        """Forget a page."""
        self._pages.get(record_path(page), {}).pop(_name(page), None)

    def pages(self) -> list[str]:
        """The paths of all pages that are known, sorted."""
        folders = ((path.rpartition("/")[0], names) for path, names in self._pages.items())
        return sorted(f"{folder}/{name}" for folder, names in folders for name in names)

    def files(self) -> dict[str, bytes | None]:
        """The files, as they should be now; one that tells of no page is not there."""
        return {path: _encoded(pages) if pages else None for path, pages in sorted(self._pages.items())}


def record_path(page: str) -> str:
    """The path of the record that tells of a page."""
    folder = page.rpartition("/")[0]
    return f"{folder}/{RECORD}" if folder else RECORD


def is_record(path: str) -> bool:
    """Whether this is the path of a record."""
    return path.rpartition("/")[2] == RECORD


def _name(page: str) -> str:
    return page.rpartition("/")[2]


def _encoded(pages: Mapping[str, PageRecord]) -> bytes:
    """One line for each page, so that a change of one page is a change of one line."""
    rows = [f"{_json(name)}: {_json(_told(pages[name]))}" for name in sorted(pages)]
    head = f'{{\n"schema_version": {_json(_VERSION)},\n"about": {_json(_ABOUT)},\n"pages": {{\n'
    return (head + ",\n".join(rows) + "\n}\n}\n").encode()


def _told(record: PageRecord) -> dict[str, Any]:
    sections = [f"{key}:{''.join(units)}" for key, units in record.sections]
    return {_KEY: dict(sorted(record.front_matter.items())), _SECTIONS: " ".join(sections)}


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _decoded(content: bytes) -> dict[str, PageRecord]:
    """The pages of a record; ValueError where it is none, or one of another version."""
    if len(content) > _LARGEST:
        raise ValueError("too large")
    document = json.loads(content.decode("utf-8"))
    if not isinstance(document, dict) or document.get("schema_version") != _VERSION:
        raise ValueError("another version")
    return {_checked_name(name): _page(told) for name, told in _mapping(document["pages"]).items()}


def _page(told: Any) -> PageRecord:
    keys = _mapping(_mapping(told)[_KEY])
    if not all(isinstance(value, str) and _SIX.fullmatch(value) for value in keys.values()):
        raise ValueError("no digest of a key")
    return PageRecord(keys, tuple(_section(word) for word in str(told[_SECTIONS]).split()))


def _section(word: str) -> tuple[str, tuple[str, ...]]:
    if not _SECTION.fullmatch(word):
        raise ValueError("no section")
    key, _, units = word.partition(":")
    return key, tuple(_SIX.findall(units))


def _mapping(value: Any) -> dict[str, Any]:
    if isinstance(value, dict):
        return value
    raise ValueError("no mapping")


def _checked_name(name: str) -> str:
    if "/" in name or not name:
        raise ValueError("no name of a page")
    return name
