"""A number with what it counts: `1 file`, `1,204 files`. Not for words whose plural has no s."""

from typing import Any

__all__ = ["counted"]


def counted(number: Any, thing: str) -> str:
    """How many of a thing there are; what is no number, as another version may tell it, is shown as it is."""
    told = f"{number:,}" if isinstance(number, int) else str(number)
    return f"{told} {thing}{'' if number == 1 else 's'}"
