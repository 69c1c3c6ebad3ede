"""What the headers of a request that describes itself must say: the same as its body.

So that whoever stands between, and reads headers alone, cannot be told something else than the server.
"""

import base64
import binascii
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from holdfast.api.exchange import Exchange
from holdfast.api.mcp.replies import HEADER_MISMATCH, VERSION
from holdfast.present.eras import UNSUPPORTED_REVISION
from holdfast.present.profile import META_CAPABILITIES, META_REVISION, MODERN
from holdfast.wire.envelope import INVALID_PARAMS, Request

__all__ = ["Mirrored", "Problem", "mirrored_arguments", "problem_of_arguments", "problem_of_request", "version_of"]

_NAMED_BY = {
    "tools/call": "name",
    "prompts/get": "name",
    "resources/read": "uri",
    "tasks/get": "taskId",
    "tasks/update": "taskId",
    "tasks/cancel": "taskId",
}
_ENCODED = re.compile(r"=\?base64\?(.*)\?=")
_TOKEN = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,100}")
_MIRRORED_TYPES = frozenset({"string", "integer", "boolean"})
_DEEPEST = 16
_UNREADABLE = "\0"  # what no argument is mirrored as: the character cannot stand in a header


class Problem(NamedTuple):
    """An error of the protocol: number, words, and data for a program."""

    code: int
    message: str
    data: Mapping[str, Any] = {}


class Mirrored(NamedTuple):
    """An argument that has to stand in a header too: the way to it, and the name of the header."""

    path: tuple[str, ...]
    header: str


def version_of(exchange: Exchange) -> str | None:
    """The revision that a request names in its header; None where it names none."""
    values = exchange.values(VERSION)
    return ", ".join(value.strip() for value in values) if values else None


def problem_of_request(exchange: Exchange, request: Request) -> Problem | None:
    """What is wrong with how a request describes itself, the first thing first; None where nothing is."""
    given = request.params.get("_meta")
    meta = given if isinstance(given, dict) else {}
    revision, header = meta.get(META_REVISION), version_of(exchange)
    if revision is None and header is not None and header != MODERN:
        return _unsupported(header)
    if not isinstance(revision, str):
        return Problem(INVALID_PARAMS, f"_meta needs {META_REVISION}")
    if header != revision:
        told = "is missing" if header is None else "differs from the one in _meta"
        return Problem(HEADER_MISMATCH, f"the revision in MCP-Protocol-Version {told}")
    if revision != MODERN:
        return _unsupported(revision)
    if not isinstance(meta.get(META_CAPABILITIES), dict):
        return Problem(INVALID_PARAMS, f"_meta needs {META_CAPABILITIES}")
    return _problem_of_names(exchange, request)


def _unsupported(revision: str) -> Problem:
    data = {"supported": [MODERN], "requested": revision[:64]}
    return Problem(UNSUPPORTED_REVISION, f"unsupported protocol revision {revision[:64]!r}", data)


def _problem_of_names(exchange: Exchange, request: Request) -> Problem | None:
    if _single(exchange, b"mcp-method") != request.method:
        return Problem(HEADER_MISMATCH, "the header Mcp-Method is not the method of the request")
    name = request.params.get(_NAMED_BY.get(request.method, ""))
    if isinstance(name, str) and _decoded(_single(exchange, b"mcp-name")) != name:
        key = _NAMED_BY[request.method]
        return Problem(HEADER_MISMATCH, f"the header Mcp-Name is not the {key} of the request")
    return None


def mirrored_arguments(schema: Any) -> tuple[Mirrored, ...]:
    """The arguments of a tool that its input schema wants in headers (`x-mcp-header`)."""
    return tuple(_mirrored(schema, ()))


def _mirrored(schema: Any, path: tuple[str, ...]) -> Iterator[Mirrored]:
    properties = schema.get("properties") if isinstance(schema, dict) else None
    if not isinstance(properties, dict) or len(path) >= _DEEPEST:
        return
    for name, inner in properties.items():
        header = inner.get("x-mcp-header") if isinstance(inner, dict) else None
        if isinstance(header, str) and _TOKEN.fullmatch(header) and inner.get("type") in _MIRRORED_TYPES:
            yield Mirrored((*path, name), f"mcp-param-{header.lower()}")
        yield from _mirrored(inner, (*path, name))


def problem_of_arguments(exchange: Exchange, request: Request, wanted: tuple[Mirrored, ...]) -> Problem | None:
    """The first argument whose header does not say the same."""
    for one in wanted:
        said = _single(exchange, one.header.encode())
        value = _as_text(_value_at(request.params.get("arguments"), one.path))
        if value != _decoded(said):
            where = ".".join(one.path)
            return Problem(HEADER_MISMATCH, f"the header {one.header} is not the argument {where}")
    return None


def _value_at(value: Any, path: tuple[str, ...]) -> Any:
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def _as_text(value: Any) -> str | None:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, str | int) else None


def _single(exchange: Exchange, name: bytes) -> str | None:
    """The value of a header that may stand there once; one that stands there twice says nothing."""
    values = exchange.values(name)
    return values[0].strip() if len(values) == 1 else None


def _decoded(value: str | None) -> str | None:
    """What a header says: as it is, or in base64 where it says so."""
    found = _ENCODED.fullmatch(value) if value is not None else None
    if found is None:
        return value
    try:
        raw = base64.b64decode(found[1], validate=True)
        is_canonical = base64.b64encode(raw).decode() == found[1]
        return raw.decode() if is_canonical else _UNREADABLE
    except (binascii.Error, ValueError):
        return _UNREADABLE
