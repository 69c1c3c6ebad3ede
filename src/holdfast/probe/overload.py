"""Checks of many requests at once: each is answered once, and small questions are not held up by work."""

from holdfast.probe.bench import Bench, call_params
from holdfast.probe.expect import answered_once
from holdfast.probe.model import FailedError, check

__all__ = ["CHECKS"]

REQUESTS = {"stdio": 300, "http": 60}
CALLS = {"stdio": 100, "http": 30}
BUSY = 8


@check(
    "overload.requests",
    "Hundreds of requests at once are each answered exactly once",
    weight=3,
    why="Under load lost and doubled answers show; a client then waits for ever, or takes a wrong one.",
    how="Sends 300 requests (HTTP: 60) without waiting; wants one answer to every id, good or bad.",
)
async def requests(bench: Bench) -> None:
    """Sends many requests."""
    talk = await bench.session()
    method = "tools/list" if bench.survey.has_tools else talk.lightest
    ids = [f"flood-{number}" for number in range(REQUESTS[talk.transport])]
    for request_id in ids:
        await talk.send(talk.request(method, request_id=request_id))
    await answered_once(talk, ids, "requests", bench.options.deadline)
    await talk.alive("hundreds of requests")


@check(
    "overload.calls",
    "A hundred calls at once are each answered exactly once",
    weight=3,
    why="A full queue is a reason to refuse a call in words, not to lose it.",
    how="Calls a read-only tool 100 times (HTTP: 30) without waiting; wants one answer to every id, "
    "a result or a refusal.",
)
async def calls(bench: Bench) -> None:
    """Sends many calls."""
    tool = bench.tool()
    talk = await bench.session()
    ids = [f"call-{number}" for number in range(CALLS[talk.transport])]
    for request_id in ids:
        await talk.send(talk.request("tools/call", call_params(tool), request_id))
    await answered_once(talk, ids, "calls", bench.options.deadline)
    await talk.alive("a hundred calls")


@check(
    "overload.busy",
    "While tools are busy, the list of tools is still answered",
    weight=3,
    why="A client that cannot even ask takes a busy server for a dead one, and restarts it.",
    how=f"Starts {BUSY} slow calls, then sends tools/list; wants its answer before any of theirs.",
)
async def busy(bench: Bench) -> None:
    """Asks while there is work."""
    slow = bench.slow()
    talk = await bench.session()
    ids = [f"busy-{number}" for number in range(BUSY)]
    for request_id in ids:
        await talk.send(talk.request("tools/call", call_params(slow), request_id))
    await talk.ask("tools/list", request_id="asked")
    place = next(place for place, item in enumerate(talk.inbox) if item.get("id") == "asked")
    done = [item for item in talk.inbox[:place] if item.get("id") in ids and "result" in item]
    if done:
        raise FailedError(f"tools/list was answered only after {len(done)} of {BUSY} slow calls had ended")


CHECKS = (requests, calls, busy)
