"""Unpacking an archive from elsewhere: every entry is judged and every byte counted, headers are believed nothing.

Everything goes into a fresh directory beside the wanted one, which takes its name at the very end; a refusal
leaves nothing behind. Zip (wheels too) and tar (plain, gzip, bzip2, xz) are told apart by their content.
"""

import io
import os
import re
import shutil
import stat
import struct
import tempfile
import unicodedata
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Literal

from holdfast.errors import ToolError
from holdfast.search.downloads.failures import cancelled
from holdfast.search.downloads.tar import TarError, decompressed, read_tar

if TYPE_CHECKING:
    from holdfast.search.index_writer import Stop

__all__ = ["PREVIOUS_PREFIX", "UNPACK_PREFIX", "Limits", "discard", "is_archive", "swap_in", "unpack"]

UNPACK_PREFIX = (
    ".holdfast-unpack-"  # of a directory that is being filled; what a killed call left behind has it too
)
PREVIOUS_PREFIX = ".holdfast-previous-"  # of a directory that makes way for a new one
_PIECE = 1 << 16
_FREE = 1 << 20  # bytes before the ratio counts: a small text may well shrink to a thousandth
_LARGEST_DIRECTORY = 4 << 20  # bytes of the list of entries of a zip archive
_DEEPEST, _LONGEST_PART = 64, 255
_DRIVE = re.compile(r"[A-Za-z]:")
_NO_FILE = "give an archive that holds what is wanted"
_READABLE = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_ENCRYPTED = 0x1
# What the readers raise for content that is not what it says.
_DAMAGED = (
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    TarError,
    NotImplementedError,
    MemoryError,
    ValueError,
    struct.error,
)
_ZIP_STARTS = (b"PK\x03\x04", b"PK\x05\x06")
_COMPRESSED = {b"\x1f\x8b": "gzip", b"BZh": "bzip2", b"\xfd7zXZ\0": "xz"}


@dataclass(frozen=True, slots=True)
class Limits:
    """How much an archive may hold."""

    total: int = 200 << 20
    entry: int = 50 << 20
    entries: int = 2048
    ratio: int = 200


def is_archive(path: Path) -> bool:
    """Whether the content of a file is that of an archive, whatever its name is."""
    with path.open("rb") as file:
        start = file.read(_PIECE)
    return start.startswith((*_ZIP_STARTS, *_COMPRESSED)) or start[257:262] == b"ustar"


def unpack(archive: Path, directory: Path, *, limits: Limits | None = None, stop: "Stop") -> list[str]:
    """Unpack into `directory`, replacing what is there; the paths of the files in it, sorted, at least one."""
    made = Path(tempfile.mkdtemp(prefix=UNPACK_PREFIX, dir=directory.parent))
    try:
        room = _Room(made, limits or Limits(), archive.stat().st_size, stop)
        with _Archive(archive) as file:
            _fill(file, room)
        if not room.files:  # nothing must not take the place of something
            raise ToolError("INVALID_REQUEST", "there is no file in the archive", hint=_NO_FILE)
        swap_in(made, directory)
    finally:
        shutil.rmtree(made, ignore_errors=True)
    return sorted(room.files)


def swap_in(made: Path, directory: Path) -> None:
    """Give a finished directory its name. Should we die in between, the old one is there under another one."""
    if not os.path.lexists(directory):
        made.rename(directory)
        return
    if directory.is_symlink() or not directory.is_dir():
        message = f"{directory.name} is a link or no directory, and is left as it is"
        raise ToolError("FORBIDDEN", message, details={"path": str(directory)}, hint="move it away")
    previous = directory.with_name(PREVIOUS_PREFIX + directory.name)
    discard(previous)
    directory.rename(previous)
    try:
        made.rename(directory)
    except OSError:
        previous.rename(directory)
        raise
    discard(previous)


