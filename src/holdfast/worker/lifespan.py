"""The lifespan of a server: what it opens before its first message and closes after its last.

What the lifespan gives is the state of the server, which every call can reach as `ctx.state`. It is entered once
per process that serves, and once per connection of the test kit.
"""

import asyncio
import contextlib
import inspect
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol, get_origin

from holdfast.errors import UsageError
from holdfast.observe.sink import EventSink
from holdfast.worker.context import NO_STATE
from holdfast.worker.faults import record_fault

__all__ = ["Lifespan", "entered"]

Lifespan = Callable[[Any], AbstractAsyncContextManager[Any]]

END_BOUND = 5.0  # seconds that a lifespan may take to close what it opened


class _Living(Protocol):
    """A server, as far as its lifespan is concerned."""

    name: str
    lifespan: Lifespan | None

    def functions(self) -> Iterator[tuple[str, Any]]:
        """The name and the wanted state of everything that is called."""


@contextlib.asynccontextmanager
async def entered(server: _Living, log: EventSink, within: float) -> AsyncIterator[Any]:
    """The state of the server while it serves. A lifespan that cannot begin, or not within so many seconds, is a
    UsageError, told in one line."""
    if server.lifespan is None:
        _check(server, NO_STATE)
        yield NO_STATE
        return
    bound = asyncio.timeout(within)
    try:
        manager = _managed(server, server.lifespan)
        async with bound:
            state = await manager.__aenter__()
    except UsageError:
        raise
    except TimeoutError as error:
        if not bound.expired():
            raise _failed(server, error, log) from error
        raise UsageError(
            f"the lifespan of {server.name} did not begin within {within:g} s",
            remedy="see what it waits for, or give it more time: HOLDFAST_START_TIMEOUT",
        ) from error
    except Exception as error:
        raise _failed(server, error, log) from error
    try:
        _check(server, state)
        yield state
    finally:
        await _leave(server, manager, log)


def _failed(server: _Living, error: Exception, log: EventSink) -> UsageError:
    problem = record_fault(error, log, cause_class=type(error).__name__)
    log.flush()
    return UsageError(
        f"the lifespan of {server.name} failed before the first message: {type(error).__name__}: {error}",
        remedy=f"mend it; the event log has the trace: holdfast events show --fault {problem.fault_id}",
    )


def _managed(server: _Living, lifespan: Any) -> AbstractAsyncContextManager[Any]:
    """The context manager that the lifespan makes; what makes something else most likely lacks a decorator."""
    made: Any = lifespan(server) if callable(lifespan) else lifespan
    if not callable(lifespan) or not isinstance(made, AbstractAsyncContextManager):
        if inspect.iscoroutine(made):
            made.close()  # it would be warned of as never awaited
        raise UsageError(
            f"the lifespan of {server.name} gives no async context manager but {type(made).__name__}",
            remedy="write @asynccontextmanager above the function, and pass the function itself",
        )
    return made


async def _leave(server: _Living, manager: AbstractAsyncContextManager[Any], log: EventSink) -> None:
    try:
        async with asyncio.timeout(END_BOUND):
            await manager.__aexit__(None, None, None)
    except Exception as error:  # noqa: BLE001 - the server ends all the same; what went wrong is on record
        problem = record_fault(error, log, cause_class=type(error).__name__)
        line = f"{server.name}: its lifespan did not end well: {type(error).__name__} (fault {problem.fault_id})"
        print(line, file=sys.stderr)  # noqa: T201 - there is no caller left to tell


def _check(server: _Living, state: Any) -> None:
    """Hold the state to what functions say that it is: `Context[Library]` wants a Library."""
    for name, wanted in server.functions():
        kind = get_origin(wanted) or wanted
        if wanted is None:
            continue
        if state is NO_STATE:
            raise UsageError(
                f"{name} wants a state of {getattr(kind, '__name__', kind)}, and {server.name} has no lifespan",
                remedy="write Server(..., lifespan=...)",
            )
        if isinstance(kind, type) and not getattr(kind, "_is_protocol", False) and not isinstance(state, kind):
            raise UsageError(
                f"{name} wants a state of {kind.__name__}, and the lifespan of {server.name} gives "
                f"{type(state).__name__}",
                remedy="yield what the functions expect",
            )
