"""The table of routes: which path and method leads to which handler, and how the description tells of it."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from holdfast.api.envelope import HttpError, Reply, refusal
from holdfast.api.exchange import Exchange

__all__ = ["JSON", "STREAM", "Handler", "Refused", "Route", "RouteTable", "quality"]

JSON = "application/json"
STREAM = "text/event-stream"
_DESCRIPTION = "/openapi.json"
_SAY_IN_BODY = "Put it into the body."
_LEAVE_OUT = "Leave out what is behind the question mark."

Handler = Callable[[Any, Exchange], Awaitable[Reply | None]]
"""Answers a request, given the front, with a reply; with None after it has written the response itself."""

Refused = Callable[[Exchange, HttpError], Reply]


@dataclass(frozen=True, slots=True)
class Route:
    """One operation. `operation` is its part of the OpenAPI document; hidden routes have none."""

    method: str
    path: str
    handler: Handler
    operation: Mapping[str, Any] = field(default_factory=dict)
    produces: str = JSON  # nothing where the handler itself looks at what is accepted
    is_open: bool = False  # for whoever has no token
    refused: Refused | None = None  # another form of refusals than the usual envelope
    takes_query: bool = False  # elsewhere one is refused, instead of being accepted and ignored


class RouteTable:
    """Finds the route of a request."""

    def __init__(self, routes: Sequence[Route]) -> None:
        self.routes = tuple(routes)
        self._by_path: dict[str, dict[str, Route]] = {}
        for route in routes:
            methods = self._by_path.setdefault(route.path, {})
            if route.method in methods:
                raise AssertionError(f"{route.method} {route.path} is there twice")
            methods[route.method] = route

    def label(self, path: str) -> str:
        """The path as metrics tell it: unknown ones are all alike."""
        return path if path in self._by_path else "other"

    def allowed(self, path: str) -> list[str]:
        """The methods of a path, or nothing where there is no such path."""
        methods = self._by_path.get(path, {})
        return [*methods, *(["HEAD"] if "GET" in methods else []), *(["OPTIONS"] if methods else [])]

    def is_open(self, path: str) -> bool:
        """Whether a path is for everybody, whatever the method."""
        methods = self._by_path.get(path, {})
        return bool(methods) and all(route.is_open for route in methods.values())

    def refused(self, path: str) -> Refused | None:
        """How refusals are told at a path, where not in the usual envelope."""
        routes = self._by_path.get(path, {}).values()
        return next((route.refused for route in routes if route.refused is not None), None)

    def find(self, exchange: Exchange) -> Route:
        """The route, or a refusal that says what would be right."""
        methods = self._by_path.get(exchange.path)
        if methods is None:
            raise refusal("NOT_FOUND", "there is nothing at this path", hint=self._what_there_is())
        route = methods.get("GET" if exchange.method == "HEAD" else exchange.method)
        if route is None:
            allow = ", ".join(self.allowed(exchange.path)).encode()
            message = "this path does not have that method"
            raise refusal("INVALID_REQUEST", message, status=405, headers=[(b"allow", allow)])
        _check_accept(exchange, route.produces)
        if exchange.raw_query and not route.takes_query:
            hint = _SAY_IN_BODY if route.method == "POST" else _LEAVE_OUT
            raise refusal("INVALID_REQUEST", "nothing is read from the query string of this path", hint=hint)
        return route

    def _what_there_is(self) -> str:
        if _DESCRIPTION in self._by_path:
            return f"GET {_DESCRIPTION} lists what there is."
        return f"There is {', '.join(self._by_path)}."


def _check_accept(exchange: Exchange, produced: str) -> None:
    accepted = ",".join(exchange.values(b"accept"))
    if not produced or not accepted.strip() or quality(accepted, produced) > 0:
        return
    message = f"this path answers with {produced} only"
    raise refusal("INVALID_REQUEST", message, status=406)


def quality(accepted: str, produced: str) -> float:
    """How much a client wants a media type; the most specific range that matches decides."""
    family = produced.partition("/")[0]
    best = {produced: -1.0, f"{family}/*": -1.0, "*/*": -1.0}
    for entry in accepted.lower().split(","):
        media, *parameters = (part.strip() for part in entry.split(";"))
        if media in best:
            best[media] = max(best[media], _weight(parameters))
    return next((quality for quality in best.values() if quality >= 0), 0.0)


def _weight(parameters: Sequence[str]) -> float:
    for parameter in parameters:
        name, _, value = parameter.partition("=")
        if name.strip() == "q":
            try:
                return float(value)
            except ValueError:
                return 0.0
    return 1.0
