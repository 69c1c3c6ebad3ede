"""The id of an answer that cannot be read: found where servers put it, so that whoever waits is told at once.

Not for what may be anything: a line of a log is no answer, although it may have an id. It is an answer where a
result or an error stands beside the version and the id of a message, and nothing in front of them.
"""

import re
from itertools import islice

from holdfast.errors import WireError
from holdfast.wire.codec import RELAY_DEPTH, decode
from holdfast.wire.envelope import Response, parse
from holdfast.wire.legible import ENDS_KEPT

__all__ = ["answer_behind_text", "legible_answer_id"]

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
# Where an answer may begin behind text that was printed without a newline; few, since each is tried by parsing.
_BEGINNING = re.compile(rb'\{\s*"(?:jsonrpc|id|result|error)"\s*:')
_BEGINNINGS_TRIED = 4


def answer_behind_text(line: bytes) -> tuple[bytes, bytes, Response] | None:
    """Split a line into the text that a server printed without a newline and the answer behind it.

    Only answers: a request or a notification in such a line may be the quotation of one in a log.
    """
    if not line.rstrip().endswith(b"}"):
        return None
    for found in islice(_BEGINNING.finditer(line), _BEGINNINGS_TRIED):
        text, rest = line[: found.start()], line[found.start() :]
        try:
            message = parse(decode(rest, max_depth=RELAY_DEPTH, halves="replaced"))
        except WireError:
            continue
        if text.strip() and isinstance(message, Response):
            return text, rest, message
    return None


def legible_answer_id(head: bytes, tail: bytes | None = None) -> int | None:
    """The numeric id of an answer, of which the whole or only the two ends are at hand; None where in doubt."""
    found = _ID_IN_FRONT.match(head)
    if found is None and _BODY_IN_FRONT.match(head):
        found = _ID_AT_END.search(head[-ENDS_KEPT:] if tail is None else tail)
    return None if found is None else int(found[1])
