"""What a library of .NET offers: the public types of its project with their public members, by namespace."""

import re
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

from holdfast.launch.evidence import Definition, Module, parsed
from holdfast.launch.facts.ecosystems.declared import Dialect, Offered, Told, module_symbol, one_line, symbols_of
from holdfast.launch.facts.ecosystems.dotnet.documentation import read_xmldoc
from holdfast.launch.facts.ecosystems.fields import body_of
from holdfast.launch.facts.ecosystems.left_out import is_left_out
from holdfast.launch.facts.interface import Import, Interface
from holdfast.launch.facts.manifest import Manifest
from holdfast.launch.facts.reading import LARGEST_CODE, Repository
from holdfast.launch.facts.usage import Usage
from holdfast.launch.module_names import is_unpublished

__all__ = ["dotnet_interface"]

_MOST_FILES = 3_000
_NAMESPACE = re.compile(r"^[^\S\n]*namespace\s+([\w.]+)\s*([;{]?)", re.MULTILINE)
_ATTRIBUTE = re.compile(r"^(?:\[(?:[^\[\]\"]|\"(?:[^\"\\]|\\.)*\"|\[[^\[\]]*\])*\]\s*)+")
_ASSEMBLY = re.compile(r"((?<![\w.])[\w.]+)\.dll\b", re.IGNORECASE)
_ASSEMBLY_NAME = re.compile(r"<AssemblyName>\s*([^<\s]+)")
_TYPES = ("class", "interface", "enum", "struct", "type")
_VARIANT = re.compile(r"^\s*(?:\w+\s*+(?:=[^,]*)?,?\s*$|[{}])")


def dotnet_interface(repository: Repository, manifests: Sequence[Manifest], _names: Sequence[str]) -> Interface:
    """The public types of the project that the first manifest describes."""
    interface = Interface()
    spaces: dict[str, list[Offered]] = {}
    for path in _sources(repository, manifests)[:_MOST_FILES]:
        text = repository.text(path, LARGEST_CODE) or ""
        module = parsed("csharp", path, text)
        if module is None:
            continue
        interface.lines += text.count("\n")
        interface.broken += [path] if module.has_errors else []
        for one in _offered(module, text):
            spaces.setdefault(one.module, []).append(one)
    spaces = {name: found for name, found in spaces.items() if not _is_borrowed(name, manifests)}
    interface.packages = _outermost(spaces)
    for name in sorted(spaces):
        first = spaces[name][0].told[0]
        at = next((n for n, line in enumerate(first.source, 1) if _NAMESPACE.match(line)), 1)
        shown = f"using {name};"
        interface.symbols.append(module_symbol(name, name, first.path, "", (at, at), _DIALECT, shown))
        is_exported = name in interface.packages
        every = _joined(spaces[name])
        interface.symbols += symbols_of((one._replace(is_exported=is_exported) for one in every), _DIALECT)
    if interface.packages:
        used = Usage(repository).ranked(spaces, r"^\s*(?:global\s+)?using\s+NAME\s*;")
        main = (used or interface.packages)[0]
        interface.imports.append(Import(f"using {main};", main))
    return interface


def _sources(repository: Repository, manifests: Sequence[Manifest]) -> list[str]:
    """The files of the package, tests and what is generated left out."""
    found: dict[str, None] = {}  # once each: folders of projects may lie in each other, or be the same
    for folder in _folders(repository, manifests):
        for path in repository.under([folder], (".cs",)):
            inner = path.removeprefix(folder).lstrip("/")
            if not is_left_out(inner) and not inner.endswith((".Designer.cs", ".g.cs", "AssemblyInfo.cs")):
                found[path] = None
    return list(found)


