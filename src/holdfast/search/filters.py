"""What each filter of a request asks for, as one table: which fact it looks at, and when a value of it matches.

A filter becomes part of the query, so it never shortens a page of results afterwards. Texts are compared with the
vocabulary of their fact, which is far smaller than the number of chunks. Filters on whole files (path, history,
imports) become a set of files.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from holdfast.search.engine.interface import (
    AtLeast,
    Chunks,
    Condition,
    Either,
    Engine,
    Facts,
    Files,
    NoneOf,
)
from holdfast.search.engine.vocabulary import Vocabulary
from holdfast.search.request import SearchRequest, as_regex
from holdfast.search.store.reader import FileRow, StoreReader
from holdfast.search.symbols import symbol_conditions

__all__ = ["TEXT_FILTERS", "TextFilter", "asks_for_risk", "conditions", "is_known", "used_fields"]

Matcher = Callable[[Vocabulary, str], list[str]]
_CONTAINS, _IS_NAMED, _IS = Vocabulary.containing, Vocabulary.named, Vocabulary.same


class TextFilter(NamedTuple):
    """One filter on texts: the attribute of the request, the fact, and how a value matches."""

    attribute: str
    fact: str
    matches: Matcher


TEXT_FILTERS = (
    TextFilter("calls", "calls", _IS_NAMED),
    TextFilter("uses", "uses", _IS_NAMED),
    TextFilter("param", "params", _IS),
    TextFilter("signature", "signature", _CONTAINS),
    TextFilter("decorator", "decorators", _CONTAINS),
    TextFilter("inferred_type", "inferred_types", _CONTAINS),
    TextFilter("return_type", "return_types", _CONTAINS),
    TextFilter("throws", "throws", _CONTAINS),
    TextFilter("reads", "reads", _CONTAINS),
    TextFilter("writes", "writes", _CONTAINS),
    TextFilter("mutates", "mutations", _CONTAINS),
    TextFilter("alias", "aliases", _CONTAINS),
    TextFilter("awaits", "awaits", _CONTAINS),
    TextFilter("risk", "risk_tags", _CONTAINS),
    TextFilter("risk_tag", "risk_tags", _CONTAINS),
    TextFilter("risk_source", "risk_sources", _CONTAINS),
    TextFilter("risk_sink", "risk_sinks", _CONTAINS),
    TextFilter("risk_category", "risk_categories", _CONTAINS),
    TextFilter("risk_flow", "risk_flows", _CONTAINS),
    TextFilter("visibility", "visibility", _CONTAINS),
    TextFilter("extends", "extends", _CONTAINS),
)
_COUNTS = (
    ("branches_min", "branches"),
    ("loops_min", "loops"),
    ("breaks_min", "breaks"),
    ("continues_min", "continues"),
)
_FLAGS = (("async_", "async"), ("generator", "generator"), ("returns", "returns"))
_DEFINITIONS = ("function", "method", "constructor")
# Facts that a chunk may also have by what other functions do with what it gives them.
_LINKED = frozenset({"risk_tags", "risk_sources", "risk_sinks", "risk_categories", "risk_flows"})


def conditions(request: SearchRequest, engine: Engine, store: StoreReader, now: float) -> Iterator[Condition]:
    """The filters of a request, as conditions of a plan; all of them have to hold."""
    yield from _exact(request)
    yield from symbol_conditions(request, engine)
    if request.lint is not None:
        from holdfast.search.linting.findings import lint_conditions

        yield from lint_conditions(request.lint, store)
    yield from _texts(request, engine, store)
    yield from (
        AtLeast(name, least) for attribute, name in _COUNTS if (least := getattr(request, attribute)) is not None
    )
    yield from _flags(request)
    yield from _records(request, engine)
    if request.import_ is not None:
        wanted = engine.vocabulary("imports").module(request.import_)
        yield Files(engine.files_with_fact("imports", wanted))
    if request.path or request.file:
        entries = (*request.path, *request.file)
        exact_case = request.files_match_case
        key = (entries, exact_case)
        yield Files(store.remembered(key, lambda: _on_paths(entries, store, exact_case=exact_case)))
    tests = list(_file_tests(request, now))
    if tests:
        yield Files(frozenset(n for n, row in store.files().items() if all(test(row) for test in tests)))


def _on_paths(entries: Sequence[str], store: StoreReader, *, exact_case: bool) -> frozenset[int]:
    """The files with at least one of the wanted parts, or expressions, in their path."""
    paths, numbers = store.path_vocabulary()
    found: set[str] = set()
    for entry in entries:
        regex = as_regex(entry)
        if regex is not None:
            from holdfast.search.regex import compiled

            expression = compiled(regex[0], regex[1] if exact_case else regex[1] + "i")
            found.update(path for path in paths.values if expression.search(path) is not None)
        else:
            found.update(path for path in paths.containing(entry) if entry in path or not exact_case)
    return frozenset(numbers[path] for path in found)


def _exact(request: SearchRequest) -> Iterator[Condition]:
    if request.type:
        yield Facts("kind", request.type)
    if request.lang:
        from holdfast.search.discover.kinds import language_ids

        yield Facts("lang", tuple(sorted({one for name in request.lang for one in language_ids(name)})))
    if request.ext:
        yield Facts("ext", request.ext)


def _texts(request: SearchRequest, engine: Engine, store: StoreReader) -> Iterator[Condition]:
    for attribute, fact, matches in TEXT_FILTERS:
        needle = getattr(request, attribute)
        if needle is not None:
            written = Facts(fact, tuple(matches(engine.vocabulary(fact), needle)))
            linked = _linked(fact, matches, needle, engine, store) if fact in _LINKED else frozenset()
            yield Either((written, Chunks(linked))) if linked else written


def asks_for_risk(request: SearchRequest) -> bool:
    """Whether a filter of the request is about risk."""
    return any(fact in _LINKED and getattr(request, attribute) is not None for attribute, fact, _ in TEXT_FILTERS)


def is_known(one: TextFilter, needle: str, engine: Engine, store: StoreReader) -> bool:
    """Whether anything in the index has a value that the filter means."""
    if one.matches(engine.vocabulary(one.fact), needle):
        return True
    return one.fact in _LINKED and bool(_linked(one.fact, one.matches, needle, engine, store))


def _linked(fact: str, matches: Matcher, needle: str, engine: Engine, store: StoreReader) -> frozenset[int]:
    """Chunks that meet a filter by a path of data that goes through another function."""
    from holdfast.search.risk.linking import linked_risk

    links = linked_risk(engine, store)
    return links.chunks(fact, matches(links.vocabulary(fact), needle))


def _flags(request: SearchRequest) -> Iterator[Condition]:
    for attribute, flag in _FLAGS:
        wanted = getattr(request, attribute)
        if wanted:
            yield Facts("flag", (flag,))
        elif wanted is False:  # "is not async" is said of functions; a table of contents is not meant
            yield NoneOf(Facts("flag", (flag,)))
            yield Facts("kind", _DEFINITIONS)


def _records(request: SearchRequest, engine: Engine) -> Iterator[Condition]:
    if request.meta is None and request.meta_json is None:
        return
    from holdfast.search.meta import meta_conditions

    for key, value in meta_conditions(request.meta, request.meta_json):
        start, needle = f"{key}=", (value or "").lower()
        found = (
            v
            for v in engine.vocabulary("record").values
            if v.startswith(start) and needle in v[len(start) :].lower()
        )
        yield Facts("record", tuple(v for v in found if value is not None or v[len(start) :] not in _EMPTY))


_EMPTY = {"", "null", "{}", "[]"}


def _file_tests(request: SearchRequest, now: float) -> Iterator[Callable[[FileRow], bool]]:
    if request.author:
        names = [name.lower() for name in request.author]
        yield lambda row: row.author is not None and any(name in row.author.lower() for name in names)
    if request.churn_min is not None:
        least = request.churn_min
        yield lambda row: row.churn is not None and row.churn >= least
    after = request.modified_after_seconds(now)
    if after is not None:
        yield lambda row: _modified(row) >= after


def _modified(row: FileRow) -> float:
    """When a file last changed: as git knows, or its own time where it is not committed."""
    return row.mtime_ns / 1e9 if row.modified is None else row.modified


def used_fields(request: SearchRequest) -> Iterator[tuple[str, str]]:
    """(attribute, field of a language) of every filter in use; a language may not have the field at all."""
    for attribute, fact, _ in TEXT_FILTERS:
        if getattr(request, attribute) is not None:
            yield attribute, fact
    for attribute, name in (*_COUNTS, *_FLAGS):
        if getattr(request, attribute) is not None:
            yield attribute, name
    if request.import_ is not None:
        yield "import_", "imports"
