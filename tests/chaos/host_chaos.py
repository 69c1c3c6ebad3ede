"""A long, random maltreatment of the host: workers are killed, hung and garbled while a client works on.

    python tests/chaos/host_chaos.py --seconds 600 --faults 1000 --kills 400 --seed 7
    python tests/chaos/host_chaos.py --seconds 120 --blocks 200

A real client keeps requests of every kind in flight through `holdfast run`. Workers die and misbehave by
themselves, as their script says, and are killed and stopped from outside. Every law of `ChurnLog` is checked all
the time; at the end nothing may be left: no process, no temporary file, no request without its answer, no memory
that grew. With `--blocks` workers are blocked rather than killed, with `--reads` for good too; then no call that
may be repeated may end with anything but its result. The run ends with a table, or with exit code 1, the seed and
the law that was broken.
"""

import argparse
import contextlib
import operator
import os
import random
import shutil
import signal
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from holdfast.present.profile import LATEST_HANDSHAKE
from holdfast.testing import Fault, HostUnderTest, Script, Traces, script
from holdfast.testing.marked import command_line

MIB = 2**20
PATIENCE = 30.0  # seconds that a request may wait, with all the replays and probes that it may need
GROWTH = 12 * MIB  # how much more memory the host may use in the last quarter of a run than in the first

# What a worker does that a host without any care would pass on or be brought down by. Whatever is only unusual
# (a delay, an error, a question) or makes other faults worse (a signal that is ignored) is not counted.
REAL_FAULTS = (
    "kill", "exit", "stop_reading", "freeze", "mute", "never_answer", "close_stdout", "noise", "answer_with_id",
    "answer_twice", "progress_after_answer", "grandchild",
)  # fmt: skip

# Everything that is patient by default is in a hurry here, and nothing gives up.
IN_A_HURRY = {
    "HOLDFAST_DEADLINE": "1",
    "HOLDFAST_DEADLINE_TOTAL": "4",
    "HOLDFAST_HEARTBEAT": "0.2",
    "HOLDFAST_KILL_GRACE": "0.1",
    "HOLDFAST_PING_INTERVAL": "0.5",
    "HOLDFAST_PING_TIMEOUT": "1",
    "HOLDFAST_PROBE_HOLD": "5",
    "HOLDFAST_RESTART_BUDGET": "1000000",
    "HOLDFAST_RESTART_DELAY": "0.01",
    "HOLDFAST_RESTART_DELAY_MAX": "0.05",
    "HOLDFAST_START_TIMEOUT": "2",
    "HOLDFAST_EVENT_LOG_BYTES": "1000000",
}


# And here whoever is blocked for a second is suspected, and nobody has to end for another reason.
BLOCKING = {
    "HOLDFAST_DEADLINE": "20",
    "HOLDFAST_DEADLINE_TOTAL": "25",
    "HOLDFAST_SUSPECT_AFTER": "0.8",
    "HOLDFAST_LIVENESS_INTERVAL": "0.3",
    "HOLDFAST_REPLAYS": "50",
}
BLOCKS = ("spin", "delay", "stop_reading", "freeze")
REPEATABLE = frozenset({"read", "echo", "slow", "big", "progress", "add_once"})


class LawBrokenError(Exception):
    """Something happened that must never happen."""


@dataclass(frozen=True)
class Options:
    """How long and how hard."""

    seconds: float
    faults: int = 0
    kills: int = 0
    generations: int = 0
    blocks: int = 0  # workers are blocked so often, rather than killed
    reads: bool = False  # nothing is asked that could leave state in a worker
    seed: int = 0
    in_flight: int = 12
    rate: float = 150.0  # requests per second at most: this is a test of faults, not of speed
    blow_every: float = 0.4  # seconds between two faults from outside, on average
    spare: int = 0
    revision: str = LATEST_HANDSHAKE


