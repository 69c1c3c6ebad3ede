"""What a result costs whoever reads it: bytes of UTF-8, and estimated tokens. Pure arithmetic.

An item of text costs its text; any other item costs all of it, where data that is no text costs no tokens. What
stands around an item costs a little too, or a million empty ones would be free.
"""

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

import orjson

from holdfast.present.compact import compact_json
from holdfast.present.tokens import estimated_tokens

__all__ = ["ITEM", "NOTHING", "Cost", "Limits", "cost_of_item", "cost_of_text", "is_json", "most_of",
           "size_of", "sum_within", "text_in", "written"]  # fmt: skip

_UNLIMITED = 1 << 60
_MORE_TOKENS_THAN_BYTES = 1.25  # no text is estimated to have more tokens than this per byte
_OFTEN_OVER = 8  # characters per token: a common text that is so long has more tokens than that


class Limits(NamedTuple):
    """The most that a result may tell: bytes of UTF-8, and estimated tokens; 0 is no limit."""

    size: int = 0
    tokens: int = 0

    def could_be_over(self, payload_size: int) -> bool:
        """Whether a message of so many bytes could hold more than this: a look that costs nothing."""
        if self.size and payload_size > self.size:
            return True
        return self.tokens > 0 and payload_size * _MORE_TOKENS_THAN_BYTES + 1 > self.tokens


class Cost(NamedTuple):
    """Bytes and tokens."""

    size: int
    tokens: int

    def __add__(self, other: "Cost") -> "Cost":  # type: ignore[override]
        return Cost(self.size + other.size, self.tokens + other.tokens)

    def __sub__(self, other: "Cost") -> "Cost":
        return Cost(self.size - other.size, self.tokens - other.tokens)

    def holds(self, other: "Cost") -> bool:
        """Whether the other is no more than this, in either."""
        return other.size <= self.size and other.tokens <= self.tokens


NOTHING = Cost(0, 0)
ITEM = Cost(26, 4)  # what stands around each item but the first


def is_json(text: str) -> bool:
    """Whether a text is a JSON object or array; others may be cut."""
    shown = text.strip()
    if not (shown.startswith("{") and shown.endswith("}")) and not (shown.startswith("[") and shown.endswith("]")):
        return False
    try:
        orjson.loads(shown)
    except ValueError:
        try:
            json.loads(shown)  # which also knows NaN, and halves of characters
        except RecursionError:
            return True  # as deep as that, it is nothing that was written for people
        except ValueError:
            return False
    return True


def most_of(limits: Limits) -> Cost:
    """The limits as a cost: what has none is very much."""
    return Cost(limits.size or _UNLIMITED, limits.tokens or _UNLIMITED)


def text_in(item: Mapping[str, Any]) -> str | None:
    """The text of an item of text; None for every other item."""
    text = item.get("text")
    return text if item.get("type") == "text" and isinstance(text, str) else None


def sum_within(content: list[Any], limits: Limits, most: Cost) -> Cost | None:
    """What the items cost together; None as soon as that is more than `most`."""
    total = NOTHING
    for number, item in enumerate(content):
        total += cost_of_item(item, limits) + (ITEM if number else NOTHING)
        if not most.holds(total):
            return None
    return total


def cost_of_item(item: Mapping[str, Any], limits: Limits) -> Cost:
    """The text of an item of text; of others everything, where data that is no text costs no tokens."""
    text = text_in(item)
    if text is not None:
        return cost_of_text(text, limits)
    cost = cost_of_text(written(item), limits)
    embedded = item.get("resource")
    is_data = item.get("type") in {"image", "audio"} or (isinstance(embedded, dict) and "blob" in embedded)
    # What stands around an item is counted apart, and is here part of it.
    return Cost(max(cost.size - ITEM.size, 0), 0 if is_data else cost.tokens)


def cost_of_text(text: str, limits: Limits) -> Cost:
    """What a text costs; its tokens only where they are limited."""
    return Cost(size_of(text), _tokens(text, limits.tokens) if limits.tokens else 0)


def _tokens(text: str, most: int) -> int:
    """The estimated tokens of a text; of one that has far more than `most`, only that it has more."""
    size = most * _OFTEN_OVER
    while size < len(text):
        count = estimated_tokens(text[:size])
        if count > most:
            return count
        size *= _OFTEN_OVER
    return estimated_tokens(text)


def written(value: Any) -> str:
    """A value as JSON, whatever is in its texts."""
    try:
        return compact_json(value)
    except ValueError:  # halves of characters can be written as escapes only
        return json.dumps(value, separators=(",", ":"))


def size_of(text: str) -> int:
    """How many bytes a text has; half a character, which JSON can hold, counts as a question mark."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "replace"))
