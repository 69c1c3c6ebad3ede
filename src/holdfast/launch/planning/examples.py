"""Which examples a page shows: those that a beginner can follow first, and no example twice in two sizes."""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence

from holdfast.launch.facts.titles import is_name
from holdfast.launch.module_names import depth
from holdfast.launch.writing.inline import slug
from holdfast.launch.writing.known import Known, Snippet, is_installing, language_of

__all__ = ["examples_of", "first_examples", "is_complete"]

_MOST_EXAMPLES = 3
_FIRST_PAGES = (
    "quickstart", "getting", "start", "tutorial", "intro", "index", "usage", "basic", "example",
)  # fmt: skip
_SCRIPTS = frozenset({"javascript", "typescript", "tsx"})
_GENERAL_TAGS = frozenset({"usage", "features", "install", "quickstart"})
_FIRST_TAGS = frozenset({"quickstart", "quick-start", "getting-started", "basic-usage"})
# The inside of a function, and a file that belongs to a project and not to what it shows.
_INNER = re.compile(r"^(?:return|yield|await)\b", re.MULTILINE)
_IMPORTING = r"(?:\b(?:from|import|use|using)\s+|\brequire\s*\(\s*)"
_HOUSEKEEPING = re.compile(r"(?:^|/)(?:setup|conftest|conf|noxfile|__init__)\.py$")


def first_examples(known: Known, platform: str, most: int) -> list[Snippet]:
    """The examples of the first steps in their order: each complete, or going on from one that is."""
    shown = [one for one in known.snippets.values() if _is_for_readers(one)]
    wanted = _SCRIPTS if known.language in _SCRIPTS else {platform, known.language}
    own = [one for one in shown if language_of(one) in wanted]
    if not own and known.language != "python":
        own = _of_the_whole(known, wanted)
    ranked = sorted(own or shown, key=lambda one: _rank(one, known))
    if not own:
        return ranked[:most]
    found = list(_followable(ranked, known))
    return ([one for one in found if _is_first(one)] or found or ranked)[:most]


def examples_of(known: Known, tags: Iterable[str], others: Collection[str]) -> list[Snippet]:
    """The examples with these tags that no other task has in its name: of the section itself, then of those in it.

    Where a section has examples and none that can be shown, those in it are about parts of which nothing was said.
    """
    wanted = set(tags)
    tagged = known.tagged(wanted)
    own = [one for one in tagged if slug(one.get("title", "")) in wanted]
    found: list[Snippet] = []
    for one in [*own, *(one for one in tagged if one not in own)]:
        is_elsewhere = slug(one.get("title", "")) in others
        is_known = any(one["code"].strip() in other["code"] for other in found)
        is_bare = language_of(one) == "text" and not known.introduction(one)
        if not (is_elsewhere or is_known or is_bare or is_installing(one) or _is_housekeeping(one)):
            found.append(one)
    is_shown = not own or any(one in own for one in found)
    return found[:_MOST_EXAMPLES] if is_shown else []


def _of_the_whole(known: Known, languages: Collection[str]) -> list[Snippet]:
    """Examples beside the code of what is public at the outermost: of packages first, then of types."""
    rank = {
        f"api:{symbol['qualified_name']}"[:200]: (
            symbol["kind"] != "module",
            depth(symbol["module"], known.packages),
        )
        for symbol in known.symbols
        if not symbol.get("parent")
    }
    found = [
        one
        for one in known.snippets.values()
        if language_of(one) in languages and one["source"].get("origin") == "docstring" and one["tags"][1] in rank
    ]
    # Where names are written behind their package, code without it is the inside of the package itself.
    owners = [f"{re.split(r'[/.:]', package)[-1]}." for package in known.packages]
    outside = [one for one in found if any(owner in one["code"] for owner in owners)]
    return sorted(outside or found, key=lambda one: (*rank[one["tags"][1]], -len(one["code"])))[:_MOST_EXAMPLES]


def is_complete(snippet: Snippet, known: Known) -> bool:
    """Whether an example can be followed alone: it imports the product, or in other languages uses what it has."""
    code = snippet["code"]
    packages = known.packages if known.language == "python" else ()
    is_named = any(f"import {name}" in code or f"from {name}" in code for name in packages)
    # What is imported under another name, as in `import * as z from "zod"`, is used where nobody recognises it.
    is_named = is_named or (not packages and any(_is_import(name, code) for name in known.packages))
    is_used = not packages and any(tag.startswith("api:") for tag in snippet["tags"])
    return (is_named or is_used) and not _INNER.search(code)


def _is_import(package: str, code: str) -> bool:
    return re.search(rf"{_IMPORTING}[\"'`]?{re.escape(package)}(?![\w-])", code) is not None


def _followable(snippets: Sequence[Snippet], known: Known) -> Iterator[Snippet]:
    begun: set[str] = set()
    for one in snippets:
        path = one["source"].get("path", "")
        if is_complete(one, known):
            begun.add(path)
            yield one
        elif path in begun and not _INNER.search(one["code"]):
            yield one


def _is_first(snippet: Snippet) -> bool:
    """Whether the project itself shows it early: in its README, or on a page for beginners.

    What a README shows of one method or one event is its reference.
    """
    is_entry = is_name(snippet.get("title", "")) and not _GENERAL_TAGS & set(snippet["tags"])
    return (
        (snippet["source"].get("origin") in ("readme", "example") and not is_entry)
        or bool(_FIRST_TAGS & set(snippet["tags"]))
        or _first_page(snippet) < len(_FIRST_PAGES)
    )


def _first_page(snippet: Snippet) -> int:
    """How early a page is read, by its name."""
    source = snippet["source"]
    if source.get("origin") == "example":
        return len(_FIRST_PAGES) - 1
    name = source.get("path", "").lower().rpartition("/")[2]
    return next((number for number, word in enumerate(_FIRST_PAGES) if word in name), len(_FIRST_PAGES))


def _rank(snippet: Snippet, known: Known) -> tuple[bool, bool, bool, int]:
    """What the README shows, then what is meant for beginners, then what is explained, then by the document."""
    source = snippet["source"]
    is_first = bool(_FIRST_TAGS & set(snippet["tags"]))
    is_explained = bool(snippet.get("title") or known.introduction(snippet))
    return source.get("origin") != "readme", not is_first, not is_explained, _first_page(snippet)


def _is_for_readers(snippet: Snippet) -> bool:
    is_shown = snippet["source"].get("origin") in ("readme", "example", "docs")
    return is_shown and not is_installing(snippet) and not _is_housekeeping(snippet)


def _is_housekeeping(snippet: Snippet) -> bool:
    return _HOUSEKEEPING.search(snippet["source"].get("path", "")) is not None
