"""The worker that mends one issue: it adds patches to the bundle, and brings the work tree up to date.

What it mends is the file as the site's commit and the bundle say that it is. A work tree that somebody has edited
since the gates looked at it is not touched: the report on it is no longer true.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from holdfast.errors import ToolError
from holdfast.launch.fixing.checks import Known, harm, takes_from_site
from holdfast.launch.fixing.rules import RESTORE, RULES, fixable
from holdfast.launch.patching.budget import check_budgets
from holdfast.launch.patching.diff_report import diff_report
from holdfast.launch.patching.engine import Applied, apply_bundle
from holdfast.launch.patching.fence import Fence, Names
from holdfast.launch.patching.linker_patcher import refuse_outside, tell_patches
from holdfast.launch.patching.making import changes, extended
from holdfast.launch.patching.operations import ConflictError, as_text
from holdfast.launch.patching.tree import BaseTree, edited, materialise, pictured, read_file, remove_link
from holdfast.launch.version import ARTIFACT_VERSION
from holdfast.launch.work import Workplace

__all__ = ["work"]


@dataclass(slots=True)
class _Fix:
    """What became of one attempt."""

    explanation: str
    patch_ids: list[str] = field(default_factory=list)
    files: dict[str, bytes | None] = field(default_factory=dict)
    is_changed: bool = False


class _Site:
    """The site as the bundle makes it, before the fix."""

    def __init__(self, place: Workplace) -> None:
        self.ref = place.config["site_ref"]
        self.fence = Fence(place.config["allowed_paths"])
        self.tree = BaseTree(place.site, self.ref)
        self.names = Names(self.tree.paths())
        self.bundle: dict[str, Any] = place.read("patch_bundle.json")
        self.applied = self.apply(self.bundle)

    def apply(self, bundle: Mapping[str, Any]) -> Applied:
        """What a bundle makes of the site's commit."""
        self.tree.load(patch["path"] for patch in bundle["patches"])
        return apply_bundle(bundle, self.tree.read, self.fence, self.names)

    def content(self, path: str) -> bytes | None:
        """A file as it is to be mended."""
        return self.applied.files[path] if path in self.applied.files else self.tree.read(path)


def work(place: Workplace) -> None:
    """Mend the issue that is the scope of this work, and say what was done."""
    report = place.read("validation_report.json")
    issue = _issue(report, place.scope)
    site = _Site(place)
    fix = (
        _restored(place, site, issue) if issue.get("fix_rule") == RESTORE else _mended(place, site, report, issue)
    )
    record = {
        "schema_version": ARTIFACT_VERSION,
        "issue_id": issue["issue_id"],
        "gate": issue["gate"],
        "rule": issue.get("fix_rule", "none"),
        "changed": fix.is_changed,
        "patch_ids": fix.patch_ids,
        "files": sorted(fix.files),
        "explanation": fix.explanation[:1000],
    }
    place.write(f"fixes/{issue['issue_id']}.json", record, schema="fix_record")
    place.write_text(f"reports/fix_{issue['issue_id']}.md", _report(issue, fix, site))


def _issue(report: Mapping[str, Any], wanted: str) -> dict[str, Any]:
    found = [item for item in report["issues"] if item["issue_id"] == wanted and item["status"] == "OPEN"]
    if not found:
        raise ToolError(
            "ILLEGAL_STATE",
            f"the last report has no open issue {wanted}",
            details={"reason": "issue_not_open", "issue_id": wanted},
            retryable=False,
        )
    return dict(found[0])


def _mended(place: Workplace, site: _Site, report: Mapping[str, Any], issue: Mapping[str, Any]) -> _Fix:
    if not fixable(issue):
        return _Fix("There is no rule for this issue.")
    path = site.fence.check(issue["location"]["path"], site.names)
    before = site.content(path)
    if before is None:
        return _Fix("The file is not there any more.")
    known = Known.of(place.read("evidence_map.json"), place.read("product_facts.json"))
    try:
        text = as_text(before)
        after = _apply_rule(text, issue)
    except ConflictError as error:
        return _Fix(f"The file cannot be mended: {error}.")
    if after == text:
        return _Fix("The rule found nothing to change.")
    on_site = site.tree.read(path)
    worse = harm(text, after, known)
    if not worse and on_site is not None and takes_from_site(as_text(on_site), text, after):
        worse = "it would change lines that were on the site before the run, and may be somebody's"
    if worse:
        return _Fix(f"The rule was not followed: {worse}.")
    bundle, ids = extended(
        site.bundle, changes(path, before, after.encode(), reason=f"{issue['fix_rule']} for {issue['issue_id']}")
    )
    return _carried_out(place, site, report, bundle, ids)


