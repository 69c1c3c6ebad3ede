"""The life of the front process: options, link, listening, and an end that leaves nobody waiting.

It ends when its host closes the pipe, or on SIGTERM and SIGINT: no new connections, a bounded time for what is
running, exit code 0. The listening socket is inherited, so the host can start another front on the same port
while clients wait in its backlog.
"""

import argparse
import asyncio
import logging
import socket
import sys
from collections.abc import Callable, Sequence
from typing import NamedTuple

from holdfast.api.bounded_server import BoundedServer, bounded_server
from holdfast.api.front import Front
from holdfast.api.guard import is_loopback
from holdfast.api.link import HostLink
from holdfast.api.mcp.scope import Gate
from holdfast.api.options import FrontOptions, parse_options, read_options_line
from holdfast.api.route import Route
from holdfast.errors import UsageError
from holdfast.process.privacy import hide_process
from holdfast.stdio.lifetime import Lifetime
from holdfast.stdio.streams import StandardStreams, claim_standard_streams

__all__ = ["run_front"]

LAST_ANSWERS = 2.0  # seconds in which answers that are ready have to leave
USAGE_EXIT = 2
SIGN_OF_LIFE = 3.0  # seconds between two; the host misses them when this process hangs


def run_front(
    routes: Callable[[FrontOptions], Sequence[Route]],
    arguments: Sequence[str] | None = None,
    *,
    gate: Callable[[FrontOptions], Gate] | None = None,
) -> int:
    """Serve until the host or a signal says to end; returns the exit code.

    `gate` is what the server says about calls of tools that come in as MCP.
    """
    given = _parser().parse_args(arguments)
    hide_process()  # tokens of clients go through here
    streams = claim_standard_streams()
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="%(name)s: %(message)s")
    try:
        options = parse_options(read_options_line(streams.reader))
        listener = socket.socket(fileno=given.fd)
        _check_exposure(options, listener)
    except UsageError as error:
        sys.stderr.write(f"holdfast http: {error}\n")
        return USAGE_EXIT
    loop = asyncio.new_event_loop()
    try:
        offer = _Offer(routes(options), None if gate is None else gate(options))
        loop.run_until_complete(_serve(options, listener, streams, offer))
        return 0
    finally:
        loop.close()


class _Offer(NamedTuple):
    """What a server has over HTTP."""

    routes: Sequence[Route]
    gate: Gate | None


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="The HTTP front of a host; started by the host, not by hand.")
    parser.add_argument("--fd", type=int, required=True, help="the inherited listening socket")
    return parser


async def _serve(options: FrontOptions, listener: socket.socket, streams: StandardStreams, offer: _Offer) -> None:
    lifetime = Lifetime(exit_with_parent=True)
    link = HostLink(options.id_prefix, on_lost=lifetime.end, max_message_bytes=options.max_message_bytes)
    front = Front(options, _bound(listener), link, offer.routes, offer.gate)
    server = bounded_server(front, options, front.metrics, front.stamp)
    with lifetime.watch():
        await link.open(streams)
        # Nobody reads the answer: the host prepares a worker for whoever comes first.
        link.call("server/discover", is_own=True)
        serving = asyncio.ensure_future(server.serve(sockets=[listener]))
        serving.add_done_callback(lambda _: lifetime.end("asked"))
        living = asyncio.ensure_future(_show_life(link))
        reason = await lifetime.wait()
        server.should_exit = True
        front.mcp.end_streams()
        if reason == "signal":
            await asyncio.wait({serving}, timeout=options.drain)
        link.fail_all("the server is shutting down")
        await asyncio.wait({serving}, timeout=LAST_ANSWERS)
        await _leave_behind(server, serving)
        living.cancel()
        await link.close(LAST_ANSWERS)


async def _show_life(link: HostLink) -> None:
    while True:
        link.show_life()
        await asyncio.sleep(SIGN_OF_LIFE)


async def _leave_behind(server: BoundedServer, serving: asyncio.Future[None]) -> None:
    """Cut off whoever has not read its answer by now."""
    server.force_exit = True
    for connection in list(server.server_state.connections):
        connection.transport.abort()
    await asyncio.wait({serving}, timeout=LAST_ANSWERS)
    serving.cancel()
    await asyncio.gather(serving, return_exceptions=True)


def _check_exposure(options: FrontOptions, listener: socket.socket) -> None:
    """Whoever can be reached by other machines wants to know who asks."""
    if not options.tokens and not is_loopback(_bound(listener)[0]):
        raise UsageError(
            "an address that other machines can reach needs a token", remedy="set one, or use 127.0.0.1"
        )


def _bound(listener: socket.socket) -> tuple[str, int]:
    address = listener.getsockname()
    return str(address[0]), int(address[1])
