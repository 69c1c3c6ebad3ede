"""The search API as OpenAPI tells it: parameters, bodies and answers of every route.

The fields of a search come from the same table as the tool's own schema; the payloads come from what the tools
publish, and are plain objects while no tool can be asked.
"""

from collections.abc import Mapping
from typing import Any

from holdfast.api.openapi import envelope_schema, json_body, json_response, reference, stream_response
from holdfast.search.request_fields import FIELDS
from holdfast.search.request_schema import input_schema

__all__ = ["OPERATIONS", "TOOL_OF_SCHEMA", "search_body_schema"]

TOOL_OF_SCHEMA = {"SearchPayload": "search", "StatusPayload": "report_artifacts"}
_REPO = {
    "description": "The repository: its alias, or a path inside of it; by default the first that is served.",
    "type": "string",
    "minLength": 1,
}
_REPOS = {
    "description": f"{_REPO['description']} Several, or * for all that are served: they are searched together.",
    "type": ["string", "array"],
    "minLength": 1,
    "items": {"type": "string", "minLength": 1},
    "minItems": 1,
    "maxItems": 256,
}
_SEARCH_TAG, _SERVER_TAG = ["Search"], ["Server"]


def search_body_schema() -> dict[str, Any]:
    """The body of `POST /search`: the arguments of the tool, and `repo` as another name of `repoPath`."""
    schema = {key: value for key, value in input_schema().items() if key != "$schema"}
    properties = {"query": schema["properties"]["query"], "repo": _REPOS, **schema["properties"]}
    return {
        **schema,
        "properties": properties,
        "not": {"required": ["repo", "repoPath"]},
    }


def _parameters() -> list[dict[str, Any]]:
    query = {"name": "q", "in": "query", "required": True, "description": FIELDS[0].help}
    several = {"type": "array", "items": _REPOS["items"], "minItems": 1, "maxItems": 256}
    repo = {"name": "repo", "in": "query", "description": _REPOS["description"], "schema": several}
    first = {**query, "schema": _parameter_schema("query"), "example": FIELDS[0].example}
    others = [
        {"name": field.name, "in": "query", "description": field.help, "schema": _parameter_schema(field.name)}
        for field in FIELDS
        if field.name not in {"query", "repoPath"}
    ]
    return [first, repo, *others]


def _parameter_schema(name: str) -> dict[str, Any]:
    """The schema of a field as a parameter: lists are repeated parameters, everything else is one text."""
    whole: Mapping[str, Any] = input_schema()["properties"][name]
    kind = next(field.kind for field in FIELDS if field.name == name)
    schema = {key: value for key, value in whole.items() if key not in {"description", "examples", "default"}}
    if kind == "flag":
        return {"type": "boolean"}
    if kind in {"texts", "conditions"}:
        items = schema.get(
            "items", {"type": "string", "maxLength": schema["maxLength"], "pattern": schema["pattern"]}
        )
        return {"type": "array", "items": items, "minItems": 1, "maxItems": schema["maxItems"]}
    if kind == "json":
        return {"type": "string", "maxLength": schema["maxLength"], "pattern": schema["pattern"]}
    return schema


def _body() -> dict[str, Any]:
    examples = {
        "words": {"query": "where is the retry budget enforced"},
        "filters": {"query": "timeout", "mode": "code", "lang": "python", "type": ["function"], "top": 10},
    }
    return json_body(reference("SearchRequest"), examples)


