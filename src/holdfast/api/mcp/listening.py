"""The streams that sessions share: one `subscriptions/listen` at the host for each thing that any listens for.

A host has only so many places for requests, and a stream holds one for good. One that ends although somebody still
listens is opened again, and so is one for the lists of a server that found no place at first: nobody waits for its
answer, and a session that was begun in a busy moment is told of changes later on.

A stream for a resource takes a place in the worker and, once for each caller that shares it, a part of what that
caller may listen to. Those for lists are few and have places of their own.
"""

import asyncio
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

from holdfast.api.allowance import Allowances
from holdfast.api.callers import Caller
from holdfast.api.link import HostCall, HostLink
from holdfast.vocabulary.faults import Fault
from holdfast.wire.codec import encode
from holdfast.wire.envelope import Notification, Response

__all__ = ["Listener", "Listening"]

ACKNOWLEDGED = "notifications/subscriptions/acknowledged"
REOPEN_AFTER = 2.0  # seconds
_LISTEN = "subscriptions/listen"
_NO_PLACE = "QUEUE_OVERLOADED"


@dataclass(slots=True, eq=False)
class Listener:
    """Somebody who listens; `ended` is told why there is nothing to listen to."""

    hear: Callable[[Notification], None]
    ended: Callable[[Response | Fault], None]
    caller: Caller


@dataclass(slots=True, eq=False)
class _Shared:
    """One stream, from when it was first wanted until nobody listens any more."""

    params: Mapping[str, Any]
    listeners: list[Listener] = field(default_factory=list)
    acknowledged: Notification | None = None
    call: HostCall[Response] | None = None
    timer: asyncio.TimerHandle | None = None
    place: ExitStack = field(default_factory=ExitStack)  # in the worker
    shares: dict[str, ExitStack] = field(default_factory=dict)  # of callers, by their keys

    def give_back(self) -> None:
        """Free what it holds."""
        for held in (self.place, *self.shares.values()):
            held.close()


class Listening:
    """All streams of one front."""

    def __init__(self, link: HostLink, allowances: Allowances) -> None:
        self._link = link
        self._allowances = allowances
        self._shared: dict[bytes, _Shared] = {}

    def join(self, params: Mapping[str, Any], listener: Listener) -> None:
        """Listen for what the parameters of a `subscriptions/listen` name; HttpError where there is no room."""
        key = _key(params)
        shared = self._shared.get(key)
        if shared is None:
            shared = _Shared(params)
            self._hold(shared, listener.caller)
            self._shared[key] = shared
            shared.listeners.append(listener)
            self._open(key, shared)
            return
        self._hold(shared, listener.caller)
        shared.listeners.append(listener)
        if shared.acknowledged is not None:
            asyncio.get_running_loop().call_soon(listener.hear, shared.acknowledged)

    def _hold(self, shared: _Shared, caller: Caller) -> None:
        """Take what a stream for a resource costs this caller, unless it is paid already."""
        if not _resources_of(shared.params) or caller.key in shared.shares:
            return
        with ExitStack() as held:
            held.enter_context(self._allowances.share_of_listening(caller))
            if not shared.shares:
                shared.place.enter_context(self._allowances.place_to_listen())
            shared.shares[caller.key] = held.pop_all()

    def leave(self, listener: Listener) -> None:
        """Listen no more."""
        for key, shared in list(self._shared.items()):
            if listener in shared.listeners:
                shared.listeners.remove(listener)
                key_of_caller = listener.caller.key
                if all(one.caller.key != key_of_caller for one in shared.listeners):
                    shared.shares.pop(key_of_caller, ExitStack()).close()
                if not shared.listeners:
                    self._close(key, shared)

    def _open(self, key: bytes, shared: _Shared) -> None:
        shared.timer = None
        # The lists of a server are listened to for whoever comes: that alone no client has asked for.
        is_own = not _resources_of(shared.params)
        shared.call = self._link.pass_on(
            _LISTEN, shared.params, lambda note: self._heard(shared, note), is_own=is_own
        )
        shared.call.answer.add_done_callback(lambda answer: self._ended(key, shared, answer))

    def _close(self, key: bytes, shared: _Shared) -> None:
        del self._shared[key]
        shared.give_back()
        if shared.timer is not None:
            shared.timer.cancel()
        if shared.call is not None:
            self._link.cancel(shared.call)

    def _heard(self, shared: _Shared, note: Notification) -> None:
        if note.method == ACKNOWLEDGED:
            if shared.acknowledged is not None:
                return  # it was opened again, which nobody noticed
            shared.acknowledged = note
        for listener in list(shared.listeners):
            listener.hear(note)

    def _ended(self, key: bytes, shared: _Shared, answer: "asyncio.Future[Response | Fault]") -> None:
        if answer.cancelled() or self._shared.get(key) is not shared:
            return
        if shared.acknowledged is not None or _can_wait(shared.params, answer.result()):
            shared.timer = asyncio.get_running_loop().call_later(REOPEN_AFTER, self._open, key, shared)
            return
        del self._shared[key]
        shared.give_back()
        for listener in list(shared.listeners):
            listener.ended(answer.result())


def _can_wait(params: Mapping[str, Any], answer: Response | Fault) -> bool:
    """Whether there was no place for a stream that no request of a client depends on."""
    if _resources_of(params):
        return False
    if isinstance(answer, Fault):
        return answer.code == _NO_PLACE
    data = (answer.error or {}).get("data")
    return isinstance(data, Mapping) and data.get("code") == _NO_PLACE


def _resources_of(params: Mapping[str, Any]) -> Any:
    """The resources that a stream is for: those a client has subscribed to."""
    notifications = params.get("notifications")
    return notifications.get("resourceSubscriptions") if isinstance(notifications, Mapping) else None


def _key(params: Mapping[str, Any]) -> bytes:
    """What is listened for; who asks first does not matter."""
    return encode(params.get("notifications"))
