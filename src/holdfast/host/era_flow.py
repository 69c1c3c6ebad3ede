"""What an adapter between two eras wants done: messages for the worker, and others as if the worker had said them.

Messages of the adapters' own have ids that no kernel gives: those are numbers, these are texts.
"""

import json
from typing import Any

from holdfast.errors import WireError
from holdfast.vocabulary.ids import RequestId
from holdfast.wire.codec import RELAY_DEPTH, decode, encode
from holdfast.wire.envelope import (
    Message,
    error_message,
    notification_message,
    parse,
    request_message,
    result_message,
)

__all__ = ["EraMemory", "Flow", "read"]


class EraMemory:
    """What the workers before this one have taught: how to begin with the next, since it runs the same program."""

    __slots__ = ("begins_with",)

    def __init__(self) -> None:
        self.begins_with = ""  # "handshake", "discover", or nothing known


class Flow:
    """What follows from one message, in order."""

    __slots__ = ("to_host", "to_worker")

    def __init__(self) -> None:
        self.to_worker: list[tuple[bytes, int]] = []  # with the attempt of the kernel that it carries, or 0
        self.to_host: list[tuple[Message, bytes]] = []

    def ask(self, number: RequestId, method: str, params: dict[str, Any] | None = None, attempt: int = 0) -> None:
        """Send the worker a request."""
        self.to_worker.append((_written(request_message(number, method, params)), attempt))

    def notify(self, method: str, params: dict[str, Any] | None = None) -> None:
        """Send the worker a notification."""
        self.to_worker.append((_written(notification_message(method, params)), 0))

    def refuse(self, number: RequestId, code: int, text: str) -> None:
        """Answer a request of the worker with an error."""
        self.to_worker.append((_written(error_message(number, code, text)), 0))

    def reply(self, number: RequestId, result: Any) -> None:
        """Answer a request of the worker."""
        self.to_worker.append((_written(result_message(number, result)), 0))

    def answer(self, number: RequestId, result: Any) -> None:
        """Answer the kernel in place of the worker."""
        self._say(result_message(number, result))

    def fail(self, number: RequestId, error: dict[str, Any]) -> None:
        """Answer the kernel with an error in place of the worker."""
        self._say({"jsonrpc": "2.0", "id": number, "error": error})

    def tell(self, method: str, params: dict[str, Any] | None = None, about: int | None = None) -> None:  # noqa: ARG002
        """Tell the kernel something in place of the worker; on a pipe it does not matter what it is about."""
        self._say(notification_message(method, params))

    def question(self, number: RequestId, method: str, params: dict[str, Any] | None, about: int) -> None:  # noqa: ARG002
        """Ask the client something in place of the worker."""
        self._say(request_message(number, method, params))

    def _say(self, message: dict[str, Any]) -> None:
        self.to_host.append((parse(message), _written(message)))


def read(payload: bytes) -> Message | None:
    """The message that the kernel sends; None for what only the worker can make sense of."""
    try:
        return parse(decode(payload, max_depth=RELAY_DEPTH, halves="kept"))
    except WireError:
        return None


def _written(message: dict[str, Any]) -> bytes:
    try:
        return encode(message)
    except ValueError:  # half a character, which may be passed on in the form in which it came
        return json.dumps(message, separators=(",", ":")).encode()
