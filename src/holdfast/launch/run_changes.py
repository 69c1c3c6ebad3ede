"""What a run changes in the site: its bundle over the commit that it began from, at any moment after linking.

In a pool the work tree may be on another machine, or be an old one here. Then it is made again for as long as it
is looked at: it follows from the commit and the bundle.
"""

import contextlib
import json
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from holdfast.errors import ToolError
from holdfast.git.asking import GitError
from holdfast.launch.engine.tree_mark import TreeMark
from holdfast.launch.patching.diff_report import change_of
from holdfast.launch.patching.engine import apply_bundle
from holdfast.launch.patching.fence import Fence
from holdfast.launch.patching.tree import BaseTree
from holdfast.launch.patching.tree_keeper import put_pages_in
from holdfast.launch.patching.unified_diff import unified_diff
from holdfast.launch.scouting.cloning import bring, git_told
from holdfast.launch.site_access import access_of_run
from holdfast.launch.updating.record import is_record

if TYPE_CHECKING:
    from holdfast.launch.service import RunService

__all__ = ["RunChanges", "changes_in", "changes_of_run", "site_of_run"]

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
    with site_of_run(service, run_id) as site:
        return changes_in(service, run_id, site)


def changes_in(service: "RunService", run_id: str, site: Path) -> RunChanges:
    """The changes of a run, by a work tree of its site."""
    run = service.run(run_id)
    bundle = json.loads(service.artifact(run_id, _BUNDLE)["content"])
    try:
        tree = BaseTree(site, bundle["base_ref"])
        tree.load(patch["path"] for patch in bundle["patches"])
        applied = apply_bundle(bundle, tree.read, Fence(run.config["allowed_paths"]), tree.paths())
        paths = sorted(applied.files, key=lambda path: (is_record(path), path))  # pages are what people look for
        files = {path: (tree.read(path), applied.files[path]) for path in paths}
    except GitError as error:
        raise _no_tree(run_id, run.state) from error
    return RunChanges(run_id, bundle["base_ref"], files)


@contextlib.contextmanager
def site_of_run(service: "RunService", run_id: str) -> Iterator[Path]:
    """The work tree of the site; ToolError ILLEGAL_STATE before pages were put into it, or after a prune."""
    run = service.run(run_id)
    bundle = service.store.artifacts(run_id).get(_BUNDLE)
    if bundle is None:
        raise ToolError(
            "ILLEGAL_STATE",
            f"the run has put nothing into the site yet: it is {run.state}",
            details={"run_id": run_id, "state": run.state, "reason": "no_bundle"},
            retryable=False,
        )
    root = service.workspace.run(run_id)
    site = root / "work" / "site"
    if service.workspace.is_pool and (TreeMark(root).read() != bundle.sha256 or not site.is_dir()):
        with tempfile.TemporaryDirectory(prefix="holdfast-tree-", ignore_cleanup_errors=True) as folder:
            yield _made_again(service, run_id, Path(folder) / "site")
    elif site.is_dir():
        yield site
    else:
        raise _no_tree(run_id, run.state)


def _made_again(service: "RunService", run_id: str, site: Path) -> Path:
    config = service.run(run_id).config
    service.workspace.grants.check(config)
    bundle = json.loads(service.artifact(run_id, _BUNDLE)["content"])
    with git_told():
        bring(config["site_repo_url"], config["site_ref"], site, "site", access=access_of_run(config))
        put_pages_in(site, bundle, config)
    return site


def _no_tree(run_id: str, state: str) -> ToolError:
    return ToolError(
        "ILLEGAL_STATE",
        "the work tree of the run is gone (it was pruned, or removed by hand)",
        details={"run_id": run_id, "state": state, "missing": "worktree"},
        hint=f"what it changed is still in: holdfast launch artifact {run_id} reports/diff_report.md",
        retryable=False,
    )
