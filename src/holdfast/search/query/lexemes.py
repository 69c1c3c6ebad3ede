"""A query to its lexemes: which characters are language and which are ordinary text.

The rule is that ordinary text never fails. Something is language only where it could hardly be anything else, and
whatever is not is text; the words in it are searched for and its punctuation is not:

- AND, OR and NOT are operators in capitals and as a word of their own; in lower case they are words of a sentence.
  So they are in parentheses with nothing on one side, `an XOR (exclusive OR) gate`, where all operators of the
  query are of that sort; this is noted;
- `-` and `!` negate only in front of a term, before a letter, a quote, a parenthesis or a regular expression:
  `a-b`, `->`, `--flag`, `!=` and -1 are text;
- double quotes make a phrase; one that is not closed is text, and noted. Single quotes make one only around whole
  words: the apostrophes of don't and users' are text, and so are the inches of 5" x 6". A phrase without any
  word, such as "->", is looked for literally;
- a parenthesis opens a group only at the start of a term: `foo()` and `foo(` are text, and so is what closes them.
  One without a partner is text too, and noted, unless the query uses AND, OR or NOT;
- `field:value` is a filter only if the field is known and the value follows at once, and is no `:` or `//`:
  `TODO:`, `key: value`, `std::vector` and https://x/y are text. The value may be quoted;
- `/regex/` with the flags i, m and s must start a term and end one: /usr/bin and and/or are text, and so are
  comments such as `/* this */`;
- `*` as a term of its own is everything.
"""

import re
from collections.abc import Container
from dataclasses import dataclass

from holdfast.errors import ToolError
from holdfast.search.query.mistake import mistake
from holdfast.search.query.tree import Everything, Filter, Phrase, Regex, Word
from holdfast.search.regex import compiled
from holdfast.search.tokens import terms_of

__all__ = ["Lexeme", "literal", "scan"]

_MOST_CHARACTERS = 4096
_MOST_NESTED = 64
_MOST_TERMS = 256

_OPERATORS = frozenset({"AND", "OR", "NOT"})
_Term = Word | Phrase | Regex | Filter | Everything

_END = r"(?=[\s)]|$)"
_SPACE = re.compile(r"\s+")
_OPERATOR = re.compile(r"(?:AND|OR|NOT)(?=[\s()]|$)")
_MINUS = re.compile(r"-(?=[^\W\d]|[\"'(/])|!(?=\w|[\"'(/])")
_FIELD = re.compile(r"([A-Za-z][\w-]*):(?!:|//)(?=\S)")
# The quantifiers of these three give nothing back, and those that may run in vain are short: no query is slow.
_REGEX = re.compile(
    rf"/(?![\s/*])((?:[^/\\\[]|\\.|\[\^?+\]?+(?:[^\]\\]|\\.){{0,200}}+\])*+)/([ims]*+){_END}",
    re.DOTALL,
)
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*+)"', re.DOTALL)
_QUOTED_SINGLY = re.compile(r"'(?=\S)((?:[^']|'(?=\w)){1,256}+)(?<!\s)'(?=[\s),.;:?!]|$)")
_QUOTED_PLAINLY = re.compile(r'"([^"]*+)"')
_CLOSES = re.compile(r'"(?=\s|$)')  # after a word, this is no opening quote: 5" x 6"
_STAR = re.compile(rf"\*{_END}")
_TEXT = re.compile(r"[^\s\"()]+")
_VALUE = re.compile(r"[^\s\"]+")
_CORE = re.compile(r"[\w$](?:.*[\w$\u0300-\u036f])?", re.DOTALL)  # from the first to the last letter or digit

_LONGEST_LITERAL = 200


@dataclass(frozen=True, slots=True)
class Lexeme:
    """One piece of a query; `minus` is a NOT that is written as a sign directly in front of what it negates."""

    kind: str  # AND, OR, NOT, minus, open, close, term
    column: int
    term: _Term | None = None


def scan(query: str, fields: Container[str]) -> tuple[list[Lexeme], list[str]]:
    """The lexemes of a query, with all parentheses paired, and what should be noted about them."""
    if len(query) > _MOST_CHARACTERS:
        message = f"there are {len(query):,} characters, and {_MOST_CHARACTERS:,} are allowed"
        raise mistake(query[:_MOST_CHARACTERS], _MOST_CHARACTERS + 1, message, hint="Ask with fewer words.")
    scanner = _Scanner(query, fields)
    while scanner.at < len(query):
        scanner.step()
    return scanner.finished()


def literal(text: str, column: int) -> Regex:
    """The expression that finds a text as it stands; for what has no words that an index could hold."""
    return Regex(re.escape(text.strip()[:_LONGEST_LITERAL]), "", column)


