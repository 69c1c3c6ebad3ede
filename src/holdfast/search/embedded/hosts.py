"""A host file as a whole: its own text as it always was, and the code inside of it.

Sections of Markdown keep their fences; of pages, components and notebooks the text around the code is searched
without it. What a section is called introduces the code in it that has no name of its own.
"""

from bisect import bisect_right

from holdfast.search.embedded.markdown import fenced_code
from holdfast.search.embedded.markup import scripts_and_styles
from holdfast.search.embedded.notebook import Notebook, read_notebook
from holdfast.search.embedded.segments import Judge, Segment, blanked, extract_segments
from holdfast.search.model import Chunk, Extraction
from holdfast.search.prose import extract_prose
from holdfast.search.windows import extract_windows

__all__ = ["extract_host"]


def extract_host(language: str, path: str, source: bytes, judge: Judge) -> tuple[bytes, Extraction]:
    """The text that positions count in, and all chunks; `judge` is given the chunks of each piece of code.

    The text is the source, except for notebooks, of which only the cells are kept.
    """
    if language == "notebook":
        notebook = read_notebook(source)
        if notebook is not None:
            return notebook.text, _of_notebook(path, notebook, judge)
        return source, extract_windows("json", path, source)
    if language == "markdown":
        return source, _of_markdown(path, source, judge)
    segments = scripts_and_styles(language, source)
    if not segments:
        return source, extract_windows(language, path, source)
    found = extract_segments(path, source, segments, judge)
    around = blanked(source, segments)
    found.chunks += _only_around(extract_windows(language, path, around).chunks, source, around)
    return source, _in_order(found)


def _of_markdown(path: str, source: bytes, judge: Judge) -> Extraction:
    prose = extract_prose("markdown", path, source)
    segments = fenced_code(source)
    if not segments:
        return prose
    found = _examples(path, source, segments, judge)
    _introduce(found.chunks, prose.chunks)
    found.chunks += prose.chunks
    return _in_order(found)


def _examples(path: str, source: bytes, segments: list[Segment], judge: Judge) -> Extraction:
    """Code that is shown in a text: it may be a fragment, and offers nothing to other files."""
    found = extract_segments(path, source, segments, judge)
    found.remarks = [remark for remark in found.remarks if "syntax error" not in remark]
    found.exports = []
    return found


def _of_notebook(path: str, notebook: Notebook, judge: Judge) -> Extraction:
    text = notebook.text
    around = blanked(text, notebook.code)
    fences = fenced_code(around)
    segments = sorted([*notebook.code, *fences], key=lambda segment: segment.start)
    found = _examples(path, text, segments, judge)
    prose = _only_around(extract_prose("markdown", path, around).chunks, text, around)
    for chunk in prose:
        chunk.language = "markdown"
    _introduce(found.chunks, prose)
    found.chunks += prose
    for chunk in found.chunks:
        chunk.start_line = notebook.lines[chunk.start_line - 1]
        chunk.end_line = notebook.lines[chunk.end_line - 1]
    found.remarks += notebook.remarks
    return _in_order(found)


def _only_around(chunks: list[Chunk], source: bytes, around: bytes) -> list[Chunk]:
    """The chunks, searched by what stands around the code, though their range may hold some."""
    for chunk in chunks:
        own = around[chunk.start : chunk.end]
        if chunk.text is None and own != source[chunk.start : chunk.end]:
            chunk.text = own.decode("utf-8", "replace")
    return chunks


def _introduce(code: list[Chunk], sections: list[Chunk]) -> None:
    starts = [section.start for section in sections]
    for chunk in code:
        at = bisect_right(starts, chunk.start) - 1
        if at >= 0 and chunk.kind in ("module", "block") and not chunk.doc:
            chunk.doc = sections[at].name


def _in_order(found: Extraction) -> Extraction:
    found.chunks.sort(key=lambda chunk: (chunk.start, -chunk.end))
    return found
