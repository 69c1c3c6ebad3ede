"""Where a name is defined, what refers to it and what calls it, from the facts of the index.

Whoever calls `close` may mean any of several. A hit is certain where the file itself says which one is meant: by
an import that leads to a definition here, or because the definition stands in the same file or package. Everything
else is found by the name alone, and says so. Nothing is compiled and no type is inferred.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from holdfast.search.engine.interface import Condition, Either, Engine, Facts
from holdfast.search.request import SearchRequest
from holdfast.search.scoring import Ranked
from holdfast.search.store.reader import ChunkRow, FileRow, StoreReader

__all__ = [
    "MOST_TIED",
    "RELATIONS",
    "Tie",
    "asked_symbols",
    "is_defined",
    "is_written",
    "last_part",
    "plain_names",
    "symbol_conditions",
    "tied",
]

MOST_TIED = 1000  # candidates that are looked at more closely, so that the certain ones come first

# Which facts of a chunk may name a symbol, by the argument that asks for it.
_NAMING = {
    "callers": ("calls",),
    "references": ("calls", "uses", "extends", "decorators", "throws", "awaits", "return_types"),
}
RELATIONS = ("definition", *_NAMING)
_SAID = {"callers": "calls", "references": "refers to"}
_MARKS = re.compile(r"::|->|[.#\\/]")  # what languages write between the parts of a name
_BEFORE_A_NAME = ".:>#\\/"
_OWN = frozenset({"self", "this", "cls", "super", "Self", "static", "parent"})
_PACKAGE_FILES = frozenset({"__init__", "index", "mod", "lib", "main"})
_BY_DIRECTORY = frozenset({"go"})  # all files of a directory share their names
_GO_MODULE = re.compile(rb"^module\s+\"?([^\s\"]+)", re.MULTILINE)
_ABOVE = frozenset({"", "crate", "self", "super"})  # parts of a module's name that lead upwards


@dataclass(frozen=True, slots=True)
class Tie:
    """How a hit is tied to the name that was asked for."""

    relation: str  # definition, references or callers
    name: str  # as it stands in the code, or as an import resolves it
    by: str  # import, file, package; or name: a guess

    @property
    def is_certain(self) -> bool:
        """Whether the code itself says that this symbol is meant."""
        return self.by != "name"

    def told(self) -> str:
        """As a person would say it."""
        if self.relation == "definition":
            return f"defines {self.name}"
        how = f"by its {self.by}" if self.by == "import" else f"in the same {self.by}"
        return f"{_SAID[self.relation]} {self.name}: {how if self.is_certain else 'a guess, by the name alone'}"

    def to_json(self) -> dict[str, Any]:
        """The same for programs."""
        return {"relation": self.relation, "name": self.name, "resolved": self.is_certain, "by": self.by}


@dataclass(frozen=True, slots=True)
class _Definition:
    file: int
    name: tuple[str, ...]
    directory: tuple[str, ...]
    module: tuple[str, ...]
    language: str
    packages: frozenset[tuple[str, ...]] = frozenset()  # directories of Python that are packages
    import_path: tuple[str, ...] = ()  # of Go: what others write to import it

    def is_named_by(self, parts: Sequence[str]) -> bool:
        """Whether a full name leads here: the end of the path of the file, and behind it the name."""
        before = tuple(part for part in parts[: -len(self.name)] if part not in _ABOVE)
        if tuple(parts[-len(self.name) :]) != self.name or not before:
            return False
        if self.import_path:
            return before == self.import_path
        return any(self._ends_with(place, before) for place in (self.module, self.directory))

    def _ends_with(self, place: tuple[str, ...], before: tuple[str, ...]) -> bool:
        """Whether a module is called like this from somewhere: not from inside of a package, whose name is part of
        its own."""
        above = place[: -len(before)]
        return place[-len(before) :] == before and (not above or above not in self.packages)


def asked_symbols(request: SearchRequest) -> dict[str, str]:
    """The names that a request asks for, by the relation: a definition, references or callers."""
    return {relation: name for relation in RELATIONS if (name := getattr(request, relation)) is not None}


def is_defined(name: str, engine: Engine, store: StoreReader) -> bool:
    """Whether anything in the index defines this name."""
    return bool(_definitions(name, engine, store))


def is_written(relation: str, name: str, engine: Engine) -> bool:
    """Whether this name, or an end of it, stands anywhere in that relation; every definition stands somewhere."""
    return any(_named(engine.vocabulary(fact).values, name) for fact in _NAMING.get(relation, ("symbol",)))


def symbol_conditions(request: SearchRequest, engine: Engine) -> Iterator[Condition]:
    """What a chunk has to say to be a definition, a reference or a caller."""
    if request.definition is not None:
        yield Facts("symbol", _named(engine.vocabulary("symbol").values, request.definition))
    for relation, facts in _NAMING.items():
        needle = getattr(request, relation)
        if needle is not None:
            yield Either(tuple(Facts(fact, _named(engine.vocabulary(fact).values, needle)) for fact in facts))


def plain_names(request: SearchRequest) -> list[str]:
    """The last parts of the names that were asked for: what stands in the text."""
    return [last for name in asked_symbols(request).values() if (last := last_part(name))]


def last_part(name: str) -> str:
    """A name without what it is qualified by; empty where it is none."""
    return next(reversed(_parts(name.removesuffix("()"))), "")


def tied(ranked: list[Ranked], request: SearchRequest, engine: Engine, store: StoreReader) -> list[Ranked]:
    """The hits with the certain ones first, each saying how it is tied to what was asked for."""
    details = store.details([one.row.id for one in ranked])
    imports = store.summaries({one.row.file for one in ranked})
    ties: dict[int, list[Tie]] = {one.row.id: [] for one in ranked}
    if request.definition is not None:
        for one in ranked:
            ties[one.row.id].append(Tie("definition", one.row.name, "file"))
    for relation in _NAMING:
        needle = getattr(request, relation)
        definitions = [] if needle is None else _definitions(needle, engine, store)
        for one in ranked if needle is not None else ():
            facts = details.get(one.row.id, {}).get("facts", {})
            modules = imports.get(one.row.file, {}).get("imports", [])
            tie = _tie(relation, needle, one, facts, modules, definitions)
            if tie is not None:
                ties[one.row.id].append(tie)
    for one in ranked:
        one.notes = [tie.told() for tie in ties[one.row.id]]
        one.more["symbol"] = [tie.to_json() for tie in ties[one.row.id]]
    return sorted(ranked, key=lambda one: not _all_certain(ties[one.row.id]))


def _all_certain(ties: list[Tie]) -> bool:
    return bool(ties) and all(tie.is_certain for tie in ties)


def _tie(
    relation: str,
    needle: str,
    one: Ranked,
    facts: Mapping[str, list[str]],
    modules: Sequence[str],
    definitions: Sequence[_Definition],
) -> Tie | None:
    """The surest of the names in a chunk that may mean the symbol; None where the store has moved on."""
    written = [value for fact in _NAMING[relation] for value in _named(facts.get(fact, ()), needle)]
    own = {*facts.get("params", ()), *facts.get("writes", ())} - _OWN  # these hide what is outside
    guess = None
    for value in dict.fromkeys(written):
        hidden = _parts(value)[0] in own
        by = "name" if hidden else _how(value, one.row, one.path, modules, definitions)
        if by != "name":
            return Tie(relation, value, by)
        guess = guess or Tie(relation, value, by)
    return guess


def _how(value: str, row: ChunkRow, path: str, modules: Sequence[str], definitions: Sequence[_Definition]) -> str:
    parts = _parts(value)
    leading = [module for module in modules if _leads_to(module, value)]
    if leading:
        imported = max(leading, key=len)
        behind = [*_module_parts(imported), *_parts(value[len(imported) :].lstrip(_BEFORE_A_NAME))]
        if any(definition.is_named_by(behind) for definition in definitions):
            return "import"
    owner = _parts(row.name)[:-1]
    directory, _ = _place(path)
    for definition in definitions:
        if not _means(parts, owner, definition):
            continue
        if definition.file == row.file:
            return "file"
        if definition.language in _BY_DIRECTORY and definition.directory == directory:
            return "package"
    return "name"


def _leads_to(module: str, value: str) -> bool:
    """Whether a name begins with a module, and not just with its letters: `shop` is none of `shop_tools.close`."""
    behind = value[len(module) : len(module) + 1]
    return bool(module) and value.startswith(module) and (module[-1] in _BEFORE_A_NAME or behind in _BEFORE_A_NAME)


def _means(parts: Sequence[str], owner: Sequence[str], definition: _Definition) -> bool:
    """Whether a name that is written in the same file or package means the definition."""
    name = definition.name
    if len(parts) == 2 and parts[0] in _OWN:
        return parts[-1] == name[-1] and tuple(owner) == name[:-1]
    return tuple(parts) == name or (len(name) > 1 and tuple(parts) == name[-2:])


def _definitions(needle: str, engine: Engine, store: StoreReader) -> list[_Definition]:
    """The definitions of this name in the repository, and where each stands; `shop.stock.reserve` may be a name
    with the module that it is in."""
    symbols = engine.vocabulary("symbol").values
    parts = _parts(needle.removesuffix("()"))
    known = (
        (parts[:place], values)
        for place in range(len(parts))
        if (values := _named(symbols, ".".join(parts[place:])))
    )
    module, values = next(known, ([], ()))
    numbers = engine.candidates("code", Facts("symbol", values), MOST_TIED).chunks
    rows = store.chunks(numbers).values()
    files = store.file_rows({row.file for row in rows})
    layout = _layout(store)
    return [
        _located(row.file, tuple(_parts(name)), files[row.file], *layout)
        for row in rows
        for name in row.name.split(", ")
        if row.file in files and _is_in(files[row.file].path, module)
    ]


def _is_in(path: str, module: list[str]) -> bool:
    return not module or any(place[-len(module) :] == tuple(module) for place in _place(path))


def _located(
    number: int,
    name: tuple[str, ...],
    file: FileRow,
    packages: frozenset[tuple[str, ...]],
    go_modules: Mapping[tuple[str, ...], str],
) -> _Definition:
    directory, module = _place(file.path)
    root = next((directory[:n] for n in range(len(directory), -1, -1) if directory[:n] in go_modules), None)
    if file.language != "go" or root is None:
        known = packages if file.language == "python" else frozenset()
        return _Definition(number, name, directory, module, file.language, known)
    path = (*_parts(go_modules[root]), *directory[len(root) :])
    return _Definition(number, name, directory, module, file.language, import_path=path)


def _layout(store: StoreReader) -> tuple[frozenset[tuple[str, ...]], dict[tuple[str, ...], str]]:
    """The directories that are packages of Python, and those that are modules of Go, with their names."""
    numbers = store.path_vocabulary()[1]
    packages = frozenset(_place(path)[0] for path in numbers if path.endswith("__init__.py"))
    declared = {_place(path)[0]: numbers[path] for path in numbers if path.rpartition("/")[2] == "go.mod"}
    modules = {place: _GO_MODULE.search(store.text(number)) for place, number in declared.items()}
    return packages, {place: found[1].decode("utf-8", "replace") for place, found in modules.items() if found}


def _named(values: Iterable[str], needle: str) -> tuple[str, ...]:
    """The values that are this name, or end with it: `close` is in `shop.close`, `Shop::close` and `p->close`."""
    wanted = _parts(needle.removesuffix("()"))
    if not wanted:
        return ()
    last, length = wanted[-1], len(wanted[-1])
    alike = (
        value
        for value in values
        if value.endswith(last) and (len(value) == length or value[-length - 1] in _BEFORE_A_NAME)
    )
    return tuple(value for value in alike if _parts(value)[-len(wanted) :] == wanted)


def _parts(name: str) -> list[str]:
    return [part for part in _MARKS.split(name) if part]


def _module_parts(module: str) -> list[str]:
    """The parts of an imported module's name, without the ending of a file."""
    parts = _parts(module)
    return parts[:-1] if len(parts) > 1 and "/" in module and module.endswith(_ENDINGS) else parts


_ENDINGS = (
    ".js",
    ".mjs",
    ".cjs",
    ".jsx",
    ".ts",
    ".tsx",
    ".mts",
    ".cts",
    ".py",
    ".rb",
    ".php",
    ".lua",
    ".sh",
    ".h",
)


def _place(path: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The parts of a file's directory, and those of the module that it is."""
    folder, _, file = path.rpartition("/")
    directory = tuple(folder.split("/")) if folder else ()
    stem = file.partition(".")[0]
    return directory, directory if stem in _PACKAGE_FILES else (*directory, stem)
