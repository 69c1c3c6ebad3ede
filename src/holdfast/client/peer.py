"""What a server says about itself and about a request that it refuses, read with distrust."""

from dataclasses import dataclass, field
from typing import Any

from holdfast.errors import SessionError
from holdfast.present.profile import META_SERVER_INFO

__all__ = [
    "PeerEndedError",
    "PeerError",
    "PeerInfo",
    "PeerLostError",
    "PeerSilentError",
    "checked_tools",
    "introduced",
]


@dataclass(frozen=True, slots=True)
class PeerInfo:
    """Who answered when the session was opened."""

    revision: str = ""
    name: str = ""
    version: str = ""
    instructions: str = ""
    capabilities: dict[str, Any] = field(default_factory=dict)


class PeerError(SessionError):
    """The server answered a request with a JSON-RPC error."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message or f"error {code}")
        self.code = code
        self.message = message
        self.data = data

    @classmethod
    def from_wire(cls, error: dict[str, Any]) -> "PeerError":
        """From the `error` member of a response."""
        return cls(error["code"], error["message"], error.get("data"))

    def to_wire(self) -> dict[str, Any]:
        """The `error` member again."""
        error: dict[str, Any] = {"code": self.code, "message": self.message}
        return error if self.data is None else {**error, "data": self.data}

    @property
    def violations(self) -> list[str]:
        """Each violation of a refused call in words, with its place; empty for other errors."""
        details = self.data.get("details") if isinstance(self.data, dict) else None
        found = details if isinstance(details, list) else []
        return [
            f"{item.get('instancePath') or '/'}: {item.get('message', '')}"
            for item in found
            if isinstance(item, dict)
        ]


class PeerLostError(SessionError):
    """There is no server any more, or never was one, at the other end."""


class PeerEndedError(PeerLostError):
    """The program that was the server ended; `last_words` is what its stderr says of the reason."""

    def __init__(self, reason: str, last_words: str = "") -> None:
        super().__init__(f"{reason}; its last words: {last_words}" if last_words else reason)
        self.reason = reason
        self.last_words = last_words

    def before_answering(self, method: str) -> "PeerEndedError":
        """The same end, for whoever waited for the answer to this request."""
        return PeerEndedError(f"{self.reason} before it answered {method}", self.last_words)


class PeerSilentError(SessionError):
    """The server did not answer in time; the request was cancelled."""


def introduced(revision: str, result: dict[str, Any]) -> PeerInfo:
    """The peer of a session that was opened with this result."""
    info = result.get("serverInfo") or _object(result.get("_meta")).get(META_SERVER_INFO)
    info = _object(info)
    return PeerInfo(
        revision=revision,
        name=str(info.get("name", "")),
        version=str(info.get("version", "")),
        instructions=str(result.get("instructions") or ""),
        capabilities=_object(result.get("capabilities")),
    )


def checked_tools(page: dict[str, Any]) -> list[dict[str, Any]]:
    """The tools of one page; a SessionError where they are not tools."""
    tools = page.get("tools")
    if not isinstance(tools, list):
        raise SessionError("the server's list of tools is not a list")
    for tool in tools:
        if not isinstance(tool, dict) or not isinstance(tool.get("name"), str):
            raise SessionError("the server lists a tool without a name")
    return tools


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
