"""What of a chunk the rules match: places where input comes in, dangerous places, and cleaning calls.

All offsets are those of the chunk's own text. It only finds; how the data moves between them is `flows`.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from holdfast.search.model import CallSite, Chunk
from holdfast.search.risk.masking import masked
from holdfast.search.risk.places import called_on, chain_before, is_letter, name_start, own_ranges, plain_name
from holdfast.search.risk.rules import LanguageRules, Sanitizer, Sink, Source

__all__ = ["Call", "Cleaning", "Danger", "Findings", "Origin", "find"]

_LIST_SIGN = re.compile(rb"[()\[\]{},]")
# Of very long arguments only the beginning is looked at: nested ones would be read again and again.
_LONGEST_TEXT = 4000


@dataclass(frozen=True, slots=True)
class Call:
    """One call: by all of its names, with the range of its arguments and of the name in front of them."""

    names: tuple[str, ...]
    start: int
    end: int
    name_start: int


@dataclass(frozen=True, slots=True)
class Origin:
    """Untrusted input, read at a place."""

    rule: Source
    position: int


@dataclass(frozen=True, slots=True)
class Danger:
    """A dangerous call or assignment; `ranges` are the parts that must be trusted (none: no flow is told)."""

    rule: Sink
    position: int
    ranges: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Cleaning:
    """A cleaning call: what stands in its range is harmless for its categories."""

    rule: Sanitizer
    start: int
    end: int


@dataclass(slots=True)
class Findings:
    """Everything that was found in a chunk, in the order of position."""

    text: bytes
    plain: bytes  # the text without strings and comments
    calls: list[Call] = field(default_factory=list)
    origins: list[Origin] = field(default_factory=list)
    dangers: list[Danger] = field(default_factory=list)
    cleanings: list[Cleaning] = field(default_factory=list)
    commas: dict[int, list[int]] = field(default_factory=dict)  # by the place of their bracket


def find(language: str, source: bytes, chunk: Chunk, rules: LanguageRules, imports: Mapping[str, str]) -> Findings:
    """Everything in the chunk that a rule matches."""
    text = source[chunk.start : chunk.end]
    found = Findings(text, _plain(language, text, chunk))
    found.commas = _commas(found.plain)
    found.calls = _calls(found, chunk, imports)
    _origins(found, chunk, rules)
    for call in found.calls:
        found.dangers.extend(_dangers(found, call, rules))
    found.dangers.extend(_dangerous_writes(found, chunk, rules))
    if found.origins or found.dangers:
        # Alone, they say nothing: `int()` is everywhere.
        found.cleanings.extend(item for call in found.calls for item in _cleanings(found, call, rules))
    found.origins.sort(key=lambda origin: origin.position)
    found.dangers.sort(key=lambda danger: danger.position)
    return found


def _plain(language: str, text: bytes, chunk: Chunk) -> bytes:
    if chunk.text is None:
        return masked(language, text)
    plain = bytearray(b" " * len(text))
    for start, end in own_ranges(chunk):
        low, high = max(0, start - chunk.start), min(len(text), end - chunk.start)
        line = text.rfind(b"\n", 0, low) + 1  # the name of what is called stands in front
        plain[line:high] = masked(language, text[line:high])
    return bytes(plain)


def _calls(found: Findings, chunk: Chunk, imports: Mapping[str, str]) -> list[Call]:
    by_place: dict[tuple[int, int], list[str]] = {}
    for site in chunk.call_sites:
        start, end = site.start - chunk.start, site.end - chunk.start
        if 0 <= start <= end <= len(found.text):
            by_place.setdefault((start, end), []).extend(_names(found, site, start, imports))
    return [
        Call(tuple(dict.fromkeys(names)), start, end, name_start(found.plain, start))
        for (start, end), names in by_place.items()
    ]


def _names(found: Findings, site: CallSite, start: int, imports: Mapping[str, str]) -> Iterator[str]:
    callee = plain_name(site.callee)
    if "." not in callee and called_on(found.plain, start, callee):
        # `a().b()` is told as `b`: without what it is called on it would look like a plain function.
        yield chain_before(found.plain, start)
        return
    yield callee
    head, dot, rest = callee.partition(".")
    if head in imports:
        yield f"{imports[head]}{dot}{rest}"


def _origins(found: Findings, chunk: Chunk, rules: LanguageRules) -> None:
    ranges = [(start - chunk.start, end - chunk.start) for start, end in own_ranges(chunk)]
    seen: set[tuple[int, str]] = set()
    for pattern, rule in rules.reads_here:
        for start, end in ranges:
            for place in pattern.search.finditer(found.plain, max(start, 0), max(end, 0)):
                seen_here = (place.start(), rule.name)
                if seen_here not in seen and not is_letter(found.plain, place.start() - 1):
                    seen.add(seen_here)
                    found.origins.append(Origin(rule, place.start()))
    for call in found.calls:
        for rule in {
            rule.name: rule for name in call.names for rule in rules.source_calls.matching(name)
        }.values():
            found.origins.append(Origin(rule, call.start))


def _dangers(found: Findings, call: Call, rules: LanguageRules) -> Iterator[Danger]:
    told: set[str] = set()
    for rule in (rule for name in call.names for rule in rules.sink_calls.matching(name)):
        arguments = found.text[call.start : min(call.end, call.start + _LONGEST_TEXT)].decode("utf-8", "replace")
        # Of one category, the first rule that applies says it: the special ones stand before the general one.
        if rule.category in told or not rule.applies(arguments):
            continue
        told.add(rule.category)
        if rule.safe_when is not None and rule.safe_when.search(arguments):
            yield Danger(rule, call.end, ())
        elif rule.argument is None:
            yield Danger(rule, call.end, ((call.start, call.end),))
        else:
            yield Danger(rule, call.end, tuple(_arguments(found, call)[rule.argument : rule.argument + 1]))


def _arguments(found: Findings, call: Call) -> list[tuple[int, int]]:
    """The ranges between the commas of the outermost level."""
    start, end = call.start, call.end
    if found.plain[start : start + 1] == b"(":
        start, end = start + 1, max(start + 1, end - 1)
    commas = [comma for comma in found.commas.get(call.start, ()) if comma < end]
    parts = list(zip([start, *(comma + 1 for comma in commas)], [*commas, end], strict=True))
    return [
        (first, last) for first, last in parts if found.plain[first:last].strip() or found.text[first:last].strip()
    ]


def _commas(plain: bytes) -> dict[int, list[int]]:
    """The commas of every bracket, by the place of the bracket; one look at the text, however deep it is."""
    commas: dict[int, list[int]] = {}
    opened: list[int] = []
    for sign in _LIST_SIGN.finditer(plain):
        kind = sign.group()
        if kind == b",":
            if opened:
                commas.setdefault(opened[-1], []).append(sign.start())
        elif kind in b"([{":
            opened.append(sign.start())
        elif opened:
            opened.pop()
    return commas


def _dangerous_writes(found: Findings, chunk: Chunk, rules: LanguageRules) -> Iterator[Danger]:
    for write in chunk.written:
        start, end = write.start - chunk.start, write.end - chunk.start
        for rule in rules.sink_writes.matching(write.target):
            if rule.applies(found.text[start:end].decode("utf-8", "replace")):
                yield Danger(rule, end, ((start, end),))
                break
    for pattern, rule in rules.named_here:
        for place in pattern.search.finditer(found.plain):
            yield Danger(rule, place.end(), ((place.end(), _value_end(found.plain, place.end())),))


def _value_end(plain: bytes, start: int) -> int:
    """The end of a value that starts here: of its braces, or of its line."""
    depth = 0
    for position in range(start, min(len(plain), start + _LONGEST_TEXT)):
        sign = plain[position]
        if sign in b"{([":
            depth += 1
        elif sign in b"})]":
            depth -= 1
            if depth <= 0:
                return position + 1
        elif sign in b"\n;" and depth == 0:
            return position
    return min(len(plain), start + _LONGEST_TEXT)


def _cleanings(found: Findings, call: Call, rules: LanguageRules) -> Iterator[Cleaning]:
    for rule in (rule for name in call.names for rule in rules.sanitizers.matching(name)):
        if not rule.arguments:
            # `Paths.get(name).normalize()` cleans what it is called on.
            yield Cleaning(rule, call.name_start, call.end)
            return
        arguments = _arguments(found, call)
        if len(arguments) >= rule.arguments:
            # What comes behind the first argument is passed beside the statement, not inside of it.
            yield Cleaning(rule, arguments[0][1], call.end)
            return
