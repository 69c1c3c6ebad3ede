"""Search results as a person or an editor reads them: lines of text from the payload, nothing else.

Source text is foreign: whatever could move the cursor or change colours is shown as an escape. Lines are cut to
the width of the terminal, and begin where the match is when it would otherwise be cut off.
"""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import IO, Any

from holdfast.present.bounds import ELLIPSIS, clean_line, collapse_whitespace
from holdfast.stdio.terminal import coloured

__all__ = [
    "SECTIONS",
    "Look",
    "count_hits",
    "describe_hits",
    "look_for",
    "one_line_each",
    "point_at",
    "remarks",
    "vimgrep",
]

# key of the payload: its title
SECTIONS = {"code": "Code", "prose": "Prose", "extractedProse": "Comments and docstrings", "records": "Records"}

Payload = Mapping[str, Any]
Place = Callable[[str], str]
Roots = Mapping[str, str]  # the directory of each repository, where several were searched

_COLOURS = {"file": "35", "line": "32", "name": "1", "dim": "2", "match": "1;31", "title": "1;4"}
_TAB = "    "
_UNBOUNDED = 400  # characters of a line of source where there is no terminal
_SHOWN_FLOWS = 5  # of one hit
_SHOWN_QUERY = 72  # characters of a query around a mistake in it


class Look:
    """Colours or none, how many columns there are, and how the path of a file is written."""

    def __init__(
        self,
        *,
        colour: bool = False,
        width: int = 0,
        place: Place = str,
        places: Mapping[str, Place] | None = None,
    ) -> None:
        self._colour = colour
        self.width = width or _UNBOUNDED
        self._place = place
        self._places = places or {}

    def place(self, hit: Payload, file: str | None = None) -> str:
        """How the path of a hit is written, or that of another file of its repository."""
        return self._places.get(hit.get("repo", ""), self._place)(hit["file"] if file is None else file)

    def paint(self, text: str, role: str) -> str:
        """The text in the colour of its role."""
        return coloured(text, _COLOURS[role]) if self._colour and text else text


def look_for(stream: IO[str], root: str, *, colour: bool = True, roots: Roots | None = None) -> Look:
    """How to write to this stream: colours and the width of a terminal only where there is one."""
    import shutil

    is_terminal = stream.isatty()
    plain = not colour or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    width = shutil.get_terminal_size().columns if is_terminal else 0
    places = {name: _placed(directory) for name, directory in (roots or {}).items()}
    return Look(colour=is_terminal and not plain, width=width, place=_placed(root), places=places)


def _placed(root: str) -> Place:
    """Paths that a shell or an editor in the working directory can open."""
    try:
        here = os.path.realpath(os.getcwd())
    except OSError:  # the working directory is gone
        here = ""
    root = os.path.realpath(root)
    if here == root:
        return str
    if here.startswith(root.rstrip(os.sep) + os.sep):
        return lambda file: os.path.relpath(os.path.join(root, file), here)
    return lambda file: os.path.join(root, file)


def _sections(payload: Payload) -> Iterator[tuple[str, Sequence[Payload]]]:
    for key in SECTIONS:
        if payload.get(key):
            yield key, payload[key]


def count_hits(payload: Payload) -> int:
    """How many results there are to show."""
    return sum(len(hits) for _, hits in _sections(payload))


def describe_hits(payload: Payload, look: Look) -> Iterator[str]:
    """Every result with its place, why it matched, and the lines that did; by mode where there are several."""
    sections = list(_sections(payload))
    is_first = True
    for key, hits in sections:
        if len(sections) > 1:
            yield from [] if is_first else [""]
            yield look.paint(SECTIONS[key], "title") + look.paint(_of_total(payload, key, hits), "dim")
            is_first = False
        for hit in hits:
            yield from [] if is_first else [""]
            is_first = False
            yield _head(hit, look)
            yield from _why(hit, look)
            yield from _flows(hit, look)
            yield from _snippet(hit, look)


def one_line_each(payload: Payload, look: Look) -> Iterator[str]:
    """One line per result: place, kind, name, score."""
    for _, hits in _sections(payload):
        for hit in hits:
            yield _head(hit, look)


