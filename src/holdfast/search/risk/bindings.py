"""Assignments that are none by their looks: `x += v`, `for x in v`, `with v as x`.

Found by regular expressions in masked text; ordinary assignments are the extractor's work.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

__all__ = ["Binding", "find_bindings"]

_NAMES = rb"[\w$.]+(?:\s*,\s*[\w$.]+)*"
_NAME = re.compile(rb"[\w$.]+")
_ADDED = re.compile(rb"(?<![\w$.])([A-Za-z_$][\w$.]*)\s*(?:\[[^\]\n]*\]\s*)?(?:\+|\|\||\?\?|\|)=(?!=)\s*([^;\n]+)")
_EACH = {
    "python": (
        re.compile(rb"\bfor\s+\(?(" + _NAMES + rb")\)?\s+in\s+([^\n:\]})]+(?:\([^\n)]*\))*[^\n:\]})]*)"),
        re.compile(rb"\bwith\s+([^\n]+?)\sas\s+(" + _NAMES + rb")"),
    ),
    "go": (re.compile(rb"\bfor\s+(" + _NAMES + rb")\s*:?=\s*range\s+([^\n{]+)"),),
    "java": (re.compile(rb"\bfor\s*\(\s*(?:final\s+)?[\w<>\[\],.? ]{1,80}?\s(\w+)\s*:\s*([^\n{]+)\)"),),
    "script": (
        re.compile(
            rb"\bfor\s*(?:await\s*)?\(\s*(?:const|let|var)\s+[\[{]?\s*("
            + _NAMES
            + rb")\s*[\]}]?\s+(?:of|in)\s+([^\n{]+)\)"
        ),
    ),
}  # fmt: skip
_FAMILY = {"python": "python", "go": "go", "java": "java", "kotlin": "java"}


@dataclass(frozen=True, slots=True)
class Binding:
    """A name that takes on a value; the offsets are those of the value in the text."""

    target: str
    start: int
    end: int
    position: int  # when it happens; for a comprehension that is before what it repeats
    adds: bool  # it keeps what it was, too


def find_bindings(language: str, text: bytes) -> Iterator[Binding]:
    """The bindings in a masked text."""
    for found in _ADDED.finditer(text):
        start, end = found.span(2)
        yield Binding(found.group(1).decode("ascii", "replace"), start, end, end, adds=True)
    for number, pattern in enumerate(_EACH[_FAMILY.get(language, "script")]):
        names_first = language != "python" or number == 0
        for found in pattern.finditer(text):
            names, value = (1, 2) if names_first else (2, 1)
            start, end = found.span(value)
            line = text.rfind(b"\n", 0, found.start()) + 1
            # `[f(x) for x in xs]`: x is bound before f is called, although it stands behind.
            statement = not text[line : found.start()].strip()
            position = end if statement or language != "python" else line
            for name in _NAME.findall(found.group(names)):
                yield Binding(name.decode("ascii", "replace"), start, end, position, adds=False)
