"""From what was fetched to what is wanted: the right file of an archive, put to its place in one step.

And the other way round: what lies at a place, so that a change since then is noticed.
"""

import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from holdfast.errors import ToolError
from holdfast.search.downloads.sources import Source
from holdfast.search.downloads.unpack import UNPACK_PREFIX, Limits, is_archive, unpack

if TYPE_CHECKING:
    from holdfast.search.index_writer import Stop

__all__ = ["Content", "chosen_file", "content_of_directory", "content_of_file", "put_file"]

Content = dict[str, Any]
"""What lies at a place: `bytes` with the `sha256` of a file, or with the `files` of a directory."""

_MOST_LISTED = 50


@contextmanager
def chosen_file(
    artifact: Path, source: Source, fits: Callable[[str], bool], limits: Limits, stop: "Stop"
) -> Iterator[Path]:
    """The file that is meant: the named member of an archive, the only one that fits, or the file itself."""
    if source.member is None and not is_archive(artifact):
        yield artifact
        return
    with tempfile.TemporaryDirectory(prefix=UNPACK_PREFIX, dir=artifact.parent) as work:
        directory = Path(work, "content")
        names = unpack(artifact, directory, limits=limits, stop=stop)
        found = [name for name in names if (fits(name) if source.member is None else name == source.member)]
        if len(found) != 1:
            raise _not_one(source, names)
        yield directory / found[0]


def put_file(content: Path, place: Path, *, mode: int = 0o600, ending: bytes = b"") -> None:
    """Put a copy of a file to its place, with an ending, whatever was there before."""
    place.parent.mkdir(parents=True, exist_ok=True)
    draft = place.with_name(f".holdfast-draft-{place.name}")
    draft.unlink(missing_ok=True)  # of a call that was killed
    try:
        with content.open("rb") as source, draft.open("xb") as out:
            shutil.copyfileobj(source, out)
            out.write(ending)
            out.flush()
            os.fsync(out.fileno())
        draft.chmod(mode)
        draft.replace(place)
    finally:
        draft.unlink(missing_ok=True)


def content_of_file(path: Path) -> Content | None:
    """What a file holds; None where there is none."""
    if not path.is_file():
        return None
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
        return {"bytes": file.tell(), "sha256": digest}


def content_of_directory(path: Path) -> Content | None:
    """What a directory holds, down to its last file; None where there is none, and for a link to one.

    Links and devices count as files without content: no download has any, so one is always a change.
    """
    if path.is_symlink() or not path.is_dir():
        return None
    files = []
    for root, directories, names in os.walk(path):
        links = [name for name in directories if Path(root, name).is_symlink()]
        for found in (Path(root, name) for name in [*names, *links]):
            content = None if found.is_symlink() else content_of_file(found)
            files.append({"path": found.relative_to(path).as_posix(), **(content or {"bytes": 0, "sha256": None})})
    files.sort(key=lambda file: str(file["path"]))
    return {"bytes": sum(int(file["bytes"]) for file in files), "files": files}


def _not_one(source: Source, names: list[str]) -> ToolError:
    details = {"entries": names[:_MOST_LISTED]}
    if source.member is not None:
        return ToolError("NOT_FOUND", f"{source.shown} has no file {source.member}", details=details)
    message = f"{source.shown} is an archive, and it is not clear which of its {len(names)} files is meant"
    return ToolError("INVALID_REQUEST", message, details=details, hint="add #PATH/IN/ARCHIVE to the source")
