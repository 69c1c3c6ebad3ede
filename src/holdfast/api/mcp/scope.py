"""What a caller may see and call of a server, and what no client may ask for at all."""

import re
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from holdfast.api.callers import Caller
from holdfast.api.envelope import refusal
from holdfast.wire.envelope import Request, Response

__all__ = ["Gate", "admit", "is_private", "visible"]

Gate = Callable[[str, dict[str, Any]], Awaitable[dict[str, Any]]]
"""What a server says about a call over HTTP: tool and arguments in, arguments out; HttpError for a refusal."""

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
    if gate is None or not isinstance(arguments, dict):
        return request
    return request._replace(params={**request.params, "arguments": await gate(name, arguments)})


def visible(method: str, response: Response, caller: Caller) -> Response:
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
