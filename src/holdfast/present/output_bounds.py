"""Bounds on what a result tells at once: text is cut at a line, with a marker; JSON is never cut. Pure.

    … 812 line(s), 96,420 bytes omitted; the whole: holdfast://output/...

The limit is one for all items of a result together, marker and link included; structured content is held to it
apart, since a reader is shown the one or the other. Items that cannot be cut (images, audio, embedded resources,
JSON as text) are kept whole or left out whole, and go before text, which shares what is left in its order. Of a
failure the first and the last lines are kept: either may hold its reason. What is left out is for the caller to
keep somewhere; `whole_of` says it in full.
"""

from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any, NamedTuple

from holdfast.present.bounds import ELLIPSIS
from holdfast.present.graphemes import boundary_before
from holdfast.present.output_cost import (
    ITEM,
    NOTHING,
    Cost,
    Limits,
    cost_of_item,
    cost_of_text,
    is_json,
    most_of,
    size_of,
    sum_within,
    text_in,
    written,
)
from holdfast.present.tokens import estimated_tokens

__all__ = ["Verdict", "cut_content", "judge", "output_link", "size_and_kind", "whole_of"]

_TRIES = 100  # items that may turn out not to fit, before the rest of them is left out without a look
_NOT_KEPT = "the whole could not be kept"


class Verdict(Enum):
    """What a result is like, held against its limits."""

    WITHIN = "within"
    CUTTABLE = "cuttable"
    JSON = "json"  # what is too large may not be cut


def judge(result: Mapping[str, Any], limits: Limits, where: str, link: Mapping[str, Any] | None) -> Verdict:
    """What is to be done about a result; `where` and `link` are those that it would be cut with."""
    content = result.get("content")
    if not isinstance(content, list) or not all(isinstance(item, dict) for item in content):
        return Verdict.WITHIN  # no result that anybody could read, so none to be shortened
    most = most_of(limits)
    if "structuredContent" in result:
        structured = written(result["structuredContent"])
        if not most.holds(cost_of_text(structured, limits)):
            return Verdict.JSON
    if sum_within(content, limits, most) is not None:
        return Verdict.WITHIN
    room = _room(limits, where, link)
    for item in content:
        if text_in(item) is not None and is_json(item["text"]):
            room -= cost_of_item(item, limits) + ITEM
            if not room.holds(NOTHING):
                return Verdict.JSON
    return Verdict.CUTTABLE


def output_link(uri: str, size: int, kind: str = "application/octet-stream") -> dict[str, Any]:
    """The content item that leads to the whole."""
    return {"type": "resource_link", "uri": uri, "name": "whole-output", "mimeType": kind, "size": size}


def size_and_kind(contents: list[dict[str, Any]]) -> tuple[int, str]:
    """How many bytes the contents of a resource have, and of which kind they are, all in all."""
    size = sum(size_of(str(content.get("text") or content.get("blob") or "")) for content in contents)
    if any("text" not in content for content in contents):
        return size, "application/octet-stream"
    is_all_json = all(content.get("mimeType") == "application/json" for content in contents)
    return size, "application/json" if is_all_json else "text/plain"


def whole_of(result: Mapping[str, Any], uri: str, structured: str | None = None) -> list[dict[str, Any]]:
    """Everything that a result says, as the contents of a resource; `structured` is its JSON as it was written."""
    contents = []
    if structured is not None:
        contents.append({"uri": uri, "mimeType": "application/json", "text": structured})
    for item in result["content"]:
        text = text_in(item)
        if text is None:
            contents.append(_other_contents(item, uri))
        elif not is_json(text):
            contents.append({"uri": uri, "mimeType": "text/plain", "text": text})
        elif structured is None:  # otherwise it says the same once more
            contents.append({"uri": uri, "mimeType": "application/json", "text": text})
    return contents


