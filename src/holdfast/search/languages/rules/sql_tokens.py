"""SQL as signs: what is a comment, a string, a quoted name or a quoted body, found in the order of the file.

One reading for all of them, because each may hold the signs of all others. What is quoted is hidden afterwards,
with all offsets unchanged: whoever looks for words and brackets finds only those that count. Nothing here knows
what a statement is.

Each step goes behind what it has read and none looks at more than that, so that the time is that of the size.
"""

import re
from bisect import bisect_left
from collections import defaultdict
from dataclasses import dataclass, field

__all__ = ["Body", "Span", "Tokens", "read_tokens"]

Span = tuple[int, int]

# A string that is never closed ends where the next statement surely begins, at the latest. It is closed, whatever
# its lines begin with, where the quote is followed by what can only stand behind a string.
_LINE = rb"\n(?!(?:create|alter|insert|drop)\b)"
_BEHIND = rb"(?=\s*+(?:[;,)]|language\b|\Z))"
_STANDARD_STRING = rb"'(?:[^']++|''){0,100}+'%b|'(?:[^'\n]++|''|%b)*+'?" % (_BEHIND, _LINE)
_ESCAPED_STRING = rb"'(?:[^'\\]++|''|\\.){0,100}+'%b|'(?:[^'\\\n]++|''|\\.|%b)*+'?" % (_BEHIND, _LINE)
_PREFIXED_STRINGS = rb"(?<!\w)n?q(?:%b)" % b"|".join(  # Oracle: q'[it's]'
    rb"'\%b(?:[^\%b\n]++|\%b(?!')|%b)*+(?:\%b')?" % (opened, closed, closed, _LINE, closed)
    for opened, closed in ((b"[", b"]"), (b"(", b")"), (b"{", b"}"), (b"<", b">"), (b"!", b"!"))
)

# A quoted name is on one line. It is bounded, because of many signs that are never closed each would look through
# the rest of that line.
_STANDARD_NAME = rb"\"(?:[^\"\n]++|\"\"){0,64}+\""
_ESCAPED_NAME = rb"\"(?:[^\"\\\n]++|\\[^\n]|\"\"){0,64}+\""
# In square brackets is a name, unless these stand behind one: that is an element of an array.
_OTHER_NAMES = rb"`[^`\n]*+`|(?<![\w\])\"`])\[[a-z_#@\x80-\xff][^\[\],\n]*+\]"

_TAG = rb"\$(?:[a-z_\x80-\xff][\w\x80-\xff]*+)?\$"
_DOLLARS = rb"(?<![\w$\x80-\xff])%b(?!plsql_)" % _TAG  # $$plsql_unit is a constant of Oracle


def _signs(string: bytes, name: bytes, *more: bytes) -> re.Pattern[bytes]:
    groups = (
        rb"(?P<line>--[^\n]*+)",
        rb"(?P<block>/\*)",
        rb"(?P<string>%b)" % string,
        rb"(?P<name>%b|%b)" % (name, _OTHER_NAMES),
        *more,
    )
    return re.compile(b"|".join(groups), re.DOTALL | re.IGNORECASE)


_DOLLAR_GROUP = rb"(?P<dollars>%b)" % _DOLLARS
_HASH_GROUP = rb"(?P<hash>(?<![\w$@#])#(?![>-])[^\n]*+)"  # #> and #- are operators
_STRINGS = rb"(?<!\w)e(?:%b)|%b|%b" % (_ESCAPED_STRING, _PREFIXED_STRINGS, _STANDARD_STRING)
# No string of MySQL is '\', but those who forget that write it behind ESCAPE, and there it can be nothing else.
_MYSQL_STRINGS = rb"(?<=escape )'\\'(?!')|" + _ESCAPED_STRING
_STANDARD = _signs(_STRINGS, _STANDARD_NAME, _DOLLAR_GROUP)
_MYSQL = _signs(_MYSQL_STRINGS, _ESCAPED_NAME, _HASH_GROUP, _DOLLAR_GROUP)
_MYSQL_DELIMITED = _signs(_MYSQL_STRINGS, _ESCAPED_NAME, _HASH_GROUP)  # there the dollars end statements

_DELIMITER = re.compile(rb"^[ \t]*+delimiter\b", re.IGNORECASE | re.MULTILINE)
# A statement begins with no # but that of a comment; an operator or a temporary table stands inside of one.
_MYSQL_WORDS = re.compile(
    rb"`x++`|\bauto_increment\b|\bengine\s*+=|(?:\A(?:\xef\xbb\xbf)?|;)\s*+#(?![>-])", re.IGNORECASE
)
_COMMENT_ENDS = re.compile(rb"/\*|\*/")
_TAGS = re.compile(rb"(?=(%b))" % _TAG, re.IGNORECASE)
_BEFORE_NAME = re.compile(rb"\b(?:table|exists|from|join|into|update|only|using|view)\s*+\Z", re.IGNORECASE)
_BEFORE_BODY = re.compile(rb"\b(?:as|do|immediate|language\s++\w++)\s*+\Z", re.IGNORECASE)
_WORDS_BEFORE = 200  # how far back a word is looked for

