"""uvicorn as every HTTP service here runs it: bounded connections, signals are ours, nothing logged or added."""

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import uvicorn

from holdfast.api.connection import connection_class
from holdfast.api.envelope import Stamp
from holdfast.api.metrics import Metrics
from holdfast.api.options import FrontOptions

__all__ = ["BoundedServer", "bounded_server"]


class BoundedServer(uvicorn.Server):
    """Signals are ours: uvicorn would end by raising them again."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave them alone."""
        yield


def bounded_server(app: Any, options: FrontOptions, metrics: Metrics, stamp: Callable[[], Stamp]) -> BoundedServer:
    """The server of this application, with the limits of the options."""
    config = uvicorn.Config(
        app,
        http=connection_class(options, metrics, stamp),
        loop="asyncio",
        ws="none",
        lifespan="off",
        interface="asgi3",
        log_config=None,
        log_level="error",
        access_log=False,
        proxy_headers=False,
        server_header=False,
        timeout_keep_alive=options.idle_timeout,
    )
    return BoundedServer(config)
