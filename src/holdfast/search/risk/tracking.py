"""How untrusted input moves through one function: names that hold it, until they are replaced or cleaned.

Assignments and calls are taken in the order of their position. An assignment replaces what was assigned in its own
block or in a deeper one, and adds to what came from elsewhere; what a loop leaves behind enters it again, until
nothing changes. Calls of unknown functions hand on what they are given. Values are not looked at, and conditions
neither.
"""

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from holdfast.search.model import Chunk
from holdfast.search.risk.bindings import find_bindings
from holdfast.search.risk.blocks import find_blocks
from holdfast.search.risk.callees import Callee
from holdfast.search.risk.conditions import without_conditions
from holdfast.search.risk.matching import Danger, Findings, arguments_of
from holdfast.search.risk.parallel import assigned
from holdfast.search.risk.returns import body_start, find_returns
from holdfast.search.risk.taint import (
    CALL,
    PARAMETER,
    SOURCE,
    Passed,
    Reached,
    Returned,
    Root,
    Taint,
    TaintKey,
    Tracked,
    Via,
)

__all__ = ["track"]

_MOST_PASSES = 4
_MOST_TAINTS = 12  # of one name
_MOST_EVENTS = 4000
_MOST_TOLD = 50  # of each kind
_MOST_VIA = 3
_LONGEST_PATH = 24
_MOST_WORK = 1_000_000  # bytes looked at, so that no text of whatever shape holds up a build
_COST = 25  # what one thing that is followed further costs, in bytes
_LONGEST_COMPARISON = 2000
_IDENTIFIER = re.compile(
    rb"(?<![\w$.@])(?<!->)[A-Za-z_$@][\w$]*(?:\s*(?:\??\.|\??->|::)\s*[A-Za-z_$][\w$]*)*|\$\{\w+|\$[@*]"
)
_TARGET = re.compile(r"(?:[*&\s]|mut\b)*([\w$@]+(?:\.[\w$]+)*)")
_JOINT = re.compile(r"\s*(?:\??\.|\??->|::)\s*")
_KEY_BEHIND = re.compile(rb"\s*(?:=(?![=>~])|:(?!:))")
_KEY_BEFORE = re.compile(rb"[{,(]\s*\Z")
_COMPARES = re.compile(rb"[=!]=|\s[<>]=?\s|\s(?:in|is|instanceof)\s")
_CHOOSES = re.compile(rb",|\?|\|\||&&|\b(?:if|or|and|for)\b|=>")
_LABEL = re.compile(rb"\s*([A-Za-z_]\w*)\s*(?:=(?![=>~])|:(?!:))")
_SPREAD = re.compile(rb"\s*(?:\*|\.\.\.)")
_COLLECTS = frozenset({
    "append", "extend", "add", "insert", "update", "appendleft", "setdefault", "Append", "Add", "AppendLine",
    "push", "unshift", "put", "putAll", "addAll", "set", "write", "offer", "push_str", "push_back", "concat",
    "WriteString", "append_str", "insert_str", "AppendFormat", "Write", "arg", "args",
})  # fmt: skip
# What is written into the first argument, as in C.
_FILLED = frozenset({
    "strcpy", "strncpy", "strcat", "strncat", "sprintf", "snprintf", "memcpy", "memmove", "strlcpy", "strlcat",
    "vsnprintf", "stpcpy",
})  # fmt: skip
_INNERMOST = re.compile(rb"\([^()\[\]{}]*\)|\[[^()\[\]{}]*\]|\{[^()\[\]{}]*\}")
_OWN = frozenset({"self", "this"})
_NEVER_TAINTED = {"go": frozenset({"err", "ok", "_"})}
_COLLECT, _ASSIGN, _ENTER, _LEAVE = 1, 2, 0, 3


@dataclass(frozen=True, slots=True)
class _Assign:
    target: str
    start: int
    end: int
    adds: bool


_State = dict[str, dict[TaintKey, Taint]]
_Event = tuple[int, int, Callable[[], None]]


def track(
    language: str, chunk: Chunk, found: Findings, callees: Mapping[int, Callee], parameters: Sequence[str]
) -> Tracked:
    """What becomes of sources, of parameters, and of the results of calls (by their number in `found.calls`)."""
    return _Tracker(language, chunk, found, callees, parameters).run()


