"""Statements of SQL: where its brackets, its blocks and what begins with a CREATE end.

No grammar: every database has a language of its own, and a grammar of one of them loses its way in the procedures
of all others. Words and brackets are the same everywhere. Nothing here knows what a statement means.

Which END belongs to which BEGIN is found once, in one pass; a statement then steps over whole blocks.
"""

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from operator import itemgetter

from holdfast.search.languages.rules.sql_tokens import Span, read_tokens

__all__ = ["Span", "Text"]

_NESTED = re.compile(
    rb"\bend\s+case\b|\bend\b(?!\s+(?:if|loop|while|repeat|for)\b)|\bcase\b|\bbegin\b(?!\s*;|\s+tran)|;",
    re.IGNORECASE,
)
_BATCH = re.compile(rb"(?im)^[ \t]*+(?:go[ \t]*+\r?$|/[ \t]*+\r?$|delimiter\b)")
_BEGINNING = re.compile(rb"(?im)^(?:create|alter|drop|insert|grant|comment[ \t]+on)\b")
_BRACKETS = re.compile(rb"[()]")
_BRACKET = re.compile(rb"\s*+\(")
_BLANKS = b" \t\r\n"

_Mark = tuple[int, int, bytes]  # start, end, and what it is: a semicolon, or one of these
_OPENS, _CLOSES, _QUOTES, _UNQUOTES = b"begin", b"end", b"$(", b"$)"


class Text:
    """The text of a file in which comments and strings are blank, with all offsets unchanged."""

    def __init__(self, source: bytes) -> None:
        tokens = read_tokens(source)
        self.plain = tokens.plain
        self.comments = tokens.comments
        self.strings = tokens.strings
        self._bodies = tokens.bodies
        self._owners = tokens.owners
        self._closing = self._brackets()
        self._marks = self._marked()
        self._ends = self._matched()
        self._batches = [found.start() for found in _BATCH.finditer(self.plain) if self._owner(found.start()) < 0]
        self._beginnings: dict[int, list[int]] = defaultdict(list)  # by the body that they are in
        for found in _BEGINNING.finditer(self.plain):
            self._beginnings[self._owner(found.start())].append(found.start())

    def _owner(self, offset: int) -> int:
        """Which body a place is in, the innermost one; -1 if it is in none."""
        return self._owners[bisect_right(self._owners, offset, key=itemgetter(0)) - 1][1]

    def _brackets(self) -> dict[int, int]:
        """Where each opened bracket is closed, behind the closing one."""
        closing: dict[int, int] = {}
        opened: list[int] = []
        for found in _BRACKETS.finditer(self.plain):
            if found[0] == b"(":
                opened.append(found.start())
            elif opened:
                closing[opened.pop()] = found.end()
        return closing

    def _marked(self) -> list[_Mark]:
        """Everything that opens, closes or ends something."""
        marks: list[_Mark] = []
        for found in _NESTED.finditer(self.plain):
            word = found[0][:3].lower()
            marks.append((*found.span(), word if word in (b";", _CLOSES) else _OPENS))
        for body in self._bodies:
            marks += [(body.start, body.first, _QUOTES), (body.last, body.end, _UNQUOTES)]
        return sorted(marks)

    def _matched(self) -> dict[int, int]:
        """Which mark closes what another one opens; nothing is open across the edges of a body."""
        ends: dict[int, int] = {}
        opened: list[int] = []
        for index, (_, _, word) in enumerate(self._marks):
            if word in (_OPENS, _QUOTES):
                opened.append(index)
            elif word == _CLOSES:
                if opened and self._marks[opened[-1]][2] == _OPENS:
                    ends[opened.pop()] = index
            elif word == _UNQUOTES:
                while self._marks[opened[-1]][2] == _OPENS:
                    opened.pop()
                ends[opened.pop()] = index
        return ends

    def bracketed(self, start: int, end: int) -> Span | None:
        """The brackets that begin here, behind blanks, and are closed before the end of the range."""
        found = _BRACKET.match(self.plain, start, end)
        closed = self._closing.get(found.end() - 1, end + 1) if found is not None else end + 1
        return (found.end() - 1, closed) if found is not None and closed <= end else None

    def body(self, start: int, end: int) -> Span | None:
        """The first body between dollars in a range, without these."""
        index = bisect_left(self._bodies, start, key=lambda body: body.start)
        if index == len(self._bodies) or self._bodies[index].start >= end:
            return None
        return self._bodies[index].first, self._bodies[index].last

    def end(self, start: int, *, is_routine: bool) -> int:
        """Where the statement ends that begins here, without its last sign.

        That is the end of the batch for a routine in a file with batches (GO, or a slash on a line of its own),
        and else the semicolon that is in no block. What begins in a body ends in it.
        """
        owner = self._owner(start)
        limit = self._bodies[owner].last if owner >= 0 else self._next(self._batches, start, len(self.plain))
        beginning = self._next(self._beginnings[owner], start, limit)
        if is_routine and owner < 0 and limit < len(self.plain) and beginning == limit:
            return self._stripped(start, limit)
        limit = limit if is_routine else beginning
        return self._stripped(start, self._semicolon(start, limit, self._beginnings[owner], is_routine=is_routine))

    def _semicolon(self, start: int, limit: int, beginnings: list[int], *, is_routine: bool) -> int:
        """The first semicolon behind the start that is in no block, or what else surely ends the statement."""
        index = bisect_left(self._marks, start, key=itemgetter(0))
        beginning = self._next(beginnings, start, limit)
        while index < len(self._marks):
            position, behind, word = self._marks[index]
            if position >= beginning:
                break
            if word == b";":
                return position
            if word in (_OPENS, _QUOTES):
                index = self._ends.get(index, len(self._marks))
                # Of a block that is never closed, nobody knows where it ends; it does before the next statement.
                if index == len(self._marks) or self._marks[index][1] > limit:
                    break
                behind = self._marks[index][1]
                beginning = self._next(beginnings, behind, limit)
                if is_routine and word == _OPENS and self._is_last(behind, limit):
                    return behind
            index += 1
        return beginning

    def _is_last(self, position: int, limit: int) -> bool:
        """Whether a block that ends here is not followed by the semicolon of its statement."""
        rest = self.plain[position : min(limit, position + 300)].lstrip(_BLANKS)
        return re.match(rb"(?:[\w\"`.]+\s*)?;", rest) is None and re.match(rb"(?i)(?:as|then|,|\))", rest) is None

    @staticmethod
    def _next(places: list[int], start: int, limit: int) -> int:
        index = bisect_right(places, start)
        return min(places[index], limit) if index < len(places) else limit

    def _stripped(self, start: int, end: int) -> int:
        return start + len(self.plain[start:end].rstrip(_BLANKS))
