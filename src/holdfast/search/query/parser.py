"""The query language: how the pieces of a query belong together.

    retry budget                words of a sentence: at least one must match, more and closer together rank higher
    "retry budget"              a phrase: `retry_budget` and `retryBudget` match it too
    a AND b   a OR b   NOT a    in capitals only; `-a` and `!a` are the same as NOT a
    (a OR b) AND NOT (c d)      groups, negated or not
    lang:python -path:tests/    the filters of a request
    /def \\w+_budget/i           a regular expression, with the flags i, m and s
    *                           everything

NOT binds tightest, then standing side by side, then AND, then OR: `a b AND c OR d` is `((a b) AND c) OR d`, and
`NOT a b` is `(NOT a) b`. Operators thus divide a query into parts, and words side by side are one part.

Only words are soft. What is written in the language is meant: phrases, expressions, filters, negations and groups
with an operator in them must hold wherever they stand, and words beside a phrase, an expression or such a group
only rank what it finds. A group of mere words is read as if it had no parentheses. Where nothing but negations and
filters is given, everything else is found.

Ordinary text never fails (see `lexemes` for what is text). `Logical XOR (exclusive OR) function` is text, too: an
operator in a group with nothing on one of its sides is a word, if all operators of the query are of that sort, and
this is noted. What fails is refused with its column: any other operator with nothing on one of its sides, as in
`budget AND` and `AND x`, a parenthesis without a partner in a query that uses operators, a regular expression that
is not valid or may take for ever, an empty query, and more than 4,096 characters, 256 terms or 64 levels.
"""

from collections.abc import Callable, Container, Iterable

from holdfast.search.query.lexemes import Lexeme, literal, scan
from holdfast.search.query.mistake import mistake
from holdfast.search.query.tree import And, Everything, Filter, Node, Not, Or, Parsed, Phrase, Soft, Word, positive

__all__ = ["parse"]

_EVERYTHING = Everything()


def parse(query: str, *, fields: Container[str]) -> Parsed:
    """What the query asks for; `fields` are the names that may stand before a colon.

    Raises ToolError INVALID_REQUEST with the column (from 1) in its details.
    """
    if not query.strip():
        raise mistake(query, 1, "it is empty", hint="Write what to look for; * stands for everything.")
    lexemes, notes = scan(query, fields)
    tree = _Parser(query, lexemes).whole()
    if tree is None:  # punctuation only: what else could be meant but the punctuation itself
        column = len(query) - len(query.lstrip()) + 1
        tree, notes = literal(query, column), ["There is no word in the query: it is looked for as it stands."]
    found = [part for part in positive(tree) if isinstance(part, Word | Phrase)]
    words = [part.text for part in sorted(found, key=lambda part: part.column)]
    return Parsed(tree, tuple(notes), tuple(dict.fromkeys(words)))


class _Parser:
    """Recursive descent over the lexemes; each method returns None where it found nothing to search for."""

    def __init__(self, query: str, lexemes: list[Lexeme]) -> None:
        self.query = query
        self.lexemes = lexemes
        self.at = 0

    def whole(self) -> Node | None:
        """The tree of all lexemes; the parentheses among them are paired."""
        return self._alternatives()

    def _alternatives(self) -> Node | None:
        return self._joined("OR", self._conjunction, _any_of)

    def _conjunction(self) -> Node | None:
        return self._joined("AND", self._side_by_side, _all_of)

    def _joined(
        self, operator: str, operand: Callable[[], Node | None], join: Callable[[Iterable[Node]], Node]
    ) -> Node | None:
        first = operand()
        parts = [first]
        while self._peek() == operator:
            lexeme = self._take()
            parts.append(operand())
            for part, side in zip(parts[-2:], ("left", "right"), strict=True):
                if part is None:
                    raise self._dangling(lexeme, f"to its {side}")
        return join(part for part in parts if part is not None) if first is not None else None

    def _side_by_side(self) -> Node | None:
        found = []
        while self._peek() not in {"AND", "OR", "close", ""}:
            node = self._negation()
            if node is not None:
                found.append(node)
        return _side_by_side(found)

    def _negation(self) -> Node | None:
        signs = []
        while self._peek() in {"NOT", "minus"}:
            signs.append(self._take())
        node = self._operand()
        if node is None:
            if signs and signs[-1].kind == "NOT":
                raise self._dangling(signs[-1], "to negate")
            return None
        return _negated(node) if len(signs) % 2 else node

    def _operand(self) -> Node | None:
        if self._peek() == "term":
            return self._take().term
        if self._peek() != "open":
            return None
        self._take()
        node = self._alternatives()
        self._take()
        return node

    def _peek(self) -> str:
        return self.lexemes[self.at].kind if self.at < len(self.lexemes) else ""

    def _take(self) -> Lexeme:
        self.at += 1
        return self.lexemes[self.at - 1]

    def _dangling(self, lexeme: Lexeme, where: str) -> Exception:
        hint = f'Complete it, or write {lexeme.kind.lower()} or "{lexeme.kind}" to search for the word.'
        return mistake(self.query, lexeme.column, f"{lexeme.kind} has nothing {where}", hint=hint)


def _all_of(parts: Iterable[Node]) -> Node:
    """The conjunction in normal form, its negations last."""
    flat = [inner for part in parts for inner in (part.parts if isinstance(part, And) else (part,))]
    flat.sort(key=lambda part: isinstance(part, Not))
    finding: list[Node] = [part for part in flat if not isinstance(part, Everything)]
    if all(isinstance(part, Not) for part in finding):
        finding.insert(0, _EVERYTHING)
    return finding[0] if len(finding) == 1 else And(tuple(finding))


def _any_of(parts: Iterable[Node]) -> Node:
    """The disjunction in normal form."""
    flat = [inner for part in parts for inner in (part.parts if isinstance(part, Or) else (part,))]
    return flat[0] if len(flat) == 1 else Or(tuple(flat))


def _negated(node: Node) -> Node:
    """The negation of a node; a `Not` is no tree of its own before `_all_of` has taken it up."""
    match node:
        case Not(part):
            return part
        case And((Everything(), Not(part))):
            return part
        case _:
            return Not(node)


def _side_by_side(nodes: list[Node]) -> Node | None:
    """What a sequence of terms and groups means; see the module for the rules."""
    if not nodes:
        return None
    words: list[Word] = []
    others: list[Node] = []
    for node in nodes:
        match node:
            case Word():
                words.append(node)
            case Soft(parts):
                words.extend(parts)
            case _:
                others.append(node)
    if not words:
        return _all_of(others)
    soft = Soft(tuple(words), optional=any(map(_finds, others)))
    if len(words) == 1 and not soft.optional:
        return _all_of([*others, words[0]])
    return _all_of([*others, soft])


def _finds(node: Node) -> bool:
    """Whether a part of a query finds something by its text, and does not merely narrow down."""
    match node:
        case Filter() | Not() | Everything():
            return False
        case And(parts) | Or(parts):
            return any(map(_finds, parts))
        case _:
            return True
