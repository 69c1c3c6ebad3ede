"""Bringing one thing to its place: is it here already, is it still the same, fetch it, put it there, note it.

What dictionaries, extensions and models have in common. What they are for is not known here. Only what was
put there by us is ever replaced.
"""

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from holdfast.errors import ToolError
from holdfast.search.downloads.failures import cancelled
from holdfast.search.downloads.fetch import MAX_BYTES, Fetched, Known, fetch
from holdfast.search.downloads.placing import Content
from holdfast.search.downloads.shelf import Entry, Shelf
from holdfast.search.downloads.sources import Source
from holdfast.search.downloads.unpack import Limits

if TYPE_CHECKING:
    from holdfast.search.index_writer import Progress, Stop

__all__ = ["Installed", "Mode", "Wanted", "install", "mode_of", "remarks", "summary"]

Mode = Literal["keep", "update", "force"]


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be here afterwards."""

    name: str  # in the manifest
    path: Path  # a file, or the directory of a model
    source: Source
    sha256: str | None
    is_asked_for: bool  # this call names source or hash: what is here has to be that
    wheel_tag: str | None = None
    max_bytes: int = MAX_BYTES
    limits: Limits = field(default_factory=Limits)

    @property
    def title(self) -> str:
        """What people read; a place that the caller chose is called by its last part."""
        return self.path.name if self.name == str(self.path) else self.name


@dataclass(frozen=True, slots=True)
class Installed:
    """What is here now."""

    name: str
    status: Literal["downloaded", "unchanged", "skipped"]
    entry: Entry
    content: Content
    is_changed: bool = False  # since it was downloaded, by somebody


def mode_of(*, update: bool, force: bool) -> Mode:
    """What to do about something that is here already."""
    return "force" if force else "update" if update else "keep"


def install(
    shelf: Shelf, wanted: Wanted, mode: Mode,
    place: Callable[[Path, Wanted], None], look: Callable[[Path], Content | None],
    progress: "Progress", stop: "Stop",
) -> Installed:  # fmt: skip
    """Have it here; needs the lock of the shelf. `place` puts it there, `look` tells what is there."""
    content = look(wanted.path)
    noted = shelf.entries().get(wanted.name)
    is_same = content is not None and noted is not None and noted.get("content") == content
    same = noted if is_same else None
    if content is not None and mode == "keep" and not wanted.is_asked_for and not _is_another(same, wanted):
        return Installed(wanted.title, "skipped", same or _foreign(content), content, noted is not same)
    if content is not None and same is not None and mode != "force" and _is_it(same, wanted, mode):
        entry = same | {"verified": bool(same.get("verified")) or wanted.sha256 is not None}
        if entry != same:
            shelf.note(wanted.name, entry)
        return Installed(wanted.title, "skipped" if mode == "keep" else "unchanged", entry, content)
    _refuse_foreign(wanted, mode, content, noted, same)
    return _fetch(shelf, wanted, mode, same, place, look, progress, stop)


def _fetch(
    shelf: Shelf, wanted: Wanted, mode: Mode, same: Entry | None,
    place: Callable[[Path, Wanted], None], look: Callable[[Path], Content | None],
    progress: "Progress", stop: "Stop",
) -> Installed:  # fmt: skip
    known = None
    if same is not None and mode == "update" and same.get("source") == wanted.source.text:
        known = Known(_text(same, "etag"), _text(same, "lastModified"))
    artifact = shelf.artifact(wanted.name)
    is_free = not os.path.lexists(wanted.path)
    try:
        fetched = fetch(
            wanted.source, wanted.sha256, artifact, max_bytes=wanted.max_bytes, progress=progress, stop=stop,
            known=known, wheel_tag=wanted.wheel_tag,
        )  # fmt: skip
        if fetched is None:
            assert same is not None, "only what is here can be unchanged"
            return Installed(wanted.title, "unchanged", same, same["content"])
        if stop():
            raise cancelled()
        _put(shelf, wanted, artifact, place, is_free=is_free)
    finally:
        artifact.unlink(missing_ok=True)
    content = look(wanted.path)
    assert content is not None, "it was just put there"
    entry = _entry(shelf, wanted, fetched, content)
    shelf.note(wanted.name, entry)
    is_same = mode == "update" and same is not None and same["content"] == content
    return Installed(wanted.title, "unchanged" if is_same else "downloaded", entry, content)


def _refuse_foreign(
    wanted: Wanted, mode: Mode, content: Content | None, noted: Entry | None, same: Entry | None
) -> None:
    """Refuse to replace what is not ours: unknown to the manifest, or, unless forced, changed since then."""
    if not os.path.lexists(wanted.path):
        return
    if content is None or noted is None or wanted.path.is_symlink():  # neither a link nor another kind is ours
        raise _in_the_way(wanted)
    if same is None and mode != "force":
        message = f"{wanted.title} was changed since it was downloaded, and is left as it is"
        details = {"path": str(wanted.path)}
        raise ToolError("FORBIDDEN", message, details=details, hint="`force` fetches it again")


def _put(
    shelf: Shelf, wanted: Wanted, artifact: Path, place: Callable[[Path, Wanted], None], *, is_free: bool
) -> None:
    """Put it to its place. Where nothing was, it is noted before: should we be killed, it is known as ours."""
    if is_free and os.path.lexists(wanted.path):  # since we looked
        raise _in_the_way(wanted)
    if not is_free or wanted.name in shelf.entries():
        place(artifact, wanted)
        return
    shelf.note(wanted.name, {"source": wanted.source.text, "file": _noted_path(shelf, wanted), "content": None})
    try:
        place(artifact, wanted)
    except BaseException:
        shelf.forget(wanted.name)
        raise


def _in_the_way(wanted: Wanted) -> ToolError:
    message = f"in the place of {wanted.title} is something that was not downloaded; it is left as it is"
    hint = "move it away, or choose another directory"
    return ToolError("FORBIDDEN", message, details={"path": str(wanted.path)}, hint=hint)


def summary(results: list[Installed]) -> dict[str, int | str]:
    """How many were fetched, in numbers and in the words that clients look for."""
    downloaded = sum(one.status == "downloaded" for one in results)
    skipped = len(results) - downloaded
    output = f"downloaded={downloaded} skipped={skipped}"
    return {"downloaded": downloaded, "skipped": skipped, "output": output}


def remarks(results: list[Installed], overruled: Sequence[str] = ()) -> list[dict[str, str]]:
    """What the caller should know of what is here; `overruled` are names whose configured source was not used."""
    said = []
    if overruled:
        message = f"not from the configured source, since the built-in SHA-256 is another: {', '.join(overruled)}"
        said.append({"code": "PINNED", "message": message})
    changed = [one.name for one in results if one.is_changed]
    unverified = [one.name for one in results if not one.entry.get("verified") and not one.is_changed]
    if changed:
        message = (
            f"changed since it was downloaded, and left as it is; `force` fetches it again: {', '.join(changed)}"
        )
        said.append({"code": "CHANGED", "message": message})
    if unverified:
        message = f"no SHA-256 was known beforehand, so this was not verified: {', '.join(unverified)}"
        said.append({"code": "UNVERIFIED", "message": message})
    return said


def _is_it(noted: Entry, wanted: Wanted, mode: Mode) -> bool:
    """Whether what is here is what is wanted, beyond doubt: by its hash, or since its source never changes."""
    if wanted.sha256 is not None:
        return bool(noted.get("sha256") == wanted.sha256)
    is_same_source = noted.get("source") == wanted.source.text
    return is_same_source and (mode == "keep" or wanted.source.kind == "pypi")


def _is_another(noted: Entry | None, wanted: Wanted) -> bool:
    """Return whether what is here came to us with another digest than the one that is known."""
    return noted is not None and wanted.sha256 is not None and noted.get("sha256") != wanted.sha256


def _entry(shelf: Shelf, wanted: Wanted, fetched: Fetched, content: Content) -> Entry:
    return {
        "source": wanted.source.text,
        "file": _noted_path(shelf, wanted),
        "sha256": fetched.sha256,
        "verified": fetched.verified,
        "etag": fetched.etag,
        "lastModified": fetched.last_modified,
        "downloadedAt": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "bytes": content["bytes"],
        "content": content,
    }


def _noted_path(shelf: Shelf, wanted: Wanted) -> str:
    is_inside = wanted.path.is_relative_to(shelf.directory)
    return str(wanted.path.relative_to(shelf.directory) if is_inside else wanted.path)


def _foreign(content: Content) -> Entry:
    """Something that is here though nothing is noted of it, or something else is."""
    return {"source": None, "sha256": content.get("sha256"), "verified": False, "bytes": content["bytes"]}


def _text(entry: Entry, key: str) -> str | None:
    value = entry.get(key)
    return value if isinstance(value, str) and value.isascii() and value.isprintable() else None