def hostile_script(seed: int) -> Script:
    """A worker that does every kind of thing wrong now and then, and is right most of the time."""
    rare, rarer = 0.002, 0.0007
    deaths = ("kill", "kill_after_effect", "kill_before_answer", "kill_mid_answer", "kill_after_answer")
    exits = ("exit_before_read", "exit_after_effect", "exit_mid_answer")
    hangs = ("stop_reading", "freeze", "mute", "never_answer", "close_stdout")
    kinds = ("text", "half_json", "binary", "no_message", "empty", "glued")
    ids = ("unknown", "old", "null", "wrong_type", "boolean", "list")
    return script(
        *(Fault.sometimes(rare, do) for do in deaths),
        *(Fault.sometimes(rarer, do) for do in exits),
        *(Fault.sometimes(rarer, do) for do in hangs),
        *(Fault.sometimes(rare, "noise", kind=kind) for kind in kinds),
        *(Fault.sometimes(rare, "answer_with_id", which=which) for which in ids),
        Fault.sometimes(rarer, "answer_with_id", which="unknown", then_rightly=False),
        Fault.sometimes(rarer, "noise", kind="long_line", size=100_000),
        Fault.sometimes(rare, "answer_twice"),
        Fault.sometimes(rare, "answer_error"),
        Fault.sometimes(rare, "progress_after_answer"),
        Fault.sometimes(rare, "delay", seconds=0.2),
        Fault.sometimes(rare, "flood_stderr", size=200_000),
        Fault.sometimes(rare, "split_writes", size=0),
        Fault.sometimes(rare, "list_changed"),
        Fault.sometimes(rare, "ask_client"),
        Fault.sometimes(rarer, "grandchild", kind="daemon", stubborn=True),
        Fault.sometimes(rarer, "grandchild", kind="session", keeps_pipes=True),
        Fault.sometimes(0.5, "ignore_cancel"),
        Fault.sometimes(0.1, "answer_cancelled"),
        Fault("shuffle_tools", probability=0.2),
        Fault("ignore_sigterm", probability=0.2),
        Fault("ignore_eof", probability=0.2),
        Fault("delay", at="start", probability=0.1, arguments={"seconds": 0.2}),
        Fault("kill", method="initialize", probability=0.03),
        Fault("kill_mid_answer", method="initialize", probability=0.03),
        Fault("kill", method="tools/list", probability=0.02),
        Fault("mute", method="initialize", probability=0.005),
        seed=seed,
    )


def blocking_script(seed: int, *, for_good: bool) -> Script:
    """A worker that blocks now and then, asleep or at full speed: for a while, and for good where that may be."""
    rare, rarer = 0.004, 0.0015
    return script(
        Fault.sometimes(rare, "delay", seconds=1.5),
        Fault.sometimes(rare, "spin", seconds=1.5),
        Fault.sometimes(rare, "freeze"),
        *(Fault.sometimes(rarer, do) for do in ("stop_reading", "spin") if for_good),
        Fault.sometimes(rarer, "kill"),
        seed=seed,
    )


