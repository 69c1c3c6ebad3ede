"""package.json: the manifest of a package of npm."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from holdfast.launch.facts.ecosystems.json_lines import JsonLines
from holdfast.launch.facts.manifest import Entry, Manifest

__all__ = ["read_package_json"]

_MOST_WAYS = 60
_TYPES = ("types", "typings")
_SOURCES = ("source", "svelte", "ts")
_CODE = (".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".jsx", ".tsx")


def read_package_json(path: str, text: str) -> Manifest | None:
    """A package.json; None where it names no package, belongs to a private project, or is no JSON."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(data, dict) or not isinstance(data.get("name"), str) or not data["name"].strip():
        return None
    if data.get("private") is True and not {"main", "exports", "module"} & set(data):
        return None
    lines = JsonLines(text)
    found = Manifest(path, "npm")
    for name in ("name", "version", "description", "license", "homepage"):
        _take(found, name, data.get(name), lines.key(name))
    engines = data.get("engines")
    if isinstance(engines, dict):
        _take(found, "requires", engines.get("node"), lines.key("engines", "node"))
    for name, version in _texts(data.get("dependencies")):
        found.dependencies.append(Entry(name, version, *lines.key("dependencies", name)))
    for name, version in _texts(data.get("peerDependencies")):
        if name not in dict(_texts(data.get("dependencies"))):
            found.dependencies.append(Entry(name, version, *lines.key("peerDependencies", name)))
    if not found.dependencies:
        at = lines.key("dependencies") if "dependencies" in data else (1, text.rstrip("\n").count("\n") + 1)
        found.without_dependencies = Entry("dependencies", "", *at)
    _commands(found, data, lines)
    _features(found, data, lines)
    words = data.get("keywords")
    found.keywords = [word for word in words if isinstance(word, str) and word] if isinstance(words, list) else []
    found.entry_points = dict(_entry_points(data))
    found.packages = [data["name"]]
    return found


def _take(found: Manifest, name: str, value: object, lines: tuple[int, int]) -> None:
    if isinstance(value, str) and value.strip():
        found.values[name] = Entry(name, " ".join(value.split()), *lines)


def _texts(table: object) -> list[tuple[str, str]]:
    if not isinstance(table, dict):
        return []
    return [(name, value) for name, value in table.items() if name and isinstance(value, str)]


def _commands(found: Manifest, data: Mapping[str, Any], lines: JsonLines) -> None:
    given = data.get("bin")
    if isinstance(given, str):
        found.commands.append(Entry(found.value("name").rpartition("/")[2], given, *lines.key("bin")))
    for name, target in _texts(given):
        found.commands.append(Entry(name, target, *lines.key("bin", name)))


def _features(found: Manifest, data: Mapping[str, Any], lines: JsonLines) -> None:
    """What the manifest shows about how the package can be used."""
    ways = json.dumps(data.get("exports", ""))
    types = next((key for key in _TYPES if isinstance(data.get(key), str)), "exports" if '"types"' in ways else "")
    if types:
        found.features.append(
            Entry("{} ships with type declarations for TypeScript.", "typing", *lines.key(types))
        )
    at = lines.key("exports")
    if '"import"' in ways and '"require"' in ways:
        text = "{} can be loaded with `import` and with `require`."
        found.features.append(Entry(text, "modules", *at))
    elif data.get("type") == "module":
        found.features.append(Entry("{} is an ECMAScript module.", "modules", *lines.key("type")))
    if data.get("sideEffects") is False:
        text = "{} has no side effects, so that bundlers can leave out what is not used."
        found.features.append(Entry(text, "bundling", *lines.key("sideEffects")))


def _entry_points(data: Mapping[str, Any]) -> Iterator[tuple[str, list[str]]]:
    """By what is written behind the name of the package, the files that may declare what is there, best first."""
    exports = data.get("exports")
    ways: dict[str, Any] = {}
    if isinstance(exports, dict) and any(str(key).startswith(".") for key in exports):
        ways = {str(key): value for key, value in exports.items() if str(key).startswith(".")}
    elif exports is not None:
        ways = {".": exports}
    root = [data[key] for key in (*_TYPES, *_SOURCES) if isinstance(data.get(key), str)]
    root += [data[key] for key in ("module", "main") if isinstance(data.get(key), str)]
    ways.setdefault(".", None)
    for way in list(ways)[:_MOST_WAYS]:
        if "*" in way or way.endswith((".json", ".css", "/")):
            continue
        files = [name.removeprefix("./") for name in [*_leaves(ways[way], 0), *(root if way == "." else ())]]
        yield way.removeprefix("."), sorted(dict.fromkeys(files), key=_is_code_only)


def _is_code_only(name: str) -> bool:
    return not name.endswith((".d.ts", ".d.mts", ".d.cts"))


def _leaves(value: object, depth: int) -> Iterator[str]:
    if isinstance(value, str) and value.endswith(_CODE):
        yield value
    elif isinstance(value, dict) and depth < 8:
        for name in sorted(value, key=lambda name: (name not in _TYPES, name == "browser")):
            yield from _leaves(value[name], depth + 1)
    elif isinstance(value, list) and depth < 8:
        for one in value:
            yield from _leaves(one, depth + 1)
