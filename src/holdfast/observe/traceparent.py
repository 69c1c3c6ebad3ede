"""The W3C trace parent that a client may put into `_meta`: read strictly, or not at all."""

import re
from typing import NamedTuple

__all__ = ["TraceParent", "parse_traceparent"]

# Version 00 is exactly this long; a later version may go on behind another dash.
_FORM = re.compile(r"([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?", re.ASCII | re.DOTALL)
_FORBIDDEN_VERSION = "ff"


class TraceParent(NamedTuple):
    """The span that a request belongs to."""

    trace_id: int
    span_id: int
    flags: int


def parse_traceparent(text: str) -> TraceParent | None:
    """The parent, or None where the text is none."""
    found = _FORM.fullmatch(text)
    if found is None or found[1] == _FORBIDDEN_VERSION or (found[1] == "00" and found[5] is not None):
        return None
    trace_id, span_id = int(found[2], 16), int(found[3], 16)
    return TraceParent(trace_id, span_id, int(found[4], 16)) if trace_id and span_id else None
