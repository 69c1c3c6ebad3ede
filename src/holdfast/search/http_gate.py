"""What an MCP client over HTTP may name in a call: repositories that are served, and places inside of them.

On a pipe the client is whoever started the server, and may name any path of the machine. Over a network it may
not: other repositories are refused, as they are everywhere over HTTP, and so are paths that lead out of one.
"""

from pathlib import PurePosixPath, PureWindowsPath
from typing import Any

from holdfast.api.envelope import refusal
from holdfast.api.mcp.scope import Gate
from holdfast.api.options import FrontOptions
from holdfast.search.http_repositories import chosen_repository

__all__ = ["search_gate"]

_PATHS = ("workspacePath", "artifactsDir", "out", "dir", "cacheDir", "outPath", "inputPath", "path")
_REMOTE = ("http://", "https://", "pypi:")


def search_gate(options: FrontOptions) -> Gate:
    """The gate of a front with these options."""

    async def checked(tool: str, arguments: dict[str, Any]) -> dict[str, Any]:  # noqa: ARG001 - the same for all
        for name in _PATHS:
            value = arguments.get(name)
            if isinstance(value, str) and _leads_out(value):
                raise refusal("FORBIDDEN", f"{name} must be a path inside of the repository, over HTTP")
        source = arguments.get("url")
        for one in source if isinstance(source, list) else [source]:
            if isinstance(one, str) and not (_is_remote(one) or _is_remote(one.partition("=")[2])):
                raise refusal("FORBIDDEN", "url must be a URL, over HTTP")
        if arguments.get("all") is True:
            raise refusal("FORBIDDEN", "all is about repositories that are not served here, over HTTP")
        given = arguments.get("repoPath")
        if given is None:
            return arguments
        return {**arguments, "repoPath": (await chosen_repository(options.repositories, given)).root}

    return checked


def _is_remote(source: str) -> bool:
    return source.lower().startswith(_REMOTE)


def _leads_out(path: str) -> bool:
    named = PurePosixPath(path.replace("\\", "/"))
    return (
        named.is_absolute() or ".." in named.parts or PureWindowsPath(path).is_absolute() or path.startswith("~")
    )
