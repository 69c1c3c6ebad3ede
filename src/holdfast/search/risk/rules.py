"""The risk rules, and what of them concerns one language, arranged so that most code is dismissed at once."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Generic, TypeVar

from holdfast.search.model import CallSite, Chunk
from holdfast.search.risk.patterns import CALL, QUOTED, READ, STATEMENT, WRITE, Pattern, last_name
from holdfast.search.risk.places import called_on, chain_before, own_ranges, plain_name

__all__ = ["SEVERITIES", "ByName", "LanguageRules", "RuleSet", "Sanitizer", "Sink", "Source"]

_NO, _COUNTS, _CLEANS, _MAYBE, _SURELY = "", "counts", "cleans", "maybe", "surely"
_MOST_KNOWN = 50_000
# Bytes of a function that is looked at only because it may clean what it is given; numbers are made everywhere.
_MOST_OF_A_CLEANER = {"": -1, "counts": 300, "cleans": 1500}
_FUNCTIONS = frozenset({"function", "method"})
_ORDINARY = frozenset(
    {"len", "isinstance", "bool", "hash", "id"}
)  # everywhere, and nobody returns them as they are
WITHOUT_BRACKETS = frozenset({"ruby", "kotlin", "scala", "swift"})  # a method or property needs none
SEVERITIES = ("low", "medium", "high", "critical")
_INCLUDED = {
    **dict.fromkeys(("typescript", "tsx", "jsx", "vue", "svelte"), "javascript"),
    **dict.fromkeys(("kotlin", "scala", "groovy"), "java"),
    "cpp": "c",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Where untrusted input comes from."""

    name: str
    patterns: tuple[Pattern, ...]
    languages: frozenset[str] = frozenset()  # none: every language
    tags: tuple[str, ...] = ()
    fills: int | None = None  # the argument that the input is written to
    unless_parameter: bool = False  # a parameter of that name is something else


@dataclass(frozen=True, slots=True, kw_only=True)
class Sink:
    """What must not be given untrusted input."""

    name: str
    patterns: tuple[Pattern, ...]
    category: str
    severity: str
    languages: frozenset[str] = frozenset()
    tags: tuple[str, ...] = ()
    argument: int | None = None  # the only one that matters
    when: re.Pattern[str] | None = None
    unless: re.Pattern[str] | None = None
    safe_when: re.Pattern[str] | None = None

    def applies(self, arguments: str) -> bool:
        """Whether a call with this text between its brackets is meant."""
        if self.when is not None and not self.when.search(arguments):
            return False
        return self.unless is None or not self.unless.search(arguments)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sanitizer:
    """What makes input harmless for some categories of sinks (`*`: for all)."""

    name: str
    patterns: tuple[Pattern, ...]
    categories: frozenset[str]
    languages: frozenset[str] = frozenset()
    arguments: int = 0  # the least number of them


R = TypeVar("R", Source, Sink, Sanitizer)


class ByName(Generic[R]):
    """Rules by the last name of their patterns."""

    def __init__(self, rules: Iterable[R], kind: str) -> None:
        self._rules: dict[str, list[tuple[Pattern, R]]] = {}
        for rule in rules:
            for pattern in rule.patterns:
                if pattern.kind == kind:
                    self._rules.setdefault(pattern.last, []).append((pattern, rule))

    @property
    def names(self) -> frozenset[str]:
        """Every last name, also as a constructor is called."""
        return frozenset(self._rules) | {f"new {name}" for name in self._rules}

    def matching(self, name: str) -> Iterator[R]:
        """The rules of which a pattern matches this name, in the order of the file."""
        for pattern, rule in self._rules.get(last_name(name).removeprefix("new "), ()):
            if pattern.matches.match(name):
                yield rule


