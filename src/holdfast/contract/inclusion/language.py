"""Is there a text that matches these expressions, does not match those, and is so long? An exact search.

The automata run side by side, one character at a time. Only one character of each group that all of them treat the
same is tried, and no combination of states twice, so the search ends; a large one is given up as undecided.
"""

from collections import deque
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass

from holdfast.contract.inclusion.model import Undecided
from holdfast.contract.inclusion.regex import Automaton

__all__ = ["Question", "find_text"]

_PLEASANT = [ord(character) for character in "axA0 -_./@"]
_SURROGATES = range(0xD800, 0xE000)
_DONE = frozenset({-1})  # an automaton that has matched, whatever follows
_MAX_LENGTH_STATES = 400


@dataclass(frozen=True)
class Question:
    """What is asked for: matching and not matching automata, bounds of the length, and texts that do not count."""

    matching: tuple[Automaton, ...]
    avoiding: tuple[Automaton, ...]
    least: int = 0
    most: int | None = None
    excluded: Collection[str] = ()


@dataclass(frozen=True)
class _State:
    sets: tuple[frozenset[int], ...]
    length: int
    prefix: str | None  # what was read, while it may still become an excluded text


def find_text(question: Question, max_states: int, spend: Callable[[int], None]) -> str | None:
    """A text as asked for, or None when there is none; raises Undecided when the search grows too large.

    `spend` is told of the work that is done, and may refuse to go on.
    """
    machines = (*question.matching, *question.avoiding)
    letters = _letters(machines, question.excluded)
    counted = max(question.least, -1 if question.most is None else question.most)
    if counted > _MAX_LENGTH_STATES:
        raise Undecided("a pattern together with a large bound of the length")
    prefixes = {word[:end] for word in question.excluded for end in range(len(word) + 1)}
    start = _State(tuple(frozenset[int]() for _ in machines), 0, "" if question.excluded else None)
    seen = {start}
    queue = deque([(start, "")])
    while queue:
        state, text = queue.popleft()
        if _accepted(question, machines, state):
            return text
        entered = _all_entered(question, machines, state)
        if entered is None:
            continue
        spend(1 + (2 + len(letters)) * sum(map(len, entered)) // 12)
        for letter in letters:
            follower = _follow(machines, entered, state, letter, counted, prefixes)
            if follower not in seen:
                seen.add(follower)
                queue.append((follower, text + chr(letter)))
        if len(seen) > max_states:
            raise Undecided("a pattern needs too many states to compare")
    return None


def _letters(machines: Iterable[Automaton], excluded: Collection[str]) -> list[int]:
    """One character for each group that no automaton and no excluded text tells apart."""
    cuts = {0}
    for machine in machines:
        for edges in machine.edges:
            for ranges, _ in edges:
                for low, high in ranges:
                    cuts.update((low, high + 1))
    for word in excluded:
        for character in word:
            cuts.update((ord(character), ord(character) + 1))
    ordered = sorted(cut for cut in cuts if cut <= 0x10FFFF)
    letters = []
    for low, after in zip(ordered, [*ordered[1:], 0x110000], strict=True):
        letter = next((good for good in _PLEASANT if low <= good < after), None)
        letter = letter if letter is not None else _representative(low, after)
        if letter is not None:
            letters.append(letter)
    return sorted(letters, key=lambda letter: (letter not in _PLEASANT, letter < 33, letter))


def _representative(low: int, after: int) -> int | None:
    middle = min(max(low, 33), after - 1)
    for letter in (middle, low, _SURROGATES.stop):
        if low <= letter < after and letter not in _SURROGATES:
            return letter
    return None


def _entered(machine: Automaton, states: frozenset[int], *, first: bool, last: bool) -> frozenset[int]:
    if states == _DONE:
        return states
    return machine.closure(states | {0}, first=first, last=last)


def _accepted(question: Question, machines: tuple[Automaton, ...], state: _State) -> bool:
    if state.length < question.least or (state.prefix is not None and state.prefix in question.excluded):
        return False
    wanted = len(question.matching)
    for number, (machine, states) in enumerate(zip(machines, state.sets, strict=True)):
        reached = _entered(machine, states, first=state.length == 0, last=True)
        if (machine.accept in reached or reached == _DONE) != (number < wanted):
            return False
    return True


def _all_entered(
    question: Question, machines: tuple[Automaton, ...], state: _State
) -> list[frozenset[int]] | None:
    """The states before the next character, or None when no text that goes on can be as asked for."""
    if question.most is not None and state.length >= question.most:
        return None
    entered = []
    for number, (machine, states) in enumerate(zip(machines, state.sets, strict=True)):
        reached = _entered(machine, states, first=state.length == 0, last=False)
        if reached == _DONE or machine.accept in reached:
            if number >= len(question.matching):
                return None  # what should be avoided has matched, and no more text undoes that
            reached = _DONE
        entered.append(reached)
    return entered


def _follow(
    machines: tuple[Automaton, ...],
    entered: list[frozenset[int]],
    state: _State,
    letter: int,
    counted: int,
    prefixes: set[str],
) -> _State:
    sets = [
        states if states == _DONE else machine.step(states, letter)
        for machine, states in zip(machines, entered, strict=True)
    ]
    prefix = None
    if state.prefix is not None and state.prefix + chr(letter) in prefixes:
        prefix = state.prefix + chr(letter)
    # Lengths beyond every bound are all the same, except that the very beginning is special to `^`.
    return _State(tuple(sets), min(state.length + 1, max(counted, 1)), prefix)
