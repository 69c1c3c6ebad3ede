"""What a Python package offers to those who import it, and by which name, without importing it.

A definition is public under the shortest name that leads to it: `tablekit.read_csv`, where the package re-exports
what `tablekit/_io/reader.py` defines. Tests, examples and vendored code offer nothing.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import NamedTuple

from holdfast.launch.evidence import Definition, Module, imported, parsed
from holdfast.launch.facts.reading import LARGEST_CODE, Repository

__all__ = ["Offered", "Surface", "python_surface"]

_MOST_FILES = 4_000
_LONGEST_CHAIN = 8
_ENOUGH = (
    4_000  # public definitions; whoever has more is not described whole, so the deepest modules are not parsed
)
_LEFT_OUT = re.compile(
    r"(?:^|/)(?:tests?|testing_data|docs?|examples?|samples?|demos?|benchmarks?|bench|scripts?|tools|build|"
    r"dist|node_modules|"
    r"_?vendor(?:ed|s)?|third_?party|extern(?:al|s)?|_vendor|site-packages|fixtures|migrations|typings|"
    r"\.\w[^/]*)/|"
    r"(?:^|/)(?:setup|conftest|noxfile|tasks|fabfile|manage|__main__|test_\w+|\w+_test)\.py$"
)


class Offered(NamedTuple):
    """A public definition: the module and name that users write, and where it really is."""

    module: str
    name: str
    definition: Definition
    home: Module

    @property
    def qualified(self) -> str:
        """The full name."""
        return f"{self.module}.{self.name}"


@dataclass(slots=True)
class Surface:
    """The public modules by name, and what is public, sorted by qualified name."""

    modules: dict[str, Module] = field(default_factory=dict)
    offered: list[Offered] = field(default_factory=list)
    packages: list[str] = field(default_factory=list)
    lines: int = 0
    broken: list[str] = field(default_factory=list)


def python_surface(repository: Repository, names: list[str]) -> Surface:
    """The surface of the packages of a repository; `names` are those that the distribution may have."""
    return _Finder(repository, names).found()


class _Finder:
    def __init__(self, repository: Repository, names: list[str]) -> None:
        self._repository = repository
        self._paths = self._modules()
        self._offering = self._chosen(names)
        self._tops = {name.partition(".")[0] for name in self._paths}
        self._parsed: dict[str, Module | None] = {}
        self._bindings: dict[str, dict[str, str]] = {}
        self._surface = Surface()

    def found(self) -> Surface:
        surface = self._surface
        surface.packages = sorted({name.partition(".")[0] for name in self._offering})
        best: dict[tuple[str, str, int], Offered] = {}
        for name in sorted(self._offering, key=lambda name: (name.count("."), name)):
            if any(part.startswith("_") for part in name.split(".")) or len(best) >= _ENOUGH:
                continue
            module = self._module(name)
            if module is None:
                continue
            surface.modules[name] = module
            for offered in self._offered(name, module):
                key = (offered.home.path, offered.definition.name, offered.definition.start_line)
                known = best.get(key)
                if known is None or _length(offered) < _length(known):
                    best[key] = offered
        surface.offered = sorted(best.values(), key=lambda item: item.qualified)
        surface.lines = sum(
            (self._repository.text(path, LARGEST_CODE) or "").count("\n") for path in self._offering.values()
        )
        surface.broken = sorted(module.path for module in self._parsed.values() if module and module.has_errors)
        return surface

    def _modules(self) -> dict[str, str]:
        """All modules of the repository by their dotted names."""
        paths = [path for path in self._repository.under([""], (".py",)) if not _LEFT_OUT.search(path)][
            :_MOST_FILES
        ]
        folders = {str(PurePosixPath(path).parent) for path in paths if path.endswith("__init__.py")}
        roots = [str(root).rstrip("/") for root in self._repository.inventory["source_roots"]]
        found: dict[str, str] = {}
        for path in paths:
            name = _dotted(path, folders, roots)
            if name:
                found.setdefault(name, path)
        return found

    def _chosen(self, names: list[str]) -> dict[str, str]:
        """The modules of the packages that are offered; others of the repository may hold what these pass on."""
        found = self._paths
        tops = {name.partition(".")[0] for name in found}
        wanted = {top for top in tops if top.lower() in {_plain(name) for name in names}}
        packages = {
            top
            for top in tops
            if any(
                name.startswith(top + ".") or found.get(name, "").endswith("__init__.py")
                for name in found
                if name.partition(".")[0] == top
            )
        }
        chosen = wanted or packages or tops
        return {name: path for name, path in found.items() if name.partition(".")[0] in chosen}

    def _module(self, name: str) -> Module | None:
        if name not in self._parsed:
            path = self._paths.get(name, "")
            text = self._repository.text(path, LARGEST_CODE) if path else None
            self._parsed[name] = parsed("python", path, text) if text is not None else None
        return self._parsed[name]

    def _offered(self, name: str, module: Module) -> Iterator[Offered]:
        own = {item.plain_name: item for item in module.definitions if not item.owner and item.kind != "method"}
        explicit = module.exports is not None
        is_package = module.path.endswith("__init__.py")
        names = list(module.exports or ()) if explicit else [key for key in own if not key.startswith("_")]
        if is_package and not explicit:
            bound = self._bound(name, module).items()
            names += [
                key for key, target in bound if not key.startswith("_") and key not in own and self._is_own(target)
            ]
        for key in dict.fromkeys(names):
            found = self._resolved(name, key, 0)
            if found is None or (key.startswith("__") and key.endswith("__")):
                continue
            home, definition = found
            if definition.kind == "variable" and not explicit:
                continue
            if not explicit and not is_package and not definition.doc:
                continue  # neither exported nor documented: public by accident
            yield Offered(name, key, definition, home)

    def _is_own(self, target: str) -> bool:
        """Whether it comes from what is offered itself: other things are passed on by saying so, in `__all__`."""
        return target.partition(".")[0] in self._surface.packages

    def _resolved(self, module_name: str, name: str, depth: int) -> tuple[Module, Definition] | None:
        """Where a name of a module is defined, through re-exports."""
        module = self._module(module_name)
        if module is None or depth > _LONGEST_CHAIN:
            return None
        own = _last_of(module, name)
        if own is not None:
            return module, own
        target = self._bound(module_name, module).get(name, "")
        home, _, inner = target.rpartition(".")
        return self._resolved(home, inner, depth + 1) if home in self._paths else None

    def _bound(self, name: str, module: Module) -> dict[str, str]:
        """What a module binds by importing from its own package, with the full target of each."""
        if name not in self._bindings:
            text = self._repository.text(module.path, LARGEST_CODE) or ""
            package = name if module.path.endswith("__init__.py") else name.rpartition(".")[0]
            self._bindings[name] = found = {}
            for item in imported("python", text) if "import" in text else ():
                target = _absolute(item.target, package)
                if target.partition(".")[0] not in self._tops:
                    continue
                if item.local == "*":
                    found.update(self._starred(target.removesuffix(".*")))
                else:
                    found[item.local] = target
        return self._bindings[name]

    def _starred(self, name: str) -> dict[str, str]:
        module = self._module(name)
        if module is None:
            return {}
        own = [
            item.plain_name
            for item in module.definitions
            if not item.owner and not item.plain_name.startswith("_")
        ]
        return {key: f"{name}.{key}" for key in (module.exports or own)}


def _length(offered: Offered) -> tuple[int, bool, int, str]:
    """How long a name is to write; of two in one module, the own one goes before an alias."""
    is_alias = offered.name != offered.definition.plain_name
    return offered.module.count("."), is_alias, len(offered.qualified), offered.qualified


def _plain(name: str) -> str:
    return re.sub(r"[-.\s]+", "_", name.strip()).lower()


def _last_of(module: Module, name: str) -> Definition | None:
    """The definition that counts: the last one, but no overload where there is a real one.

    A class that is bound again, `Table = with_equality(Table)`, is still that class.
    """
    every = [item for item in module.definitions if item.name == name]
    found = [item for item in every if item.kind != "variable"] or every
    real = [item for item in found if not any(mark.endswith("overload") for mark in item.decorators)]
    return (real or found)[-1] if found else None


def _dotted(path: str, folders: set[str], roots: list[str]) -> str:
    """The name that a file is imported by; nothing where it is no module of a package."""
    parts = list(PurePosixPath(path).with_suffix("").parts)
    for root in sorted((root for root in roots if root not in ("", ".")), key=len, reverse=True):
        if path.startswith(root + "/") and root not in folders:
            parts = parts[len(PurePosixPath(root).parts) :]
            break
    else:
        top = len(parts) - 1
        while top > 0 and "/".join(parts[:top]) in folders:
            top -= 1
        parts = parts[top:]
    if parts and parts[-1] == "__init__":
        parts.pop()
    return ".".join(parts) if parts and all(part.isidentifier() for part in parts) else ""


def _absolute(target: str, package: str) -> str:
    dots = len(target) - len(target.lstrip("."))
    if not dots:
        return target
    base = package.split(".")
    kept = base[: len(base) - dots + 1]
    return ".".join([*kept, target.lstrip(".")])
