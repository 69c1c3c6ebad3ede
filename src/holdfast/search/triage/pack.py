"""A context pack: one finding, the last decisions about it, and the evidence in the code, as one file.

It is what a person, or a model, needs to decide. A pack is written where the caller wants it, but never over a
file that is something else.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from holdfast.contract.atomic import refuse_link_out
from holdfast.errors import ToolError, UsageError
from holdfast.search.repository import Repository
from holdfast.search.triage.decision import finding_record
from holdfast.search.triage.evidence import Search, gather, questions
from holdfast.search.triage.record import now
from holdfast.search.triage.record_files import RecordFiles, explained, write_file
from holdfast.search.triage.refusal import check_text, refuse_if, wrong_argument

if TYPE_CHECKING:
    from holdfast.search.stages import Progress, Stop

__all__ = ["context_pack"]

_HISTORY = 5
_LONGEST_ID = 128
_LONGEST_PATH = 4096
_LONGEST_PACK = 64 * 1024 * 1024  # bytes that are read to see whether a file is one
_MARKS = {"recordId", "generatedAt", "finding", "history", "repoEvidence"}


def context_pack(
    repository: Repository,
    cache_dir: Path,
    *,
    record_id: str,
    out_path: str | None,
    search: Search,
    progress: "Progress",
    stop: "Stop",
) -> dict[str, Any]:
    """Write the context pack of a finding; `search` answers as the search tool does.

    `out_path` is relative to the repository; it is named by the caller on purpose, so it may also lie elsewhere.
    """
    found = check_text("recordId", record_id, _LONGEST_ID)
    found += [] if out_path is None else check_text("outPath", out_path, _LONGEST_PATH)
    if out_path is not None and not found and not out_path.endswith(".json"):
        found.append(wrong_argument("outPath", "pattern", "must end in .json"))
    refuse_if(found)
    files = RecordFiles(repository, cache_dir)
    finding = finding_record(files, record_id, "recordId")
    target = files.packs / f"{record_id}.json" if out_path is None else _named_place(repository, out_path)
    _check_replaceable(target)
    asked = questions(finding)
    evidence, warnings = gather(
        asked, search, str(repository.root), stop, lambda done, what: progress("search", done, len(asked), what)
    )
    history = files.decisions(record_id)[:_HISTORY]
    pack = {
        "recordId": record_id,
        "generatedAt": now(),
        "finding": finding,
        "history": history,
        "repoEvidence": {"queries": evidence},
        "warnings": warnings,
    }
    with explained():
        if out_path is None:
            target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        _check_replaceable(target)  # again: a search takes its time
        write_file(target, pack)
    progress("search", len(asked), len(asked), "")
    return {
        "outPath": str(target),
        "historyCount": len(history),
        "evidenceQueries": len(evidence),
        "hits": sum(len(entry["hits"]) for entry in evidence),
        "warnings": warnings,
    }


def _named_place(repository: Repository, path: str) -> Path:
    try:
        refuse_link_out(repository.root / path, repository.root)
        target = Path(os.path.realpath(repository.root / path))
        has_room = target.parent.is_dir()
    except UsageError as error:
        raise ToolError("FORBIDDEN", error.message, details={"outPath": path}, hint=error.remedy) from error
    except (OSError, ValueError):
        has_room = False
    if not has_room:
        raise ToolError(
            "NOT_FOUND", "the directory of outPath does not exist", details={"outPath": path}, hint="make it first"
        )
    return target


def _check_replaceable(target: Path) -> None:
    """Nothing but an older context pack is ever written over."""
    try:
        if not os.path.lexists(target) or (target.is_file() and _is_pack(target)):
            return
    except OSError as error:
        raise ToolError("FORBIDDEN", f"{target.name} cannot be looked at: {error.strerror}") from error
    raise ToolError(
        "FORBIDDEN",
        f"{target.name} exists and is not a context pack, so it is not written over",
        details={"outPath": str(target)},
        hint="choose another outPath",
    )


def _is_pack(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            written = orjson.loads(file.read(_LONGEST_PACK))
    except ValueError:
        return False
    return isinstance(written, Mapping) and written.keys() >= _MARKS
