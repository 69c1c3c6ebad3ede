"""What the front knows of the tools behind it: which arguments stand in headers too. Kept for a moment only."""

import asyncio
import time
from typing import Any

from holdfast.api.link import HostLink
from holdfast.api.mcp.headers import Mirrored, mirrored_arguments
from holdfast.vocabulary.faults import Fault

__all__ = ["ToolTable"]

FRESH = 5.0  # seconds
PATIENCE = 10.0  # seconds that the host has for the list
MOST_PAGES = 100


class ToolTable:
    """The tools that have such arguments, by name."""

    def __init__(self, link: HostLink) -> None:
        self._link = link
        self._mirrored: dict[str, tuple[Mirrored, ...]] = {}
        self._known_until = 0.0
        self._asking: asyncio.Task[None] | None = None

    async def mirrored(self, tool: str) -> tuple[Mirrored, ...]:
        """The arguments of a tool that stand in headers; what was known before, while the host does not answer."""
        if time.monotonic() >= self._known_until:
            if self._asking is None or self._asking.done():
                self._asking = asyncio.create_task(self._ask())
            await asyncio.wait({self._asking}, timeout=PATIENCE)
        return self._mirrored.get(tool, ())

    async def _ask(self) -> None:
        tools: list[Any] = []
        cursor: dict[str, Any] = {}
        for _ in range(MOST_PAGES):
            page = await self._link.call("tools/list", cursor, is_own=True).answer
            if isinstance(page, Fault):
                return
            listed, following = page.get("tools"), page.get("nextCursor")
            tools += listed if isinstance(listed, list) else []
            if not isinstance(following, str):
                break
            cursor = {"cursor": following}
        named = [tool for tool in tools if isinstance(tool, dict) and isinstance(tool.get("name"), str)]
        found = {tool["name"]: mirrored_arguments(tool.get("inputSchema")) for tool in named}
        self._mirrored = {name: wanted for name, wanted in found.items() if wanted}
        self._known_until = time.monotonic() + FRESH
