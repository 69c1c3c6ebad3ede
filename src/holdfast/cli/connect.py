"""Joins a client session to the server that a command is about: in this process, or in one of its own."""

import asyncio
import contextlib
import sys
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from typing import Any, TypeVar

from holdfast.cli.faults import FaultWatch
from holdfast.cli.options import Source
from holdfast.client.answering import Answerer
from holdfast.client.peer import PeerEndedError, PeerSilentError
from holdfast.client.session import ClientSession
from holdfast.client.transports import Link, MemoryTransport, ProcessTransport, Transport
from holdfast.errors import ProcessError, UsageError
from holdfast.interpreter import serve_command
from holdfast.observe.event_log import open_event_log
from holdfast.observe.sink import EventSink
from holdfast.present.bounds import clean_line
from holdfast.settings import Settings
from holdfast.vocabulary.call import Stop
from holdfast.vocabulary.events import FaultRecorded
from holdfast.worker.calls import GIVE_UP_MARGIN
from holdfast.worker.foreign import ForeignServer
from holdfast.worker.lifespan import entered
from holdfast.worker.server import Server
from holdfast.worker.session import DirectOutlet, Session
from holdfast.worker.targets import load_any

__all__ = ["as_program", "connected", "load_server", "run", "say"]

T = TypeVar("T")

CONNECT_TIMEOUT = 30.0


def load_server(source: Source) -> Server | None:
    """The server of ours that a TARGET names; None for a program, which is started when it is connected to.

    A server of another toolkit is one: it is served by its own transport, in a process of its own.
    """
    server = load_any(source.target) if source.target else None
    return None if isinstance(server, ForeignServer) else server


def as_program(target: str) -> tuple[str, ...]:
    """The command that serves a TARGET with nothing in front of it."""
    return tuple(serve_command("--standalone", target=target))


@contextlib.asynccontextmanager
async def connected(
    source: Source,
    server: Server | None,
    settings: Settings,
    *,
    timeout: float = 0.0,
    faults: list[FaultRecorded] | None = None,
    answerer: Answerer | None = None,
) -> AsyncIterator[ClientSession]:
    """An open session with the server; when it is left, nothing of the server is alive.

    The internal errors of a server in this process are added to `faults`.
    """
    if server is None and source.target:
        source = Source("", as_program(source.target))
    log = None if server is None else FaultWatch(open_event_log(settings, server.name), faults)
    living = contextlib.AsyncExitStack()
    if server is None or log is None:
        transport: Transport = ProcessTransport(
            source.command, grace=settings.kill_grace, max_bytes=settings.max_message_bytes, on_stderr=say
        )
    else:
        state = await living.enter_async_context(entered(server, log, settings.start_timeout))
        transport = MemoryTransport(_linker(server, settings, log, state))
    session = ClientSession(transport, answerer=answerer)
    try:
        with _remedies(source):
            await session.connect(timeout=timeout or CONNECT_TIMEOUT)
        yield session
    except asyncio.CancelledError:
        if server is None and sys.stderr.isatty():
            say("stopping the server...")  # it may take its time
        raise
    finally:
        await session.close()
        await living.aclose()
        if log is not None:
            log.close()
        if session.noise.lines and not session.noise.is_told:
            say(f"holdfast: the server wrote {session.noise.describe()}")


@contextlib.contextmanager
def _remedies(source: Source) -> Iterator[None]:
    """What to do about a program that cannot be spoken to."""
    try:
        yield
    except ProcessError as error:
        if len(source.command) == 1 and " " in source.command[0]:
            raise UsageError(error.message, remedy=f"leave out the quotes: -- {source.command[0]}") from error
        if "://" in source.command[0]:
            message = f"{source.command[0]} is an address; only servers on stdio can be spoken to"
            raise UsageError(message, remedy="-- COMMAND ARGS...") from error
        raise
    except PeerEndedError as error:
        raise UsageError(str(error), remedy="run the command by itself to see why") from error
    except PeerSilentError as error:
        remedy = "wait longer with --timeout 120; a first start, as by `npx -y`, also downloads"
        raise UsageError(str(error), remedy=remedy) from error


def _linker(
    server: Server, settings: Settings, log: EventSink, state: Any
) -> Callable[[Callable[[Any], None]], Link]:
    def connect(send: Callable[[Any], None]) -> Link:
        session = Session(server, settings, log, DirectOutlet(log, send), state=state)

        async def close() -> None:
            session.calls.stop_all(Stop.DISCONNECT)
            await session.calls.wait_idle(settings.kill_grace + 2 * GIVE_UP_MARGIN)
            session.listening.close()

        return Link(session.receive, close)

    return connect


def run(main: Coroutine[Any, Any, T]) -> T:
    """Run to the end, or to Ctrl-C, which cancels it; work that will not stop is left behind."""
    runner = asyncio.Runner()
    try:
        return runner.run(main)
    finally:
        loop = runner.get_loop()
        if asyncio.all_tasks(loop):
            # A tool that swallows its cancellation: an orderly end would wait for it for ever.
            loop.set_exception_handler(lambda *_: None)
        else:
            runner.close()


def say(line: str) -> None:
    """One line for the person at the terminal."""
    with contextlib.suppress(BrokenPipeError):
        print(clean_line(line), file=sys.stderr, flush=True)
