"""The routes that every front has: MCP, how the server is, and its figures."""

from collections.abc import Mapping
from typing import Any

from holdfast.api.envelope import Reply, refusal, success_reply
from holdfast.api.exchange import Exchange
from holdfast.api.front import Front
from holdfast.api.mcp.replies import refused
from holdfast.api.metrics import CONTENT_TYPE
from holdfast.api.options import FrontOptions
from holdfast.api.route import Route

__all__ = ["MCP", "common_routes", "general_routes"]

MCP = "/mcp"


def common_routes(operations: Mapping[str, Mapping[str, Any]] | None = None) -> list[Route]:
    """The routes, with what a description of the API says of them."""
    told = operations or {}
    return [
        Route("POST", MCP, _post, produces="", refused=refused, takes_query=True),
        Route("GET", MCP, _get, produces="", refused=refused, takes_query=True),
        Route("DELETE", MCP, _delete, produces="", refused=refused, takes_query=True),
        Route("GET", "/health", _health, told.get("health", {})),
        Route("GET", "/ready", _ready, told.get("ready", {})),
        Route("GET", "/metrics", _metrics, told.get("metrics", {}), "text/plain", takes_query=True),
    ]


def general_routes(_: FrontOptions | None = None) -> list[Route]:
    """All routes of a server that has no API of its own."""
    return common_routes()


async def _post(front: Front, exchange: Exchange) -> Reply | None:
    return await front.mcp.post(exchange)


async def _get(front: Front, exchange: Exchange) -> Reply | None:
    return await front.mcp.get(exchange)


async def _delete(front: Front, exchange: Exchange) -> Reply:
    return await front.mcp.delete(exchange)


async def _health(front: Front, exchange: Exchange) -> Reply:
    host = await front.ask_briefly(exchange, "holdfast/health")
    result = {"uptimeMs": front.uptime_ms, "host": front.redactor.value(_told_of_host(host))}
    return success_reply(exchange.stamp, result)


async def _ready(front: Front, exchange: Exchange) -> Reply:
    host = await front.ask_briefly(exchange, "holdfast/health")
    if host is None or host.get("admits") is not True:
        why = str(host.get("reason_code") or host.get("state")) if host is not None else "its host does not answer"
        raise refusal("NOT_READY", f"no call can be taken now: {why}")
    return success_reply(exchange.stamp, {"ready": True, "state": str(host.get("state"))})


def _told_of_host(host: dict[str, Any] | None) -> dict[str, Any] | None:
    """Without its command line and the last words of a worker: they are for whoever may read the logs."""
    if host is None:
        return None
    last = host.get("last_fault")
    shown = {key: last.get(key) for key in ("class", "code", "generation")} if isinstance(last, dict) else None
    return {**{key: value for key, value in host.items() if key != "command"}, "last_fault": shown}


async def _metrics(front: Front, exchange: Exchange) -> Reply:
    host = await front.ask_briefly(exchange, "holdfast/health")
    return Reply(200, front.metrics.render(host), content_type=CONTENT_TYPE)
