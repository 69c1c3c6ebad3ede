"""The journeys of the real clients to the search server: list, search, show, two errors, a build that is given up.

The steps of the TypeScript clients, in `search_journey.mjs`, are the same as those of the Python client here.
Nothing is judged: a step that fails becomes an entry of the journal like any other.
"""

import asyncio
import json
import sys
from collections.abc import Awaitable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import anyio
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp_types import CallToolResult
from tests.clients.journeys import HERE, MODERN, PACKAGES, PINNED, node, package, survivors
from tests.search.sample import write_sample

from holdfast.search.library import build_index
from holdfast.search.repository import find_repository

__all__ = ["SEARCH_JOURNEYS", "SearchJourney", "SearchSeen", "served", "take_together"]

BOUND = 30.0
LARGE = 400  # files of the repository whose build is given up: some seconds of work
Entry = dict[str, Any]


class SearchJourney(NamedTuple):
    """One client against one search server."""

    client: str
    mode: str
    revision: str
    hosted: bool = False

    @property
    def name(self) -> str:
        """A name that is unique among all journeys."""
        return "-".join((self.client, "hosted" if self.hosted else "alone", self.mode, self.revision))


SEARCH_JOURNEYS = (
    SearchJourney("python", "native", PINNED),
    SearchJourney("python", "sdk", MODERN),
    SearchJourney("typescript_v1", "native", PINNED, hosted=True),
    SearchJourney("typescript_v2", "native", MODERN, hosted=True),
)


@dataclass(frozen=True)
class SearchSeen:
    """A journey that was taken, and what was left of it."""

    journey: SearchJourney
    journal: Entry
    survivors: list[str]


def served(parent: Path) -> Path:
    """A directory with an indexed repository `repo`, a large one `large` without an index, and the `cache`."""
    build_index(find_repository(write_sample(parent / "repo")), parent / "cache")
    large = parent / "large"
    (large / ".git").mkdir(parents=True)
    (large / ".git" / "HEAD").write_text("ref: refs/heads/trunk\n")
    text = "".join(f"def step_{number}(value):\n    return value + {number}\n\n\n" for number in range(60))
    for number in range(LARGE):
        (large / f"module_{number}.py").write_text(text)
    return parent


def server_of(journey: SearchJourney, parent: Path) -> Entry:
    """How the server of a journey is started; its state is in a directory of its own."""
    places = ["--repo", str(parent / "repo"), "--cache-dir", str(parent / "cache"), "--mcp-mode", journey.mode]
    alone = [] if journey.hosted else ["--standalone"]
    state = parent / journey.name
    state.mkdir()
    return {
        "command": sys.executable,
        "args": ["-m", "holdfast", "serve", "search", *alone, *places],
        "env": {"HOLDFAST_STATE_DIR": str(state), "HOLDFAST_DRAIN": "0"},
    }


def take_together(client: str, parent: Path) -> dict[SearchJourney, SearchSeen]:
    """Take all journeys of one client, one after the other with Python, at the same time with Node."""
    journeys = [journey for journey in SEARCH_JOURNEYS if journey.client == client]
    servers = {journey: server_of(journey, parent) for journey in journeys}
    take = _with_python if client == "python" else _with_node
    journals = take(servers, parent / "large")
    return {
        journey: SearchSeen(journey, journals[journey.name], survivors(parent / journey.name))
        for journey in journeys
    }


def _with_node(servers: dict[SearchJourney, Entry], large: Path) -> dict[str, Entry]:
    client = next(iter(servers)).client
    package("@modelcontextprotocol/sdk" if client == "typescript_v1" else "@modelcontextprotocol/client")
    modern = {"mode": {"pin": MODERN}}
    plan = {
        journey.name: {
            "server": server,
            "agree": modern if journey.revision == MODERN else None,
            "repo": str(large),
        }
        for journey, server in servers.items()
    }
    done = node(str(HERE / "search_journey.mjs"), str(PACKAGES), client, json.dumps(plan))
    assert done.returncode == 0, done.stderr
    journals: dict[str, Entry] = json.loads(done.stdout)
    return journals


def _with_python(servers: dict[SearchJourney, Entry], large: Path) -> dict[str, Entry]:
    async def one_by_one() -> dict[str, Entry]:
        return {journey.name: await _journey(journey, server, large) for journey, server in servers.items()}

    return asyncio.run(one_by_one())


async def _journey(journey: SearchJourney, server: Entry, large: Path) -> Entry:
    mode = "auto" if journey.revision == MODERN else "legacy"
    errors = Path(server["env"]["HOLDFAST_STATE_DIR"], "stderr").open("w")  # noqa: ASYNC230, SIM115
    with errors:
        transport = stdio_client(StdioServerParameters(**server), errors)
        async with asyncio.timeout(BOUND), Client(transport, mode=mode) as client:
            return await _steps(client, str(large))


async def _steps(client: Client, large: str) -> Entry:
    info, tools = client.server_info, (await client.list_tools()).tools
    return {
        "revision": client.protocol_version,
        "server": info and info.model_dump(exclude_none=True),
        "tools": [tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in tools],
        "search": await _call(client, "search", query="budget", lang="python"),
        "shown": await _call(client, "show_file", path="src/budget.py", startLine=1, endLine=1),
        "invalid": await _call(client, "search", query="budget", top="many", nonsense=1),
        "refused": await _call(client, "search", query="budget", repoPath=large),
        "cancelled": await _cancel(client, large),
        "afterwards": await _call(client, "index_status", repoPath=large),
    }


async def _cancel(client: Client, large: str) -> Entry:
    heard: list[Entry] = []
    with anyio.CancelScope() as scope:

        async def on_progress(progress: float, total: float | None, message: str | None) -> None:
            heard.append({"progress": progress, "total": total, "message": message})
            scope.cancel()

        call = client.call_tool("build_index", {"repoPath": large}, progress_callback=on_progress)
        return {**await _attempt(call), "heard": heard}
    return {"error": {"message": "cancelled"}, "heard": heard}


async def _call(client: Client, tool: str, **arguments: Any) -> Entry:
    return await _attempt(client.call_tool(tool, arguments))


async def _attempt(call: Awaitable[CallToolResult]) -> Entry:
    try:
        result = await call
    except MCPError as error:
        return {"error": {"code": error.code, "message": error.message, "data": error.data}}
    return {"result": result.model_dump(mode="json", by_alias=True, exclude_none=True)}
