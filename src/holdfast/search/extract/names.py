"""The names that a definition reads and refers to.

They are not looked up in the syntax tree, where every single name would cost a node: whatever is no name that is
read (strings, comments, targets, callees, types) is blanked out of the text first, by its place, and one regular
expression then finds the names of a whole function at once.
"""

import re

from holdfast.search.extract.facts import MAX_TEXT, Gatherer
from holdfast.search.extract.page import blanked
from holdfast.search.extract.scopes import Scope

__all__ = ["gather_names"]


# A run of letters, digits and dots, and whether it is the prefix of a string. Bytes outside of ASCII count as
# letters. What is no name (a number, an attribute of something else) is sorted out once for each different run.
_RUN = re.compile(rb"[\w.$#\x80-\xff]+[\"']?")
_NAME = re.compile(rb"[A-Za-z_$\x80-\xff][\w$\x80-\xff]*(?:\.#?[A-Za-z_$\x80-\xff][\w$\x80-\xff]*)*")


class _Reader:
    """Decodes each name once, and knows which words are none."""

    def __init__(self, gatherer: Gatherer) -> None:
        self.skipped = gatherer.language.keywords | gatherer.language.receivers
        self.known: dict[bytes, str] = {}

    def names(self, text: bytes) -> list[str]:
        """The names in a text, each once, in order."""
        known = self.known
        found = []
        for raw in dict.fromkeys(_RUN.findall(text)):
            name = known.get(raw)
            if name is None:
                name = known[raw] = self._decoded(raw)
            if name:
                found.append(name)
        return found

    def _decoded(self, run: bytes) -> str:
        """The name in a run, or nothing. A spread (`...rest`) is a name; a tail (`.rest`) is none."""
        found = _NAME.match(run, 3 if run.startswith(b"...") else 0)
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
        _use(scope, reads, reader.names(b" ".join(heads.get(scope, ()))), gatherer.language.receivers)


def _use(scope: Scope, reads: list[str], head: list[str], receivers: frozenset[str]) -> None:
    own = scope.locals - scope.globals
    bound = "" if scope.anonymous else scope.plain_name
    uses: dict[str, None] = {}
    for name in (*reads, *scope.named, *(name for name in head if name != bound)):
        first, dot, _ = name.partition(".")
        if first not in own and name not in receivers:
            uses[name] = None
            if dot and first not in receivers:
                uses[first] = None
    uses.update(dict.fromkeys(scope.resolved))
    if uses:
        scope.facts["uses"] = list(uses)
