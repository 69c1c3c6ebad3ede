"""The patterns of the risk rules: dotted names with `*`, for something read, called or assigned.

The last name of a pattern is always literal, so that a set of last names tells in one look that a call is of no
interest; only the few that remain meet a regular expression.
"""

import re
from dataclasses import dataclass, field

__all__ = ["CALL", "READ", "WRITE", "Pattern", "last_name", "parse_pattern"]

READ, CALL, WRITE = "read", "call", "write"
_VALID = re.compile(r"[\w$*:@()-]+(?:\.[\w$*:@()-]+)*\Z")


def last_name(dotted: str) -> str:
    """What is called or assigned, without what it belongs to: `run` of `subprocess.run`."""
    return dotted.rpartition(".")[2]


@dataclass(frozen=True, slots=True)
class Pattern:
    """One pattern, ready to be compared with a name (`matches`) or to be found in a text (`search`)."""

    text: str
    kind: str
    last: str
    matches: re.Pattern[str] = field(repr=False)
    search: re.Pattern[bytes] = field(repr=False)
    pieces: tuple[bytes, ...] = ()  # all of them are in a text in which `search` finds something


def parse_pattern(text: str, plain: str) -> Pattern:
    """The pattern, of the kind `plain` if it has no sign of its own (`()`, `=`). ValueError says what is wrong."""
    name, kind = text, plain
    if text.endswith("()"):
        name, kind = text[:-2], CALL
    elif text.endswith("="):
        name, kind = text[:-1], WRITE
    if not _VALID.match(name):
        raise ValueError(f"{text!r} is not a dotted name")
    head, _, last = name.rpartition(".")
    if "*" in last or not last.strip("()"):
        raise ValueError(f"{text!r} has no last name; a * can only stand before it")
    literal = [piece for piece in re.split(r"[.*]+", name) if piece]
    return Pattern(
        text=text,
        kind=kind,
        last=last,
        matches=re.compile(_name_expression(head, last)),
        search=re.compile(_text_expression(name, kind)),
        pieces=tuple(piece.encode() for piece in literal),
    )


def _name_expression(head: str, last: str) -> str:
    if not head:
        # A plain function; `self.eval` is somebody's own.
        return rf"(?:new )?{re.escape(last)}\Z"
    owner = re.escape(head).replace(r"\*", ".*")
    return rf"(?:new )?(?:.*\.)?(?i:{owner})\.{re.escape(last)}\Z"


def _text_expression(name: str, kind: str) -> bytes:
    # It starts with a literal where it can: that makes the search fast.
    dotted = re.escape(name.lstrip("*")).replace(r"\*", r"[\w$]*").replace(r"\.", r"\s*\??\.\s*")
    end = {READ: r"(?![\w$])", CALL: r"\s*\(", WRITE: r"\s*[:=](?!=)"}[kind]
    return (dotted + end).encode()
