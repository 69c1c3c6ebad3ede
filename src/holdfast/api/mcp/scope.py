"""What a caller may see and call of a server, and what no client may ask for at all."""

import re
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from holdfast.api.callers import Caller
from holdfast.api.envelope import refusal
from holdfast.wire.envelope import Notification, Request, Response

__all__ = ["Gate", "admit", "is_private", "told_of", "tool_of", "visible"]


class Gate(Protocol):
    """What a server says about calls of its tools over HTTP: what may be asked, and what is told."""

    async def admit(self, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """The arguments as they may be passed on; HttpError for a refusal."""
        ...

    def shown(self, tool: str, result: Mapping[str, Any]) -> dict[str, Any]:
        """The result of a call as it may be told."""
        ...

    def error(self, error: Mapping[str, Any]) -> dict[str, Any]:
        """An error of JSON-RPC as it may be told."""
        ...

    def text(self, text: str) -> str:
        """A text for people, such as a report of progress, as it may be told."""
        ...


_PRIVATE = "holdfast/"  # what the front asks the host in its own name
_DOCUMENT = re.compile(r"holdfast://(\w+)")  # of the host; the tool holdfast_NAME tells the same


def is_private(method: str) -> bool:
    """Whether a method is between the front and its host alone."""
    return method.startswith(_PRIVATE)


async def admit(request: Request, caller: Caller, gate: Gate | None) -> Request:
    """The request as it may be passed on; HttpError where it may not be."""
    if request.method == "resources/read" and not _may_read(caller, request.params.get("uri")):
        raise refusal("FORBIDDEN", "this token is not for that", hint="Use a token whose tools name it.")
    if request.method != "tools/call":
        return request
    name, arguments = request.params.get("name"), request.params.get("arguments")
    if not isinstance(name, str):
        return request  # the server itself says what is wrong with it
    if not caller.may_call(name):
        raise refusal("FORBIDDEN", "this token is not for that tool", hint="Use a token whose tools name it.")
    if gate is None or not isinstance(arguments, dict | None):
        return request
    admitted = await gate.admit(name, arguments or {})
    return request._replace(params={**request.params, "arguments": admitted}) if admitted else request


def tool_of(request: Request) -> str:
    """The tool that a request calls; nothing where it calls none."""
    name = request.params.get("name") if request.method == "tools/call" else None
    return name if isinstance(name, str) else ""


def told_of(note: Notification, gate: Gate | None) -> Notification:
    """A notification about a call as its caller may be told."""
    message = note.params.get("message")
    if gate is None or not isinstance(message, str):
        return note
    return note._replace(params={**note.params, "message": gate.text(message)})


def visible(method: str, tool: str, response: Response, caller: Caller, gate: Gate | None) -> Response:
    """An answer as the caller may be told it: of a tool as its server says; of a list what is for the caller."""
    if tool and gate is not None:
        if response.error is not None:
            return response._replace(error=gate.error(response.error))
        return response._replace(result=gate.shown(tool, response.result))
    return _for_caller(method, response, caller)


def _for_caller(method: str, response: Response, caller: Caller) -> Response:
    """A list with those entries alone that are for the caller; then it is for nobody else to keep."""
    kind = method.removesuffix("/list")
    result = response.result
    entries = result.get(kind) if kind in _FOR_CALLER and isinstance(result, Mapping) else None
    if caller.tools is None or not isinstance(result, Mapping) or not isinstance(entries, list):
        return response
    is_for = _FOR_CALLER[kind]
    shown = [entry for entry in entries if isinstance(entry, dict) and is_for(caller, entry)]
    hint = {"cacheScope": "private"} if "cacheScope" in result else {}
    return response._replace(result={**result, kind: shown, **hint})


def _may_read(caller: Caller, uri: Any) -> bool:
    """Whether a resource is for the caller: what a tool of the host tells goes with that tool."""
    document = _DOCUMENT.fullmatch(uri) if isinstance(uri, str) else None
    return document is None or caller.may_call(f"holdfast_{document[1]}")


_FOR_CALLER: dict[str, Callable[[Caller, dict[str, Any]], bool]] = {
    "tools": lambda caller, tool: caller.may_call(str(tool.get("name"))),
    "resources": lambda caller, resource: _may_read(caller, resource.get("uri")),
}