def _folders(repository: Repository, manifests: Sequence[Manifest]) -> list[str]:
    """Where the code is: below the manifest; a nuspec in a folder of its own packs what is built elsewhere."""
    path = manifests[0].path if manifests else ""
    folder = str(PurePosixPath(path).parent).removeprefix(".")
    if not path.endswith(".nuspec") or repository.under([folder], (".cs",)):
        return [folder]
    packed = {name.lower() for name in _ASSEMBLY.findall(repository.text(path, LARGEST_CODE) or "")}
    found = [
        str(PurePosixPath(project).parent).removeprefix(".")
        for project in repository.under([""], (".csproj",))
        if _assembly(repository, project).lower() in packed
    ]
    return found or [""]


def _assembly(repository: Repository, path: str) -> str:
    """What a project builds, by its name; "" for its tests."""
    named = _ASSEMBLY_NAME.search(repository.text(path, LARGEST_CODE) or "")
    name = named[1] if named else PurePosixPath(path).stem
    return "" if is_unpublished(name) else name


def _offered(module: Module, text: str) -> Iterator[Offered]:
    source = text.split("\n")
    spaces = [(text.count("\n", 0, found.start(1)) + 1, found[1]) for found in _NAMESPACE.finditer(text)]
    owners = {item.name: item for item in module.definitions if item.kind in _TYPES}
    for item in module.definitions:
        if item.kind not in _TYPES or item.visibility != "public" or not _is_reached(item, owners):
            continue
        space = next((name for line, name in reversed(spaces) if line <= item.start_line), "")
        if space:
            members = tuple(Told(one, source, module.path) for one in _members(item, module))
            yield Offered(space, item.name, (Told(item, source, module.path),), members)


def _is_borrowed(space: str, manifests: Sequence[Manifest]) -> bool:
    """Whether a namespace is the platform's: a type in it stands in for one that an old platform lacks."""
    top = space.partition(".")[0]
    return top in ("System", "Microsoft") and not any(one.value("name").startswith(top) for one in manifests)


def _is_reached(item: Definition, owners: dict[str, Definition]) -> bool:
    owner = item.owner
    return not owner or (owner in owners and owners[owner].visibility == "public")


def _members(owner: Definition, module: Module) -> Iterator[Definition]:
    for item in module.definitions:
        within = item.owner == owner.name and owner.start_line <= item.start_line <= owner.end_line
        is_operator = item.plain_name == "operator" or not re.search(r"\w", item.plain_name)
        if not within or item.kind in _TYPES or item.visibility != "public" or is_operator:
            continue
        if "override" in item.modifiers and not item.doc:
            continue
        yield item


def _joined(offered: Sequence[Offered]) -> list[Offered]:
    """Parts of a type that is written in several files are one type."""
    found: dict[str, Offered] = {}
    for one in offered:
        known = found.get(one.name)
        if known is None:
            found[one.name] = one
        else:
            first = known if known.told[0].definition.doc or not one.told[0].definition.doc else one
            found[one.name] = first._replace(members=(*known.members, *one.members))
    return list(found.values())


def _outermost(names: dict[str, list[Offered]]) -> list[str]:
    return sorted(name for name in names if not any(name.startswith(other + ".") for other in names))


def _signature(told: Told) -> str:
    item = told.definition
    if item.kind == "enum":
        shown = body_of(item, told.source, _VARIANT)
        if shown and "[" not in shown:
            return shown
    text = _ATTRIBUTE.sub("", one_line(told)).strip()
    if item.kind == "variable":
        text = re.sub(r"(?<!\s)\s*=\s*[^{};]+$", "", text) if len(text) > 120 else text
        return re.sub(r"\{\s*(get|set|init)\b.*", lambda found: _accessors(found[0]), text)
    return text


def _accessors(text: str) -> str:
    words = re.findall(r"(?<!private )(?<!internal )\b(get|set|init)\b(?=\s*[;{=])", text)
    return "{ " + " ".join(f"{word};" for word in dict.fromkeys(words)) + " }" if words else ""


_DIALECT = Dialect(read_xmldoc, _signature)
