"""Carries the checks out: a look around, then every check on a connection of its own, a few at a time.

Each check is bounded in time, and closes what it opened. When the whole run is cancelled, nothing is left behind.
"""

import asyncio
import time
from collections.abc import Callable, Sequence
from typing import Any

from holdfast.errors import ProcessError
from holdfast.probe.bench import Bench
from holdfast.probe.http_talk import HttpTalk
from holdfast.probe.model import (
    Check,
    FailedError,
    Finding,
    Options,
    Report,
    SkippedError,
    Status,
    UnreachableError,
)
from holdfast.probe.stdio_talk import StdioTalk
from holdfast.probe.survey import Survey, look_around
from holdfast.probe.talk import Talk
from holdfast.probe.target import HttpTarget, Target
from holdfast.probe.transcript import Transcript

__all__ = ["AT_ONCE", "run_probe", "survey_of"]

AT_ONCE = 4
BOUND = 60.0  # seconds of one check, beyond what its own waits allow
# How code ends that was given a value of another shape than it expects.
STUMBLES = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)

OnFinding = Callable[[Finding], None]


async def run_probe(
    target: Target,
    checks: Sequence[Check],
    options: Options,
    on_finding: OnFinding | None = None,
    *,
    known: Survey | None = None,
) -> Report:
    """Judge a server. UnreachableError and ProcessError say that there is none to judge.

    `known` is what an earlier look around has told of the same server, in place of another one.
    """
    begin = time.monotonic()
    survey = known or await survey_of(target, options)
    slots = asyncio.Semaphore(AT_ONCE)

    async def judge(check: Check) -> Finding:
        async with slots:
            finding = await _judge(check, target, options, survey)
        if on_finding is not None:
            on_finding(finding)
        return finding

    wanted = [check for check in checks if target.transport in check.transports]
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(judge(check)) for check in wanted]
    findings = tuple(task.result() for task in tasks)
    return Report(target.label, target.transport, _described(survey), findings, time.monotonic() - begin)


async def survey_of(target: Target, options: Options) -> Survey:
    """What a look around tells of the server."""
    transcript = Transcript()
    talks: list[Talk] = []

    async def connect() -> Talk:
        if isinstance(target, HttpTarget):
            talks.append(HttpTalk(options, transcript, target))
            return talks[-1]
        talk = StdioTalk(options, transcript)
        talks.append(talk)
        await talk.start(target)
        return talk

    try:
        return await look_around(connect, options)
    finally:
        for talk in talks:
            await talk.close()


async def _judge(check: Check, target: Target, options: Options, survey: Survey) -> Finding:
    bench = Bench(target, options, survey)
    status: Status = "pass"
    message = remedy = ""
    try:
        async with bench, asyncio.timeout(BOUND + 2 * options.deadline):
            await check.run(bench)
    except SkippedError as skipped:
        status, message, remedy = "skip", str(skipped), skipped.remedy
    except FailedError as failed:
        status, message = "fail", str(failed)
    except TimeoutError:
        status, message = "fail", "the check did not come to its end in time"
    except (ProcessError, UnreachableError, OSError) as error:
        status, message = "fail", f"the server could not be reached: {error}"
    except Exception as error:  # noqa: BLE001 - one check that stumbles must not cost the others
        status, message, remedy = _stumbled(error, is_over_an_answer=bench.has_heard)
    exchange = bench.transcript.lines() if status == "fail" else ()
    seconds = round(bench.transcript.seconds, 3)
    return Finding(check, status, message, remedy, exchange, seconds)


def _stumbled(error: Exception, *, is_over_an_answer: bool) -> tuple[Status, str, str]:
    """What a check has found that came to no end of its own. An answer that it stumbles over must not pay off."""
    words = f"{type(error).__name__}: {error}"
    if is_over_an_answer and isinstance(error, STUMBLES):
        remedy = "look at the exchange; if the answers are in order, this is a defect of the probe: report it"
        return "fail", f"the answer could not be understood: {words}"[:300], remedy
    return "skip", f"the check itself failed: {words}"[:300], "this is a defect of the probe; report it"


def _described(survey: Survey) -> dict[str, Any]:
    return {
        "name": survey.name,
        "version": survey.version,
        "revision": survey.revision,
        "handshake": survey.handshake,
        "modern": survey.modern,
        "tools": len(survey.tools),
        "tool": None if survey.tool is None else survey.tool.name,
    }
