"""The official Python client in front of the search server, in any of its modes, for tests in plain functions.

The client brings a transport of lines; for the legacy mode, whose messages have a header with their length, it is
given one. Nothing of ours is on this side of the pipe.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import Any

import anyio
from anyio.from_thread import BlockingPortal, start_blocking_portal
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.shared.message import SessionMessage
from mcp_types import CallToolResult, jsonrpc_message_adapter
from tests.mcp.search_place import SearchPlace

__all__ = ["Answer", "OfficialClient", "connected", "content_length_client"]

BOUND = 30.0


class Answer:
    """What a call came to: a result, or an error of the protocol."""

    def __init__(self, result: CallToolResult | None, error: MCPError | None) -> None:
        self._result = result
        self.error = error

    @property
    def result(self) -> CallToolResult:
        """The result; fails where the protocol had an error."""
        assert self._result is not None, self.error
        return self._result

    @property
    def is_error(self) -> bool:
        """Whether it went wrong, in whichever way."""
        return self._result is None or bool(self._result.is_error)

    @property
    def text(self) -> str:
        """The one text of the result."""
        (content,) = self.result.content
        assert content.type == "text"
        return content.text

    @property
    def payload(self) -> dict[str, Any]:
        """What the text says; of an error of the protocol, its data."""
        if self.error is not None:
            return dict(self.error.data or {})
        return dict(json.loads(self.text))

    @property
    def code(self) -> str | None:
        """The code of what went wrong."""
        return self.payload["code"] if self.is_error else None


class OfficialClient:
    """One session with one server process."""

    def __init__(self, portal: BlockingPortal, client: Client) -> None:
        self._portal = portal
        self.client = client
        self.tools = {tool.name: tool.model_dump(by_alias=True, exclude_none=True) for tool in self._list_tools()}

    def call(self, tool: str, **arguments: Any) -> Answer:
        """Call one tool."""
        return self.call_all([(tool, arguments)])[0]

    def call_all(self, calls: Sequence[tuple[str, Mapping[str, Any]]], at_once: int = 16) -> list[Answer]:
        """Call many tools, so many of them at the same time; the answers in the order of the calls."""
        answers: list[Answer] = self._portal.call(self._call_all, calls, at_once)
        return answers

    async def _call_all(self, calls: Sequence[tuple[str, Mapping[str, Any]]], at_once: int) -> list[Answer]:
        limit = asyncio.Semaphore(at_once)

        async def one(tool: str, arguments: Mapping[str, Any]) -> Answer:
            async with limit, asyncio.timeout(BOUND):
                try:
                    return Answer(await self.client.call_tool(tool, dict(arguments)), None)
                except MCPError as error:
                    return Answer(None, error)

        return list(await asyncio.gather(*(one(*call) for call in calls)))

    def _list_tools(self) -> list[Any]:
        return list(self._portal.call(self.client.list_tools).tools)


@contextmanager
def connected(
    place: SearchPlace, mode: str, *options: str, hosted: bool = False, agree: str = "legacy"
) -> Iterator[OfficialClient]:
    """A session with a search server of this mode; `agree` is the client's own way to agree on a revision."""
    command, *arguments = place.command(mode, *options, hosted=hosted)
    server = StdioServerParameters(command=command, args=arguments, env=place.environment())
    with place.stderr(mode).open("w") as errors, start_blocking_portal() as portal:
        transport = content_length_client(server, errors) if mode == "legacy" else stdio_client(server, errors)
        with portal.wrap_async_context_manager(Client(transport, mode=agree)) as client:
            yield OfficialClient(portal, client)


@asynccontextmanager
async def content_length_client(server: StdioServerParameters, errors: Any) -> AsyncIterator[Any]:
    """A transport whose messages have a header with their length; the process ends when it is left."""
    process = await asyncio.create_subprocess_exec(
        server.command, *server.args, env=server.env, stderr=errors,
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, limit=1 << 24,
    )  # fmt: skip
    assert process.stdin is not None
    assert process.stdout is not None
    into_session, received = anyio.create_memory_object_stream[SessionMessage | Exception](64)
    sent, out_of_session = anyio.create_memory_object_stream[SessionMessage](64)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_receive, process.stdout, into_session)
        tasks.start_soon(_send, process.stdin, out_of_session)
        try:
            yield received, sent
        finally:
            process.stdin.close()
            async with asyncio.timeout(BOUND):
                await process.wait()
            tasks.cancel_scope.cancel()
            for stream in (into_session, received, sent, out_of_session):
                stream.close()


async def _receive(output: asyncio.StreamReader, session: Any) -> None:
    """Messages for the session; progress that nobody asked for is not in the protocol, and so not for it."""
    async with session:  # which is then told that the process has ended
        with suppress(asyncio.IncompleteReadError):
            await _receive_all(output, session)


async def _receive_all(output: asyncio.StreamReader, session: Any) -> None:
    while head := await output.readuntil(b"\r\n\r\n"):
        content = await output.readexactly(int(head.removeprefix(b"Content-Length: ")))
        message = json.loads(content)
        if message.get("method") != "notifications/progress" or "progressToken" in message["params"]:
            await session.send(SessionMessage(jsonrpc_message_adapter.validate_python(message)))


async def _send(pipe: asyncio.StreamWriter, session: Any) -> None:
    async for item in session:
        content = item.message.model_dump_json(by_alias=True, exclude_unset=True).encode()
        pipe.write(b"Content-Length: %d\r\n\r\n%b" % (len(content), content))
        await pipe.drain()
