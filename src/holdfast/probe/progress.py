"""Checks of progress: for whoever asked, rising, and over when the call is."""

from typing import Any

from holdfast.probe.bench import Bench, call_params
from holdfast.probe.model import FailedError, SkippedError, check

__all__ = ["CHECKS"]

TOKEN = "probe-progress-token"  # noqa: S105 - the protocol's word, no secret


@check(
    "progress.valid",
    "Progress carries its token, rises, and ends with the call",
    weight=2,
    why="Clients extend their time limit on progress; progress that does not rise, or comes after the answer, "
    "breaks them.",
    how="Calls the slow tool, or one that only reads, with a progress token; wants each notification with that "
    "token and a higher number than the one before, none behind the answer.",
)
async def valid(bench: Bench) -> None:
    """Follows one call."""
    use = bench.options.slow or bench.tool()
    talk = await bench.session()
    answer = talk.request("tools/call", call_params(use, progressToken=TOKEN), "followed")
    await talk.send(answer)
    await talk.answer("followed", f"the call of {use.name}", seconds=bench.options.deadline)
    await talk.alive("a call with progress")
    await talk.settle()
    end = next(place for place, item in enumerate(talk.inbox) if item.get("id") == "followed")
    heard = list(talk.notifications("notifications/progress"))
    if not heard:
        raise SkippedError(f"{use.name} reports no progress", "name a slow tool that does")
    last = float("-inf")
    for place, message in heard:
        params = message.get("params", {})
        number = params.get("progress")
        if params.get("progressToken") != TOKEN:
            raise FailedError(f"progress has the token {params.get('progressToken')!r}, not the one of the call")
        if isinstance(number, bool) or not isinstance(number, int | float):
            raise FailedError(f"progress is {number!r}, not a number")
        if number <= last:
            raise FailedError(f"progress goes from {last:g} to {number:g}")
        if place > end:
            raise FailedError("progress was reported after the answer")
        last = number


@check(
    "progress.unasked",
    "Without a token there is no progress",
    weight=1,
    why="A notification without an owner cannot be matched to any request; strict clients report an error.",
    how="Calls the same tool without a token; wants no progress.",
)
async def unasked(bench: Bench) -> None:
    """Listens without having asked."""
    use = bench.options.slow or bench.tool()
    talk = await bench.session()
    await talk.ask("tools/call", call_params(use), seconds=bench.options.deadline)
    await talk.settle()
    heard: list[Any] = list(talk.notifications("notifications/progress"))
    if heard:
        raise FailedError("progress was reported for a call that did not ask for it")


CHECKS = (valid, unasked)
