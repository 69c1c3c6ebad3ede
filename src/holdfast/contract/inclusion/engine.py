"""Two documents in one pool, and what can be proven about any two terms of them.

`relation` is the proof; `decide` also asks the independent validator, and only for the whole schemas.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from holdfast.contract.inclusion.compiler import Compiler
from holdfast.contract.inclusion.documents import Document
from holdfast.contract.inclusion.evaluate import holds
from holdfast.contract.inclusion.model import Effect, Limits, Undecided, Witness
from holdfast.contract.inclusion.nodes import Node, Opaque, Pool
from holdfast.contract.inclusion.solver import EMPTY, Answer, Empty, Found, Solver, Unclear
from holdfast.contract.inclusion.theories import THEORIES
from holdfast.contract.inclusion.witnesses import Jury

__all__ = ["Engine", "Whole", "effect_of"]

_MAX_PROPOSALS = 24
_MAX_WRITTEN_OUT = 50_000


def effect_of(lost: Answer, gained: Answer) -> Effect:
    """What follows from what is known about "old and not new" and "new and not old"."""
    if isinstance(lost, Empty):
        return Effect.EQUAL if isinstance(gained, Empty) else Effect.WIDENS
    if isinstance(gained, Empty):
        return Effect.NARROWS
    found = isinstance(lost, Found) and isinstance(gained, Found)
    return Effect.INCOMPARABLE if found else Effect.UNKNOWN


@dataclass(frozen=True)
class Whole:
    """The verdict on the whole schemas."""

    effect: Effect
    lost: Witness | None
    gained: Witness | None
    reason: str


class Engine:
    """Compiles two schemas and answers questions about their terms."""

    def __init__(self, old: Any, new: Any, limits: Limits, *, assert_formats: bool) -> None:
        self.limits = limits
        self.pool = Pool()
        self.solver = Solver(self.pool, limits, THEORIES)
        self.old = Compiler(Document(old), self.pool, limits, assert_formats)
        self.new = Compiler(Document(new), self.pool, limits, assert_formats)
        self.old_root = self.old.compile_start()
        self.new_root = self.new.compile_start()
        self._assert_formats = assert_formats
        self._relations: dict[tuple[Node, Node], Effect] = {}

    @cached_property
    def jury(self) -> Jury:
        """The independent validator, built only when there is something to confirm."""
        multiplies = max(self.old.written_out, self.new.written_out) > _MAX_WRITTEN_OUT
        documents = self.old.document, self.new.document
        return Jury(*documents, assert_formats=self._assert_formats, careful=multiplies)

    def check(self) -> None:
        """Raise Undecided when the validator refuses a schema, other than for a reference that leads outside."""
        if self.old_root is self.new_root or any(isinstance(node, Opaque) for node in self.pool.nodes()):
            return
        for side, trouble in (("old", self.jury.trouble_old), ("new", self.jury.trouble_new)):
            if trouble:
                raise Undecided(f"the {side} schema is not valid: {trouble}")

    def relation(self, old: Node, new: Node) -> Effect:
        """What became of the values of a part; a found value counts when both terms agree about it."""
        if old is new:
            return Effect.EQUAL
        key = (old, new)
        if key not in self._relations:
            self._relations[key] = effect_of(self._difference(old, new), self._difference(new, old))
        return self._relations[key]

    def _difference(self, one: Node, other: Node) -> Answer:
        try:
            answer = self.solver.solve([(one, True), (other, False)])
        except Undecided as reason:
            return Unclear(str(reason))
        if isinstance(answer, Found):
            sure = holds(self.pool, one, answer.value) is True and holds(self.pool, other, answer.value) is False
            return answer if sure else Unclear("a found value was not confirmed")
        return answer

    def whole(self) -> Whole:
        """The verdict on the whole schemas, with witnesses that the validator has confirmed."""
        lost, lost_witness = self._whole_difference("old")
        gained, gained_witness = self._whole_difference("new")
        reasons = [answer.reason for answer in (lost, gained) if isinstance(answer, Unclear)]
        return Whole(effect_of(lost, gained), lost_witness, gained_witness, "; ".join(dict.fromkeys(reasons)))

    def _whole_difference(self, side: Literal["old", "new"]) -> tuple[Answer, Witness | None]:
        """What only one side accepts. `Found` here means confirmed."""
        one, other = (self.old_root, self.new_root) if side == "old" else (self.new_root, self.old_root)
        self.solver.refill()
        last: list[Answer] = [EMPTY]
        try:
            if isinstance(self.solver.solve([(one, True), (other, False)]), Empty):
                return EMPTY, None
            witness = self.jury.first(self._proposed(one, other, last), side)
        except Undecided as reason:
            last, witness = [Unclear(str(reason))], None
        witness = witness or self.jury.search(side)
        if witness is not None:
            return Found(witness.value), witness
        if isinstance(last[0], Unclear):
            return last[0], None
        return Unclear("no value was found that the validator confirms"), None

    def _proposed(self, one: Node, other: Node, last: list[Answer]) -> Iterator[Any]:
        goal = frozenset({(one, True), (other, False)})
        for number, answer in enumerate(self.solver.proposals(goal)):
            last[0] = answer
            if number >= _MAX_PROPOSALS:
                return
            if isinstance(answer, Found):
                yield answer.value

    def witness(self, term: Node, side: Literal["old", "new"]) -> Witness | None:
        """A confirmed witness for a side that a term accepts as well: one that shows a particular change."""
        one, other = (self.old_root, self.new_root) if side == "old" else (self.new_root, self.old_root)
        # Without a word about the other side first: what is then rejected is rejected for this change alone.
        for goal in ([(one, True), (term, True)], [(one, True), (term, True), (other, False)]):
            try:
                answer = self.solver.solve(goal)
            except Undecided:
                return None
            witness = self.jury.confirm(answer.value, side) if isinstance(answer, Found) else None
            if witness is not None:
                return witness
        return None
