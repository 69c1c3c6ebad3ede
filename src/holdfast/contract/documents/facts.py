"""What a snapshot, or a plain list of tools of any MCP server, says about each tool; what it does not say is None.

A snapshot of ours says everything; a `tools/list` result of another server says name, description, schemas and
hints. Both are read here, so that nobody else has to ask which one it was. Never raises on odd data.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from holdfast.contract.documents.document import IdempotencyWord
from holdfast.contract.documents.schema_facts import violations
from holdfast.present.dialects import Dialect, success
from holdfast.vocabulary.effects import EffectKind
from holdfast.vocabulary.meta import FOREIGN_EFFECT, META_CONTRACT, META_EFFECT, META_SUPERVISION

__all__ = ["ErrorFacts", "SurfaceFacts", "ToolFacts", "surface_facts"]

# The word that goes with an effect; the sentence of a snapshot begins with it.
_WORDS = {
    EffectKind.REPLAY_SAFE: IdempotencyWord.YES,
    EffectKind.DEDUPLICATED: IdempotencyWord.YES,
    EffectKind.PROBE_REQUIRED: IdempotencyWord.PARTIALLY,
    EffectKind.AT_MOST_ONCE: IdempotencyWord.NO,
}


@dataclass(frozen=True, slots=True)
class ErrorFacts:
    """One declared error."""

    code: str
    meaning: str
    remedy: str
    retryable: bool


@dataclass(frozen=True, slots=True)
class ToolFacts:
    """One tool as its server declares it."""

    name: str
    title: str
    description: str
    version: str | None
    schema_version: int | None
    input_schema: Any
    output_schema: Any
    result: dict[str, Any] | None
    errors: tuple[ErrorFacts, ...] | None
    effect: EffectKind | None
    idempotency: str
    examples: tuple[dict[str, Any], ...]
    security: str | None
    deprecated: Mapping[str, Any]
    aliases: tuple[str, ...]
    read_only: bool | None
    idempotent_hint: bool | None
    timeout_ms: int | None
    content: tuple[str, ...] = ()

    @property
    def word(self) -> IdempotencyWord | None:
        """Yes, No or Partially, from the effect, the sentence or the hint; None where nothing is declared."""
        if self.effect is not None:
            return _WORDS[self.effect]
        if self.stated_word is not None or self.idempotent_hint is None:
            return self.stated_word
        return IdempotencyWord.YES if self.idempotent_hint else IdempotencyWord.NO

    @property
    def stated_word(self) -> IdempotencyWord | None:
        """The word with which the declared sentence on idempotency begins."""
        return next((word for word in IdempotencyWord if self.idempotency.startswith(word.value)), None)

    @property
    def calls(self) -> tuple[dict[str, Any], ...]:
        """The declared examples, or the call without arguments where that is a valid one."""
        if self.examples or violations(self.input_schema, {}) or not isinstance(self.input_schema, dict):
            return self.examples
        return ({},)


@dataclass(frozen=True, slots=True)
class SurfaceFacts:
    """A server and its tools by name. `is_full` tells a snapshot of ours from a plain list of tools."""

    name: str
    version: str
    schema_version: str
    instructions: str
    dialect: Dialect | None
    tools: tuple[ToolFacts, ...]
    is_full: bool


def surface_facts(snapshot: Mapping[str, Any]) -> SurfaceFacts:
    """The facts of a snapshot or of a `tools/list` result."""
    server = _mapping(snapshot.get("server"))
    listed = snapshot.get("tools")
    dialect = next((one for one in Dialect if one.value == snapshot.get("dialect")), None)
    tools = [_tool(tool, dialect) for tool in _items(listed) if isinstance(tool, Mapping)]
    return SurfaceFacts(
        name=_text(server.get("name")),
        version=_text(server.get("version")),
        schema_version=_text(snapshot.get("schemaVersion")),
        instructions=_text(server.get("instructions")),
        dialect=dialect,
        tools=tuple(sorted(tools, key=lambda tool: tool.name)),
        is_full="snapshotVersion" in snapshot,
    )


def _tool(tool: Mapping[str, Any], dialect: Dialect | None) -> ToolFacts:
    meta = _mapping(tool.get("_meta"))
    contract, annotations = _mapping(meta.get(META_CONTRACT)), _mapping(tool.get("annotations"))
    effect = _mapping(tool.get("effect")) or _mapping(
        _mapping(meta.get(META_EFFECT) or meta.get(FOREIGN_EFFECT)).get("recovery")
    )
    timeout = tool.get("timeoutMs", _mapping(meta.get(META_SUPERVISION)).get("timeoutMs"))
    read_only = tool.get("readOnly", annotations.get("readOnlyHint"))
    payload = tool.get("outputExample")
    hint = annotations.get("idempotentHint")
    schema_version = tool.get("schemaVersion", contract.get("schemaVersion"))
    return ToolFacts(
        name=_text(tool.get("name")),
        title=_text(tool.get("title")) or _text(annotations.get("title")),
        description=_text(tool.get("description")),
        version=_text(tool.get("version")) or _text(contract.get("version")) or None,
        schema_version=schema_version if isinstance(schema_version, int) else None,
        input_schema=tool.get("inputSchema"),
        output_schema=tool.get("outputSchema"),
        result=None if payload is None or dialect is None else success(dialect, payload),
        errors=_errors(tool.get("errors")),
        effect=next((kind for kind in EffectKind if kind.value == effect.get("kind")), None),
        idempotency=_text(tool.get("idempotency")),
        examples=_examples(tool.get("examples")),
        security=_text(tool.get("security")) if "security" in tool else None,
        deprecated=_mapping(tool.get("deprecated")) or _mapping(contract.get("deprecated")),
        aliases=tuple(alias for alias in _items(tool.get("aliases")) if isinstance(alias, str)),
        read_only=read_only if isinstance(read_only, bool) else None,
        idempotent_hint=hint if isinstance(hint, bool) else None,
        timeout_ms=timeout if isinstance(timeout, int) else None,
        content=tuple(kind for kind in _items(tool.get("content")) if isinstance(kind, str)),
    )


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _items(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _examples(value: Any) -> tuple[dict[str, Any], ...]:
    return tuple(dict(example) for example in _items(value) if isinstance(example, Mapping))


def _errors(value: Any) -> tuple[ErrorFacts, ...] | None:
    if not isinstance(value, list):
        return None
    rows = [_error(row) for row in value if isinstance(row, Mapping)]
    return tuple(sorted(rows, key=lambda row: row.code))


def _error(row: Mapping[str, Any]) -> ErrorFacts:
    code, meaning, remedy = (_text(row.get(key)) for key in ("code", "meaning", "remedy"))
    return ErrorFacts(code, meaning, remedy, row.get("retryable") is True)
