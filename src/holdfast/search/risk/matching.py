"""What of a chunk the rules match: places where input comes in, dangerous places, and cleaning calls.

All offsets are those of the chunk's own text. It only finds; how the data moves between them is `flows`.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from holdfast.search.model import CallSite, Chunk
from holdfast.search.risk.callees import Surroundings, is_shadowed
from holdfast.search.risk.masking import blank, masked
from holdfast.search.risk.patterns import QUOTED, STATEMENT, WRITE, Pattern
from holdfast.search.risk.places import called_on, chain_before, is_letter, name_start, own_ranges, plain_name
from holdfast.search.risk.returns import statement_end
from holdfast.search.risk.rules import LanguageRules, Sanitizer, Sink, Source

__all__ = ["Call", "Cleaning", "Danger", "Filling", "Findings", "Origin", "arguments_of", "find"]

_WORD = re.compile(rb"[A-Za-z_$@][\w$.]*")
_ONE_WORD = re.compile(rb"(?:\"(?:\\.|[^\"\\])*\"|'[^']*'|\\.|[^\s\"'\\])+", re.DOTALL)
_LIST_SIGN = re.compile(rb"[()\[\]{},]")
# Of very long arguments only the beginning is looked at: nested ones would be read again and again.
_LONGEST_TEXT = 4000


@dataclass(frozen=True, slots=True)
class Call:
    """One call: by all of its names, with the range of its arguments."""

    names: tuple[str, ...]
    start: int
    end: int
    is_known: bool = False  # a rule says what it is


@dataclass(frozen=True, slots=True)
class Origin:
    """Untrusted input, read at a place."""

    rule: Source
    position: int


@dataclass(frozen=True, slots=True)
class Danger:
    """A dangerous call or assignment; `ranges` are the parts that must be trusted (none: no flow is told)."""

    rule: Sink
    position: int  # when it happens: behind its arguments
    ranges: tuple[tuple[int, int], ...]
    start: int = 0


@dataclass(frozen=True, slots=True)
class Filling:
    """A name that input is written to, not by an assignment: `fgets(line, ...)`, `read line`."""

    target: str
    origin: int
    position: int


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
    fillings: list[Filling] = field(default_factory=list)
    commas: dict[int, list[int]] = field(default_factory=dict)  # by the place of their bracket
    is_of_words: bool = False  # arguments are words, as in a shell


def find(
    language: str,
    source: bytes,
    chunk: Chunk,
    rules: LanguageRules,
    imports: Mapping[str, str],
    around: Surroundings | None = None,
) -> Findings:
    """Everything in the chunk that a rule matches."""
    text = source[chunk.start : chunk.end]
    found = Findings(text, _plain(language, text, chunk), is_of_words=language == "shell")
    found.commas = _commas(found.plain)
    calls = _calls(found, chunk, imports)
    # A function of the file's own may have the name of one that a rule knows.
    others = [call for call in calls if around is None or not is_shadowed(call.names, chunk, around)]
    _origins(found, chunk, rules, others)
    for call in others:
        found.dangers.extend(_dangers(found, call, rules))
    found.dangers.extend(_dangerous_writes(found, chunk, rules))
    # Where they are alone, they only matter to those who call the function.
    found.cleanings.extend(item for call in others for item in _cleanings(found, call, rules))
    found.cleanings.extend(_cleanings_without_brackets(found, rules))
    known = {
        *(o.position for o in found.origins),
        *(d.start for d in found.dangers),
        *(c.end for c in found.cleanings),
    }
    found.calls = [
        Call(c.names, c.start, c.end, is_known=True) if c.start in known or c.end in known else c for c in calls
    ]
    found.origins.sort(key=lambda origin: origin.position)
    found.dangers.sort(key=lambda danger: danger.position)
    return found


def _plain(language: str, text: bytes, chunk: Chunk) -> bytes:
    if chunk.text is None:
        return masked(language, text)
    plain = bytearray(blank(text))  # with its lines: they bound whatever looks at a line
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
        Call(tuple(dict.fromkeys(names)) if len(names) > 1 else (names[0],), start, end)
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


def _origins(found: Findings, chunk: Chunk, rules: LanguageRules, calls: list[Call]) -> None:
    ranges = [(start - chunk.start, end - chunk.start) for start, end in own_ranges(chunk)]
    seen: set[tuple[int, str]] = set()
    parameters = chunk.facts.get("params", ())
    for pattern, rule in rules.reads_here:
        if rule.unless_parameter and pattern.text in parameters:
            continue
        for start, end in ranges:
            for place in pattern.search.finditer(found.plain, max(start, 0), max(end, 0)):
                seen_here = (place.start(), rule.name)
                if seen_here not in seen and not is_letter(found.plain, place.start() - 1):
                    seen.add(seen_here)
                    found.origins.append(Origin(rule, place.start()))
                    if pattern.kind == STATEMENT:
                        _fill_last_word(found, place.end(), place.start())
    for call in calls:
        matching = (rule for name in call.names for rule in rules.source_calls.matching(name))
        for rule in {rule.name: rule for rule in matching}.values():
            found.origins.append(Origin(rule, call.start))
            _fill_argument(found, call, rule)


def _fill_argument(found: Findings, call: Call, rule: Source) -> None:
    """`fgets(line, ...)`: what is read goes into an argument."""
    filled = [] if rule.fills is None else arguments_of(found, call)[rule.fills : rule.fills + 1]
    for start, end in filled:
        target = found.plain[start:end].decode("ascii", "replace").strip()
        found.fillings.append(Filling(target, call.start, call.end))


def _fill_last_word(found: Findings, start: int, origin: int) -> None:
    """`read -r line`: what is read goes into the last name of the statement."""
    end = statement_end(found.plain, start)
    words = _WORD.findall(found.plain, start, end)
    if words:
        found.fillings.append(Filling(words[-1].decode("ascii", "replace"), origin, end))


def _dangers(found: Findings, call: Call, rules: LanguageRules) -> Iterator[Danger]:
    told: set[str] = set()
    for rule in (rule for name in call.names for rule in rules.sink_calls.matching(name)):
        arguments = found.text[call.start : min(call.end, call.start + _LONGEST_TEXT)].decode("utf-8", "replace")
        # Of one category, the first rule that applies says it: the special ones stand before the general one.
        if rule.category in told or not rule.applies(arguments):
            continue
        told.add(rule.category)
        ranges: tuple[tuple[int, int], ...] = ((call.start, call.end),)
        if rule.safe_when is not None and rule.safe_when.search(arguments):
            ranges = ()
        elif rule.argument is not None:
            ranges = tuple(arguments_of(found, call)[rule.argument : rule.argument + 1])
        yield Danger(rule, call.end, ranges, call.start)


def arguments_of(found: Findings, call: Call) -> list[tuple[int, int]]:
    """The ranges between the commas of the outermost level."""
    start, end = call.start, call.end
    if found.is_of_words:
        return [word.span() for word in _ONE_WORD.finditer(found.text, start, end)]
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
        for rule in rules.sink_writes.matching(plain_name(write.target)):
            value = found.text[start:end].decode("utf-8", "replace")
            if rule.applies(value):
                is_safe = rule.safe_when is not None and rule.safe_when.search(value) is not None
                yield Danger(rule, end, () if is_safe else ((start, end),), start)
                break
    for pattern, rule in rules.named_here:
        for place in pattern.search.finditer(found.plain):
            if pattern.kind == WRITE or not is_letter(found.plain, place.start() - 1):
                yield from _dangerous_text(found, pattern, rule, *place.span())


def _dangerous_text(found: Findings, pattern: Pattern, rule: Sink, start: int, end: int) -> Iterator[Danger]:
    """A sink that is neither a call nor an assignment, by the range of what its pattern has found."""
    if pattern.kind == QUOTED:
        first, last = start, end
    else:
        first = end
        last = _value_end(found.plain, end) if pattern.kind == WRITE else statement_end(found.plain, end)
    said = found.text[first:last].decode("utf-8", "replace")
    if rule.applies(said):
        is_safe = rule.safe_when is not None and rule.safe_when.search(said) is not None
        yield Danger(rule, end if pattern.kind == WRITE else last, () if is_safe else ((first, last),), start)


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


def _cleanings_without_brackets(found: Findings, rules: LanguageRules) -> Iterator[Cleaning]:
    for pattern, rule in rules.cleaning_texts:
        if pattern.pieces[0] in found.plain:
            for place in pattern.search.finditer(found.plain):
                if found.plain[place.end() : place.end() + 1] != b"(":
                    yield Cleaning(rule, name_start(found.plain, place.start()), place.end())


def _cleanings(found: Findings, call: Call, rules: LanguageRules) -> Iterator[Cleaning]:
    for rule in (rule for name in call.names for rule in rules.sanitizers.matching(name)):
        if not rule.arguments:
            # `Paths.get(name).normalize()` cleans what it is called on.
            yield Cleaning(rule, name_start(found.plain, call.start), call.end)
            return
        arguments = arguments_of(found, call)
        if len(arguments) >= rule.arguments:
            # What comes behind the first argument is passed beside the statement, not inside of it.
            yield Cleaning(rule, arguments[0][1], call.end)
            return
