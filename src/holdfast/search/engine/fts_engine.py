"""The backend `sqlite-fts`: one portable SQLite file with FTS5. Its candidates are those of the default backend.

FTS5 tells where words stand; how much they count is reckoned here, as the default backend does (`bm25`), since the
order that FTS5 offers itself is another one. Every chunk that satisfies a plan is scored: there is no shortcut, so
a word that stands everywhere costs more here.
"""

import sqlite3
from array import array
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence, Sized
from functools import cached_property
from heapq import nsmallest
from pathlib import Path
from typing import Any, TypeVar

import orjson

from holdfast.search.engine.bm25 import FieldScoring, length_code
from holdfast.search.engine.combine import Everything, Matched, added, all_of, any_of, within
from holdfast.search.engine.fts_file import connect_portable
from holdfast.search.engine.fts_schema import FIELDS, encoded
from holdfast.search.engine.interface import (
    All,
    AtLeast,
    Candidates,
    Chunks,
    Condition,
    Either,
    Facts,
    Files,
    NoneOf,
    Phrase,
    Sentence,
    Word,
)
from holdfast.search.engine.tantivy_schema import COUNT_FIELDS, PHRASE_FIELDS
from holdfast.search.engine.vocabulary import Vocabulary

__all__ = ["FtsEngine"]

# How much a match in a field counts when candidates are chosen, as in the default backend.
_BOOSTS = (("body", 1.0), ("name", 1.5))
_IDENTIFIER_BOOST = 1.5
_WIDER = 8  # times as many candidates, where equal scores are cut in the middle
_BATCH = 400  # values in one IN (...)
_MOST_KEPT = 500_000  # scores of words, and members of sets, that are kept for the next query
_OFFSET_BITS = 32
_Found = TypeVar("_Found", bound=Sized)


