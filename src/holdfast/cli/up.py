"""`holdfast up`: index a repository, serve it over MCP and HTTP, and show that both answer."""

import asyncio
import json
import re
import shlex
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from holdfast.cli.ending import INTERRUPTED
from holdfast.cli.indexing import locate, repository_options, say, stop_on_interrupt, told_plainly
from holdfast.errors import SessionError
from holdfast.interpreter import module_command

if TYPE_CHECKING:
    from pathlib import Path

    from holdfast.client.session import ClientSession
    from holdfast.search.repository import Repository

__all__ = ["command"]

ADDRESS = "127.0.0.1:7345"
QUERY = "where is an error turned into an answer"
_PLAIN = re.compile(r"[^\W\d]\w+")  # a word that means nothing else in a query
BOUND = 30.0  # seconds that the first answers may take
_ANNOUNCED = re.compile(r"HTTP on (http://\S+)")


@click.command(name="up")
@click.option("--http", "address", metavar="HOST:PORT", default=ADDRESS, show_default=True,
              help="Where HTTP is answered; port 0 takes any that is free.")  # fmt: skip
@click.option(
    "--query",
    metavar="TEXT",
    help=f"What is searched for, to show that it works. [default: {QUERY!r}, or a "
    "name that stands in the repository]",
)
@repository_options
def command(repo: str | None, address: str, query: str | None, **options: Any) -> int:
    """Index a repository, serve it over MCP and HTTP, and keep serving until Ctrl-C.

    One search goes through MCP and one through HTTP, so that you see both work. Then it prints what to paste into
    an MCP client, and a curl line.

    \b
    Examples:
      holdfast up
      holdfast up --repo ~/src/project --http 127.0.0.1:8000
    """
    from holdfast.cli.http_front import check_front, http_token
    from holdfast.process.privacy import hide_process
    from holdfast.settings import load_configuration

    hide_process()  # it has the token in its environment for as long as the host runs
    settings = load_configuration({"http": address}, server="search").settings
    check_front(settings)  # an address that is taken is told before anything is indexed: that may take minutes
    with told_plainly():
        repository, cache = locate(repo, options)
    access = _Access(http_token(settings), settings.http_token_file)
    serving = threading.Event()  # set once everything is shown; from then on Ctrl-C is how it is meant to end
    try:
        _bring_up_to_date(repository, cache)
        return asyncio.run(_serve(repository, cache, address, query, access, serving))
    except KeyboardInterrupt:
        say("stopped")
        return 0 if serving.is_set() else INTERRUPTED


class _Access(NamedTuple):
    """The token that HTTP wants, if it wants one, and the file that it is from, if it is from one."""

    token: str
    file: "Path | None"

    @property
    def headers(self) -> dict[str, str]:
        """What is sent."""
        return {"authorization": f"Bearer {self.token}"} if self.token else {}

    @property
    def words(self) -> str:
        """What a person types; the shell fills the token in, so that it is on no screen and in no history."""
        if not self.token:
            return ""
        source = f"$(cat {shlex.quote(str(self.file))})" if self.file is not None else "$HOLDFAST_HTTP_TOKEN"
        return f' -H "authorization: Bearer {source}"'


def _bring_up_to_date(repository: "Repository", cache: "Path") -> None:
    from holdfast.cli.index_text import describe_build
    from holdfast.cli.progress_bar import ProgressBar
    from holdfast.search.library import build_index

    with told_plainly(cache), stop_on_interrupt() as stop, ProgressBar(is_quiet=False) as progress:
        report = build_index(repository, cache, progress=progress, stop=stop, wait=BOUND)
    say(describe_build(report))


