"""The yardstick: BM25 over plain words of functions and classes, in memory, as simple as it can be done well.

Words are `\\w+`, lower-cased; only the text of the definition counts, not its path. The text of a class has its
methods in it, although they are chunks of their own: without them the yardstick does a little worse.
"""

import heapq
import math
import re
from array import array
from collections import Counter, defaultdict
from pathlib import Path

from benchmarks.search.known_item import read
from benchmarks.search.model import Hit

__all__ = ["PlainBM25"]

WORD = re.compile(r"\w+")
K1, B = 1.2, 0.75


class PlainBM25:
    """An inverted index over the definitions of a tree; a posting holds the ready weight of a word in a chunk."""

    def __init__(self, folder: Path) -> None:
        self.hits: list[Hit] = []
        self.lengths = array("I")
        self.chunks: dict[str, array[int]] = defaultdict(lambda: array("I"))
        self.weights: dict[str, array[float]] = defaultdict(lambda: array("f"))
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                self._add_file(str(path.relative_to(folder)), path.read_bytes())
        self._weigh()

    def search(self, query: str, top: int = 10) -> list[Hit]:
        """The best chunks for the words of a query; the order of ties is that of the files."""
        scores: dict[int, float] = defaultdict(float)
        for word, times in Counter(WORD.findall(query.lower())).items():
            if word in self.chunks:
                for chunk, weight in zip(self.chunks[word], self.weights[word], strict=True):
                    scores[chunk] += weight * times
        best = heapq.nsmallest(top, scores, key=lambda chunk: (-scores[chunk], chunk))
        return [self.hits[chunk] for chunk in best]

    def _add_file(self, name: str, source: bytes) -> None:
        reading = read(name, source)
        lines = source.decode("utf-8").split("\n")
        for definition in reading.definitions if reading else []:
            text = "\n".join(lines[definition.start - 1 : definition.end])
            words = Counter(WORD.findall(text.lower()))
            for word, times in words.items():
                self.chunks[word].append(len(self.hits))
                self.weights[word].append(times)
            self.hits.append(Hit(name, definition.start, definition.end))
            self.lengths.append(words.total())

    def _weigh(self) -> None:
        """Turn counts into weights, now that the average length and the frequencies are known."""
        average = sum(self.lengths) / max(1, len(self.lengths))
        norms = [K1 * (1 - B + B * length / average) for length in self.lengths]
        for word, chunks in self.chunks.items():
            rarity = math.log(1 + (len(self.hits) - len(chunks) + 0.5) / (len(chunks) + 0.5))
            counts = self.weights[word]
            for place, chunk in enumerate(chunks):
                counts[place] = rarity * counts[place] * (K1 + 1) / (counts[place] + norms[chunk])
