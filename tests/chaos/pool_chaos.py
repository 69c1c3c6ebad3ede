"""Hundreds of runs on the machines of a pool, which are killed at random: is anything lost, or done twice?

    python -m tests.chaos.pool_chaos                             200 real runs on 3 machines
    python -m tests.chaos.pool_chaos --runs 40 --seed 7 --every 4

A person starts them all with `holdfast launch batch --open-pr`. Every few seconds a machine is killed with
SIGKILL, and another one joins; some are told to leave instead, and once the tables of the queue are dropped. In
the end every run must be DONE with one commit and one pull request, what it made must be the same as in every
other run, no two processes may ever have been at work on a run at the same time, and its events must hold.
"""

import argparse
import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from tests.chaos.launch_chaos import ChaosError, make_scene
from tests.launch.pools import Machine, Pool, new_pool
from tests.launch.postgres import postgres

__all__ = ["Siege", "check"]


class Siege:
    """The machines of a pool, some of which are always about to die."""

    def __init__(self, pool: Pool, machines: int, dice: random.Random, *, concurrency: int) -> None:
        self.killed, self.left, self._joined = 0, 0, 0
        self._pool, self._dice, self._concurrency = pool, dice, concurrency
        self.machines = [self._join() for _ in range(machines)]

    def _join(self) -> Machine:
        self._joined += 1
        return self._pool.machine(f"m{self._joined}", "--concurrency", str(self._concurrency))

    def strike(self) -> None:
        """One machine dies, or is told to leave; another one joins in its place."""
        at = self._dice.randrange(len(self.machines))
        if self._dice.random() < 0.8:
            self.kill(at)
            return
        self._check(self.machines[at])
        self.machines[at].process.terminate()
        self.left += 1
        self.machines[at] = self._join()

    def kill(self, at: int) -> Machine:
        """This machine dies, and another one joins in its place."""
        victim = self.machines[at]
        self._check(victim)
        victim.kill()
        self.killed += 1
        self.machines[at] = self._join()
        return victim

    @staticmethod
    def _check(machine: Machine) -> None:
        if machine.process.poll() is not None:
            raise ChaosError(f"{machine.name} ended by itself: {machine.output.read_text()[-2000:]}")


def check(pool: Pool, remote: Path, runs: int) -> None:
    """ChaosError unless all runs are done, once."""
    if pool.twice():
        raise ChaosError(f"executed twice at once: {pool.twice()[:10]}")
    branches = Counter(name.split("/")[3] for name in _refs(remote, "refs/heads/launch/"))
    with pool.service("judge") as service:
        found = service.store.runs(limit=runs + 1)
        states = Counter(run.state for run in found)
        if states != {"DONE": runs}:
            raise ChaosError(f"{dict(states)} instead of {runs} runs that are DONE")
        made = {json.dumps(_artifacts(service.store.artifacts(run.run_id)), sort_keys=True) for run in found}
        for run in found:
            events, differences = service.replay(run.run_id)
            if differences:
                raise ChaosError(f"{run.run_id}: {events} events, {differences[:3]}")
            if branches[run.run_id] != 1:
                raise ChaosError(f"{run.run_id} has {branches[run.run_id]} branches")
    if len(made) != 1:
        raise ChaosError(f"the same configuration led to {len(made)} different results")
    if len(_refs(remote, "refs/holdfast/pulls/")) != runs or len(branches) != runs:
        raise ChaosError("there are more pull requests than runs, or less")
    commits = _git(remote, "rev-list", "--count", "--glob=refs/heads/launch/*/*", "--not", "HEAD").strip()
    if int(commits) != runs:
        raise ChaosError(f"{commits} commits instead of {runs}")


def _artifacts(found: dict[str, Any]) -> dict[str, str]:
    """Digests by name, without the one artifact that names the run itself."""
    return {name: one.sha256 for name, one in found.items() if name != "pr.json"}


def _git(root: Path, *words: str) -> str:
    return subprocess.run(["git", "-C", str(root), *words], check=True, capture_output=True, text=True).stdout


def _refs(remote: Path, below: str) -> list[str]:
    return _git(remote, "for-each-ref", "--format=%(refname)", below).split()


def main() -> int:
    """Run it; 0 when nothing was lost or doubled."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--machines", type=int, default=3)
    parser.add_argument("--concurrency", type=int, default=1, help="runs that one machine executes at a time")
    parser.add_argument("--every", type=float, default=12.0, help="seconds between two strikes, on average")
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--limit", type=float, default=7200.0, help="seconds that all of it may take")
    given = parser.parse_args()
    seed = given.seed if given.seed is not None else random.SystemRandom().randrange(1_000_000)
    print(f"seed {seed}", flush=True)
    with tempfile.TemporaryDirectory(prefix="holdfast-pool-") as name, contextlib.ExitStack() as resources:
        folder = Path(name)
        pool = resources.enter_context(
            new_pool(folder, resources.enter_context(postgres(folder)), lease=8, stand_ins=False)
        )
        try:
            return _besieged(pool, given, random.Random(seed))
        except ChaosError as error:
            print(f"FAILED: {error}\n{pool.said()[-6000:]}")
            return 1


def _besieged(pool: Pool, given: argparse.Namespace, dice: random.Random) -> int:
    scene = make_scene(pool.folder, required_sections=["kb"], launch_tier="minimal")
    remote, batch = pool.folder / "site.git", pool.folder / "runs.jsonl"
    subprocess.run(["git", "clone", "--quiet", "--bare", str(scene.site), str(remote)], check=True)
    config = {**scene.config, "site_repo_url": str(remote)}
    batch.write_text("".join(json.dumps({"config": config, "key": f"run {n}"}) + "\n" for n in range(given.runs)))
    siege = Siege(pool, given.machines, dice, concurrency=given.concurrency)
    begun = told = time.monotonic()
    person = pool.command("batch", str(batch), "--open-pr", "--json")
    strike, dropped = begun + given.every, False
    with pool.service("observer") as service:
        while person.poll() is None:
            now = time.monotonic()
            if now - begun > given.limit:
                os.kill(person.pid, signal.SIGINT)
                raise ChaosError(f"not at its end after {given.limit:g} s")
            if now >= strike:
                siege.strike()
                strike = now + dice.uniform(0.5, 1.5) * given.every
            done = Counter(run["state"] for run in service.runs(limit=given.runs))
            if not dropped and done["DONE"] > given.runs // 3:
                pool.drop_queue()
                dropped = True
            if now - told > 30:
                told = now
                print(f"{now - begun:6.0f} s  {siege.killed} killed  {dict(done)}", flush=True)
            time.sleep(0.5)  # noqa: TID251 - the next look at a condition with a bound
    seconds = time.monotonic() - begun
    answer = json.loads(person.communicate()[0])
    if not answer["ok"]:
        raise ChaosError(f"the batch is not done: {[run for run in answer['runs'] if not run['ok']][:5]}")
    check(pool, remote, given.runs)
    print(
        f"{given.runs} runs on {given.machines} machines in {seconds:.0f} s: {siege.killed} killed, {siege.left} "
        f"left, queue dropped: {dropped}; all are done, each with one commit, none executed twice at once"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