_FOUND = envelope_schema(
    {
        "type": "object",
        "properties": {"repo": {"type": "string"}, "search": reference("SearchPayload")},
        "required": ["repo", "search"],
    },
    with_repo=True,
)
_STATUS = envelope_schema(
    {
        "type": "object",
        "properties": {"repo": {"type": "string"}, "status": reference("StatusPayload")},
        "required": ["repo", "status"],
    },
    with_repo=True,
)
_HEALTH = envelope_schema(
    {
        "type": "object",
        "properties": {
            "uptimeMs": {"type": "integer", "minimum": 0},
            "host": {"type": ["object", "null"], "description": "What the host says of itself."},
        },
        "required": ["uptimeMs", "host"],
    },
    with_repo=False,
)
_READY = envelope_schema(
    {
        "type": "object",
        "properties": {"ready": {"const": True}, "state": {"type": "string"}},
        "required": ["ready", "state"],
    },
    with_repo=False,
)
_CAPABILITIES = envelope_schema(
    {
        "type": "object",
        "properties": {
            "schemaVersion": {"type": "string"},
            "toolVersion": {"type": "string"},
            "serverInfo": {"type": "object"},
            "capabilities": {"type": "object"},
            "repositories": {"type": "array", "items": {"type": "string"}},
        },
        "required": ["schemaVersion", "toolVersion", "serverInfo", "capabilities", "repositories"],
    },
    with_repo=False,
)
_EVENTS = (
    "Events `start`, `progress`, then `result` or `error`, then `done`; the data of each is an envelope. Where "
    "several repositories are searched, `progress` may hold their first `hits`; the one `result` is complete."
)
_REPO_PARAMETER = [{"name": "repo", "in": "query", "description": _REPO["description"], "schema": _REPO}]

# By the name that the route table in `http` uses.
OPERATIONS: dict[str, dict[str, Any]] = {
    "search": {
        "operationId": "search",
        "tags": _SEARCH_TAG,
        "summary": "Search a repository",
        "description": "Words, phrases, AND OR NOT, field:value and /regex/, narrowed by any of the filters.",
        "requestBody": _body(),
        "responses": {"200": json_response("What was found.", _FOUND)},
    },
    "search_by_url": {
        "operationId": "searchByUrl",
        "tags": _SEARCH_TAG,
        "summary": "Search a repository, everything in the URL",
        "description": "The same as POST. `query` is another name of `q`; lists are repeated parameters.",
        "parameters": _parameters(),
        "responses": {"200": json_response("What was found.", _FOUND)},
    },
    "search_stream": {
        "operationId": "searchStream",
        "tags": _SEARCH_TAG,
        "summary": "Search and watch it happen",
        "description": f"{_EVENTS} Closing the connection cancels the search.",
        "requestBody": _body(),
        "responses": {"200": stream_response("The events.")},
    },
    "status": {
        "operationId": "status",
        "tags": _SEARCH_TAG,
        "summary": "What the index takes up, and whether it is healthy",
        "description": "Repositories that are not served are left out of it.",
        "parameters": _REPO_PARAMETER,
        "responses": {"200": json_response("The state of the index.", _STATUS)},
    },
    "status_stream": {
        "operationId": "statusStream",
        "tags": _SEARCH_TAG,
        "summary": "The same as a stream",
        "description": _EVENTS,
        "parameters": _REPO_PARAMETER,
        "responses": {"200": stream_response("The events.")},
    },
    "capabilities": {
        "operationId": "capabilities",
        "tags": _SERVER_TAG,
        "summary": "Versions, optional abilities, and the repositories that are served",
        "responses": {"200": json_response("What this server can do.", _CAPABILITIES)},
    },
    "health": {
        "operationId": "health",
        "tags": _SERVER_TAG,
        "summary": "Whether the server is alive",
        "description": "Answered without any worker, and however busy the server is.",
        "responses": {"200": json_response("It is.", _HEALTH)},
    },
    "ready": {
        "operationId": "ready",
        "tags": _SERVER_TAG,
        "summary": "Whether a call that comes now is taken",
        "description": "503 only when it is not; a worker that is on its way is waited for.",
        "responses": {"200": json_response("It is.", _READY)},
    },
    "metrics": {
        "operationId": "metrics",
        "tags": _SERVER_TAG,
        "summary": "Counters for Prometheus",
        "responses": {
            "200": {
                "description": "Text in the format of Prometheus.",
                "content": {"text/plain": {"schema": {"type": "string"}}},
            }
        },
    },
    "openapi": {
        "operationId": "openapi",
        "tags": _SERVER_TAG,
        "summary": "This description",
        "responses": {"200": json_response("An OpenAPI 3.1 document.", {"type": "object"})},
    },
}
