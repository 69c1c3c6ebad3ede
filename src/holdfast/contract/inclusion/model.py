"""What a comparison of two schemas says, and the bounds that it keeps to.

Plain frozen data: how the answers are found is in `compare.py`, what they demand of a version in `bump.py`.
"""

from dataclasses import dataclass
from enum import Enum
from typing import Any, Literal

__all__ = ["Comparison", "Effect", "Limits", "SchemaChange", "Undecided", "Witness"]


class Effect(Enum):
    """What became of the set of accepted values, seen from the old schema.

    `WIDENS` and `NARROWS` rest on a proof that nothing was lost, or gained. That something was gained, or lost, is
    shown by a witness; where none was found, equality could not be proven either, and the safe word is used.
    """

    EQUAL = "equal"
    WIDENS = "widens"
    NARROWS = "narrows"
    INCOMPARABLE = "incomparable"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Witness:
    """A value that exactly one of the two whole schemas accepts; an independent validator has confirmed it."""

    value: Any
    accepted_by: Literal["old", "new"]


@dataclass(frozen=True)
class SchemaChange:
    """One change of one keyword. `path` is a JSON Pointer into the value, `*` for any item or any other key.

    For words in a place of the schema that no value leads to, it is `#` and a JSON Pointer into the schema.
    """

    rule: str
    path: str
    effect: Effect
    message: str
    witness: Witness | None = None


@dataclass(frozen=True)
class Comparison:
    """The verdict on the whole schemas, the changes behind it, and what proves it.

    `witness_lost` is a value that only the old schema accepts, `witness_gained` one that only the new one does.
    `reason_unknown` says what could not be decided; it is empty when everything was.
    """

    effect: Effect
    changes: tuple[SchemaChange, ...] = ()
    witness_lost: Witness | None = None
    witness_gained: Witness | None = None
    reason_unknown: str = ""


@dataclass(frozen=True)
class Limits:
    """How far a comparison goes before it answers `unknown`. Work is counted, not timed: the answer never varies.

    `depth` bounds the nesting of schemas and of constructed values, `nodes` the parts of one document, `steps` the
    work of one proof, `states` the size of an automaton, `digits` the length of a number.
    """

    depth: int = 40
    nodes: int = 60_000
    steps: int = 30_000
    states: int = 1_500
    digits: int = 400


class Undecided(Exception):  # noqa: N818  # an answer, not a mistake
    """A question that this engine does not answer; the reason is its message."""
