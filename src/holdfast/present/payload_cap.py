"""Caps on a whole text, beside those on its lines: characters, bytes and estimated tokens.

Lines and widths bound what a screen shows; a model pays by the token, and a line of emoji costs ten times one of
English. So a text that fits its lines may still be too long. It is then not cut but rendered again with fewer
lines, because only whoever renders it can count what is left out. JSON is never passed through here.
"""

from collections.abc import Callable
from dataclasses import dataclass

from holdfast.present.bounds import Bounds
from holdfast.present.tokens import estimated_tokens

__all__ = ["PayloadCap", "cap_of", "rendered_within"]

_MOST_PER_CHARACTER = 4  # bytes; and no character is estimated at more than three tokens
_LEAST_LINES = 2
_LEAST_WIDTH = 40
# Two bytes and half a token for each character of a full page: room for prose, code and data in every alphabet
# in full width; scripts in which a character is a token, or three, get fewer lines of it.
_BYTES_PER_CHARACTER = 2
_CHARACTERS_PER_TOKEN = 2


@dataclass(frozen=True, slots=True)
class PayloadCap:
    """The most that one text may be, in each of three measures."""

    characters: int
    bytes: int
    tokens: int

    def holds(self, text: str) -> bool:
        """Whether the text is within all three."""
        if len(text) * _MOST_PER_CHARACTER < min(self.characters, self.bytes, self.tokens):
            return True  # most answers are short, and need not be counted
        return (
            len(text) <= self.characters
            and len(text.encode("utf-8", "surrogatepass")) <= self.bytes
            and estimated_tokens(text) <= self.tokens
        )


def cap_of(bounds: Bounds) -> PayloadCap:
    """The cap that belongs to bounds of lines and width: a page of them, filled with ordinary text."""
    page = bounds.lines * (bounds.width + 1)  # and the ends of its lines
    return PayloadCap(page, page * _BYTES_PER_CHARACTER, page // _CHARACTERS_PER_TOKEN)


def rendered_within(render: Callable[[Bounds], str], bounds: Bounds) -> str:
    """What `render` gives within `bounds` and their cap: with fewer lines where it must be, and at last narrower.

    The text is always the one that was rendered last.
    """
    cap = cap_of(bounds)
    text = render(bounds)
    if cap.holds(text):
        return text
    lines = _most_lines(lambda count: cap.holds(render(Bounds(count, bounds.width))), bounds.lines)
    width = bounds.width
    text = render(Bounds(lines, width))
    while not cap.holds(text) and width > _LEAST_WIDTH:
        width = max(width // 2, _LEAST_WIDTH)
        text = render(Bounds(lines, width))
    return text


def _most_lines(fits: Callable[[int], bool], too_many: int) -> int:
    """The greatest number of lines that fits, found by halving; the least that there can be, where none does."""
    best, beyond = _LEAST_LINES, too_many
    while beyond - best > 1:
        middle = (best + beyond) // 2
        if fits(middle):
            best = middle
        else:
            beyond = middle
    return best
