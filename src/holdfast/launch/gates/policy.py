"""Gate: the run stayed within what it may do: its fence, its budgets, and nobody edited behind its back."""

from collections.abc import Iterator

from holdfast.launch.gates.gate import Checked, Finding, Gate, everywhere, seconds
from holdfast.launch.gates.view import View
from holdfast.launch.patching.fence import Fence
from holdfast.launch.updating.record import is_record

__all__ = ["GATE", "check"]


def check(view: View) -> Checked:
    """Edits, conflicts, fence and budgets."""
    found = [*_edits(view), *_conflicts(view), *_fence(view), *_budgets(view)]
    return Checked(found, notes=[f"files changed: {len(view.files)}"])


def _edits(view: View) -> Iterator[Finding]:
    allowed = view.config.get("allow_manual_edits", False)
    for path in view.edits:
        yield Finding(
            "MANUAL_EDIT_REFUSED" if allowed else "MANUAL_EDITS_NOT_ALLOWED",
            (
                "The file was edited by hand, and cannot become part of the run: not allowed there, or no text."
                if allowed
                else "The file was edited by hand, which this run does not allow."
            ),
            path,
            anchor="edited by hand",
            suggested_fix="Restore the file, or start a run with allow_manual_edits.",
            fix_rule="restore_file",
            data={"path": path},
        )


def _conflicts(view: View) -> Iterator[Finding]:
    for conflict in view.conflicts:
        yield Finding(
            "PATCH_CONFLICT",
            f"The change {conflict['patch_id']} does not fit the site: {conflict['message']}",
            conflict["path"],
            anchor=f"{conflict['patch_id']} {conflict['kind']}",
            suggested_fix="Make the change anew for the site as it is.",
        )


def _fence(view: View) -> Iterator[Finding]:
    fence = Fence(view.config["allowed_paths"])
    for path in view.files:
        if not fence.allows(path):
            yield Finding(
                "ALLOWED_PATHS_VIOLATION",
                "The run changes a file outside of the paths that it may write.",
                path,
                anchor="outside",
                suggested_fix="Take the change out of the bundle, or allow the path.",
            )


def _budgets(view: View) -> Iterator[Finding]:
    budgets = view.config["budgets"]
    files = {path: content for path, content in view.files.items() if not is_record(path)}
    if len(files) > budgets["max_files_changed"]:
        yield Finding(
            "BUDGET_FILES_EXCEEDED",
            f"The run changes {len(files)} files; at most {budgets['max_files_changed']} are allowed.",
            anchor="max_files_changed",
            suggested_fix="Plan fewer pages, or raise the budget max_files_changed.",
        )
    for path, content in files.items():
        lines = len(content.splitlines()) if content is not None else 0
        before = (view.tree.read(path) if view.tree is not None else None) or b""
        # What people have made long is long; only a run that makes it longer is asked about it.
        if lines > max(budgets["max_lines_per_file"], len(before.splitlines())):
            yield Finding(
                "BUDGET_LINES_EXCEEDED",
                f"The file has {lines} lines; at most {budgets['max_lines_per_file']} are allowed.",
                path,
                anchor="max_lines_per_file",
                suggested_fix="Split the page, or raise the budget max_lines_per_file.",
            )


GATE = Gate(
    "policy",
    "policy",
    check,
    everywhere(
        MANUAL_EDITS_NOT_ALLOWED="blocker",
        MANUAL_EDIT_REFUSED="blocker",
        PATCH_CONFLICT="blocker",
        ALLOWED_PATHS_VIOLATION="blocker",
        BUDGET_FILES_EXCEEDED="blocker",
        BUDGET_LINES_EXCEEDED="error",
    ),
    seconds(30, 60),
    uses=("patch_bundle.json",),
)
