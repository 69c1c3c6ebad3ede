"""What the extraction finds in a small file."""

from holdfast.search.extract.code import extract
from holdfast.search.model import Chunk, Extraction

__all__ = ["definitions_in", "definitions_of"]


def definitions_of(language: str, source: str | bytes, path: str = "a") -> list[Chunk]:
    """The definitions of a file, in their order."""
    return definitions_in(extract(language, path, source.encode() if isinstance(source, str) else source))


def definitions_in(found: Extraction) -> list[Chunk]:
    """The definitions among the chunks of a file: its code, but for the chunk of the file itself."""
    return [chunk for chunk in found.chunks if chunk.mode == "code" and chunk.kind != "module"]
