"""A socket, uvicorn with bounds, and an end: what turns an application into a service that somebody can reach."""

import asyncio
import contextlib
import socket
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from typing import Any

from holdfast.api.bounded_server import BoundedServer, bounded_server
from holdfast.api.envelope import Stamp
from holdfast.api.guard import is_loopback
from holdfast.api.metrics import Metrics
from holdfast.api.options import FrontOptions
from holdfast.errors import UsageError
from holdfast.launch.http_messages import fault_document
from holdfast.stdio.lifetime import Lifetime
from holdfast.version import __version__
from holdfast.vocabulary.faults import Fault

__all__ = ["serve_until_told", "served_in_a_thread"]

DRAIN = 5.0  # seconds that requests at work are given when the service is told to end
_OPTIONS = FrontOptions(schema_version="1.0", repositories=(), max_connections=128)


def serve_until_told(app: Any, host: str, port: int, *, has_token: bool, on_ready: Callable[[str], None]) -> int:
    """Serve until a signal comes; returns the exit code, which says which one."""
    listener = _listener(host, port)
    if not has_token and not is_loopback(str(listener.getsockname()[0])):
        listener.close()
        raise UsageError(
            "an address that other machines can reach needs a token", remedy="set one, or use 127.0.0.1"
        )

    async def living() -> int:
        lifetime = Lifetime(exit_with_parent=False)
        await _serve(app, listener, lifetime, lambda: on_ready(_url(listener)))
        return lifetime.exit_code

    return asyncio.run(living())


@contextlib.contextmanager
def served_in_a_thread(app: Any) -> Iterator[str]:
    """The service while the block runs; it has answered or cut off everybody when the block is left."""
    listener = _listener("127.0.0.1", 0)
    loop = asyncio.new_event_loop()
    started: Future[Lifetime] = Future()
    ended: Future[None] = Future()

    async def living() -> None:
        lifetime = Lifetime(exit_with_parent=False)
        await _serve(app, listener, lifetime, lambda: started.set_result(lifetime))

    def run() -> None:
        try:
            loop.run_until_complete(living())
        except BaseException as error:  # noqa: BLE001 - it would end in a thread that nobody asks
            for waited_for in (started, ended):
                if not waited_for.done():
                    waited_for.set_exception(error)
        else:
            ended.set_result(None)

    thread = threading.Thread(target=run, name="holdfast-http", daemon=True)
    thread.start()
    try:
        lifetime = started.result()
        try:
            yield _url(listener)
        finally:
            loop.call_soon_threadsafe(lifetime.end, "asked")
        ended.result()
    finally:
        thread.join()
        loop.close()
        listener.close()


async def _serve(app: Any, listener: socket.socket, lifetime: Lifetime, on_ready: Callable[[], None]) -> None:
    server = _server(app)
    with lifetime.watch():
        serving = asyncio.ensure_future(server.serve(sockets=[listener]))
        serving.add_done_callback(lambda _: lifetime.end("error"))
        on_ready()  # the socket listens already: whoever comes now waits in its backlog
        await lifetime.wait()
        server.should_exit = True
        await lifetime.give_time(asyncio.wait({serving}, timeout=DRAIN))
        server.force_exit = True
        for connection in list(server.server_state.connections):
            connection.transport.abort()
        await serving


def _listener(host: str, port: int) -> socket.socket:
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        return socket.create_server((host, port), family=family, backlog=128)
    except (OSError, OverflowError, UnicodeError) as error:
        raise UsageError(
            f"cannot listen on {host}:{port}: {error}", remedy="choose another address or port"
        ) from error


def _url(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


class _Stamp(Stamp):
    """Makes the connection's own refusals look like those of the service."""

    def failure(self, problem: Fault) -> dict[str, Any]:
        return fault_document(problem.code, problem.message, problem.details)


def _server(app: Any) -> BoundedServer:
    # A stamp begins when it is made.
    return bounded_server(app, _OPTIONS, Metrics(), lambda: _Stamp("1.0", __version__))
