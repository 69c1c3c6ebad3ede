"""Regular expressions of JSON Schema as small automata: enough of the syntax to decide what people write.

Read as an ECMAScript expression with Unicode, matched anywhere in the text, as validators do it. `.` is everything
but a line feed for some engines, and everything but the four line ends of the standard for others: both readings
can be asked for. Back references, look-around, word boundaries, named classes and flags are not regular or not the
same everywhere: they are refused, and whoever asked answers "unknown".
"""

import re
from dataclasses import dataclass
from typing import TypeAlias

from holdfast.contract.inclusion.model import Undecided

__all__ = ["LINE_ENDS", "Automaton", "Ranges", "automaton"]

Ranges: TypeAlias = tuple[tuple[int, int], ...]

LINE_ENDS = "\r\u2028\u2029"
"""The characters on which engines disagree whether `.` is one of them."""

_TOP = 0x10FFFF
_DIGIT: Ranges = ((48, 57),)
_WORD: Ranges = ((48, 57), (65, 90), (95, 95), (97, 122))
_SPACE: Ranges = (
    (9, 13), (32, 32), (0xA0, 0xA0), (0x1680, 0x1680), (0x2000, 0x200A), (0x2028, 0x2029), (0x202F, 0x202F),
    (0x205F, 0x205F), (0x3000, 0x3000), (0xFEFF, 0xFEFF),
)  # fmt: skip
_CONTROL = {"n": 10, "r": 13, "t": 9, "f": 12, "v": 11, "0": 0}
_PUNCTUATION = frozenset("^$\\.*+?()[]{}|/-_,:;=!<>@#%&~\"'` ")
_MAX_STATES = 2_000
_MAX_REPEAT = 256
_COUNT = re.compile("[0-9]{1,6}")


def _complement(ranges: Ranges) -> Ranges:
    result = []
    start = 0
    for low, high in sorted(ranges):
        if low > start:
            result.append((start, low - 1))
        start = max(start, high + 1)
    if start <= _TOP:
        result.append((start, _TOP))
    return tuple(result)


@dataclass
class Automaton:
    """A nondeterministic automaton. State 0 begins; `edges` read a character, `free` read nothing.

    A free edge may demand to be at the beginning (`^`) or at the end (`$`) of the text.
    """

    edges: list[list[tuple[Ranges, int]]]
    free: list[list[tuple[str, int]]]
    accept: int = 1

    def closure(self, states: frozenset[int], *, first: bool, last: bool) -> frozenset[int]:
        """All states that are reached without reading a character."""
        reached = set(states)
        pending = list(states)
        while pending:
            for condition, target in self.free[pending.pop()]:
                allowed = not condition or (first if condition == "^" else last)
                if allowed and target not in reached:
                    reached.add(target)
                    pending.append(target)
        return frozenset(reached)

    def step(self, states: frozenset[int], character: int) -> frozenset[int]:
        """The states after one character."""
        return frozenset(
            target
            for state in states
            for ranges, target in self.edges[state]
            if any(low <= character <= high for low, high in ranges)
        )

    def matches(self, text: str) -> bool:
        """Whether the expression matches somewhere in the text."""
        states: frozenset[int] = frozenset()
        for index, character in enumerate(text):
            states = self.closure(states | {0}, first=index == 0, last=False)
            if self.accept in states:
                return True
            states = self.step(states, ord(character))
        return self.accept in self.closure(states | {0}, first=not text, last=True)


def automaton(expression: str, *, strict_dot: bool = False) -> Automaton:
    """The automaton of an expression; raises Undecided for what is outside the syntax that is read here.

    `strict_dot`: `.` is not one of `LINE_ENDS` either, as the standard has it.
    """
    return _Reader(expression, strict_dot).read()


