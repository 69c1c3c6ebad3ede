"""The HTTP API of the search server: one short handler per route. The host starts this module as a process.

A handler finds out which repository is meant, passes the arguments on to the tool as they are, and puts the
payload into the envelope. Arguments are checked by the tool alone, so every surface refuses with the same words.
"""

import contextlib
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from holdfast.api.common_routes import common_routes
from holdfast.api.envelope import HttpError, Reply, success_reply
from holdfast.api.exchange import Exchange
from holdfast.api.front import Front
from holdfast.api.openapi import document, embedded
from holdfast.api.options import FrontOptions, MountedRepository
from holdfast.api.page import docs_page
from holdfast.api.route import STREAM, Route
from holdfast.api.serve import run_front
from holdfast.api.sse import EventStream
from holdfast.errors import ToolError
from holdfast.search.http_gate import SearchGate
from holdfast.search.http_query import decoded_pairs, search_arguments
from holdfast.search.http_repositories import DEFAULT, chosen_repository, settle_search
from holdfast.search.http_schemas import OPERATIONS, TOOL_OF_SCHEMA, search_body_schema
from holdfast.search.http_shown import CONTENT, of_what_is_served
from holdfast.version import __version__
from holdfast.vocabulary.faults import fault
from holdfast.wire.codec import encode

__all__ = ["main", "search_routes"]

_SERVER = "pairofcleats"
_DESCRIBED = "/openapi.json"
_DESCRIPTION = "Searches code, prose and records of the repositories that are served."


def search_routes(_: FrontOptions | None = None) -> list[Route]:
    """Every route of the search server."""
    return [
        _route("POST", "/search", _search, "search"),
        _route("GET", "/search", _search_by_url, "search_by_url"),
        _route("POST", "/search/stream", _search_stream, "search_stream", produces=STREAM),
        _route("GET", "/status", _status, "status"),
        _route("GET", "/status/stream", _status_stream, "status_stream", produces=STREAM),
        _route("GET", "/capabilities", _capabilities, "capabilities"),
        *common_routes(OPERATIONS),
        _route("GET", _DESCRIBED, _openapi, "openapi"),
        Route("GET", "/docs", _docs, produces="text/html", is_open=True, takes_query=True),
        Route("GET", "/", _root, produces="text/html", is_open=True, takes_query=True),
    ]


def _route(method: str, path: str, handler: Any, name: str, *, produces: str = "application/json") -> Route:
    operation = OPERATIONS[name]
    takes_query = "parameters" in operation or path == _DESCRIBED
    return Route(method, path, handler, operation, produces, takes_query=takes_query)


# --- searching ---


async def _search(front: Front, exchange: Exchange) -> Reply:
    return await _found(front, exchange, await front.bodies.json_object(exchange))


async def _search_by_url(front: Front, exchange: Exchange) -> Reply:
    with _told():
        arguments = search_arguments(exchange.raw_query)
    return await _found(front, exchange, arguments)


async def _found(front: Front, exchange: Exchange, arguments: dict[str, Any]) -> Reply:
    name = await settle_search(front.options, arguments)
    payload = await front.call_tool(exchange, "search", arguments)
    return success_reply(exchange.stamp, _search_result(front, name)(payload), repo=name)


async def _search_stream(front: Front, exchange: Exchange) -> None:
    arguments = await front.bodies.json_object(exchange)
    name = await settle_search(front.options, arguments)
    await _stream(front, exchange, "search", arguments, name, start={}, shape=_search_result(front, name))


def _search_result(front: Front, name: str) -> Callable[[dict[str, Any]], dict[str, Any]]:
    return lambda payload: {"repo": name, "search": front.redactor.value(payload, content=CONTENT["search"])}


# --- the state of the index ---


async def _status(front: Front, exchange: Exchange) -> Reply:
    repository = await _repository_of_url(front, exchange)
    payload = await front.call_tool(exchange, "report_artifacts", {"repoPath": repository.root})
    name = _name(front, repository)
    return success_reply(exchange.stamp, _status_result(front, name)(payload), repo=name)


async def _status_stream(front: Front, exchange: Exchange) -> None:
    repository = await _repository_of_url(front, exchange)
    name, arguments = _name(front, repository), {"repoPath": repository.root}
    shape = _status_result(front, name)
    await _stream(front, exchange, "report_artifacts", arguments, name, start={"repo": name}, shape=shape)


