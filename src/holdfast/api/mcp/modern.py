"""Requests that describe themselves: each stands alone, is passed on as it came, and ends with its stream.

The answer is a JSON object, with the status that its error has; or a stream of events, as soon as anything has to
be said before it.
"""

from collections.abc import Mapping
from contextlib import ExitStack
from typing import Any

from holdfast.api.envelope import Reply
from holdfast.api.exchange import ClientGoneError, Exchange
from holdfast.api.link import HostLink
from holdfast.api.mcp.channel import Channel
from holdfast.api.mcp.replies import error_of, status_of_answer
from holdfast.api.mcp.scope import Gate, told_of, tool_of, visible
from holdfast.present.profile import META_SUBSCRIPTION
from holdfast.vocabulary.faults import Fault
from holdfast.vocabulary.meta import META_REQUEST
from holdfast.wire.codec import encode
from holdfast.wire.envelope import Notification, Request, Response, notification_message

__all__ = ["answer_request", "in_words_of_client"]

_PROGRESS = "notifications/progress"


async def answer_request(
    exchange: Exchange,
    request: Request,
    link: HostLink,
    gate: Gate | None,
    places: ExitStack,
    *,
    keep_alive: float,
    streams: bool,
    answers: bool,
) -> Reply | None:
    """Answer one request; None after it was written as a stream. `streams` and `answers` say what is accepted.

    The places of the request are given back when it has its answer: who reads slowly keeps nobody else away.
    """
    channel = Channel()
    channel.when_closed(places.close)

    def heard(note: Notification) -> None:
        if streams:
            told = in_words_of_client(told_of(note, gate), request.id, _token(request.params))
            channel.say(told, is_droppable=note.method == _PROGRESS)

    call = link.pass_on(request.method, request.params, heard, exchange.caller.principal)

    def answered(_: object) -> None:
        if not call.answer.cancelled():
            channel.answer(_answer(request, call.answer.result(), exchange, gate))
        channel.close()

    call.answer.add_done_callback(answered)
    try:
        while not channel.is_closed and channel.is_plain:
            await channel.wait(exchange, keep_alive)
            if streams:
                break
        if channel.is_closed and channel.is_plain and answers:
            (answer,) = channel.answers
            return Reply(status_of_answer(answer), encode(answer))
        if exchange.gone.done():
            raise ClientGoneError
        await channel.send_to(exchange, keep_alive=keep_alive)
        return None
    finally:
        link.cancel(call)


def _answer(request: Request, answer: Response | Fault, exchange: Exchange, gate: Gate | None) -> dict[str, Any]:
    told: dict[str, Any] = {"jsonrpc": "2.0", "id": request.id}
    if isinstance(answer, Fault):
        return {**told, "error": error_of(answer, modern=True)}
    shown = visible(request.method, tool_of(request), answer, exchange.caller, gate)
    return {**told, "result": shown.result} if shown.error is None else {**told, "error": shown.error}


def in_words_of_client(note: Notification, request_id: Any, token: Any) -> dict[str, Any]:
    """A notification about a request with the names that its client has for it."""
    params = dict(note.params)
    if note.method == _PROGRESS:
        params["progressToken"] = token
    meta = params.pop("_meta", None)
    if isinstance(meta, Mapping):
        kept = {key: value for key, value in meta.items() if key != META_REQUEST}
        if META_SUBSCRIPTION in kept:
            kept[META_SUBSCRIPTION] = request_id
        params = {**params, "_meta": kept} if kept else params
    return notification_message(note.method, params)


def _token(params: Mapping[str, Any]) -> Any:
    meta = params.get("_meta")
    return meta.get("progressToken") if isinstance(meta, Mapping) else None
