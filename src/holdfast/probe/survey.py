"""The first look at a server: which eras it speaks, what tools it has, and which of them may be called.

Made once, before the checks. A tool may be called if the person at the keyboard named it, or if the server says of
it that it only reads.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from holdfast.present.profile import HANDSHAKE_REVISIONS, LATEST_HANDSHAKE, META_SERVER_INFO, MODERN
from holdfast.probe.arguments import example_arguments
from holdfast.probe.expect import told_noise
from holdfast.probe.model import FailedError, Options, ToolUse, UnreachableError
from holdfast.probe.talk import Talk

__all__ = ["MAX_PAGES", "Survey", "all_tools", "look_around"]

T = TypeVar("T")
MAX_PAGES = 100
MAX_TRIED = 3


@dataclass(frozen=True, slots=True)
class Survey:
    """What is known of a server. `revision` is what checks speak; `handshake` whether it has handshakes."""

    revision: str
    handshake: bool
    modern: bool
    name: str = ""
    version: str = ""
    tools: tuple[Mapping[str, Any], ...] = ()
    has_tools: bool = False
    tool: ToolUse | None = None
    why_no_tool: str = ""
    callable_tools: tuple[ToolUse, ...] = ()  # all that may be called, the best known one first

    def definition(self, name: str) -> Mapping[str, Any]:
        """The tool of this name, as it was listed."""
        return next((tool for tool in self.tools if tool.get("name") == name), {})


async def look_around(connect: Callable[[], Awaitable[Talk]], options: Options) -> Survey:
    """Look at the server over connections of its own; UnreachableError where there is none."""
    first = await connect()
    # On a connection of its own: a server may settle on one era for each connection.
    second = asyncio.ensure_future(_discovered(connect))
    try:
        try:
            said = await first.open_session(LATEST_HANDSHAKE)
            _known(first.revision)
            talk, handshake = first, True
            modern = await _in_time(second, options.timeout) is not None
        except FailedError as refusal:
            other = await _in_time(second, options.start_timeout)
            if other is None:
                raise _unreachable(first, refusal) from refusal
            (talk, said), handshake, modern = other, False, True
        return await _survey(talk, said, options, handshake=handshake, modern=modern)
    finally:
        second.cancel()
        await asyncio.gather(second, return_exceptions=True)


async def _discovered(connect: Callable[[], Awaitable[Talk]]) -> tuple[Talk, dict[str, Any]] | None:
    """A session without a handshake; None where the server does not know any."""
    talk = await connect()
    try:
        said = await talk.open_session(MODERN)
    except FailedError:
        return None
    versions = said.get("supportedVersions")
    return (talk, said) if isinstance(versions, list) and MODERN in versions else None


async def _in_time(task: "asyncio.Task[T]", seconds: float) -> T | None:
    done, _ = await asyncio.wait([task], timeout=seconds)
    return task.result() if done else None


def _known(revision: str) -> None:
    if revision not in HANDSHAKE_REVISIONS:
        raise FailedError(f"the server speaks revision {revision!r}, which is none that is known here")


def _unreachable(talk: Talk, refusal: FailedError) -> UnreachableError:
    complaint = getattr(talk, "complaint", None)
    if complaint is not None:
        return UnreachableError(complaint[0], remedy=complaint[1])
    words = getattr(talk, "last_words", "")
    told = [
        f"no MCP server answers: {refusal}",
        told_noise(talk.noise) if talk.noise else "",
        "it has closed its stdout" if getattr(talk, "is_mute", False) else "",
        f"its last words: {words}" if words else "",
    ]
    message = "; ".join(filter(None, told))
    remedy = (
        "see that the server listens there, and that the address names the path of its MCP endpoint, often /mcp"
        if talk.transport == "http"
        else "look at what the server says when it is started by itself"
    )
    return UnreachableError(message, remedy=remedy)


async def _survey(talk: Talk, said: dict[str, Any], options: Options, *, handshake: bool, modern: bool) -> Survey:
    tools: tuple[Mapping[str, Any], ...] = ()
    has_tools = "tools" in _object(said.get("capabilities"))
    if has_tools:
        try:
            tools = tuple(await all_tools(talk))
        except FailedError:
            tools = ()  # the checks of the catalog say what is wrong with it
    info = _object(said.get("serverInfo")) or _object(_object(said.get("_meta")).get(META_SERVER_INFO))
    candidates = _read_only(tools)
    tool, why = await _choose(talk, options, candidates, tools)
    # Those for which no arguments could be made can still be called with too few.
    bare = (ToolUse(item["name"]) for item in tools if _is_read_only(item))
    seen = {use.name for use in candidates} | {tool.name if tool else ""}
    others = (
        *(use for use in candidates if tool is None or use.name != tool.name),
        *(use for use in bare if use.name not in seen),
    )
    return Survey(
        revision=talk.revision,
        handshake=handshake,
        modern=modern,
        name=str(info.get("name", "")),
        version=str(info.get("version", "")),
        tools=tools,
        has_tools=has_tools,
        tool=tool,
        why_no_tool=why,
        callable_tools=others if tool is None else (tool, *others),
    )


async def all_tools(talk: Talk) -> list[dict[str, Any]]:
    """Every tool of every page; a FailedError where the list has no end or no shape."""
    tools: list[dict[str, Any]] = []
    params: dict[str, Any] = {}
    for _ in range(MAX_PAGES):
        answer = await talk.ask("tools/list", params)
        result = answer.get("result")
        page = result.get("tools") if isinstance(result, dict) else None
        if not isinstance(result, dict) or not isinstance(page, list):
            raise FailedError("tools/list has no list of tools in its answer")
        if not all(isinstance(tool, dict) and isinstance(tool.get("name"), str) for tool in page):
            raise FailedError("tools/list has a tool without a name")
        tools += page
        cursor = result.get("nextCursor")
        if cursor is None:
            return tools
        params = {"cursor": cursor}
    raise FailedError(f"the list of tools has no end: more than {MAX_PAGES} pages")


def _read_only(tools: tuple[Mapping[str, Any], ...]) -> tuple[ToolUse, ...]:
    """The tools that say they only read, those that need the least first."""
    found: list[ToolUse] = []
    for tool in tools:
        schema = tool.get("inputSchema")
        if _is_read_only(tool) and isinstance(schema, dict):
            arguments = example_arguments(schema)
            if arguments is not None:
                found.append(ToolUse(tool["name"], arguments))
    return tuple(sorted(found, key=lambda use: len(use.arguments)))


def _is_read_only(tool: Mapping[str, Any]) -> bool:
    return _object(tool.get("annotations")).get("readOnlyHint") is True


async def _choose(
    talk: Talk, options: Options, candidates: tuple[ToolUse, ...], tools: tuple[Mapping[str, Any], ...]
) -> tuple[ToolUse | None, str]:
    for wanted in (options.tool, options.slow, options.hang):
        if wanted is not None and wanted.name not in {tool.get("name") for tool in tools}:
            names = ", ".join(str(tool.get("name")) for tool in tools[:20])
            raise UnreachableError(f"the server has no tool {wanted.name!r}", remedy=f"it has {names or 'none'}")
    if options.tool is not None:
        return options.tool, ""
    for use in candidates[:MAX_TRIED]:
        try:
            await talk.ask("tools/call", {"name": use.name, "arguments": dict(use.arguments)})
        except FailedError:
            continue
        return use, ""
    return None, "no tool is marked as read-only" if not candidates else "no read-only tool answers in time"


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
