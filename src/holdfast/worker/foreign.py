"""Servers of other toolkits as TARGET: objects of FastMCP and of the official SDK, served by their own transport.

They are known by what they can do, so neither toolkit is imported for an object that is none of theirs. In the
process of such a server nothing of ours is between it and its client; the host in front of it is what it gains.
"""

import asyncio
import inspect
import re
from pathlib import Path
from typing import Any

from holdfast.errors import UsageError
from holdfast.settings import Settings

__all__ = ["ForeignServer", "foreign_server", "looks_foreign", "serve_foreign"]


_IMPORT = re.compile(r"^[^\S\n]*(?:from|import)\s+(holdfast|fastmcp|mcp)\b", re.MULTILINE)
_READ = 1_000_000  # bytes of a file that are looked at


class ForeignServer:
    """A server object of another toolkit; `is_low_level` where it must be given the streams of a transport."""

    def __init__(self, inner: Any, *, is_low_level: bool) -> None:
        self.inner = inner
        self.is_low_level = is_low_level

    @property
    def name(self) -> str:
        """What it calls itself."""
        return str(getattr(self.inner, "name", "") or type(self.inner).__name__)


def foreign_server(found: Any) -> ForeignServer | None:
    """The object as a server that can be served on stdio; None if it is none."""
    if isinstance(found, type) or inspect.ismodule(found):
        return None
    if inspect.iscoroutinefunction(_member(found, "run_stdio_async")):
        return ForeignServer(found, is_low_level=False)
    low = inspect.iscoroutinefunction(_member(found, "run")) and callable(
        _member(found, "create_initialization_options")
    )
    return ForeignServer(found, is_low_level=True) if low else None


def looks_foreign(target: str) -> bool:
    """Whether the file of a TARGET imports another toolkit and not this one; nothing of it is run.

    For whoever must not import the code of a server, and can do with a guess.
    """
    place, colon, attribute = target.rpartition(":")
    place = place if colon and attribute.isidentifier() else target
    file = Path(place if place.endswith(".py") else place.replace(".", "/") + ".py")
    try:
        with file.open("rb") as opened:
            text = opened.read(_READ).decode("utf-8", "replace")
    except (OSError, ValueError):
        return False
    imported = set(_IMPORT.findall(text))
    return bool(imported) and "holdfast" not in imported


def _member(found: Any, name: str) -> Any:
    """A method of the object's type: objects that answer to every name, such as mocks, are not asked."""
    return getattr(type(found), name, None)


def serve_foreign(server: ForeignServer, settings: Settings) -> int:
    """Serve it on stdin and stdout until its client leaves; the exit code."""
    if settings.mcp_mode != "native":
        raise UsageError(
            f"{server.name} is served by its own transport, which has no mode {settings.mcp_mode}",
            remedy="leave out --mcp-mode",
        )
    if server.is_low_level:
        from holdfast.worker.sdk_foreign import run_low_level

        asyncio.run(run_low_level(server.inner))
        return 0
    run = server.inner.run_stdio_async
    # FastMCP greets people on stderr, which is the log of a client here.
    quiet = {"show_banner": False} if "show_banner" in inspect.signature(run).parameters else {}
    asyncio.run(run(**quiet))
    return 0
