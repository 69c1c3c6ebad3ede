"""The walk over two schemas that names what changed, keyword by keyword, and proves the effect of each change.

The effect of one change is the relation of the old schema to the old schema with only that keyword exchanged.
What no keyword explains is added at the end as a change of the whole, so that no verdict is without its reason,
and what the proof of the whole refutes is left out, so that an equivalent rewriting is silent.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from holdfast.contract.inclusion.annotations import Words
from holdfast.contract.inclusion.documents import subschemas
from holdfast.contract.inclusion.engine import Engine
from holdfast.contract.inclusion.model import Effect, Undecided
from holdfast.contract.inclusion.nodes import Contains, Has, Node, Props
from holdfast.contract.inclusion.values import key_of
from holdfast.contract.inclusion.views import Pair, balanced, side_of

__all__ = ["Draft", "Walker"]

_MAX_DEPTH = 60


@dataclass(frozen=True)
class Draft:
    """A change before it has a witness: the terms say which values it loses and gains, and where."""

    rule: str
    path: str
    effect: Effect
    message: str
    lost: Node | None = None
    gained: Node | None = None
    policy: bool = False


class Walker:
    """Walks over two schemas and collects drafts."""

    def __init__(self, engine: Engine, handlers: Iterable[Callable[["Walker", Pair], None]]) -> None:
        self.engine = engine
        self.drafts: list[Draft] = []
        self._handlers = tuple(handlers)
        self._seen: set[tuple[int, bool, int, bool]] = set()
        self._above: list[tuple[int, int]] = []
        self._words = Words()

    def visit(
        self,
        old: tuple[Any, str],
        new: tuple[Any, str],
        pair: Pair | None,
        token: tuple[str, Any] | None,
        *,
        required: bool = False,
    ) -> None:
        """Compare the schemas of one place: below `pair`, at `token`; or of the root."""
        sides = balanced(side_of(self.engine.old, *old), side_of(self.engine.new, *new))
        path, at = "" if pair is None else pair.path, () if pair is None else pair.at
        if token is not None:
            path, at = f"{path}/{_escaped(token)}", (*at, token)
        self.compare(Pair(*sides, path, at, branch=pair is not None and pair.branch, required=required))

    def visit_branch(self, old: tuple[Any, str], new: tuple[Any, str], pair: Pair) -> None:
        """Compare two alternatives of the place of `pair`."""
        sides = side_of(self.engine.old, *old), side_of(self.engine.new, *new)
        self.compare(Pair(*sides, pair.path, pair.at, branch=True))

    def compare(self, pair: Pair) -> None:
        """Compare two sides, unless they were compared before or are the same text."""
        for rule, path, message in self._words.at(pair):
            self.drafts.append(Draft(rule, path, Effect.EQUAL, message, policy=True))
        differ = pair.old.nullable != pair.new.nullable  # else the schemas without null show all there is to see
        key = (pair.old.identity, differ and pair.old.nullable, pair.new.identity, differ and pair.new.nullable)
        if key in self._seen or len(self._above) > _MAX_DEPTH:
            return
        if _same_text(pair.old.schema, pair.new.schema):
            self.settle(pair.old.schema, pair.new.schema)
            self._note_references(pair)
            return
        if self._recursion_changed(pair):
            return
        self._seen.add(key)
        self._above.append((pair.old.identity, pair.new.identity))
        try:
            self._compare(pair)
        finally:
            self._above.pop()

    def _compare(self, pair: Pair) -> None:
        self._note_references(pair)
        before = len(self.drafts)
        for handler in self._handlers:
            handler(self, pair)
        if self.engine.relation(pair.old.node, pair.new.node) is Effect.EQUAL:
            # Rewritten, not changed: what the handlers found one by one cancels out.
            self.drafts[before:] = [draft for draft in self.drafts[before:] if draft.policy]

    def settle(self, old: Any, new: Any) -> None:
        """Say nothing of the words in two schemas that are the same, or are told of as a whole."""
        self._words.settle(old, new)

    def _note_references(self, pair: Pair) -> None:
        if pair.old.references != pair.new.references and pair.old.node is pair.new.node:
            said = [" -> ".join(side.references) or "inline" for side in (pair.old, pair.new)]
            self.drafts.append(
                Draft("ref.moved", pair.path, Effect.EQUAL, f"{said[0]} became {said[1]}", policy=True)
            )

    def _recursion_changed(self, pair: Pair) -> bool:
        """Whether exactly one side comes back to where it has been before on the way to here."""
        again_old = pair.old.identity in {old for old, _ in self._above}
        again_new = pair.new.identity in {new for _, new in self._above}
        if again_old == again_new:
            return False
        effect = self.engine.relation(pair.old.node, pair.new.node)
        if effect is not Effect.EQUAL:
            which = "old" if again_old else "new"
            self.note(pair, "recursion.changed", pair.new.node, f"only the {which} schema repeats itself here")
        return True

    def hybrid(self, pair: Pair, replaced: dict[str, Node | None]) -> Node:
        """The old schema with some parts exchanged."""
        parts = {**pair.old.parts, **replaced}
        return self.engine.pool.conjunction(part for part in parts.values() if part is not None)

    def exchanged(self, pair: Pair, *groups: str) -> Node:
        """The old schema with some parts taken from the new one."""
        return self.hybrid(pair, {group: pair.new.parts.get(group) for group in groups})

    def affords(self, steps: int) -> bool:
        """Whether so much work may still be done for details; it is counted."""
        try:
            self.engine.solver.spend(steps)
        except Undecided:
            return False
        return True

    def effect(self, pair: Pair, hybrid: Node) -> Effect:
        """What a change does to the values at its place."""
        return self.engine.relation(pair.old.node, hybrid)

    def note(
        self,
        pair: Pair,
        rule: str,
        hybrid: Node | None,
        message: str,
        *,
        token: tuple[str, Any] | None = None,
        policy: bool = False,
    ) -> bool:
        """Collect a change whose effect is that of `hybrid`; one without effect only where policy demands it."""
        path = pair.path if token is None else f"{pair.path}/{_escaped(token)}"
        if hybrid is None:
            self.drafts.append(Draft(rule, path, Effect.UNKNOWN, message, policy=policy))
            return True
        effect = self.effect(pair, hybrid)
        if effect is Effect.EQUAL and not policy:
            return False
        pool = self.engine.pool
        lost = self.located(pair, pool.conjunction([pair.old.node, pool.negation(hybrid)]))
        gained = self.located(pair, pool.conjunction([hybrid, pool.negation(pair.old.node)]))
        self.drafts.append(Draft(rule, path, effect, message, lost, gained, policy))
        return True

    def located(self, pair: Pair, term: Node) -> Node:
        """The values of the whole that hold a value of a term at a place."""
        pool = self.engine.pool
        for kind, name in reversed(pair.at):
            if kind == "name":
                inner = pool.make(Props, ((name, term),), (), pool.true)
                term = pool.conjunction([pool.make(Has, name), inner])
            elif kind in ("items", "index"):
                term = pool.conjunction([pool.kinds(["array"]), pool.make(Contains, term, 1)])
            else:
                nowhere = pool.make(Props, (), (), pool.negation(term))
                term = pool.conjunction([pool.kinds(["object"]), pool.negation(nowhere)])
        return term

    def finish(self, effect: Effect, reason: str) -> list[Draft]:
        """The drafts in the light of the proof of the whole."""
        kept = [draft for found in self.drafts if (draft := _in_context(found, effect)) is not None]
        roots = self.engine.old.document.root, self.engine.new.document.root
        alone = not kept and effect is Effect.EQUAL
        kept += [
            Draft(rule, path, Effect.EQUAL, message, policy=True)
            for rule, path, message in self._words.elsewhere(*roots, everything=alone)
        ]
        if not _explained(effect, kept):
            rule = {
                Effect.WIDENS: "schema.widened",
                Effect.NARROWS: "schema.narrowed",
                Effect.INCOMPARABLE: "schema.replaced",
                Effect.UNKNOWN: "schema.undecided",
            }[effect]
            message = reason or "the whole schema accepts other values; no single keyword shows why"
            kept.append(Draft(rule, "", effect, message, self.engine.pool.true, self.engine.pool.true))
        return kept


def _escaped(token: tuple[str, Any]) -> str:
    kind, name = token
    if kind in ("name", "index"):
        return str(name).replace("~", "~0").replace("/", "~1")
    return "*"


def _same_text(old: dict[str, Any], new: dict[str, Any]) -> bool:
    """Whether two schemas are the same and lead nowhere else, where they could differ."""
    # Python calls 1, 1.0 and true equal; the keys tell true apart, and 1 from 1.0 nothing needs to.
    return old == new and key_of(old) == key_of(new) and not _refers(old)


def _refers(schema: dict[str, Any]) -> bool:
    if not {"$ref", "$dynamicRef", "$recursiveRef"}.isdisjoint(schema):
        return True
    return any(_refers(part) for part in subschemas(schema) if isinstance(part, dict))


def _in_context(draft: Draft, whole: Effect) -> Draft | None:
    """A change as far as the proof of the whole leaves it: what was proven not to be lost was not lost here."""
    loses = draft.effect in (Effect.NARROWS, Effect.INCOMPARABLE, Effect.UNKNOWN)
    gains = draft.effect in (Effect.WIDENS, Effect.INCOMPARABLE, Effect.UNKNOWN)
    if whole in (Effect.EQUAL, Effect.WIDENS):
        loses = False
    if whole in (Effect.EQUAL, Effect.NARROWS):
        gains = False
    effect = draft.effect
    if whole in (Effect.EQUAL, Effect.WIDENS, Effect.NARROWS):
        effect = Effect.NARROWS if loses else Effect.WIDENS if gains else Effect.EQUAL
    if effect is Effect.EQUAL and not draft.policy:
        return None
    return Draft(draft.rule, draft.path, effect, draft.message, draft.lost, draft.gained, draft.policy)


def _explained(whole: Effect, drafts: list[Draft]) -> bool:
    effects = {draft.effect for draft in drafts}
    if whole is Effect.EQUAL:
        return True
    if whole is Effect.UNKNOWN:
        return Effect.UNKNOWN in effects
    if whole is Effect.INCOMPARABLE:
        both = {Effect.NARROWS, Effect.WIDENS} <= effects
        return both or bool(effects & {Effect.INCOMPARABLE, Effect.UNKNOWN})
    return bool(effects & {whole, Effect.INCOMPARABLE, Effect.UNKNOWN})