def _status_result(front: Front, name: str) -> Callable[[dict[str, Any]], dict[str, Any]]:
    return lambda payload: {
        "repo": name,
        "status": front.redactor.value(of_what_is_served(front.options, payload)),
    }


async def _repository_of_url(front: Front, exchange: Exchange) -> MountedRepository:
    with _told():
        pairs = decoded_pairs(exchange.raw_query)
        if len(pairs) > 1 or any(name not in {"repo", "repoPath"} for name, _ in pairs):
            raise ToolError("INVALID_REQUEST", "the only parameter of this path is repo, once")
    return await chosen_repository(front.options.repositories, pairs[0][1] if pairs else DEFAULT)


# --- the server ---


async def _capabilities(front: Front, exchange: Exchange) -> Reply:
    told = await front.ask(exchange, "server/discover")
    experimental = _object(_object(told, "capabilities"), "experimental")
    block = _object(experimental, _SERVER)
    result = {
        "schemaVersion": front.options.schema_version,
        "toolVersion": __version__,
        "serverInfo": _object(told, "serverInfo") or {"name": _SERVER, "version": __version__},
        "capabilities": front.redactor.value(_object(block, "capabilities")),
        "repositories": [_name(front, one) for one in front.options.repositories],
    }
    return success_reply(exchange.stamp, result)


async def _openapi(front: Front, exchange: Exchange) -> Reply:
    whole = document(
        front.routes.routes,
        title="Holdfast search",
        version=front.options.schema_version,
        description=_DESCRIPTION,
        schemas={"SearchRequest": search_body_schema(), **await _payload_schemas(front, exchange)},
        token=bool(front.options.tokens),
    )
    return Reply(200, encode(whole))


async def _payload_schemas(front: Front, exchange: Exchange) -> dict[str, Any]:
    """What the tools publish about their answers; while they cannot be asked, the description says less."""
    told = await front.ask_briefly(exchange, "tools/list")
    tools = (told or {}).get("tools")
    published = {
        tool["name"]: tool["outputSchema"]
        for tool in (tools if isinstance(tools, list) else ())
        if isinstance(tool, Mapping) and isinstance(tool.get("outputSchema"), Mapping)
    }
    return {name: embedded(published.get(tool, {"type": "object"}), name) for name, tool in TOOL_OF_SCHEMA.items()}


async def _docs(_: Front, __: Exchange) -> Reply:
    return docs_page()


async def _root(_: Front, __: Exchange) -> Reply:
    return Reply(307, b"", content_type=b"text/plain", headers=((b"location", b"/docs"),))


# --- what the handlers share ---


async def _stream(
    front: Front,
    exchange: Exchange,
    tool: str,
    arguments: Mapping[str, Any],
    name: str,
    *,
    start: Mapping[str, Any],
    shape: Callable[[dict[str, Any]], Mapping[str, Any]],
) -> None:
    options = front.options
    stream = EventStream(
        exchange, front.link, front.metrics, repo=name, keep_alive=options.keep_alive, timeout=options.timeout
    )

    def report(params: dict[str, Any]) -> None:
        stream.report(_progress(front, params))

    await stream.run(
        lambda: front.link.call_tool(tool, arguments, on_progress=report),
        place=front.place(exchange, tool),
        start=start,
        shape=shape,
        redact=front.without_paths,
    )


def _progress(front: Front, params: Mapping[str, Any]) -> dict[str, Any]:
    phase, message = params.get("phase", "progress"), params.get("message", "")
    # A number without a total only has to rise from notice to notice; it says nothing to a person.
    told = ("progress", "total") if "total" in params else ()
    numbers = {key: params[key] for key in told if key in params}
    early = _object(params, "data").get("hits")
    hits = {"hits": early} if isinstance(early, list) else {}
    return {"phase": str(phase), "message": front.redactor.text(str(message)), **numbers, **hits}


def _name(front: Front, repository: MountedRepository) -> str:
    return repository.root if front.options.show_paths else repository.alias


def _object(value: Mapping[str, Any], key: str) -> dict[str, Any]:
    found = value.get(key)
    return found if isinstance(found, dict) else {}


@contextlib.contextmanager
def _told() -> Iterator[None]:
    """Turn what is wrong with a query string into the answer that says so."""
    try:
        yield
    except ToolError as error:
        raise HttpError(fault(error.code, error.message, details=error.details)) from error


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the HTTP front of the search server."""
    return run_front(search_routes, arguments, gate=SearchGate)


if __name__ == "__main__":
    sys.exit(main())
