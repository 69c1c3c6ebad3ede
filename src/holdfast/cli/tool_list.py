"""The tools of a server as a person reads them: one block per tool, from its published definition."""

from collections.abc import Iterator, Mapping
from typing import Any

from holdfast.cli.connect import connected
from holdfast.cli.options import Source
from holdfast.client.peer import PeerInfo
from holdfast.contract.model import ToolContract
from holdfast.contract.wire_form import META_CONTRACT, META_EFFECT
from holdfast.present.bounds import clean_line, collapse_whitespace, truncate_chars
from holdfast.settings import Settings
from holdfast.wire.codec import encode
from holdfast.worker.server import Server

__all__ = ["describe_tools", "fetch_tools", "takes_presentation"]

WIDTH = 100
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
    count = "1 tool" if len(tools) == 1 else f"{len(tools)} tools"
    yield clean_line(f"{peer.name or 'unnamed server'} {peer.version}".rstrip() + f": {count}")
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
        yield f"  {_shortened(title)}"
    description = tool.get("description")
    if isinstance(description, str) and description.strip():
        yield f"  {_shortened(description.strip().splitlines()[0])}"
    hidden = PRESENTATION if takes_presentation(tool) else frozenset()
    rows = [row for row in _argument_rows(_object(tool.get("inputSchema"))) if row[0] not in hidden]
    rows.append(("effect:", _effect(tool)))
    if contract is not None and contract.errors:
        rows.append(("errors:", ", ".join(spec.code for spec in contract.errors)))
    widths = [max((len(row[column]) for row in rows if len(row) > 2), default=0) for column in (0, 1, 2)]
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row[:-1], widths, strict=False)]
        yield clean_line(("    " + "  ".join([*cells, row[-1]])).rstrip())


def _argument_rows(schema: dict[str, Any]) -> Iterator[tuple[str, ...]]:
    required = schema.get("required")
    for name, raw in _object(schema.get("properties")).items():
        rule = _object(raw)
        need = "required" if isinstance(required, list) and name in required else "optional"
        if "default" in rule:
            need = f"default {_literal(rule['default'])}"
        words = rule.get("description")
        yield (str(name), _type(rule), need, _shortened(words) if isinstance(words, str) else "")


def _type(rule: dict[str, Any]) -> str:
    """The type in few words; what takes more is left to --json."""
    if isinstance(rule.get("enum"), list):
        return truncate_chars("|".join(_literal(value) for value in rule["enum"]), 40)
    if "const" in rule:
        return _literal(rule["const"])
    declared = rule.get("type")
    if declared == "array":
        return f"array of {_type(_object(rule.get('items')))}" if "items" in rule else "array"
    if isinstance(declared, str):
        return declared
    if isinstance(declared, list):
        return "|".join(str(item) for item in declared)
    branches = rule.get("anyOf") or rule.get("oneOf")
    if isinstance(branches, list):
        return truncate_chars("|".join(dict.fromkeys(_type(_object(branch)) for branch in branches)), 40)
    reference = rule.get("$ref")
    return reference.rpartition("/")[2] if isinstance(reference, str) else "any"


def _effect(tool: dict[str, Any]) -> str:
    """What repeating a call would do, as declared; hints of foreign servers are called hints."""
    recovery = _object(_object(_meta(tool, META_EFFECT)).get("recovery"))
    if isinstance(recovery.get("kind"), str):
        detail = recovery.get("key") or recovery.get("probe")
        return f"{recovery['kind']} ({detail})" if detail else str(recovery["kind"])
    hints = _object(tool.get("annotations"))
    words = {"readOnlyHint": "read-only", "idempotentHint": "idempotent"}
    said = [word for key, word in words.items() if hints.get(key) is True]
    return f"not declared (hints: {', '.join(said)})" if said else "not declared"


def _meta(tool: dict[str, Any], key: str) -> Any:
    return _object(tool.get("_meta")).get(key)


def _literal(value: Any) -> str:
    return value if isinstance(value, str) and value else truncate_chars(encode(value).decode(), 40)


def _shortened(text: str) -> str:
    return truncate_chars(collapse_whitespace(text), WIDTH)


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
