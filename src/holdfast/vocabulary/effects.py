"""What repeating a tool would do: the effect that it declares, and the session state that it keeps.

The declaration answers one question for whoever supervises the server: after a crash in the middle of a call,
may the call be sent again? From it follow the replay word, the idempotency sentence of the tool's
specification and the annotations on the wire. Nothing declared means at most once.
"""

from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

from holdfast.errors import ContractError

__all__ = [
    "Effect",
    "EffectKind",
    "ReplayWord",
    "SessionState",
    "at_most_once",
    "deduplicated",
    "probe_required",
    "replay_safe",
]


class EffectKind(Enum):
    """The four kinds of effect, from the least to the most freedom to repeat."""

    AT_MOST_ONCE = "at_most_once"
    PROBE_REQUIRED = "probe_required"
    DEDUPLICATED = "deduplicated"
    REPLAY_SAFE = "replay_safe"


class ReplayWord(Enum):
    """The replay contract that an effect projects to."""

    CONVERGENT = "Convergent"
    PROBE_REQUIRED = "ProbeRequired"
    NEVER_REPLAY = "NeverReplay"


class SessionState(Enum):
    """What a tool leaves behind in its process between calls."""

    STATELESS = "stateless"
    JOURNALED = "journaled"  # its successful calls, run again in order, build the same state in another process
    GENERATION_PINNED = "generation_pinned"  # state that only this process has: it is not replaced by plan


_REPLAY = {
    EffectKind.REPLAY_SAFE: ReplayWord.CONVERGENT,
    EffectKind.DEDUPLICATED: ReplayWord.CONVERGENT,
    EffectKind.PROBE_REQUIRED: ReplayWord.PROBE_REQUIRED,
    EffectKind.AT_MOST_ONCE: ReplayWord.NEVER_REPLAY,
}

_IDEMPOTENT = {
    EffectKind.REPLAY_SAFE: ("Yes", "Repeating a call with the same arguments has no further effect."),
    EffectKind.DEDUPLICATED: ("Yes", "Calls that carry the same key take effect once; the key is at {key}."),
    EffectKind.PROBE_REQUIRED: (
        "Partially",
        "A repeated call may take effect twice; {probe} tells whether an earlier one did.",
    ),
    EffectKind.AT_MOST_ONCE: ("No", "Every call takes effect anew; it is never repeated automatically."),
}


@dataclass(frozen=True, slots=True)
class Effect:
    """One declared effect; made by `replay_safe`, `deduplicated`, `probe_required` or `at_most_once`."""

    kind: EffectKind
    key: str | None = None
    probe: str | None = None
    journal: str | None = None  # what tells one piece of the session's state that the tool keeps from another

    def journaled(self, key: str) -> "Effect":
        """The tool keeps state for the session, and its successful calls, run again in order, build it anew.

        So a new worker is given that state before it serves. `key` is a text, or a JSON Pointer into the call such
        as `/arguments/name`: of calls with the same key only the last one counts.
        """
        is_key = key.startswith("/arguments/") and len(key) > len("/arguments/") if "/" in key else bool(key)
        if self.replay is not ReplayWord.CONVERGENT or not is_key:
            raise ContractError(
                f"state that calls build again needs a key, and calls that can be repeated: not {self.kind.value}",
                remedy='write effect.replay_safe().journaled("/arguments/name")',
            )
        return replace(self, journal=key)

    @property
    def replay(self) -> ReplayWord:
        """The replay contract of a call to the tool."""
        return _REPLAY[self.kind]

    @property
    def idempotency(self) -> str:
        """What repeating a call means, after the word that a tool specification wants: Yes, No or Partially."""
        word, sentence = _IDEMPOTENT[self.kind]
        return f"{word}. {sentence.format(key=self.key, probe=self.probe)}"

    def to_wire(self, state: SessionState) -> dict[str, Any]:
        """The value of `_meta["io.holdfast/effect"]`."""
        recovery: dict[str, Any] = {"kind": self.kind.value}
        if self.key is not None:
            recovery["key"] = self.key
        if self.probe is not None:
            recovery["probe"] = self.probe
        kept = {"kind": state.value}
        if self.journal is not None:
            kept = {"kind": SessionState.JOURNALED.value, "key": self.journal}
        return {"recovery": recovery, "state": kept}


def replay_safe() -> Effect:
    """Running the tool again, even after half a run, ends in the same state as running it once."""
    return Effect(EffectKind.REPLAY_SAFE)


def deduplicated(key: str) -> Effect:
    """The tool itself commits once per key; `key` is a JSON Pointer into the call such as `/arguments/key`."""
    if not key.startswith("/arguments/") or len(key) <= len("/arguments/"):
        raise ContractError(
            f"deduplicated key {key!r} does not point at an argument",
            remedy='use a JSON Pointer such as deduplicated("/arguments/key")',
        )
    return Effect(EffectKind.DEDUPLICATED, key=key)


def probe_required(tool: str) -> Effect:
    """Only `tool`, asked afterwards, can tell whether an earlier call took effect."""
    if not tool:
        raise ContractError("probe_required needs the name of the probe tool", remedy="name a tool of this server")
    return Effect(EffectKind.PROBE_REQUIRED, probe=tool)


def at_most_once() -> Effect:
    """The tool must never be run again for the same call. This is also what an undeclared effect means."""
    return Effect(EffectKind.AT_MOST_ONCE)
