"""MCP on stdin and stdout through the official SDK: its low-level server, and its stdio transport for the framing.

The mode needs the extra `holdfast[sdk]` and never falls back to another mode without it. What a client is
answered is decided by the same `Session` as in the other modes; `sdk_carrier` tells how the two meet.
"""

import asyncio
from typing import TYPE_CHECKING, Any, cast

from holdfast.errors import UsageError
from holdfast.observe.sink import EventSink
from holdfast.settings import Settings
from holdfast.stdio.lifetime import Lifetime
from holdfast.stdio.outbox import Outbox
from holdfast.stdio.streams import StandardStreams
from holdfast.worker.registry import Registry
from holdfast.worker.sdk_streams import LineSource, LineTarget, Unframed
from holdfast.worker.stdio import WRITE_BOUND, Ended, end_calls

if TYPE_CHECKING:
    from holdfast.worker.sdk_carrier import Carrier

__all__ = ["require_sdk", "serve_sdk"]


def require_sdk() -> None:
    """Refuse to go on when the official SDK, in a version that this mode can use, is not installed."""
    try:
        import mcp_types  # noqa: F401 - the packages of version 2 and later
        from mcp.server.lowlevel import Server as _  # noqa: F401
    except ImportError as error:
        raise UsageError(
            "mode sdk needs the official MCP SDK, version 2.3 or later, and it is not installed",
            remedy="pip install 'holdfast[sdk]'",
        ) from error


async def serve_sdk(
    server: Registry, settings: Settings, log: EventSink, streams: StandardStreams, state: Any
) -> Ended:
    """Serve one client through the SDK until there is a reason to end; tell how it ended."""
    from mcp.server.stdio import stdio_server

    from holdfast.worker.sdk_carrier import Carrier

    # The SDK's transport is given streams of ours. Its own read and write in threads that cannot be interrupted,
    # so that a signal would only be heeded once the client says something.
    lifetime = Lifetime(exit_with_parent=settings.exit_with_parent)
    source = LineSource(settings.max_message_bytes, on_end=lambda: lifetime.end("eof"))
    carrier = Carrier(server, settings, log, state)

    def hold(full: bool) -> None:
        source.pause(full)
        carrier.session.calls.hold(full)

    outbox = Outbox(Unframed(), log, on_full=hold, on_lost=lambda: lifetime.end("broken_pipe"))
    await outbox.open(streams.writer, streams.reader)
    source.open(streams.reader)
    lines = cast("Any", carrier.lines_for_sdk(source))
    transport = stdio_server(stdin=lines, stdout=cast("Any", LineTarget(outbox)))
    with lifetime.watch():
        reason, running = await _serve_until_the_end(transport, carrier, source, lifetime, settings)
        await outbox.drain(WRITE_BOUND)
    if reason == "error":
        running.result()
    return Ended(reason, lifetime.exit_code, carrier.session.calls)


async def _serve_until_the_end(
    transport: Any, carrier: "Carrier", source: LineSource, lifetime: Lifetime, settings: Settings
) -> "tuple[str, asyncio.Future[None]]":
    async with transport as (read, write):
        running = asyncio.ensure_future(carrier.run(read, write))
        running.add_done_callback(lambda _: lifetime.end("error"))
        reason = await lifetime.wait()
        await _finish(carrier, reason, settings, lifetime)
        # Only now does the SDK learn that its input ended: it would cut off calls that are still in flight.
        source.close()
        await asyncio.wait([running], timeout=WRITE_BOUND)
        if not running.done():
            running.cancel()
    return reason, running


async def _finish(carrier: "Carrier", reason: str, settings: Settings, lifetime: Lifetime) -> None:
    """Let what the client asked for come to its end, as the reason allows."""
    carrier.session.input_ended()
    if reason == "eof":
        await lifetime.give_time(carrier.wait_until_asked())
    await end_calls(carrier.session.calls, reason, settings, lifetime)
    carrier.session.listening.close()
    if reason != "broken_pipe":
        await carrier.wait_until_written(WRITE_BOUND)
