"""What somebody changed in the work tree by hand, taken into the bundle where the run allows it."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from holdfast.errors import ToolError
from holdfast.launch.patching.fence import Fence
from holdfast.launch.patching.making import changes, extended
from holdfast.launch.patching.operations import is_text
from holdfast.launch.patching.tree import BaseTree, read_file

__all__ = ["adopted", "adopted_files"]

_REASON = "edited by hand"


def adopted_files(bundle: Mapping[str, Any] | None) -> set[str]:
    """The files that hold an edit by hand that has become part of the bundle."""
    patches = () if bundle is None else bundle["patches"]
    return {patch["path"] for patch in patches if patch.get("reason") == _REASON}


def adopted(
    bundle: Mapping[str, Any],
    edits: Iterable[str],
    files: Mapping[str, bytes | None],
    tree: BaseTree,
    site: Path,
    fence: Fence,
) -> dict[str, Any]:
    """The bundle with a patch for every edit that may become part of the run; the others are left out.

    Left out is what the fence forbids, and what is no text, or no plain file.
    """
    patches: list[dict[str, Any]] = []
    for path in sorted(edits):
        if not fence.allows(path):
            continue
        try:
            before = files[path] if path in files else tree.read(path)
            after = read_file(site, path)
        except ToolError:  # a link or a folder: no patch can say it
            continue
        if all(content is None or is_text(content) for content in (before, after)):
            patches += changes(path, before, after, reason=_REASON)
    longer, _ = extended(bundle, patches)
    return longer
