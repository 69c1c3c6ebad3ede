"""Definitions: which there are, how they nest, and which of them owns a byte of the file.

Every function, class or other definition is a scope, and so is each stretch of code between them. What happens
inside of a file belongs to the innermost scope around it.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field

from holdfast.search.extract.grammar import Captures, Span
from holdfast.search.extract.page import Page
from holdfast.search.languages.rules.language import Language

__all__ = ["CONTAINERS", "Owners", "Scope", "find_definitions"]

# Definitions whose functions are methods, and whose text leaves out the bodies of what they contain.
CONTAINERS = frozenset({"class", "interface", "struct", "enum", "type", "trait", "impl", "object", "namespace"})

# Of two kinds of the same definition the other one says more.
_GENERAL = ("function", "type", "variable")

# Definitions nested deeper than this belong to the text of the one around them; nobody searches for them, and
# thousands of levels would cost quadratic time in everything that follows.
MAX_DEPTH = 24


@dataclass(slots=True, eq=False)
class Scope:
    """A definition or a stretch of module code, while its facts are being collected."""

    kind: str
    start: int  # with decorators and the like
    end: int
    head: int = 0  # where the definition itself starts
    tail: int = 0  # where it ends, before anything behind it was taken in
    body: int = -1  # where its signature ends
    access: str = ""  # its visibility, if that is said by its place
    anonymous: bool = False  # it is called by a name that it does not bind
    parent: "Scope | None" = None
    depth: int = 0
    name: str = ""
    plain_name: str = ""
    doc: str = ""
    children: list["Scope"] = field(default_factory=list)
    facts: dict[str, list[str]] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    flags: set[str] = field(default_factory=set)
    locals: set[str] = field(default_factory=set)
    globals: set[str] = field(default_factory=set)
    named: list[str] = field(default_factory=list)  # names that are called or written to: used, though not read
    resolved: list[str] = field(default_factory=list)  # the same by their imports

    def add(self, fact: str, text: str) -> None:
        """Note one more value of a fact."""
        found = self.facts.get(fact)
        if found is None:
            self.facts[fact] = [text]
        else:
            found.append(text)

    def count(self, name: str) -> None:
        """Note one more occurrence."""
        self.counts[name] = self.counts.get(name, 0) + 1


class Owners:
    """Which scope owns which byte: the boundaries between scopes, and the innermost scope behind each of them."""

    __slots__ = ("_scopes", "_starts")

    def __init__(self, scopes: list[Scope], lent: Sequence[Span] = ()) -> None:
        """Scopes are in order of their start, outer ones first, properly nested.

        What is `lent` stands in the head of a scope, but belongs to the scope around it.
        """
        self._starts: list[int] = [0]
        self._scopes: list[Scope] = [Scope("", 0, 0)]
        pieces: list[tuple[int, int, Scope | None]] = [(scope.start, scope.end, scope) for scope in scopes]
        if lent:
            pieces += [(start, end, None) for start, end in lent]
            pieces.sort(key=lambda piece: (piece[0], -piece[1]))
        around: list[tuple[int, Scope]] = []  # where each open piece ends, and whose it is
        for start, end, scope in pieces:
            self._close(around, start)
            owner = scope or self._lender(around, end)
            if owner is not None:
                around.append((end, owner))
                self._set(start, owner)
        self._close(around, None)

    def _lender(self, around: list[tuple[int, Scope]], end: int) -> Scope | None:
        """Whose something lent is; None where it is in no head, because its definition is not a scope."""
        if not around or end > around[-1][1].body:
            return None
        return around[-2][1] if len(around) > 1 else self._scopes[0]

    def _close(self, around: list[tuple[int, Scope]], before: int | None) -> None:
        while around and (before is None or around[-1][0] <= before):
            end, _ = around.pop()
            self._set(end, around[-1][1] if around else self._scopes[0])

    def _set(self, start: int, scope: Scope) -> None:
        self._starts.append(start)
        self._scopes.append(scope)

    def at(self, offset: int) -> Scope:
        """The innermost scope around this byte; one that nobody sees where there is none."""
        return self._scopes[bisect_right(self._starts, offset) - 1]

    def stretches(self, end: int) -> list[tuple[int, int, Scope]]:
        """The whole file in pieces that each belong to one scope."""
        return list(zip(self._starts, [*self._starts[1:], end], self._scopes, strict=True))


def find_definitions(captures: Captures, page: Page, language: Language) -> list[Scope]:
    """All definitions in order of their position, nested, named, with the places of their parts."""
    found = _found(captures, page.plain if language.trims else page.source)
    owners = Owners(found)
    for start, end in captures.of("name"):
        written = page.name(start, end)
        _name(owners.at(start), written if language.naming is None else language.naming(written))
    named = [scope for scope in found if scope.plain_name]
    scopes = _nested(_joined(named, page) if language.joins else named)
    owners = Owners(scopes)
    for start, _ in captures.of("body"):
        scope = owners.at(start)
        # A body may begin with a definition: it is not the body of that one.
        while scope.parent is not None and scope.start >= start:
            scope = scope.parent
        if scope.body < 0:
            scope.body = start
    for start, end in captures.of("owner"):
        scope = owners.at(start)
        scope.name = f"{page.name(start, end).replace('::', '.')}.{scope.plain_name}"
    for start, _ in captures.of("lent"):
        scope = owners.at(start)
        scope.anonymous = start < scope.body  # else its own definition is nested too deeply to be one
    for start, _ in captures.of("beside"):
        _leave_variable(owners.at(start))
    for scope in scopes:
        _finish(scope)
    for start, end in captures.of("name.also"):
        _name_also(owners.at(start), page.name(start, end))
    return scopes


def _starts_with_wrappers(captures: Captures) -> dict[int, int]:
    """For each wrapped node its start, and where its wrapper starts."""
    outer = [start for start, _ in captures.of("wrapper")]
    found = ((start, bisect_left(outer, start) - 1) for start, _ in captures.of("wrapped"))
    return {start: outer[index] for start, index in found if index >= 0}


def _found(captures: Captures, source: bytes) -> list[Scope]:
    """One scope for each captured definition, without the white space that some grammars count to its end."""
    wrappers = _starts_with_wrappers(captures)
    found: dict[Span, Scope] = {}
    kinds = [capture[4:] for capture in captures.spans if capture.startswith("def.")]
    for kind in sorted(kinds, key=lambda kind: (kind in _GENERAL, kind)):
        for head, last in captures.of(f"def.{kind}"):
            start, end = head, last
            while start in wrappers:
                start = wrappers[start]
            while end > head and source[end - 1] in b" \t\r\n":
                end -= 1
            found.setdefault((start, end), Scope(kind, start, end, head, end))
    if captures.of("rest"):
        _take_the_rest(found, captures.of("rest"), source)
    return sorted(found.values(), key=lambda scope: (scope.start, -scope.end))


def _take_the_rest(found: dict[Span, Scope], rests: list[Span], source: bytes) -> None:
    """Give bodies to the heads right before them, in grammars that keep the two apart."""
    by_end = {scope.end: scope for scope in found.values()}
    for start, end in rests:
        before = start
        while before and before not in by_end and source[before - 1] in b" \t\r\n.;":
            before -= 1
        scope = by_end.get(before)
        if scope is not None and (start, end) not in found:
            scope.end = scope.tail = end
            by_end[end] = scope


def _joined(scopes: list[Scope], page: Page) -> list[Scope]:
    """The same scopes, those of one name with nothing between them put together."""
    joined: list[Scope] = []
    for scope in scopes:
        if joined and _is_next_clause(joined[-1], scope, page):
            joined[-1].end = joined[-1].tail = scope.end
        else:
            joined.append(scope)
    return joined


def _is_next_clause(last: Scope, scope: Scope, page: Page) -> bool:
    if (last.kind, last.plain_name) != (scope.kind, scope.plain_name) or scope.start < last.end:
        return False
    # A full stop ends a function of Erlang: the next one of that name has another number of parameters.
    return page.source[last.end - 1] != ord(".") and not page.unquoted[last.end : scope.start].strip(b" \t\r\n;")


def _nested(scopes: list[Scope]) -> list[Scope]:
    """The same scopes with their parents, without those that are nested too deeply."""
    kept: list[Scope] = []
    around: list[Scope] = []
    for scope in scopes:
        while around and around[-1].end <= scope.start:
            around.pop()
        if len(around) >= MAX_DEPTH:
            continue
        if around:
            scope.parent = around[-1]
            scope.end = min(scope.end, scope.parent.end)
        scope.depth = len(around)
        around.append(scope)
        kept.append(scope)
    return kept


def _name(scope: Scope, name: str) -> None:
    if not scope.plain_name:
        scope.plain_name = scope.name = name
    elif scope.kind == "variable" and scope.name != name:
        scope.name = f"{scope.name}, {name}"


def _name_also(scope: Scope, name: str) -> None:
    """Another name of the same; what stands inside is qualified by the first one alone."""
    if scope.plain_name and name != scope.plain_name:
        scope.name = f"{scope.name}, {name}"


def _leave_variable(scope: Scope) -> None:
    """Make a definition in the declaration of a variable a neighbour of that variable, and no part of it."""
    if scope.parent is not None and scope.parent.kind == "variable":
        scope.parent = scope.parent.parent


def _finish(scope: Scope) -> None:
    """Qualify the name and tell methods from functions; parents come first, so theirs are known."""
    parent = scope.parent
    if parent is not None:
        scope.name = f"{parent.name}.{scope.name}"[:400]
        parent.children.append(scope)
        if not scope.anonymous:
            parent.locals.add(scope.plain_name)
        if scope.kind == "function" and parent.kind in CONTAINERS and parent.kind != "namespace":
            scope.kind = "method"
    if scope.body < 0:
        scope.body = scope.end if scope.kind != "variable" else scope.head
