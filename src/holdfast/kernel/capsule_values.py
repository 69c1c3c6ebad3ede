"""Single values in a capsule; on the way out of it each is refused unless it is exactly what it must be."""

import base64
import binascii
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeVar

from holdfast.errors import HoldfastError, WireError
from holdfast.kernel.rules import Rule
from holdfast.present.dialects import Dialect
from holdfast.vocabulary.effects import Effect, EffectKind
from holdfast.wire.codec import decode
from holdfast.wire.envelope import Message, parse

__all__ = [
    "CapsuleError",
    "CapsuleLimits",
    "count",
    "number",
    "part",
    "read_frame",
    "read_message",
    "read_rule",
    "require",
    "word",
    "write_rule",
]

_Value = TypeVar("_Value")


class CapsuleError(HoldfastError):
    """Bytes that are no capsule of this format, or one that contradicts itself; nothing was restored."""


class CapsuleLimits(NamedTuple):
    """How large a capsule, and a frame in it, may be."""

    total_bytes: int = 256 * 1024 * 1024
    frame_bytes: int = 64 * 1024 * 1024


def require(condition: bool, problem: str) -> None:
    """Refuse the capsule unless the condition holds."""
    if not condition:
        raise CapsuleError(f"the capsule is refused: {problem}")


def part(told: Mapping[str, Any], name: str, kind: type[_Value]) -> _Value:
    """A member of exactly this kind."""
    value = told.get(name)
    require(type(value) is kind, f"{name} is not there, or of another kind")
    return value  # type: ignore[return-value]  # just checked


def count(told: Mapping[str, Any], name: str) -> int:
    """A member that is a whole number from 0 on."""
    value = part(told, name, int)
    require(value >= 0, f"{name} is negative")
    return value


def number(told: Mapping[str, Any], name: str) -> float:
    """A member that is a finite number; only progress may be negative."""
    value = told.get(name)
    require(type(value) in {int, float}, f"{name} is no number")
    assert isinstance(value, int | float)
    require(abs(value) <= 1e300 and (value >= 0 or name == "progress"), f"{name} is out of bounds")
    return float(value)


def word(kind: Callable[[Any], _Value], value: Any) -> _Value:
    """One of the words of an enumeration."""
    try:
        return kind(value)
    except ValueError:
        raise CapsuleError(f"the capsule is refused: {str(value)[:80]!r} is no word of this format") from None


def read_frame(value: Any, limits: CapsuleLimits) -> bytes | None:
    """The bytes of a frame, or None where there is none."""
    if value is None:
        return None
    require(isinstance(value, str) and len(value) <= limits.frame_bytes * 4 // 3 + 4, "a frame in it is too large")
    try:
        return base64.b64decode(value, validate=True)
    except (binascii.Error, ValueError):
        raise CapsuleError("the capsule is refused: a frame in it is damaged") from None


def read_message(frame: bytes) -> Message:
    """The message that a frame holds."""
    try:
        return parse(decode(frame))
    except WireError as error:
        raise CapsuleError(f"the capsule is refused: a frame in it is no message: {error}") from None


def write_rule(rule: Rule) -> dict[str, Any]:
    """A rule as a capsule holds it."""
    effect = [rule.effect.kind.value, rule.effect.key, rule.effect.probe]
    return {**rule._asdict(), "effect": effect, "dialect": rule.dialect.value}


def read_rule(told: Any) -> Rule:
    """The rule that a capsule holds."""
    require(isinstance(told, dict) and set(told) == set(Rule._fields), "a request in it has no contract")
    effect = told["effect"]
    require(isinstance(effect, list) and len(effect) == 3, "a contract in it is none")
    texts = [*effect[1:], told["key"]]
    require(all(isinstance(text, str | None) for text in texts), "a contract in it is none")
    return Rule(
        Effect(word(EffectKind, effect[0]), effect[1], effect[2]),
        count(told, "replays"),
        number(told, "deadline"),
        number(told, "deadline_total"),
        told["key"],
        part(told, "is_ours", bool),
        word(Dialect, told["dialect"]),
        part(told, "is_stateful", bool),
        part(told, "has_envelope", bool),
    )
