"""The tools of a server as a person reads them: one block per tool, from its published definition."""

from collections.abc import Iterator, Mapping
from typing import Any

from holdfast.cli.argument_list import argument_rows, shortened
from holdfast.cli.connect import connected
from holdfast.cli.options import Source
from holdfast.client.peer import PeerInfo
from holdfast.contract.model import ToolContract
from holdfast.present.bounds import clean_line
from holdfast.present.counted import counted
from holdfast.present.graphemes import display_width, padded
from holdfast.settings import Settings
from holdfast.vocabulary.meta import META_CONTRACT, META_EFFECT
from holdfast.worker.server import Server

__all__ = ["describe_tools", "fetch_tools", "takes_presentation"]

PRESENTATION = frozenset({"render", "detail"})


async def fetch_tools(
    source: Source, server: Server | None, settings: Settings, timeout: float
) -> tuple[PeerInfo, list[dict[str, Any]]]:
    """Who the server is, and the definitions of its tools."""
    async with connected(source, server, settings, timeout=timeout) as session:
        return session.peer, await session.list_tools(timeout=timeout or None)


def describe_tools(
    peer: PeerInfo, tools: list[dict[str, Any]], contracts: Mapping[str, ToolContract]
) -> Iterator[str]:
    """The lines of the listing. A contract, where the server is ours, adds what is not on the wire."""
    yield clean_line(
        f"{peer.name or 'unnamed server'} {peer.version}".rstrip() + f": {counted(len(tools), 'tool')}"
    )
    for tool in tools:
        yield ""
        yield from _describe(tool, contracts.get(tool["name"]))
    if any(takes_presentation(tool) for tool in tools):
        yield ""
        yield "Calls also take render=porcelain|json and detail=concise|full, for the text of the result."


def takes_presentation(tool: dict[str, Any]) -> bool:
    """Whether the arguments `render` and `detail` of this tool are those that Holdfast gives its tools."""
    properties = _object(_object(tool.get("inputSchema")).get("properties"))
    return _meta(tool, META_CONTRACT) is not None and properties.keys() >= PRESENTATION


def _describe(tool: dict[str, Any], contract: ToolContract | None) -> Iterator[str]:
    version = _object(_meta(tool, META_CONTRACT)).get("version", "")
    yield clean_line(f"{tool['name']} {version}".rstrip())
    title = tool.get("title")
    if isinstance(title, str) and title:
        yield f"  {clean_line(shortened(title))}"
    description = tool.get("description")
    if isinstance(description, str) and description.strip():
        yield f"  {clean_line(shortened(description.strip().splitlines()[0]))}"
    if contract is not None and tool["name"] in contract.aliases:
        yield clean_line(f"    alias of {contract.name}, {_deprecation(tool)}")
        return  # everything else is the same
    hidden = PRESENTATION if takes_presentation(tool) else frozenset()
    rows = list(argument_rows(_object(tool.get("inputSchema")), hidden))
    widths = [max((display_width(row[column]) for row in rows), default=0) for column in (0, 1, 2)]
    for row in rows:
        cells = [padded(cell, width) for cell, width in zip(row[:-1], widths, strict=True)]
        yield clean_line(("    " + "  ".join([*cells, row[-1]])).rstrip())
    for line in _promises(tool, contract):
        yield clean_line(f"    {line}")


def _promises(tool: dict[str, Any], contract: ToolContract | None) -> Iterator[str]:
    yield f"effect: {_effect(tool)}"
    if contract is not None and contract.timeout is not None:
        yield f"timeout: {contract.timeout:g} s" if contract.timeout else "timeout: none"
    if contract is not None and contract.errors:
        yield f"errors: {', '.join(spec.code for spec in contract.errors)}"
    if deprecation := _deprecation(tool):
        yield deprecation


def _deprecation(tool: dict[str, Any]) -> str:
    deprecated = _object(_object(_meta(tool, META_CONTRACT)).get("deprecated"))
    if not deprecated:
        return ""
    replacement, reason = deprecated.get("replacement"), deprecated.get("reason")
    remedy = f": use {replacement}" if replacement else f": {shortened(str(reason))}" if reason else ""
    return f"deprecated since {deprecated.get('since', '?')}{remedy}"


def _effect(tool: dict[str, Any]) -> str:
    """What repeating a call would do, as declared; hints of foreign servers are called hints."""
    hints = _object(tool.get("annotations"))
    recovery = _object(_object(_meta(tool, META_EFFECT)).get("recovery"))
    if isinstance(recovery.get("kind"), str):
        detail = recovery.get("key") or recovery.get("probe")
        kind = f"{recovery['kind']} ({detail})" if detail else str(recovery["kind"])
        return f"{kind}, read-only" if hints.get("readOnlyHint") is True else kind
    words = {"readOnlyHint": "read-only", "idempotentHint": "idempotent"}
    said = [word for key, word in words.items() if hints.get(key) is True]
    return f"not declared (hints: {', '.join(said)})" if said else "not declared"


def _meta(tool: dict[str, Any], key: str) -> Any:
    return _object(tool.get("_meta")).get(key)


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
