"""What the client of a session is told of its streams: one acknowledgement each, which says what the host adds.

A stream that was moved to another worker is acknowledged there again; the client has heard that. And whether or
not a worker tells that its tools have changed, the host does when it replaces the worker.
"""

from typing import Any

from holdfast.host.bounded_output import encoded
from holdfast.present.profile import META_SUBSCRIPTION
from holdfast.vocabulary.ids import RequestId, is_request_id
from holdfast.wire.codec import RELAY_DEPTH, decode
from holdfast.wire.envelope import Request

__all__ = ["LISTEN", "ListenStreams"]

LISTEN = "subscriptions/listen"
MAX_STREAMS = 1_000  # that are remembered; of others the client may hear twice
_ACKNOWLEDGED = "notifications/subscriptions/acknowledged"
_MARK = _ACKNOWLEDGED.encode()
_TOOLS = "toolsListChanged"


class ListenStreams:
    """The streams of one session, from the request to its answer."""

    def __init__(self) -> None:
        self._wants_tools: dict[RequestId, bool] = {}  # not acknowledged yet
        self._acknowledged: dict[RequestId, None] = {}

    def opened(self, request: Request) -> None:
        """The client wants to listen."""
        self.ended(request.id)  # an id may be used again after a cancellation, which nobody answers
        wanted = request.params.get("notifications")
        _keep(self._wants_tools, request.id, isinstance(wanted, dict) and wanted.get(_TOOLS) is True)

    def ended(self, request_id: RequestId | None) -> None:
        """The request is answered."""
        if request_id is not None:
            self._wants_tools.pop(request_id, None)
            self._acknowledged.pop(request_id, None)

    def answered(self, request_id: RequestId, payload: bytes) -> bytes:
        """The end of a stream: its result carries the id that the client knows, not the number of the attempt."""
        self.ended(request_id)
        message = decode(payload, max_depth=RELAY_DEPTH, halves="kept")
        result = _object(_object(message).get("result"))
        meta = _object(result.get("_meta"))
        if META_SUBSCRIPTION not in meta:
            return payload
        return encoded({**message, "result": {**result, "_meta": {**meta, META_SUBSCRIPTION: request_id}}})

    def told(self, payload: bytes) -> bytes:
        """What the client gets in place of a message that answers nothing; no bytes where it has heard it."""
        if _MARK not in payload:
            return payload
        message = decode(payload, max_depth=RELAY_DEPTH, halves="kept")
        params = _object(_object(message).get("params"))
        number = _object(params.get("_meta")).get(META_SUBSCRIPTION)
        if _object(message).get("method") != _ACKNOWLEDGED or not is_request_id(number):
            return payload
        return self._first(payload, message, params, number)  # type: ignore[arg-type]

    def _first(self, payload: bytes, message: dict[str, Any], params: dict[str, Any], number: RequestId) -> bytes:
        if number in self._acknowledged:
            return b""
        wants_tools = self._wants_tools.pop(number, None)
        if wants_tools is None:
            return payload
        _keep(self._acknowledged, number, None)
        kept = params.get("notifications")
        if not wants_tools or not isinstance(kept, dict) or kept.get(_TOOLS) is True:
            return payload
        return encoded({**message, "params": {**params, "notifications": {**kept, _TOOLS: True}}})


def _keep(places: dict[RequestId, Any], number: RequestId, value: Any) -> None:
    places[number] = value
    while len(places) > MAX_STREAMS:
        del places[next(iter(places))]


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
