"""The names that a definition reads and refers to.

They are not looked up in the syntax tree, where every single name would cost a node: whatever is no name that is
read (strings, comments, targets, callees, types) is blanked out of the text first, by its place, and one regular
expression then finds the names of a whole function at once.
"""

from holdfast.search.extract.facts import Gatherer
from holdfast.search.extract.grammar import blanked
from holdfast.search.extract.page import MAX_TEXT
from holdfast.search.extract.scopes import Scope
from holdfast.search.extract.spelling import Spelling, spelled

__all__ = ["gather_names"]


class _Reader:
    """Decodes each name once, and knows which words are none."""

    def __init__(self, gatherer: Gatherer) -> None:
        self.skipped = gatherer.language.keywords | gatherer.language.receivers
        self.known: dict[bytes, str] = {}
        # What is no name (a number, an attribute of something else) is sorted out once for each different run.
        self.spelling = spelled(gatherer.language)

    def names(self, text: bytes) -> list[str]:
        """The names in a text, each once, in order."""
        known = self.known
        found = []
        for raw in dict.fromkeys(self.spelling.run.findall(text)):
            name = known.get(raw)
            if name is None:
                name = known[raw] = self._decoded(raw)
            if name:
                found.append(name)
        return found

    def _decoded(self, run: bytes) -> str:
        """The name in a run, or nothing. A spread (`...rest`) is a name; a tail (`.rest`) is none."""
        found = self.spelling.name.match(run, 3 if run.startswith(b"...") else 0)
        if found is None or run[-1:] in b"\"'":
            return ""
        name = found[0].decode("utf-8", "replace")[:MAX_TEXT]
        return "" if name in self.skipped else name


def gather_names(gatherer: Gatherer) -> None:
    """Fill in `reads` and `uses` of every scope, after everything else is known."""
    page, captures = gatherer.page, gatherer.captures
    types = captures.of("type")
    named = blanked(page.unquoted, captures.of("label"))
    text = blanked(named, [*gatherer.unread, *types])
    reader = _Reader(gatherer)
    bodies: dict[Scope, list[bytes]] = {}
    heads: dict[Scope, list[bytes]] = {}
    for start, end, scope in gatherer.owners.stretches(len(text)):
        if start < scope.body:
            heads.setdefault(scope, []).append(named[start : min(end, scope.body)])
    for start, end, scope in gatherer.actors.stretches(len(text)):
        if scope.body < end:
            bodies.setdefault(scope, []).append(text[max(start, scope.body) : end])
    position = 0
    for start, end in types:
        if start >= position:  # not a part of the type before it
            heads.setdefault(gatherer.actors.at(start), []).append(named[start:end])
            position = end
    for scope in {**heads, **bodies}:
        reads = reader.names(b" ".join(bodies.get(scope, ())))
        if reads:
            scope.facts["reads"] = reads
        scope.locals |= gatherer.language.implied
        head = reader.names(b" ".join(heads.get(scope, ())))
        _use(scope, reads, head, gatherer.language.receivers, reader.spelling)
        if gatherer.language.calls_by_name:
            _call_by_name(scope, reads)


def _use(scope: Scope, reads: list[str], head: list[str], receivers: frozenset[str], spelled: Spelling) -> None:
    own = scope.locals - scope.globals
    bound = "" if scope.anonymous else scope.plain_name
    uses: dict[str, None] = {}
    head_of = spelled.first.match
    for name in (*reads, *scope.named, *(name for name in head if name != bound)):
        found = head_of(name)
        first = found[0] if found else name
        if first not in own and name not in receivers:
            uses[name] = None
            if first != name and first not in receivers:
                uses[first] = None
    uses.update(dict.fromkeys(scope.resolved))
    if uses:
        scope.facts["uses"] = list(uses)


def _call_by_name(scope: Scope, reads: list[str]) -> None:
    """What is read like a variable but is none of the locals: a method that is called without brackets."""
    called = [name for name in reads if name.isidentifier() and name not in scope.locals and not name[0].isupper()]
    if called:
        scope.facts.setdefault("calls", []).extend(called)
        scope.facts["reads"] = [name for name in reads if name not in called]
