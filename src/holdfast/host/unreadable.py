"""What a worker wrote that cannot be read but can be recognized: the answer to a request whose id is legible.

An answer that is too long, or that holds a NaN or half a character, is an answer all the same: whoever waits for
it is told at once, instead of when its time is up. Where nothing is certain, it is noise.
"""

import re
from typing import NamedTuple

from holdfast.errors import WireError
from holdfast.vocabulary.faults import Fault, FaultClass, fault
from holdfast.wire.legible import ENDS_KEPT, TooLongError

__all__ = ["UnreadableAnswer", "recognize"]

_VERSION = rb'"jsonrpc"\s*:\s*"2\.0"\s*'
_ID = rb'"id"\s*:\s*(\d{1,18})\s*'
_BODY = rb'"(?:result|error)"\s*:'

# The members in front of the body, in any order; a request has a method there and is none of these.
_ID_IN_FRONT = re.compile(
    rb"\s*\{\s*(?:" + _VERSION + rb",\s*)?" + _ID + rb",\s*(?:" + _VERSION + rb",\s*)?" + _BODY
)
_BODY_IN_FRONT = re.compile(rb"\s*\{\s*(?:" + _VERSION + rb",\s*)?" + _BODY)
# The last brace of a message closes the whole of it, so this is its own id and not one inside of the result.
_ID_AT_END = re.compile(rb",\s*(?:" + _VERSION + rb",\s*)?" + _ID + rb"(?:,\s*" + _VERSION + rb")?\}\s*\Z")


class UnreadableAnswer(NamedTuple):
    """The answer to the host's own request `id`, and what is to be told in its place."""

    id: int
    problem: Fault


def recognize(error: WireError, frame: bytes = b"") -> UnreadableAnswer | None:
    """What can be said about something that is no readable message; None if it may be anything."""
    too_long = isinstance(error, TooLongError)
    head, tail = (error.head, error.tail) if isinstance(error, TooLongError) else (frame, frame[-ENDS_KEPT:])
    found = _ID_IN_FRONT.match(head)
    if found is None and _BODY_IN_FRONT.match(head):
        found = _ID_AT_END.search(tail)
    if found is None:
        return None
    if too_long:
        hint = "Ask for less: narrow the request or page through it."
        problem = fault("RESULT_TOO_LARGE", f"the server has answered, but {error.message}", hint=hint)
    else:
        text = f"the server has answered with something that is no message: {error.message}"
        problem = fault("INTERNAL", text, fault_class=FaultClass.PROTOCOL)
    return UnreadableAnswer(int(found[1]), problem)
