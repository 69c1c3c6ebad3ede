"""Postings as they are gathered from chunks: the dictionaries of the backend `memory`, and drafts of rows."""

from collections.abc import Collection, Sequence

from holdfast.search.engine.occurrences import Occurrences
from holdfast.search.engine.portable_schema import KINDS
from holdfast.search.engine.tantivy_schema import PHRASE_FIELDS

__all__ = ["Collected"]


class Collected:
    """Where terms stand, by kind; documents of a kind have to come in the order of their numbers."""

    def __init__(self) -> None:
        self.by_kind: dict[str, dict[str, Occurrences]] = {kind: {} for kind in KINDS}
        self.size = 0  # places and members

    def add_words(self, kind: str, number: int, words: Sequence[str]) -> None:
        """The words of one field of a chunk, in their order; places are kept where phrases are looked for."""
        terms, has_places = self.by_kind[kind], kind in PHRASE_FIELDS
        for place, word in enumerate(words):
            found = terms.get(word)
            if found is None:
                found = terms[word] = Occurrences.none()
            numbers, counts, places = found
            if numbers and numbers[-1] == number:
                counts[-1] += 1
            else:
                numbers.append(number)
                counts.append(1)
            if has_places:
                places.append(place)
        self.size += len(words)

    def add_terms(self, kind: str, number: int, terms: Collection[str]) -> None:
        """Terms that a document has, wherever: facts of a chunk, trigrams of a file."""
        known = self.by_kind[kind]
        for term in terms:
            found = known.get(term)
            if found is None:
                found = known[term] = Occurrences.of_set()
            found.numbers.append(number)
        self.size += len(terms)

    def of(self, kind: str, term: str) -> Occurrences:
        """Where a term stands."""
        return self.by_kind[kind].get(term) or Occurrences.none()
