"""Assignments that are none by their looks: `x += v`, `for x in v`, `with v as x`.

Found by regular expressions in masked text; ordinary assignments are the extractor's work.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

__all__ = ["Binding", "find_bindings"]

_NAMES = rb"[\w$.@]+(?:\s*,\s*[\w$.@]+)*"
_NAME = re.compile(rb"[\w$.@]+")
_ADDED = re.compile(
    rb"(?<![\w$.])([A-Za-z_$@][\w$.]*)\s*(?:\[[^\]\n]*\]\s*)?(?:\+|\|\||\?\?|\||\.|<<)=(?!=)\s*([^;\n]+)"
)
_ADDS = re.compile(rb"(?:[+|.]|\?\?|<<)=")
_REPEATS = re.compile(rb"\bfor|\bwith\b|\.each")
_SHOVELED = re.compile(rb"(?<![\w$.])([A-Za-z_@][\w.]*)\s*<<\s*([^;\n]+)")  # text << more


def _each(head: bytes, between: bytes, tail: bytes = rb"([^\n{]{1,300})") -> re.Pattern[bytes]:
    return re.compile(head + rb"(" + _NAMES + rb")" + between + tail)


_IN_BRACKETS = _each(rb"\bfor\s*\(\s*(?:val\s+|var\s+)?\(?", rb"\)?\s+in\s+", rb"([^\n{]{1,300})\)")
_TYPED = re.compile(
    rb"\bfor(?:each)?\s*\(\s*(?:final\s+|const\s+)?[\w<>\[\],.?&*: ]{1,80}?[\s&*](\w+)\s*(?::|\bin\b)\s*"
    rb"([^\n{]{1,300})\)"
)
_BARE = _each(rb"\bfor\s+\(?", rb"\)?\s+in\s+")
_EACH = {
    "python": (
        re.compile(rb"\bfor\s+\(?(" + _NAMES + rb")\)?\s+in\s+([^\n:\]})]+(?:\([^\n)]*\))*[^\n:\]})]*)"),
        re.compile(rb"\bwith\s+([^\n]+?)\sas\s+(" + _NAMES + rb")"),
    ),
    "go": (_each(rb"\bfor\s+", rb"\s*:?=\s*range\s+"),),
    "java": (_TYPED,),
    "kotlin": (_IN_BRACKETS,),
    "scala": (_each(rb"\bfor\s*[({]\s*", rb"\s*<-\s*", rb"((?:[^\n()}]|\([^\n()]*\))+)"),),
    "words": (_BARE,),
    "php": (re.compile(rb"\bforeach\s*\(\s*([^\n{]{1,300}?)\s+as\s+(?:\$\w+\s*=>\s*)?&?(\$\w+)\s*\)"),),
    "ruby": (
        _BARE,
        re.compile(
            rb"([\w@$.]+(?:\([^()\n]*\))?(?:\[[^\]\n]*\])?)\.each\w*\s*(?:do|\{)\s*\|\s*(" + _NAMES + rb")"
        ),
    ),
    "elixir": (_each(rb"\bfor\s+", rb"\s*<-\s*", rb"([^\n,]+)"),),
    "script": (
        re.compile(
            rb"\bfor\s*(?:await\s*)?\(\s*(?:const|let|var)\s+[\[{]?\s*("
            + _NAMES
            + rb")\s*[\]}]?\s+(?:of|in)\s+([^\n{]{1,300})\)"
        ),
    ),
}  # fmt: skip
_FAMILY = {
    **{name: name for name in ("python", "go", "java", "kotlin", "scala", "php", "ruby", "elixir")},
    **dict.fromkeys(("c", "cpp", "csharp"), "java"),
    **dict.fromkeys(("rust", "swift", "lua", "shell"), "words"),
}
_VALUE_FIRST = {("python", 1), ("php", 0), ("ruby", 1)}  # pattern by its number


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
    family = _FAMILY.get(language, "script")
    added = [_ADDED] if _ADDS.search(text) else []
    for pattern in [*added, _SHOVELED] if family == "ruby" or language == "cpp" else added:
        for found in pattern.finditer(text):
            start, end = found.span(2)
            yield Binding(found.group(1).decode("ascii", "replace"), start, end, end, adds=True)
    for number, pattern in enumerate(_EACH[family] if _REPEATS.search(text) else ()):
        for found in pattern.finditer(text):
            names, value = (2, 1) if (family, number) in _VALUE_FIRST else (1, 2)
            start, end = found.span(value)
            line = text.rfind(b"\n", 0, found.start()) + 1
            # `[f(x) for x in xs]`: x is bound before f is called, although it stands behind.
            statement = not text[line : found.start()].strip()
            position = end if statement or language != "python" else line
            for name in _NAME.findall(found.group(names)):
                yield Binding(name.decode("ascii", "replace"), start, end, position, adds=False)
