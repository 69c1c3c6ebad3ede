"""One MCP session: every message in, and what it is answered with, for both eras of the protocol.

The session is fed frames and hands out messages; it owns no pipe. The modes on stdio, the tests in memory and
the command line all drive this same object. Nothing that a client sends raises out of `receive`, and every
request is answered or, where the protocol wants silence, deliberately not.
"""

import os
from collections.abc import Callable, Iterator
from typing import Any, Protocol

from holdfast.errors import WireError
from holdfast.observe.sink import EventSink
from holdfast.present.profile import (
    META_CAPABILITIES,
    META_REVISION,
    MODERN,
    Profile,
    negotiate,
    profile_for,
    shape_list,
)
from holdfast.process.command import MARKER
from holdfast.settings import Settings
from holdfast.vocabulary.call import Stop
from holdfast.vocabulary.events import MessageRejected
from holdfast.vocabulary.ids import RequestId, is_request_id
from holdfast.vocabulary.meta import STUCK_WORK
from holdfast.wire.codec import decode, encode
from holdfast.wire.envelope import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    Notification,
    Request,
    Response,
    error_message,
    notification_message,
    parse,
    result_message,
)
from holdfast.worker.answer import Answer, ProtocolError, error_data
from holdfast.worker.calls import CallTable
from holdfast.worker.client_side import ClientSide
from holdfast.worker.context import NO_STATE
from holdfast.worker.faults import record_fault
from holdfast.worker.listening import Listening
from holdfast.worker.offer_methods import OfferMethods
from holdfast.worker.registry import Registry
from holdfast.worker.tool_call import admit_call, quoted

__all__ = ["DirectOutlet", "Outlet", "Session"]

Reply = Callable[[dict[str, Any] | None], None]  # None: this request gets no answer

UNSUPPORTED_REVISION = -32022


class Outlet(Protocol):
    """Where the messages of a session go."""

    def send(self, message: Any) -> None:
        """Send one message, soon."""

    def send_alone(self, message: Any) -> None:
        """Send one message that may be dropped and should not share a read with the next."""

    def flush(self) -> None:
        """Nothing more is coming in this turn of the loop."""


class DirectOutlet:
    """An outlet into the same process: messages go to a function, and the event log is flushed in its own time."""

    def __init__(
        self, log: EventSink, send: Callable[[Any], None], send_alone: Callable[[Any], None] | None = None
    ) -> None:
        self.send = send
        self.send_alone = send_alone or send
        self.flush = log.flush


