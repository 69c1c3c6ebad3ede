"""The manifests of Python packages, read and never run: pyproject.toml (also of Poetry), setup.cfg, setup.py."""

import ast
import configparser
import re
import tomllib
from collections.abc import Iterable, Mapping
from typing import Any

from holdfast.launch.facts.manifest import Entry, Manifest, Reader
from holdfast.launch.facts.toml_lines import TomlLines

__all__ = ["READERS", "read_pyproject", "read_setup_cfg", "read_setup_py"]

_URLS = {
    "homepage": ("homepage", "home", "home-page", "url"),
    "documentation": ("documentation", "docs", "doc"),
    "source": ("source", "repository", "source code", "code", "github"),
}
_KEYWORD = re.compile(r"[,\s]+")
_DEEPEST = 60  # of brackets in a setup.py


def read_pyproject(path: str, text: str) -> Manifest | None:
    """A pyproject.toml; None where it describes no package or is no TOML."""
    try:
        document = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError):
        return None
    lines = TomlLines(text)
    project = document.get("project")
    if isinstance(project, dict) and isinstance(project.get("name"), str):
        return _pep621(path, project, lines)
    poetry = document.get("tool", {}).get("poetry") if isinstance(document.get("tool"), dict) else None
    if isinstance(poetry, dict) and isinstance(poetry.get("name"), str):
        return _poetry(path, poetry, lines)
    return None


def _pep621(path: str, project: Mapping[str, Any], lines: TomlLines) -> Manifest:
    found = Manifest(path, "pip")
    table = ("project",)
    for name, key in (("name", "name"), ("version", "version"), ("description", "description")):
        _take(found, name, project.get(key), lines.key(table, key))
    _take(found, "requires", project.get("requires-python"), lines.key(table, "requires-python"))
    licence = project.get("license")
    if isinstance(licence, dict):
        licence = licence.get("text")
    _take(found, "license", licence, lines.key(table, "license"))
    found.classifiers = _entries("", project.get("classifiers"), lines, table, "classifiers")
    found.dependencies = _entries("", project.get("dependencies"), lines, table, "dependencies")
    if not found.dependencies and "dependencies" not in _texts(project.get("dynamic")):
        start, end = lines.key(table, "dependencies") if "dependencies" in project else lines.table(table)
        found.without_dependencies = Entry("dependencies", "", start, end)
    for extra, wanted in _items(project.get("optional-dependencies")):
        found.extras[extra] = _entries(extra, wanted, lines, ("project", "optional-dependencies"), extra)
    for command, target in _items(project.get("scripts")):
        found.commands.append(Entry(command, str(target), *lines.key(("project", "scripts"), command)))
    _urls(found, ((name, url, lines.key(("project", "urls"), name)) for name, url in _items(project.get("urls"))))
    found.keywords = _texts(project.get("keywords"))
    return found


def _poetry(path: str, poetry: Mapping[str, Any], lines: TomlLines) -> Manifest:
    found = Manifest(path, "pip")
    table = ("tool", "poetry")
    for name in ("name", "version", "description", "license", "homepage", "documentation"):
        _take(found, name, poetry.get(name), lines.key(table, name))
    found.classifiers = _entries("", poetry.get("classifiers"), lines, table, "classifiers")
    below = (*table, "dependencies")
    for name, wanted in _items(poetry.get("dependencies")):
        version = wanted.get("version", "") if isinstance(wanted, dict) else wanted
        optional = isinstance(wanted, dict) and wanted.get("optional")
        requirement = _from_poetry(str(version)) if isinstance(version, str) else ""
        if name.lower() == "python":
            _take(found, "requires", requirement, lines.key(below, name))
        elif not optional:
            found.dependencies.append(Entry("", name + requirement, *lines.key(below, name)))
    for extra, wanted in _items(poetry.get("extras")):
        found.extras[extra] = _entries(extra, wanted, lines, (*table, "extras"), extra)
    for command, target in _items(poetry.get("scripts")):
        found.commands.append(Entry(command, str(target), *lines.key((*table, "scripts"), command)))
    found.keywords = _texts(poetry.get("keywords"))
    return found


def _from_poetry(version: str) -> str:
    """Poetry's caret means: this version or newer, up to the next one that may break."""
    version = version.strip()
    if version in ("", "*"):
        return ""
    plain = re.fullmatch(r"\^(\d++)(?:\.(\d++))?([\w.]*)", version)
    if plain is None:
        return version if version[0] in "<>=!~" else f"=={version}"
    major, minor = int(plain[1]), int(plain[2] or 0)
    ceiling = f"{major + 1}.0" if major or not plain[2] else f"0.{minor + 1}"
    return f">={version[1:]},<{ceiling}"


