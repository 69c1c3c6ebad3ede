"""Titles: how an example is called, and the tag that a title becomes."""

import ast
import re
from collections.abc import Sequence
from pathlib import PurePosixPath

from holdfast.launch.facts.docstrings import read_docstring
from holdfast.launch.facts.reading import Repository
from holdfast.launch.facts.sentences import split
from holdfast.launch.facts.words import is_verb

__all__ = ["example_title", "is_name", "slug", "whole_title"]

_LONGEST_TITLE = 90
_LEAST_WITH_PARENT = 2  # the title of the document, and one of a section
# What a project has for itself: nobody learns the product from it.
_HOUSEKEEPING = frozenset({"setup.py", "conftest.py", "conf.py", "noxfile.py", "tasks.py", "manage.py"})
_SETTINGS = (".sh", ".toml", ".yaml", ".yml", ".json")
_PROGRAMS = (".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".tsx", ".go", ".rs", ".java", ".cs")
_NAMELESS = frozenset({"main", "index", "mod", "lib", "program", "app", "example"})
_COMMENT = re.compile(r"\s*(?:/\*+!?(.*?)\*/|((?:[ \t]*//[^\n]*\n)+))", re.DOTALL)
# `What is known` of what? `How it works`: what does?
_ASKING = re.compile(
    r"\b(?:what|who|whom|which|when|where|why|how(?! to)|it|its|they|them|their|this|that|these|those)\b",
    re.IGNORECASE,
)
_EMPTY = re.compile(
    r"ask(?:ed)?|done|found|given|held|kept|known|left|made|meant|seen|sent|shown|told|written|needs?|there|else|how|"
    r"an?|and|as|at|be|by|for|from|in|into|is|not|of|on|or|out|so|the|then|to|up|we|with|you"
)
# `active`, `.size` or `add(task)`: the name of a part, and what of it nobody knows without the heading above.
_NAME = re.compile(r"\.?[a-z_$][\w$]*(?:[.#][\w$]+)*(?:\([^()]*\))?|[\w$]+(?:[.#][\w$]+)*\([^()]*\)|\.[\w$]+")
_LEGAL = re.compile(r"copyright|licen[cs]e|spdx|go:build|\+build|eslint|@ts-", re.IGNORECASE)


def slug(title: str) -> str:
    """A title as a tag: small letters, digits and hyphens."""
    return re.sub(r"[^a-z0-9]+", "-", title.lower().replace("`", "").replace("'", "")).strip("-")[:80].strip("-")


def whole_title(trail: Sequence[str]) -> str:
    """The last title of those that lead to a section, after another one where alone it says nothing."""
    title = trail[-1]
    if len(trail) > _LEAST_WITH_PARENT and is_name(title):
        return f"{trail[-2]}: {title}"
    bare = _ASKING.sub("", title.lower())
    if bare == title.lower() or len(trail) == 1 or any(map(_names_something, re.findall(r"[\w'’.-]+", bare))):
        return title
    start = title.split(" ", 1)[0]
    return f"{trail[0]}: {title[:1].lower() + title[1:] if start[1:].islower() else title}"


def is_name(title: str) -> bool:
    """Whether a title is but a name of code: that of an event, an option, a method."""
    return _NAME.fullmatch(title.replace("`", "").strip()) is not None


def _names_something(word: str) -> bool:
    stem = re.sub(r"(?:ing|ed)$", "", word)
    forms = (word, stem, f"{stem}e", stem[:-1] if stem[-2:-1] == stem[-1:] else stem)
    return _EMPTY.fullmatch(word) is None and not any(map(is_verb, forms))


def example_title(repository: Repository, path: str) -> tuple[str, int, int, str]:
    """The title of an example: the first sentence of its documentation, else its name; with lines and sentence."""
    text = repository.text(path)
    name = PurePosixPath(path).name
    if text is None or name.startswith("__") or name in _HOUSEKEEPING:
        return "", 1, 1, ""
    plain = re.sub(r"[_-]+", " ", PurePosixPath(path).stem).strip()
    by_name = plain[:1].upper() + plain[1:]
    if not path.endswith(".py"):
        is_program = path.endswith(_PROGRAMS)
        return _commented(path, text) if is_program else (by_name if path.endswith(_SETTINGS) else "", 1, 1, "")
    document, line = _module_docstring(text)
    found = read_docstring(document)
    summary = found.summary.rstrip(".")
    end = line + max(found.summary_lines, 1) - 1
    return (summary if 0 < len(summary) <= _LONGEST_TITLE else by_name), line, end, found.summary


def _commented(path: str, text: str) -> tuple[str, int, int, str]:
    """The title of a program in another language than Python: its first comment, else its name or its folder's."""
    place = PurePosixPath(path)
    name = place.stem if place.stem.lower() not in _NAMELESS else place.parent.name
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", re.sub(r"[_.-]+", " ", name)).strip()
    by_name = words[:1].upper() + words[1:].lower()
    found = _COMMENT.match(text)
    raw = (found[1] or found[2] or "") if found else ""
    if found is None or _LEGAL.search(raw):
        return by_name, 1, 1, ""
    said = " ".join(re.sub(r"^\s*(?://[/!]?|\*)\s?", "", line).strip() for line in raw.strip().split("\n"))
    sentences = split(said)
    sentence = sentences[0].text if sentences else ""
    first = text.count("\n", 0, found.start() + len(found[0]) - len(found[0].lstrip())) + 1
    title = sentence.rstrip(".") if 0 < len(sentence) <= _LONGEST_TITLE else by_name
    return title, first, text.count("\n", 0, found.end() - 1) + 1, sentence if sentence.endswith(".") else ""


def _module_docstring(text: str) -> tuple[str, int]:
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return "", 1
    document = ast.get_docstring(tree)
    if not document:
        return "", 1
    first = document.split("\n", 1)[0].strip()
    lines = text.split("\n")
    start = tree.body[0].lineno
    return document, next(
        (at for at in range(start, start + 5) if at <= len(lines) and first in lines[at - 1]), start
    )
