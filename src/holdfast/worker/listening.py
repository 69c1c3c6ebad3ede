"""What a session wants to hear of unasked: lists that change, and resources that change.

Before 2026-07-28 a client that shook hands hears of every list of which the server said that it may change, and of
resources that it subscribed to. Since then it opens streams (`subscriptions/listen`): each says what it is for, is
acknowledged first, and all that is told on it carries its id. A stream ends with its answer.
"""

import asyncio
import contextlib
from collections.abc import Callable
from typing import Any, NamedTuple

from holdfast.errors import WireError
from holdfast.present.eras import LISTENED, acknowledged_filter
from holdfast.present.profile import META_SUBSCRIPTION, Profile, shape_result
from holdfast.vocabulary.ids import RequestId, match_cancellation
from holdfast.wire.envelope import INVALID_PARAMS, Request, notification_message, result_message
from holdfast.worker.registry import Registry

__all__ = ["MAX_STREAMS", "MAX_WATCHED", "Listening"]

MAX_STREAMS = 64  # that one session may hold open
MAX_WATCHED = 1000  # resources that one session, or one stream, may watch
INTERVAL = 0.05  # seconds between two tellings: what changes all the time must not fill the client's pipe
_UPDATED = "notifications/resources/updated"


class _Stream(NamedTuple):
    """One open request: what it is for, and how it is answered."""

    lists: frozenset[str]  # methods of notifications
    uris: frozenset[str]
    profile: Profile


class Listening:
    """The streams and subscriptions of one session."""

    def __init__(self, server: Registry, send: Callable[[Any], None]) -> None:
        self._server = server
        self._send = send
        self._loop = asyncio.get_running_loop()
        self._streams: dict[RequestId, _Stream] = {}
        self._watched: set[str] = set()
        self._hears_lists = False
        self._news: dict[tuple[str, str], None] = {}  # what is to be told: the notification, and the address
        self._next = 0.0  # when something may be told again
        server.changes.follow(self)

    # --- what the client wants -------------------------------------------------------------------------------

    def shook_hands(self) -> None:
        """The client has a session: it hears of lists that change."""
        self._hears_lists = True

    def is_open(self, request_id: RequestId) -> bool:
        """Whether a stream has exactly this id."""
        return request_id in self._streams

    def watch(self, uri: str) -> bool:
        """Tell of changes of a resource; whether there was room for one more."""
        if uri not in self._watched and len(self._watched) >= MAX_WATCHED:
            return False
        self._watched.add(uri)
        return True

    def unwatch(self, uri: str) -> None:
        """Tell of its changes no more."""
        self._watched.discard(uri)

    def listen(self, request: Request, profile: Profile) -> None:
        """Open a stream: acknowledge it first, and answer it when it ends."""
        wanted = request.params.get("notifications")
        if not isinstance(wanted, dict):
            raise WireError(
                INVALID_PARAMS, "subscriptions/listen needs `notifications`: what for", request_id=request.id
            )
        if len(self._streams) >= MAX_STREAMS:
            raise WireError(
                profile.overload_code,
                f"{MAX_STREAMS} streams are open already",
                request_id=request.id,
                data={"code": "QUEUE_OVERLOADED", "retryable": True},
            )
        kept = self._kept(wanted)
        lists = frozenset(note for note, (name, _) in LISTENED.items() if kept.get(name) is True)
        uris = frozenset(kept.get("resourceSubscriptions", ()))
        self._streams[request.id] = _Stream(lists, uris, profile)
        params = {"notifications": kept, "_meta": {META_SUBSCRIPTION: request.id}}
        self._send(notification_message("notifications/subscriptions/acknowledged", params))

    def _kept(self, wanted: dict[str, Any]) -> dict[str, Any]:
        """What of a filter can be told."""
        kept = acknowledged_filter(wanted, self._server.capabilities())
        if "resourceSubscriptions" in kept:
            uris = [uri for uri in kept["resourceSubscriptions"] if self._server.is_subscribable(uri)]
            kept["resourceSubscriptions"] = uris[:MAX_WATCHED]
        return kept

    # --- the end of a stream ---------------------------------------------------------------------------------

    def cancel(self, wanted: object, *, answered: bool) -> bool:
        """End the stream that a cancellation means; whether there is one."""
        request_id = match_cancellation(wanted, self._streams)
        if request_id is None:
            return False
        self._end(request_id, answered=answered)
        return True

    def close(self) -> None:
        """The session ends: every stream is answered, and nothing more is told."""
        self._server.changes.leave(self)
        self._news.clear()
        for request_id in list(self._streams):
            self._end(request_id, answered=True)

    def _end(self, request_id: RequestId, *, answered: bool) -> None:
        stream = self._streams.pop(request_id)
        if answered:
            told = {"_meta": {META_SUBSCRIPTION: request_id}}
            self._send(result_message(request_id, shape_result(told, stream.profile, self._server.server_info)))

    # --- what happened; called from any thread ---------------------------------------------------------------

    def list_changed(self, kind: str) -> None:
        """One of the lists has changed."""
        self._hear(f"notifications/{kind}/list_changed", "")

    def resource_updated(self, uri: str) -> None:
        """What stands under an address has changed."""
        self._hear(_UPDATED, uri)

    def _hear(self, note: str, uri: str) -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed: the session is over
            self._loop.call_soon_threadsafe(self._gather, note, uri)

    def _gather(self, note: str, uri: str) -> None:
        if not self._news:  # what happens at once, and too soon after the last time, is told once
            self._loop.call_at(max(self._next, self._loop.time()), self._tell)
        self._news[note, uri] = None

    def _tell(self) -> None:
        news, self._news = list(self._news), {}
        self._next = self._loop.time() + INTERVAL
        declared = self._server.changes.declared
        for note, uri in news:
            params = {"uri": uri} if note == _UPDATED else {}
            is_wanted = uri in self._watched if note == _UPDATED else note.split("/")[1] in declared
            if self._hears_lists and is_wanted:
                self._send(notification_message(note, params))
            for request_id, stream in self._streams.items():
                if note in stream.lists or (uri and uri in stream.uris):
                    meta = {META_SUBSCRIPTION: request_id}
                    self._send(notification_message(note, {**params, "_meta": meta}))
