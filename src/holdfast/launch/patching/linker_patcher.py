"""The worker that makes patches of drafts, and puts them into the work tree of the site.

It compares the drafts with the site's commit, not with its work tree, so that it may be run again at any moment. A
page that an earlier run wrote is merged with what people made of it (`updating`); one that somebody else wrote is
never written over: that is a conflict, and is told.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from holdfast.errors import ToolError
from holdfast.launch.documents import sha256
from holdfast.launch.patching.budget import check_budgets
from holdfast.launch.patching.diff_report import diff_report
from holdfast.launch.patching.engine import ALREADY_APPLIED, CONFLICT, Applied, apply_bundle
from holdfast.launch.patching.fence import Fence, Names
from holdfast.launch.patching.index_links import index_of, with_link
from holdfast.launch.patching.making import changes, extended
from holdfast.launch.patching.operations import ConflictError, is_text
from holdfast.launch.patching.page_updates import PageUpdates, report_of
from holdfast.launch.patching.tree import BaseTree, materialise, pictured
from holdfast.launch.updating.site_records import is_of_this_run, records_of
from holdfast.launch.version import ARTIFACT_VERSION
from holdfast.launch.work import Workplace

__all__ = ["refuse_outside", "tell_patches", "work"]


def work(place: Workplace) -> None:
    """Make `patch_bundle.json`, `patch_conflicts.json` and the two reports, then the work tree."""
    fence = Fence(place.config["allowed_paths"])
    tree = BaseTree(place.site, place.config["site_ref"])
    names = Names(tree.paths())
    pages = [draft for section in place.config["required_sections"] for draft in _drafts(place, section)]
    for page, _ in pages:
        fence.check(page["output_path"], names)
    updates = _updates(place, tree)
    patches, conflicts = _patches(place, pages, updates, tree, fence)
    empty = {"schema_version": ARTIFACT_VERSION, "base_ref": place.config["site_ref"], "patches": []}
    tried, _ = extended(empty, patches)
    outcome = apply_bundle(tried, tree.read, fence, names)
    conflicts = _named([*conflicts, *outcome.conflicts])
    refuse_outside(conflicts)
    bundle, _ = extended(
        empty, (each for each in tried["patches"] if outcome.statuses[each["patch_id"]] != CONFLICT)
    )
    applied = apply_bundle(bundle, tree.read, fence, names)
    files = pictured(bundle, applied, tree)
    check_budgets(place.config["budgets"], applied.files, tree.read, len(files))
    place.write("patch_bundle.json", bundle)
    place.write("patch_conflicts.json", {"schema_version": ARTIFACT_VERSION, "conflicts": conflicts})
    place.write("update_report.json", report_of(updates))
    place.write_text("reports/diff_report.md", diff_report(applied.files, tree.read, title="Changes to the site"))
    materialise(place.site, files)
    tell_patches(place, bundle["patches"], applied, conflicts)


def tell_patches(
    place: Workplace,
    patches: Iterable[Mapping[str, Any]],
    applied: Applied,
    conflicts: Iterable[Mapping[str, Any]] = (),
) -> None:
    """Say what became of each patch."""
    for patch in patches:
        is_new = applied.statuses[patch["patch_id"]] != ALREADY_APPLIED
        event = "PATCH_APPLIED" if is_new else "PATCH_ALREADY_APPLIED"
        place.tell(event, patch_id=patch["patch_id"], path=patch["path"], type=patch["type"])
    for conflict in conflicts:
        place.tell("PATCH_CONFLICT_DETECTED", **conflict)


def refuse_outside(conflicts: list[dict[str, Any]]) -> None:
    """ToolError ALLOWED_PATHS_VIOLATION if one of the conflicts is that a path is outside of the fence."""
    outside = [item for item in conflicts if item["kind"] == "outside_fence"]
    if outside:
        raise ToolError(
            "ALLOWED_PATHS_VIOLATION",
            outside[0]["message"],
            details={"reason": "outside_fence", "paths": sorted({item["path"] for item in outside})},
            retryable=False,
        )


def _drafts(place: Workplace, section: str) -> Iterator[tuple[dict[str, Any], str]]:
    """The planned pages of a section with their drafts, by path."""
    planned = {
        page["page_id"]: page for page in place.read("page_plan.json")["pages"] if page["section"] == section
    }
    manifest = place.read(f"draft_manifest.{section}.json")
    for draft in sorted(manifest["drafts"], key=lambda draft: draft["output_path"]):
        page = planned.get(draft["page_id"])
        text = place.read_text(draft["artifact"])
        is_right = (
            page is not None and page["output_path"] == draft["output_path"] and manifest["section"] == section
        )
        if page is None or not is_right or sha256(text.encode()) != draft["sha256"]:
            raise ToolError(
                "INVALID_INPUT",
                f"the draft {draft['artifact']} is not the one that was planned and written",
                details={"reason": "draft_mismatch", "page_id": draft["page_id"], "path": draft["output_path"]},
            )
        yield page, text


def _updates(place: Workplace, tree: BaseTree) -> PageUpdates:
    claims = place.read("evidence_map.json")["claims"]
    records = records_of(place.config, place.read("hugo_facts.json"), tree.read)
    return PageUpdates(records, tree.read, {claim["claim_id"] for claim in claims}, place.config["budgets"])


def _patches(
    place: Workplace,
    pages: list[tuple[dict[str, Any], str]],
    updates: PageUpdates,
    tree: BaseTree,
    fence: Fence,
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Patches without ids, and conflicts where no patch can be made."""
    patches: list[dict[str, Any]] = []
    conflicts: list[dict[str, Any]] = []
    tree.load([*(page["output_path"] for page, _ in pages), *updates.records.pages()])
    written: set[str] = set()
    added: list[dict[str, Any]] = []
    for page, text in pages:
        path = page["output_path"]
        try:
            if path in written:
                raise ConflictError("file_exists", "two pages of the plan have this path")
            written.add(path)
            after = updates.page(page, text)
            if after is not None:
                before = tree.read(path)
                patches += changes(path, before, after, reason=f"page {page['page_id']}")
                added += [page] if before is None else []
        except ConflictError as error:
            conflicts.append({"path": path, "kind": error.kind, "message": str(error)})
    patches += _deletions(place, updates, written, tree, fence)
    patches += _index_patches(added, written, tree, fence)
    return patches + _record_patches(
        updates, tree, fence, is_needed=bool(patches) or updates.is_adopting
    ), conflicts


