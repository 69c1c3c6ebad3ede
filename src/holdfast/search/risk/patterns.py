"""The patterns of the risk rules: dotted names with `*`, for something read, called, assigned or stated.

The last name of a pattern is always literal, so that a set of last names tells in one look that a call is of no
interest; only the few that remain meet a regular expression.
"""

import re
from dataclasses import dataclass
from functools import cached_property

__all__ = ["CALL", "QUOTED", "READ", "STATEMENT", "WRITE", "Pattern", "last_name", "parse_pattern"]

# `request.args`, `os.system()`, `*.innerHTML=`, `echo ...`, and a command in backticks.
READ, CALL, WRITE, STATEMENT, QUOTED = "read", "call", "write", "statement", "quoted"
_VALID = re.compile(r"[\w$*@()!?-]+(?:\.[\w$*@()!?-]+)*\Z")
_ENDINGS = {CALL: "()", WRITE: "=", STATEMENT: " ..."}
_BACKTICKS = "`...`"
_JOINT = r"\s*(?:\??\.|\??->|::)\s*"


def last_name(dotted: str) -> str:
    """What is called or assigned, without what it belongs to: `run` of `subprocess.run`."""
    return dotted.rpartition(".")[2]


@dataclass(frozen=True)
class Pattern:
    """One pattern, to be compared with a name (`matches`) or to be found in a text (`search`).

    Its expressions are made at first use: a file needs the patterns of its own language only.
    """

    text: str
    kind: str
    last: str
    pieces: tuple[bytes, ...] = ()  # all of them are in a text in which `search` finds something

    @property
    def name(self) -> str:
        """The dotted name, without the signs that tell the kind."""
        name = self.text.replace("::", ".")
        return name.removesuffix(_ENDINGS[self.kind]) if self.kind in _ENDINGS else name

    @cached_property
    def matches(self) -> re.Pattern[str]:
        """Matches the name of something called or assigned."""
        return re.compile(_name_expression(*self.name.rpartition(".")[::2]))

    @cached_property
    def search(self) -> re.Pattern[bytes]:
        """Finds it in masked text."""
        return re.compile(rb"`[^`]*`" if self.kind == QUOTED else _text_expression(self.name, self.kind))


def parse_pattern(text: str, plain: str) -> Pattern:
    """The pattern, of the kind `plain` if it has no sign of its own (`()`, `=`). ValueError says what is wrong."""
    if text == _BACKTICKS:
        return Pattern(text, QUOTED, "`", (b"`",))
    kind = next((kind for kind, ending in _ENDINGS.items() if text.endswith(ending)), plain)
    pattern = Pattern(text, kind, "")
    if not _VALID.match(pattern.name):
        raise ValueError(f"{text!r} is not a dotted name")
    last = last_name(pattern.name)
    if "*" in last or not last.strip("()"):
        raise ValueError(f"{text!r} has no last name; a * can only stand before it")
    literal = tuple(piece.encode() for piece in re.split(r"[.*]+", pattern.name) if piece)
    return Pattern(text, kind, last, literal)


def _name_expression(head: str, last: str) -> str:
    if not head:
        # A plain function; `self.eval` is somebody's own.
        return rf"(?:new )?{re.escape(last)}\Z"
    owner = re.escape(head).replace(r"\*", ".*")
    return rf"(?:new )?(?:.*\.)?(?i:{owner})\.{re.escape(last)}\Z"


def _text_expression(name: str, kind: str) -> bytes:
    # It starts with a literal where it can: that makes the search fast.
    dotted = re.escape(name.lstrip("*")).replace(r"\*", r"[\w$]*").replace(r"\.", _JOINT)
    # Blanks before the first joint are left out: to try each of a long row of them takes the square of its length.
    dotted = dotted.removeprefix(r"\s*")
    end = {READ: r"(?![\w$])", CALL: r"\s*\(", WRITE: r"\s*[:=](?!=)", STATEMENT: r"(?![\w$-])(?!\s*=)"}[kind]
    return ((r"\b" if kind == STATEMENT else "") + dotted + end).encode()
