"""Reading the file of a scanner into records: what is new or changed is written, and what is bad is told."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from holdfast.errors import ToolError
from holdfast.present.counted import counted
from holdfast.search.repository import Repository
from holdfast.search.triage.filing import OPENERS, SOURCES, Filing, UnusableFindingError, canonical_source
from holdfast.search.triage.intake import Intake, read_input
from holdfast.search.triage.record import content, now
from holdfast.search.triage.record_files import Batch, RecordFiles
from holdfast.search.triage.refusal import check_text, refuse_if, wrong_argument
from holdfast.search.triage.routing import additions

if TYPE_CHECKING:
    from holdfast.search.stages import Progress, Stop

__all__ = ["MOST_LISTED", "ingest"]

MOST_LISTED = 1000  # records, and errors, that an answer names; all of them are counted
_LONGEST_PATH = 4096
_TELL_EVERY = 100


def ingest(
    repository: Repository,
    cache_dir: Path,
    *,
    source: str,
    input_path: str,
    meta: Mapping[str, Any] | None,
    progress: "Progress",
    stop: "Stop",
) -> dict[str, Any]:
    """Make records of the findings in a file; bad entries are told, and cost only themselves.

    `input_path` is relative to the repository; it is named by the caller on purpose, so it may also lie elsewhere.
    """
    known = canonical_source(source)
    added, found = additions(meta)
    if known is None:
        found.append(
            wrong_argument("source", "enum", f"must be one of {', '.join(SOURCES)}", allowed=list(SOURCES))
        )
    found += check_text("inputPath", input_path, _LONGEST_PATH)
    refuse_if(found)
    progress("read", 0, None, "")
    intake = read_input(repository.root, input_path, stop, OPENERS.get(str(known)))
    files = RecordFiles(repository, cache_dir)
    work = _Ingestion(Filing(str(known), repository, added), files, problems=list(intake.problems))
    if intake.entries:
        with files.writing(stop) as batch:
            work.prepare(intake, batch, progress, stop)
    errors = [{"index": position, "message": message} for position, message in sorted(work.problems)]
    if intake.total and not work.ids:
        raise _nothing_usable(errors)
    return {
        "source": known,
        "repoRoot": repository.shown,
        "recordsDir": str(files.records),
        "total": intake.total,
        "written": work.written,
        "unchanged": work.unchanged,
        "errors": len(errors),
        "recordIds": work.ids[:MOST_LISTED],
        "records": [_named(files, record_id) for record_id in work.ids[:MOST_LISTED]],
        "errorDetails": errors[:MOST_LISTED],
        "warnings": intake.warnings + _silent(work.silent) + _cut(max(len(work.ids), len(errors))),
    }


@dataclass(slots=True)
class _Ingestion:
    """What becomes of the entries of one file."""

    filing: Filing
    files: RecordFiles
    problems: list[tuple[int, str]]
    written: int = 0
    unchanged: int = 0
    silent: int = 0  # findings that say nothing of what findings are asked for
    ids: list[str] = field(default_factory=list)
    _seen: dict[str, int] = field(default_factory=dict)

    def prepare(self, intake: Intake, batch: Batch, progress: "Progress", stop: "Stop") -> None:
        """Make a record of every entry, and put into the batch what is new."""
        time, total = now(), len(intake.entries)
        for done, (position, where, value) in enumerate(intake.entries):
            if stop():
                raise ToolError("CANCELLED", "ingesting was stopped; no record was changed")
            if done % _TELL_EVERY == 0:
                progress("write", done, total, "")
            try:
                self._take(self.filing.record(value), position, time, batch)
            except UnusableFindingError as error:
                self.problems.append((position, f"{where}{error}"))
        progress("write", total, total, "")

    def _take(self, record: dict[str, Any], position: int, time: str, batch: Batch) -> None:
        name = record["recordId"]
        first = self._seen.setdefault(name, position)
        if first != position:
            raise UnusableFindingError(f"it is the same finding as entry {first}: {name}")
        old = self.files.read(name)
        if old is not None and (old["recordType"], old.get("source")) != ("finding", record["source"]):
            raise UnusableFindingError(
                f"its recordId {name} belongs to a {old['recordType']} of {old.get('source')}"
            )
        self.ids.append(name)
        self.silent += _is_silent(record)
        if old is not None and content(old) == content(record):
            self.unchanged += 1
            if not self.files.markdown_path(name).exists():
                batch.put(old)
            return
        made = old.get("createdAt") if old is not None else None
        batch.put(record | {"createdAt": made if isinstance(made, str) else time, "updatedAt": time})
        self.written += 1


def _named(files: RecordFiles, record_id: str) -> dict[str, str]:
    paths = {"jsonPath": files.json_path(record_id), "mdPath": files.markdown_path(record_id)}
    return {"recordId": record_id} | {name: str(path) for name, path in paths.items()}


def _is_silent(record: Mapping[str, Any]) -> bool:
    vuln, named = record["vuln"], (record["package"]["name"], record["asset"]["assetId"], record.get("location"))
    return not any((vuln["vulnId"], vuln["title"], vuln["description"], *named))


def _silent(count: int) -> list[dict[str, str]]:
    if not count:
        return []
    message = (
        f"no rule, title, package or place was found in {counted(count, 'finding')}: is it a list of findings?"
    )
    return [{"code": "nothing-known", "message": message}]


def _cut(most: int) -> list[dict[str, str]]:
    if most <= MOST_LISTED:
        return []
    return [{"code": "list-cut", "message": f"only the first {MOST_LISTED} are listed; all are counted"}]


def _nothing_usable(errors: list[dict[str, Any]]) -> ToolError:
    first = errors[0]
    return ToolError(
        "INVALID_REQUEST",
        f"none of the {len(errors)} entries is a finding; entry {first['index']}: {first['message']}",
        details={"errors": len(errors), "errorDetails": errors[:MOST_LISTED]},
        hint="check that the source is the one that wrote the file",
    )
