"""The names of modules in any language: `tablekit.io`, `semver::op`, `example.org/kit/io`, `@scope/kit/io`."""

import re
from collections.abc import Iterable

__all__ = ["depth", "is_unpublished", "requirement_text", "within"]

_BETWEEN = re.compile(r"::|[./]")
_GLUED = re.compile(r"\[|;|[<>=!~]=|[<>]\d")
# Projects of .NET that nobody installs, by the end of their names.
_UNPUBLISHED = re.compile(
    r"(?:^|\.)(?:(?:(?:Unit|Integration)?[Tt]ests?|Test[A-Z]\w*)(?:\.\w+)?"
    r"|[Bb]enchmarks?|[Ss]amples?|[Ee]xamples?|[Dd]emos?)$"
)


def within(name: str, packages: Iterable[str]) -> str:
    """The package that a name is in: the longest of these; "" where it is in none."""
    found = [one for one in packages if name == one or (name.startswith(one) and _BETWEEN.match(name, len(one)))]
    return max(found, key=len, default="")


def depth(name: str, packages: Iterable[str]) -> int:
    """How many steps a name is below its package; where that is unknown, below its first part."""
    return len(_BETWEEN.findall(name[len(within(name, packages)) :]))


def requirement_text(name: str, requirement: str) -> str:
    """A dependency as one reads it: `attrs>=23`, `yocto-queue ^1.2`."""
    if not requirement:
        return name
    return f"{name}{requirement}" if _GLUED.match(requirement) else f"{name} {requirement}"


def is_unpublished(project: str) -> bool:
    """Whether a project is for those who work on the product: its name ends with Tests, Benchmarks or the like."""
    return _UNPUBLISHED.search(project) is not None
