"""The methods of a session that are about anything but tools, and which of them a server has."""

from collections.abc import Callable
from typing import Any

from holdfast.observe.sink import EventSink
from holdfast.present.profile import Profile, shape_result
from holdfast.settings import Settings
from holdfast.vocabulary.faults import fault
from holdfast.wire.envelope import Request, result_message
from holdfast.worker.answer import Answer
from holdfast.worker.calls import CallTable
from holdfast.worker.client_side import ClientSide
from holdfast.worker.completion import admit_completion
from holdfast.worker.listening import MAX_WATCHED, Listening
from holdfast.worker.listing import LISTS, Listing
from holdfast.worker.offer_call import Asked, refuse
from holdfast.worker.prompts import admit_prompt
from holdfast.worker.registry import Registry
from holdfast.worker.resources import admit_read, find_or_refuse

__all__ = ["OfferMethods"]

Reply = Callable[[dict[str, Any] | None], None]
Handler = Callable[[Request, Profile, Reply], None]
Answerer = Callable[[Request, Reply], Callable[[Answer], None]]

# By method: the capability without which a server does not know it.
_NEEDS = {
    "prompts/list": "prompts",
    "prompts/get": "prompts",
    "resources/list": "resources",
    "resources/templates/list": "resources",
    "resources/read": "resources",
    "completion/complete": "completions",
}
_SUBSCRIBING = frozenset({"resources/subscribe", "resources/unsubscribe"})


class OfferMethods:
    """The handlers for one session, by method: `handshake` for the older era, `modern` for the newer."""

    def __init__(
        self,
        server: Registry,
        calls: CallTable,
        settings: Settings,
        log: EventSink,
        listening: Listening,
        client: ClientSide,
        answerer: Answerer,
        send_progress: Callable[[dict[str, Any]], None],
    ) -> None:
        self._server = server
        self._calls = calls
        self._settings = settings
        self._log = log
        self._listening = listening
        self._client = client
        self._answerer = answerer
        self._send_progress = send_progress
        self._listing = Listing(server, settings)
        both: dict[str, Handler] = dict.fromkeys(LISTS, self._list)
        both["prompts/get"] = self._admitted(admit_prompt)
        both["resources/read"] = self._admitted(admit_read)
        both["completion/complete"] = self._admitted(admit_completion)
        self.handshake: dict[str, Handler] = {
            **both,
            "resources/subscribe": self._subscribe,
            "resources/unsubscribe": self._subscribe,
        }
        self.modern: dict[str, Handler] = {**both, "subscriptions/listen": self._listen}

    def is_offered(self, method: str) -> bool:
        """Whether the server has what a method is about; true for methods that are not of this kind."""
        needed = _NEEDS.get(method)
        if needed is not None:
            return needed in self._server.capabilities()
        if method in _SUBSCRIBING:
            return self._server.capabilities().get("resources", {}).get("subscribe") is True
        if method == "subscriptions/listen":
            return self._server.tells_changes()
        return True

    def _asked(self, request: Request, profile: Profile, reply: Reply) -> Asked:
        return Asked(
            self._server,
            self._calls,
            self._settings,
            self._log,
            request,
            profile,
            self._answerer(request, reply),
            self._send_progress,
            self._client.asking(request, profile),
            self._client.log(request, profile),
        )

    def _admitted(self, admit: Callable[[Asked], None]) -> Handler:
        return lambda request, profile, reply: admit(self._asked(request, profile, reply))

    def _list(self, request: Request, profile: Profile, reply: Reply) -> None:
        reply(result_message(request.id, self._listing.page(request, profile)))

    def _subscribe(self, request: Request, profile: Profile, reply: Reply) -> None:
        asked = self._asked(request, profile, reply)
        uri = request.params.get("uri")
        if request.method == "resources/unsubscribe" and isinstance(uri, str):
            self._listening.unwatch(uri)  # also what is gone meanwhile
        else:
            found = find_or_refuse(asked)
            if found is None:
                return
            name, about = str(found.resource.contract.name), {"uri": str(uri)[:400]}
            if not found.resource.contract.subscribable:
                problem = fault("INVALID_REQUEST", f"{name} cannot be subscribed to")
                refuse(asked, name, problem, about)
                return
            if not self._listening.watch(str(uri)):
                problem = fault("QUEUE_OVERLOADED", f"{MAX_WATCHED} resources are watched already")
                refuse(asked, name, problem, about)
                return
        reply(result_message(request.id, shape_result({}, profile, self._server.server_info)))

    def _listen(self, request: Request, profile: Profile, reply: Reply) -> None:
        self._listening.listen(request, profile)
        reply(None)  # nothing waits for the end of a stream, which is told on its own
