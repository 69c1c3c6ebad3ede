"""Upgrades under load: one release after the other takes over, good ones and bad ones, while a client works on.

    python -m tests.chaos.rollout_chaos --rollouts 50 --seed 7

A real client keeps requests of every kind in flight through `holdfast run`. Each rollout has an outcome that it
must have: releases with the same tools and with more of them take over, one that does not start, hangs or breaks
callers never does, and one that crashes at every call is left for the one before it. Every law of `ChurnLog` is
checked all the time; every request is answered once, the session is never closed, and at the end nothing is left.
"""

import argparse
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.chaos.host_chaos import IN_A_HURRY, PATIENCE, LawBrokenError, Load, Options

from holdfast.errors import SessionError
from holdfast.host.records import list_hosts
from holdfast.host.remote import ask
from holdfast.settings import Settings
from holdfast.testing import Fault, HostUnderTest, Traces, script

TOOLS = [
    "read",
    "write",
    "guarded",
    "guarded_probe",
    "add_once",
    "idempotent",
    "slow",
    "progress",
    "big",
    "echo",
    "ask",
]
MORE = [*TOOLS, "pid"]
SURROUNDINGS = {
    **IN_A_HURRY, "HOLDFAST_ROLLOUT_GRACE": "0.1", "HOLDFAST_PROBATION": "20",
    "HOLDFAST_PING_INTERVAL": "0", "HOLDFAST_DEADLINE": "4",
}  # fmt: skip


@dataclass(frozen=True)
class Step:
    """One rollout: what is rolled out, and what must come of it."""

    title: str
    faults: tuple[Fault, ...]
    outcome: str  # activated, failed or rolled_back
    accept_breaking: bool = False


def _lists(names: list[str]) -> Fault:
    return Fault.on_start("list_tools", names=names)


# In this order, again and again: each starts where the one before it has left.
STEPS = (
    Step("the same tools", (_lists(TOOLS),), "activated"),
    Step("more tools", (_lists(MORE),), "activated"),
    Step("does not start", (_lists(MORE), Fault.on_start("exit")), "failed"),
    Step("hangs in the handshake", (_lists(MORE), Fault.on_method("initialize", "mute")), "failed"),
    Step("breaks callers", (_lists(TOOLS),), "failed"),
    Step("cannot list its tools", (_lists(MORE), Fault.on_start("list_error")), "failed"),
    Step("dies in the handshake", (_lists(MORE), Fault.on_method("tools/list", "kill")), "failed"),
    Step("crashes at every call", (_lists(MORE), Fault("kill", method="tools/call")), "rolled_back"),
    Step("breaks callers, and may", (_lists(TOOLS),), "activated", accept_breaking=True),
)


@dataclass
class Report:
    """What a run has seen."""

    rollouts: int = 0
    sent: int = 0
    seconds: list[float] = field(default_factory=list)
    outcomes: Counter[str] = field(default_factory=Counter)
    answers: Counter[str] = field(default_factory=Counter)

    def table(self) -> str:
        """The run, as a table."""
        rows = [("rollouts", self.rollouts), ("requests", self.sent)]
        rows += [(f"rollout: {name}", count) for name, count in sorted(self.outcomes.items())]
        rows += [(f"answer: {name}", count) for name, count in sorted(self.answers.items())]
        slowest = f"{max(self.seconds):.2f}" if self.seconds else "-"
        return "\n".join(
            [*(f"{name:44s} {value:9d}" for name, value in rows), f"slowest rollout, s {slowest:>34}"]
        )


class RolloutChaos:
    """One run."""

    def __init__(self, rollouts: int, seed: int, folder: Path) -> None:
        self.rollouts = rollouts
        self.folder = folder
        self.report = Report()
        self._command = self._release(0, (_lists(TOOLS),))
        self.host = HostUnderTest.running(self._command, folder, environment=SURROUNDINGS, kept=200)
        self.load = Load(self.host, Options(0, seed=seed), random.Random(seed))

    def _release(self, number: int, faults: tuple[Fault, ...]) -> list[str]:
        """The command of a release; all of them share what their workers leave behind."""
        *words, file = script(*faults).command(self.folder / "worker")
        return [*words, str(Path(file).replace(Path(file).with_name(f"release-{number}.json")))]

    def run(self) -> Report:
        """Roll out until all is done; LawBrokenError with the law."""
        with self.host, ThreadPoolExecutor(1) as pool:
            self.host.handshake()
            for number in range(self.rollouts):
                began = time.monotonic()
                self._roll_out(pool, number + 1, STEPS[number % len(STEPS)])
                self.report.seconds.append(time.monotonic() - began)
                self.report.rollouts += 1
            self._finish()
        return self.report

    def _roll_out(self, pool: ThreadPoolExecutor, number: int, step: Step) -> None:
        command = self._release(number, step.faults)
        asked = pool.submit(self._ask, "rollout", command=command, accept_breaking=step.accept_breaking)
        self._until(asked.done, f"rollout {number} ({step.title}) to end")
        problem = asked.exception()
        failed = isinstance(problem, SessionError)
        if problem is not None and not failed:
            raise problem
        if failed != (step.outcome == "failed"):
            raise LawBrokenError(f"rollout {number} ({step.title}): {problem or 'it was activated'}")
        if step.outcome == "rolled_back":
            self._until(lambda: self._last_outcome(pool) == "rolled_back", f"rollout {number} to be rolled back")
        self.report.outcomes[f"{step.title}: {step.outcome}"] += 1

    def _last_outcome(self, pool: ThreadPoolExecutor) -> str:
        asked = pool.submit(self._ask, "status")
        self._until(asked.done, "the status")
        return str((asked.result()["last_rollout"] or {}).get("outcome"))

    def _ask(self, operation: str, **arguments: Any) -> Mapping[str, Any]:
        (record,) = list_hosts(Settings(state_dir=self.folder / "state"))
        return ask(record, operation, PATIENCE, **arguments)

    def _until(self, condition: Any, what: str) -> None:
        deadline = time.monotonic() + 2 * PATIENCE
        while not condition():
            self.load.top_up()
            self.host.turn(0.005)
            self.load.settle()
            if broken := self.host.log.broken_laws():
                raise LawBrokenError("; ".join(broken[:5]))
            if self.host.ended:
                raise LawBrokenError(f"the session was closed; stderr: {self.host.stderr()}")
            if time.monotonic() > deadline:
                raise LawBrokenError(f"waited too long for {what}")

    def _finish(self) -> None:
        deadline = time.monotonic() + PATIENCE
        while self.load.in_flight and time.monotonic() < deadline:
            self.host.turn(0.02)
            self.load.settle()
        self.report.sent, self.report.answers = self.load.sent, self.host.log.outcomes
        try:
            self.host.assert_nothing_left(bound=10.0)
        except AssertionError as error:
            raise LawBrokenError(str(error)) from error
        effects = Traces(self.folder / "worker").effects()
        if broken := self.host.log.broken_laws(effects, is_over=True):
            raise LawBrokenError("; ".join(broken[:5]))


def main() -> int:
    """Parse the options and run; the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rollouts", type=int, default=50)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    options = parser.parse_args()
    print(f"seed {options.seed}", flush=True)
    folder = Path(tempfile.mkdtemp(prefix="holdfast-rollouts-"))
    try:
        report = RolloutChaos(options.rollouts, options.seed, folder).run()
    except (LawBrokenError, AssertionError) as error:
        print(f"BROKEN with --seed {options.seed}: {error}\nstate and stderr: {folder}", flush=True)
        return 1
    print(report.table())
    shutil.rmtree(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
