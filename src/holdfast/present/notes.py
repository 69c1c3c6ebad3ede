"""Notes: short remarks under a result, in the order they were made, each once, not too many.

They tell a reader what the result does not show by itself: that a default was assumed, that an index is old.
They are not a log.
"""

from collections.abc import Iterable

from holdfast.present.bounds import clean_line, collapse_whitespace, omitted, truncate_chars

__all__ = ["Notes"]


class Notes:
    """Collects notes and gives them back as lines.

    Two notes that differ only in whitespace are one note. Beyond `limit` the rest is counted, not shown.
    """

    def __init__(self, notes: Iterable[str] = (), *, limit: int = 5) -> None:
        if limit < 1:
            raise ValueError("a limit of notes is at least 1")
        self._limit = limit
        self._texts: dict[str, None] = {}  # a dict is the ordered set
        for note in notes:
            self.add(note)

    def add(self, text: str) -> None:
        """Add one note; empty ones and repeats are dropped."""
        line = collapse_whitespace(text)
        if line:
            self._texts.setdefault(line)

    def __len__(self) -> int:
        return len(self._texts)

    def lines(self, width: int = 120) -> list[str]:
        """One `note: ...` line per note, then the count of those beyond the limit."""
        texts = list(self._texts)
        lines = [truncate_chars(f"note: {clean_line(text)}", width) for text in texts[: self._limit]]
        if len(texts) > self._limit:
            lines.append(omitted(len(texts) - self._limit, "note"))
        return lines
