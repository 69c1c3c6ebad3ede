"""What the tools of a worker promise about being repeated, read from the list that the worker gives.

A declaration in `_meta` counts first, then the hints, as far as they are believed; nothing declared, or declared
in a way that makes no sense, means at most once. Of a worker that is not trusted nothing is believed. The list
itself is never changed or answered from here: clients get the worker's own bytes.
"""

import hashlib
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from holdfast.kernel.policy import Policy
from holdfast.present.dialects import Dialect
from holdfast.present.secrets import Place, secret_places
from holdfast.vocabulary.effects import (
    Effect,
    EffectKind,
    ReplayWord,
    SessionState,
    at_most_once,
    replay_safe,
)
from holdfast.vocabulary.meta import FOREIGN_EFFECT, META_CONTRACT, META_EFFECT, META_SUPERVISION
from holdfast.wire.codec import RELAY_DEPTH, decode, encode

__all__ = ["NO_CATALOG", "Catalog", "ToolFacts", "journal_key", "pointer_value", "read_catalog"]

_SAFE = ReplayWord.CONVERGENT
_LONGEST_MS = 1e12  # a longer timeout is a mistake, or meant to harm
_LEAST_OUTPUT, _MOST_OUTPUT = 256, 2**31


class ToolFacts(NamedTuple):
    """What one tool says about itself. `timeout` is set on tools of our own servers only."""

    effect: Effect = at_most_once()
    is_ours: bool = False
    timeout: float | None = None
    dialect: Dialect = Dialect.STATUS
    state: SessionState = SessionState.STATELESS
    state_key: str = ""  # what tells two pieces of journaled state apart: a text, or a JSON Pointer to one
    arguments: tuple[str, ...] = ()  # the names that its input schema knows
    output_bytes: int = 0  # how much of a result a client is given at once; 0 is no limit
    output_tokens: int = 0
    secrets: tuple[Place, ...] = ()  # where its arguments are secrets
    writes: bool = False  # it says that it does not only read, whatever may be repeated


class Catalog(NamedTuple):
    """The tools of one worker by name; `witness` is equal for lists that a client could not tell apart.

    `definitions` are the tools as the worker tells them, a JSON array.
    """

    tools: Mapping[str, ToolFacts]
    witness: bytes
    definitions: bytes = b"[]"


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
    told = [encode(definition) for definition in shown]
    for digest in sorted(hashlib.sha256(definition).digest() for definition in told):
        witness.update(digest)
    return Catalog(tools, witness.digest(), b"[" + b",".join(told) + b"]")


def _facts(definition: Mapping[str, Any], policy: Policy) -> ToolFacts:
    arguments = tuple(_object(_object(definition.get("inputSchema")).get("properties")))
    secrets = _secret_places(encode(definition.get("inputSchema")))
    if not policy.trusts_worker:
        return ToolFacts(arguments=arguments, secrets=secrets)
    meta = _object(definition.get("_meta"))
    supervision = _object(meta.get(META_SUPERVISION))
    is_ours = isinstance(meta.get(META_CONTRACT), dict)
    timeout_ms: Any = supervision.get("timeoutMs")
    is_time = type(timeout_ms) in {int, float} and 0 <= timeout_ms <= _LONGEST_MS
    timeout = timeout_ms / 1000 if is_time else policy.tool_timeout
    words = {dialect.value: dialect for dialect in Dialect}
    effect = _effect(definition, meta, policy)
    state, state_key = _session_state(meta, effect)
    return ToolFacts(
        effect=effect,
        is_ours=is_ours,
        timeout=timeout if is_ours else None,
        dialect=words.get(str(supervision.get("dialect")), Dialect.STATUS),
        state=state,
        state_key=state_key,
        arguments=arguments,
        output_bytes=_limit(supervision.get("outputBytes")),
        output_tokens=_limit(supervision.get("outputTokens")),
        secrets=secrets,
        writes=_writes(definition),
    )


@lru_cache(maxsize=256)
def _secret_places(schema: bytes) -> tuple[Place, ...]:
    """The secrets of a schema, worked out once: servers list the same tools again and again."""
    return secret_places(decode(schema, max_depth=RELAY_DEPTH, halves="replaced"))


def _writes(definition: Mapping[str, Any]) -> bool:
    hints = _object(definition.get("annotations"))
    only_reads = hints.get("readOnlyHint")
    return only_reads is False or (only_reads is not True and hints.get("idempotentHint") is True)


def _limit(value: Any) -> int:
    """A limit of a tool; what is none, or too small to be meant, is not one."""
    return value if type(value) is int and _LEAST_OUTPUT <= value <= _MOST_OUTPUT else 0


def _effect(definition: Mapping[str, Any], meta: Mapping[str, Any], policy: Policy) -> Effect:
    declared = meta.get(META_EFFECT, meta.get(FOREIGN_EFFECT))
    if declared is not None:
        return _declared_effect(_object(_object(declared).get("recovery")))
    hints = _object(definition.get("annotations"))
    if hints.get("readOnlyHint") is True or (policy.trust_idempotent and hints.get("idempotentHint") is True):
        return replay_safe()
    return at_most_once()


def _session_state(meta: Mapping[str, Any], effect: Effect) -> tuple[SessionState, str]:
    """What calls leave behind in the worker. State that cannot be built again holds the session to its worker."""
    declared = _object(_object(meta.get(META_EFFECT, meta.get(FOREIGN_EFFECT))).get("state"))
    kind, key = declared.get("kind", SessionState.STATELESS.value), declared.get("key")
    if kind == SessionState.STATELESS.value:
        return SessionState.STATELESS, ""
    if kind == SessionState.JOURNALED.value and isinstance(key, str) and key and effect.replay is _SAFE:
        return SessionState.JOURNALED, key
    return SessionState.GENERATION_PINNED, ""


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
    """The text of the key that a JSON Pointer finds in the parameters of a call; None if it is no key."""
    found = _pointed(params, pointer)
    if type(found) is int:
        return f"number {found}"  # the number 1 and the text "1" are two keys
    return f"text {found}" if isinstance(found, str) and found else None


def journal_key(params: Mapping[str, Any], key: str) -> str:
    """What tells one piece of journaled state from another: a constant, or whatever a JSON Pointer finds."""
    return encode(_pointed(params, key)).decode() if key.startswith("/") else key


def _pointed(params: Mapping[str, Any], pointer: str) -> Any:
    """What a JSON Pointer finds; pointers of other toolkits start at the whole message, not at its parameters."""
    found: Any = params
    for part in pointer.removeprefix("/params").split("/")[1:]:
        name = part.replace("~1", "/").replace("~0", "~")
        found = found.get(name) if isinstance(found, dict) else None
    return found


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}
