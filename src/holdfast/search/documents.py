"""The text of PDF and DOCX files, for searching. Layout, pictures and tables as such are not kept.

A document comes from anywhere, so nothing in it is believed: sizes are bounded while it is unpacked, XML that
declares a document type or entities is refused, and whatever goes wrong is one `DocumentRefused` with its reason.
A DOCX needs the standard library only; a PDF needs `pypdf`, which is an extra.
"""

import re
import struct
import zipfile
import zlib
from collections.abc import Iterator
from importlib import import_module
from io import BytesIO
from pathlib import PurePosixPath
from typing import Any
from xml.parsers import expat

from holdfast.errors import HoldfastError
from holdfast.search.decode import LineTable
from holdfast.search.model import Chunk, Extraction

__all__ = ["DocumentRefused", "extract_document"]

_MAX_FILE_BYTES = 64 * 1024 * 1024
_MAX_XML_BYTES = 64 * 1024 * 1024
_MAX_TEXT = 8 * 1024 * 1024
_MAX_ENTRIES = 10_000
_MAX_PAGES = 5_000
_MAX_NESTING = 500
_READ_BYTES = 64 * 1024
_CHUNK_LINES = 120
_DOC_LENGTH = 300
_TITLE_LENGTH = 160
_LONGEST_REASON = 120

_NEEDS_EXTRA = "needs the extra: pip install 'holdfast[documents]'"
_COMPOUND_FILE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"  # how Office wraps what has a password


