"""A bundle of patches, applied in memory: the site's files at its commit, and what the run makes of them.

Pure: the same bundle over the same files gives the same answer, wherever it is asked, so the work tree of a run, a
gate and the commit service cannot come to different results. A file is changed by all of its patches or by none,
and a bundle over its own result changes nothing.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from holdfast.errors import ToolError
from holdfast.launch.documents import sha256
from holdfast.launch.patching.fence import Fence, Names
from holdfast.launch.patching.operations import ConflictError, patched

__all__ = ["ALREADY_APPLIED", "APPLIED", "CONFLICT", "NO_FILE_HASH", "Applied", "apply_bundle"]

APPLIED = "applied"
ALREADY_APPLIED = "already_applied"
CONFLICT = "conflict"
NO_FILE_HASH = sha256(b"")
"""What a deletion has for the hash of the file after it."""
_REFUSALS = {"outside_fence": "outside_fence", "link": "outside_fence", "too_large": "too_large"}


@dataclass(slots=True)
class Applied:
    """What a bundle makes of a tree. `files`: paths that differ from it, None for a file that is gone."""

    files: dict[str, bytes | None] = field(default_factory=dict)
    conflicts: list[dict[str, Any]] = field(default_factory=list)
    statuses: dict[str, str] = field(default_factory=dict)


def apply_bundle(
    bundle: Mapping[str, Any],
    read_base: Callable[[str], bytes | None],
    fence: Fence,
    existing: Names | Iterable[str] = (),
) -> Applied:
    """Apply all patches of a bundle, in order, to what `read_base` gives.

    `existing` are the paths of the tree, where they are known: then no file is made whose name differs from
    another one only by case, or that is a folder there.
    """
    patches: Sequence[Mapping[str, Any]] = bundle["patches"]
    _refuse_doubles(patches)
    chains: dict[str, list[Mapping[str, Any]]] = {}
    for patch in patches:
        chains.setdefault(patch["path"], []).append(patch)
    names = existing if isinstance(existing, Names) else Names(existing)
    applied = Applied(statuses=dict.fromkeys((patch["patch_id"] for patch in patches), CONFLICT))
    found: dict[str, dict[str, Any]] = {}
    made = Names()
    for path, chain in chains.items():
        statuses: dict[str, str] = {}
        try:
            before = _before(path, read_base, fence, names)
            after = _run(chain, before, statuses)
            if before is None and after is not None:
                _refuse_meeting(path, chain[0], read_base, names, made)
        except _ChainError as broken:
            found |= _told(chain, broken)
            continue
        applied.statuses |= statuses
        if after != before:
            applied.files[path] = after
    applied.conflicts = [found[patch["patch_id"]] for patch in patches if patch["patch_id"] in found]
    return applied


class _ChainError(Exception):
    """One patch of a file does not fit, so none of its patches counts."""

    def __init__(self, patch_id: str, kind: str, message: str) -> None:
        super().__init__(message)
        self.patch_id = patch_id
        self.kind = kind


def _before(path: str, read_base: Callable[[str], bytes | None], fence: Fence, names: Names) -> bytes | None:
    try:
        fence.check(path, names)
        return read_base(path)
    except ToolError as error:  # the tree refuses links, and files that nobody would patch
        kind = _REFUSALS.get(error.details.get("reason", ""))
        if kind is None:
            raise
        raise _ChainError("", kind, error.message) from error


def _run(chain: Sequence[Mapping[str, Any]], before: bytes | None, statuses: dict[str, str]) -> bytes | None:
    """One file through all of its patches, from the last one that it has been through already."""
    done = max((number for number, patch in enumerate(chain, 1) if _is_result(patch, before)), default=0)
    content = before
    for number, patch in enumerate(chain, 1):
        if number <= done:
            statuses[patch["patch_id"]] = ALREADY_APPLIED
            continue
        try:
            content = _one(patch, content)
        except ConflictError as error:
            raise _ChainError(patch["patch_id"], error.kind, str(error)) from error
        statuses[patch["patch_id"]] = APPLIED
    return content


def _is_result(patch: Mapping[str, Any], content: bytes | None) -> bool:
    if patch["type"] == "delete_file" or content is None:
        return patch["type"] == "delete_file" and content is None
    return bool(patch["content_hash"] == sha256(content))


def _one(patch: Mapping[str, Any], content: bytes | None) -> bytes | None:
    expected = patch.get("expected_before_hash")
    is_there = content is not None and patch["type"] != "create_file"
    if is_there and expected is not None and expected != _hash(content):
        raise ConflictError("content_mismatch", "the file is not the one that this change was made for")
    after = patched(patch, content)
    if _hash(after) != patch["content_hash"]:
        raise ConflictError("content_mismatch", "the change does not lead to the file that it promises")
    return after


def _hash(content: bytes | None) -> str:
    return NO_FILE_HASH if content is None else sha256(content)


def _refuse_meeting(
    path: str, patch: Mapping[str, Any], read_base: Callable[[str], bytes | None], names: Names, made: Names
) -> None:
    """A new file may neither be a folder, nor lie below a file, nor meet another one where case does not count."""
    other = names.folder(path) or made.folder(path) or made.twin(path)
    parent = path.rpartition("/")[0]
    while parent and not other:
        if made.has(parent) or read_base(parent) is not None:
            other = parent
        parent = parent.rpartition("/")[0]
    if other:
        raise _ChainError(patch["patch_id"], "file_exists", f"it would meet {other}")
    made.add(path)


def _told(chain: Sequence[Mapping[str, Any]], broken: _ChainError) -> dict[str, dict[str, Any]]:
    told = {}
    for patch in chain:
        number, path = patch["patch_id"], patch["path"]
        kind, message = broken.kind, str(broken)
        if broken.patch_id not in ("", number):
            kind, message = "content_mismatch", f"held back, since {broken.patch_id} of the same file does not fit"
        told[number] = {"patch_id": number, "path": path, "kind": kind, "message": message[:1000]}
    return told


def _refuse_doubles(patches: Sequence[Mapping[str, Any]]) -> None:
    seen: set[str] = set()
    for patch in patches:
        if patch["patch_id"] in seen:
            raise ToolError(
                "INVALID_INPUT",
                f"the bundle has two patches {patch['patch_id']}",
                details={"reason": "duplicate_patch_id", "patch_id": patch["patch_id"]},
            )
        seen.add(patch["patch_id"])