class _Scanner:
    """Where the scan is, and what it has found."""

    def __init__(self, query: str, fields: Container[str]) -> None:
        self.query = query
        self.fields = fields
        self.at = 0
        self.fresh = True  # whether a term may start here
        self.minus: Lexeme | None = None  # waits for the term that it negates
        self.lexemes: list[Lexeme | None] = []
        self.terms = 0
        self.opened: list[int | None] = []  # per open parenthesis the index of its lexeme; None for one in text
        self.strays: list[int] = []  # columns of closing parentheses without a partner
        self.unclosed: set[re.Pattern[str]] = set()  # quotes that no partner is sought for any more
        self.ignored: list[str] = []
        self.notes: list[str] = []

    def step(self) -> None:
        """Take one lexeme, or a run of text or white space."""
        space = _SPACE.match(self.query, self.at)
        if space:
            self.at = space.end()
            self.fresh, self.minus = True, None
            return
        fresh, self.fresh = self.fresh, False
        if fresh and (self._operator() or self._filter() or self._regex() or self._opening() or self._star()):
            return
        if not (self._phrase(single=fresh) or self._closing()):
            self._text()

    def finished(self) -> tuple[list[Lexeme], list[str]]:
        """The lexemes, after those parentheses have been dropped that turned out to have no partner."""
        unpaired = [index for index in self.opened if index is not None]
        operators = [index for index, lexeme in enumerate(self.lexemes) if lexeme and lexeme.kind in _OPERATORS]
        if operators and operators == _dangling_in_groups(self.lexemes, unpaired):
            self._read_as_words(operators)
        elif operators:
            self._refuse(unpaired)
        for index in unpaired:
            self.lexemes[index] = None
            if index and (before := self.lexemes[index - 1]) and before.kind == "minus":
                self.lexemes[index - 1] = None
        if unpaired or self.strays:
            self.notes.append("A parenthesis without a partner was read as text.")
        if self.ignored:
            examples = " ".join(dict.fromkeys(self.ignored[:5]))
            self.notes.append(f"Not searched for: {examples} (write it in double quotes to find it as it stands).")
        return [lexeme for lexeme in self.lexemes if lexeme], self.notes

    def _read_as_words(self, operators: list[int]) -> None:
        written: list[str] = []
        for index in operators:
            if lexeme := self.lexemes[index]:
                self._count(lexeme.column)
                self.lexemes[index] = Lexeme("term", lexeme.column, Word(lexeme.kind, lexeme.column))
                written.append(lexeme.kind)
        self.notes.append(
            f"In parentheses with nothing on one side, read as text: {' '.join(dict.fromkeys(written))}."
        )

    def _refuse(self, unpaired: list[int]) -> None:
        hint = "Give it a partner, or write it in double quotes to search for it."
        columns = [lexeme.column for index in unpaired if (lexeme := self.lexemes[index])]
        if columns:
            raise mistake(self.query, columns[0], "this parenthesis is never closed", hint=hint)
        if self.strays:
            raise mistake(self.query, self.strays[0], "this parenthesis was never opened", hint=hint)

    def _add(self, lexeme: Lexeme, end: int) -> bool:
        if self.minus:
            self.lexemes.append(self.minus)
            self.minus = None
        if lexeme.term:
            self._count(lexeme.column)
        self.lexemes.append(lexeme)
        self.at = end
        return True

    def _count(self, column: int) -> None:
        self.terms += 1
        if self.terms > _MOST_TERMS:
            message = f"this is term {_MOST_TERMS + 1}, and {_MOST_TERMS} are allowed"
            raise mistake(self.query, column, message, hint="Ask with fewer words.")

    def _operator(self) -> bool:
        if self.minus:
            return False
        found = _OPERATOR.match(self.query, self.at)
        if found:
            return self._add(Lexeme(found[0], self.at + 1), found.end())
        if _MINUS.match(self.query, self.at):
            self.minus = Lexeme("minus", self.at + 1)
            self.at += 1
            self.fresh = True
            return True
        return False

    def _filter(self) -> bool:
        found = _FIELD.match(self.query, self.at)
        if not found or found[1].lower() not in self.fields:
            return False
        value, end = self._value(found.end())
        return bool(value) and self._add(Lexeme("term", self.at + 1, Filter(found[1], value, self.at + 1)), end)

    def _value(self, start: int) -> tuple[str, int]:
        for quoted in (_QUOTED, _QUOTED_SINGLY):
            if found := quoted.match(self.query, start):
                return found[1].replace('\\"', '"'), found.end()
        if found := _REGEX.match(self.query, start):
            return found[0], found.end()
        found = _VALUE.match(self.query, start)
        value = _up_to_unopened(found[0]) if found else ""
        return value, start + len(value)

    def _regex(self) -> bool:
        found = _REGEX.match(self.query, self.at)
        if not found:
            return False
        try:
            compiled(found[1], found[2])
        except ToolError as error:
            column = self.at + 2 + int(error.details.get("position", 0))
            raise mistake(self.query, column, error.message, hint=error.hint or "") from None
        return self._add(Lexeme("term", self.at + 1, Regex(found[1], found[2], self.at + 1)), found.end())

    def _opening(self) -> bool:
        if not self.query.startswith("(", self.at):
            return False
        if sum(index is not None for index in self.opened) >= _MOST_NESTED:
            message = f"groups are nested deeper than {_MOST_NESTED} levels"
            raise mistake(self.query, self.at + 1, message, hint="Ask with fewer parentheses.")
        self._add(Lexeme("open", self.at + 1), self.at + 1)
        self.opened.append(len(self.lexemes) - 1)
        self.fresh = True
        return True

    def _closing(self) -> bool:
        if not self.query.startswith(")", self.at):
            return False
        if self.opened and self.opened[-1] is None:
            return False
        if not self.opened:
            self.strays.append(self.at + 1)
            self.at += 1
            return True
        self.opened.pop()
        return self._add(Lexeme("close", self.at + 1), self.at + 1)

    def _star(self) -> bool:
        return bool(_STAR.match(self.query, self.at)) and self._add(
            Lexeme("term", self.at + 1, Everything()), self.at + 1
        )

    def _phrase(self, *, single: bool) -> bool:
        found = self._quoted(single=single)
        if found is None:
            return False
        text, column = found[1].replace('\\"', '"'), self.at + 1
        if terms_of(text).subwords:
            return self._add(Lexeme("term", column, Phrase(text, column)), found.end())
        if text.strip():
            return self._add(Lexeme("term", column, literal(text, column)), found.end())
        self.ignored.append(found[0])
        self.at = found.end()
        return True

    def _quoted(self, *, single: bool) -> re.Match[str] | None:
        if single and self.query.startswith("'", self.at):
            return _QUOTED_SINGLY.match(self.query, self.at)
        if not self.query.startswith('"', self.at) or (not single and _CLOSES.match(self.query, self.at)):
            return None
        for quoted in (_QUOTED, _QUOTED_PLAINLY):
            if quoted not in self.unclosed:
                if found := quoted.match(self.query, self.at):
                    return found
                self.unclosed.add(quoted)
                if quoted is _QUOTED_PLAINLY:
                    self.notes.append(f"The quote in column {self.at + 1} is not closed and was read as text.")
        return None

    def _text(self) -> None:
        start = self.at
        self.at += self.query.startswith('"', start)  # an open quote: text, but the word begins after it
        while self.at < len(self.query):
            if found := _TEXT.match(self.query, self.at):
                self.at = found.end()
            elif self.query[self.at] == "(":
                self.opened.append(None)
                self.at += 1
            elif self.query[self.at] == ")" and self.opened and self.opened[-1] is None:
                self.opened.pop()
                self.at += 1
            else:
                break
        self._word(start, self.at)

    def _word(self, start: int, end: int) -> None:
        text = self.query[start:end]
        core = _CORE.search(text)
        if core and any(terms_of(core[0])):
            column = start + core.start() + 1
            self._add(Lexeme("term", column, Word(core[0], column)), end)
        else:
            self.minus = None
            if len(text) > 1:
                self.ignored.append(text)


def _dangling_in_groups(lexemes: list[Lexeme | None], unpaired: list[int]) -> list[int]:
    """The operators that stand in a group and lack something on one side, by their indices."""
    found: list[int] = []
    depth = 0
    operand_follows = False
    kinds = ["" if lexeme is None or index in unpaired else lexeme.kind for index, lexeme in enumerate(lexemes)]
    for index in reversed(range(len(kinds))):  # whether a NOT is something depends on what it negates
        kind = kinds[index]
        depth += (kind == "close") - (kind == "open")
        if kind in _OPERATORS:
            operand_precedes = kind == "NOT" or kinds[index - 1 : index] in (["term"], ["close"])
            complete = operand_follows and operand_precedes
            if depth and not complete:
                found.append(index)
            operand_follows = kind == "NOT" and complete
        elif kind:
            operand_follows = kind != "close"
    return found[::-1]


def _up_to_unopened(text: str) -> str:
    """The text up to a closing parenthesis that is not opened in it: that one belongs to a group around it."""
    depth = 0
    for index, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if depth < 0:
            return text[:index]
    return text
