"""Bounds on text: cut at a character, a line or a byte, and always say that something was cut.

Nothing here knows what the text means. Limits count Unicode code points (or bytes, where the name says so),
the marker included, so a result never exceeds its limit. JSON is never passed through here: half a document
is no document.
"""

import re
from dataclasses import dataclass

from holdfast.present.graphemes import boundary_before

__all__ = [
    "ELLIPSIS",
    "Bounds",
    "clean_line",
    "collapse_whitespace",
    "omitted",
    "tail",
    "truncate_bytes",
    "truncate_chars",
    "truncate_lines",
]

ELLIPSIS = "…"
# Characters that start a new line, reorder or hide the rest of one, or cannot be encoded at all.
_UNSAFE_IN_LINE = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Bounds:
    """How much text a reader is given: so many lines, each of at most so many characters."""

    lines: int
    width: int

    def __post_init__(self) -> None:
        if self.lines < 2 or self.width < 40:
            raise ValueError("bounds need at least 2 lines and 40 characters; less cannot hold a marker")


def omitted(count: int, noun: str) -> str:
    """The marker of a cut: `… 3 line(s) omitted`."""
    return f"{ELLIPSIS} {count} {noun}(s) omitted"


def collapse_whitespace(text: str) -> str:
    """The text on one line: each run of whitespace becomes one space, none is left at the ends."""
    return " ".join(text.split())


def clean_line(text: str) -> str:
    """The text with everything that could break or disguise a line written as an escape such as `\\u001b`."""
    return _UNSAFE_IN_LINE.sub(_escape, text)


def _escape(match: re.Match[str]) -> str:
    return f"\\u{ord(match[0]):04x}"


def truncate_chars(text: str, limit: int) -> str:
    """At most `limit` characters, the last of them `…` where something was cut.

    The cut is never inside what a reader sees as one character.
    """
    if limit < 1:
        raise ValueError("a limit in characters is at least 1")
    if len(text) <= limit:
        return text
    return text[: boundary_before(text, limit - 1)] + ELLIPSIS


def truncate_bytes(text: str, limit: int) -> str:
    """At most `limit` bytes of UTF-8, ending in `…` where something was cut; never half a character."""
    if limit < len(ELLIPSIS.encode()):
        raise ValueError("a limit in bytes is at least 3, the size of the marker")
    raw = text.encode("utf-8", "replace")
    if len(raw) <= limit:
        return raw.decode()
    kept = raw[: limit - len(ELLIPSIS.encode())].decode("utf-8", "ignore")
    return kept + ELLIPSIS


def truncate_lines(text: str, bounds: Bounds) -> str:
    """At most `bounds.lines` lines of at most `bounds.width` characters each.

    Where lines are left out, the last one says how many. Control characters become escapes, so that no line
    is broken in two by whoever prints it.
    """
    lines = text.replace("\r\n", "\n").split("\n")
    kept = lines
    if len(lines) > bounds.lines:
        kept = [*lines[: bounds.lines - 1], omitted(len(lines) - bounds.lines + 1, "line")]
    return "\n".join(_fitted(line, bounds.width) for line in kept)


def _fitted(line: str, width: int) -> str:
    # A cut before the escaping keeps the cost of a line of many megabytes small.
    return truncate_chars(clean_line(line[: width + 1].replace("\t", "    ")), width)


def tail(data: str | bytes, limit: int, *, noun: str = "byte") -> str:
    """The last part of some output, in at most `limit` bytes of UTF-8, headed by a line that says what is missing.

    Bytes that are not UTF-8 are shown as `�`. The end is what is kept, because that is where the reason of a
    failure stands.
    """
    raw = data.encode("utf-8", "replace") if isinstance(data, str) else data
    text = raw.decode("utf-8", "replace")
    raw = text.encode()
    if len(raw) <= limit:
        return text
    room = max(limit - len(omitted(len(raw), noun).encode()) - 1, 0)
    kept = raw[len(raw) - room :]
    # Bytes 10xxxxxx continue a character whose beginning was cut away.
    start = next((index for index, byte in enumerate(kept) if byte & 0xC0 != 0x80), len(kept))
    kept = kept[start:]
    marker = omitted(len(raw) - len(kept), noun)
    return truncate_bytes(f"{marker}\n{kept.decode()}" if kept else marker, limit)
