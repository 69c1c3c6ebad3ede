"""The sessions of all clients: begun, found, and ended, by their clients or because nobody uses them any more.

Their number is bounded. Where there is no room, the session that has been quiet the longest makes it, if one has
been quiet for a while; its client is told 404 and begins another, as the protocol has it.
"""

import asyncio
import secrets
from typing import Any

from holdfast.api.allowance import Allowances
from holdfast.api.callers import Caller
from holdfast.api.envelope import refusal
from holdfast.api.link import HostLink
from holdfast.api.mcp.listening import Listening
from holdfast.api.mcp.scope import Gate
from holdfast.api.mcp.session import McpSession
from holdfast.api.options import FrontOptions
from holdfast.present.handshake_session import HandshakeSession

__all__ = ["Sessions"]

QUIET = 60.0  # seconds after which a session may have to make room for another
_LOOKS = 4  # how often sessions are looked at in the time after which they are over


class Sessions:
    """All sessions of one front."""

    def __init__(
        self, options: FrontOptions, link: HostLink, allowances: Allowances, gate: Gate | None = None
    ) -> None:
        self._idle = options.session_idle
        self._most = options.max_sessions
        self._pinned = options.pinned
        self._link = link
        self._allowances = allowances
        self._gate = gate
        self._listening = Listening(link, allowances)
        self._sessions: dict[str, McpSession] = {}
        self._timer: asyncio.TimerHandle | None = None

    def __len__(self) -> int:
        """How many there are."""
        return len(self._sessions)

    def begin(self, caller: Caller, discovered: dict[str, Any], introduced: dict[str, Any]) -> McpSession:
        """A new session; HttpError where there is no room for it."""
        self._make_room(caller)
        translation = HandshakeSession(discovered, introduced, pinned=self._pinned)
        number = secrets.token_urlsafe(24)
        session = McpSession(number, caller, self._link, self._listening, translation, self._gate)
        session.used_at = self._now()
        self._sessions[number] = session
        self._allowances.session(caller, 1)
        if self._timer is None:
            self._look_again()
        return session

    def find(self, session_id: str, caller: Caller) -> McpSession:
        """The session of that id; one of somebody else is as unknown as one that never was."""
        session = self._sessions.get(session_id)
        if session is None or session.caller.key != caller.key:
            raise refusal("NOT_FOUND", "there is no such session", hint="Begin one with `initialize`.")
        session.used_at = self._now()
        return session

    def end(self, session: McpSession) -> None:
        """End a session and everything that is open in it."""
        if self._sessions.pop(session.id, None) is not None:
            self._allowances.session(session.caller, -1)
            session.close()

    def end_streams(self) -> None:
        """End the stream of each, since the front is about to end; what was asked is still answered."""
        for session in self._sessions.values():
            session.stream.close()

    def _make_room(self, caller: Caller) -> None:
        if not self._allowances.has_room_for_session(caller) and not self._drop_quiet(caller):
            raise self._allowances.sessions_refused(caller)
        if len(self._sessions) >= self._most and not self._drop_quiet(None):
            raise refusal(
                "QUEUE_OVERLOADED",
                "there are as many sessions as this server takes",
                details={"queue": {"max": self._most, "size": len(self._sessions)}},
            )

    def _drop_quiet(self, caller: Caller | None) -> bool:
        latest = self._now() - min(QUIET, self._idle)
        quiet = [
            session
            for session in self._sessions.values()
            if session.is_idle and session.used_at <= latest and (caller is None or session.caller == caller)
        ]
        if quiet:
            self.end(min(quiet, key=lambda session: session.used_at))
        return bool(quiet)

    def _look_again(self) -> None:
        for session in list(self._sessions.values()):
            if not session.is_idle:
                session.used_at = self._now()
            elif self._now() - session.used_at > self._idle:
                self.end(session)
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(self._idle / _LOOKS, self._look_again) if self._sessions else None

    @staticmethod
    def _now() -> float:
        return asyncio.get_running_loop().time()
