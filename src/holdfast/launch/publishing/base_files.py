"""The files of a site at one commit, from git's objects, and what a bundle of patches makes of them.

The bundle is not believed: it is applied here once more, with the fence and the rules for text, and whatever would
lead through a link or into another repository is refused.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from holdfast.errors import ToolError
from holdfast.launch.patching.engine import Applied, apply_bundle
from holdfast.launch.patching.fence import Fence, Names
from holdfast.launch.publishing.mirror import Mirror, MirrorError
from holdfast.launch.publishing.refusal import Refusal

__all__ = ["Entry", "applied_files", "entries_of"]

_LARGEST_FILE = 5_000_000
_MOST_TOLD = 20
_KINDS = {"120000": "a link", "160000": "another repository"}


class Entry(NamedTuple):
    """A file of a commit: its mode as git writes it, and its object."""

    mode: str
    sha: str


def entries_of(mirror: Mirror, commit: str) -> dict[str, Entry]:
    """Everything in the commit, by path."""
    listed = mirror.git("ls-tree", "-r", "-z", "--full-tree", commit).decode("utf-8", "surrogateescape")
    entries = {}
    for line in listed.split("\0")[:-1]:
        about, _, path = line.partition("\t")
        mode, _, sha = about.split(" ")
        entries[path] = Entry(mode, sha)
    return entries


def applied_files(
    mirror: Mirror, entries: Mapping[str, Entry], bundle: Mapping[str, Any], allowed_paths: Sequence[str]
) -> dict[str, bytes | None]:
    """The files that the bundle changes, None for one that it deletes; Refusal where it may not or cannot."""
    paths = sorted({patch["path"] for patch in bundle["patches"]})
    _refuse_links(entries, paths)
    contents = _contents(mirror, entries, paths)
    try:
        fence = Fence(allowed_paths)
        applied = apply_bundle(bundle, contents.get, fence, Names(entries))
        _refuse_conflicts(applied)
        for path, content in applied.files.items():
            fence.check(path)
            _refuse_binary(path, content)
    except ToolError as error:
        code = "PATH_NOT_ALLOWED" if error.code == "ALLOWED_PATHS_VIOLATION" else "INVALID_REQUEST"
        raise Refusal(code, error.message, details=error.details) from error
    if not applied.files:
        raise Refusal("NO_CHANGES", "the site already is what the bundle would make of it")
    return applied.files


def _refuse_links(entries: Mapping[str, Entry], paths: Iterable[str]) -> None:
    for path in paths:
        for step in _steps(path):
            kind = _KINDS.get(entries[step].mode, "") if step in entries else ""
            if kind:
                message = f"{path} may not be written: {step} is {kind}"
                raise Refusal("PATH_NOT_ALLOWED", message, details={"reason": "leads_elsewhere", "path": path})


def _steps(path: str) -> Iterator[str]:
    while path:
        yield path
        path = path.rpartition("/")[0]


def _contents(mirror: Mirror, entries: Mapping[str, Entry], paths: Iterable[str]) -> dict[str, bytes]:
    """What is in those of the paths, and of the files on the way to them, that are there."""
    wanted = {step: entries[step].sha for path in paths for step in _steps(path) if step in entries}
    if not wanted:
        return {}
    asked = "".join(f"{sha}\n" for sha in wanted.values()).encode()
    for path, line in zip(wanted, mirror.git("cat-file", "--batch-check", stdin=asked).splitlines(), strict=True):
        if line.split()[1] != b"blob":
            raise MirrorError("an object is missing")
        if int(line.split()[2]) > _LARGEST_FILE:
            raise Refusal("PATCH_CONFLICT", f"{path} is too large to be patched", details={"path": path})
    told = mirror.git("cat-file", "--batch", stdin=asked)
    contents = {}
    for path in wanted:
        head, _, told = told.partition(b"\n")
        size = int(head.split()[2])
        contents[path], told = told[:size], told[size + 1 :]
    return contents


def _refuse_conflicts(applied: Applied) -> None:
    outside = [one for one in applied.conflicts if one["kind"] == "outside_fence"]
    if outside:
        raise Refusal(
            "PATH_NOT_ALLOWED", outside[0]["message"],
            details={"reason": "outside_fence", "conflicts": outside[:_MOST_TOLD]},
        )  # fmt: skip
    if applied.conflicts:
        first = applied.conflicts[0]
        raise Refusal(
            "PATCH_CONFLICT", f"{first['patch_id']} cannot be applied to {first['path']}: {first['message']}",
            details={"conflicts": applied.conflicts[:_MOST_TOLD]},
        )  # fmt: skip


def _refuse_binary(path: str, content: bytes | None) -> None:
    if content is None:
        return
    try:
        is_text = "\0" not in content.decode("utf-8")
    except UnicodeDecodeError:
        is_text = False
    if not is_text:
        raise Refusal("PATH_NOT_ALLOWED", f"{path} would be no text", details={"reason": "binary", "path": path})
    if len(content) > _LARGEST_FILE:
        raise Refusal(
            "PATH_NOT_ALLOWED", f"{path} would be too large", details={"reason": "too_large", "path": path}
        )
