"""Conditionals of the C preprocessor that cut a statement in two, which no grammar can follow.

`#ifdef A` around whole statements and definitions is fine. What is found here is the rest: a branch that opens a
bracket and leaves it open, or begins with `else`, or ends in the middle of an expression.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise

__all__ = ["hidden_branches", "without_comments"]

Span = tuple[int, int]

MAX_DEPTH = 30  # the text of deeper ones would be looked at too often

_DIRECTIVE = re.compile(
    rb"^[ \t]*#[ \t]*(if|ifdef|ifndef|elif|else|endif)\b((?:[^\n\\]|\\\r?\n|\\.)*)", re.MULTILINE
)
_QUIET = re.compile(rb"""//[^\n]*|/\*.*?\*/|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'""", re.DOTALL)
_OPENERS = {ord(")"): ord("("), ord("]"): ord("["), ord("}"): ord("{")}
_BRACKETS = re.compile(rb"[][(){}]")
_CONTINUED = re.compile(rb"\s*else\b")
_ENDS = b";:}>\\"  # of a statement, a label, a block, an include, a macro
_DIRECTIVE_AT_THE_END = re.compile(rb"(?:^|\n)[ \t]*#[^\n]*\Z")


@dataclass(slots=True)
class _Conditional:
    """One `#if` with its branches: where each directive stands, and whether the first branch is never compiled."""

    directives: list[Span] = field(default_factory=list)
    is_off: bool = False


def hidden_branches(source: bytes) -> list[Span]:
    """What is to be left out so that each such conditional is left with one branch: its directives, the others."""
    quiet = bytearray(without_comments(source))
    hidden: list[Span] = []
    for found in _conditionals(bytes(quiet)):
        if any(not _is_whole(bytes(quiet[slice(*branch)])) for branch in _branches(found)):
            for start, end in _hidden(found):
                quiet[start:end] = b" " * (end - start)
                hidden.append((start, end))
    return sorted(hidden)


def without_comments(source: bytes) -> bytes:
    """The same text with comments and strings made blank."""
    return _QUIET.sub(_blank, source)


def _blank(found: re.Match[bytes]) -> bytes:
    return re.sub(rb"[^\n]", b" ", found[0])


def _conditionals(quiet: bytes) -> Iterator[_Conditional]:
    """Every one that is closed, inner ones first."""
    around: list[_Conditional] = []
    for found in _DIRECTIVE.finditer(quiet):
        if found[1].startswith(b"if"):
            around.append(_Conditional(is_off=found[1] == b"if" and found[2].strip() == b"0"))
        if around:
            around[-1].directives.append(found.span())
            if found[1] == b"endif" and len(around) <= MAX_DEPTH:
                yield around.pop()
            elif found[1] == b"endif":
                around.pop()


def _branches(conditional: _Conditional) -> list[Span]:
    directives = conditional.directives
    return [(before[1], behind[0]) for before, behind in pairwise(directives)]


def _is_whole(branch: bytes) -> bool:
    if not (code := branch.strip()):
        return True
    if _CONTINUED.match(code) or not (code[-1] in _ENDS or _DIRECTIVE_AT_THE_END.search(code)):
        return False
    around: list[int] = []
    for found in _BRACKETS.finditer(code):
        bracket = found[0][0]
        if bracket not in _OPENERS:
            around.append(bracket)
        elif not around or around.pop() != _OPENERS[bracket]:
            return False
    return not around


def _hidden(conditional: _Conditional) -> Iterator[Span]:
    branches = _branches(conditional)
    kept = 1 if conditional.is_off else 0
    yield from conditional.directives
    yield from (branch for number, branch in enumerate(branches) if number != kept)