def vimgrep(payload: Payload, look: Look) -> Iterator[str]:
    """One line per result as editors read them: file:line:column:text, the column in bytes from 1."""
    for _, hits in _sections(payload):
        for hit in hits:
            line, column, text = _first_match(hit)
            yield f"{clean_line(look.place(hit))}:{line}:{column}:{_flat(text)[:_UNBOUNDED]}"


def _first_match(hit: Payload) -> tuple[int, int, str]:
    lines = (hit.get("snippet") or {}).get("lines") or ()
    for line in lines:
        if line.get("highlights"):
            text = line["text"]
            before = text[: line["highlights"][0][0]]
            return line["line"], len(before.encode("utf-8", "replace")) + 1, text
    at_start = next((line["text"] for line in lines if line["line"] == hit["startLine"]), None)
    return hit["startLine"], 1, at_start or hit.get("headline") or hit.get("name") or ""


def point_at(query: str, column: int) -> Iterator[str]:
    """Two lines: the query, or the part of it around a column (from 1), and a caret under that column."""
    start = max(0, min(column - _SHOWN_QUERY // 2, len(query) - _SHOWN_QUERY))
    shown = "".join(
        one if one.isprintable() and _columns(one) else " " for one in query[start : start + _SHOWN_QUERY]
    )
    yield f"  {shown}"
    yield " " * (2 + _columns(shown[: column - 1 - start])) + "^"


def remarks(payload: Payload, top: int) -> Iterator[str]:
    """What a person should know about the answer: what was left out, how old it is, what could not be asked."""
    for warning in payload.get("warnings") or ():
        yield f"note: {collapse_whitespace(str(warning.get('message', '')))}"
    if not count_hits(payload):
        query = payload.get("query", "")
        yield "nothing found" if query == "*" else f"nothing found for {query!r}"
    elif payload.get("truncated"):
        yield _left_out(payload, top)


def _left_out(payload: Payload, top: int) -> str:
    totals = payload.get("total") or {}
    # Every mode has a limit of its own, so only those that reached it have more to show.
    cut = [key for key, hits in _sections(payload) if totals.get(key, 0) > len(hits)]
    if not cut:
        return "there may be more; narrow the search, or raise -n"
    shown = ", ".join(
        f"{len(payload[key])} of {totals[key]:,}" + (f" ({SECTIONS[key].lower()})" if len(cut) > 1 else "")
        for key in cut
    )
    wanted = min(max(totals[key] for key in cut), max(top * 4, 20), 1000)
    return f"{shown}; -n {wanted} shows more" if wanted > top else f"{shown}; narrow the search to see the rest"


def _of_total(payload: Payload, key: str, hits: Sequence[Payload]) -> str:
    total = (payload.get("total") or {}).get(key, len(hits))
    return f"  {len(hits)} of {total:,}" if total > len(hits) else f"  {len(hits)}"


def _head(hit: Payload, look: Look) -> str:
    place = look.paint(clean_line(look.place(hit)), "file")
    if not hit.get("location"):  # lines of a document are those of its text alone, and lead nowhere
        place += ":" + look.paint(str(hit["startLine"]), "line")
    kind = look.paint(_flat(hit.get("kind") or ""), "dim")
    name = look.paint(_flat(hit.get("name") or hit.get("headline") or ""), "name")
    score = hit.get("score")
    digits = 4 if hit.get("repo") else 2  # the scores of several repositories are sums of small fractions
    number = look.paint(f"{score:.{digits}f}", "dim") if score else ""  # symbols are found, not scored
    repo = look.paint(f"[{_flat(hit['repo'])}]", "dim") if hit.get("repo") else ""
    return "  ".join(part for part in (repo, place, kind, name, number) if part)


def _why(hit: Payload, look: Look) -> Iterator[str]:
    if hit.get("why"):
        yield look.paint(_cut(_TAB + _flat("; ".join(map(str, hit["why"]))), look.width), "dim")
    if hit.get("scoreBreakdown"):
        yield look.paint(_cut(_TAB + "score: " + ", ".join(_parts(hit["scoreBreakdown"])), look.width), "dim")


def _flows(hit: Payload, look: Look) -> Iterator[str]:
    """The paths of data from a source to a sink, line by line."""
    flows = (hit.get("risk") or {}).get("flows") or ()
    for flow in flows[:_SHOWN_FLOWS]:
        told = ", ".join((flow["category"], flow["severity"], flow["scope"], f"confidence {flow['confidence']}"))
        yield _cut(f"{_TAB}{_flat(flow['source'])} -> {_flat(flow['sink'])}  {_flat(told)}", look.width)
        places = [f"{clean_line(look.place(hit, step['file']))}:{step['line']}" for step in flow["path"]]
        room = max(map(_columns, places), default=0)
        for place, step in zip(places, flow["path"], strict=True):
            yield look.paint(_cut(f"{_TAB}{_TAB}{place:<{room}}  {_flat(step['text'])}", look.width), "dim")
    if len(flows) > _SHOWN_FLOWS:
        yield look.paint(f"{_TAB}and {len(flows) - _SHOWN_FLOWS} more", "dim")


def _parts(breakdown: Mapping[str, Any], before: str = "") -> Iterator[str]:
    for key, value in breakdown.items():
        name = _flat(f"{before}{key}")
        if isinstance(value, Mapping):
            yield from _parts(value, f"{name}.")
        elif isinstance(value, float):
            yield f"{name} {value:.3g}"
        elif value is not None:
            yield f"{name} {_flat(str(value))}"


def _snippet(hit: Payload, look: Look) -> Iterator[str]:
    snippet = hit.get("snippet") or {}
    lines = _with_context(hit, snippet.get("lines") or ())
    digits = max((len(str(line["line"])) for line in lines), default=1)
    before = 0
    for line in lines:
        if before and line["line"] > before + 1:
            yield look.paint(f"{_TAB}{ELLIPSIS:>{digits}}", "dim")
        before = line["line"]
        number = look.paint(f"{_TAB}{before:>{digits}}", "line")
        room = max(look.width - len(_TAB) - digits - 2, 20)
        yield f"{number}  {_source(line['text'], line.get('highlights') or (), room, look)}".rstrip()
    if snippet.get("truncated") and not hit.get("context"):
        yield look.paint(f"{_TAB}{ELLIPSIS:>{digits}}", "dim")


def _with_context(hit: Payload, lines: Sequence[Payload]) -> list[Payload]:
    """The lines of the snippet between those that stand before and after the whole chunk."""
    context = hit.get("context") or {}
    before, after = context.get("before") or (), context.get("after") or ()
    return [
        *({"line": hit["startLine"] - len(before) + at, "text": text} for at, text in enumerate(before)),
        *lines,
        *({"line": hit["endLine"] + 1 + at, "text": text} for at, text in enumerate(after)),
    ]


def _source(text: str, highlights: Sequence[Sequence[int]], room: int, look: Look) -> str:
    """A line of source: cut to the room there is, with the matches painted."""
    marks = sorted((start, end) for start, end in highlights if 0 <= start < end <= len(text))
    start = 0
    if marks and marks[0][1] > room:
        start = max(marks[0][0] - room // 3, 0)
    pieces = [(ELLIPSIS, "")] if start else []
    for begin, end in marks:
        if begin >= start:
            pieces += [(text[start:begin], ""), (text[begin:end], "match")]
            start = end
    pieces.append((text[start:], ""))
    return _clipped(pieces, room, look)


def _clipped(pieces: Sequence[tuple[str, str]], room: int, look: Look) -> str:
    shown = []
    for text, role in pieces:
        # A cut before the escaping keeps the cost of an endless line small.
        safe = clean_line(text[: room + 1].replace("\t", _TAB))
        kept = safe if _columns(safe) <= room else _cut(safe, room)
        shown.append(look.paint(kept, role) if role else kept)
        room -= _columns(kept)
        if kept != safe or room <= 0:
            break
    return "".join(shown)


def _flat(text: str) -> str:
    return clean_line(collapse_whitespace(text))


def _cut(text: str, columns: int) -> str:
    """At most so many columns of a terminal, the last one `…` where something was cut."""
    if _columns(text) <= columns:
        return text
    room = columns - 1
    for at, character in enumerate(text):
        room -= _columns(character)
        if room < 0:
            return text[:at] + ELLIPSIS
    return text


def _columns(text: str) -> int:
    """The columns of a terminal that the text takes: two for wide characters, none for combining ones."""
    if text.isascii():
        return len(text)
    import unicodedata

    wide = sum(1 for character in text if unicodedata.east_asian_width(character) in "WF")
    return len(text) + wide - sum(1 for character in text if unicodedata.combining(character))
