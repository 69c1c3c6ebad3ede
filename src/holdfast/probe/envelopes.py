"""Checks of JSON that is no proper message: the envelope is refused, and whoever sent it learns so."""

import json
from typing import Any

from holdfast.probe.bench import Bench
from holdfast.probe.expect import must_be_ignored, must_be_refused, refused_or_served
from holdfast.probe.model import FailedError, check
from holdfast.probe.talk import Talk
from holdfast.wire.codec import encode
from holdfast.wire.envelope import INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND

__all__ = ["CHECKS"]

STUCK = "A request that is dropped in silence looks to its sender like a server that hangs."
CODES = (INVALID_REQUEST, INVALID_PARAMS)


def _wrong(talk: Talk, **members: Any) -> bytes:
    """A ping with other members; what is None stays in, as null."""
    message = {**talk.request(talk.lightest, request_id="wrong"), **members}
    return json.dumps({key: value for key, value in message.items() if value is not ...}).encode()


@check(
    "envelopes.no-jsonrpc",
    "A message without its version is refused",
    weight=2,
    why=STUCK,
    how='Sends a ping without the member "jsonrpc"; wants error -32600.',
)
async def no_jsonrpc(bench: Bench) -> None:
    """Leaves the version out."""
    talk = await bench.session()
    data = _wrong(talk, jsonrpc=...)
    await must_be_refused(talk, data, 'a message without "jsonrpc"', codes=CODES, request_id="wrong")


@check(
    "envelopes.id-null",
    "An id that is null is refused",
    weight=3,
    why="It is the commonest mistake of hand-written clients; taken for a notification it is never answered.",
    how='Sends a ping with "id": null; wants error -32600.',
)
async def id_null(bench: Bench) -> None:
    """Uses null as an id."""
    talk = await bench.session()
    await must_be_refused(talk, _wrong(talk, id=None), "a request with the id null", codes=CODES)


@check(
    "envelopes.id-fraction",
    "An id with a fraction is refused, or comes back exactly",
    weight=1,
    why=STUCK,
    how='Sends a ping with "id": 1.5; wants error -32600, or an answer with the id 1.5.',
)
async def id_fraction(bench: Bench) -> None:
    """Uses a fraction as an id."""
    talk = await bench.session()
    await refused_or_served(talk, _wrong(talk, id=1.5), "a request with the id 1.5", 1.5)


@check(
    "envelopes.id-boolean",
    "An id that is true is refused",
    weight=1,
    why="In several languages true equals 1: the answer may reach whoever asked with the id 1.",
    how='Sends a ping with "id": true; wants error -32600.',
)
async def id_boolean(bench: Bench) -> None:
    """Uses a truth value as an id."""
    talk = await bench.session()
    data = _wrong(talk, id=True)
    await must_be_refused(talk, data, "a request with the id true", codes=CODES, request_id=True)


@check(
    "envelopes.id-object",
    "An id that is an object is refused",
    weight=2,
    why=STUCK,
    how='Sends a ping with "id": {"a": 1}; wants error -32600.',
)
async def id_object(bench: Bench) -> None:
    """Uses an object as an id."""
    talk = await bench.session()
    data = _wrong(talk, id={"a": 1})
    await must_be_refused(talk, data, "a request whose id is an object", codes=CODES, request_id={"a": 1})


@check(
    "envelopes.not-an-object",
    "A message that is a bare number is refused",
    weight=2,
    why=STUCK,
    how="Sends `5`; wants error -32600.",
)
async def not_an_object(bench: Bench) -> None:
    """Sends a number."""
    await must_be_refused(await bench.session(), b"5", "a message that is a number", codes=CODES)


@check(
    "envelopes.batch",
    "A batch is answered as one where the revision has batches, and refused elsewhere",
    weight=2,
    why=STUCK,
    how="Sends an array of two pings; wants an array of two answers in 2025-03-26, else error -32600.",
)
async def batch(bench: Bench) -> None:
    """Sends an array."""
    talk = await bench.session()
    data = encode([talk.request(talk.lightest, request_id=f"batch-{number}") for number in (1, 2)])
    if talk.revision == "2025-03-26":
        await talk.write(data)
        await talk.answer("batch-2", "a batch")
        if not talk.batches:
            raise FailedError("a batch was answered, but not with an array")
        return
    await must_be_refused(talk, data, "a batch", codes=CODES)


@check(
    "envelopes.unknown-method",
    "An unknown method is not found",
    weight=3,
    why="Clients find out what a server can do by asking; silence costs them their whole time limit.",
    how="Asks for `probe/no-such-method`; wants error -32601 under the same id.",
)
async def unknown_method(bench: Bench) -> None:
    """Asks for a method that nobody has."""
    talk = await bench.session()
    data = encode(talk.request("probe/no-such-method", request_id="unknown"))
    await must_be_refused(talk, data, "an unknown method", codes=(METHOD_NOT_FOUND,), request_id="unknown")


@check(
    "envelopes.params-type",
    "Parameters that are not an object are refused",
    weight=2,
    why=STUCK,
    how="Sends tools/list with an array, then with a text as its parameters; wants -32600 or -32602.",
)
async def params_type(bench: Bench) -> None:
    """Sends parameters of wrong types."""
    talk = await bench.session()
    for number, params in enumerate(([1], "text")):
        data = _wrong(talk, id=f"params-{number}", method="tools/list", params=params)
        what = f"parameters that are {'an array' if number == 0 else 'a text'}"
        await must_be_refused(talk, data, what, codes=CODES, request_id=f"params-{number}")


@check(
    "envelopes.unknown-notification",
    "An unknown notification is ignored",
    weight=2,
    why="Newer clients send notifications that older servers do not know; an answer to one fits nothing.",
    how="Sends `notifications/probe/unheard-of`; wants silence, and an answer to the next request.",
)
async def unknown_notification(bench: Bench) -> None:
    """Sends a notification that nobody knows."""
    talk = await bench.session()
    note = {"jsonrpc": "2.0", "method": "notifications/probe/unheard-of", "params": {"x": 1}}
    await must_be_ignored(talk, [note], "an unknown notification")


@check(
    "envelopes.stray-answer",
    "An answer that nobody asked for is ignored",
    weight=2,
    why="A late answer of a client must not end the session, nor be answered in turn for ever.",
    how="Sends a result and an error with ids that the server never used; wants silence.",
)
async def stray_answer(bench: Bench) -> None:
    """Sends answers to nothing."""
    talk = await bench.session()
    error = {"jsonrpc": "2.0", "id": 987_002, "error": {"code": -1, "message": "stray"}}
    strays: list[dict[str, Any]] = [{"jsonrpc": "2.0", "id": 987_001, "result": {}}, error]
    await must_be_ignored(talk, strays, "an answer that nobody asked for")


CHECKS = (
    no_jsonrpc, id_null, id_fraction, id_boolean, id_object, not_an_object, batch, unknown_method, params_type,
    unknown_notification, stray_answer,
)  # fmt: skip
