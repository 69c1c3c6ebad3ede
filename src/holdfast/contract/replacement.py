"""Whether one surface may take the place of another in a running session: nothing breaks that no version tells of.

A program of its own, for a host that wants to know and nothing else of the toolchain:

    python -m holdfast.contract.replacement <<< '{"before": {"server": {...}, "tools": [...]}, "after": {...}}'

prints in one line why it may not, or `fine`.
"""

import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from holdfast.contract.compare.changes import worst
from holdfast.contract.compare.diff import diff_surfaces
from holdfast.contract.compare.versions import VersionProblem, version_violations
from holdfast.contract.compare.view import read_surface
from holdfast.contract.inclusion.bump import Bump
from holdfast.errors import HoldfastError
from holdfast.wire.codec import RELAY_DEPTH, decode

__all__ = ["FINE", "problem_with"]

FINE = "fine"

_SHOWN = 3  # changes, and names of tools, that are told
# By where a version stands, in a tool or in the whole surface.
_DECLARED_AS = {
    ("/version", True): "version",
    ("/schemaVersion", True): "schema_version",
    ("/schemaVersion", False): "surface_version",
    ("/server/version", False): "the version of the server",
}


def problem_with(before: Any, after: Any) -> str:
    """What speaks against it: breaking changes, the first few, that no version tells of."""
    old, new = read_surface(before, "the tools that serve"), read_surface(after, "the new tools")
    diff = diff_surfaces(old, new)
    breaking = {name: worst(changes) for name, changes in diff.tools.items() if worst(changes) is Bump.MAJOR}
    found = list(version_violations(old, new, breaking, Bump.MAJOR)) if breaking else []
    if not found:
        return ""
    told = [
        f"{name}: {item.message}"
        for name, changes in diff.tools.items()
        for item in changes
        if item.bump is Bump.MAJOR
    ]
    return f"it breaks callers ({_some(told, '; ')}); to say so it must raise {', '.join(_floors(found))}"


def _floors(problems: Iterable[VersionProblem]) -> Iterator[str]:
    """Every version that does not go far enough, by the name under which it is declared, and what it must be."""
    tools: dict[tuple[str, Any], list[str]] = {}
    for problem in problems:
        tools.setdefault((problem.change.path, problem.floor), []).append(problem.change.tool)
    for (path, floor), names in tools.items():
        of_tools = f" of {_some(names, ', ')}" if names[0] else ""
        yield f"{_DECLARED_AS[path, bool(of_tools)]}{of_tools} to {floor}"


def _some(items: Sequence[str], between: str) -> str:
    more = f" and {len(items) - _SHOWN} more" if len(items) > _SHOWN else ""
    return between.join(items[:_SHOWN]) + more


def _main() -> None:
    """Answer one question from stdin."""
    try:
        asked = decode(sys.stdin.buffer.read(), max_depth=RELAY_DEPTH)
        sys.stdout.write(problem_with(asked["before"], asked["after"]) or FINE)
    except HoldfastError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    _main()
