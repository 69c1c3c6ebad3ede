"""The OpenAPI 3.1 description of a front, made from its route table and the JSON Schemas of its answers.

3.1 uses the same dialect of JSON Schema as the tools, so their schemas go in as they are; only references to
their own definitions are led to where those stand in the document.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from holdfast.api.route import STREAM, Route
from holdfast.errors import CODES

__all__ = ["document", "embedded", "envelope_schema", "json_body", "json_response", "reference", "stream_response"]

VERSION = "3.1.1"

_META: dict[str, Any] = {
    "type": "object",
    "description": "When the answer was made, how long it took, and by which versions.",
    "properties": {
        "schemaVersion": {"type": "string", "description": "Version of the contract."},
        "toolVersion": {"type": "string", "description": "Version of the program."},
        "ts": {"type": "string", "format": "date-time"},
        "durationMs": {"type": "number", "minimum": 0},
    },
    "required": ["schemaVersion", "toolVersion", "ts", "durationMs"],
}
_ERROR: dict[str, Any] = {
    "type": "object",
    "properties": {
        "code": {"type": "string", "description": "A code that a program can rely on."},
        "message": {"type": "string", "description": "The same for people."},
        "details": {"type": "object", "description": "Data about what went wrong."},
    },
    "required": ["code", "message"],
}
_FAILURE: dict[str, Any] = {
    "type": "object",
    "description": "Why the request failed. Details stand beside `code`, and under `error.details` as well.",
    "properties": {
        "ok": {"const": False},
        "code": {"type": "string", "examples": list(CODES)[:3]},
        "message": {"type": "string"},
        "hint": {"type": "string", "description": "What to do about it."},
        "timeoutMs": {"type": "integer"},
        "error": {"$ref": "#/components/schemas/Error"},
        "_meta": {"$ref": "#/components/schemas/Meta"},
    },
    "required": ["ok", "code", "message", "error", "_meta"],
}
_EVENT: dict[str, Any] = {
    "type": "object",
    "description": "One event of a stream.",
    "properties": {
        "event": {"enum": ["start", "progress", "result", "error", "done"]},
        "data": {
            "type": "string",
            "contentMediaType": "application/json",
            "contentSchema": {
                "type": "object",
                "properties": {"ok": {"type": "boolean"}, "_meta": {"$ref": "#/components/schemas/Meta"}},
                "required": ["ok", "_meta"],
            },
        },
    },
    "required": ["event", "data"],
}
_FAILURES = {
    400: "The request is malformed; `violations` lists everything that does not fit.",
    401: "The bearer token is missing or wrong.",
    403: "The host name, the origin or the repository is not allowed.",
    406: "The client accepts no media type that this path has.",
    408: "The body did not arrive in time.",
    409: "The repository has no index.",
    411: "The length of the body is missing.",
    413: "The body is too large.",
    415: "The body is not application/json.",
    422: "The answer would be larger than a message may be; ask for less.",
    500: "An unexpected error inside the server.",
    503: "The server is busy, or not ready; Retry-After says when to come back.",
    504: "The work took longer than a request may.",
}
_BODY_ONLY = frozenset({408, 411, 413, 415})


def reference(name: str) -> dict[str, Any]:
    """A reference to a named schema of the document."""
    return {"$ref": f"#/components/schemas/{name}"}


def envelope_schema(result: Mapping[str, Any], *, with_repo: bool) -> dict[str, Any]:
    """The schema of a success that carries this result."""
    repo = {"repo": {"type": "string", "description": "The repository, by its alias."}} if with_repo else {}
    properties = {"ok": {"const": True}, **repo, "result": dict(result), "_meta": reference("Meta")}
    return {"type": "object", "properties": properties, "required": list(properties)}


def json_body(schema: Mapping[str, Any], examples: Mapping[str, Any]) -> dict[str, Any]:
    """The request body of an operation."""
    named = {name: {"value": value} for name, value in examples.items()}
    return {"required": True, "content": {"application/json": {"schema": dict(schema), "examples": named}}}


def json_response(words: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    """A response with a JSON body."""
    return {"description": words, "content": {"application/json": {"schema": dict(schema)}}}


def stream_response(words: str) -> dict[str, Any]:
    """A response that is a stream; the schema is that of one event."""
    return {"description": words, "content": {STREAM: {"schema": reference("Event")}}}


def embedded(schema: Mapping[str, Any], name: str) -> dict[str, Any]:
    """A schema with definitions of its own, fit to stand under `name` among the schemas of the document."""

    def lead(value: Any) -> Any:
        if isinstance(value, list):
            return [lead(item) for item in value]
        if not isinstance(value, Mapping):
            return value
        led = {key: lead(item) for key, item in value.items()}
        target = led.get("$ref")
        if isinstance(target, str) and target.startswith("#"):
            led["$ref"] = f"#/components/schemas/{name}{target[1:]}"
        return led

    return {key: lead(value) for key, value in schema.items() if key != "$schema"}


def document(
    routes: Iterable[Route], *, title: str, version: str, description: str, schemas: Mapping[str, Any], token: bool
) -> dict[str, Any]:
    """The whole description."""
    paths: dict[str, dict[str, Any]] = {}
    for route in routes:
        if route.operation:
            paths.setdefault(route.path, {})[route.method.lower()] = _operation(route, token=token)
    components: dict[str, Any] = {
        "schemas": {"Meta": _META, "Error": _ERROR, "Failure": _FAILURE, "Event": _EVENT, **schemas},
        "responses": {str(status): _failure(status, words) for status, words in _FAILURES.items()},
    }
    whole: dict[str, Any] = {
        "openapi": VERSION,
        "info": {"title": title, "version": version, "description": description},
        "servers": [{"url": "/", "description": "This server."}],
        "paths": paths,
        "components": components,
    }
    if token:
        components["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
        whole["security"] = [{"token": []}]
    return whole


def _operation(route: Route, *, token: bool) -> dict[str, Any]:
    has_body = "requestBody" in route.operation
    failures = {
        str(status): {"$ref": f"#/components/responses/{status}"}
        for status in _FAILURES
        if (has_body or status not in _BODY_ONLY) and (token or status != 401)
    }
    every = {**route.operation["responses"], **failures, "default": _failure(0, "Any other failure.")}
    opened: dict[str, Any] = {"security": []} if token and route.is_open else {}
    return {**route.operation, **opened, "responses": every}


def _failure(status: int, words: str) -> dict[str, Any]:
    response = json_response(words, reference("Failure"))
    if status == 503:
        response["headers"] = {
            "Retry-After": {"description": "Seconds to wait.", "required": True, "schema": {"type": "integer"}}
        }
    return response
