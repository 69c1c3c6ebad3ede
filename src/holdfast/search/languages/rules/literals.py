"""The type that a literal gives away by its spelling, where the grammar has told no kind of node."""

import re
from collections.abc import Iterable

__all__ = ["type_of_literal"]


def type_of_literal(literals: Iterable[tuple[re.Pattern[str], str]], text: str) -> str:
    """The type of the first literal that the text begins like; empty where it is none of them."""
    return next((found for pattern, found in literals if pattern.match(text)), "")
