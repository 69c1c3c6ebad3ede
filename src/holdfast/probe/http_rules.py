"""Checks of what HTTP adds: statuses, headers, origins, and streams that the client closes."""

from holdfast.present.profile import MODERN
from holdfast.probe.bench import Bench, call_params
from holdfast.probe.http_talk import HttpTalk
from holdfast.probe.model import FailedError, SkippedError, check
from holdfast.probe.talk import Delivery
from holdfast.wire.codec import encode

__all__ = ["CHECKS"]

HTTP = ("http",)


def _wanted(delivery: Delivery, what: str, statuses: tuple[int, ...] | range) -> None:
    if delivery.status is None:
        raise FailedError(f"{what} got no answer{': ' + delivery.failure if delivery.failure else ''}")
    if delivery.status not in statuses:
        shown = "4xx" if isinstance(statuses, range) else " or ".join(map(str, statuses))
        raise FailedError(f"{what} got HTTP {delivery.status} in place of {shown}")


def _ping(talk: HttpTalk) -> bytes:
    return encode(talk.request(talk.lightest))


@check(
    "http.notification",
    "A notification gets 202 and no body",
    weight=2,
    transports=HTTP,
    why="A client that waits for a message behind it waits for nothing.",
    how="POSTs a notification; wants 202 or 204 with an empty body.",
)
async def notification(bench: Bench) -> None:
    """POSTs a notification."""
    talk = await bench.http_session()
    delivery = await talk.notify("notifications/probe/unheard-of", {})
    await talk.wait(lambda: delivery.is_done or None, bench.options.timeout)
    _wanted(delivery, "a notification", (202, 204))
    if delivery.body.strip():
        raise FailedError("a notification got a body")


@check(
    "http.get",
    "GET is a stream of events, or not allowed",
    weight=1,
    transports=HTTP,
    why="Clients try it to find out whether there is such a stream; an error page misleads them.",
    how="GETs the endpoint; wants 405, or 200 with text/event-stream.",
)
async def get(bench: Bench) -> None:
    """GETs the endpoint."""
    talk = await bench.http_session()
    headers = {**talk.headers(), "Content-Type": "", "Accept": "text/event-stream"}
    delivery = await talk.whole("GET", b"", headers)
    _wanted(delivery, "GET", (200, 405))
    if delivery.status == 200 and "text/event-stream" not in delivery.headers.get("content-type", ""):
        raise FailedError("GET got 200 and no stream of events")


@check(
    "http.delete",
    "DELETE ends the session, or is not allowed",
    weight=1,
    transports=HTTP,
    why="Without it sessions pile up until a time limit ends them.",
    how="DELETEs the session; wants 200, 202, 204 or 405, and a server that goes on.",
)
async def delete(bench: Bench) -> None:
    """DELETEs the session."""
    talk = await bench.http_session()
    delivery = await talk.whole("DELETE", b"", {**talk.headers(), "Content-Type": ""})
    _wanted(delivery, "DELETE", (200, 202, 204, 405))
    other = await bench.session()
    await other.alive("DELETE of another session")


@check(
    "http.other-methods",
    "Methods that mean nothing here are refused",
    weight=1,
    transports=HTTP,
    why="An unexpected method must not reach the code that reads messages, nor end in an error of the server.",
    how="PUTs a message to the endpoint; wants 4xx, best 405.",
)
async def other_methods(bench: Bench) -> None:
    """PUTs a message."""
    talk = await bench.http_session()
    _wanted(await talk.whole("PUT", _ping(talk), talk.headers()), "PUT", range(400, 500))


@check(
    "http.content-type",
    "A body that does not claim to be JSON is refused",
    weight=1,
    transports=HTTP,
    why="A form on any web page can POST text to a local server; only the type of the body tells it apart.",
    how="POSTs a good message as text/plain; wants 4xx, best 415.",
)
async def content_type(bench: Bench) -> None:
    """POSTs text."""
    talk = await bench.http_session()
    delivery = await talk.whole("POST", _ping(talk), {**talk.headers(), "Content-Type": "text/plain"})
    _wanted(delivery, "a message as text/plain", range(400, 500))


