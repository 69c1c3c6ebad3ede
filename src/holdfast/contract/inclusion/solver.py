"""Is there a value that is in these sets and not in those? A proof that there is none, a value, or neither.

"Old is included in new" is the question whether "old and not new" is empty. It is answered by a tableau: choose a
kind of value, take `and`, `or` and `not` apart, and hand what remains, a list of statements on values of one
kind, to the module of that kind, which asks the same question about items and properties.

Only proofs of emptiness are trusted. A found value is a proposal: it is confirmed elsewhere or counts for nothing.
A question that comes up again inside itself, about a smaller value, is taken as empty there (a smallest
counterexample would hold a smaller one); what rests on such an assumption is not remembered beyond it.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from holdfast.contract.inclusion.evaluate import all_of, any_of, exactly_one, holds
from holdfast.contract.inclusion.model import Limits, Undecided
from holdfast.contract.inclusion.nodes import (
    And,
    Atom,
    Kinds,
    Node,
    Not,
    One,
    Opaque,
    Or,
    Pool,
    Ref,
    Required,
    Values,
)
from holdfast.contract.inclusion.tags import are_tagged
from holdfast.contract.inclusion.values import KINDS

__all__ = ["EMPTY", "Answer", "Empty", "Found", "Goal", "Literal", "Solver", "Theory", "Unclear"]

Literal: TypeAlias = tuple[Node, bool]
Goal: TypeAlias = frozenset[Literal]


@dataclass(frozen=True)
class Empty:
    """Proven: there is no such value."""


@dataclass(frozen=True)
class Found:
    """A value that should be one."""

    value: Any


@dataclass(frozen=True)
class Unclear:
    """Neither: the reason."""

    reason: str


Answer: TypeAlias = Empty | Found | Unclear
EMPTY = Empty()
_SURE_LIMIT = 8
_NEVER = 1_000_000


class Solver:
    """Answers questions about the terms of one pool, counting its steps."""

    def __init__(self, pool: Pool, limits: Limits, theories: Mapping[str, "Theory"]) -> None:
        self.pool = pool
        self.limits = limits
        self._theories = theories
        self._steps = limits.steps
        self._known: dict[Goal, Answer] = {}
        self._open: dict[Goal, int] = {}
        self._rests_on = _NEVER
        self._truths: dict[tuple[Node, str], bool | None] = {}
        self._exclusive: dict[tuple[One, str], Node] = {}

    def spend(self, steps: int = 1) -> None:
        """Count work; raises Undecided when the bound is reached."""
        self._steps -= steps
        if self._steps < 0:
            raise Undecided("the comparison takes too many steps")

    def refill(self) -> None:
        """Allow the full number of steps again, for the next question."""
        self._steps = self.limits.steps

    def solve(self, literals: Iterable[Literal]) -> Answer:
        """Whether a value fits all literals."""
        goal = frozenset(literal for literal in literals if literal != (self.pool.true, True))
        self.spend()
        if any((node, not sign) in goal for node, sign in goal):
            return EMPTY
        if goal in self._known:
            return self._known[goal]
        if goal in self._open:
            self._rests_on = min(self._rests_on, self._open[goal])
            return EMPTY
        if len(self._open) >= self.limits.depth:
            return Unclear(f"values nested deeper than {self.limits.depth} levels")
        return self._solve_new(goal)

    def _solve_new(self, goal: Goal) -> Answer:
        level = self._open[goal] = len(self._open)
        outside, self._rests_on = self._rests_on, _NEVER
        try:
            answer = self._first(self.proposals(goal))
        finally:
            del self._open[goal]
            inside, self._rests_on = self._rests_on, outside
        if inside < level and isinstance(answer, Empty):
            self._rests_on = min(outside, inside)
        elif not (inside < level):
            self._known[goal] = answer
        return answer

    def _first(self, answers: Iterator[Answer]) -> Answer:
        result: Answer = EMPTY
        for answer in answers:
            if isinstance(answer, Found):
                return answer
            result = answer
        return result

    def proposals(self, goal: Goal) -> Iterator[Answer]:
        """The values that the tableau finds, one per open branch; an Unclear at the end when one stayed open."""
        unclear: Unclear | None = None
        for kind in KINDS:
            for clause in self._clauses(goal, kind):
                answer = self._decide(kind, clause)
                if isinstance(answer, Found):
                    yield answer
                elif isinstance(answer, Unclear):
                    unclear = unclear or answer
        if unclear is not None:
            yield unclear

    def _decide(self, kind: str, clause: list[Literal]) -> Answer:
        finite = next((node for node, sign in clause if sign and isinstance(node, Values)), None)
        if finite is not None:
            return self._among(kind, finite, clause)
        opaque = next((node for node, _ in clause if isinstance(node, Opaque)), None)
        known = [literal for literal in clause if literal[0] is not opaque] if opaque else clause
        try:
            answer = self._theories[kind](self, [lit for lit in known if not isinstance(lit[0], Opaque)])
        except Undecided as reason:
            if self._steps < 0:
                raise
            return Unclear(str(reason))
        if isinstance(opaque, Opaque) and isinstance(answer, Found):
            return Unclear(opaque.text.partition("\n")[0])
        return answer

    def _among(self, kind: str, finite: Values, clause: list[Literal]) -> Answer:
        doubt = False
        keys = [key for key in finite.keys if key[0] == kind]
        self.spend(1 + len(keys) // 50)
        for key in sorted(keys, key=repr) if len(keys) < 100 else keys:
            value = self.pool.originals[key]
            fits = all_of(_signed(holds(self.pool, node, value), sign) for node, sign in clause)
            if fits:
                return Found(value)
            doubt = doubt or fits is None
        return Unclear("a listed value meets something that is not understood") if doubt else EMPTY

    def _clauses(self, goal: Goal, kind: str) -> Iterator[list[Literal]]:
        branch = _Branch(self, kind)
        if not branch.take(goal):
            return
        if branch.is_wide() and any(self._closes(branch, choice, kind) for choice in branch.small_choices()):
            return
        yield from self._explore(branch)

    def _explore(self, branch: "_Branch") -> Iterator[list[Literal]]:
        pending = [branch]
        while pending:
            branch = pending.pop()
            choice = branch.next_choice()
            if choice is None:
                yield branch.literals
                continue
            followers = []
            for option in choice:
                follower = branch.copy()
                if follower.take([option]):
                    followers.append(follower)
            pending.extend(reversed(followers))

    def _closes(self, branch: "_Branch", choice: list[Literal], kind: str) -> bool:
        """Whether a single one of several disjunctions leaves nothing: then the others need not be multiplied."""
        alone = branch.copy(without_choices=True)
        alone.choices.append(choice)
        return all(isinstance(self._decide(kind, clause), Empty) for clause in self._explore(alone))

    def truth(self, node: Node, kind: str) -> bool | None:
        """What a term says of every value of a kind, when it says the same of all."""
        key = (node, kind)
        if key not in self._truths:
            self.spend()
            self._truths[key] = self._truth(node, kind)
        return self._truths[key]

    def _truth(self, node: Node, kind: str) -> bool | None:
        if isinstance(node, Atom):
            return None if node.kind == kind else node.elsewhere
        if isinstance(node, Kinds):
            return kind in node.kinds
        if isinstance(node, Values):
            return None if kind in node.kinds else False
        if isinstance(node, Not):
            return _inverted(self.truth(node.part, kind))
        if isinstance(node, And):
            return all_of(self.truth(part, kind) for part in node.parts)
        if isinstance(node, Or):
            return any_of(self.truth(part, kind) for part in node.parts)
        if isinstance(node, One):
            return exactly_one([self.truth(part, kind) for part in node.parts])
        return None

    def exclusive(self, node: One, kind: str) -> Node:
        """`exactly one`, for values of a kind, in terms of the others: one holds, and no two do."""
        key = (node, kind)
        if key not in self._exclusive:
            self.spend(len(node.parts))
            parts = [part for part in node.parts if self.truth(part, kind) is not False]
            if kind == "object" and are_tagged(parts):
                self._exclusive[key] = self.pool.disjunction(parts)
            else:
                self._exclusive[key] = self._one_without_the_others(parts)
        return self._exclusive[key]

    def _one_without_the_others(self, parts: list[Node]) -> Node:
        pool = self.pool
        self.spend(len(parts) ** 2)
        cases = []
        for chosen in parts:
            others = [pool.negation(part) for part in parts if part is not chosen]
            twice = parts.count(chosen) > 1
            cases.append(pool.false if twice else pool.conjunction([chosen, *others]))
        return pool.disjunction(cases)


def _inverted(answer: bool | None) -> bool | None:
    return None if answer is None else not answer


def _signed(answer: bool | None, sign: bool) -> bool | None:
    return answer if sign else _inverted(answer)


Theory: TypeAlias = Callable[[Solver, list[Literal]], Answer]
"""Decides a list of statements on values of one kind."""


class _Branch:
    """One branch of the tableau for one kind: what is asserted, and the choices that are still open."""

    def __init__(self, solver: Solver, kind: str) -> None:
        self._solver = solver
        self._kind = kind
        self._seen: dict[Literal, None] = {}
        self.literals: list[Literal] = []
        self.choices: list[list[Literal]] = []

    def copy(self, *, without_choices: bool = False) -> "_Branch":
        """The same branch, to go on differently."""
        other = _Branch(self._solver, self._kind)
        other._seen = dict(self._seen)
        other.literals = list(self.literals)
        other.choices = [] if without_choices else list(self.choices)
        return other

    def small_choices(self) -> list[list[Literal]]:
        """A few of the open choices, those with few options."""
        small = [choice for choice in self.choices if len(choice) <= _SURE_LIMIT]
        return small[: 2 * _SURE_LIMIT]

    def is_wide(self) -> bool:
        """Whether the open choices multiply to more than a few clauses."""
        product = 1
        for choice in self.choices:
            product *= len(choice)
        return len(self.choices) > 1 and product > _SURE_LIMIT

    def take(self, literals: Iterable[Literal]) -> bool:
        """Assert literals and what follows from them; False when that is a contradiction."""
        pending: list[Literal] | None = list(literals)
        while pending:
            if not self._assert(pending):
                return False
            pending = self._forced()
        return pending is not None

    def _assert(self, pending: list[Literal]) -> bool:
        while pending:
            node, sign = pending.pop()
            if (node, sign) in self._seen:
                continue
            if (node, not sign) in self._seen:
                return False
            self._solver.spend()
            self._seen[node, sign] = None
            truth = self._solver.truth(node, self._kind)
            if truth is None:
                self._expand(node, sign, pending)
            elif truth is not sign:
                return False
        return True

    def _expand(self, node: Node, sign: bool, pending: list[Literal]) -> None:
        if isinstance(node, Not):
            pending.append((node.part, not sign))
        elif isinstance(node, Ref):
            pending.append((self._solver.pool.bodies[node.name], sign))
        elif isinstance(node, One):
            pending.append((self._solver.exclusive(node, self._kind), sign))
        elif isinstance(node, (And, Or)):
            parts = [(part, sign) for part in node.parts]
            if isinstance(node, And) is sign:
                pending.extend(parts)
            else:
                # What is missing is the plainest example of all, so it is tried first.
                self.choices.append(sorted(parts, key=lambda literal: not isinstance(literal[0], Required)))
        else:
            self.literals.append((node, sign))

    def _forced(self) -> list[Literal] | None:
        """Drop choices that are met, and return what has no alternative left; None when a choice has no option."""
        kept: list[list[Literal]] = []
        forced: list[Literal] = []
        for choice in self.choices:
            options = self._open_options(choice)
            if options is None:
                continue
            if not options:
                return None
            if len(options) == 1:
                forced.append(options[0])
            else:
                kept.append(options)
        self.choices = kept
        return forced

    def _open_options(self, choice: list[Literal]) -> list[Literal] | None:
        """The options that are not refuted, or None when one holds already."""
        options = []
        for node, sign in choice:
            truth = self._solver.truth(node, self._kind)
            if (node, sign) in self._seen or truth is sign:
                return None
            if (node, not sign) not in self._seen and truth is None:
                options.append((node, sign))
        return options

    def next_choice(self) -> list[Literal] | None:
        """Take an open choice out of the branch: a small one, or else one whose options say most."""
        if not self.choices:
            return None
        return self.choices.pop(min(range(len(self.choices)), key=lambda number: _rank(self.choices[number])))


def _rank(choice: list[Literal]) -> tuple[int, int, int]:
    node, sign = choice[0]
    says = len(node.parts) if sign and isinstance(node, And) else 0
    return min(len(choice), 4), -says, len(choice)
