"""What a handler of the local services is given and what it gives back; no server and no socket is known here."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from holdfast.errors import HoldfastError, WireError
from holdfast.wire.codec import decode, encode

__all__ = ["JSON", "Handler", "HttpFault", "Reply", "Request", "fault_document"]

JSON = "application/json"


class HttpFault(HoldfastError):  # noqa: N818 - the word that the services use
    """Ends a request with a status and an error document."""

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        *,
        details: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(f"{code}: {message}")
        self.status = status
        self.code = code
        self.message = message
        self.details = dict(details or {})
        self.headers = dict(headers or {})


@dataclass(frozen=True, slots=True)
class Request:
    """One request, read to its end. Names of headers are in small letters; `parameters` come from the path."""

    method: str
    path: str
    query: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    parameters: Mapping[str, str] = field(default_factory=dict)

    def json(self) -> Any:
        """The document that the body is; refused with 415 or 400 where it is none."""
        if JSON not in self.headers.get("content-type", "").lower():
            raise HttpFault(415, "INVALID_REQUEST", "the body must be application/json")
        try:
            return decode(self.body)
        except WireError as error:
            message = error.message.replace("the message", "the body")
            raise HttpFault(400, "INVALID_REQUEST", message) from error


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer: a JSON document, or, under another content type, text or bytes as they are."""

    status: int
    document: Any
    headers: Mapping[str, str] = field(default_factory=dict)
    content_type: str = JSON

    def body(self) -> bytes:
        """The answer as it travels."""
        if self.content_type.startswith(JSON):
            return encode(self.document)
        return self.document if isinstance(self.document, bytes) else str(self.document).encode()


Handler = Callable[[Request], Reply]


def fault_document(code: str, message: str, details: Mapping[str, Any]) -> dict[str, Any]:
    """The body of every answer that is a refusal."""
    return {"schema_version": "1.0", "code": code, "message": message, "details": dict(details)}
