"""Request ids, kept exactly: 1 and "1" are two ids; true, 1.0 and null are none.

`match_cancellation` is the one place where ids are compared as text, because clients cancel `"1"` when they
mean `1`.
"""

from collections.abc import Container

__all__ = ["CLIENT_END", "OWN_QUESTION", "RequestId", "is_request_id", "match_cancellation"]

OWN_QUESTION = "own-"  # in the id of a request that the HTTP front makes for itself, behind its prefix

CLIENT_END = "~"  # in such an id, behind the name that the front has given to one of its clients

RequestId = int | str


def is_request_id(value: object) -> bool:
    """Whether a decoded JSON value may identify a request: a string or an integer, never a boolean."""
    return type(value) is str or type(value) is int


def match_cancellation(wanted: object, in_flight: Container[RequestId]) -> RequestId | None:
    """The id in flight that a cancellation of `wanted` means, or None.

    The exact id wins. Otherwise the other spelling of the same text is tried; since an id has only two
    spellings, at most one other entry can match.
    """
    if type(wanted) is int:
        return wanted if wanted in in_flight else _present(str(wanted), in_flight)
    if type(wanted) is not str:
        return None
    if wanted in in_flight:
        return wanted
    return _present(_as_integer(wanted), in_flight)


def _present(candidate: RequestId | None, in_flight: Container[RequestId]) -> RequestId | None:
    return candidate if candidate is not None and candidate in in_flight else None


def _as_integer(text: str) -> int | None:
    digits = text.removeprefix("-")
    if not (digits.isascii() and digits.isdigit() and len(digits) <= 4000):
        return None
    number = int(text)
    return number if str(number) == text else None  # "01" is not the text of any integer id
