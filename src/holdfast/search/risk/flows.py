"""How untrusted input moves through one function: names that hold it, until they are replaced or cleaned.

Assignments and calls are taken in the order of their position. An assignment replaces what was assigned in its own
block or in a deeper one, and adds to what came from elsewhere; what a loop leaves behind enters it again, until
nothing changes. Calls of unknown functions hand on what they are given. Values are not looked at, and conditions
neither.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from holdfast.search.model import Chunk
from holdfast.search.risk.bindings import find_bindings
from holdfast.search.risk.blocks import find_blocks
from holdfast.search.risk.matching import Danger, Findings

__all__ = ["RiskFlow", "find_flows"]

_MOST_PASSES = 4
_MOST_TAINTS = 8  # of one name
_MOST_EVENTS = 4000
_MOST_FLOWS = 50
_MOST_WORK = 1_000_000  # bytes looked at, so that no text of whatever shape holds up a build
_LONGEST_COMPARISON = 2000
_LONGEST_LINE = 120
_IDENTIFIER = re.compile(rb"(?<![\w$.])[A-Za-z_$][\w$]*(?:\s*\??\.\s*[A-Za-z_$][\w$]*)*")
_TARGET = re.compile(r"[*&\s]*([\w$@]+(?:\.[\w$]+)*)")
_KEY_BEHIND = re.compile(rb"\s*(?:=(?![=>])|:(?!:))")
_KEY_BEFORE = re.compile(rb"[{,(]\s*\Z")
_COMPARES = re.compile(rb"[=!]=|\s[<>]=?\s|\s(?:in|is|instanceof)\s")
_CHOOSES = re.compile(rb",|\?|\|\||&&|\b(?:if|or|and|for)\b|=>")
_COLLECTS = frozenset({
    "append", "extend", "add", "insert", "update", "appendleft", "setdefault",
    "push", "unshift", "put", "putAll", "addAll", "set", "write", "offer",
})  # fmt: skip
_OWN = frozenset({"self", "this"})
_NEVER_TAINTED = {"go": frozenset({"err", "ok", "_"})}
_COLLECT, _ASSIGN, _ENTER, _LEAVE = 1, 2, 0, 3

Step = tuple[int, str]


@dataclass(frozen=True, slots=True)
class RiskFlow:
    """Input that reaches a sink: the names of the rules, and the lines on its way."""

    source: str
    sink: str
    category: str
    severity: str
    path: list[Step]


@dataclass(frozen=True, slots=True)
class _Taint:
    """Why a name is not to be trusted, and for which categories it was cleaned."""

    source: str
    cleaned: frozenset[str]
    block: tuple[int, ...]
    path: tuple[Step, ...]

    @property
    def key(self) -> tuple[str, frozenset[str], tuple[int, ...]]:
        """What makes it another one; the way that it took does not."""
        return (self.source, self.cleaned, self.block)


@dataclass(frozen=True, slots=True)
class _Assign:
    target: str
    start: int
    end: int
    adds: bool


_State = dict[str, dict[tuple[str, frozenset[str], tuple[int, ...]], _Taint]]
_Event = tuple[int, int, "_Assign | Danger | tuple[str, int, int] | int"]


def find_flows(language: str, chunk: Chunk, found: Findings) -> list[RiskFlow]:
    """The flows of a chunk, in the order of their sinks; none where it is too large to be followed."""
    if not found.origins or not any(danger.ranges for danger in found.dangers):
        return []
    return _Tracker(language, chunk, found).run()


class _Tracker:
    def __init__(self, language: str, chunk: Chunk, found: Findings) -> None:
        self._found = found
        self._chunk = chunk
        self._blocks = find_blocks(language, found.plain)
        self._never = _NEVER_TAINTED.get(language, frozenset())
        self._state: _State = {}
        self._flows: dict[tuple[str, str, int], RiskFlow] = {}
        self._language = language
        self._parts: dict[str, set[str]] = {}  # names with dots, by what stands before the first
        self._work = _MOST_WORK

    def run(self) -> list[RiskFlow]:
        events = sorted(self._events(), key=lambda event: event[:2])
        if len(events) > _MOST_EVENTS:
            return []
        carried: dict[int, _State] = {}
        for _ in range(_MOST_PASSES):
            before = {number: _keys(state) for number, state in carried.items()}
            self._state = {}
            for _position, _order, what in events:
                self._happen(what, carried)
            if {number: _keys(state) for number, state in carried.items()} == before:
                break
        ordered = sorted(self._flows.items(), key=lambda item: item[0][2])
        return [flow for _, flow in ordered][:_MOST_FLOWS]

    def _events(self) -> Iterator[_Event]:
        for write in self._chunk.written:
            start, end = write.start - self._chunk.start, write.end - self._chunk.start
            if 0 <= start <= end <= len(self._found.text):
                yield end, _ASSIGN, _Assign(write.target, start, end, adds=_adds(self._found.plain, start))
        for bound in find_bindings(self._language, self._found.plain):
            yield bound.position, _ASSIGN, _Assign(bound.target, bound.start, bound.end, bound.adds)
        for danger in self._found.dangers:
            if danger.ranges:
                yield danger.position, _COLLECT, danger
        for call in self._found.calls:
            owner, _, method = call.names[0].rpartition(".")
            if owner and method in _COLLECTS:
                yield call.end, _COLLECT, (owner, call.start, call.end)
        for number, block in enumerate(self._blocks):
            if block.loop:
                yield block.start, _ENTER, number
                yield block.end, _LEAVE, -number - 1

    def _happen(self, what: "_Assign | Danger | tuple[str, int, int] | int", carried: dict[int, _State]) -> None:
        if isinstance(what, _Assign):
            self._assign(what)
        elif isinstance(what, Danger):
            self._reach(what)
        elif isinstance(what, tuple):
            owner, start, end = what
            self._assign(_Assign(owner, start, end, adds=True))
        elif what >= 0:
            for name, taints in carried.get(what, {}).items():
                self._state.setdefault(name, {}).update(taints)
        else:
            carried[-what - 1] = {name: dict(taints) for name, taints in self._state.items() if taints}

    def _assign(self, what: _Assign) -> None:
        match = _TARGET.match(what.target)
        if match is None or match.group(1) in self._never:
            return
        name = match.group(1)
        block = self._block_at(what.start)
        step = self._step(what.start)
        kept = self._state.get(name, {})
        if not what.adds and "[" not in what.target:
            kept = {key: taint for key, taint in kept.items() if taint.block[: len(block)] != block}
        kept = dict(kept)
        for taint in self._taints(what.start, what.end):
            moved = _Taint(taint.source, taint.cleaned, block, _extended(taint.path, step))
            if len(kept) < _MOST_TAINTS:
                kept.setdefault(moved.key, moved)
        self._state[name] = kept
        if "." in name:
            self._parts.setdefault(name.partition(".")[0], set()).add(name)

    def _reach(self, danger: Danger) -> None:
        rule = danger.rule
        for start, end in danger.ranges:
            for taint in self._taints(start, end):
                key = (taint.source, rule.name, danger.position)
                if not taint.cleaned & {"*", rule.category} and key not in self._flows:
                    path = list(_extended(taint.path, self._step(start)))
                    self._flows[key] = RiskFlow(taint.source, rule.name, rule.category, rule.severity, path)

    def _taints(self, start: int, end: int) -> Iterator[_Taint]:
        """What of this range is not to be trusted."""
        self._work -= end - start
        if self._work < 0 or self._is_comparison(start, end):
            return
        for origin in self._found.origins:
            if start <= origin.position < end:
                yield _Taint(
                    origin.rule.name,
                    self._cleaned_at(origin.position, start, end),
                    (),
                    (self._step(origin.position),),
                )
        if not any(self._state.values()):
            return
        plain = self._found.plain
        for place in _IDENTIFIER.finditer(plain, start, end):
            if self._is_key(place, start):
                continue
            for taint in self._held_by(re.sub(r"[\s?]", "", place.group().decode("ascii", "replace"))):
                yield replace(taint, cleaned=taint.cleaned | self._cleaned_at(place.start(), start, end))

    def _held_by(self, name: str) -> Iterable[_Taint]:
        """What a name holds: itself, what it is a part of and, if it is used as a whole, its own parts."""
        owner = name
        while owner:
            yield from self._state.get(owner, {}).values()
            owner = owner.rpartition(".")[0]
        if "." not in name and name not in _OWN:
            for part in self._parts.get(name, ()):
                yield from self._state.get(part, {}).values()

    def _is_key(self, place: re.Match[bytes], start: int) -> bool:
        """`name=` of an argument and `name:` of an object are no values."""
        plain = self._found.plain
        if not _KEY_BEHIND.match(plain, place.end()):
            return False
        return bool(_KEY_BEFORE.search(plain, max(0, place.start() - 80), place.start())) or place.start() == start

    def _is_comparison(self, start: int, end: int) -> bool:
        if end - start > _LONGEST_COMPARISON:
            return False
        outermost = _outermost(self._found.plain[start:end])
        return bool(_COMPARES.search(outermost)) and not _CHOOSES.search(outermost)

    def _cleaned_at(self, position: int, start: int, end: int) -> frozenset[str]:
        categories: frozenset[str] = frozenset()
        self._work -= len(self._found.cleanings)
        for cleaning in self._found.cleanings:
            # One that began before the range cleans its result, not what goes in.
            if (
                start <= cleaning.end <= end
                and cleaning.start <= position < cleaning.end
                and cleaning.start >= start
            ):
                categories |= cleaning.rule.categories
        return categories

    def _block_at(self, position: int) -> tuple[int, ...]:
        return tuple(n for n, block in enumerate(self._blocks) if block.start <= position < block.end)

    def _step(self, position: int) -> Step:
        text = self._found.text
        begin = text.rfind(b"\n", 0, position) + 1
        end = text.find(b"\n", begin)
        line = text[begin : end if end >= 0 else len(text)].decode("utf-8", "replace").strip()
        return self._chunk.start_line + text.count(b"\n", 0, position), line[:_LONGEST_LINE]


def _keys(state: _State) -> dict[str, set[tuple[str, frozenset[str], tuple[int, ...]]]]:
    return {name: set(taints) for name, taints in state.items() if taints}


def _extended(path: tuple[Step, ...], step: Step) -> tuple[Step, ...]:
    return path if path and path[-1] == step else (*path, step)


def _adds(plain: bytes, value: int) -> bool:
    """Whether the assignment of the value that starts here is a `+=`."""
    before = plain[max(0, value - 80) : value].rstrip()
    return before.endswith(b"=") and before[-2:-1] in b"+|&-*/%" and before[-2:-1] != b""


def _outermost(text: bytes) -> bytes:
    """The text without what is in brackets."""
    shorter = text.strip()
    if shorter.startswith(b"(") and shorter.endswith(b")"):
        shorter = shorter[1:-1]
    while True:
        text, shorter = shorter, re.sub(rb"\([^()\[\]{}]*\)|\[[^()\[\]{}]*\]|\{[^()\[\]{}]*\}", b"", shorter)
        if text == shorter:
            return text
