"""Cargo.toml: the manifest of a crate."""

import tomllib
from collections.abc import Mapping
from typing import Any

from holdfast.launch.facts.manifest import Entry, Manifest
from holdfast.launch.facts.toml_lines import TomlLines

__all__ = ["read_cargo_toml"]


def read_cargo_toml(path: str, text: str) -> Manifest | None:
    """A Cargo.toml; None where it describes no crate or is no TOML. A workspace may give values to its crates."""
    try:
        document = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError):
        return None
    package = document.get("package")
    if not isinstance(package, dict) or not isinstance(package.get("name"), str):
        return None
    shared = _table(_table(document.get("workspace")).get("package"))
    lines = TomlLines(text)
    found = Manifest(path, "cargo")
    keys = {"requires": "rust-version", "documentation": "documentation", "homepage": "homepage"}
    keys |= {name: name for name in ("name", "version", "description", "license")}
    for name, key in keys.items():
        value: Any = package.get(key)
        table: tuple[str, ...] = ("package",)
        if isinstance(value, dict) and value.get("workspace"):
            value, table = shared.get(key), ("workspace", "package")
        if isinstance(value, str) and value.strip():
            shown = f">={value.strip()}" if name == "requires" else " ".join(value.split())
            found.values[name] = Entry(name, shown, *lines.key(table, key))
    _dependencies(found, document, lines)
    _features(found, document, lines)
    words = package.get("keywords")
    found.keywords = [word for word in words if isinstance(word, str)] if isinstance(words, list) else []
    library = _table(document.get("lib"))
    found.entry_points = {"": [str(library.get("path") or "src/lib.rs")]}
    found.packages = [str(library.get("name") or package["name"]).replace("-", "_")]
    for program in document.get("bin", ()) if isinstance(document.get("bin"), list) else ():
        if isinstance(program, dict) and isinstance(program.get("name"), str) and "lib" not in document:
            found.commands.append(
                Entry(program["name"], str(program.get("path", "")), *lines.key(("package",), "name"))
            )
    return found


def _table(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _dependencies(found: Manifest, document: Mapping[str, Any], lines: TomlLines) -> None:
    for name, wanted in _table(document.get("dependencies")).items():
        version = wanted.get("version", "") if isinstance(wanted, dict) else wanted
        if isinstance(wanted, dict) and wanted.get("optional"):
            continue
        at = lines.key(("dependencies",), name)
        at = at if at != (1, 1) else lines.table(("dependencies", name))
        found.dependencies.append(Entry(name, version if isinstance(version, str) else "", *at))
    if not found.dependencies and not _table(document.get("target")):
        at = lines.table(("dependencies",)) if "dependencies" in document else lines.table(("package",))
        found.without_dependencies = Entry("dependencies", "", *at)


def _features(found: Manifest, document: Mapping[str, Any], lines: TomlLines) -> None:
    default = _table(document.get("features")).get("default")
    usual = {"default", *(default if isinstance(default, list) else ())}
    for name, parts in _table(document.get("features")).items():
        if name in usual or name.startswith("_") or not isinstance(parts, list):
            continue
        at = lines.key(("features",), name)
        added = [str(part).removeprefix("dep:") for part in parts]
        found.extras[name] = [Entry(part, "", *at) for part in added if part != name] or [Entry("", "", *at)]
    if isinstance(default, list) and default:
        names = " and ".join(f"`{name}`" for name in default[:6])
        word, verb = ("feature", "is") if len(default) == 1 else ("features", "are")
        text = f"The {word} {names} of {{}} {verb} on by default."
        found.features.append(Entry(text, "features", *lines.key(("features",), "default")))
    meant = str(_table(document.get("features")))
    for name, wanted in _table(document.get("dependencies")).items():
        # An optional dependency is a feature of its own name, unless a feature names it as a dependency.
        if isinstance(wanted, dict) and wanted.get("optional") and f"dep:{name}" not in meant:
            at = lines.key(("dependencies",), name)
            at = at if at != (1, 1) else lines.table(("dependencies", name))
            found.extras.setdefault(name, [Entry(name, str(wanted.get("version", "")), *at)])
