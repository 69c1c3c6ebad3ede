"""What the tools of a worker promise about being repeated, read from the list that the worker gives.

A declaration in `_meta` counts first, then the hints, as far as they are believed; nothing declared, or declared
in a way that makes no sense, means at most once. Of a worker that is not trusted nothing is believed. The list
itself is never changed or answered from here: clients get the worker's own bytes.
"""

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from holdfast.kernel.policy import Policy
from holdfast.present.dialects import Dialect
from holdfast.vocabulary.effects import Effect, EffectKind, at_most_once, replay_safe
from holdfast.vocabulary.meta import FOREIGN_EFFECT, META_CONTRACT, META_EFFECT, META_SUPERVISION
from holdfast.wire.codec import encode

__all__ = ["NO_CATALOG", "Catalog", "ToolFacts", "pointer_value", "read_catalog"]

_LONGEST_MS = 1e12  # a longer timeout is a mistake, or meant to harm


class ToolFacts(NamedTuple):
    """What one tool says about itself. `timeout` is set on tools of our own servers only."""

    effect: Effect = at_most_once()
    is_ours: bool = False
    timeout: float | None = None
    dialect: Dialect = Dialect.STATUS
    arguments: tuple[str, ...] = ()  # the names that its input schema knows


class Catalog(NamedTuple):
    """The tools of one worker by name; `witness` is equal for lists that a client could not tell apart."""

    tools: Mapping[str, ToolFacts]
    witness: bytes


NO_CATALOG = Catalog({}, b"")


def read_catalog(definitions: Iterable[Any], policy: Policy) -> Catalog:
    """The catalog of a list of tool definitions; what is not one is passed over."""
    tools = {}
    shown = []
    for definition in definitions:
        if isinstance(definition, dict) and isinstance(definition.get("name"), str):
            tools[definition["name"]] = _facts(definition, policy)
            shown.append(definition)
    # Lists in another order are the same set of tools: order alone is no reason to tell the client of a change.
    witness = hashlib.sha256()
    for digest in sorted(hashlib.sha256(encode(definition)).digest() for definition in shown):
        witness.update(digest)
    return Catalog(tools, witness.digest())


def _facts(definition: Mapping[str, Any], policy: Policy) -> ToolFacts:
    arguments = tuple(_object(_object(definition.get("inputSchema")).get("properties")))
    if not policy.trusts_worker:
        return ToolFacts(arguments=arguments)
    meta = _object(definition.get("_meta"))
    supervision = _object(meta.get(META_SUPERVISION))
    is_ours = isinstance(meta.get(META_CONTRACT), dict)
    timeout_ms: Any = supervision.get("timeoutMs")
    is_time = type(timeout_ms) in {int, float} and 0 <= timeout_ms <= _LONGEST_MS
    timeout = timeout_ms / 1000 if is_time else policy.tool_timeout
    words = {dialect.value: dialect for dialect in Dialect}
    return ToolFacts(
        effect=_effect(definition, meta, policy),
        is_ours=is_ours,
        timeout=timeout if is_ours else None,
        dialect=words.get(str(supervision.get("dialect")), Dialect.STATUS),
        arguments=arguments,
    )


def _effect(definition: Mapping[str, Any], meta: Mapping[str, Any], policy: Policy) -> Effect:
    declared = meta.get(META_EFFECT, meta.get(FOREIGN_EFFECT))
    if declared is not None:
        return _declared_effect(_object(_object(declared).get("recovery")))
    hints = _object(definition.get("annotations"))
    if hints.get("readOnlyHint") is True or (policy.trust_idempotent and hints.get("idempotentHint") is True):
        return replay_safe()
    return at_most_once()


def _declared_effect(recovery: Mapping[str, Any]) -> Effect:
    kind, key, probe = recovery.get("kind"), recovery.get("key"), recovery.get("probe")
    if kind == EffectKind.REPLAY_SAFE.value:
        return replay_safe()
    if kind == EffectKind.DEDUPLICATED.value and isinstance(key, str) and key.startswith("/") and len(key) > 1:
        return Effect(EffectKind.DEDUPLICATED, key=key)
    if kind == EffectKind.PROBE_REQUIRED.value and isinstance(probe, str) and probe:
        return Effect(EffectKind.PROBE_REQUIRED, probe=probe)
    return at_most_once()  # also for a probe that is not named: nobody could be asked


def pointer_value(params: Mapping[str, Any], pointer: str) -> str | None:
    """The text of the key that a JSON Pointer finds in the parameters of a call; None if it is no key.

    Pointers of other toolkits start at the whole message instead of its parameters.
    """
    found: Any = params
    for part in pointer.removeprefix("/params").split("/")[1:]:
        name = part.replace("~1", "/").replace("~0", "~")
        found = found.get(name) if isinstance(found, dict) else None
    if type(found) is int:
        return f"number {found}"  # the number 1 and the text "1" are two keys
    return f"text {found}" if isinstance(found, str) and found else None


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}
