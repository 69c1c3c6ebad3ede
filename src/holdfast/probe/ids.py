"""Checks of request ids: whoever asked gets the answer, and nobody else does."""

import asyncio
from typing import Any

from holdfast.probe.bench import Bench
from holdfast.probe.expect import answered_once
from holdfast.probe.model import FailedError, check
from holdfast.wire.codec import encode

__all__ = ["CHECKS"]

ODD_IDS: tuple[Any, ...] = (0, -1, "", "идентификатор-🌊", "x" * 1000, 2**53 - 1)
BIG = 2**53 + 1


@check(
    "ids.text-and-number",
    "1 and the text of 1 are two requests",
    weight=3,
    why="A server that makes one of both hands one caller the answer of the other.",
    how='Sends requests with the ids 1 and "1" together; wants one answer to each, of its own type.',
)
async def text_and_number(bench: Bench) -> None:
    """Uses the same id in two types."""
    talk = await bench.session()
    method = talk.lightest
    for request_id in (4711, "4711"):
        await talk.send(talk.request(method, request_id=request_id))
    await answered_once(talk, [4711, "4711"], "requests with ids that differ in type", bench.options.timeout)


@check(
    "ids.exact",
    "Ids come back exactly as they were sent",
    weight=3,
    why="A client finds its caller by the id; one that was changed on the way leaves the caller waiting.",
    how="Sends requests with 0, -1, an empty text, text in two scripts, a long one and 2^53-1.",
)
async def exact(bench: Bench) -> None:
    """Uses odd ids."""
    talk = await bench.session()
    method = talk.lightest
    for request_id in ODD_IDS:
        await talk.send({**talk.request(method), "id": request_id})
    await answered_once(talk, list(ODD_IDS), "requests with odd ids", bench.options.timeout)


@check(
    "ids.big",
    "An integer beyond the exact floats comes back exactly, or is refused",
    weight=1,
    why="Rounded to the next float, it is the id of another request.",
    how="Sends a request with the id 2^53+1; wants that id back, or an error for nobody.",
)
async def big(bench: Bench) -> None:
    """Uses a big integer as an id."""
    talk = await bench.session()
    delivery = await talk.send({**talk.request(talk.lightest), "id": BIG})
    await talk.alive("a big id")
    await talk.settle()
    refused = any("error" in message and message.get("id") is None for message in talk.inbox)
    if talk.answers(BIG) or refused or (delivery.status or 0) >= 400:
        return
    others = [item["id"] for item in talk.inbox if isinstance(item.get("id"), int | float)]
    near = [number for number in others if abs(number - BIG) < 1000]
    raise FailedError(
        f"the answer came under the id {near[0]}" if near else "the request was left without an answer"
    )


@check(
    "ids.in-flight-twice",
    "An id that is in flight is refused, and the first call is untouched",
    weight=3,
    why="Two answers under one id: the caller takes whichever comes first, and work is done twice.",
    how="Starts a slow call, sends tools/list under the same id; wants an error, then the call's own result, "
    "two answers in all.",
    transports=("stdio",),
)
async def in_flight_twice(bench: Bench) -> None:
    """Uses the id of a running call."""
    slow = bench.slow()
    talk = await bench.session()
    await bench.busy_with(talk, slow, "twin")
    await talk.write(encode(talk.request("tools/list", request_id="twin")))
    await talk.alive("a second request with an id in flight")
    found = await talk.wait(lambda: talk.answers("twin") or None, bench.options.settle)
    if not found or "error" not in found[0]:
        said = "was served" if found else "was left without an answer"
        raise FailedError(f"a second request with an id that is in flight {said}")
    limit = bench.options.deadline
    await talk.wait(lambda: len(talk.answers("twin")) >= 2 or None, limit)
    await asyncio.sleep(bench.options.settle)
    last = talk.answers("twin")
    if len(last) != 2 or "result" not in last[1]:
        raise FailedError(f"the first call has {len(last) - 1} answers within {limit:g} s, not its one result")


CHECKS = (text_and_number, exact, big, in_flight_twice)