def discard(directory: Path) -> None:
    """Remove a directory of ours, were it even write-protected; of a link, the link alone."""
    if directory.is_symlink() or directory.is_file():
        directory.unlink()
        return
    with suppress(OSError):  # of another owner: what can be removed is
        directory.chmod(0o700)
        for root, names, _ in os.walk(directory):
            for path in (Path(root, name) for name in names):
                if not path.is_symlink():
                    path.chmod(0o700)
    shutil.rmtree(directory, ignore_errors=True)


def _fill(file: "_Archive", room: "_Room") -> None:
    is_zip = file.read(4) in _ZIP_STARTS
    file.seek(0)
    try:
        if is_zip:
            _unpack_zip(file, room)
        else:
            _unpack_tar(file, room)
    except _DAMAGED as error:
        raise ToolError("ARCHIVE_UNSAFE", f"the archive is damaged: {str(error)[:200]}") from error


def _unpack_zip(file: "_Archive", room: "_Room") -> None:
    with zipfile.ZipFile(file) as archive:
        entries = archive.infolist()
        room.expect(len(entries))
        for entry in entries:
            name = entry.orig_filename  # `filename` ends where there is a NUL
            mode = entry.external_attr >> 16
            if stat.S_IFMT(mode) not in (0, stat.S_IFREG, stat.S_IFDIR):
                raise _unsafe("it is a link or a device", name)
            if entry.flag_bits & _ENCRYPTED or entry.compress_type not in _READABLE:
                raise _unsafe("it is encrypted or compressed in an unusual way", name)
            if name.endswith("/") or stat.S_ISDIR(mode):
                room.add(name, "directory", iter(()))
            else:
                with archive.open(entry) as content:
                    room.add(name, "file", _metered(content, room))


def _metered(content: IO[bytes], room: "_Room") -> Iterator[bytes]:
    while piece := content.read(_PIECE):
        room.count(len(piece))
        yield piece


class _Archive(io.BufferedReader):
    """The file of an archive, for readers that go wherever it tells them to, and read as much."""

    def __init__(self, path: Path) -> None:
        super().__init__(io.FileIO(path))

    def read(self, size: int | None = -1, /) -> bytes:
        """As always, though not as much at once as a long list of entries asks for."""
        if size is not None and size > _LARGEST_DIRECTORY:
            raise _too_large("its list of entries is too long", _LARGEST_DIRECTORY)
        return super().read(size)

    def seek(self, target: int, whence: int = os.SEEK_SET, /) -> int:
        """As always; nowhere outside of the file is a place to go."""
        try:
            return super().seek(target, whence)
        except (OSError, ValueError, OverflowError) as error:
            raise _OutsideError("it points outside of itself") from error


class _OutsideError(zipfile.BadZipFile, OSError):
    """A place outside of the archive; of one that a reader only tries, it expects the refusal of the system."""


def _unpack_tar(file: IO[bytes], room: "_Room") -> None:
    content = decompressed(file)
    number, first = 0, b""

    def read(size: int) -> bytes:
        nonlocal first
        try:
            piece = content(size)
        except (OSError, ValueError) as error:  # what gzip and bzip2 raise for content that is not theirs
            raise TarError(str(error)) from error
        room.count(len(piece))
        first = first or piece
        return piece

    try:
        for number, entry in enumerate(read_tar(read), 1):
            room.expect(number)
            name = entry.name.decode("utf-8", "surrogateescape")
            if entry.kind == "link" or entry.kind == "special":
                raise _unsafe("it is a link or a device", name)
            room.add(name, entry.kind, entry.pieces)
    except _lzma_error() as error:
        raise TarError(str(error)) from error
    except TarError as error:
        if not number and first and first[257:262] != b"ustar":
            _refuse_single(file, error)
        raise


