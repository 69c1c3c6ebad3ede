"""Does a term accept a value? Exact for one value, with None where an opaque part decides.

The solver asks this of the finitely many values of an `enum` and of the names of properties. It is not what
confirms witnesses: that is a validator that is independent of this room (see `witnesses.py`).
"""

from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any

from holdfast.contract.inclusion.model import Undecided
from holdfast.contract.inclusion.nodes import (
    And,
    AtLeast,
    AtMost,
    Atom,
    Contains,
    ContainsAtMost,
    Format,
    Has,
    High,
    Items,
    Kinds,
    Low,
    MultipleOf,
    Names,
    Node,
    Not,
    One,
    Opaque,
    Or,
    Pattern,
    Pool,
    Props,
    Ref,
    Required,
    Unique,
    Values,
)
from holdfast.contract.inclusion.regex import LINE_ENDS, Automaton, automaton
from holdfast.contract.inclusion.values import exact, key_of, kind_of

__all__ = ["all_of", "any_of", "compiled_pattern", "exactly_one", "holds", "matches", "multiple"]


@lru_cache(maxsize=512)
def _machine(expression: str, *, strict_dot: bool) -> Automaton | str:
    try:
        return automaton(expression, strict_dot=strict_dot)
    except Undecided as reason:
        return str(reason)


def compiled_pattern(expression: str, *, strict_dot: bool = False) -> Automaton:
    """The automaton of an expression; raises Undecided when there is none."""
    machine = _machine(expression, strict_dot=strict_dot)
    if isinstance(machine, str):
        raise Undecided(machine)
    return machine


def matches(expression: str, text: str) -> bool | None:
    """Whether a text matches, or None when the expression is not understood, or not by all in the same way."""
    machine = _machine(expression, strict_dot=False)
    if isinstance(machine, str):
        return None
    found = machine.matches(text)
    if "." in expression and not set(LINE_ENDS).isdisjoint(text):
        return found if compiled_pattern(expression, strict_dot=True).matches(text) is found else None
    return found


def multiple(number: Any, factor: Any) -> bool:
    """Whether a number is a whole multiple of another, without rounding."""
    return bool(number % factor == 0)


def all_of(answers: Iterable[bool | None]) -> bool | None:
    """Conjunction of answers of which some may be missing."""
    result: bool | None = True
    for answer in answers:
        if answer is False:
            return False
        if answer is None:
            result = None
    return result


def any_of(answers: Iterable[bool | None]) -> bool | None:
    """Disjunction of answers of which some may be missing."""
    inverted = all_of(None if answer is None else not answer for answer in answers)
    return None if inverted is None else not inverted


def exactly_one(answers: list[bool | None]) -> bool | None:
    """Whether exactly one of some answers is yes, of which some may be missing."""
    sure = answers.count(True)
    if sure > 1:
        return False
    return None if None in answers else sure == 1


def holds(pool: Pool, node: Node, value: Any) -> bool | None:
    """Whether a term accepts a value, or None when that is not known."""
    if isinstance(node, Atom):
        if node.kind != kind_of(value):
            return node.elsewhere
        return _ATOMS[type(node)](pool, node, value)
    return _TERMS[type(node)](pool, node, value)


def _negated(answer: bool | None) -> bool | None:
    return None if answer is None else not answer


def _counted(pool: Pool, node: Contains | ContainsAtMost, value: list[Any]) -> tuple[int, int]:
    answers = [holds(pool, node.item, item) for item in value]
    return answers.count(True), answers.count(None)


def _contains(pool: Pool, node: Contains, value: list[Any]) -> bool | None:
    sure, unsure = _counted(pool, node, value)
    if sure >= node.count:
        return True
    return None if sure + unsure >= node.count else False


def _contains_at_most(pool: Pool, node: ContainsAtMost, value: list[Any]) -> bool | None:
    sure, unsure = _counted(pool, node, value)
    if sure > node.count:
        return False
    return None if sure + unsure > node.count else True


def _props(pool: Pool, node: Props, value: dict[str, Any]) -> bool | None:
    return all_of(_property(pool, node, name, item) for name, item in value.items())


def _property(pool: Pool, node: Props, name: str, item: Any) -> bool | None:
    applied = name in node.by_name
    answers = [holds(pool, node.by_name[name], item)] if applied else []
    for expression, part in node.patterned:
        found = matches(expression, name)
        if found is None:
            return None
        if found:
            applied = True
            answers.append(holds(pool, part, item))
    if not applied:
        answers.append(holds(pool, node.rest, item))
    return all_of(answers)


_TERMS: dict[type[Node], Callable[[Pool, Any, Any], bool | None]] = {
    And: lambda pool, node, value: all_of(holds(pool, part, value) for part in node.parts),
    Or: lambda pool, node, value: any_of(holds(pool, part, value) for part in node.parts),
    Not: lambda pool, node, value: _negated(holds(pool, node.part, value)),
    One: lambda pool, node, value: exactly_one([holds(pool, part, value) for part in node.parts]),
    Ref: lambda pool, node, value: holds(pool, pool.bodies[node.name], value),
    Kinds: lambda _, node, value: kind_of(value) in node.kinds,
    Values: lambda _, node, value: key_of(value) in node.keys,
    Opaque: lambda *_: None,
}

_ATOMS: dict[type[Atom], Callable[[Pool, Any, Any], bool | None]] = {
    Low: lambda _, node, value: exact(value) > node.bound or (not node.strict and exact(value) == node.bound),
    High: lambda _, node, value: exact(value) < node.bound or (not node.strict and exact(value) == node.bound),
    MultipleOf: lambda _, node, value: multiple(exact(value), node.factor),
    AtLeast: lambda _, node, value: len(value) >= node.count,
    AtMost: lambda _, node, value: len(value) <= node.count,
    Pattern: lambda _, node, value: matches(node.text, value),
    Format: lambda *_: None,
    Items: lambda pool, node, value: all_of(holds(pool, node.at(index), item) for index, item in enumerate(value)),
    Unique: lambda _pool, _node, value: len({key_of(item) for item in value}) == len(value),
    Contains: _contains,
    ContainsAtMost: _contains_at_most,
    Required: lambda _, node, value: node.names <= value.keys(),
    Has: lambda _, node, value: node.name in value,
    Props: _props,
    Names: lambda pool, node, value: all_of(holds(pool, node.name, name) for name in value),
}
