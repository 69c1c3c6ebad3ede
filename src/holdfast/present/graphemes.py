"""Where a text may be parted: never inside what a reader sees as one character. And how wide a terminal shows it.

A letter and its marks, the parts of a joined emoji, the two letters of a flag, the parts of a Korean syllable and
the two characters of a Windows line end stay together. It is the part of the Unicode rules that text is cut by in
practice; of a run of nothing but marks, which no writing has, at most so many are looked at.
"""

__all__ = ["boundary_before", "display_width", "padded"]

_JOINER = "\u200d"
_AS_EMOJI = "\ufe0f"
_MAX_BACK_OFF = 32  # Unicode's stream-safe text has at most 30 marks in a row


def boundary_before(text: str, index: int) -> int:
    """The nearest position at or before `index` where the text may be parted; 0 and its end are always good."""
    if index >= len(text):
        return len(text)
    for position in range(index, max(index - _MAX_BACK_OFF, 0), -1):
        if not _continues(text, position):
            return position
    # Nothing but marks in reach: keep them rather than drop arbitrarily much.
    return index if index > _MAX_BACK_OFF else 0


def display_width(text: str) -> int:
    """How many columns of a terminal a line takes: two for what East Asian writing and emoji are made of."""
    if text.isascii():
        return len(text)
    from unicodedata import category, east_asian_width

    width = last = 0
    for position, character in enumerate(text):
        if position and _continues(text, position):
            # A sign that is asked to be shown as an emoji, and a flag of two letters, are as wide as one.
            is_wide = character == _AS_EMOJI or _is_flag_letter(character)
            width, last = (width + 2 - last, 2) if is_wide else (width, last)
            continue
        hidden = category(character) in {"Mn", "Me", "Cf"} and character != "\u00ad"
        last = 0 if hidden else 2 if east_asian_width(character) in "WF" else 1
        width += last
    return width


def padded(text: str, width: int) -> str:
    """The text with as many blanks behind it as a terminal needs to show it that wide."""
    return text + " " * (width - display_width(text))


def _continues(text: str, position: int) -> bool:
    """Whether the character at `position` belongs to the one before it."""
    import unicodedata  # a large table, needed only where text is really cut

    before, here = text[position - 1], text[position]
    if here < "\u0300" and here != "\n":
        return False  # what most text is made of
    if here == "\n":
        return before == "\r"
    if here == _JOINER or before == _JOINER or unicodedata.category(here).startswith("M"):
        return True
    if "\U0001f3fb" <= here <= "\U0001f3ff" or "\U000e0020" <= here <= "\U000e007f":
        return True  # the tone of a skin; the letters behind the flag of a region
    if _is_flag_letter(here) and _is_flag_letter(before):
        return _flag_letters_before(text, position) % 2 == 1
    return _is_jamo(before) and "\u1160" <= here <= "\u11ff"


def _is_flag_letter(character: str) -> bool:
    return "\U0001f1e6" <= character <= "\U0001f1ff"


def _flag_letters_before(text: str, position: int) -> int:
    count = 0  # of the whole run, or its pairs cannot be told
    while count < position and _is_flag_letter(text[position - count - 1]):
        count += 1
    return count


def _is_jamo(character: str) -> bool:
    return "\u1100" <= character <= "\u11ff" or "\uac00" <= character <= "\ud7a3"
