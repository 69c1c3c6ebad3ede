"""Which names of the interface an example uses: those that it imports, or names by the way to them.

That a word of an example is also the name of something proves nothing: a `count` is seldom the product's own.
"""

import re
from collections.abc import Iterable, Iterator

from holdfast.launch.writing.known import Known, Snippet, Symbol, language_of

__all__ = ["mentioned_symbols"]

_MOST = 8
_IMPORTED = re.compile(r"^\s*from\s+([\w.]+)\s+import\s+(\([^)]*\)|[^\n]+)", re.MULTILINE)
_RENAMED = re.compile(r"^\s*import\s+([\w.]+)\s+as\s+(\w+)", re.MULTILINE)
_WAY = re.compile(r"\b[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+")
_MADE = re.compile(r"(?<![\w.])([A-Z]\w*[a-z]\w*)\(|\bexcept\s+([A-Z]\w*)")
_CALLED = re.compile(r"[\w)\]]\.(\w{3,})\(")
_WORD = re.compile(r"\w+")


def mentioned_symbols(known: Known, snippets: Iterable[Snippet]) -> list[Symbol]:
    """The classes, functions and methods that the snippets use, in the order of the interface."""
    shown = list(snippets)
    if known.language != "python":
        tagged = {
            tag.removeprefix("api:") for snippet in shown for tag in snippet["tags"] if tag.startswith("api:")
        }
        return [symbol for symbol in known.symbols if symbol["qualified_name"] in tagged][:_MOST]
    text = "\n".join(snippet["code"] for snippet in shown if language_of(snippet) == "python")
    if not text:
        return []
    ways = set(_ways(text))
    classes = {one for found in _MADE.findall(text) for one in found if one}
    found: dict[str, Symbol] = {}
    for symbol in known.symbols:
        kind, name = symbol["kind"], symbol["name"]
        rank = _rank(symbol, ways) if kind in ("class", "function", "exception") else 0
        if rank or (kind in ("class", "exception") and name in classes):
            other = found.get(name)
            if other is None or (rank, -_depth(symbol)) > (_rank(other, ways), -_depth(other)):
                found[name] = symbol
    names = {symbol["qualified_name"] for symbol in found.values()}
    called = set(_CALLED.findall(text))
    methods = [one for one in known.symbols if one.get("parent") in names and one["name"] in called]
    wanted = names | {one["qualified_name"] for one in methods if one["kind"] == "method"}
    return [symbol for symbol in known.symbols if symbol["qualified_name"] in wanted][:_MOST]


def _ways(text: str) -> Iterator[str]:
    """Every dotted name that the text writes or imports."""
    renamed = dict(found[::-1] for found in _RENAMED.findall(text))
    for way in _WAY.findall(text):
        first, _, rest = way.partition(".")
        yield f"{renamed.get(first, first)}.{rest}"
    for module, names in _IMPORTED.findall(text):
        yield from (f"{module}.{name}" for name in _WORD.findall(names.split(" as ")[0]))


def _rank(symbol: Symbol, ways: set[str]) -> int:
    """2 where its own way is written, 1 where it is reached by a package that it is in."""
    if f"{symbol['module']}.{symbol['name']}" in ways:
        return 2
    parts = symbol["module"].split(".")
    return int(any(f"{'.'.join(parts[:end])}.{symbol['name']}" in ways for end in range(1, len(parts))))


def _depth(symbol: Symbol) -> int:
    module: str = symbol["module"]
    return module.count(".")
