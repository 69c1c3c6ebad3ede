"""The pages of a run and the site as it is: what is new, what is merged, what people keep, and a report of it."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from holdfast.errors import ToolError
from holdfast.launch.claim_marks import MARK, claims_of, without_marks
from holdfast.launch.front_matter import FrontMatterError
from holdfast.launch.page_paths import as_bundle
from holdfast.launch.patching.budget import too_long
from holdfast.launch.patching.operations import ConflictError, as_text
from holdfast.launch.updating.page_merge import Kept, is_untouched, merged_page
from holdfast.launch.updating.page_parts import parts_of
from holdfast.launch.updating.record import PageRecord, Records
from holdfast.launch.version import ARTIFACT_VERSION

__all__ = ["PageUpdates", "report_of"]

_LONGEST_TEXT = 2000
_MOST_STALE = 100
_UNKNOWN = "nothing tells what a run wrote here, so all of it counts as people's; the next version finds its way"
_TOO_LARGE = "it is too large to be updated"
_LONGEST_REASON = 500
_UNREADABLE = "its front matter cannot be read, so nothing of it can be told apart"
_DELETED = "people deleted it, so it stays deleted"
_NOT_PLANNED = "the new version does not need it any more"


@dataclass(slots=True)
class PageUpdates:
    """The pages of a run, one after the other. `files`: those that change, None for one that is deleted."""

    records: Records
    read: Callable[[str], bytes | None]
    claims: Collection[str]
    budgets: Mapping[str, Any]
    files: dict[str, bytes | None] = field(default_factory=dict)
    rows: list[dict[str, Any]] = field(default_factory=list)
    moved: set[str] = field(default_factory=set)  # recorded pages that people have moved, by their old paths
    is_adopting: bool = False  # a page of ours that no record named gets its entry, which the next version needs

    def page(self, page: Mapping[str, Any], draft: str) -> bytes | None:
        """What a planned page becomes; None where it stays as it is. ConflictError where it is somebody else's."""
        path = page["output_path"]
        at = self._recorded(path)
        written = self.records.get(at)
        record = _record(draft)
        try:
            before = self.read(path)
        except ToolError as error:
            if written is None or error.details.get("reason") != "too_large":
                raise
            self._tell(page, path, "left_alone", reason=f"{_TOO_LARGE}: {error.message}"[:_LONGEST_REASON])
            return None
        if before is None or before == draft.encode():
            self.records.put(at, record)
            self._tell(page, path, "created" if before is None else "unchanged")
            return self._becomes(path, draft.encode()) if before is None else None
        text = as_text(before)
        if written is None:
            if not MARK.search(text):
                raise ConflictError("file_exists", "a page that this tool did not write is there already")
            self.records.put(at, record)
            self.is_adopting = True
            self._tell(page, path, "left_alone", reason=_UNKNOWN)
            return None
        try:
            merged = merged_page(written, text, draft)
        except FrontMatterError:
            self._tell(page, path, "left_alone", reason=_UNREADABLE)
            return None
        if why := too_long(self.budgets, path, before, merged.text.encode()):
            self._tell(page, path, "left_alone", reason=f"{_TOO_LARGE}: {why}"[:_LONGEST_REASON])
            return None
        self.records.put(at, record)
        is_new = merged.text != text
        stale = _stale(merged.text, self.claims)
        self._tell(page, path, "updated" if is_new else "unchanged", kept=merged.kept, stale=stale)
        return self._becomes(path, merged.text.encode()) if is_new else None

    def _recorded(self, path: str) -> str:
        """The path by which the records know a page: the one at which a run wrote it, wherever people moved it."""
        before = next((one for one in self.records.pages() if as_bundle(one) == path), "")
        if not before or self.records.get(path) is not None or self.read(before) is not None:
            return path
        self.moved.add(before)
        return before

    def others(self, planned: Collection[str], is_ours: Callable[[str], bool], *, delete: bool) -> None:
        """Pages that earlier runs wrote and this one does not: listed, and deleted only where that was asked."""
        for path in self.records.pages():
            written = self.records.get(path)
            if path in planned or path in self.moved or written is None or not is_ours(path):
                continue
            try:
                content = self.read(path)
            except ToolError:  # people have put a link there, or something huge
                content = b"\0"
            if content is None:
                self._tell({}, path, "deleted_by_people", reason=_DELETED)
            elif delete and _is_as_written(written, content):
                self.files[path] = None
                self.records.remove(path)
                self._tell({}, path, "deleted", reason=_NOT_PLANNED)
            else:
                edited = ", and people have edited it" if delete else ""
                self._tell({}, path, "not_planned", reason=_NOT_PLANNED + edited)

    def _becomes(self, path: str, content: bytes) -> bytes:
        self.files[path] = content
        return content

    def _tell(
        self,
        page: Mapping[str, Any],
        path: str,
        status: str,
        *,
        reason: str = "",
        kept: Sequence[Kept] = (),
        stale: Sequence[Mapping[str, Any]] = (),
    ) -> None:
        row: dict[str, Any] = {"path": path, "status": status}
        row |= {"page_id": page["page_id"]} if page else {}
        row |= {"reason": reason} if reason else {}
        row["kept"] = [{name: text[:_LONGEST_TEXT] for name, text in one._asdict().items()} for one in kept]
        row["stale_marks"] = list(stale)
        self.rows.append(row)


def report_of(updates: PageUpdates) -> dict[str, Any]:
    """The artifact `update_report.json`."""
    return {
        "schema_version": ARTIFACT_VERSION,
        "changes": bool(updates.files) or updates.is_adopting,
        "pages": sorted(updates.rows, key=lambda row: row["path"]),
        "unreadable_records": sorted(updates.records.broken),
    }


def _record(draft: str) -> PageRecord:
    try:
        return PageRecord.of(parts_of(draft))
    except FrontMatterError as error:
        raise ConflictError("not_text", f"the front matter of the draft cannot be read: {error}") from error


def _is_as_written(written: PageRecord, content: bytes) -> bool:
    try:
        return is_untouched(written, as_text(content))
    except (ConflictError, FrontMatterError):
        return False


def _stale(text: str, claims: Collection[str]) -> list[dict[str, Any]]:
    """The marks that lead to no claim of this run: they stand on lines of people, which nobody else changes."""
    found = [
        {"line": number, "claim_id": claim[:200], "text": without_marks(line).strip()[:_LONGEST_TEXT]}
        for number, line in enumerate(text.split("\n"), 1)
        for claim in claims_of(line)
        if claim not in claims
    ]
    return found[:_MOST_STALE]