def read_setup_cfg(path: str, text: str) -> Manifest | None:
    """A setup.cfg; None where it has no metadata."""
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    try:
        parser.read_string(text)
    except (configparser.Error, ValueError):
        return None
    if not parser.has_option("metadata", "name"):
        return None
    found = Manifest(path, "pip")
    lines = text.split("\n")
    keys = {"name": "name", "version": "version", "description": "description", "license": "license"}
    for name, key in keys.items():
        _take(found, name, parser.get("metadata", key, fallback=None), _ini_lines(lines, "metadata", key))
    if found.value("version").startswith(("attr:", "file:")):
        del found.values["version"]
    _take(found, "homepage", parser.get("metadata", "url", fallback=None), _ini_lines(lines, "metadata", "url"))
    requires = parser.get("options", "python_requires", fallback=None)
    _take(found, "requires", requires, _ini_lines(lines, "options", "python_requires"))
    found.classifiers = _ini_list(parser, lines, "metadata", "classifiers")
    found.dependencies = _ini_list(parser, lines, "options", "install_requires")
    for extra in parser.options("options.extras_require") if parser.has_section("options.extras_require") else ():
        found.extras[extra] = [
            entry._replace(name=extra) for entry in _ini_list(parser, lines, "options.extras_require", extra)
        ]
    for entry in _ini_list(parser, lines, "options.entry_points", "console_scripts"):
        command, _, target = entry.value.partition("=")
        found.commands.append(entry._replace(name=command.strip(), value=target.strip()))
    found.keywords = [word for word in _KEYWORD.split(parser.get("metadata", "keywords", fallback="")) if word]
    return found


def _ini_lines(lines: list[str], section: str, key: str) -> tuple[int, int]:
    within = False
    for number, line in enumerate(lines, 1):
        if line.startswith("["):
            within = line.strip() == f"[{section}]"
        elif within and re.match(rf"{re.escape(key)}\s*[=:]", line, re.IGNORECASE):
            end = number
            while end < len(lines) and lines[end][:1] in (" ", "\t") and lines[end].strip():
                end += 1
            return number, end
    return 1, 1


def _ini_list(parser: configparser.ConfigParser, lines: list[str], section: str, key: str) -> list[Entry]:
    values = [line.strip() for line in parser.get(section, key, fallback="").split("\n")]
    start, end = _ini_lines(lines, section, key)
    return [
        Entry("", value, *_line_with(lines, value, start, end))
        for value in values
        if value and not value.startswith(("#", "file:"))
    ]


def _line_with(lines: list[str], value: str, start: int, end: int) -> tuple[int, int]:
    at = next((number for number in range(start, end + 1) if value in lines[number - 1]), 0)
    return (at, at) if at else (start, end)


def read_setup_py(path: str, text: str) -> Manifest | None:
    """The literal arguments of `setup(...)`; None where there are none, or the file is no Python."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and _callee(node) == "setup"]
    if not calls:
        return None
    arguments = {item.arg: item.value for item in calls[-1].keywords if item.arg}
    found = Manifest(path, "pip")
    names = {"name": "name", "version": "version", "description": "description", "license": "license"}
    for name, key in (names | {"requires": "python_requires", "homepage": "url"}).items():
        node = arguments.get(key)
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            _take(found, name, node.value, _span(node))
    if not found.value("name"):
        return None
    found.classifiers = _literals(arguments.get("classifiers"))
    found.dependencies = _literals(arguments.get("install_requires"))
    for extra, node in _pairs(arguments.get("extras_require")):
        found.extras[extra] = [entry._replace(name=extra) for entry in _literals(node)]
    for group, node in _pairs(arguments.get("entry_points")):
        for entry in _literals(node) if group == "console_scripts" else ():
            command, _, target = entry.value.partition("=")
            found.commands.append(entry._replace(name=command.strip(), value=target.strip()))
    return found


def _callee(node: ast.Call) -> str:
    function = node.func
    return (
        function.id
        if isinstance(function, ast.Name)
        else function.attr
        if isinstance(function, ast.Attribute)
        else ""
    )


def _span(node: ast.expr) -> tuple[int, int]:
    return node.lineno, node.end_lineno or node.lineno


def _literals(node: ast.expr | None) -> list[Entry]:
    if not isinstance(node, ast.List | ast.Tuple):
        return []
    return [
        Entry("", item.value, *_span(item))
        for item in node.elts
        if isinstance(item, ast.Constant) and isinstance(item.value, str)
    ]


def _pairs(node: ast.expr | None) -> Iterable[tuple[str, ast.expr]]:
    if isinstance(node, ast.Dict):
        for key, value in zip(node.keys, node.values, strict=True):
            if isinstance(key, ast.Constant) and isinstance(key.value, str):
                yield key.value, value


def _take(found: Manifest, name: str, value: object, lines: tuple[int, int]) -> None:
    if isinstance(value, str) and value.strip():
        found.values[name] = Entry(name, " ".join(value.split()), *lines)


def _entries(name: str, values: object, lines: TomlLines, table: tuple[str, ...], key: str) -> list[Entry]:
    return [Entry(name, value, *lines.item(table, key, value)) for value in _texts(values)]


def _texts(values: object) -> list[str]:
    return [value for value in values if isinstance(value, str) and value] if isinstance(values, list) else []


def _items(table: object) -> list[tuple[str, Any]]:
    return list(table.items()) if isinstance(table, dict) else []


def _urls(found: Manifest, urls: Iterable[tuple[str, Any, tuple[int, int]]]) -> None:
    for name, url, lines in urls:
        for meaning, names in _URLS.items():
            if name.lower() in names and meaning not in found.values:
                _take(found, meaning, url, lines)


READERS: Mapping[str, Reader] = {
    "pyproject.toml": read_pyproject,
    "setup.cfg": read_setup_cfg,
    "setup.py": read_setup_py,
}
