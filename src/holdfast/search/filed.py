"""Records of triage as files of the index: found in mode `records` by their words, and by `meta` by their fields.

They lie in the cache and not in the repository, so in the index they stand below a directory that no repository
has. What is searched and shown of a record is its text for people; what it is filtered by are its fields, and the
most asked for of them by short names too.
"""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import orjson

from holdfast.search.discover.found import Discovery, FoundFile
from holdfast.search.model import Chunk, Extraction

__all__ = ["FILED", "NO_RECORDS", "PACKS", "add_records", "extract_record", "text_of_filed"]

_PACKS = "context-packs"
FILED = ".triage/"  # where records stand in the index
PACKS = f"{FILED}{_PACKS}/"  # where context packs would, which are shown and not searched
NO_RECORDS = -2  # the time of a directory that is not there, as freshness tells it
_LONGEST = 4 * 1024 * 1024  # bytes of a record that are read
# Of a record, what is long, what only repeats, and what changes without any meaning.
_NOT_FILTERED = frozenset({"raw", "createdAt", "updatedAt", "parseWarnings", "otherPackages", "otherAssets"})
_NOT_FILTERED_VULN = frozenset({"description", "references"})
_SHORT = {
    "vulnId": ("vuln", "vulnId"), "cve": ("vuln", "cve"), "severity": ("vuln", "severity"),
    "packageName": ("package", "name"), "packageEcosystem": ("package", "ecosystem"),
    "assetId": ("asset", "assetId"), "status": ("decision", "status"),
}  # fmt: skip


def add_records(discovery: Discovery, records: Path) -> Discovery:
    """A discovery with the records in a directory; a file of the repository in the same place wins."""
    discovery.directories[str(records)] = _time_of(records)
    taken = {file.path for file in discovery.files}
    discovery.files += [file for file in _found(records) if file.path not in taken]
    return discovery


def _found(records: Path) -> Iterator[FoundFile]:
    try:
        entries = sorted(os.scandir(records), key=lambda entry: entry.name)
    except OSError:  # there are none yet
        return
    for entry in entries:
        name, suffix = os.path.splitext(entry.name)
        try:
            if suffix == ".json" and entry.is_file(follow_symlinks=False):
                status = entry.stat(follow_symlinks=False)
                path = f"{FILED}{name}.md"
                yield FoundFile(path, status.st_size, status.st_mtime_ns, "records", "markdown", place=entry.path)
        except OSError:  # gone a moment ago
            continue


def extract_record(data: bytes) -> tuple[bytes, Extraction]:
    """The text of a record and the one chunk that it is; what is no record has none."""
    from holdfast.search.triage.markdown import render

    try:
        record = orjson.loads(data[:_LONGEST])
    except orjson.JSONDecodeError:
        record = None
    if not isinstance(record, dict):
        return b"", Extraction([], remarks=["it is no record of triage"])
    text = render(record).encode("utf-8", "replace")
    vuln = record.get("vuln")
    about = vuln if isinstance(vuln, dict) else {}
    name = str(about.get("vulnId") or about.get("title") or record.get("recordId") or "")
    lines = max(text.count(b"\n"), 1)
    doc = str(about.get("title") or "")
    return text, Extraction(
        [Chunk("records", "record", name, 0, len(text), 1, lines, doc=doc, record=_fields(record))]
    )


def text_of_filed(records: Path, path: str) -> bytes | None:
    """The text of a record, by its path in the index, or of a context pack; None where a path is neither's."""
    for place, directory, suffix in ((FILED, records, ".md"), (PACKS, records.with_name(_PACKS), ".json")):
        name = path.removeprefix(place)
        if name == path or "/" in name or not name.endswith(suffix) or name.startswith("."):
            continue
        try:
            return (directory / name).read_bytes()
        except (OSError, ValueError):
            return None
    return None


def _fields(record: Mapping[str, Any]) -> dict[str, Any]:
    """What a record is filtered by: its own fields, without what says nothing, and the short names."""
    kept = {
        name: value for name, value in record.items() if name not in _NOT_FILTERED and value not in (None, [], {})
    }
    if isinstance(kept.get("vuln"), dict):
        kept["vuln"] = {name: value for name, value in kept["vuln"].items() if name not in _NOT_FILTERED_VULN}
    for short, (part, name) in _SHORT.items():
        inner = record.get(part)
        value = inner.get(name) if isinstance(inner, dict) else None
        if value is not None:
            kept.setdefault(short, value)
    return kept


def _time_of(directory: Path) -> int:
    try:
        return directory.stat().st_mtime_ns
    except OSError:
        return NO_RECORDS