class Session:
    """The protocol state of one client: which revision it speaks, and its calls in flight."""

    def __init__(
        self,
        server: Registry,
        settings: Settings,
        log: EventSink,
        outlet: Outlet,
        *,
        legacy_framing: bool = False,
        state: Any = NO_STATE,
    ) -> None:
        self.server = server
        self.settings = settings
        self.calls = CallTable(settings, log, state, self._report_stuck if MARKER in os.environ else None)
        self.listening = Listening(server, outlet.send)
        self._client = ClientSide(server, settings, self.calls, outlet)
        self._offers = OfferMethods(
            server, self.calls, settings, log, self.listening, self._client, self._answerer, self._progress
        )
        self._log = log
        self._outlet = outlet
        self._legacy = legacy_framing
        self._pinned = server.is_pinned(settings)
        self._profile: Profile | None = None
        self._current: RequestId | None = None  # the request that is being read
        self._handshake_methods: dict[str, Callable[[Request, Profile, Reply], None]] = {
            **self._offers.handshake,
            "ping": self._ping,
            "logging/setLevel": self._set_level,
            "tools/call": self._call_tool,
        }
        self._modern_methods: dict[str, Callable[[Request, Profile, Reply], None]] = {
            **self._offers.modern,
            "server/discover": self._discover,
            "tools/call": self._call_tool,
        }

    # --- input -----------------------------------------------------------------------------------------------

    def receive(self, frame: bytes | WireError) -> None:
        """Take one frame from the client, whatever it is."""
        try:
            if isinstance(frame, WireError):
                raise frame
            document = decode(frame, max_depth=self.settings.max_depth)
            if isinstance(document, list):
                self._receive_batch(document)
            else:
                self._receive_one(document, self._reply)
        except WireError as error:
            self._reject(error, self._reply)
        except BaseException as error:  # noqa: BLE001 - code of the author's own runs in here: validators
            self._fail(error, self._reply)

    def _receive_one(self, document: Any, reply: Reply) -> None:
        self._current = None
        message = parse(document)
        if isinstance(message, Request):
            self._current = message.id
            self._receive_request(message, reply)
        elif isinstance(message, Notification):
            self._receive_notification(message)
        elif not self._client.take(message):
            self.calls.late += 1  # nobody waits for this answer, or not any more

    def _receive_batch(self, documents: list[Any]) -> None:
        if self._profile is None or not self._profile.accepts_batches:
            raise WireError(INVALID_REQUEST, "batches exist only in sessions of protocol revision 2025-03-26")
        if not documents:
            raise WireError(INVALID_REQUEST, "an empty batch holds no request")
        batch = _Batch(documents, self._outlet.send, self.settings.max_message_bytes)
        for document in documents:
            try:
                self._receive_one(document, batch.reply)
            except WireError as error:
                self._reject(error, batch.reply)
            except BaseException as error:  # noqa: BLE001 - as above, and the rest of the batch must go on
                self._fail(error, batch.reply)

    def _receive_request(self, request: Request, reply: Reply) -> None:
        if self.calls.is_in_flight(request.id) or self.listening.is_open(request.id):
            raise WireError(
                INVALID_REQUEST, f"request id {quoted(request.id)} is still in flight", request_id=request.id
            )
        if request.method == "initialize":
            self._initialize(request, reply)
            return
        meta = request.params.get("_meta")
        profile: Profile | None
        if request.method == "server/discover" or (isinstance(meta, dict) and META_REVISION in meta):
            profile = self._modern_profile(request, meta)
            methods = self._modern_methods
        else:
            profile = self._profile
            methods = self._handshake_methods
        method = methods.get(request.method)
        if method is None or not self._offers.is_offered(request.method):
            raise WireError(METHOD_NOT_FOUND, f"unknown method {quoted(request.method)}", request_id=request.id)
        if profile is None:
            if request.method != "ping":
                raise WireError(
                    INVALID_REQUEST,
                    f"{quoted(request.method)} before the handshake: send `initialize` first, or describe the "
                    f"request in its _meta ({META_REVISION})",
                    request_id=request.id,
                )
            profile = profile_for(negotiate(None, pinned=self._pinned), legacy_framing=self._legacy)
        method(request, profile, reply)

    def _receive_notification(self, note: Notification) -> None:
        if note.method == "$/cancelRequest":
            self._cancel(note.params.get("id"), Stop.CANCEL_REQUEST)
        elif note.method == "notifications/cancelled":
            self._cancel(note.params.get("requestId"), Stop.CANCELLED_NOTIFICATION)

    def _cancel(self, wanted: Any, why: Stop) -> None:
        is_call = is_request_id(wanted) and self.calls.is_in_flight(wanted)
        if is_call or not self.listening.cancel(wanted, answered=why.answered):
            self.calls.cancel(wanted, why)

    def input_ended(self) -> None:
        """The client says nothing more: what it was asked will not be answered."""
        self._client.input_ended()

    # --- output ----------------------------------------------------------------------------------------------

    def _reply(self, message: dict[str, Any] | None) -> None:
        if message is not None:
            self._outlet.send(message)

    def _reject(self, error: WireError, reply: Reply) -> None:
        self._log.emit(MessageRejected(error.jsonrpc_code, error.message))
        reply(error_message(error.request_id, error.jsonrpc_code, error.message, error.data))

    def _fail(self, error: BaseException, reply: Reply) -> None:
        """An unexpected error before a request became a call: answer the request, if it was one."""
        problem = record_fault(error, self._log)
        if self._current is not None:
            reply(error_message(self._current, INTERNAL_ERROR, problem.message, error_data(problem)))

    def _progress(self, params: dict[str, Any]) -> None:
        self._outlet.send_alone(notification_message("notifications/progress", params))

    def _report_stuck(self, count: int) -> None:
        """Ask the host for a fresh process: threads of stopped calls go on, and nothing else ends them."""
        self._outlet.send(notification_message(STUCK_WORK, {"count": count}))

    # --- methods ---------------------------------------------------------------------------------------------

    def _initialize(self, request: Request, reply: Reply) -> None:
        if self._profile is not None:
            raise WireError(INVALID_REQUEST, "the session is already initialized", request_id=request.id)
        requested = request.params.get("protocolVersion")
        if not isinstance(requested, str):
            raise _params_error(request.id, "initialize needs a protocolVersion")
        revision = negotiate(requested, pinned=self._pinned)
        self._profile = profile_for(revision, legacy_framing=self._legacy, pinned=self._pinned)
        self.listening.shook_hands()
        self._client.introduced(request.params.get("capabilities"))
        reply(result_message(request.id, self.server.initialize_result(self._profile)))

    def _modern_profile(self, request: Request, meta: Any) -> Profile:
        """The profile of a request that describes itself, or the protocol error that it deserves."""
        if not isinstance(meta, dict) or META_REVISION not in meta:
            raise _params_error(request.id, f"_meta needs {META_REVISION}")
        revision = meta[META_REVISION]
        if not isinstance(revision, str):
            raise _params_error(request.id, f"{META_REVISION} must be a string")
        if revision != MODERN:
            raise WireError(
                UNSUPPORTED_REVISION,
                f"unsupported protocol revision {quoted(revision)}",
                request_id=request.id,
                data={"supported": [MODERN], "requested": revision[:64]},
            )
        if not isinstance(meta.get(META_CAPABILITIES), dict):
            raise _params_error(request.id, f"_meta needs {META_CAPABILITIES}")
        return profile_for(MODERN, legacy_framing=self._legacy)

    def _ping(self, request: Request, profile: Profile, reply: Reply) -> None:  # noqa: ARG002
        reply(result_message(request.id, {}))

    def _set_level(self, request: Request, profile: Profile, reply: Reply) -> None:  # noqa: ARG002
        self._client.set_level(request)
        reply(result_message(request.id, {}))

    def _discover(self, request: Request, profile: Profile, reply: Reply) -> None:
        info = self.server.introduction(profile)
        reply(result_message(request.id, shape_list(self.server.discover_result(), profile, info)))

    def _answerer(self, request: Request, reply: Reply) -> Callable[[Answer], None]:
        """What sends the one answer to a call."""

        def answer(outcome: Answer) -> None:
            if outcome is None:
                reply(None)
            elif isinstance(outcome, ProtocolError):
                reply(error_message(request.id, outcome.code, outcome.message, outcome.data))
            else:
                reply(result_message(request.id, outcome.result))
            if outcome is None or self.calls.is_idle:
                # Nothing else is sent in this turn that would take the records of the event log along.
                self._outlet.flush()

        return answer

    def _call_tool(self, request: Request, profile: Profile, reply: Reply) -> None:
        admit_call(
            self.server,
            self.calls,
            self.settings,
            self._log,
            request.id,
            request.params,
            profile,
            self._answerer(request, reply),
            self._progress,
            self._client.asking(request, profile),
            self._client.log(request, profile),
        )


