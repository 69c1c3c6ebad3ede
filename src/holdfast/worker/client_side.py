"""What a session knows of its client: what it can be asked, how much it wants to hear, what it was asked.

From here each request gets its way to the client: with questions, and with its log.
"""

import asyncio
from typing import Any, Protocol

from holdfast.errors import WireError
from holdfast.present.eras import LEVELS, META_LOG_LEVEL
from holdfast.present.profile import META_CAPABILITIES, Profile
from holdfast.settings import Settings
from holdfast.vocabulary.meta import META_PRINCIPAL
from holdfast.wire.envelope import INVALID_PARAMS, METHOD_NOT_FOUND, Request, Response, notification_message
from holdfast.worker.asking import Asking, ByRequest, ByResult, Clock
from holdfast.worker.client_log import SILENT, ClientLog
from holdfast.worker.open_questions import OpenQuestions
from holdfast.worker.registry import Registry
from holdfast.worker.request_state import Sealer, StateRefusedError, Subject

__all__ = ["ClientSide"]


class _Outlet(Protocol):
    def send(self, message: Any) -> None: ...
    def send_alone(self, message: Any) -> None: ...


class ClientSide:
    """The client of one session, as far as calls of it want something of it."""

    def __init__(self, server: Registry, settings: Settings, clock: Clock, outlet: _Outlet) -> None:
        self._server = server
        self._settings = settings
        self._clock = clock
        self._outlet = outlet
        self._open = OpenQuestions(outlet.send)
        self._capabilities: dict[str, Any] = {}
        self._level: str | None = None
        self._sealer: Sealer | None = None
        self._time = asyncio.get_running_loop().time

    # --- what it says ------------------------------------------------------------------------------------------

    def introduced(self, capabilities: object) -> None:
        """The handshake has told what the client can do."""
        self._capabilities = capabilities if isinstance(capabilities, dict) else {}

    def take(self, response: Response) -> bool:
        """Whether an answer of the client was to a question of ours."""
        return self._open.take(response)

    def input_ended(self) -> None:
        """The client says nothing more."""
        self._open.close()

    def set_level(self, request: Request) -> None:
        """The client says how much it wants to hear; WireError where that means nothing."""
        if not self._server.logs:
            text = "this server has no log for clients"
            raise WireError(METHOD_NOT_FOUND, text, request_id=request.id)
        level = request.params.get("level")
        if not isinstance(level, str) or level not in LEVELS:
            text = f"the level is not one of {', '.join(LEVELS)}"
            raise WireError(INVALID_PARAMS, text, request_id=request.id)
        self._level = level

    # --- what a request can say to it --------------------------------------------------------------------------

    def log(self, request: Request, profile: Profile) -> ClientLog:
        """The log of the client for what is run for this request."""
        if not self._server.logs:
            return SILENT
        if profile.self_describing:
            level = _meta(request).get(META_LOG_LEVEL)
            if not isinstance(level, str) or level not in LEVELS:
                return SILENT
            return self._log(request, lambda: level)
        return self._log(request, lambda: self._level)

    def _log(self, request: Request, level: Any) -> ClientLog:
        return ClientLog(self._send_log, level, request.id, self._settings.client_log_rate, self._time)

    def _send_log(self, params: dict[str, Any]) -> None:
        self._outlet.send_alone(notification_message("notifications/message", params))

    def asking(self, request: Request, profile: Profile) -> Asking:
        """The way in which what is run for this request asks; WireError for input that cannot be gone on with."""
        if not profile.self_describing:
            timeout = self._settings.answer_timeout
            return ByRequest(self._open, profile, self._capabilities, request.id, self._clock, timeout)
        meta = _meta(request)
        given, state = request.params.get("inputResponses"), request.params.get("requestState")
        if given is not None and not isinstance(given, dict):
            raise WireError(INVALID_PARAMS, "inputResponses must be an object", request_id=request.id)
        if state is not None and not isinstance(state, str):
            raise WireError(INVALID_PARAMS, "requestState must be a string", request_id=request.id)
        subject = Subject.of(request.method, request.params, meta.get(META_PRINCIPAL))
        sealer = self._sealing()
        try:
            kept = {} if state is None else sealer.open(state, subject)
        except StateRefusedError as error:
            raise WireError(INVALID_PARAMS, str(error), request_id=request.id) from error
        return ByResult(
            profile,
            meta[META_CAPABILITIES],
            given or {},
            kept,
            lambda answers: sealer.seal(subject, answers),
            is_repeated=given is not None or state is not None,
        )

    def _sealing(self) -> Sealer:
        if self._sealer is None:
            settings = self._settings
            self._sealer = Sealer(settings.state_path(), self._server.name, settings.input_ttl)
        return self._sealer


def _meta(request: Request) -> dict[str, Any]:
    meta = request.params.get("_meta")
    return meta if isinstance(meta, dict) else {}
