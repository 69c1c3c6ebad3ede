"""The linters that are known: which files are theirs, how each is called, and how what it prints is read.

Nothing is written into the repository by any of them, and no file is changed. The configuration of a repository is
used as it is. `runs_code` of a linter is how that can run code of the repository: such a linter runs only where a
person names it, and for a client only where the operator allows it (`HOLDFAST_CODE_LINTERS`).

Left out, since all of them run code of the repository: mypy (plugins), pylint (init-hook, load-plugins), flake8
(local-plugins), golangci-lint (custom linters, the Go toolchain), clippy (build scripts), rubocop (require).
"""

import os
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import orjson

__all__ = ["LINTERS", "Finding", "Linter", "find_program"]

_LONGEST = 500  # characters of a message
_SEVERITIES = {1: "warning", 2: "error", "info": "info", "style": "info", "warning": "warning", "error": "error"}


class Finding(NamedTuple):
    """One remark of a linter about one place."""

    line: int
    column: int
    rule: str
    severity: str  # error, warning, info
    message: str


Found = Iterator[tuple[str, Finding]]


@dataclass(frozen=True, slots=True)
class Linter:
    """One linter. `command` takes the program and the paths, `parse` what it printed."""

    name: str
    languages: frozenset[str]
    configuration: tuple[str, ...]  # how names of files begin that change what it says; also versions of plugins
    command: Callable[[str, Sequence[str]], list[str]]
    parse: Callable[[bytes], Found]
    runs_code: str = ""  # by what a repository has its own code run; empty where it cannot
    is_in_modules: bool = False  # a project has its own, in node_modules


def find_program(linter: Linter, root: Path) -> str | None:
    """Where the linter is: of the project itself where that is usual, on the PATH, or beside this Python."""
    places = [str(root / "node_modules" / ".bin")] if linter.is_in_modules else []
    places += [*os.environ.get("PATH", os.defpath).split(os.pathsep), os.path.dirname(sys.executable)]
    places = [place for place in places if os.path.isabs(place)]  # others begin in a directory that nobody chose
    return shutil.which(linter.name, path=os.pathsep.join(places))


def _ruff(program: str, paths: Sequence[str]) -> list[str]:
    # Without these, a configuration may make it change files, or leave a cache among them.
    quiet = ["--no-fix", "--no-cache", "--force-exclude", "--exit-zero", "--quiet"]
    return [program, "check", *quiet, "--output-format", "json", "--", *paths]


def _eslint(program: str, paths: Sequence[str]) -> list[str]:
    return [program, "--format", "json", "--no-error-on-unmatched-pattern", "--", *paths]


def _shellcheck(program: str, paths: Sequence[str]) -> list[str]:
    return [program, "--format", "json1", "--", *paths]


def _read_ruff(printed: bytes) -> Found:
    for one in _listed(orjson.loads(printed)):
        place = one.get("location") or {}
        rule = one.get("code") or "syntax"
        yield one["filename"], _finding(place.get("row"), place.get("column"), rule, "warning", one["message"])


def _read_eslint(printed: bytes) -> Found:
    for file in _listed(orjson.loads(printed)):
        for one in _listed(file["messages"]):
            rule = one["ruleId"] or "syntax"
            if one["ruleId"] or one.get("fatal"):  # else it says only that the file is ignored
                place = one.get("line"), one.get("column")
                yield file["filePath"], _finding(*place, rule, one["severity"], one["message"])


def _read_shellcheck(printed: bytes) -> Found:
    for one in _listed(orjson.loads(printed)["comments"]):
        yield one["file"], _finding(one["line"], one["column"], f"SC{one['code']}", one["level"], one["message"])


def _listed(value: Any) -> list[dict[str, Any]]:
    """A list of objects; anything else is not what a linter says, and must not pass for "nothing was found"."""
    if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
        raise TypeError("a list of objects was expected")
    return value


def _finding(line: Any, column: Any, rule: str, severity: Any, message: str) -> Finding:
    where = int(line or 1), int(column or 1)  # a file as a whole has no line
    return Finding(*where, str(rule), _SEVERITIES.get(severity, "warning"), " ".join(message.split())[:_LONGEST])


LINTERS: dict[str, Linter] = {
    linter.name: linter
    for linter in (
        # Its configuration is TOML, and it has no plugins.
        Linter("ruff", frozenset({"python"}), ("pyproject.toml", "ruff.toml", ".ruff.toml"), _ruff, _read_ruff),
        # Its configuration is a list of directives; scripts are parsed, also those that they source.
        Linter("shellcheck", frozenset({"shell"}), (".shellcheckrc",), _shellcheck, _read_shellcheck),
        Linter(
            "eslint",
            frozenset({"javascript", "typescript", "tsx"}),
            (
                "eslint.config.",
                ".eslintrc",
                "package.json",
                "package-lock.json",
                "tsconfig",
                "yarn.lock",
                "pnpm-lock",
            ),
            _eslint,
            _read_eslint,
            runs_code="eslint.config.js, its plugins and node_modules are programs",
            is_in_modules=True,
        ),
    )
}
