"""What one tool states about itself, under the same names from a snapshot of ours and from a wire definition.

A facet that a kind of document cannot state is left out, never guessed; only the hints of MCP have documented
defaults, so that leaving one out states something.
"""

from collections.abc import Mapping
from typing import Any

from holdfast.contract.compare.places import fields, followed
from holdfast.contract.model import Deprecation
from holdfast.errors import ContractError
from holdfast.vocabulary.effects import EffectKind
from holdfast.vocabulary.meta import FOREIGN_EFFECT, META_CONTRACT, META_EFFECT, META_SUPERVISION

__all__ = ["HINTS", "contract_meta", "facets_of_definition", "facets_of_snapshot", "headers", "supervision_meta"]

# What each hint means where a server leaves it out.
HINTS = {"readOnlyHint": False, "destructiveHint": True, "idempotentHint": False, "openWorldHint": True}

_OURS = frozenset({META_CONTRACT, META_EFFECT, META_SUPERVISION, FOREIGN_EFFECT})
# Facets that any document may state under their own name.
_PLAIN = ("errorSchema", "limits", "requires", "content", "render", "icons")
_SNAPSHOT_ONLY = ("security", "examples", "outputExample", "normalization", "isolate", "reserved", "idempotency")
_KNOWN = frozenset(
    {
        "name", "title", "description", "inputSchema", "outputSchema", "annotations", "_meta", "execution",
        "schemaVersion", "toolingVersion", "version", "securitySchemes", *_PLAIN,
    }
)  # fmt: skip
_KNOWN_IN_SNAPSHOT = frozenset(
    {
        "name", "title", "description", "inputSchema", "outputSchema", "payloadSchema", "execution", "version",
        "schemaVersion", "toolingVersion", "errors", "effect", "sessionState", "timeoutMs", "readOnly",
        "deprecated", "aliases", *_PLAIN, *_SNAPSHOT_ONLY,
    }
)  # fmt: skip
_IDEMPOTENT = {EffectKind.REPLAY_SAFE.value, EffectKind.DEDUPLICATED.value}


def facets_of_snapshot(tool: Mapping[str, Any], surface: Mapping[str, Any]) -> dict[str, Any]:
    """The facets of a tool in a snapshot of ours."""
    is_published = surface.get("outputSchemaPublished") is not False
    effect = _object(tool.get("effect"))
    read_only = tool.get("readOnly") is True
    hints = {
        "readOnlyHint": read_only,
        "destructiveHint": not read_only,
        "idempotentHint": effect.get("kind") in _IDEMPOTENT,
    }
    facets: dict[str, Any] = {
        "input": tool.get("inputSchema", {}),
        "output": tool.get("outputSchema") if is_published else None,
        "title": tool.get("title"),
        "description": tool.get("description"),
        "version": tool.get("version"),
        "schemaVersion": tool.get("schemaVersion"),
        "annotations": HINTS | hints,
        "effect": effect,
        "state": tool.get("sessionState"),
        "timeoutMs": tool.get("timeoutMs"),
        "deprecated": tool.get("deprecated"),
        "aliases": list(tool.get("aliases") or ()),
        "taskSupport": _task_support(tool),
        "meta": {},
        "payload": tool.get("payloadSchema"),
    }
    if isinstance(tool.get("errors"), list):
        facets["errors"] = {str(row.get("code")): row for row in tool["errors"] if isinstance(row, dict)}
    facets |= {key: tool[key] for key in (*_PLAIN, *_SNAPSHOT_ONLY) if key in tool}
    others = {key: value for key, value in tool.items() if key not in _KNOWN_IN_SNAPSHOT}
    return {**facets, **({"others": others} if others else {})}


def facets_of_definition(tool: Mapping[str, Any]) -> dict[str, Any]:
    """The facets of a tool as a server lists it on the wire."""
    meta = _object(tool.get("_meta"))
    hints = _object(tool.get("annotations"))
    contract = contract_meta(tool)
    deprecated = contract.get("deprecated")
    facets: dict[str, Any] = {
        "input": tool.get("inputSchema", {}),
        "output": tool.get("outputSchema"),
        "title": tool.get("title", hints.get("title")),
        "description": _without_deprecation(tool.get("description"), deprecated),
        "version": contract.get("version", tool.get("version")),
        "schemaVersion": contract.get("schemaVersion", tool.get("schemaVersion")),
        "annotations": HINTS | {key: value for key, value in hints.items() if key != "title"},
        "deprecated": deprecated,
        "aliases": [],
        "taskSupport": _task_support(tool),
        "meta": {key: value for key, value in meta.items() if key not in _OURS},
    }
    effect = _object(meta.get(META_EFFECT, meta.get(FOREIGN_EFFECT)))
    if "recovery" in effect:
        facets["effect"] = _object(effect["recovery"])
    if "state" in effect:
        facets["state"] = _object(effect["state"]).get("kind")
    if META_SUPERVISION in meta:
        facets["timeoutMs"] = supervision_meta(tool).get("timeoutMs")
    facets |= {key: contract[key] for key in _PLAIN if key in contract}
    facets |= {key: tool[key] for key in _PLAIN if key in tool}
    if scopes := _scopes(tool):
        facets["requires"] = sorted({*scopes, *_names(facets.get("requires"))})
    others = {key: value for key, value in tool.items() if key not in _KNOWN}
    return {**facets, **({"others": others} if others else {})}


def contract_meta(tool: Any) -> dict[str, Any]:
    """What a definition says under our key for contracts."""
    return _object(_object(_object(tool).get("_meta")).get(META_CONTRACT))


def supervision_meta(tool: Any) -> dict[str, Any]:
    """What a definition says under our key for supervision."""
    return _object(_object(_object(tool).get("_meta")).get(META_SUPERVISION))


def headers(schema: Any) -> dict[str, str]:
    """The arguments that travel as HTTP headers too: place of the argument -> name of the header."""
    found: dict[str, str] = {}
    for place, part in fields(schema).items():
        for one in (part, followed(part, schema)):
            header = _object(one).get("x-mcp-header")
            if isinstance(header, str):
                found.setdefault(place, header)
    return found


def _task_support(tool: Mapping[str, Any]) -> str:
    stated = _object(tool.get("execution")).get("taskSupport")
    return stated if isinstance(stated, str) else "forbidden"


def _without_deprecation(description: Any, deprecated: Any) -> Any:
    """The description alone: on the wire our servers repeat a deprecation in it."""
    if not isinstance(description, str) or not isinstance(deprecated, dict):
        return description
    try:
        said = Deprecation(
            deprecated.get("since", ""), deprecated.get("reason", ""), deprecated.get("replacement")
        )
    except ContractError:
        return description  # not a deprecation of ours
    return description.removesuffix(f"\n\n{said.sentence}")


def _scopes(tool: Mapping[str, Any]) -> list[str]:
    """The scopes of the security schemes that a definition lists."""
    schemes = tool.get("securitySchemes")
    found: list[str] = []
    for scheme in schemes if isinstance(schemes, list) else ():
        kind, scopes = _object(scheme).get("type"), _object(scheme).get("scopes")
        found += [f"{kind}:{scope}" for scope in scopes] if isinstance(scopes, list) else [str(kind)]
    return found


def _names(value: Any) -> list[str]:
    return [str(item) for item in value] if isinstance(value, list) else []


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
