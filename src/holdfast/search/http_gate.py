"""What an MCP client over HTTP may name in a call, and what it is told: what is served, and nothing else here.

On a pipe the client is whoever started the server, and may name any path of the machine. Over a network it may
not. Repositories and the workspace are those that are served; what a tool reads lies in one of them; where
something is fetched from, written to or loaded from is for the operator to say, not for a caller.
"""

import asyncio
import os
from collections.abc import Mapping
from pathlib import PureWindowsPath
from typing import Any

from holdfast.api.envelope import refusal
from holdfast.api.options import FrontOptions
from holdfast.search.http_repositories import DEFAULT, chosen_repository, chosen_workspace, settle_search
from holdfast.search.http_shown import Shown

__all__ = ["SearchGate"]

# Arguments that say where something comes from, goes to or is loaded from; each is refused under its own name.
_OPERATORS = ("url", "out", "dir", "cacheDir", "outPath", "artifactsDir", "codeDir", "proseDir")


class SearchGate:
    """The gate of a front with these options."""

    def __init__(self, options: FrontOptions) -> None:
        self._options = options
        self._shown = Shown(options)

    async def admit(self, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """The arguments as the tool is given them; HttpError for what may not be named."""
        if tool == "search":
            return await self._of_search(arguments)
        self._check(tool, arguments)
        if tool == "workspace_status":
            return await self._of_served_workspace(arguments)
        given = arguments.get("repoPath")
        # Without a repository this tool looks at the whole cache.
        if given is None and tool != "cache_gc":
            root = self._options.repositories[0].root
        else:
            chosen = await chosen_repository(self._options.repositories, DEFAULT if given is None else given)
            root = chosen.root
            arguments = {**arguments, "repoPath": root}
        if tool == "triage_ingest":
            await _check_inside(root, "inputPath", arguments.get("inputPath"))
        return arguments

    def shown(self, tool: str, result: Mapping[str, Any]) -> dict[str, Any]:
        """What a caller is told of the result of a tool."""
        return self._shown.result(tool, result)

    def error(self, error: Mapping[str, Any]) -> dict[str, Any]:
        """What a caller is told of an error."""
        return self._shown.error(error)

    def text(self, text: str) -> str:
        """What a caller is told of a text, such as a report of progress."""
        return self._shown.text(text)

    @staticmethod
    def _check(tool: str, arguments: Mapping[str, Any]) -> None:
        for name in _OPERATORS:
            if arguments.get(name) is not None:
                raise refusal("FORBIDDEN", f"{name} is for the operator to say, not over HTTP")
        if tool == "verify_extensions" and arguments.get("path") is not None:
            raise refusal("FORBIDDEN", "path is for the operator to say, not over HTTP")
        if arguments.get("all") is True:
            raise refusal("FORBIDDEN", "all is about repositories that are not served here, over HTTP")
        _refuse_package_managers(tool, arguments)
        path = arguments.get("path")
        if tool == "show_file" and isinstance(path, str) and _leads_out(path):
            raise refusal("FORBIDDEN", "path must be a path inside of the repository, over HTTP")

    async def _of_search(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """A search by default means the first repository; `repo` is a name that only the API has for it."""
        names_any = any(arguments.get(name) is not None for name in ("repoPath", "workspacePath"))
        if "repo" in arguments or not names_any:
            return arguments
        settled = dict(arguments)
        await settle_search(self._options, settled)
        return settled

    async def _of_served_workspace(self, arguments: dict[str, Any]) -> dict[str, Any]:
        served, given = self._options.workspace, arguments.get("workspacePath")
        if given is None and served is None:
            raise refusal("FORBIDDEN", "no workspace is served here", hint="Ask for the repositories one by one.")
        return {**arguments, "workspacePath": served if given is None else await chosen_workspace(served, given)}


def _refuse_package_managers(tool: str, arguments: Mapping[str, Any]) -> None:
    """Refuse what fetches or installs: built-in sources are fetched by pip, others are named by a repository."""
    by_hand = f"on the machine of the server: holdfast call search {tool}"
    if tool.startswith("download_"):
        raise refusal("FORBIDDEN", f"downloads start a package manager, and none is run over HTTP; {by_hand}")
    if tool == "bootstrap" and arguments.get("skipInstall") is False:
        raise refusal("FORBIDDEN", f"no package manager is run over HTTP; leave skipInstall out, or {by_hand}")
    if tool == "bootstrap" and arguments.get("skipDicts") is not True:
        raise refusal("FORBIDDEN", f"no package manager is run over HTTP; set skipDicts to true, or {by_hand}")


async def _check_inside(root: str, name: str, path: Any) -> None:
    """Refuse a file that is not in the repository, by where it really is."""
    if not isinstance(path, str):
        return  # the tool says what is wrong with it
    try:
        real = "" if _leads_out(path) else await asyncio.to_thread(os.path.realpath, os.path.join(root, path))
    except (OSError, ValueError):  # ValueError: a path with a NUL
        real = ""
    if not real.startswith(root.rstrip("/") + "/"):
        raise refusal("FORBIDDEN", f"{name} must be a path inside of the repository, over HTTP")


def _leads_out(path: str) -> bool:
    named = path.replace("\\", "/")
    is_absolute = named.startswith("/") or PureWindowsPath(path).is_absolute()
    return is_absolute or ".." in named.split("/") or path.startswith("~")