class _Reader:
    """Reads an expression by recursive descent and adds states as it goes."""

    def __init__(self, expression: str, strict_dot: bool) -> None:
        self._text = expression
        self._strict_dot = strict_dot
        self._at = 0
        self._depth = 0
        self._machine = Automaton([[], []], [[], []])

    def read(self) -> Automaton:
        """The whole expression, from state 0 to state 1."""
        self._alternatives(0, 1)
        if self._at < len(self._text):
            raise Undecided(f"the pattern {self._text[:60]!r} is not read beyond character {self._at}")
        return self._machine

    def _refuse(self, what: str) -> Undecided:
        return Undecided(f"the pattern {self._text[:60]!r} uses {what}")

    def _peek(self) -> str:
        return self._text[self._at] if self._at < len(self._text) else ""

    def _take(self) -> str:
        character = self._peek()
        if not character:
            raise self._refuse("an expression that does not end")
        self._at += 1
        return character

    def _state(self) -> int:
        if len(self._machine.edges) >= _MAX_STATES:
            raise self._refuse("too many states")
        self._machine.edges.append([])
        self._machine.free.append([])
        return len(self._machine.edges) - 1

    def _link(self, source: int, target: int, condition: str = "") -> None:
        self._machine.free[source].append((condition, target))

    def _alternatives(self, source: int, target: int) -> None:
        self._depth += 1
        if self._depth > 40:
            raise self._refuse("groups nested too deeply")
        self._sequence(source, target)
        while self._peek() == "|":
            self._at += 1
            self._sequence(source, target)
        self._depth -= 1

    def _sequence(self, source: int, target: int) -> None:
        # An own first state, so that loops back to the start of one alternative do not enter another.
        here = self._state()
        self._link(source, here)
        while self._peek() not in ("", "|", ")"):
            here = self._repeated(here)
        self._link(here, target)

    def _repeated(self, source: int) -> int:
        began = self._at
        target = self._state()
        self._atom(source, target)
        ended = self._at
        least, most = self._quantifier()
        if (least, most) == (1, 1):
            return target
        # The first copy is unlinked by starting over: its states stay unreachable.
        self._machine.edges[source].clear()
        self._machine.free[source].clear()
        after = self._at
        here = source
        for _ in range(least):
            here = self._copy(began, ended, here)
        more = None if most is None else most - least
        here = self._loop(began, ended, here) if more is None else self._optional(began, ended, here, more)
        self._at = after
        return here

    def _copy(self, began: int, ended: int, source: int) -> int:
        self._at = began
        entry, target = self._state(), self._state()
        self._link(source, entry)
        self._atom(entry, target)
        assert self._at == ended
        return target

    def _loop(self, began: int, ended: int, source: int) -> int:
        hub, done = self._state(), self._state()
        self._link(source, hub)
        self._link(self._copy(began, ended, hub), hub)
        self._link(hub, done)
        return done

    def _optional(self, began: int, ended: int, source: int, times: int) -> int:
        done = self._state()
        here = source
        for _ in range(times):
            self._link(here, done)
            here = self._copy(began, ended, here)
        self._link(here, done)
        return done

    def _quantifier(self) -> tuple[int, int | None]:
        simple: dict[str, tuple[int, int | None]] = {"*": (0, None), "+": (1, None), "?": (0, 1)}
        mark = self._peek()
        if mark in simple and mark:
            self._at += 1
            counts = simple[mark]
        elif mark == "{":
            self._at += 1
            counts = self._braces()
        else:
            return 1, 1
        if self._peek() == "?":  # lazy: the same language
            self._at += 1
        if self._peek() in ("*", "+", "?", "{") and self._peek():
            raise self._refuse("a quantifier of a quantifier")
        return counts

    def _braces(self) -> tuple[int, int | None]:
        end = self._text.find("}", self._at)
        first, comma, second = self._text[self._at : max(end, self._at)].partition(",")
        if not _COUNT.fullmatch(first) or (second and not _COUNT.fullmatch(second)):
            raise self._refuse("braces that are no quantifier")
        self._at = end + 1
        least = int(first)
        most = int(second) if second else (None if comma else least)
        if max(least, most or 0) > _MAX_REPEAT or (most is not None and most < least):
            raise self._refuse("a repetition that is too long")
        return least, most

    def _atom(self, source: int, target: int) -> None:
        character = self._take()
        if character in "^$":
            self._link(source, target, character)
        elif character == "(":
            self._group(source, target)
        elif character in "*+?{":
            raise self._refuse("a quantifier of nothing")
        else:
            self._machine.edges[source].append((self._characters(character), target))

    def _group(self, source: int, target: int) -> None:
        if self._peek() == "?":
            if not self._text.startswith("?:", self._at):
                raise self._refuse("a special group")
            self._at += 2
        self._alternatives(source, target)
        if self._take() != ")":
            raise self._refuse("a group that does not end")

    def _characters(self, character: str) -> Ranges:
        if character == ".":
            return _complement(((10, 10), (13, 13), (0x2028, 0x2029)) if self._strict_dot else ((10, 10),))
        if character == "[":
            return self._set()
        if character == "\\":
            return self._escape()
        return ((ord(character), ord(character)),)

    def _escape(self) -> Ranges:
        character = self._take()
        if character.lower() in "dws":
            ranges = {"d": _DIGIT, "w": _WORD, "s": _SPACE}[character.lower()]
            return _complement(ranges) if character.isupper() else ranges
        if character in _CONTROL and not (character == "0" and self._peek().isdecimal()):
            code = _CONTROL[character]
        elif character in "xu":
            code = self._hexadecimal(2 if character == "x" else 4)
        elif character in _PUNCTUATION:
            code = ord(character)
        else:
            raise self._refuse(f"\\{character}")
        return ((code, code),)

    def _hexadecimal(self, length: int) -> int:
        digits = self._text[self._at : self._at + length]
        try:
            code = int(digits, 16) if len(digits) == length else -1
        except ValueError:
            code = -1
        if code < 0 or 0xD800 <= code <= 0xDFFF:
            raise self._refuse("a character by number that is none")
        self._at += length
        return code

    def _set(self) -> Ranges:
        negative = self._peek() == "^"
        self._at += negative
        ranges: list[tuple[int, int]] = []
        if self._peek() == "]":
            raise self._refuse("an empty set")
        while self._peek() != "]":
            ranges.extend(self._member())
        self._at += 1
        return _complement(tuple(ranges)) if negative else tuple(ranges)

    def _member(self) -> Ranges:
        low = self._set_character()
        if self._peek() != "-" or self._text[self._at + 1 : self._at + 2] in ("]", ""):
            return low
        self._at += 1
        high = self._set_character()
        if len(low) != 1 or len(high) != 1 or low[0][0] != low[0][1] or high[0][0] != high[0][1]:
            raise self._refuse("a range of sets")
        if high[0][0] < low[0][0]:
            raise self._refuse("a range that runs backwards")
        return ((low[0][0], high[0][0]),)

    def _set_character(self) -> Ranges:
        character = self._take()
        # Sets inside sets, and doubled marks, mean different things in different engines.
        if character == "[" or (character in "&-~|" and self._peek() == character):
            raise self._refuse("a set of sets")
        return self._escape() if character == "\\" else ((ord(character), ord(character)),)