_BLANK = bytes(10 if byte == 10 else 32 for byte in range(256))
_LETTERS = b"x" * 256


@dataclass(frozen=True, slots=True)
class Body:
    """Code between dollars: `start` and `end` with them, `first` and `last` without."""

    start: int
    first: int
    last: int
    end: int


@dataclass(slots=True)
class Tokens:
    """What a file is made of; `plain` is its text in which comments and strings are blank, and names are x."""

    plain: bytes = b""
    comments: list[Span] = field(default_factory=list)
    strings: list[Span] = field(default_factory=list)
    bodies: list[Body] = field(default_factory=list)
    owners: list[Span] = field(default_factory=list)  # from this offset on the text is that of this body; -1: none


def read_tokens(source: bytes) -> Tokens:
    """The signs of a file, in the dialect that its words outside of comments and strings give away."""
    tokens = _Reader(source, _STANDARD, nests=True).read()
    if _DELIMITER.search(tokens.plain):
        return _Reader(source, _MYSQL_DELIMITED, nests=False).read()
    if _MYSQL_WORDS.search(tokens.plain):
        return _Reader(source, _MYSQL, nests=False).read()
    return tokens


class _Reader:
    """One reading of a file from its first to its last byte."""

    def __init__(self, source: bytes, signs: re.Pattern[bytes], *, nests: bool) -> None:
        self._source = source
        self._signs = signs
        self._nests = nests
        self._plain = bytearray(source)
        self._found = Tokens(owners=[(0, -1)])
        self._tags: dict[bytes, list[int]] = defaultdict(list)
        for tag in _TAGS.finditer(source):
            self._tags[tag[1]].append(tag.start())
        self._inside: list[int] = []  # the bodies around the place where the reading is
        self._limit = len(source)

    def read(self) -> Tokens:
        """Everything, in the order of the file."""
        position = 0
        while True:
            sign = self._signs.search(self._source, position, self._limit)
            if sign is not None:
                position = self._step(sign)
            elif self._inside:
                position = self._leave()
            else:
                break
        self._found.plain = bytes(self._plain)
        return self._found

    def _step(self, sign: re.Match[bytes]) -> int:
        """Read what begins with this sign; where the reading goes on."""
        start, end = sign.span()
        kind = sign.lastgroup
        if kind == "dollars":
            return self._dollars(sign)
        if kind == "name":
            self._plain[start + 1 : end - 1] = self._source[start + 1 : end - 1].translate(_LETTERS)
            return end
        if kind == "string":
            return self._hide(self._found.strings, start, end)
        if kind == "hash" and sign[0][1:2].isalnum() and _BEFORE_NAME.search(self._before(start)):
            return start + 1  # a temporary table, in a file that only looks like one of MySQL
        return self._hide(self._found.comments, start, self._block_end(start) if kind == "block" else end)

    def _hide(self, kind: list[Span], start: int, end: int) -> int:
        kind.append((start, end))
        self._plain[start:end] = self._source[start:end].translate(_BLANK)
        return end

    def _before(self, offset: int) -> bytes:
        return bytes(self._plain[max(0, offset - _WORDS_BEFORE) : offset])

    def _block_end(self, start: int) -> int:
        """Where a comment ends that may have others in it.

        One whose inner comments do not add up shows that they do not nest in this database: then, and from there
        on, the first end is the end.
        """
        depth = 0
        if self._nests:
            for sign in _COMMENT_ENDS.finditer(self._source, start, self._limit):
                depth += 1 if sign[0] == b"/*" else -1
                if depth == 0:
                    return sign.end()
        end = self._source.find(b"*/", start + 2, self._limit)
        if end < 0:
            return self._limit
        self._nests = False
        return end + 2

    def _dollars(self, sign: re.Match[bytes]) -> int:
        """A quote between dollars: a body, whose text is read too, or a string; without an end it is neither."""
        start, first = sign.span()
        places = self._tags[sign[0]]
        index = bisect_left(places, first)
        if index == len(places) or places[index] + len(sign[0]) > self._limit:
            return first
        body = Body(start, first, places[index], places[index] + len(sign[0]))
        if not _BEFORE_BODY.search(self._before(start)):
            return self._hide(self._found.strings, start, body.end)
        self._inside.append(len(self._found.bodies))
        self._found.owners.append((first, self._inside[-1]))
        self._found.bodies.append(body)
        self._limit = body.last
        return first

    def _leave(self) -> int:
        """Go on behind the body that is read to its end."""
        body = self._found.bodies[self._inside.pop()]
        around = self._inside[-1] if self._inside else -1
        self._found.owners.append((body.last, around))
        self._limit = self._found.bodies[around].last if self._inside else len(self._source)
        return body.end
