"""What is said beside an answer, so that nothing found is never mistaken for nothing there.

A filter may ask for a language that is not in the index, for something that no language of it can have, for a
value that is nowhere, or for a history that git did not tell.
"""

from collections.abc import Iterator

from holdfast.present.counted import counted
from holdfast.search.engine.interface import Engine
from holdfast.search.filters import TEXT_FILTERS, is_known, used_fields
from holdfast.search.query.tree import And, Everything, Node, asked_filters
from holdfast.search.request import FIELDS, SearchRequest, with_shortcuts
from holdfast.search.store.reader import StoreReader
from holdfast.search.symbols import asked_symbols, is_defined, is_written, last_part

__all__ = ["advice"]

_NAME_OF = {field.attribute: field.name for field in FIELDS}
_MOST_NAMED = 5
_ONLY_LEAVES_OUT = (
    "the query only says what to leave out, and that is everything here; add what to look for, or leave out less"
)


def advice(
    request: SearchRequest, query: Node, engine: Engine, store: StoreReader, *, empty: bool
) -> Iterator[tuple[str, str]]:
    """(code, message) of everything that a reader of the answer should know about its filters.

    Those that stand in the query are looked at where nothing was found: one of several may well be met by nothing.
    """
    yield from _about(request, engine, store, empty=empty)
    if empty and isinstance(query, And) and isinstance(query.parts[0], Everything):
        yield "query", _ONLY_LEAVES_OUT
    written = [(one.field, one.value) for one in asked_filters(query)] if empty else []
    for one in dict.fromkeys(written):
        alone = with_shortcuts(SearchRequest(query="*", mode=request.mode), [one])
        yield from _about(alone, engine, store, empty=empty)


def _about(
    request: SearchRequest, engine: Engine, store: StoreReader, *, empty: bool
) -> Iterator[tuple[str, str]]:
    yield from _unknown_kinds(request, engine)
    yield from _unknown_languages(request, engine)
    yield from _missing_fields(request, engine, empty=empty)
    yield from _unmatched_values(request, engine, store)
    yield from _unknown_symbols(request, engine, store)
    yield from _missing_history(request, store)
    yield from _unread_documents(request, store, empty=empty)
    if (request.meta is not None or request.meta_json is not None) and request.mode not in ("records", "all"):
        yield "mode", "meta: only records have fields; search them with the mode records or all"


def _unknown_kinds(request: SearchRequest, engine: Engine) -> Iterator[tuple[str, str]]:
    present = set(engine.vocabulary("kind").values) if request.type else set()
    missing = ", ".join(kind for kind in request.type if kind not in present)
    if missing:
        yield "unknown-value", f"type: there is no {missing} in this index, only {', '.join(sorted(present))}"


def _unknown_languages(request: SearchRequest, engine: Engine) -> Iterator[tuple[str, str]]:
    if not request.lang:
        return
    from holdfast.search.discover.kinds import language_ids

    present = set(engine.vocabulary("lang").values)
    for name in request.lang:
        meant = language_ids(name)
        if not meant:
            yield "unknown-value", f"lang: no language is called {name}"
        elif not meant & present:
            yield "unknown-value", f"lang: there is no {name} in this index"


def _missing_fields(request: SearchRequest, engine: Engine, *, empty: bool) -> Iterator[tuple[str, str]]:
    """Languages that cannot have what a filter asks for: those that were named, or all where nothing was found."""
    used = list(used_fields(request))
    if not used:
        return
    from holdfast.search.languages import LANGUAGES, fields_of

    asked = _languages_in_scope(request, engine)
    if not request.lang:  # data and texts have no functions; nobody expects anything else of them
        asked &= set(LANGUAGES)
    for attribute, field in used:
        without = sorted(language for language in asked if field not in fields_of(language))
        if without and (empty or request.lang):
            some = ", ".join(without[:_MOST_NAMED])
            more = f" and {len(without) - _MOST_NAMED} more" if len(without) > _MOST_NAMED else ""
            yield "field-unavailable", f"{_NAME_OF[attribute]}: it is not known of {some}{more}"


def _languages_in_scope(request: SearchRequest, engine: Engine) -> set[str]:
    if not request.lang:
        return set(engine.vocabulary("lang").values)
    from holdfast.search.discover.kinds import language_ids

    return {language for name in request.lang for language in language_ids(name)}


def _unmatched_values(request: SearchRequest, engine: Engine, store: StoreReader) -> Iterator[tuple[str, str]]:
    """A value that stands nowhere in the index, with whatever else is asked for."""
    for one in TEXT_FILTERS:
        needle = getattr(request, one.attribute)
        if needle is not None and not is_known(one, needle, engine, store):
            yield "unknown-value", f"{_NAME_OF[one.attribute]}: nothing in this index has {needle}"


def _unknown_symbols(request: SearchRequest, engine: Engine, store: StoreReader) -> Iterator[tuple[str, str]]:
    """A name that is defined nowhere; and one that nobody writes like this, as of a method that objects have."""
    for relation, needle in asked_symbols(request).items():
        last = last_part(needle)
        if not is_defined(needle, engine, store):
            yield "unknown-value", f"{relation}: nothing that is called {needle} is defined in this index"
        elif last != needle.removesuffix("()") and not is_written(relation, needle, engine):
            told = f"nothing in this index writes {needle}; a method is called on an object, so ask for {last}"
            yield "unknown-value", f"{relation}: {told}"


def _unread_documents(request: SearchRequest, store: StoreReader, *, empty: bool) -> Iterator[tuple[str, str]]:
    """Documents whose text could not be had, where nothing was found in the text of documents."""
    if not empty or request.mode != "extracted-prose":
        return
    details = [detail for _, reason, detail, *_ in store.skipped() if reason == "document"]
    if details:
        yield "skipped", f"{counted(len(details), 'document')} left out: {details[0]}"


def _missing_history(request: SearchRequest, store: StoreReader) -> Iterator[tuple[str, str]]:
    if not request.author and request.churn_min is None and request.chunk_author is None:
        return
    known, files = store.history_coverage()
    if known < files:
        remarks = store.facts().values.get("history_remarks") or "not committed, or not of this repository"
        yield "history", f"git tells nothing of {files - known} of {counted(files, 'file')}: {remarks}"
