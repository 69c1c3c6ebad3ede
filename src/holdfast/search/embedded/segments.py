"""A stretch of code inside of another file, and what its own language says of it.

Every segment is read by itself and its chunks are then moved to where it stands, so a file with many of them costs
no more than their sizes together. A segment that cannot be read costs itself, and a remark.
"""

import re
from collections.abc import Callable, Iterable
from typing import NamedTuple

from holdfast.search.discover.kinds import kind_of_language
from holdfast.search.languages import available
from holdfast.search.model import Chunk, Extraction

__all__ = ["INK", "Judge", "Segment", "blanked", "extract_segments", "is_code"]

_MOST_SEGMENTS = 5_000
INK = re.compile(rb"[^\r\n]")  # everything but the ends of lines

Judge = Callable[[str, bytes, list[Chunk]], None]  # fills in what the risk rules say of the chunks of a text


class Segment(NamedTuple):
    """Code in a file: its language, where it begins, and its text.

    The text is as long as what stands in the file; what is not code, such as the marks of a quotation, is blank.
    """

    language: str
    start: int
    text: bytes

    @property
    def end(self) -> int:
        """The byte behind it."""
        return self.start + len(self.text)


def is_code(language: str) -> bool:
    """Whether a segment of this language (an id, or "" for an unknown one) is code, and no prose or log."""
    return bool(language) and kind_of_language(language).mode == "code"


def blanked(source: bytes, segments: Iterable[Segment]) -> bytes:
    """The text around the segments: blanks stand where they were, and the lines stay the same."""
    kept, at = [], 0
    for segment in segments:
        kept += [source[at : segment.start], INK.sub(b" ", source[segment.start : segment.end])]
        at = segment.end
    return b"".join([*kept, source[at:]])


def extract_segments(path: str, source: bytes, segments: list[Segment], judge: Judge) -> Extraction:
    """The chunks of all segments with their places in the file, each with its language."""
    found = Extraction([])
    line = at = 0
    for number, segment in enumerate(segments):
        line += source.count(b"\n", at, segment.start)
        at = segment.start
        try:
            inner = _extract(segment, path) if number < _MOST_SEGMENTS else _as_text(segment, path)
            _count_lines_from(line, inner.chunks)  # first, because the rules note lines
            judge(segment.language, segment.text, inner.chunks)
        except MemoryError:
            raise
        except Exception as trouble:  # noqa: BLE001 - what goes wrong in there concerns this segment alone
            inner = _as_text(segment, path)
            _count_lines_from(line, inner.chunks)
            found.remarks.append(f"line {line + 1}: {segment.language} is plain text ({type(trouble).__name__})")
        for chunk in inner.chunks:
            _move(chunk, segment)
        found.chunks += inner.chunks
        found.imports += inner.imports
        found.exports += inner.exports
        found.remarks += (f"line {line + 1}, {segment.language}: {remark}" for remark in inner.remarks)
    if len(segments) > _MOST_SEGMENTS:
        found.remarks.append(f"after the first {_MOST_SEGMENTS}, pieces of code in it are plain text")
    found.imports = list(dict.fromkeys(found.imports))
    found.exports = list(dict.fromkeys(found.exports))
    return found


def _extract(segment: Segment, path: str) -> Extraction:
    if available(segment.language):
        from holdfast.search.extract.code import extract

        return extract(segment.language, path, segment.text)
    return _as_text(segment, path)


def _as_text(segment: Segment, path: str) -> Extraction:
    from holdfast.search.windows import extract_windows

    return extract_windows(segment.language, path, segment.text)


def _count_lines_from(lines: int, chunks: list[Chunk]) -> None:
    for chunk in chunks:
        chunk.start_line += lines
        chunk.end_line += lines
        for site in chunk.call_sites:
            site.line += lines
        for write in chunk.written:
            write.line += lines


def _move(chunk: Chunk, segment: Segment) -> None:
    chunk.language = segment.language
    chunk.start += segment.start
    chunk.end += segment.start
    # They are places in the segment, and the rules have looked at them already.
    chunk.call_sites = []
    chunk.written = []
