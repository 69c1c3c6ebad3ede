"""What a worker wrote that cannot be read but can be recognized: the answer to a request whose id is legible.

An answer that is too long, or that holds a NaN or a key twice, is an answer all the same: whoever waits for it is
told at once, instead of when its time is up. Where nothing is certain, it is noise.
"""

from typing import NamedTuple

from holdfast.errors import WireError
from holdfast.vocabulary.faults import Fault, FaultClass, fault
from holdfast.wire.legible import TooLongError
from holdfast.wire.legible_answer import legible_answer_id

__all__ = ["UnreadableAnswer", "recognize"]


class UnreadableAnswer(NamedTuple):
    """The answer to the host's own request `id`, and what is to be told in its place."""

    id: int
    problem: Fault


def recognize(error: WireError, frame: bytes = b"") -> UnreadableAnswer | None:
    """What can be said about something that is no readable message; None if it may be anything."""
    too_long = isinstance(error, TooLongError)
    ends = (error.head, error.tail) if isinstance(error, TooLongError) else (frame, None)
    found = legible_answer_id(*ends)
    if found is None:
        return None
    if too_long:
        hint = "Ask for less: narrow the request or page through it."
        problem = fault("RESULT_TOO_LARGE", f"the server has answered, but {error.message}", hint=hint)
    else:
        text = f"the server has answered with something that is no message: {error.message}"
        problem = fault("INTERNAL", text, fault_class=FaultClass.PROTOCOL)
    return UnreadableAnswer(found, problem)
