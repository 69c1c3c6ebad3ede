"""A strict, streaming reader of tar archives: files and directories, in bounded memory.

The reader of the standard library believes sizes in headers, which reserves memory and, in some versions,
loops; and it understands much more than a download needs. Here everything unusual is told as such, so that it
can be refused. Names are not judged here, and nothing is written.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import IO, Literal

__all__ = ["TarEntry", "TarError", "decompressed", "read_tar"]

_BLOCK = 512
_PIECE = 1 << 16
_LARGEST_EXTRA = (
    1 << 20
)  # bytes of a long name or of attributes, which stand before the header that they belong to
_MOST_EXTRAS = 8  # of them for one entry
_KINDS: dict[bytes, Literal["file", "directory"]] = {
    b"0": "file", b"\0": "file", b"7": "file", b"5": "directory",
}  # fmt: skip
_LINKS = (b"1", b"2")
_LONG_NAME, _LONG_LINK, _RECORDS, _GLOBAL_RECORDS = b"L", b"K", b"x", b"g"
_EXTRAS = (_LONG_NAME, _LONG_LINK, _RECORDS, _GLOBAL_RECORDS)


class TarError(Exception):
    """The archive is damaged; says how."""


@dataclass(frozen=True, slots=True)
class TarEntry:
    """One entry. The content of a file comes once, and is skipped if nobody asks for it."""

    name: bytes
    kind: Literal["file", "directory", "link", "special"]
    pieces: Iterator[bytes]


def decompressed(file: IO[bytes]) -> Callable[[int], bytes]:
    """What reads the content of a file that is compressed with gzip, bzip2 or xz, or not at all."""
    start = file.read(6)
    file.seek(0)
    if start.startswith(b"\x1f\x8b"):
        import gzip

        return gzip.GzipFile(fileobj=file).read
    if start.startswith(b"BZh"):
        import bz2

        return bz2.BZ2File(file).read
    if start == b"\xfd7zXZ\0":
        import lzma

        return lzma.LZMAFile(file).read
    return file.read


def read_tar(read: Callable[[int], bytes]) -> Iterator[TarEntry]:
    """The entries in their order. `read` gives as many bytes as it is asked for, fewer only at the end."""
    while (header := _next_header(read)) is not None:
        content = _Content(read, header.size)
        yield TarEntry(header.name, header.kind, content.pieces())
        content.skip()
    while read(_PIECE):  # so that a checksum at the very end is looked at as well
        pass


@dataclass(frozen=True, slots=True)
class _Header:
    name: bytes
    kind: Literal["file", "directory", "link", "special"]
    size: int


def _next_header(read: Callable[[int], bytes]) -> _Header | None:
    """The next entry with what stands before it; None at the end mark."""
    long_name: bytes | None = None
    records: dict[bytes, bytes] = {}
    for _ in range(_MOST_EXTRAS):
        block = _exactly(read, _BLOCK)
        if block == bytes(_BLOCK):
            return None
        _check_sum(block)
        size, kind = _number(block[124:136]), block[156:157]
        if kind not in _EXTRAS:
            if b"size" in records:
                size = _decimal(records[b"size"])
            known = _KINDS.get(kind) or ("link" if kind in _LINKS else "special")
            return _Header(records.get(b"path", long_name or _plain_name(block)), known, size)
        extra = _extra(read, size)
        if kind == _LONG_NAME:
            long_name = extra.split(b"\0", 1)[0]
        elif kind == _RECORDS:
            records = _records(extra)
            if any(key.startswith(b"GNU.sparse") for key in records):
                raise TarError("it has sparse files")
        elif kind == _GLOBAL_RECORDS and {b"path", b"size"} & _records(extra).keys():
            raise TarError("it gives all entries one name or size")
    raise TarError("it has too many headers for one entry")


class _Content:
    """What follows a header."""

    def __init__(self, read: Callable[[int], bytes], size: int) -> None:
        self._read = read
        self._left = size
        self._padding = -size % _BLOCK

    def pieces(self) -> Iterator[bytes]:
        while self._left:
            piece = _exactly(self._read, min(self._left, _PIECE))
            self._left -= len(piece)
            yield piece

    def skip(self) -> None:
        for _ in self.pieces():
            pass
        _exactly(self._read, self._padding)


def _exactly(read: Callable[[int], bytes], size: int) -> bytes:
    block = read(size) if size else b""
    if len(block) != size:
        raise TarError("it ends in the middle")
    return block


def _extra(read: Callable[[int], bytes], size: int) -> bytes:
    if size > _LARGEST_EXTRA:
        raise TarError("a header is too large")
    content = _exactly(read, size)
    _exactly(read, -size % _BLOCK)
    return content


def _check_sum(block: bytes) -> None:
    if _number(block[148:156]) != sum(block) - sum(block[148:156]) + 8 * ord(" "):
        raise TarError("the checksum of a header is wrong, or it is no tar archive")


def _number(field: bytes) -> int:
    """An octal number, or a binary one where it is larger than octal digits can tell."""
    if field[0] == 0x80:  # the mark of a positive binary number
        return int.from_bytes(field[1:], "big")
    digits = field.strip(b" \0")
    if any(digit not in b"01234567" for digit in digits):
        raise TarError("a number in a header is none")
    return int(digits or b"0", 8)


def _decimal(text: bytes) -> int:
    if not text.isdigit() or len(text) > 18:  # an exabyte is enough
        raise TarError("a number in a header is none")
    return int(text)


def _plain_name(block: bytes) -> bytes:
    name = block[:100].split(b"\0", 1)[0]
    prefix = block[345:500].split(b"\0", 1)[0] if block[257:263] == b"ustar\0" else b""
    return prefix + b"/" + name if prefix else name


def _records(text: bytes) -> dict[bytes, bytes]:
    """Attributes as `LENGTH KEY=VALUE` lines, where the length counts the whole line."""
    records = {}
    while text:
        length_text, _, _ = text.partition(b" ")
        length = _decimal(length_text)
        line = text[len(length_text) + 1 : length]
        key, mark, value = line.partition(b"=")
        if length <= len(length_text) or length > len(text) or not mark or not line.endswith(b"\n"):
            raise TarError("the attributes of an entry are damaged")
        records[key] = value[:-1]
        text = text[length:]
    return records