class DocumentRefused(HoldfastError):  # noqa: N818 - it names what happened, as the reason of a skipped file does
    """A document whose text cannot be had; `reason` says why in a few words."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def extract_document(path: str, data: bytes) -> tuple[bytes, Extraction]:
    """The text of all parts one after another, and chunks of kind `page` or `section` with their places in it."""
    suffix = PurePosixPath(path).suffix.lower()
    kind = "page" if suffix == ".pdf" else "section"
    parts = _document_text(suffix, data)
    texts = [text.strip("\n") + "\n\n" for _, text in parts]
    table = LineTable("".join(texts).encode("utf-8", "replace"))
    chunks: list[Chunk] = []
    first = 0
    for (label, _), text in zip(parts, texts, strict=True):
        last = first + text.count("\n")
        doc = " ".join(text[: 4 * _DOC_LENGTH].split())[:_DOC_LENGTH]
        for span in table.cut(first, last, _CHUNK_LINES):
            name = label or PurePosixPath(path).name
            chunks.append(Chunk("extracted-prose", kind, name, *span, doc=doc))
            doc = ""
        first = last
    remarks = [] if chunks else ["no text in it"]  # e.g. pages that are pictures
    return table.source, Extraction(chunks, remarks=remarks)


# PDF


def _document_text(path_suffix: str, data: bytes) -> list[tuple[str, str]]:
    """Label and text of each part: `page 3` of a PDF, the path of headings of a DOCX ("" above the first one)."""
    reader = {".pdf": _pdf_text, ".docx": _docx_text}.get(path_suffix.lower())
    if reader is None:
        raise DocumentRefused(f"no reader for {path_suffix or 'files without a suffix'}")
    if len(data) > _MAX_FILE_BYTES:
        raise DocumentRefused(f"larger than {_MAX_FILE_BYTES // 1024**2} MiB")
    return [(label, text) for label, text in reader(data) if text.strip()]


def _pdf_text(data: bytes) -> list[tuple[str, str]]:
    try:
        pypdf = import_module("pypdf")
    except ImportError:
        raise DocumentRefused(_NEEDS_EXTRA) from None
    import logging

    # It tells every oddity of a file to whoever listens, which by default is the terminal.
    logger = logging.getLogger("pypdf")
    level = logger.level
    logger.setLevel(logging.CRITICAL + 1)
    try:
        return _pdf_pages(pypdf, data)
    except DocumentRefused:
        raise
    except Exception as error:  # noqa: BLE001 - a broken file may raise anything in there
        raise DocumentRefused(f"not a readable PDF: {_in_words(error)}") from None
    finally:
        logger.setLevel(level)


def _pdf_pages(pypdf: Any, data: bytes) -> list[tuple[str, str]]:
    reader = pypdf.PdfReader(BytesIO(data))
    if reader.is_encrypted:
        raise DocumentRefused("encrypted")
    if len(reader.pages) > _MAX_PAGES:
        raise DocumentRefused(f"more than {_MAX_PAGES} pages")
    pages: list[tuple[str, str]] = []
    size = 0
    for number, page in enumerate(reader.pages, start=1):
        text = _printable(page.extract_text() or "")
        size += len(text)
        if size > _MAX_TEXT:
            raise DocumentRefused(f"more than {_MAX_TEXT // 1024**2} MiB of text")
        pages.append((f"page {number}", text))
    return pages


# Of lines, only newlines are kept: pieces of text may hold anything, and a form feed is not one.
_UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]")


def _printable(text: str) -> str:
    return _UNPRINTABLE.sub(" ", text.replace("\r\n", "\n").replace("\r", "\n"))


# DOCX


def _docx_text(data: bytes) -> list[tuple[str, str]]:
    if data.startswith(_COMPOUND_FILE):
        raise DocumentRefused("encrypted, or a document of an older format")
    try:
        with zipfile.ZipFile(BytesIO(data)) as archive:
            if len(archive.infolist()) > _MAX_ENTRIES:
                raise DocumentRefused(f"more than {_MAX_ENTRIES} files in the archive")
            names = set(archive.namelist())
            styles = _Styles()
            if "word/styles.xml" in names:
                _parse(archive, "word/styles.xml", styles)
            if "word/document.xml" not in names:
                raise DocumentRefused("not a DOCX: word/document.xml is missing")
            body = _Body(styles.levels)
            _parse(archive, "word/document.xml", body)
            return body.finished()
    except zipfile.BadZipFile as error:
        raise DocumentRefused(f"not a readable DOCX: {error}") from None
    except (
        zlib.error,
        struct.error,
        EOFError,
        OSError,
        ValueError,
        NotImplementedError,
        RuntimeError,
        MemoryError,
    ) as error:
        raise DocumentRefused(f"not a readable DOCX: {_in_words(error)}") from None


def _in_words(error: BaseException) -> str:
    """What a library says about a file, on one short line; the name of its error where it says nothing."""
    return " ".join(str(error).split())[:_LONGEST_REASON] or type(error).__name__


class _Styles:
    """Reads which paragraph styles are headings; their names are English in every language of Word."""

    def __init__(self) -> None:
        self.levels: dict[str, int] = {}
        self._style = ""

    def start(self, name: str, attributes: dict[str, str]) -> None:
        """An element begins."""
        value = attributes.get("val", "")
        if name == "style":
            self._style = attributes.get("styleId", "")
        elif name == "name" and self._style:
            level = _heading_level(value)
            if level:
                self.levels[self._style] = level
        elif name == "outlineLvl" and self._style and value.isdecimal() and int(value[:2]) < 9:
            self.levels.setdefault(self._style, int(value[:2]) + 1)

    def end(self, name: str) -> None:
        """An element ends."""
        if name == "style":
            self._style = ""

    def text(self, data: str) -> None:
        """Text between two tags, which says nothing here."""


def _heading_level(style: str) -> int:
    plain = style.lower().replace(" ", "")
    if plain == "title":
        return 1
    number = plain.removeprefix("heading")
    return int(number) if plain != number and number in {*"123456789"} else 0


class _Body:
    """Reads the paragraphs of a document into sections by their headings."""

    def __init__(self, levels: dict[str, int]) -> None:
        self._levels = levels
        self._path: list[tuple[int, str]] = []
        self._sections: list[tuple[str, list[str]]] = [("", [])]
        self._paragraph: list[str] = []
        self._level = 0
        self._in_text = False
        self._size = 0

    def start(self, name: str, attributes: dict[str, str]) -> None:
        """An element begins."""
        value = attributes.get("val", "")
        if name == "p":
            self._level = 0
        elif name == "t":
            self._in_text = True
        elif name == "tab" and not attributes:  # one with attributes is a tab stop
            self._paragraph.append("\t")
        elif name in {"br", "cr"}:
            self._paragraph.append("\n")
        elif name == "pStyle":
            self._level = self._levels.get(value) or _heading_level(value)
        elif name == "outlineLvl" and value.isdecimal() and int(value[:2]) < 9:
            self._level = int(value[:2]) + 1

    def end(self, name: str) -> None:
        """An element ends."""
        if name == "t":
            self._in_text = False
        elif name == "p":
            self._close_paragraph()

    def text(self, data: str) -> None:
        """Text between two tags."""
        if self._in_text:
            self._paragraph.append(data)
            self._size += len(data)
            if self._size > _MAX_TEXT:
                raise DocumentRefused(f"more than {_MAX_TEXT // 1024**2} MiB of text")

    def finished(self) -> list[tuple[str, str]]:
        """The sections, each with its heading as the first line."""
        return [(label, "\n".join(paragraphs)) for label, paragraphs in self._sections]

    def _close_paragraph(self) -> None:
        text = _printable("".join(self._paragraph))
        self._paragraph.clear()
        title = " ".join(text[:2000].split())[:_TITLE_LENGTH]
        if self._level and title:
            while self._path and self._path[-1][0] >= self._level:
                self._path.pop()
            self._path.append((self._level, title))
            self._sections.append((" > ".join(name for _, name in self._path), []))
        self._sections[-1][1].append(text)
        self._level = 0


def _parse(archive: zipfile.ZipFile, name: str, reader: _Styles | _Body) -> None:
    """Feeds an XML file of the archive to a reader, piece by piece, within bounds."""
    entry = archive.getinfo(name)
    if entry.flag_bits & 1:
        raise DocumentRefused("encrypted")
    if entry.compress_type not in {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}:
        raise DocumentRefused("not a readable DOCX: packed in an unusual way")
    parser = _safe_parser(reader)
    try:
        for piece in _pieces(archive, entry):
            parser.Parse(piece, False)  # noqa: FBT003 - expat takes it by position only
        parser.Parse(b"", True)  # noqa: FBT003
    except expat.ExpatError as error:
        raise DocumentRefused(f"not a readable DOCX: {expat.ErrorString(error.code)} in {name}") from None


def _pieces(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> Iterator[bytes]:
    # What the archive says about its sizes may be a lie, so what really comes out is counted.
    size = 0
    with archive.open(entry) as stream:
        while piece := stream.read(_READ_BYTES):
            size += len(piece)
            if size > _MAX_XML_BYTES:
                raise DocumentRefused(f"unpacks to more than {_MAX_XML_BYTES // 1024**2} MiB")
            yield piece


def _safe_parser(reader: _Styles | _Body) -> expat.XMLParserType:
    parser = expat.ParserCreate(namespace_separator=" ")
    depth = 0

    def start(name: str, attributes: dict[str, str]) -> None:
        nonlocal depth
        depth += 1
        if depth > _MAX_NESTING:
            raise DocumentRefused(f"XML nested deeper than {_MAX_NESTING}")
        reader.start(name.rpartition(" ")[2], {key.rpartition(" ")[2]: value for key, value in attributes.items()})

    def end(name: str) -> None:
        nonlocal depth
        depth -= 1
        reader.end(name.rpartition(" ")[2])

    def refuse(*_: object) -> None:
        # No office program writes one, and entities are how a few bytes become gigabytes.
        raise DocumentRefused("declares a document type")

    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = reader.text
    parser.StartDoctypeDeclHandler = refuse
    parser.EntityDeclHandler = refuse
    parser.buffer_text = True
    return parser
