"""How one request is treated: its effect, its deadlines, how often it may be repeated.

A person's word about a tool counts before the tool's own. Methods that only read are safe to repeat; a method that
nobody knows is dispatched at most once.
"""

import hashlib
from collections.abc import Mapping
from typing import Any, NamedTuple

from holdfast.kernel.catalog import Catalog, ToolFacts, pointer_value
from holdfast.kernel.policy import Policy, ToolPolicy
from holdfast.present.dialects import Dialect
from holdfast.present.profile import META_REVISION
from holdfast.present.secrets import Secrets
from holdfast.vocabulary.effects import Effect, EffectKind, SessionState, at_most_once, replay_safe

__all__ = [
    "FACT_METHODS",
    "LIST_METHODS",
    "STREAM_METHODS",
    "Rule",
    "declared_limit",
    "describes_itself",
    "rule_for",
]

# Their effect lives in the worker's process alone, and ends with it: the session remembers them for the next one.
FACT_METHODS = frozenset({"logging/setLevel", "resources/subscribe", "resources/unsubscribe"})
# They stay open as long as the client wants; nothing waits for their end.
STREAM_METHODS = frozenset({"subscriptions/listen"})

# What they tell changes rarely, and the worker says when: the host can tell it too.
LIST_METHODS = frozenset(
    {"server/discover", "tools/list", "prompts/list", "resources/list", "resources/templates/list"}
)

_READING_METHODS = frozenset(
    {
        "initialize",
        "ping",
        "server/discover",
        "tools/list",
        "resources/list",
        "resources/templates/list",
        "resources/read",
        "prompts/list",
        "prompts/get",
        "completion/complete",
    }
)
_ALWAYS = 1_000_000
_MARGIN = 1.0  # seconds beyond its own timeout and grace that a tool of ours has to say so itself


class Rule(NamedTuple):
    """How one request is treated. A deadline of 0 is none."""

    effect: Effect
    replays: int
    deadline: float = 0.0
    deadline_total: float = 0.0
    key: str | None = None  # of a deduplicated call
    is_ours: bool = False  # the worker ends the call by itself; the host only watches the worker
    dialect: Dialect = Dialect.STATUS
    is_stateful: bool = False  # a success leaves something behind in the worker
    has_envelope: bool = False  # what the tool returns stands in the envelope of its dialect


def rule_for(method: str, params: Mapping[str, Any], catalog: Catalog, policy: Policy) -> Rule:
    """The rule of a request."""
    if method != "tools/call":
        return _method_rule(method, policy)
    name = str(params.get("name"))
    facts = catalog.tools.get(name, ToolFacts())
    said = policy.tools.get(name, ToolPolicy())
    effect, key = _effect_and_key(said.effect or facts.effect, params, facts)
    return Rule(
        effect=effect,
        replays=policy.replays if said.replays is None else said.replays,
        deadline=_deadline(facts, said, policy),
        deadline_total=policy.deadline_total if said.deadline_total is None else said.deadline_total,
        key=key,
        is_ours=facts.is_ours and said.deadline is None,
        dialect=facts.dialect,
        is_stateful=facts.state is not SessionState.STATELESS,
        has_envelope=facts.is_ours,
    )


def declared_limit(rule: Rule, policy: Policy) -> float:
    """The seconds that a request has by the word of whoever set its limit, without what the host adds to it."""
    return rule.deadline - policy.grace - _MARGIN if rule.is_ours and rule.deadline else rule.deadline


def _method_rule(method: str, policy: Policy) -> Rule:
    if method in STREAM_METHODS:
        return Rule(replay_safe(), _ALWAYS)
    if method == "initialize":
        return Rule(replay_safe(), policy.replays, policy.start_timeout)
    safe = method in _READING_METHODS or method in FACT_METHODS
    effect = replay_safe() if safe else at_most_once()
    return Rule(effect, policy.replays, policy.deadline, policy.deadline_total)


def describes_itself(method: str, params: Mapping[str, Any]) -> bool:
    """Whether a request is of the era without a handshake, whatever session there is beside it."""
    meta = params.get("_meta")
    return method == "server/discover" or (isinstance(meta, dict) and META_REVISION in meta)


def _effect_and_key(effect: Effect, params: Mapping[str, Any], facts: ToolFacts) -> tuple[Effect, str | None]:
    if effect.kind is not EffectKind.DEDUPLICATED:
        return effect, None
    pointer = effect.key or ""
    key = pointer_value(params, pointer)
    if key is None:
        return at_most_once(), None  # a call without its key promises nothing
    place = pointer.removeprefix("/params").removeprefix("/arguments")
    if Secrets(facts.secrets, None).covers(place):
        # It is written down with the outcome, which a secret must not be.
        key = f"secret {hashlib.sha256(key.encode()).hexdigest()}"
    return effect, key


def _deadline(facts: ToolFacts, said: ToolPolicy, policy: Policy) -> float:
    if said.deadline is not None:
        return said.deadline
    if not facts.is_ours:
        return policy.deadline
    timeout = policy.tool_timeout if facts.timeout is None else facts.timeout
    return timeout + policy.grace + _MARGIN if timeout else 0.0
