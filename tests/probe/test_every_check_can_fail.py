"""Each check is noticed to fail by the model server with the fault of the same name, and its neighbours pass.

All faults are tried once, several at a time, and the tests look at what was found: one by one it would take longer
than anybody waits.
"""

import asyncio
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from tests.probe.model_http import serving

from holdfast.probe.bench import Bench
from holdfast.probe.model import Check, Options, Report, ToolUse, UnreachableError
from holdfast.probe.run import run_probe, survey_of
from holdfast.probe.stdio_talk import StdioTalk
from holdfast.probe.survey import Survey
from holdfast.probe.table import CHECKS
from holdfast.probe.target import StdioTarget, http_target
from holdfast.probe.transcript import Transcript

HERE = Path(__file__).parent
OPTIONS = Options(
    timeout=1.5,
    deadline=4.0,
    tool=ToolUse("read", {"key": "a"}),
    slow=ToolUse("slow"),
    hang=ToolUse("hang"),
    supervised=True,
)
AT_ONCE = 6
IDS = [check.id for check in CHECKS]


def _program(name: str, fault: str) -> StdioTarget:
    return StdioTarget((sys.executable, "-I", "-S", str(HERE / name), fault), f"model {fault}")


def _with_neighbour(check: Check) -> list[Check]:
    """The check, and for every other one the next of its group: a fault of the model must not be everybody's."""
    group = [other for other in CHECKS if other.group == check.group]
    place = group.index(check)
    return [check, group[(place + 1) % len(group)]] if len(group) > 1 and place % 2 == 0 else [check]


async def _try(check: Check, known: Survey) -> Report:
    if check.group == "http":
        with serving(check.id) as url:
            return await run_probe(http_target(url), _with_neighbour(check), OPTIONS, known=known)
    program = "model_supervisor.py" if check.group == "crash" else "model_server.py"
    return await run_probe(_program(program, check.id), _with_neighbour(check), OPTIONS, known=known)


async def _try_all() -> dict[str, Report]:
    known = await survey_of(_program("model_server.py", ""), OPTIONS)
    slots = asyncio.Semaphore(AT_ONCE)

    async def one(check: Check) -> Report:
        async with slots:
            return await _try(check, known)

    # The slowest ones first: they wait for what does not come.
    order = sorted(CHECKS, key=lambda check: check.group not in {"orphans", "ending"})
    reports = await asyncio.gather(*(one(check) for check in order))
    return {check.id: report for check, report in zip(order, reports, strict=True)}


@pytest.fixture(scope="module")
def reports() -> dict[str, Report]:
    """What was found of every fault."""
    return asyncio.run(_try_all())


@pytest.mark.parametrize("check_id", IDS)
@pytest.mark.xdist_group("probe")
def test_a_server_with_one_fault_fails_that_check_and_no_other(check_id: str, reports: dict[str, Report]) -> None:
    findings = reports[check_id].findings
    assert [(item.check.id, item.message) for item in findings if item.status == "fail"] == [
        (check_id, next(item.message for item in findings if item.check.id == check_id))
    ]
    failed = next(item for item in findings if item.check.id == check_id)
    assert failed.message
    assert failed.exchange


@pytest.mark.parametrize("program", ["model_server.py", "model_supervisor.py"])
def test_the_model_server_without_a_fault_fails_nothing(program: str) -> None:
    options = [check for check in CHECKS if program == "model_server.py" or check.group == "crash"]
    supervised = program == "model_supervisor.py"
    report = asyncio.run(run_probe(_program(program, ""), options, replace(OPTIONS, supervised=supervised)))
    assert [(item.check.id, item.message) for item in report.findings if item.status == "fail"] == []
    skipped = {item.check.id for item in report.findings if item.status == "skip"}
    assert skipped == (set() if supervised else {"crash.worker", "crash.in-flight"})


def test_the_model_server_over_http_fails_nothing() -> None:
    with serving() as url:
        report = asyncio.run(run_probe(http_target(url), CHECKS, OPTIONS))
    assert [(item.check.id, item.message) for item in report.findings if item.status != "pass"] == [
        ("progress.valid", "slow reports no progress")
    ]
    assert {item.check.group for item in report.findings} >= {"malformed", "ids", "calls", "http"}


