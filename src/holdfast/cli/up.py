"""`holdfast up`: index a repository, serve it over MCP and HTTP, and show that both answer."""

import asyncio
import json
import re
import shlex
import sys
import time
import urllib.parse
import urllib.request
from typing import TYPE_CHECKING, Any

import click

from holdfast.cli.indexing import INTERRUPTED, locate, repository_options, say, stop_on_interrupt, told_plainly

if TYPE_CHECKING:
    from pathlib import Path

    from holdfast.client.session import ClientSession
    from holdfast.search.repository import Repository

__all__ = ["command"]

ADDRESS = "127.0.0.1:7345"
QUERY = "where is an error turned into an answer"
BOUND = 30.0  # seconds that the first answers may take
_ANNOUNCED = re.compile(r"HTTP on (http://\S+)")


@click.command(name="up")
@click.option("--http", "address", metavar="HOST:PORT", default=ADDRESS, show_default=True,
              help="Where HTTP is answered; port 0 takes any that is free.")  # fmt: skip
@click.option("--query", default=QUERY, help="What is searched for, to show that it works.")
@repository_options
def command(repo: str | None, address: str, query: str, **options: Any) -> int:
    """Index a repository, serve it over MCP and HTTP, and keep serving until Ctrl-C.

    One search goes through MCP and one through HTTP, so that you see both work. Then it prints what to paste into
    an MCP client, and a curl line.

    \b
    Examples:
      holdfast up
      holdfast up --repo ~/src/project --http 127.0.0.1:8000
    """
    repository, cache = locate(repo, options)
    try:
        _bring_up_to_date(repository, cache)
        asyncio.run(_serve(repository, cache, address, query))
    except KeyboardInterrupt:
        say("stopped")
        return INTERRUPTED
    return 0


def _bring_up_to_date(repository: "Repository", cache: "Path") -> None:
    from holdfast.cli.index_text import describe_build
    from holdfast.cli.progress_bar import ProgressBar
    from holdfast.search.library import build_index

    with told_plainly(cache), stop_on_interrupt() as stop, ProgressBar(is_quiet=False) as progress:
        report = build_index(repository, cache, progress=progress, stop=stop, wait=BOUND)
    say(describe_build(report))


async def _serve(repository: "Repository", cache: "Path", address: str, query: str) -> None:
    from holdfast.client.session import ClientSession
    from holdfast.client.transports import ProcessTransport

    words = ["serve", "search", f"--repo={repository.root}", f"--cache-dir={cache}"]
    base: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    def on_stderr(line: str) -> None:
        announced = _ANNOUNCED.search(line)
        if announced and not base.done():
            base.set_result(announced[1])
        say(line)

    command_line = [sys.executable, "-m", "holdfast", *words, f"--http={address}"]
    transport = ProcessTransport(command_line, on_stderr=on_stderr)
    async with ClientSession(transport) as session:
        await session.connect(timeout=BOUND)
        await _show_mcp(session, query)
        url = await asyncio.wait_for(base, BOUND)
        await _show_http(url, query)
        _tell_how_to_use(words, url, query)
        raise await session.wait_lost()


async def _show_mcp(session: "ClientSession", query: str) -> None:
    began = time.monotonic()
    result = await session.call_tool("search", {"query": query, "top": 3}, timeout=BOUND)
    _print_hits("MCP ", json.loads(result["content"][0]["text"]), began)


async def _show_http(url: str, query: str) -> None:
    began = time.monotonic()
    address = f"{url}/search?{urllib.parse.urlencode({'q': query, 'top': 3})}"
    answer = await asyncio.to_thread(_get, address)
    _print_hits("HTTP", answer["result"]["search"], began)


def _get(address: str) -> Any:
    with urllib.request.urlopen(address, timeout=BOUND) as response:  # noqa: S310 - our own server
        return json.load(response)


def _print_hits(surface: str, payload: dict[str, Any], began: float) -> None:
    took = (time.monotonic() - began) * 1000
    print(f"\n{surface} search {payload['query']!r} ({took:.0f} ms)")
    hits = [*payload["code"], *payload["prose"]][:3]
    for hit in hits:
        print(f"  {hit['file']}:{hit['startLine']}  {hit['headline']}")
    if not hits:
        print("  nothing found")


def _tell_how_to_use(words: list[str], url: str, query: str) -> None:
    import shutil

    found = shutil.which("holdfast")
    program, first = (found, []) if found else (sys.executable, ["-m", "holdfast"])
    block = {"mcpServers": {"search": {"command": program, "args": [*first, *words]}}}
    print(f"\nPaste into your MCP client:\n\n{json.dumps(block, indent=2)}\n\nAsk over HTTP:\n")
    body = json.dumps({"query": query, "top": 3})
    print(f"  curl -s {url}/search -H 'content-type: application/json' -d {shlex.quote(body)}\n")
    print(f"Serving {url} (browse {url}/docs) until Ctrl-C.", flush=True)
