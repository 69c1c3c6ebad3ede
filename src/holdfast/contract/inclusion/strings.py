"""Strings: how long they are, which patterns they match and do not match, and a few that are left out."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import islice, product

from holdfast.contract.inclusion.counts import Counted
from holdfast.contract.inclusion.evaluate import compiled_pattern
from holdfast.contract.inclusion.language import Question, find_text
from holdfast.contract.inclusion.model import Undecided
from holdfast.contract.inclusion.nodes import AtLeast, AtMost, Format, Pattern, Values
from holdfast.contract.inclusion.regex import Automaton
from holdfast.contract.inclusion.solver import EMPTY, Answer, Found, Literal, Solver, Unclear

__all__ = ["FORMAT_SAMPLES", "decide_string"]

_MAX_BUILT = 20_000
_ALPHABET = "abcdefghijklmnopqrstuvwxyz"

# One text of each format that 2020-12 names; a proposal only, the validator decides.
FORMAT_SAMPLES: dict[str, str] = {
    "date-time": "2024-05-06T07:08:09Z",
    "date": "2024-05-06",
    "time": "07:08:09Z",
    "duration": "P1D",
    "email": "someone@example.com",
    "idn-email": "someone@example.com",
    "hostname": "example.com",
    "idn-hostname": "example.com",
    "ipv4": "192.0.2.1",
    "ipv6": "2001:db8::1",
    "uri": "https://example.com/a",
    "uri-reference": "/a",
    "iri": "https://example.com/a",
    "iri-reference": "/a",
    "uuid": "123e4567-e89b-12d3-a456-426614174000",
    "uri-template": "/a/{b}",
    "json-pointer": "/a",
    "relative-json-pointer": "0",
    "regex": "a+",
}


@dataclass
class _Strings(Counted):
    """What a list of literals says about a string."""

    matching: list[str] = field(default_factory=list)
    avoiding: list[str] = field(default_factory=list)
    formats: list[str] = field(default_factory=list)
    not_formats: list[str] = field(default_factory=list)
    excluded: set[str] = field(default_factory=set)


def decide_string(solver: Solver, literals: list[Literal]) -> Answer:
    """Whether a string fits all literals."""
    described = _describe(literals)
    if described.most is not None and described.most < described.least:
        return EMPTY
    solver.spend(1 + len(described.excluded) // 50)
    answer = _by_pattern(solver, described) if described.matching or described.avoiding else _by_length(described)
    if isinstance(answer, Found) and (described.formats or described.not_formats):
        return _with_format(described, answer.value)
    return answer


def _describe(literals: Iterable[Literal]) -> _Strings:
    described = _Strings()
    for node, sign in literals:
        if isinstance(node, (AtLeast, AtMost)):
            described.bound(node, sign)
        elif isinstance(node, Pattern):
            (described.matching if sign else described.avoiding).append(node.text)
        elif isinstance(node, Format):
            (described.formats if sign else described.not_formats).append(node.name)
        elif isinstance(node, Values):
            described.excluded |= {key[1] for key in node.keys if key[0] == "string"}
    return described


def _by_length(described: _Strings) -> Answer:
    most = described.most if described.most is not None else described.least + len(described.excluded) + 1
    if described.least > _MAX_BUILT:
        return Unclear(f"only texts longer than {_MAX_BUILT} characters are left")
    if most == 0:
        return EMPTY if "" in described.excluded else Found("")
    length = max(described.least, 1) if "" in described.excluded else described.least
    tail = "a" * max(length - 3, 0)
    for start in islice(product(_ALPHABET, repeat=min(length, 3)), len(described.excluded) + 1):
        text = "".join(start) + tail
        if text not in described.excluded:
            return Found(text)
    return Unclear("a long list of texts is left out")


def _by_pattern(solver: Solver, described: _Strings) -> Answer:
    if set(described.matching) & set(described.avoiding):
        return EMPTY
    # A pattern that is not understood may be left out of a proof, but then no text is found.
    question, skipped = _question(described, strict_dot=False)
    text = find_text(question, solver.limits.states, solver.spend)
    if any("." in expression for expression in (*described.matching, *described.avoiding)):
        strict, _ = _question(described, strict_dot=True)
        if (find_text(strict, solver.limits.states, solver.spend) is None) is not (text is None):
            return Unclear("engines disagree whether `.` in a pattern is a carriage return or a line separator")
    if text is None:
        return EMPTY
    return Unclear(skipped) if skipped else Found(text)


def _question(described: _Strings, *, strict_dot: bool) -> tuple[Question, str]:
    matching, first = _understood(described.matching, strict_dot)
    avoiding, second = _understood(described.avoiding, strict_dot)
    excluded = frozenset(described.excluded)
    return Question(matching, avoiding, described.least, described.most, excluded), first or second


def _understood(expressions: list[str], strict_dot: bool) -> tuple[tuple[Automaton, ...], str]:
    """The automata of some expressions, and why one of them has none."""
    machines, skipped = [], ""
    for expression in sorted(set(expressions)):
        try:
            machines.append(compiled_pattern(expression, strict_dot=strict_dot))
        except Undecided as reason:
            skipped = str(reason)
    return tuple(machines), skipped


def _with_format(described: _Strings, text: str) -> Answer:
    if not described.formats:
        return Found(text or "?")
    sample = FORMAT_SAMPLES.get(described.formats[0])
    return Unclear(f"the format {described.formats[0]!r} is not understood") if sample is None else Found(sample)
