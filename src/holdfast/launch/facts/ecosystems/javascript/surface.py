"""What a package of npm offers: the names that its entry points export, followed to where they are defined.

Declarations (`.d.ts`) are preferred where they are shipped. An entry point that is built is looked for where it is
built from.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import PurePosixPath
from typing import NamedTuple

from holdfast.launch.elements import sub_elements
from holdfast.launch.evidence import Definition, Module, parsed
from holdfast.launch.facts.ecosystems.declared import Dialect, Offered, Told, module_symbol, one_line, symbols_of
from holdfast.launch.facts.ecosystems.fields import body_of, fields_of
from holdfast.launch.facts.ecosystems.javascript.documentation import read_jsdoc
from holdfast.launch.facts.ecosystems.javascript.ways_in import is_shown, way_in
from holdfast.launch.facts.interface import Import, Interface
from holdfast.launch.facts.manifest import Manifest
from holdfast.launch.facts.reading import LARGEST_CODE, Repository
from holdfast.launch.facts.usage import Usage

__all__ = ["javascript_interface"]

_LONGEST_CHAIN = 8
_MOST_NAMES = 1_500
_ENDINGS = (".d.ts", ".ts", ".mts", ".d.mts", ".d.cts", ".tsx", ".js", ".mjs", ".cjs", ".jsx")
_BUILT = re.compile(r"^(?:dist|lib|build|out|esm|cjs|es|umd|types)(?:/(?:esm|cjs|es|umd|types|src))?/")
_FROM = re.compile(
    r"^export\s+(?:type\s+)?(\*(?:\s+as\s+(\w+))?|\{([^{}]*)\})\s*from\s*['\"]([^'\"]+)['\"]", re.MULTILINE
)
_IMPORT = re.compile(r"^import\s++(?:type\s++)?([^'\";]+?)(?<!\s)\s*from\s*['\"]([^'\"]+)['\"]", re.MULTILINE)
_REQUIRED = re.compile(
    r"^(?:const|let|var)\s+(\w+|\{[^{}]*\})\s*=\s*require\(\s*['\"]([^'\"]+)['\"]\s*\)", re.MULTILINE
)
_ASSIGNED = re.compile(
    r"(?:module\.)?exports\.(\w+)\s*=\s*require\(\s*['\"]([^'\"]+)['\"]\s*\)|"
    r"^[^\S\n]*+(\w+)\s*:\s*require\(\s*['\"]([^'\"]+)['\"]\s*\)",
    re.MULTILINE,
)
_LOCAL_NAMES = re.compile(r"^export\s*\{([^}]*)\}\s*;?(?<!\s)\s*$(?!\s*from)", re.MULTILINE)
_DEFAULT_NAME = re.compile(
    r"^(?:export\s+default\s+(\w+)\s*;?(?<!\s)\s*$|module\.exports\s*=\s*(\w+)\s*;?(?<!\s)\s*$|export\s*=\s*(\w+))",
    re.MULTILINE,
)
_FIELD = re.compile(r"^\s*(?:readonly\s+)?([A-Za-z_$][\w$]*)\??\s*:")
_CLASS_FIELD = re.compile(
    r"^\s*(?:public\s+)?(?:static\s+)?(?:readonly\s+)?([A-Za-z_$][\w$]*)[?!]?\s*:\s*+[^;{(]+[;=]"
)
_MODIFIERS = re.compile(r"^(?:export |default |declare )+")


class _Where(NamedTuple):
    """A name of a file that another one stands for."""

    path: str
    name: str


def javascript_interface(
    repository: Repository, manifests: Sequence[Manifest], _names: Sequence[str]
) -> Interface:
    """The interface of the package that the first manifest describes."""
    if not manifests:
        return Interface()
    return _Finder(repository, manifests[0]).found()


class _Finder:
    def __init__(self, repository: Repository, manifest: Manifest) -> None:
        self._repository = repository
        self._folder = str(PurePosixPath(manifest.path).parent).removeprefix(".")
        self._manifest = manifest
        self._package = manifest.value("name")
        self._modules: dict[str, Module | None] = {}
        self._exported: dict[str, dict[str, _Where]] = {}
        self._defaults: dict[str, str] = {}
        self._taken: set[tuple[str, str]] = set()
        self._usage = Usage(repository)

    def found(self) -> Interface:
        interface = Interface(packages=[self._package], language="javascript")
        for way in sorted(self._manifest.entry_points, key=lambda way: (way.count("/"), way)):
            path = self._entry(way, self._manifest.entry_points[way])
            if not path or self._module(path) is None:
                continue
            if path.endswith((".ts", ".mts", ".cts", ".tsx")):
                interface.language = "typescript"
            self._tell(interface, self._package + way, path)
        read = [module for module in self._modules.values() if module]
        interface.lines = sum((self._text(module.path)).count("\n") for module in read)
        interface.broken = sorted(module.path for module in read if module.has_errors)
        return interface

    def _tell(self, interface: Interface, name: str, path: str) -> None:
        offered = [one for one in self._offered(name, path) if one.told]
        if not offered:
            return
        dialect = Dialect(read_jsdoc, _signature)
        doc, line, end = _header(self._text(path))
        interface.symbols.append(module_symbol(name, name, path, doc, (line, end), dialect))
        symbols = list(symbols_of(offered, dialect))
        interface.symbols += symbols
        if len(interface.imports) < 3:
            interface.imports += self._import(name, path, offered)

    def _import(self, name: str, path: str, offered: Sequence[Offered]) -> Iterator[Import]:
        if name != self._package and not is_shown(self._usage, name):
            return  # a further way in, which nobody is told of
        is_common = "module.exports" in self._text(path) or "exports." in self._text(path)
        found = way_in(self._usage, name, offered, self._defaults.get(name, ""), is_common=is_common)
        if found is not None:
            yield found

    def _entry(self, way: str, files: Sequence[str]) -> str:
        """The file that declares an entry point: as written, beside it, or what it is built from."""
        wanted = list(files)
        wanted += ["index"] if not way else [way.removeprefix("/"), f"{way.removeprefix('/')}/index"]
        candidates = [found for name in wanted for found in self._versions(name)]
        if not way:
            candidates += [f"src/index{ending}" for ending in _ENDINGS] + [
                f"lib/index{ending}" for ending in _ENDINGS
            ]
        return next((path for name in candidates if self._repository.is_text(path := self._inside(name))), "")

    def _versions(self, name: str) -> Iterator[str]:
        stem = re.sub(r"(?:\.d)?\.[mc]?[jt]sx?$", "", name)
        for base in dict.fromkeys((stem, _BUILT.sub("src/", stem), _BUILT.sub("", stem))):
            if base == stem and name != stem and name.endswith((".d.ts", ".d.mts", ".d.cts")):
                yield name
            yield from (base + ending for ending in _ENDINGS)

    def _inside(self, name: str) -> str:
        return f"{self._folder}/{name}" if self._folder else name

    def _text(self, path: str) -> str:
        return self._repository.text(path, LARGEST_CODE) or ""

    def _module(self, path: str) -> Module | None:
        if path not in self._modules:
            text = self._repository.text(path, LARGEST_CODE)
            self._modules[path] = parsed(_language(path), path, text) if text is not None else None
        return self._modules[path]

    def _offered(self, name: str, path: str) -> Iterator[Offered]:
        for exported, where in list(self._exports(path).items())[:_MOST_NAMES]:
            shown = exported
            told = self._defined(where, 0)
            if exported == "default" and told:
                plain = told[0].definition.plain_name
                shown = plain if plain.isidentifier() and plain != "default" else _camel(self._package)
                self._defaults[name] = shown
            key = (told[0].path, told[0].definition.name) if told else ("", "")
            if not told or key in self._taken or not shown.isidentifier():
                continue
            self._taken.add(key)
            members = self._members(told)
            yield Offered(name, shown, _called(shown, told), members, is_exported=name == self._package)

    def _exports(self, path: str) -> dict[str, _Where]:
        """By the name that a file exports, where it is; found once, and nothing while it is being found."""
        if path not in self._exported:
            self._exported[path] = {}
            self._exported[path] = self._found_exports(path)
        return self._exported[path]

    def _found_exports(self, path: str) -> dict[str, _Where]:
        module = self._module(path)
        if module is None:
            return {}
        text = self._text(path)
        found = {name: _Where(path, name) for name in module.exports or ()}
        default = _DEFAULT_NAME.search(text)
        if default:
            found["default"] = _Where(path, next(filter(None, default.groups())))
        elif "default" in found:
            own = [one.name for one in module.definitions if "default" in one.modifiers]
            found["default"] = _Where(path, own[0] if own else "default")
        named = found.get("default")
        if named and named.name != "default":
            found.pop(named.name, None)
        for local in _LOCAL_NAMES.findall(text):
            for inner, outer in _pairs(local):
                found[outer] = _Where(path, inner)
        for again in _FROM.finditer(text):
            self._again(path, again, found)
        for given in _ASSIGNED.findall(text):
            name, source = given[0] or given[2], given[1] or given[3]
            found[name] = _Where(self._resolved(path, source), "default")
        return found

    def _again(self, path: str, again: re.Match[str], found: dict[str, _Where]) -> None:
        """What a file exports of another one."""
        source = self._resolved(path, again[4])
        if not source:
            return
        if again[2]:
            found.pop(again[2], None)
        elif again[3] is not None:
            for inner, outer in _pairs(again[3]):
                found[outer] = _Where(source, inner)
        else:
            for name, where in self._exports(source).items():
                if name != "default":
                    found.setdefault(name, where)

    def _resolved(self, path: str, source: str) -> str:
        if not source.startswith("."):
            return ""
        folder = PurePosixPath(path).parent
        parts: list[str] = []
        for part in (*folder.parts, *PurePosixPath(source).parts):
            if part == ".." and parts:
                parts.pop()
            elif part not in (".", ".."):
                parts.append(part)
        name = "/".join(parts)
        stem = re.sub(r"(?:\.d)?\.[mc]?[jt]sx?$", "", name)
        order = _ENDINGS if path.endswith(("ts", "tsx")) else (*_ENDINGS[6:], *_ENDINGS[:6])
        candidates = [*(stem + ending for ending in order), name, *(f"{name}/index{ending}" for ending in order)]
        return next((one for one in candidates if self._repository.is_text(one)), "")

    def _defined(self, where: _Where, depth: int) -> tuple[Told, ...]:
        """The definitions of a name of a file, through what it imports."""
        module = self._module(where.path) if where.path else None
        if module is None or depth > _LONGEST_CHAIN:
            return ()
        source = self._text(where.path).split("\n")
        own = [one for one in module.definitions if one.name == where.name and one.kind != "namespace"]
        if own:
            return tuple(Told(one, source, where.path) for one in own)
        other = self._exports(where.path).get(where.name)
        if other and other != where:
            return self._defined(other, depth + 1)
        text = self._text(where.path)
        for statement in (*_IMPORT.finditer(text), *_REQUIRED.finditer(text)):
            target = self._imported(where, statement)
            if target:
                return self._defined(target, depth + 1)
        return ()

    def _imported(self, where: _Where, found: re.Match[str]) -> _Where | None:
        source = self._resolved(where.path, found[2])
        if not source:
            return None
        clause = found[1]
        names, closed, _ = clause.partition("{")[2].partition("}")
        for inner, outer in _pairs(names) if closed else ():
            if outer == where.name:
                return _Where(source, inner)
        head = clause.partition("{")[0].strip(" ,\n")
        return _Where(source, "default") if head == where.name else None

    def _members(self, told: tuple[Told, ...]) -> tuple[Told, ...]:
        """The public methods and fields of a class or an interface."""
        found: list[Told] = []
        for one in told:
            owner, module = one.definition, self._module(one.path)
            if owner.kind not in ("class", "interface", "type") or module is None:
                continue
            methods = [
                item for item in module.definitions
                if item.owner == owner.name and owner.start_line <= item.start_line <= owner.end_line
            ] if owner.kind != "type" else []  # fmt: skip
            fields = fields_of(owner, one.source, _CLASS_FIELD if owner.kind == "class" else _FIELD, ("/**",))
            every = [*methods, *(item for item in fields if item.doc or owner.kind == "class")]
            found += [Told(item, one.source, one.path) for item in every if _is_public(item)]
        return tuple(sorted(found, key=lambda one: one.definition.start_line))


def _called(name: str, told: tuple[Told, ...]) -> tuple[Told, ...]:
    """The definitions under the name that users import; of overloads, not the one that implements them all."""
    declared = [one for one in told if one.definition.signature.endswith(";")]
    kept = declared if len(told) > 1 and declared else told
    return tuple(
        one._replace(
            definition=replace(
                one.definition,
                signature=re.sub(
                    rf"\b{re.escape(one.definition.plain_name)}\b", name, one.definition.signature, count=1
                ),
            )
        )
        for one in kept
    )


def _is_public(item: Definition) -> bool:
    name = item.plain_name
    return (
        item.visibility in ("public", "")
        and name[:1] not in "_#"
        and name.isidentifier()
        and not (item.doc and re.search(r"^[^\S\n]*@(?:private|internal|hidden|ignore)\b", item.doc, re.MULTILINE))
    )


def _language(path: str) -> str:
    return "tsx" if path.endswith("tsx") else "typescript" if path.endswith(("ts",)) else "javascript"


def _pairs(names: str) -> Iterator[tuple[str, str]]:
    """The names in braces, as they are inside and outside: `a as b`, `a: b`."""
    for one in sub_elements(names, re.compile(r"/\*|(?P<empty>//[^\n]*)"), re.compile(r"\*/")).split(","):
        words = re.sub(r"^\s*type\s+", "", one.strip())
        inner, _, outer = words.partition(" as ") if " as " in words else words.partition(":")
        if inner.strip():
            yield inner.strip(), (outer or inner).strip()


def _camel(package: str) -> str:
    first, *rest = re.split(r"[^A-Za-z0-9]+", package.rpartition("/")[2])
    return first + "".join(word.capitalize() for word in rest)


def _header(text: str) -> tuple[str, int, int]:
    """What a file says of itself in a comment with `@module`, `@packageDocumentation` or `@file`."""
    found = re.match(r"\s*/\*\*(.*?)\*/", text, re.DOTALL)
    if not found or not re.search(r"@(?:module|packageDocumentation|file|fileoverview)\b", found[1]):
        return "", 1, 1
    body = "\n".join(re.sub(r"^\s*\* ?", "", line) for line in found[1].split("\n"))
    body = re.sub(r"^@(?:file|fileoverview|module)\s*", "", body.strip(), flags=re.MULTILINE)
    return body, text.count("\n", 0, found.start(1)) + 1, text.count("\n", 0, found.end()) + 1


def _signature(told: Told) -> str:
    item = told.definition
    if item.kind in ("type", "interface", "enum"):
        shown = body_of(item, told.source, None)
        if shown:
            return _MODIFIERS.sub("", shown).rstrip(";")
    text = _MODIFIERS.sub("", one_line(told))
    return re.sub(r"^(?:module\.)?exports(?:\.\w+)?\s*=\s*", "", text)
