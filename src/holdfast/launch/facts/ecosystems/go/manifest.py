"""go.mod: the manifest of a module of Go."""

import re

from holdfast.launch.facts.manifest import Entry, Manifest

__all__ = ["read_go_mod"]

_MODULE = re.compile(r"^module\s+\"?([^\s\"]+)\"?")
_VERSION = re.compile(r"^go\s+(\d+(?:\.\d+)*)\S*\s*(?://.*)?$")
_REQUIRED = re.compile(r"^(?:require\s+)?([\w.~/-]+\.[\w.~/-]+)\s+(v\S+)\s*(//.*)?$")


def read_go_mod(path: str, text: str) -> Manifest | None:
    """A go.mod; None where it names no module."""
    found = Manifest(path, "go")
    block, first = "", 0
    for number, line in enumerate(text.split("\n"), 1):
        plain = line.strip()
        if named := _MODULE.match(plain):
            found.values.setdefault("name", Entry("name", named[1], number, number))
        elif version := _VERSION.match(plain):
            found.values["requires"] = Entry("requires", f">={version[1]}", number, number)
        elif plain.endswith("("):
            block, first = plain.split()[0].rstrip("("), number
        elif plain == ")":
            block = ""
        elif block == "require" or (not block and plain.startswith("require ")):
            required = _REQUIRED.match(plain)
            if required and "indirect" not in (required[3] or ""):
                found.dependencies.append(Entry(required[1], required[2], number, number))
    if not found.value("name"):
        return None
    if not found.dependencies and not first:
        found.without_dependencies = Entry("dependencies", "", 1, max(1, text.rstrip("\n").count("\n") + 1))
    found.packages = [found.value("name")]
    return found
