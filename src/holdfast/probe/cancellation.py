"""Checks of cancellation: the work stops, and nothing more is said about it."""

from typing import Any

from holdfast.probe.bench import Bench, call_params
from holdfast.probe.expect import is_refusal, must_be_ignored
from holdfast.probe.model import FailedError, check
from holdfast.wire.envelope import notification_message

__all__ = ["CHECKS"]


def _cancelled(params: dict[str, Any]) -> dict[str, Any]:
    return notification_message("notifications/cancelled", params)


@check(
    "cancellation.stops",
    "A cancelled call does not run to its end",
    weight=3,
    why="Work that nobody waits for goes on costing, and its late answer can be taken for another one.",
    how="Starts the same slow call twice, cancels one, waits for the other to end; wants for the cancelled one "
    "no answer, or one that is an error, and no second.",
    transports=("stdio",),
)
async def stops(bench: Bench) -> None:
    """Cancels one of two calls; the other tells how long it would have taken."""
    slow = bench.slow()
    talk = await bench.session()
    await talk.send(talk.request("tools/call", call_params(slow), "cancelled"))
    await bench.busy_with(talk, slow, "clock")
    await talk.send(_cancelled({"requestId": "cancelled", "reason": "the probe changed its mind"}))
    await talk.answer("clock", f"the call of {slow.name} that was not cancelled", seconds=bench.options.deadline)
    await talk.settle()
    answers = talk.answers("cancelled")
    if len(answers) > 1:
        raise FailedError(f"the cancelled call was answered {len(answers)} times")
    if answers and not is_refusal(answers[0]):
        raise FailedError("the cancelled call ran to its end and was answered with its result")


@check(
    "cancellation.no-progress-after",
    "A cancelled call reports no more progress",
    weight=2,
    why="Progress for a request that its client has forgotten is noise at best, and an error in some clients.",
    how="Starts a slow call with a progress token, cancels it, listens; wants no progress from then on.",
    transports=("stdio",),
)
async def no_progress_after(bench: Bench) -> None:
    """Listens for progress of a cancelled call."""
    slow = bench.slow()
    talk = await bench.session()
    await bench.busy_with(talk, slow, "cancelled", progressToken="probe-token")
    await talk.send(_cancelled({"requestId": "cancelled"}))
    await talk.alive("a cancellation")
    heard = len(talk.inbox)
    await talk.wait(lambda: None, min(2.0, bench.options.timeout))
    if any(place >= heard for place, _ in talk.notifications("notifications/progress")):
        raise FailedError("progress was reported after the call was cancelled")


@check(
    "cancellation.unknown-id",
    "A cancellation of something unknown is ignored",
    weight=2,
    why="It races with the end of a call all the time; it must be harmless.",
    how="Cancels an id that was never used; wants silence, and an answer to the next request.",
)
async def unknown_id(bench: Bench) -> None:
    """Cancels nothing."""
    note = _cancelled({"requestId": "never-used", "reason": "none"})
    await must_be_ignored(await bench.session(), [note], "a cancellation of an unknown id")


@check(
    "cancellation.finished-id",
    "A cancellation of something finished is ignored",
    weight=2,
    why="It arrives after the answer whenever a client gives up at the last moment.",
    how="Cancels a request that was answered; wants no second answer.",
)
async def finished_id(bench: Bench) -> None:
    """Cancels what is over."""
    talk = await bench.session()
    await talk.ask(talk.lightest, request_id="finished")
    await talk.send(_cancelled({"requestId": "finished"}))
    await talk.alive("a cancellation that came too late")
    await talk.settle()
    if len(talk.answers("finished")) != 1:
        raise FailedError("a request that was cancelled after its end was answered again")


@check(
    "cancellation.malformed",
    "A cancellation that says nothing is ignored",
    weight=1,
    why="A notification has no answer, so it must not have any other consequence either.",
    how="Sends cancellations without an id, with null and with an object in its place; wants silence.",
)
async def malformed(bench: Bench) -> None:
    """Cancels badly."""
    wrong: tuple[dict[str, Any], ...] = ({}, {"requestId": None}, {"requestId": {"a": 1}})
    notes = [_cancelled(params) for params in wrong]
    await must_be_ignored(await bench.session(), notes, "a cancellation without an id")


CHECKS = (stops, no_progress_after, unknown_id, finished_id, malformed)
