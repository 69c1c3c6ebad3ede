"""What a run changes in the site: its bundle over the commit that it began from, at any moment after linking."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from holdfast.errors import ToolError
from holdfast.git.asking import GitError
from holdfast.launch.patching.diff_report import change_of
from holdfast.launch.patching.engine import apply_bundle
from holdfast.launch.patching.fence import Fence
from holdfast.launch.patching.tree import BaseTree
from holdfast.launch.patching.unified_diff import unified_diff
from holdfast.launch.updating.record import is_record

if TYPE_CHECKING:
    from holdfast.launch.service import RunService

__all__ = ["RunChanges", "changes_of_run", "work_tree_of"]

_BUNDLE = "patch_bundle.json"


@dataclass(frozen=True, slots=True)
class RunChanges:
    """The files that a run changes, by path, before and after; None is no file."""

    run_id: str
    base_ref: str
    files: dict[str, tuple[bytes | None, bytes | None]] = field(default_factory=dict)

    def diff(self) -> list[str]:
        """The whole difference, in lines, as git writes it."""
        return [line for path, versions in self.files.items() for line in unified_diff(path, *versions)]

    def stat(self) -> list[dict[str, Any]]:
        """How much each file changes."""
        found = (change_of(path, *versions) for path, versions in self.files.items())
        return [
            {"path": one.path, "change": one.kind, "added": one.added, "removed": one.removed} for one in found
        ]


def changes_of_run(service: "RunService", run_id: str) -> RunChanges:
    """The changes of a run; ToolError ILLEGAL_STATE before its pages were put into the site, or after a prune."""
    run = service.run(run_id)
    if _BUNDLE not in service.store.artifacts(run_id):
        raise ToolError(
            "ILLEGAL_STATE",
            f"the run has put nothing into the site yet: it is {run.state}",
            details={"run_id": run_id, "state": run.state, "reason": "no_bundle"},
            retryable=False,
        )
    bundle = json.loads(service.artifact(run_id, _BUNDLE)["content"])
    site = work_tree_of(service, run_id)
    try:
        tree = BaseTree(site, bundle["base_ref"])
        tree.load(patch["path"] for patch in bundle["patches"])
        applied = apply_bundle(bundle, tree.read, Fence(run.config["allowed_paths"]), tree.paths())
        paths = sorted(applied.files, key=lambda path: (is_record(path), path))  # pages are what people look for
        files = {path: (tree.read(path), applied.files[path]) for path in paths}
    except GitError as error:
        raise _no_tree(run_id, run.state) from error
    return RunChanges(run_id, bundle["base_ref"], files)


def work_tree_of(service: "RunService", run_id: str) -> Path:
    """The work tree of the site; ToolError ILLEGAL_STATE where there is none any more."""
    site = service.workspace.run(run_id) / "work" / "site"
    if not site.is_dir():
        raise _no_tree(run_id, service.run(run_id).state)
    return site


def _no_tree(run_id: str, state: str) -> ToolError:
    return ToolError(
        "ILLEGAL_STATE",
        "the work tree of the run is gone (it was pruned, or removed by hand)",
        details={"run_id": run_id, "state": state, "missing": "worktree"},
        hint=f"what it changed is still in: holdfast launch artifact {run_id} reports/diff_report.md",
        retryable=False,
    )