HOSTILE = {
    "floods stdout with noise": "while True: print('x' * 4000)",
    "floods stdout with messages": 'while True: print(\'{"jsonrpc":"2.0","method":"a"}\')',
    "asks without end": 'while True: print(\'{"jsonrpc":"2.0","id":1,"method":"ping"}\')',
    "never reads": "import signal; signal.pause()",
    "writes a line without an end": "import sys; [sys.stdout.write('x' * 100000) for _ in range(2000)]",
    "closes its pipes and stays": "import os, signal; os.close(0); os.close(1); signal.pause()",
}


async def _refusal(behaviour: str) -> str:
    target = StdioTarget((sys.executable, "-I", "-S", "-c", HOSTILE[behaviour]), behaviour)
    try:
        await run_probe(target, CHECKS, replace(OPTIONS, start_timeout=0.4))
    except UnreachableError as error:
        return error.message
    return "it was taken for a server"


async def _refusals() -> list[str]:
    async with asyncio.timeout(30):
        return await asyncio.gather(*map(_refusal, HOSTILE))


def test_a_program_that_is_no_server_is_told_so_in_time() -> None:
    assert all(message.startswith("no MCP server answers") for message in asyncio.run(_refusals()))


def test_a_server_that_closes_its_stdout_and_stays_is_told_apart_from_one_that_is_silent() -> None:
    async def is_mute(program: str, *, seconds: float) -> bool:
        talk = StdioTalk(OPTIONS, Transcript())
        await talk.start(StdioTarget((sys.executable, "-I", "-S", "-c", program), "closer"))
        try:
            async with asyncio.timeout(seconds):
                while not talk.is_mute:  # noqa: ASYNC110 - it tells nobody
                    await asyncio.sleep(0.01)
        except TimeoutError:
            return False
        finally:
            await talk.close()
        return True

    assert asyncio.run(is_mute(HOSTILE["closes its pipes and stays"], seconds=30))
    assert not asyncio.run(is_mute(HOSTILE["never reads"], seconds=0.2))


def test_a_check_that_stumbles_costs_only_itself() -> None:
    async def stumble(_: object) -> None:
        raise KeyError("unforeseen")

    checks = [replace(CHECKS[0], run=stumble), CHECKS[0]]
    report = asyncio.run(run_probe(_program("model_server.py", ""), checks, OPTIONS))
    assert [item.status for item in report.findings] == ["skip", "pass"]
    assert "KeyError" in report.findings[0].message


@pytest.mark.parametrize(
    ("fault", "check_id"),
    [
        ("weird.supported", "handshake.modern-unknown-revision"),
        ("weird.result-type", "handshake.self-describing"),
        ("weird.result-type", "calls.result-shape"),
    ],
)
def test_an_answer_that_a_check_stumbles_over_fails_it(fault: str, check_id: str) -> None:
    checks = [check for check in CHECKS if check.id == check_id]
    [finding] = asyncio.run(run_probe(_program("model_server.py", fault), checks, OPTIONS)).findings
    assert finding.status == "fail"
    assert finding.message.startswith("the answer could not be understood: TypeError: ")
    assert "defect of the probe" in finding.remedy
    assert any(line.mark == "<" for line in finding.exchange)


@pytest.mark.parametrize(
    ("error", "look", "status"),
    [
        (KeyError("a"), lambda bench: bench.survey.tools, "fail"),  # what it read was told before
        (OverflowError("a"), lambda bench: bench.transcript.received(b"a"), "fail"),
        (KeyError("a"), lambda bench: bench.options, "skip"),
        (RuntimeError("a"), lambda bench: bench.survey.tools, "skip"),
    ],
)
def test_only_what_has_to_do_with_an_answer_is_the_servers_fault(
    error: Exception, look: Callable[[Bench], object], status: str
) -> None:
    async def stumble(bench: Bench) -> None:
        look(bench)
        raise error

    check = replace(CHECKS[0], run=stumble)
    known = Survey("", handshake=True, modern=True)
    report = asyncio.run(run_probe(_program("model_server.py", ""), [check], OPTIONS, known=known))
    assert [(item.status, "defect of the probe" in item.remedy) for item in report.findings] == [(status, True)]