class FtsEngine:
    """One portable file, open to be read."""

    name = "sqlite-fts"

    def __init__(self, path: Path) -> None:
        self._db = connect_portable(path)
        try:
            notes = dict(self._rows("SELECT key, value FROM portable"))
            generation = self._rows("SELECT value FROM facts_of_index WHERE key = 'generation'")
            self.generation = int(generation[0][0])
            self.modes: tuple[str, ...] = tuple(orjson.loads(notes["modes"]))
            self._documents = int(notes["documents"])
            self._scoring = {field: FieldScoring(notes[f"average {field}"], notes["reckoned"]) for field in FIELDS}
        except (KeyError, IndexError, TypeError) as error:
            self._db.close()
            raise sqlite3.DatabaseError(f"a figure is missing: {error}") from error
        except BaseException:
            self._db.close()
            raise
        self._vocabularies: dict[str, Vocabulary] = {}
        self._frequencies: dict[str, tuple[int, ...]] = {}
        self._kept: dict[Hashable, Any] = {}
        self._kept_size = 0

    def close(self) -> None:
        """Let go of the file."""
        self._db.close()

    def candidates(self, mode: str, condition: Condition, limit: int) -> Candidates:
        """Chunks of one mode that satisfy a condition, the likeliest first."""
        every = self._with_facts("mode", (mode,))
        wanted = condition.conditions if isinstance(condition, All) else (condition,)
        found = within(all_of([every, *(self._matched(one, every) for one in wanted)]), every)
        return Candidates(_best(found, limit), len(found))

    def document_frequency(self, word: str, *, identifier: bool) -> int:
        """In how many chunks a sub-word or a whole identifier stands."""
        return self._frequency("identifiers" if identifier else "body", word)

    def document_count(self) -> int:
        """How many chunks there are, with a document for each file on top."""
        return self._documents

    def vocabulary(self, fact: str) -> Vocabulary:
        """Every value that a fact has somewhere."""
        if fact not in self._vocabularies:
            rows = self._rows("SELECT value FROM fact_values WHERE name = ?", fact)
            self._vocabularies[fact] = Vocabulary(value for (value,) in rows)
        return self._vocabularies[fact]

    def files_with_fact(self, name: str, values: Sequence[str]) -> frozenset[int]:
        """Files with at least one of these values of a fact about files, such as `imports`."""
        facts = self._fact_numbers(name, values)
        return frozenset(self._among("SELECT file FROM file_facts WHERE fact IN", facts))

    def files_with_grams(self, alternatives: Sequence[frozenset[str]]) -> frozenset[int]:
        """Files that contain all the trigrams of at least one alternative."""
        if not alternatives:
            return frozenset(number for (number,) in self._rows("SELECT id FROM files"))
        choices = (" AND ".join(map(_quoted, sorted(grams))) for grams in alternatives)
        query = " OR ".join(f"({choice})" for choice in choices)
        return frozenset(n for (n,) in self._rows("SELECT rowid FROM file_grams WHERE file_grams MATCH ?", query))

    # From a condition to the chunks that meet it.

    def _matched(self, condition: Condition, every: frozenset[int]) -> Matched:  # noqa: C901 - one line for each
        match condition:
            case Word():
                return self._word(condition)
            case Phrase(parts):
                return self._phrase(parts)
            case Facts(name, values):
                return self._with_facts(name, values)
            case AtLeast(count, least):
                return self._at_least(count, least)
            case Files(numbers):
                return self._keep((Files, numbers), lambda: self._of_files(numbers))
            case Chunks(numbers):
                return numbers
            case All(conditions):
                return all_of([self._matched(one, every) for one in conditions])
            case Either(conditions):
                return any_of([self._matched(one, every) for one in conditions], every)
            case Sentence(required, words):
                return self._sentence(required, words, every)
            case NoneOf(inner):
                return every.difference(within(self._matched(inner, every), every))

    def _sentence(
        self, required: Sequence[Condition], words: Sequence[Condition], every: frozenset[int]
    ) -> Matched:
        found = any_of([self._matched(one, every) for one in words], every)
        if not required:
            return found
        decided = all_of([self._matched(one, every) for one in required])
        if not words:
            return decided
        if isinstance(decided, Everything):
            return any_of([found, decided], every)
        scores = decided if isinstance(decided, dict) else dict.fromkeys(decided, 0.0)
        more = found if isinstance(found, dict) else {}
        return {number: score + more.get(number, 0.0) for number, score in scores.items()}

    def _word(self, word: Word) -> Matched:
        whole = [self._term("identifiers", word.identifier, _IDENTIFIER_BOOST)] if word.identifier else []
        parts = [self._part(part) for part in word.parts]
        return any_of([*whole, all_of(parts)]) if parts else any_of(whole)

    def _part(self, word: str) -> dict[int, float]:
        return self._keep(
            (Word, word), lambda: added([self._term(field, word, boost) for field, boost in _BOOSTS])
        )

    def _phrase(self, parts: tuple[str, ...]) -> Matched:
        if len(parts) == 1:
            return any_of([self._term(field, parts[0]) for field in PHRASE_FIELDS])
        return self._keep(
            (Phrase, parts), lambda: added([self._row_of_words(field, parts) for field in PHRASE_FIELDS])
        )

    def _term(self, field: str, word: str, boost: float = 1.0) -> dict[int, float]:
        query = "SELECT doc FROM word_places WHERE term = ? AND col = ?"
        counts = Counter(number for (number,) in self._rows(query, encoded(word), field))
        weight = self._scoring[field].weight([self._frequency(field, word)], boost)
        return self._scored(field, counts, weight)

    def _row_of_words(self, field: str, words: tuple[str, ...]) -> dict[int, float]:
        """The scores of chunks in which words follow each other.

        FTS5 says which chunks these are, but not how often: that is told by the places of the words. A place is
        the number of a chunk and an offset in it, as one number.
        """
        phrase = f'{field} : "{" ".join(map(encoded, words))}"'
        numbers = [number for (number,) in self._rows("SELECT rowid FROM words WHERE words MATCH ?", phrase)]
        if not numbers:
            return {}
        few = numbers if len(numbers) <= _BATCH else []
        only = f" AND doc IN ({','.join('?' * len(few))})" if few else ""
        query = f"SELECT (doc << {_OFFSET_BITS}) + offset - ? FROM word_places WHERE term = ? AND col = ?{only}"  # noqa: S608
        starts = set.intersection(
            *(
                {start for (start,) in self._rows(query, place, encoded(word), field, *few)}
                for place, word in enumerate(words)
            )
        )
        counts = Counter(start >> _OFFSET_BITS for start in starts)
        weight = self._scoring[field].weight([self._frequency(field, word) for word in words])
        return self._scored(field, counts, weight)

    def _scored(self, field: str, counts: Counter[int], weight: float) -> dict[int, float]:
        codes, score = self._lengths[field], self._scoring[field].score
        known: dict[tuple[int, int], float] = {}  # few pairs of count and length make up most of the chunks
        scores = {}
        for number, count in counts.items():
            key = (count, codes[number])
            if key not in known:
                known[key] = score(weight, *key)
            scores[number] = known[key]
        return scores

    def _with_facts(self, name: str, values: Sequence[str]) -> frozenset[int]:
        def found() -> frozenset[int]:
            facts = self._fact_numbers(name, values)
            chunks: set[int] = set()
            for first in range(0, len(facts), _BATCH):
                query = " OR ".join(f'"{number}"' for number in facts[first : first + _BATCH])
                chunks.update(n for (n,) in self._rows(_WITH_FACTS, query))
            return frozenset(chunks)

        return self._keep((Facts, name, tuple(values)), found)

    def _at_least(self, count: str, least: int) -> frozenset[int]:
        if count not in COUNT_FIELDS:
            return frozenset()
        return frozenset(n for (n,) in self._rows(f"SELECT chunk FROM chunk_figures WHERE {count} >= ?", least))  # noqa: S608

    def _of_files(self, numbers: Iterable[int]) -> frozenset[int]:
        return frozenset(self._among("SELECT id FROM chunks WHERE file IN", sorted(numbers)))

    # Rows.

    @cached_property
    def _lengths(self) -> dict[str, bytearray]:
        """The code of the length of each field, by the number of the chunk."""
        rows = self._rows(f"SELECT chunk, {', '.join(FIELDS)} FROM chunk_figures")  # noqa: S608
        last = max((row[0] for row in rows), default=0)
        lengths = {field: bytearray(last + 1) for field in FIELDS}
        codes: dict[int, int] = {}
        for place, field in enumerate(FIELDS, 1):
            of_field = lengths[field]
            for row in rows:
                length = row[place]
                if length not in codes:
                    codes[length] = length_code(length)
                of_field[row[0]] = codes[length]
        return lengths

    def _frequency(self, field: str, word: str) -> int:
        if word not in self._frequencies:
            rows = self._rows(f"SELECT {', '.join(FIELDS)} FROM frequencies WHERE word = ?", word)  # noqa: S608
            self._frequencies[word] = rows[0] if rows else (0,) * len(FIELDS)
        return self._frequencies[word][FIELDS.index(field)]

    def _fact_numbers(self, name: str, values: Sequence[str]) -> list[int]:
        query = "SELECT id FROM fact_values WHERE name = ? AND value IN"
        return sorted(self._among(query, list(values), name))

    def _among(self, query: str, values: Sequence[Any], *before: Any) -> set[int]:
        """The first column of all rows in which a column has one of these values."""
        found: set[int] = set()
        for first in range(0, len(values), _BATCH):
            batch = values[first : first + _BATCH]
            marks = ",".join("?" * len(batch))
            found.update(number for (number,) in self._rows(f"{query} ({marks})", *before, *batch))
        return found

    def _keep(self, key: Hashable, find: Callable[[], _Found]) -> _Found:
        """What was found for an earlier query, or is found now: words and filters come again and again."""
        if key not in self._kept:
            found = find()
            self._kept_size += len(found) + 1
            if self._kept_size > _MOST_KEPT:
                self._kept, self._kept_size = {}, len(found) + 1
            self._kept[key] = found
        kept: _Found = self._kept[key]
        return kept

    def _rows(self, query: str, *values: Any) -> list[Any]:
        return self._db.execute(query, values).fetchall()


_WITH_FACTS = "SELECT rowid FROM chunk_facts WHERE chunk_facts MATCH ?"


def _quoted(gram: str) -> str:
    return f'"{encoded(gram)}"'


def _best(found: dict[int, float] | frozenset[int], limit: int) -> list[int]:
    """The candidates that the default backend would choose: what is done about equal scores is part of that."""
    if not isinstance(found, dict):
        return nsmallest(limit, found)
    # In single precision, as they are compared there, and turned round, so that the best come first.
    scores = array("f", [-score for score in found.values()])
    top = nsmallest(limit + 1, zip(scores, found, strict=True))
    if len(top) > limit and top[-1][0] == top[0][0]:
        return nsmallest(limit, found)
    if len(top) > limit and top[-1][0] == top[-2][0]:
        top = nsmallest(limit * _WIDER, zip(scores, found, strict=True))
    rounded = sorted((round(score, 5), number) for score, number in top)
    return [number for _, number in rounded[:limit]]