class Load:
    """The client's part: requests of every kind, some of which it cancels, and the check of what comes back."""

    def __init__(self, host: HostUnderTest, options: Options, dice: random.Random) -> None:
        self._host = host
        self._options = options
        self._dice = dice
        self._waiting: dict[int, tuple[float, Mapping[str, Any]]] = {}
        self._to_cancel: list[tuple[float, int]] = []
        self._began = time.monotonic()
        self.sent = 0
        self.cancelled = 0

    def top_up(self) -> None:
        """Have as many requests in flight as wanted, unless that would be too many per second."""
        now = time.monotonic()
        allowed = (now - self._began) * self._options.rate
        while len(self._waiting) < self._options.in_flight and self.sent < allowed:
            self._start(now)
        for due, number in [item for item in self._to_cancel if item[0] <= now]:
            self._to_cancel.remove((due, number))
            if self._waiting.pop(number, None):
                self._host.cancel(number)
                self.cancelled += 1

    def settle(self) -> None:
        """Take the answers that came, and see that each is that of its own request."""
        for answer in self._host.drain():
            _, arguments = self._waiting.pop(answer["id"], (0.0, {}))
            self._check_outcome(answer, arguments)
            payload = answer.get("result", {}).get("structuredContent") or {}
            for name in ("token", "value", "key"):
                if name in arguments and name in payload and arguments[name] != payload[name]:
                    raise LawBrokenError(f"law 2: request {answer['id']} got the answer of another: {payload}")
        for number, (since, arguments) in self._waiting.items():
            if time.monotonic() - since > PATIENCE:
                raise LawBrokenError(f"law 1: request {number} {arguments} has waited {PATIENCE:g} s")

    def _check_outcome(self, answer: Mapping[str, Any], arguments: Mapping[str, Any]) -> None:
        """Where workers are only blocked, whatever may be repeated ends with its result."""
        entry = self._host.log.entries.get(str(answer["id"]))
        if not self._options.blocks or entry is None or entry.tool not in REPEATABLE or entry.outcome == "result":
            return
        payload = answer.get("result", {}).get("_meta", {}).get("io.holdfast/error", answer.get("error"))
        if arguments.get("seconds") != 5 and not str(arguments.get("key", "")).endswith("-again"):
            raise LawBrokenError(f"call {answer['id']} of {entry.tool} was lost: {entry.outcome} {payload}")

    @property
    def in_flight(self) -> int:
        """How many requests wait."""
        return len(self._waiting)

    def _start(self, now: float) -> None:
        self.sent += 1
        unique = f"{self._options.seed}-{self.sent}"
        if self._dice.random() < 0.08:
            method = self._dice.choice(["ping", "tools/list", "resources/list"])
            self._waiting[self._host.request(method)] = (now, {"method": method})
            return
        tool, arguments = self._dice.choices(*zip(*self._calls(unique), strict=True))[0]
        meta = {"progressToken": unique} if self._dice.random() < 0.3 or tool == "progress" else None
        number = self._host.start_call(tool, arguments, meta)
        self._waiting[number] = (now, arguments)
        if self._dice.random() < (0.4 if tool == "slow" else 0.03):
            self._to_cancel.append((now + self._dice.uniform(0.0, 0.3), number))

    def _calls(self, unique: str) -> Iterator[tuple[tuple[str, dict[str, Any]], float]]:
        """Every kind of call, with its weight."""
        dice = self._dice
        pause = dice.choice([0.0, 0.0, 0.02, 0.1])
        yield ("read", {"value": unique, "seconds": pause}), 5
        yield ("echo", {"value": "\u2028\u00e9\x00" * dice.randrange(1, 2000)}), 2
        yield ("slow", {"value": unique, "seconds": dice.uniform(0.0, 0.5)}), 3
        yield ("progress", {"steps": dice.randrange(1, 6), "pause": dice.choice([0.0, 0.03])}), 2
        yield ("big", {"bytes": dice.choice([0, 9000, 70_000, 500_000])}), 1
        if self._options.reads:
            return
        yield ("write", {"token": unique, "seconds": pause}), 6
        yield ("guarded", {"token": unique, "seconds": pause}), 4
        yield ("add_once", {"key": unique, "amount": 1, "seconds": pause}), 4
        yield (
            ("add_once", {"key": f"{self._options.seed}-{dice.randrange(50)}-again", "amount": dice.randrange(2)}),
            1,
        )
        yield ("idempotent", {"token": unique}), 2
        yield ("slow", {"value": unique, "seconds": 5}), 0.1  # longer than its deadline
        yield ("ask", {"method": dice.choice(["roots/list", "sampling/createMessage"])}), 1


class Blows:
    """What happens to workers from outside: SIGKILL mostly; SIGSTOP, sometimes undone; SIGTERM; their keeper."""

    def __init__(self, host: HostUnderTest, options: Options, dice: random.Random) -> None:
        self._host = host
        self._every = options.blow_every
        self._weights = [1, 14, 0, 0] if options.blocks else [14, 3, 2, 0.2]
        self._dice = dice
        self._next = time.monotonic() + 1.0
        self._stopped: list[tuple[float, int]] = []
        self.count: Counter[str] = Counter()

    def fall(self) -> None:
        """Strike, if it is time."""
        now = time.monotonic()
        for due, pid in [item for item in self._stopped if item[0] <= now]:
            self._stopped.remove((due, pid))
            if command_line(pid) == self._host.worker:
                self._strike(pid, signal.SIGCONT)
        if now < self._next:
            return
        self._next = now + self._dice.uniform(0.1, 2 * self._every - 0.1)
        workers = self._host.worker_pids()
        if not workers:
            return
        pid = self._dice.choice(workers)
        blow = self._dice.choices(["SIGKILL", "SIGSTOP", "SIGTERM", "keeper"], self._weights)[0]
        if blow == "keeper":
            self._strike(_parent(pid), signal.SIGKILL, "SIGKILL of the keeper")
            return
        self._strike(pid, signal.Signals[blow])
        if blow == "SIGSTOP" and self._dice.random() < 0.5:
            self._stopped.append((now + self._dice.uniform(0.1, 2.0), pid))

    def _strike(self, pid: int, number: signal.Signals, name: str = "") -> None:
        with contextlib.suppress(ProcessLookupError):
            if pid > 1 and pid not in {os.getpid(), self._host.process.pid}:
                os.kill(pid, number)
                self.count[name or number.name] += 1