def _deletions(
    place: Workplace, updates: PageUpdates, planned: set[str], tree: BaseTree, fence: Fence
) -> list[dict[str, Any]]:
    """Pages that no plan has any more, where they may go."""
    hugo = place.read("hugo_facts.json")
    may_go = place.config.get("updates", {}).get("delete_unplanned_pages", False)
    updates.others(
        planned, lambda path: fence.allows(path) and is_of_this_run(path, place.config, hugo), delete=may_go
    )
    gone = [path for path, content in updates.files.items() if content is None]
    return [patch for path in gone for patch in changes(path, tree.read(path), None, reason="no longer planned")]


def _record_patches(
    updates: PageUpdates, tree: BaseTree, fence: Fence, *, is_needed: bool
) -> list[dict[str, Any]]:
    """What was written, for the next run; a newer record of pages that stay as they are is no change by itself."""
    if not is_needed:
        return []
    patches = []
    for path, content in updates.records.files().items():
        try:
            before = tree.read(path)
        except ToolError:  # a link stands there, or something huge: then there is no record
            continue
        if fence.allows(path) and (before is None or is_text(before)):
            patches += changes(path, before, content, reason="record of what was written")
    return patches


def _index_patches(
    added: list[dict[str, Any]], written: set[str], tree: BaseTree, fence: Fence
) -> list[dict[str, Any]]:
    """For new pages: their links in the lists that sections of the site keep by hand."""
    new: dict[str, bytes] = {}
    for page in added:
        path = index_of(page)
        if path in written or not fence.allows(path):
            continue
        try:
            before = new.get(path) or tree.read(path)
        except ToolError:  # a link, or too large: then it is no list that somebody keeps by hand
            continue
        if before is not None and is_text(before):
            new[path] = with_link(before, page)
    return [
        patch
        for path, content in new.items()
        for patch in changes(path, tree.read(path), content, reason="list of pages")
    ]


def _named(conflicts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The conflicts, each with a name that is none of a patch of the bundle."""
    return [{**item, "patch_id": f"unapplied_{number:03d}"} for number, item in enumerate(conflicts, 1)]
