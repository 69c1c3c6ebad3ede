"""How long work is followed and stopped: the engine's progress and stop flag, for whoever called the tool."""

import time
from typing import TYPE_CHECKING, TypedDict

from holdfast.worker.context import SyncContext

if TYPE_CHECKING:
    from holdfast.search.stages import Progress, Stop

__all__ = ["Followed", "followed"]

_PAUSE = 0.1  # seconds between two reports of the same stage; the caller is told at most four per second anyway
_NOTE = "note"


class Followed(TypedDict):
    """What long work of the engine takes by name, to be passed on as it is."""

    progress: "Progress"
    stop: "Stop"


def followed(ctx: SyncContext) -> Followed:
    """The progress and stop functions of one call.

    Numbers and totals rise over all stages: each adds its own, files or bytes, as soon as its total is known, and
    a stage that comes again, as when one of the steps of a longer work has the same name, adds it again.
    """
    stage_now, finished, total_now, told_at = "", 0, 0, 0.0

    def progress(stage: str, done: int, total: int | None, detail: str) -> None:
        nonlocal stage_now, finished, total_now, told_at
        is_new = stage not in (stage_now, _NOTE)  # a note is a word about the stage that it falls into
        if is_new:
            stage_now, finished, total_now = stage, finished + total_now, 0
        if stage != _NOTE:
            total_now = max(total_now, total or 0)
        now = time.monotonic()
        if not ctx.is_followed or (now - told_at < _PAUSE and not is_new and done != total):
            return
        told_at = now
        text = detail or stage
        if done and total is None:
            text += f" ({done} so far)"
        if stage == _NOTE or not total:
            ctx.progress(text, phase=stage)
        else:
            ctx.progress(
                f"{text} ({done} of {total})", progress=finished + done, total=finished + total, phase=stage
            )

    return {"progress": progress, "stop": lambda: ctx.stopped}
