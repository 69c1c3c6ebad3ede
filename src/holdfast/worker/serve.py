"""The life of one server process: claim the streams, serve in the chosen mode, leave nothing behind."""

import asyncio
import os
import sys
import threading
import time

from holdfast.errors import UsageError
from holdfast.observe.event_log import open_event_log
from holdfast.observe.sink import EventSink
from holdfast.process.ownership import install as install_ownership
from holdfast.settings import Settings
from holdfast.stdio import collector
from holdfast.stdio.streams import claim_standard_streams
from holdfast.vocabulary.events import ServerStarted, ServerStopped
from holdfast.worker.heap import share_heaps
from holdfast.worker.lifespan import entered
from holdfast.worker.registry import Registry
from holdfast.worker.stdio import Ended, serve_stdio

__all__ = ["serve"]

THREAD_BOUND = 1.0  # seconds that the threads of tools may take to end after the last call


def serve(server: Registry, settings: Settings) -> int:
    """Serve the process's stdin and stdout; return the exit code."""
    _ = server.surface  # a contract that does not hold together is refused before anything is read
    if settings.mcp_mode == "sdk":
        _require_sdk(settings)
    log = open_event_log(settings, server.name)
    log.emit(ServerStarted(server.name, server.version, settings.mcp_mode, os.getpid()))
    log.flush()
    if log.last_error:
        print(f"{server.name}: the event log cannot be written: {log.last_error}", file=sys.stderr)  # noqa: T201
    install_ownership()
    share_heaps()
    collector.loaded()
    loop = asyncio.new_event_loop()
    try:
        ended = loop.run_until_complete(_serve_in_mode(server, settings, log))
    except BaseException:
        log.emit(ServerStopped(server.name, os.getpid(), "error", 0, 0))
        log.close()
        raise
    calls = ended.calls
    log.emit(ServerStopped(server.name, os.getpid(), ended.reason, calls.ended, calls.late, calls.unmatched))
    log.close()
    if not calls.has_abandoned_work:
        loop.close()  # which also tells the threads of its executor to end
        if _threads_end():
            return ended.code
    # Something that would not stop is still running; an orderly end would wait for it for ever.
    sys.stderr.flush()
    os._exit(ended.code)


def _require_sdk(settings: Settings) -> None:
    from holdfast.worker.sdk import require_sdk

    try:
        require_sdk()
    except UsageError as error:
        from holdfast.worker.sdk_missing import refuse_first_request

        refuse_first_request(error, settings.max_message_bytes)
        raise


def _threads_end() -> bool:
    """Whether the threads that tools left behind, with `asyncio.to_thread` or by hand, end within a bound."""
    until = time.monotonic() + THREAD_BOUND
    others = [thread for thread in threading.enumerate() if thread is not threading.current_thread()]
    for thread in others:
        if not thread.daemon:
            thread.join(max(0.0, until - time.monotonic()))
    return not any(thread.is_alive() for thread in others if not thread.daemon)


async def _serve_in_mode(server: Registry, settings: Settings, log: EventSink) -> Ended:
    streams = claim_standard_streams()  # what a lifespan prints must not get between messages
    async with entered(server, log, settings.start_timeout) as state:
        if settings.mcp_mode == "sdk":
            from holdfast.worker.sdk import serve_sdk

            return await serve_sdk(server, settings, log, streams, state)
        return await serve_stdio(server, settings, log, streams, state)
