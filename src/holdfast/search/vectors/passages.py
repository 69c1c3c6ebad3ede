"""Which text of a chunk is turned into a vector: the words of its name and of its path, then how it begins.

Names are split into words, as a person would ask for them; what follows is left as it is written, since the model
has read code as well. A changed recipe is a changed `RECIPE`: then every vector is made anew.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from holdfast.search.store.reader import StoreReader

__all__ = ["RECIPE", "Passage", "passage", "passages_of"]

RECIPE = 1
_LONGEST = 1000  # characters of a chunk; a model reads fewer tokens than that
_SEAM = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|_+")
_NAME = re.compile(r"\w+")


class Passage(NamedTuple):
    """A chunk and the text that stands for it."""

    chunk: int
    file: int
    mode: str
    text: str


def passage(name: str, path: str, text: str) -> str:
    """The text that stands for a chunk."""
    return f"{_words(name)}\n{_words(path)}\n{text[:_LONGEST]}"


def passages_of(store: StoreReader, file: int, path: str, mode: str) -> Iterator[Passage]:
    """The passages of the chunks of a file that are of one mode."""
    rows = [row for row in store.chunks_of(file) if row.mode == mode]
    if not rows:
        return
    source = store.text(file)
    details = {} if source else store.details([row.id for row in rows])  # of a document only its texts are kept
    for row in rows:
        if source:
            text = source[row.start : row.end][: 4 * _LONGEST].decode("utf-8", "replace")
        else:
            text = str(details[row.id].get("text", ""))
        yield Passage(row.id, file, row.mode, passage(row.name, path, text))


def _words(name: str) -> str:
    found = (part for whole in _NAME.findall(name) for part in _SEAM.split(whole))
    return " ".join(filter(None, found))