@check(
    "http.origin",
    "A foreign origin is refused by a local server",
    weight=3,
    transports=HTTP,
    why="Any web page can reach a server on this machine through the browser; the origin gives it away.",
    how="POSTs a good message with `Origin: http://probe.invalid`; wants 403 or another 4xx. Only for servers "
    "on a loopback address.",
)
async def origin(bench: Bench) -> None:
    """Pretends to be a web page."""
    talk = await bench.http_session()
    if not talk.target.is_local:
        raise SkippedError("the server is not on this machine, and may serve web pages of others on purpose")
    delivery = await talk.whole("POST", _ping(talk), {**talk.headers(), "Origin": "http://probe.invalid"})
    _wanted(delivery, "a message from a foreign origin", range(400, 500))


@check(
    "http.revision-header",
    "An unknown revision in the header is refused",
    weight=2,
    transports=HTTP,
    why="A server that goes on regardless answers in a form that the client did not ask for.",
    how="POSTs a good message with `MCP-Protocol-Version: 1999-01-01`; wants 400.",
)
async def revision_header(bench: Bench) -> None:
    """Names a revision of old."""
    talk = await bench.http_session()
    headers = {**talk.headers(), "MCP-Protocol-Version": "1999-01-01"}
    _wanted(await talk.whole("POST", _ping(talk), headers), "an unknown revision", range(400, 500))


@check(
    "http.unknown-session",
    "An unknown session is not found",
    weight=2,
    transports=HTTP,
    why="404 is how a client learns that it must begin again; anything else leaves it stuck for good.",
    how="POSTs with a session id that was never given out, where the server has sessions; wants 404.",
)
async def unknown_session(bench: Bench) -> None:
    """Uses a session of nobody."""
    talk = await bench.http_session()
    if not talk.session_id:
        raise SkippedError("the server keeps no sessions")
    headers = {**talk.headers(), "Mcp-Session-Id": "probe-no-such-session"}
    _wanted(await talk.whole("POST", _ping(talk), headers), "an unknown session", (400, 404))


@check(
    "http.header-mismatch",
    "Headers that contradict the message are refused",
    weight=1,
    transports=HTTP,
    why="Gateways route and allow by the header; a server that obeys the body does what they did not allow.",
    how="In 2026-07-28, POSTs tools/list with `Mcp-Method: tools/call`; wants 4xx.",
)
async def header_mismatch(bench: Bench) -> None:
    """Says one thing above and another below."""
    bench.need_modern()
    talk = await bench.session(MODERN)
    assert isinstance(talk, HttpTalk)
    headers = {**talk.headers(), "Mcp-Method": "tools/call"}
    delivery = await talk.whole("POST", encode(talk.request("tools/list")), headers)
    _wanted(delivery, "a header that contradicts the message", range(400, 500))


@check(
    "http.closed-stream",
    "A client that closes the connection does no harm",
    weight=2,
    transports=HTTP,
    why="Clients time out, laptops sleep; whoever is left must not notice.",
    how="POSTs a call, of the slow tool where one is known, and closes the connection; wants answers in the "
    "same session and in another.",
)
async def closed_stream(bench: Bench) -> None:
    """Hangs up."""
    use = bench.options.slow or bench.tool()
    talk = await bench.http_session()
    await talk.closed_early(talk.request("tools/call", call_params(use), "hung-up"))
    await talk.alive("a connection that its client closed")
    other = await bench.session()
    await other.alive("a connection that another client closed")


CHECKS = (
    notification, get, delete, other_methods, content_type, origin, revision_header, unknown_session,
    header_mismatch, closed_stream,
)  # fmt: skip
