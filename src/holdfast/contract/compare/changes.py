"""One change between two surfaces, and the lists of them."""

from dataclasses import dataclass, replace
from typing import Any

from holdfast.contract.compare.rules import RULES
from holdfast.contract.inclusion.bump import Bump

__all__ = ["Change", "change", "worst"]


@dataclass(frozen=True, slots=True)
class Change:
    """What changed, where, for whom, and how far a version must move for it.

    `path` is a JSON Pointer into the tool, or into the surface where `tool` is empty. `witness` is a call that was
    valid and is not any more, or an answer that a client of the old surface cannot read.
    """

    rule: str
    path: str
    direction: str
    effect: str
    bump: Bump
    message: str
    witness: Any = None
    acknowledge: bool = False
    violation: bool = False
    tool: str = ""

    @property
    def address(self) -> str:
        """How a person names this change to accept it."""
        return f"{self.rule}@{self.tool}{self.path}"

    @property
    def is_breaking(self) -> bool:
        """Whether somebody who relied on the old surface may fail on the new one."""
        return self.bump is Bump.MAJOR

    def of(self, tool: str) -> "Change":
        """The same change, as one of this tool."""
        return replace(self, tool=tool)

    def to_json(self) -> dict[str, Any]:
        """The change as programs read it."""
        return {
            "rule": self.rule,
            "path": self.path,
            "direction": self.direction,
            "effect": self.effect,
            "bump": self.bump.value,
            "message": self.message,
            "witness": self.witness,
        }


def change(rule_id: str, path: str, what: str, *, strict: bool = False, witness: Any = None) -> Change:
    """The change that a row of the table is about; `what` says what it happened to."""
    rule = RULES[rule_id]
    return Change(
        rule=rule_id,
        path=path,
        direction="tool",
        effect=rule.effect,
        bump=rule.floor(strict=strict),
        message=f"{what}: {rule.meaning}",
        witness=witness,
        acknowledge=rule.acknowledge,
        violation=rule.violation,
    )


def worst(changes: tuple[Change, ...] | list[Change]) -> Bump:
    """The furthest that any of them asks a version to move."""
    return max((item.bump for item in changes), default=Bump.NONE)