def _apply_rule(text: str, issue: Mapping[str, Any]) -> str:
    """The rule sees lines that end with a line feed, whatever they end with in the file."""
    is_dos = "\r\n" in text and text.count("\r\n") == text.count("\n")
    after = RULES[issue["fix_rule"]].mend(text.replace("\r\n", "\n") if is_dos else text, issue)
    return after.replace("\n", "\r\n") if is_dos else after


def _carried_out(
    place: Workplace, site: _Site, report: Mapping[str, Any], bundle: dict[str, Any], ids: list[str]
) -> _Fix:
    applied = site.apply(bundle)
    refuse_outside(applied.conflicts)
    added = [patch for patch in bundle["patches"] if patch["patch_id"] in ids]
    paths = sorted({patch["path"] for patch in added})
    assert not any(item["path"] in paths for item in applied.conflicts)
    files = {path: pictured(bundle, applied, site.tree)[path] for path in paths}
    _refuse_edited(place, site, report, files)
    if any(len(content or b"") > len(site.content(path) or b"") for path, content in files.items()):
        check_budgets(place.config["budgets"], files, site.tree.read, len(files))
    place.write("patch_bundle.json", bundle)
    materialise(place.site, files)
    tell_patches(place, added, applied)
    return _Fix("Mended.", ids, files, is_changed=True)


def _refuse_edited(
    place: Workplace, site: _Site, report: Mapping[str, Any], files: Mapping[str, bytes | None]
) -> None:
    """Hand edits that the report does not know of are not written over.

    A file that is as this fix makes it is none: then the fix was killed just before its end, and is made again.
    """
    known = {*report.get("manual_edited_files", ())}
    known |= {
        each["data"]["path"] for each in report["issues"] if each.get("fix_rule") == RESTORE and fixable(each)
    }
    found = edited(place.site, site.ref, pictured(site.bundle, site.applied, site.tree), site.tree)
    unknown = [path for path in found if path not in known and not _is_as_mended(place, path, files)]
    if unknown:
        raise ToolError(
            "ILLEGAL_STATE",
            f"{unknown[0]} was edited after the gates looked at it: validate again",
            details={"reason": "edited_since_validation", "files": unknown[:50]},
            retryable=False,
        )


def _is_as_mended(place: Workplace, path: str, files: Mapping[str, bytes | None]) -> bool:
    try:
        return path in files and read_file(place.site, path) == files[path]
    except ToolError:  # a link is there now
        return False


def _restored(place: Workplace, site: _Site, issue: Mapping[str, Any]) -> _Fix:
    """The file in the work tree becomes what the run says that it is; this may be outside of the fence."""
    if not fixable(issue):
        return _Fix("There is no rule for this issue.")
    path = issue["data"]["path"]
    try:
        content = site.content(path)
        remove_link(place.site, path)
        materialise(place.site, {path: content})
    except ToolError as error:
        return _Fix(f"The file cannot be restored: {error.message}.")
    if path in edited(place.site, site.ref, pictured(site.bundle, site.applied, site.tree), site.tree):
        return _Fix("The file cannot be restored.")
    return _Fix(
        "The file in the work tree is again what the run made of it.", files={path: content}, is_changed=True
    )


def _report(issue: Mapping[str, Any], fix: _Fix, site: _Site) -> str:
    about = [
        f"- Gate: {issue['gate']}",
        f"- Finding: {issue['message']}",
        f"- Rule: {issue.get('fix_rule', 'none')}",
        f"- Outcome: {fix.explanation}",
    ]
    shown = fix.files if fix.patch_ids else {}
    return diff_report(shown, site.content, title=f"Fix of {issue['issue_id']}", about=about)