class _Tracker:
    def __init__(
        self,
        language: str,
        chunk: Chunk,
        found: Findings,
        callees: Mapping[int, Callee],
        parameters: Sequence[str],
    ) -> None:
        self._found = found
        self._chunk = chunk
        self._callees = callees
        # A parameter matters where it could reach a sink, or come back cleaned.
        self._parameters = parameters if found.cleanings or any(d.ranges for d in found.dangers) else ()
        self._values = without_conditions(language, found.plain)
        self._origins = [
            (origin.position, number)
            for number, origin in enumerate(found.origins)
            if self._values[origin.position : origin.position + 1].strip()
        ]
        self._blocks = find_blocks(language, found.plain)
        self._never = _NEVER_TAINTED.get(language, frozenset())
        self._state: _State = {}
        self._carried: dict[int, _State] = {}
        self._language = language
        self._parts: dict[str, set[str]] = {}  # names with dots, by what stands before the first
        self._work = _MOST_WORK
        self._reached: dict[tuple[Root, tuple[Via, ...], str, int], Reached] = {}
        self._passed: dict[tuple[Root, int, int], Passed] = {}
        self._returned: dict[tuple[Root, frozenset[str], tuple[Via, ...]], Returned] = {}
        # Only results that could get somewhere are worth following.
        follows = any(danger.ranges for danger in found.dangers)
        self._results = sorted((found.calls[n].start, n) for n in callees) if follows else []
        self._inner = sorted(
            (found.calls[n].start, found.calls[n].end, n) for n, c in callees.items() if c.may_be_sure
        )
        self._names: dict[tuple[int, int], list[tuple[int, str]]] = {}  # in a range, with their places

    def run(self) -> Tracked:
        events = sorted(self._events(), key=lambda event: event[:2])
        if len(events) > _MOST_EVENTS:
            return Tracked(is_whole=False)
        # Loops are worth their repetitions where input is seen; a parameter is only looked at once more.
        if not events:
            return Tracked()
        for _ in range(_MOST_PASSES if self._found.origins else 2):
            before = {number: _keys(state) for number, state in self._carried.items()}
            self._state = self._initial()
            for _position, _order, happen in events:
                happen()
            if {number: _keys(state) for number, state in self._carried.items()} == before:
                break
        reached = sorted(self._reached.values(), key=lambda one: one.danger.position)
        return Tracked(
            reached[: 3 * _MOST_TOLD],
            list(self._passed.values())[:_MOST_TOLD],
            list(self._returned.values())[:_MOST_TOLD],
            is_whole=self._work >= 0,
        )

    def _initial(self) -> _State:
        """What the parameters hold before anything has happened."""
        if not self._parameters:
            return {}
        plain = self._found.plain
        block = self._block_at(body_start(self._language, plain))
        state: _State = {}
        for number, name in enumerate(self._parameters):
            place = max(0, plain.find(name.encode(), plain.find(b"(") + 1))
            taint = Taint(Root(PARAMETER, number), frozenset(), block, (place,))
            state[_bare(name)] = {taint.key: taint}
        return state

    # What happens, and when.

    def _events(self) -> Iterator[_Event]:
        assigns = [*self._assigns(), *self._collected()]
        ends = [span for danger in self._found.dangers for span in danger.ranges]
        returns: list[tuple[int, int]] = []
        if self._found.origins or (self._parameters and self._found.cleanings):
            returns = list(find_returns(self._language, self._found.plain))
        if not self._found.origins:
            assigns = self._relevant(assigns, [*ends, *returns])
        for position, assign in assigns:
            yield position, _ASSIGN, partial(self._assign, assign)
        for danger in self._found.dangers:
            if danger.ranges:
                yield danger.position, _COLLECT, partial(self._reach, danger)
        for start, end in returns:
            yield end, _COLLECT, partial(self._return, start, end)
        for number in self._callees if self._found.origins else ():
            yield self._found.calls[number].end, _COLLECT, partial(self._pass, number)
        for number, block in enumerate(self._blocks):
            if block.loop:
                yield block.start, _ENTER, partial(self._enter, number)
                yield block.end, _LEAVE, partial(self._leave, number)

    def _assigns(self) -> Iterator[tuple[int, _Assign]]:
        """Assignments, and what only amounts to one, with the places where they have happened."""
        found, chunk = self._found, self._chunk
        for one in assigned(self._language, chunk.written, chunk.start, found.text, found.plain):
            start, end = one.whole
            yield end, _Assign(one.target, *one.value, adds=_adds(found.plain, start))
        for bound in find_bindings(self._language, self._found.plain):
            yield bound.position, _Assign(bound.target, bound.start, bound.end, bound.adds)
        for filling in self._found.fillings:
            yield filling.position, _Assign(filling.target, filling.origin, filling.origin + 1, adds=True)

    def _collected(self) -> Iterator[tuple[int, _Assign]]:
        """What calls put into the object that they are called on, or into their first argument."""
        for call in self._found.calls:
            owner, _, method = call.names[0].rpartition(".")
            if owner and method in _COLLECTS:
                yield call.end, _Assign(owner, call.start, call.end, adds=True)
            elif method in _FILLED:
                arguments = arguments_of(self._found, call)
                if len(arguments) > 1:
                    target = self._found.plain[slice(*arguments[0])].decode("ascii", "replace").strip()
                    yield call.end, _Assign(target, arguments[1][0], arguments[-1][1], adds=True)

    def _relevant(
        self, assigns: list[tuple[int, _Assign]], ends: list[tuple[int, int]]
    ) -> list[tuple[int, _Assign]]:
        """The assignments from which something can get to one of these ranges; most do not matter to a sink."""
        wanted = {_head(name) for start, end in ends for _, name in self._names_in(start, end)}
        left, kept = assigns, list[tuple[int, _Assign]]()
        while True:
            here = [one for one in left if _head(_name(one[1].target)) in wanted]
            if not here:
                return kept
            kept += here
            left = [one for one in left if _head(_name(one[1].target)) not in wanted]
            for _, assign in here:
                wanted.update(_head(name) for _, name in self._names_in(assign.start, assign.end))

    def _enter(self, loop: int) -> None:
        for name, taints in self._carried.get(loop, {}).items():
            self._state.setdefault(name, {}).update(taints)

    def _leave(self, loop: int) -> None:
        self._carried[loop] = {name: dict(taints) for name, taints in self._state.items() if taints}

    def _assign(self, what: _Assign) -> None:
        name = what.target
        if not name.isidentifier():
            match = _TARGET.match(_JOINT.sub(".", name))
            name = _bare(match.group(1)) if match is not None else ""
        if not name or name in self._never:
            return
        block = self._block_at(what.start)
        kept = self._state.get(name, {})
        if not what.adds and "[" not in what.target:
            kept = {key: taint for key, taint in kept.items() if taint.block[: len(block)] != block}
        kept = dict(kept)
        for taint in self._taints(what.start, what.end):
            path = self._extended(taint.path, what.start)
            moved = Taint(taint.root, taint.cleaned, block, path, taint.via)
            if len(kept) < _MOST_TAINTS * (2 if moved.root.kind == SOURCE else 1):
                kept.setdefault(moved.key, moved)
        if kept:
            self._state[name] = kept
        else:
            self._state.pop(name, None)
        if "." in name:
            self._parts.setdefault(name.partition(".")[0], set()).add(name)

    def _reach(self, danger: Danger) -> None:
        for start, end in danger.ranges:
            for taint in self._taints(start, end):
                key = (taint.root, taint.via, danger.rule.name, danger.position)
                if not taint.cleaned & {"*", danger.rule.category} and key not in self._reached:
                    there = replace(taint, path=self._extended(taint.path, start))
                    self._reached[key] = Reached(there, danger)

    def _pass(self, number: int) -> None:
        call = self._found.calls[number]
        first = bisect_left(self._origins, (call.start, 0))
        if not self._state and (first == len(self._origins) or self._origins[first][0] >= call.end):
            return
        for argument, (start, end) in enumerate(arguments_of(self._found, call)):
            if _SPREAD.match(self._found.plain, start, end):
                return
            for taint in self._taints(start, end):
                key = (taint.root, number, argument)
                if taint.root.kind == SOURCE and "*" not in taint.cleaned and key not in self._passed:
                    there = replace(taint, path=self._extended(taint.path, start))
                    self._passed[key] = Passed(there, number, argument, self._label(start, end))

    def _return(self, start: int, end: int) -> None:
        for taint in self._taints(start, end):
            if taint.root.kind != CALL:
                there = replace(taint, path=self._extended(taint.path, start))
                self._returned.setdefault((taint.root, taint.cleaned, taint.via), Returned(there))

    # What a range of the text holds.

    def _taints(self, start: int, end: int) -> Iterator[Taint]:
        """What of this range is not to be trusted."""
        self._work -= end - start
        if self._work < 0 or self._is_comparison(start, end):
            return
        for place, number in _between(self._origins, start, end):
            yield self._taken(Taint(Root(SOURCE, number), frozenset(), (), (place,)), place, start, end)
        for place, number in _between(self._results, start, end):
            # The call itself is not what its own result went through.
            yield self._taken(Taint(Root(CALL, number), frozenset(), (), (place,)), place - 1, start, end)
        if not self._state:
            return
        for position, name in self._names_in(start, end):
            if self._work < 0:
                return
            for taint in self._held_by(name):
                yield self._taken(taint, position, start, end)

    def _names_in(self, start: int, end: int) -> list[tuple[int, str]]:
        """The names that are read in a range, with their places; found once, however often it is looked at."""
        known = self._names.get((start, end))
        if known is None:
            places = _IDENTIFIER.finditer(self._values, start, end)
            known = [
                (place.start(), _name(place.group().decode("ascii", "replace")))
                for place in places
                if not self._is_key(place, start)
            ]
            self._names[(start, end)] = known
        return known

    def _taken(self, taint: Taint, position: int, start: int, end: int) -> Taint:
        """What is left of something at a place inside of a range, after the calls around it."""
        self._work -= _COST
        cleaned = taint.cleaned | self._cleaned_at(position, start, end)
        via = taint.via
        if self._inner:
            via = tuple(dict.fromkeys((*via, *self._via_at(position, start, end))))[:_MOST_VIA]
        if cleaned == taint.cleaned and via == taint.via:
            return taint
        return Taint(taint.root, cleaned, taint.block, taint.path, via)

    def _held_by(self, name: str) -> Iterable[Taint]:
        """What a name holds: itself, what it is a part of and, if it is used as a whole, its own parts."""
        owner = name
        while owner:
            yield from self._state.get(owner, {}).values()
            owner = owner.rpartition(".")[0]
        if "." not in name and name not in _OWN:
            for part in sorted(self._parts.get(name, ())):
                yield from self._state.get(part, {}).values()

    def _is_key(self, place: re.Match[bytes], start: int) -> bool:
        """`name=` of an argument and `name:` of an object are no values."""
        plain = self._found.plain
        if not _KEY_BEHIND.match(plain, place.end()):
            return False
        return bool(_KEY_BEFORE.search(plain, max(0, place.start() - 80), place.start())) or place.start() == start

    def _label(self, start: int, end: int) -> str:
        found = _LABEL.match(self._found.plain, start, end)
        return found.group(1).decode("ascii", "replace") if found is not None else ""

    def _is_comparison(self, start: int, end: int) -> bool:
        if end - start > _LONGEST_COMPARISON or not _COMPARES.search(self._found.plain, start, end):
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

    def _via_at(self, position: int, start: int, end: int) -> Iterator[Via]:
        """The calls inside of the range that something at this place goes into."""
        for first, last, number in self._inner[bisect_left(self._inner, (start, 0, 0)) :]:
            if first > position:
                return
            self._work -= 1
            if position < last <= end:
                for argument, (low, high) in enumerate(arguments_of(self._found, self._found.calls[number])):
                    if low <= position < high:
                        yield Via(number, argument, self._label(low, high))

    def _block_at(self, position: int) -> tuple[int, ...]:
        return tuple(n for n, block in enumerate(self._blocks) if block.start <= position < block.end)

    def _extended(self, path: tuple[int, ...], position: int) -> tuple[int, ...]:
        """The path with one more place, if that is on another line."""
        if path and self._found.text.count(b"\n", *sorted((path[-1], position))) == 0:
            return path
        return (*path[: _LONGEST_PATH // 2], *path[_LONGEST_PATH // 2 :][-_LONGEST_PATH // 2 :], position)


def _between(places: Sequence[tuple[int, int]], start: int, end: int) -> Sequence[tuple[int, int]]:
    first = bisect_left(places, (start, 0))
    return places[first : bisect_left(places, (end, 0), first)] if first < len(places) else ()


def _keys(state: _State) -> dict[str, set[TaintKey]]:
    return {name: set(taints) for name, taints in state.items() if taints}


def _head(name: str) -> str:
    return name.partition(".")[0]


def _name(written: str) -> str:
    return written if written.isidentifier() else _bare(_JOINT.sub(".", written))


def _bare(name: str) -> str:
    """The name without the sign that some languages put in front of it."""
    return name.lstrip("$@{&*") or name


def _adds(plain: bytes, value: int) -> bool:
    """Whether the assignment of the value that starts here is a `+=`."""
    before = plain[max(0, value - 80) : value].rstrip()
    return before.endswith(b"=") and before[-2:-1] in b"+|&-*/%." and before[-2:-1] != b""


def _outermost(text: bytes) -> bytes:
    """The text without what is in brackets."""
    shorter = text.strip()
    if shorter.startswith(b"(") and shorter.endswith(b")"):
        shorter = shorter[1:-1]
    while True:
        text, shorter = shorter, _INNERMOST.sub(b"", shorter)
        if text == shorter:
            return text
