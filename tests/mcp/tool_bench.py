"""The tools of the search server called as the server calls them, but in this process and one after the other.

Arguments are held to the published schema and answers to theirs; only the pipe, and the process that long tools
get for themselves, are left out: a hundred calls would be a hundred starts of Python.
"""

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import pytest
from tests.mcp.search_place import SearchPlace

from holdfast.errors import ToolError
from holdfast.observe.sink import EventSink
from holdfast.search.served import SERVED_ENV, aliases, announce, served
from holdfast.vocabulary.events import Event
from holdfast.worker.context import Context
from holdfast.worker.invoke import RegisteredTool, run_here
from holdfast.worker.progress import ProgressMeter

__all__ = ["Bench", "bench_at", "timeless"]

_TIMES = frozenset({"elapsedMs", "durationMs", "build", "generation", "bytes", "totalBytes", "cacheBytes"})


class Bench:
    """Calls tools; an answer is the payload, or the code of what went wrong."""

    def __init__(self, place: SearchPlace) -> None:
        from holdfast.search.tools import server

        self.place = place
        self.schemas = {item["name"]: item["inputSchema"] for item in server.tool_definitions()}
        self._tools = {name: server.find_tool(name) for name in self.schemas}

    def call(self, tool: str, **arguments: Any) -> Any:
        """Call one tool."""
        outcome = self.outcome(tool, arguments)
        return outcome.code if isinstance(outcome, ToolError) else outcome

    def outcome(self, tool: str, arguments: Mapping[str, Any]) -> Any:
        """Call one tool; what went wrong is an error with its words."""
        registered = self._tools[tool]
        assert registered is not None
        violations = registered.arguments.violations(dict(arguments))
        if violations:
            return ToolError("INVALID_REQUEST", str(violations))
        try:
            payload = asyncio.run(self._run(registered, dict(arguments)))
        except ToolError as error:
            return error
        assert registered.result is not None
        assert registered.result.violations(payload) == []
        return payload

    async def _run(self, tool: RegisteredTool, arguments: dict[str, Any]) -> Any:
        meter = ProgressMeter(None, {}, 0.0, asyncio.get_running_loop())
        context = Context(tool=tool.contract.name, call_id="c", request_id=1, meter=meter, grace=1.0, log=_NoLog())
        return tool.derived.dump(await run_here(tool.derived, tool.derived.bind(arguments), context))


class _NoLog(EventSink):
    def emit(self, event: Event) -> None:
        raise AssertionError(f"nothing here should be worth an event: {event}")

    def flush(self) -> None:
        return

    def close(self) -> None:
        return


@contextmanager
def bench_at(place: SearchPlace) -> Iterator[Bench]:
    """A bench that serves a place; afterwards this process serves nothing any more."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(SERVED_ENV, "")  # so that it is put back
        announce(aliases([place.repo, place.bare]), place.cache)
        try:
            yield Bench(place)
        finally:
            served().release()
            served.cache_clear()


def timeless(value: Any) -> Any:
    """An answer without what differs from one call to the next."""
    if isinstance(value, dict):
        return {key: timeless(item) for key, item in value.items() if key not in _TIMES}
    return [timeless(item) for item in value] if isinstance(value, list) else value