def _other_contents(item: Mapping[str, Any], uri: str) -> dict[str, Any]:
    embedded = item.get("resource")
    if item.get("type") == "resource" and isinstance(embedded, dict) and _is_readable(embedded):
        return dict(embedded)
    if item.get("type") in {"image", "audio"} and isinstance(item.get("data"), str):
        kind = item.get("mimeType")
        return {"uri": uri, "mimeType": str(kind or "application/octet-stream"), "blob": item["data"]}
    return {"uri": uri, "mimeType": "application/json", "text": written(item)}


def _is_readable(resource: Mapping[str, Any]) -> bool:
    has_data = isinstance(resource.get("text"), str) or isinstance(resource.get("blob"), str)
    return has_data and isinstance(resource.get("uri"), str)


# --- cutting -----------------------------------------------------------------------------------------------------


def cut_content(
    content: list[dict[str, Any]],
    limits: Limits,
    where: str | None,
    link: Mapping[str, Any] | None,
    *,
    is_error: bool = False,
) -> list[dict[str, Any]]:
    """The items within their limits, with a marker and the link to the whole; not for what `judge` calls JSON."""
    plan = _Plan(content, limits, where or _NOT_KEPT, link, is_error=is_error)
    return plan.carried_out()


class _Plan:
    """One cut: what is kept of each item, and what the marker says."""

    def __init__(
        self,
        content: list[dict[str, Any]],
        limits: Limits,
        where: str,
        link: Mapping[str, Any] | None,
        *,
        is_error: bool,
    ) -> None:
        self._content = content
        self._limits = limits
        self._where = where
        self._link = link
        self._is_error = is_error
        self._room = self._full = _room(limits, where, link)
        self._kept: dict[int, dict[str, Any]] = {}  # by its place
        self._missing = _Missing(0, 0, 0)

    def carried_out(self) -> list[dict[str, Any]]:
        """The new items."""
        cuttable = [_is_cuttable(item) for item in self._content]
        self._missing = sum(map(_missing, self._content), self._missing)
        tries = _TRIES
        # JSON first, which was found to fit; of the rest whatever still does.
        whole = [place for place in range(len(self._content)) if not cuttable[place]]
        for place in sorted(whole, key=lambda place: text_in(self._content[place]) is None):
            if tries and not self._keep(place, self._content[place]):
                tries -= 1
        for place, item in enumerate(self._content):
            if cuttable[place] and not self._keep(place, item):
                self._part(place, item["text"], self._last_words(place, cuttable))
                break
        else:
            self._kept[len(self._content)] = {"type": "text", "text": self._missing.marker(self._where)}
        items = [self._kept[place] for place in sorted(self._kept)]
        return items if self._link is None else [*items, dict(self._link)]

    def _last_words(self, place: int, cuttable: list[bool]) -> str:
        """The last text that says something, as the lines below others; nothing where it is the one at `place`."""
        for other in range(len(self._content) - 1, place, -1):
            if cuttable[other] and self._content[other]["text"].strip():
                return f"\n{self._content[other]['text']}"
        return ""

    def _keep(self, place: int, item: dict[str, Any]) -> bool:
        cost = cost_of_item(item, self._limits) + ITEM
        if not self._room.holds(cost):
            return False
        self._room -= cost
        self._kept[place] = item
        self._missing -= _missing(item)
        return True

    def _part(self, place: int, text: str, last: str) -> None:
        """Keep some of a text; of a failure also the end of the last text, where that is another one."""
        room, most = self._room - ITEM, self._room + _reserve(self._where, self._limits)
        shown = ""
        for _ in range(64):  # an estimate of tokens may be a little off where texts are joined
            ends = [part for part in self._ends(text, last, room) if part]
            missing = self._missing
            for part in ends:
                missing -= _Missing(part.count("\n") + 1, 0, size_of(part))
            marker = missing.marker(self._where)
            shown = "\n".join([ends[0], marker, *ends[1:]] if ends else [marker])
            if most.holds(cost_of_text(shown, self._limits)):
                break
            room = Cost(room.size - 1 - room.size // 16, room.tokens - 1 - room.tokens // 16)
        self._kept[place] = {**self._content[place], "text": shown}

    def _ends(self, text: str, last: str, room: Cost) -> tuple[str, str]:
        if not self._is_error:
            return _head(text, room, self._full, self._limits), ""
        third = Cost(room.size // 3, room.tokens // 3)
        head = _head(text, third, third, self._limits)
        left = room - cost_of_text(head, self._limits) - ITEM
        return head, _tail(last or text[len(head) :], left, self._limits)


class _Missing(NamedTuple):
    """What a reader is not shown: lines, items that are no text, bytes of both."""

    lines: int
    items: int
    size: int

    def __add__(self, other: "_Missing") -> "_Missing":  # type: ignore[override]
        return _Missing(self.lines + other.lines, self.items + other.items, self.size + other.size)

    def __sub__(self, other: "_Missing") -> "_Missing":
        return _Missing(self.lines - other.lines, self.items - other.items, self.size - other.size)

    def marker(self, where: str) -> str:
        """The line that says it; where both ends of one line are shown, no line is missing."""
        counts = [
            f"{self.lines:,} line(s)" if self.lines > 0 else "",
            f"{self.items:,} item(s)" if self.items else "",
            f"{self.size:,} bytes",
        ]
        return f"{ELLIPSIS} {', '.join(filter(None, counts))} omitted; {where}"


def _missing(item: Mapping[str, Any]) -> _Missing:
    text = text_in(item)
    if text is None:
        return _Missing(0, 1, size_of(written(item)))
    return _Missing(text.count("\n") + 1, 0, size_of(text))


def _reserve(where: str, limits: Limits) -> Cost:
    """What a marker costs at most."""
    return cost_of_text(_MOST_MISSING.marker(where), limits) + ITEM


_MOST_MISSING = _Missing(99_999_999, 999_999, 999_999_999)


def _room(limits: Limits, where: str, link: Mapping[str, Any] | None) -> Cost:
    """What is left for the items themselves, once the marker and the link have theirs."""
    room = most_of(limits) - _reserve(where, limits)
    return room if link is None else room - cost_of_item(link, limits) - ITEM


def _head(text: str, room: Cost, full: Cost, limits: Limits) -> str:
    """The first lines that fit; part of a line only where that line alone would never fit."""
    count = _fitting(text, room, limits)
    if count >= len(text):
        return text
    end = text.rfind("\n", 0, count + 1)
    line_end = text.find("\n", end + 1)
    line = text[end + 1 : line_end if line_end >= 0 else len(text)]
    if not full.holds(cost_of_text(line, limits)):
        return text[: boundary_before(text, count)]
    return text[:end].removesuffix("\r") if end >= 0 else ""


def _tail(text: str, room: Cost, limits: Limits) -> str:
    """The last lines that fit, or the end of the last one."""
    if not text or room.size <= 0 or room.tokens <= 0:
        return ""
    backwards = _longest(len(text), lambda count: room.holds(cost_of_text(text[len(text) - count :], limits)))
    start = len(text) - backwards
    line = text.find("\n", max(start - 1, 0))
    if 0 <= line < len(text) - 1:
        return text[line + 1 :]
    while start < len(text) and boundary_before(text, start) != start:
        start += 1
    return text[start:]


def _fitting(text: str, room: Cost, limits: Limits) -> int:
    """How many characters of the text fit, from its beginning."""
    if room.size <= 0 or room.tokens <= 0:
        return 0
    count = len(text)
    if limits.size:
        count = len(text[: room.size].encode("utf-8", "replace")[: room.size].decode("utf-8", "ignore"))
    if not limits.tokens:
        return count
    return _longest(count, lambda some: estimated_tokens(text[:some]) <= room.tokens)


def _longest(high: int, fits: Callable[[int], bool]) -> int:
    """The largest number up to `high` that fits, nearly; small ones are tried first, since texts may be huge."""
    low, above = 0, min(high, 1024)
    while fits(above):
        if above == high:
            return high
        low, above = above, min(high, above * 4)
    while above - low > max(1, low >> 7):
        middle = (low + above) // 2
        low, above = (middle, above) if fits(middle) else (low, middle)
    return low


def _is_cuttable(item: Mapping[str, Any]) -> bool:
    text = text_in(item)
    return text is not None and not is_json(text)
