"""Checks of a crash behind the session: a supervised server loses a worker, and its client notices little."""

from typing import Any

from holdfast.probe.bench import Bench
from holdfast.probe.model import FailedError, SkippedError, check
from holdfast.probe.stdio_talk import StdioTalk

__all__ = ["CHECKS"]

NO_WORKER = "nothing says that this server has workers to lose"
REMEDY = "add --supervised if its session is meant to outlive its workers"


def _need_supervision(bench: Bench) -> None:
    if not bench.options.supervised:
        raise SkippedError(NO_WORKER, REMEDY)


def _kill_workers(talk: StdioTalk) -> None:
    """SIGKILL for every process below the server that has none below itself."""
    import psutil

    assert talk.process is not None
    try:
        below = psutil.Process(talk.process.pid).children(recursive=True)
    except psutil.NoSuchProcess as error:
        raise FailedError("the server is gone") from error
    parents = {process.ppid() for process in below if process.is_running()}
    workers = [process for process in below if process.pid not in parents]
    if not workers:
        raise FailedError("the server is said to be supervised, and has no process below it")
    for process in workers:
        talk.transcript.note(f"SIGKILL is sent to worker {process.pid}")
        try:
            process.kill()
        except psutil.NoSuchProcess:
            continue  # it ended by itself this moment


@check(
    "crash.worker",
    "The session outlives the death of its worker",
    weight=3,
    transports=("stdio",),
    why="An agent whose tools vanish in the middle of its work seldom gets them back.",
    how="With --supervised: kills the innermost processes below the server; wants tools/list answered with a "
    "result in the same session.",
)
async def worker(bench: Bench) -> None:
    """Kills the worker of an idle session."""
    _need_supervision(bench)
    talk = await bench.stdio_session()
    before = await _tools(bench, talk)
    _kill_workers(talk)
    after = await _tools(bench, talk)
    if before != after:
        raise FailedError("after the death of its worker the server lists other tools")
    await talk.alive("the death of its worker")


@check(
    "crash.in-flight",
    "A call in flight when the worker dies is answered exactly once",
    weight=3,
    transports=("stdio",),
    why="The caller must learn that its call was lost, or get the result of a safe repetition; not neither, "
    "not both.",
    how="With --supervised: kills the innermost processes during a slow call; wants one answer to it, good or "
    "bad.",
)
async def in_flight(bench: Bench) -> None:
    """Kills the worker in the middle of a call."""
    _need_supervision(bench)
    slow = bench.slow()
    talk = await bench.stdio_session()
    await bench.busy_with(talk, slow, "struck")
    _kill_workers(talk)
    await talk.answer("struck", "a call in flight when its worker died", seconds=2 * bench.options.deadline)
    await talk.alive("the death of its worker")
    await talk.settle()
    if len(talk.answers("struck")) > 1:
        raise FailedError("the call in flight was answered twice")


async def _tools(bench: Bench, talk: StdioTalk) -> Any:
    answer = await talk.ask("tools/list", seconds=bench.options.deadline)
    if "error" in answer:
        raise FailedError(f"tools/list was refused: {answer['error']['message']}")
    return answer["result"]


CHECKS = (worker, in_flight)