class _Batch:
    """Collects the answers to a batch and sends them when the last is there, as one array if that can be sent."""

    def __init__(self, documents: list[Any], send: Callable[[Any], None], max_bytes: int) -> None:
        # A document that is no notification is owed an answer, if only an error.
        self._owed = sum(not _is_notification(document) for document in documents)
        self._answers: list[dict[str, Any]] = []
        self._send = send
        self._max_bytes = max_bytes

    def reply(self, message: dict[str, Any] | None) -> None:
        self._owed -= 1
        if message is not None:
            self._answers.append(message)
        if self._owed <= 0 and self._answers:
            for part in self._parts():
                self._send(part)

    def _parts(self) -> Iterator[list[dict[str, Any]]]:
        """The answers in arrays that each fit into a message; together they may be larger than one may be."""
        part: list[dict[str, Any]] = []
        size = 0
        for answer in self._answers:
            length = len(encode(answer)) + 1
            if part and size + length > self._max_bytes - 2:
                yield part
                part, size = [], 0
            part.append(answer)
            size += length
        yield part


def _is_notification(document: Any) -> bool:
    try:
        return isinstance(parse(document), Notification | Response)
    except WireError:
        return False


def _params_error(request_id: RequestId, message: str) -> WireError:
    return WireError(INVALID_PARAMS, message, request_id=request_id)