def _refuse_single(file: IO[bytes], error: TarError) -> None:
    """What is compressed though no archive is a single file, which is another kind of thing."""
    file.seek(0)
    start = file.read(6)
    for mark, kind in _COMPRESSED.items():
        if start.startswith(mark):
            message = f"this is a single file compressed with {kind}, which is not supported"
            hint = "give the file as it is, or in a zip or tar archive"
            raise ToolError("INVALID_REQUEST", message, hint=hint) from error


def _lzma_error() -> type[Exception]:
    import lzma

    return lzma.LZMAError


class _Room:
    """Where entries go, and what is left of the limits."""

    def __init__(self, root: Path, limits: Limits, archive_size: int, stop: "Stop") -> None:
        self.files: list[str] = []
        self._root = root
        self._limits = limits
        self._most = min(limits.total, max(_FREE, archive_size * limits.ratio))
        self._stop = stop
        self._total = 0
        self._taken: dict[str, str] = {}  # folded path: "file" or "directory"

    def expect(self, entries: int) -> None:
        """So many entries there are, or are at least."""
        if entries > self._limits.entries:
            raise _too_large("it has too many entries", self._limits.entries)

    def count(self, size: int) -> None:
        """So many bytes came out of the archive."""
        if self._stop():
            raise cancelled()
        self._total += size
        if self._total > self._most:
            raise _too_large("its content is too large, or too large for its size", self._most)

    def add(self, name: str, kind: Literal["file", "directory"], pieces: Iterator[bytes]) -> None:
        """Judge an entry and write it."""
        parts = _parts(name)
        if not parts and kind == "file":
            raise _unsafe("it has no name", name)
        self._take(parts, kind, name)
        path = self._root.joinpath(*parts)
        if kind == "directory":
            path.mkdir(parents=True, exist_ok=True)
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        size = 0
        with path.open("xb") as out:
            for piece in pieces:
                size += len(piece)
                if size > self._limits.entry:
                    raise _too_large("an entry is too large", self._limits.entry, name)
                out.write(piece)
            out.flush()
            os.fsync(out.fileno())
        self.files.append("/".join(parts))

    def _take(self, parts: list[str], kind: str, name: str) -> None:
        """Names that some file systems hold for the same must not come twice."""
        folded = [unicodedata.normalize("NFC", part).casefold() for part in parts]
        for depth in range(1, len(folded)):
            if self._taken.setdefault("/".join(folded[:depth]), "directory") != "directory":
                raise _unsafe("it lies below a file", name)
        path = "/".join(folded)
        if path in self._taken and not kind == self._taken[path] == "directory":
            raise _unsafe("its name comes twice", name)
        self._taken[path] = kind


def _parts(name: str) -> list[str]:
    """The parts of a path that stays inside; an error for every other one."""
    if not name or "\\" in name or name.startswith("/") or _DRIVE.match(name):
        raise _unsafe("its path is absolute or not portable", name)
    if any(ord(character) < 32 or 0x7F <= ord(character) < 0xA0 for character in name):
        raise _unsafe("its name has control characters", name)
    parts = [part for part in name.split("/") if part not in ("", ".")]
    if ".." in parts:
        raise _unsafe("its path leaves the archive", name)
    try:
        too_long = any(len(part.encode()) > _LONGEST_PART for part in parts)
    except UnicodeEncodeError as error:
        raise _unsafe("its name is not text", name) from error
    if too_long or len(parts) > _DEEPEST:
        raise _unsafe("its path is too long", name)
    return parts


def _unsafe(why: str, entry: str) -> ToolError:
    shown = entry[:200].encode("utf-8", "backslashreplace").decode()
    return ToolError("ARCHIVE_UNSAFE", f"an entry of the archive is refused: {why}", details={"entry": shown})


def _too_large(why: str, limit: int, entry: str | None = None) -> ToolError:
    details = {"limit": limit} | ({} if entry is None else {"entry": entry[:200]})
    return ToolError("ARCHIVE_TOO_LARGE", f"the archive is refused: {why}", details=details)