async def _serve(
    repository: "Repository",
    cache: "Path",
    address: str,
    query: str | None,
    access: _Access,
    serving: threading.Event,
) -> int:
    from holdfast.client.peer import PeerEndedError
    from holdfast.client.session import ClientSession
    from holdfast.client.transports import ProcessTransport

    words = ["serve", "search", f"--repo={repository.root}", f"--cache-dir={cache}"]
    base: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    said: list[str] = []

    def on_stderr(line: str) -> None:
        announced = _ANNOUNCED.search(line)
        if announced and not base.done():
            base.set_result(announced[1])
        said.append(line)
        say(line)

    command_line = module_command("holdfast", *words, f"--http={address}")
    transport = ProcessTransport(command_line, on_stderr=on_stderr)
    async with ClientSession(transport) as session:
        try:
            await session.connect(timeout=BOUND)
        except PeerEndedError:
            if not said:
                raise
            return 2  # it has said why it cannot serve, in words of its own
        query = await _query_for(session, query)
        await _show_mcp(session, query)
        url = await asyncio.wait_for(base, BOUND)
        await _show_http(url, query, access)
        serving.set()
        _tell_how_to_use(words, url, query, access)
        raise await session.wait_lost()


async def _query_for(session: "ClientSession", asked: str | None) -> str:
    """What was asked for; else what has an answer here: the usual question, or a name that stands in the index."""
    if asked is not None:
        return asked
    if _hits_of(await _ask(session, QUERY, "code")):
        return QUERY
    hits = [hit for mode in ("code", "all") for hit in _hits_of(await _ask(session, "*", mode))]
    named = (_PLAIN.findall(hit["name"]) or _PLAIN.findall(hit["file"]) for hit in hits)
    return next((words[-1] for words in named if words), QUERY)


async def _ask(session: "ClientSession", query: str, mode: str) -> Any:
    result = await session.call_tool("search", {"query": query, "mode": mode, "top": 3}, timeout=BOUND)
    return json.loads(result["content"][0]["text"])


def _hits_of(payload: Any) -> list[Any]:
    return [*payload["code"], *payload["prose"]][:3]


async def _show_mcp(session: "ClientSession", query: str) -> None:
    began = time.monotonic()
    result = await session.call_tool("search", {"query": query, "top": 3}, timeout=BOUND)
    _print_hits("MCP ", json.loads(result["content"][0]["text"]), began)


async def _show_http(url: str, query: str, access: _Access) -> None:
    began = time.monotonic()
    address = f"{url}/search?{urllib.parse.urlencode({'q': query, 'top': 3})}"
    answer = await asyncio.to_thread(_get, address, access.headers)
    _print_hits("HTTP", answer["result"]["search"], began)


def _get(address: str, headers: dict[str, str]) -> Any:
    # Not through a proxy that is set for this machine: it is our own server.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(urllib.request.Request(address, headers=headers), timeout=BOUND) as response:  # noqa: S310
            return json.load(response)
    except urllib.error.HTTPError as error:
        with error:
            told = error.read(10_000).decode(errors="replace")
        raise SessionError(f"the search over HTTP was answered with {error.code}: {_message_in(told)}") from None
    except OSError as error:
        raise SessionError(f"the search over HTTP failed: {error}") from error


def _message_in(told: str) -> str:
    try:
        return str(json.loads(told)["message"])
    except (ValueError, KeyError, TypeError):
        return told.strip()[:200]


def _print_hits(surface: str, payload: dict[str, Any], began: float) -> None:
    took = (time.monotonic() - began) * 1000
    print(f"\n{surface} search {payload['query']!r} ({took:.0f} ms)")
    hits = _hits_of(payload)
    for hit in hits:
        print(f"  {hit['file']}:{hit['startLine']}  {hit['headline']}")
    if not hits:
        print("  nothing found")


def _tell_how_to_use(words: list[str], url: str, query: str, access: _Access) -> None:
    from holdfast.setup.our_command import own_program

    program, *first = own_program()
    block = {"mcpServers": {"search": {"command": program, "args": [*first, *words]}}}
    print(f"\nPaste into your MCP client:\n\n{json.dumps(block, indent=2)}\n\nAsk over HTTP:\n")
    body = json.dumps({"query": query, "top": 3})
    print(f"  curl -s {url}/search -H 'content-type: application/json'{access.words} -d {shlex.quote(body)}\n")
    print(f"Serving {url} (browse {url}/docs) until Ctrl-C.", flush=True)