def _parent(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return 0


@dataclass
class Report:
    """What a run has seen."""

    options: Options
    elapsed: float = 0.0
    sent: int = 0
    cancelled: int = 0
    generations: int = 0
    effects: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    blows: Counter[str] = field(default_factory=Counter)
    fired: Counter[str] = field(default_factory=Counter)
    memory: list[int] = field(default_factory=list)

    @property
    def faults(self) -> int:
        """What could have cost a client its answer: workers that end, hang or garble, from inside and outside."""
        by_script = sum(count for do, count in self.fired.items() if do.startswith(REAL_FAULTS))
        return by_script + self.blows.total() - self.blows["SIGCONT"]

    @property
    def blocks(self) -> int:
        """How often a worker was blocked, from inside or outside."""
        from_inside = sum(count for do, count in self.fired.items() if do in BLOCKS)
        return from_inside + self.blows["SIGSTOP"]

    @property
    def kills(self) -> int:
        """How often a process was killed or ended itself in the middle of something."""
        from_inside = sum(count for do, count in self.fired.items() if do.startswith(("kill", "exit")))
        return from_inside + sum(count for name, count in self.blows.items() if name.startswith("SIGKILL"))

    def line(self) -> str:
        """The run so far, in one line."""
        memory = self.memory[-1] / MIB if self.memory else 0.0
        return (
            f"{self.elapsed:6.0f} s  {self.sent:7d} requests  {self.faults:6d} faults  {self.kills:5d} kills"
            f"  {self.blocks:5d} blocks  {self.generations:5d} generations  {memory:6.1f} MiB"
        )

    def table(self) -> str:
        """The whole run, as a table."""
        rows = [("requests", self.sent), ("cancelled", self.cancelled), ("effects", self.effects)]
        rows += [("generations", self.generations), ("faults", self.faults), ("of them kills", self.kills)]
        rows += [("blocks", self.blocks)]
        for title, counter in (
            ("outcome", self.outcomes),
            ("from outside", self.blows),
            ("by script", self.fired),
        ):
            rows += [(f"{title}: {name}", count) for name, count in sorted(counter.items())]
        rows += [("memory, first MiB", self.memory[0] // MIB), ("memory, highest MiB", max(self.memory) // MIB)]
        return "\n".join(f"{name:44s} {value:9d}" for name, value in rows)


class Chaos:
    """One run; `worker` is one that misbehaves in another way than by chance."""

    def __init__(
        self,
        options: Options,
        folder: Path,
        environment: Mapping[str, str] | None = None,
        worker: Script | None = None,
    ) -> None:
        self.options = options
        self.folder = folder
        self.traces = Traces(folder / "worker")
        self.report = Report(options)
        dice = random.Random(options.seed)
        blocking = blocking_script(options.seed, for_good=options.reads)
        usual = blocking if options.blocks else hostile_script(options.seed)
        command = (worker or usual).command(folder / "worker")
        flags = ["--spare", str(options.spare)] if options.spare else []
        surroundings = {**IN_A_HURRY, **(BLOCKING if options.blocks else {}), **(environment or {})}
        self.host = HostUnderTest.running(command, folder, *flags, environment=surroundings, kept=200)
        self.load = Load(self.host, options, dice)
        self.blows = Blows(self.host, options, dice)

    def run(self) -> Report:
        """Maltreat the host until all is done, then see what is left; LawBrokenError with the law."""
        began = told = time.monotonic()
        with self.host:
            self.host.handshake(self.options.revision)
            while not self._is_enough(time.monotonic() - began):
                self._turn()
                self.blows.fall()
                self.report.elapsed = time.monotonic() - began
                if self.report.elapsed > len(self.report.memory):
                    self.report.memory.append(self.host.memory())
                if time.monotonic() - told >= 10:
                    told += 10
                    self._count()
                    print(self.report.line(), flush=True)
            self._finish()
        return self.report

    def _turn(self) -> None:
        self.load.top_up()
        self.host.turn(0.005)
        self.load.settle()
        if broken := self.host.log.broken_laws():
            raise LawBrokenError("; ".join(broken[:5]))
        if self.host.ended:
            raise LawBrokenError(f"the session was closed; stderr: {self.host.stderr()}")

    def _is_enough(self, elapsed: float) -> bool:
        if elapsed < self.options.seconds:
            return False
        self._count()
        report, options = self.report, self.options
        seen = (report.faults, report.kills, report.generations, report.blocks)
        if all(map(operator.ge, seen, (options.faults, options.kills, options.generations, options.blocks))):
            return True
        if elapsed > max(2 * options.seconds, PATIENCE):
            raise LawBrokenError(
                "too few in {:.0f} s: {} faults, {} kills, {} generations, {} blocks".format(elapsed, *seen)
            )
        return False

    def _count(self) -> None:
        report = self.report
        report.fired = Counter(note["do"] for note in self.traces.fired())
        report.blows = self.blows.count
        report.generations = self.traces.generations()
        report.sent, report.cancelled = self.load.sent, self.load.cancelled
        report.outcomes = self.host.log.outcomes

    def _finish(self) -> None:
        """Nothing more is asked or struck: every request gets its answer, and nothing is left."""
        deadline = time.monotonic() + PATIENCE
        while self.load.in_flight and time.monotonic() < deadline:
            self.host.turn(0.02)
            self.load.settle()
        self._count()
        try:
            self.host.assert_nothing_left(bound=10.0)
        except AssertionError as error:
            raise LawBrokenError(str(error)) from error
        effects = self.traces.effects()
        self.report.effects = len(effects)
        if broken := self.host.log.broken_laws(effects, is_over=True):
            raise LawBrokenError("; ".join(broken[:5]))
        self._check_memory()

    def _check_memory(self) -> None:
        samples = self.report.memory
        quarter = max(1, len(samples) // 4)
        # The very first seconds are those in which a host is still loading what it needs.
        first, last = statistics.median(samples[1 : quarter + 1] or samples), statistics.median(samples[-quarter:])
        if last - first > GROWTH:
            raise LawBrokenError(f"memory grew from {first / MIB:.1f} to {last / MIB:.1f} MiB")


def main() -> int:
    """Parse the options and run; the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--faults", type=int, default=None, help="fewer make the run longer, twice at most")
    parser.add_argument("--kills", type=int, default=None)
    parser.add_argument("--blocks", type=int, default=0, help="block workers so often, instead of killing them")
    parser.add_argument("--reads", action="store_true", help="ask for nothing but reads, and block for good too")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    parser.add_argument("--in-flight", type=int, default=12)
    parser.add_argument("--rate", type=float, default=150.0)
    parser.add_argument("--blow-every", type=float, default=0.4)
    parser.add_argument("--spare", type=int, default=0)
    parser.add_argument("--revision", default=LATEST_HANDSHAKE)
    given = vars(parser.parse_args())
    for name, usual in (("faults", 1000), ("kills", 400)):
        if given[name] is None:
            given[name] = 0 if given["blocks"] else usual
    options = Options(**given)
    print(f"seed {options.seed}", flush=True)
    folder = Path(tempfile.mkdtemp(prefix="holdfast-chaos-"))
    try:
        report = Chaos(options, folder).run()
    except (LawBrokenError, AssertionError) as error:
        print(f"BROKEN with --seed {options.seed}: {error}\nstate and stderr: {folder}", flush=True)
        return 1
    print(report.table())
    shutil.rmtree(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
