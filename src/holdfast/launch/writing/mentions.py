"""Which names of the interface an example uses: those that it imports, or names by the way to them.

That a word of an example is also the name of something proves nothing: a `count` is seldom the product's own. What
is called and comes from nowhere in the example is, where its package offers it: the import stands further up.
"""

import ast
import builtins
import re
from collections.abc import Iterable, Iterator

from holdfast.launch.writing.known import Known, Snippet, Symbol, language_of

__all__ = ["mentioned_symbols"]

_MOST = 8
_IMPORTED = re.compile(r"^[^\S\n]*from\s+([\w.]+)\s+import\s+(\([^)]*\)|[^\n]+)", re.MULTILINE)
_RENAMED = re.compile(r"^[^\S\n]*import\s+([\w.]+)\s+as\s+(\w+)", re.MULTILINE)
_WAY = re.compile(r"\b[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+")
_MADE = re.compile(r"(?<![\w.])([A-Z]\w*[a-z]\w*)\(|\bexcept\s+([A-Z]\w*)")
# A method is that of a class where it is called on the class, or on what the class just made.
_ON_CLASS = re.compile(r"(?<!\w)([A-Z]\w*)(?:\((?:[^()]|\([^()]*\))*\))?\.(\w{3,})\(")
_ON_VARIABLE = re.compile(r"(?<![\w.])(\w+)\.(\w{3,})\(")
_MAKES = re.compile(
    r"^[^\S\n]*(?:async\s+)?(?:(?:with\s+)(?:\w+\.)*([A-Z]\w*)\([^\n]*\)\s+as\s+(\w+)|(\w+)\s*(?::[^=\n]+)?=\s*(?:await\s+)?"
    r"(?:\w+\.)*([A-Z]\w*)\()",
    re.MULTILINE,
)
_WORD = re.compile(r"\w+")
_USED = ("class", "function", "exception")


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
    loose = {name for one in shown for name in _loose(one["code"])}
    found: dict[str, Symbol] = {}
    for symbol in known.symbols:
        kind, name = symbol["kind"], symbol["name"]
        rank = _rank(symbol, ways) if kind in _USED else 0
        is_offered = kind in _USED and name in loose and symbol["module"] in known.packages
        if rank or is_offered or (kind in ("class", "exception") and name in classes):
            other = found.get(name)
            if other is None or (rank, -_depth(symbol)) > (_rank(other, ways), -_depth(other)):
                found[name] = symbol
    names = {symbol["qualified_name"]: symbol["name"] for symbol in found.values()}
    called = _called(text)
    wanted = names.keys() | {
        one["qualified_name"]
        for one in known.symbols
        if one["kind"] == "method" and (names.get(one.get("parent", "")), one["name"]) in called
    }
    return [symbol for symbol in known.symbols if symbol["qualified_name"] in wanted][:_MOST]


def _called(text: str) -> set[tuple[str | None, str]]:
    """The methods that are called, each with the class that has them; of other things nobody knows the class."""
    made = {variable or other: name or last for name, variable, other, last in _MAKES.findall(text)}
    on_variables = {
        (made[variable], method) for variable, method in _ON_VARIABLE.findall(text) if variable in made
    }
    return {*_ON_CLASS.findall(text), *on_variables}


def _loose(code: str) -> set[str]:
    """What is called, decorates, is caught or inherited from, and is bound nowhere in the code."""
    try:
        nodes = list(ast.walk(ast.parse(code)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return set()
    used: list[ast.expr | None] = []
    bound = set(dir(builtins))
    for node in nodes:
        match node:
            case ast.Call(func=func):
                used.append(func)
            case (
                ast.FunctionDef(name=name, decorator_list=decorators)
                | ast.AsyncFunctionDef(name=name, decorator_list=decorators)
            ):
                bound.add(name)
                used += decorators
            case ast.ClassDef(name=name, bases=bases, decorator_list=decorators):
                bound.add(name)
                used += [*bases, *decorators]
            case ast.ExceptHandler(type=caught):
                used += caught.elts if isinstance(caught, ast.Tuple) else [caught]
            case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
                bound.add(name)
            case ast.alias(name=name, asname=other):
                bound.add(other or name.partition(".")[0])
    return {one.id for one in used if isinstance(one, ast.Name)} - bound


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
