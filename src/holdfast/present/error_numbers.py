"""The JSON-RPC numbers of errors that stand between a client and its server: of the host, and of its HTTP front.

What an error means says its code, a word. The number follows from it, and from the era: since 2026-07-28 the old
range belongs to the protocol itself.
"""

from holdfast.wire.envelope import INTERNAL_ERROR, INVALID_PARAMS, INVALID_REQUEST

__all__ = ["HANDSHAKE_NUMBERS", "host_error_number"]

_NUMBERS = {
    "QUEUE_OVERLOADED": 1,
    "FORBIDDEN": 3,
    "RATE_LIMITED": 4,
    "WORKER_LOST": 10,
    "AMBIGUOUS_OUTCOME": 11,
    "REPLAY_EXHAUSTED": 12,
    "ROLLOUT_DISRUPTED": 13,
    "NOT_READY": 14,
    "STATE_LOST": 15,
    "QUARANTINED": 16,
}
_STANDARD = {"INVALID_REQUEST": INVALID_REQUEST, "NOT_FOUND": INVALID_PARAMS}
# The number in the newer era -> that in the older one.
HANDSHAKE_NUMBERS = {1000 + number: -32000 - number for number in _NUMBERS.values()}


def host_error_number(code: str, *, modern: bool) -> int:
    """The JSON-RPC error number of a code."""
    number = _NUMBERS.get(code)
    if number is None:
        return _STANDARD.get(code, INTERNAL_ERROR)
    return 1000 + number if modern else -32000 - number