class LanguageRules:
    """What concerns one language. It remembers the last file that it saw: its chunks come one after the other."""

    def __init__(
        self, language: str, sources: list[Source], sinks: list[Sink], sanitizers: list[Sanitizer]
    ) -> None:
        self.source_calls = ByName(sources, CALL)
        self.sink_calls = ByName(sinks, CALL)
        self.sink_writes = ByName(sinks, WRITE)
        self.sanitizers = ByName(sanitizers, CALL)
        self._calls = self.source_calls.names | self.sink_calls.names
        self._writes = self.sink_writes.names
        reads = [(p, rule) for rule in sources for p in rule.patterns if p.kind in (READ, STATEMENT)]
        # An attribute of a tag or of an object, which is no assignment: dangerouslySetInnerHTML={...}
        named = [
            (p, rule)
            for rule in sinks
            for p in rule.patterns
            if p.kind in (STATEMENT, QUOTED) or (p.kind == WRITE and "." not in p.text.removeprefix("*."))
        ]
        self._all_reads: list[tuple[Pattern, Source]] = reads
        self._all_named: list[tuple[Pattern, Sink]] = named
        # What is asked for without brackets, where a language allows that: `text.to_i`.
        self._is_without_brackets = language in WITHOUT_BRACKETS
        self.cleaning_texts = [
            (replace(p, kind=READ), rule)
            for rule in sanitizers
            for p in rule.patterns
            if self._is_without_brackets and p.text.startswith("*.") and not rule.arguments
        ]
        self._cleaners = ByName([rule for rule in sanitizers if not rule.arguments], CALL)
        self._cleaner_names = self._cleaners.names - _ORDINARY
        self._known_calls: dict[str, str] = {}
        self._file: bytes | None = None
        self._file_imports: Mapping[str, str] | None = None
        self.reads_here: list[tuple[Pattern, Source]] = []
        self.named_here: list[tuple[Pattern, Sink]] = []
        self.texts_here: list[Pattern] = []
        self._imported: frozenset[str] = frozenset()

    def concerns(self, source: bytes, chunk: Chunk, imports: Mapping[str, str]) -> bool:
        """Whether any rule could match; almost always it is a quick no."""
        if source is not self._file or imports is not self._file_imports:
            self._look_at(source, imports)
        verdict = self._judge_calls(source, chunk)
        if verdict is _SURELY:
            return True
        if self._imported and any(site.callee.partition(".")[0] in self._imported for site in chunk.call_sites):
            return True
        for write in chunk.written:
            if write.target.rpartition(".")[2] in self._writes:
                return True
        if self.texts_here and self._reads(source, chunk):
            return True
        return _may_clean(chunk, verdict or self._cleans_without_brackets(source, chunk))

    def _judge_calls(self, source: bytes, chunk: Chunk) -> str:
        """Whether a call is surely of interest, or whether the chunk cleans something, or neither."""
        known, cleans = self._known_calls, _NO
        for site in chunk.call_sites:
            verdict = known.get(site.callee)
            if verdict is None:
                verdict = self._judge(site.callee)
            if not verdict:
                continue
            if verdict is _CLEANS or verdict is _COUNTS:
                cleans = cleans if cleans is _CLEANS else verdict
            elif verdict is _SURELY or self._matches_chain(source, site):
                return _SURELY
        return cleans

    def _cleans_without_brackets(self, source: bytes, chunk: Chunk) -> str:
        if not self._is_without_brackets or not _may_clean(chunk, _COUNTS):
            return _NO
        found = any(source.find(p.pieces[0], chunk.start, chunk.end) >= 0 for p, _ in self.cleaning_texts)
        return _COUNTS if found else _NO

    def _judge(self, callee: str) -> str:
        """Whether a call by this name may concern us, remembered: the same names come again and again."""
        verdict = _NO
        name = plain_name(callee)
        if last_name(name) in self._calls:
            # The extractor gives the last name only of what is called on an expression: `cursor().execute`.
            verdict = _SURELY if self._matches(name) else _NO if "." in name else _MAYBE
        if not verdict and last_name(name) in self._cleaner_names:
            verdict = min(
                (_COUNTS if "*" in r.categories else _CLEANS for r in self._cleaners.matching(name)), default=_NO
            )
        if len(self._known_calls) >= _MOST_KNOWN:
            self._known_calls.clear()
        self._known_calls[callee] = verdict
        return verdict

    def _matches(self, name: str) -> bool:
        return any(True for calls in (self.source_calls, self.sink_calls) for _ in calls.matching(name))

    def _matches_chain(self, source: bytes, site: CallSite) -> bool:
        return called_on(source, site.start, site.callee) and self._matches(chain_before(source, site.start))

    def _reads(self, source: bytes, chunk: Chunk) -> bool:
        ranges = own_ranges(chunk)
        return any(
            pattern.search.search(source, start, end)
            for pattern in self.texts_here
            for start, end in ranges
            if all(source.find(piece, start, end) >= 0 for piece in pattern.pieces)
        )

    def _look_at(self, source: bytes, imports: Mapping[str, str]) -> None:
        self._file, self._file_imports = source, imports
        absent: dict[bytes, bool] = {}

        def here(pattern: Pattern) -> bool:
            for piece in pattern.pieces:
                if piece not in absent:
                    absent[piece] = piece not in source
                if absent[piece]:
                    return False
            return True

        self.reads_here = [pair for pair in self._all_reads if here(pair[0])]
        self.named_here = [pair for pair in self._all_named if here(pair[0])]
        self.texts_here = [p for p, _ in self.reads_here] + [p for p, _ in self.named_here]
        # A name that was imported under another one: its own last name says nothing.
        self._imported = frozenset(name for name, full in imports.items() if last_name(full) in self._calls)


def _may_clean(chunk: Chunk, how: str) -> bool:
    """Whether it is a function that could make harmless what it is given, and give it back."""
    is_short = chunk.end - chunk.start <= _MOST_OF_A_CLEANER[how]
    return is_short and chunk.kind in _FUNCTIONS and "params" in chunk.facts


@dataclass(slots=True)
class RuleSet:
    """All rules that were loaded."""

    sources: list[Source] = field(default_factory=list)
    sinks: list[Sink] = field(default_factory=list)
    sanitizers: list[Sanitizer] = field(default_factory=list)
    _languages: dict[str, LanguageRules] = field(default_factory=dict, repr=False, compare=False)

    def for_language(self, language: str) -> LanguageRules:
        """The rules of a language, arranged at first use."""
        known = self._languages.get(language)
        if known is None:
            known = self._languages[language] = LanguageRules(
                language, _of(self.sources, language), _of(self.sinks, language), _of(self.sanitizers, language)
            )
        return known


def _of(rules: list[R], language: str) -> list[R]:
    meant = {language, _INCLUDED.get(language, language)}
    return [rule for rule in rules if not rule.languages or rule.languages & meant]
