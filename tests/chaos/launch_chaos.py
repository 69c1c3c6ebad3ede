"""Kills launch runs wherever they are, and looks whether anything was lost, doubled or left behind.

    python -m tests.chaos.launch_chaos                   every event type x engine, worker and server, on SQLite
    python -m tests.chaos.launch_chaos --postgres --random 25 --seed 7

A victim is killed with SIGKILL when an event of a type appears for the first time (or a random time later);
`GATE_RUN_STARTED:hugo_build` is the event of that gate alone. A run is then resumed like a person would do it. In
the end it must have the same artifacts, byte for byte, as a run that nobody disturbed, one commit and one pull
request, and no process may be left.
"""

import argparse
import asyncio
import contextlib
import functools
import json
import os
import random
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
from tests.launch.products import make_product, make_site, run_config

from holdfast.client.session import ClientSession
from holdfast.client.transports import ProcessTransport
from holdfast.errors import SessionError
from holdfast.launch.store.run_store import RunStore

__all__ = ["VICTIMS", "ChaosError", "Reference", "Scene", "make_reference", "make_scene", "trial"]

VICTIMS = ("engine", "worker", "server")
MARK = "HOLDFAST_LAUNCH_CHAOS"
_BOUND = 120.0  # seconds that any one thing may take
_ENOUGH = 40  # resumes after which a run should long have come to its end


class ChaosError(AssertionError):
    """Something was lost, doubled or left behind."""


@dataclass(frozen=True)
class Scene:
    """Two repositories, and the configuration of a run."""

    folder: Path
    product: Path
    site: Path
    config: dict[str, Any]


@dataclass(frozen=True)
class Reference:
    """What a run leaves that nobody disturbed."""

    artifacts: dict[str, str]
    event_types: list[str]
    seconds: float


@dataclass
class Place:
    """Where one run is made: a workspace and a site of its own."""

    folder: Path
    config: Path
    remote: Path
    store: str
    mark: str = field(default_factory=lambda: secrets.token_hex(8))

    @functools.cached_property
    def runs(self) -> RunStore:
        """The store, which is looked at all the time and therefore opened once."""
        return RunStore(self.store)

    @property
    def environment(self) -> dict[str, str]:
        """What every process of this run is told, so that it can be found."""
        return {
            **os.environ,
            MARK: self.mark,
            "HOLDFAST_STATE_DIR": str(self.folder / "state"),
            "HOLDFAST_LAUNCH_DIR": str(self.folder / "launch"),
            "HOLDFAST_LAUNCH_STORE": self.store,
        }


def make_scene(folder: Path, **changes: Any) -> Scene:
    """A small product, a plain Hugo site; `changes` are of the configuration."""
    product, site = folder / "product", folder / "site"
    product_sha, site_sha = make_product(product), make_site(site)
    return Scene(folder, product, site, run_config(product, product_sha, site, site_sha, **changes))


@contextlib.contextmanager
def new_place(scene: Scene, store: str = "") -> Iterator[Place]:
    """A fresh workspace and a fresh bare clone of the site."""
    folder = Path(tempfile.mkdtemp(prefix="run-", dir=scene.folder))
    remote = folder / "site.git"
    subprocess.run(["git", "clone", "--quiet", "--bare", str(scene.site), str(remote)], check=True)
    config = folder / "run.json"
    config.write_text(json.dumps({**scene.config, "site_repo_url": str(remote)}))
    (folder / "launch").mkdir()
    place = Place(folder, config, remote, store or f"sqlite:///{folder / 'launch' / 'runs.sqlite'}")
    try:
        yield place
    finally:
        _end_all(place)
        place.runs.close()
        shutil.rmtree(folder, ignore_errors=True)


def make_reference(scene: Scene) -> Reference:
    """One run, from start to pull request, that nobody disturbs."""
    with new_place(scene) as place:
        begun = time.monotonic()
        for words in (["start", str(place.config)], ["open-pr", "last"]):
            done = _command(place, *words)
            if done.wait(_BOUND) != 0:
                raise ChaosError(f"{words[0]} failed without any disturbance: {_said(place)}")
        run = place.runs.runs()[0]
        types = list(dict.fromkeys(event.type for event in place.runs.events(run.run_id)))
        return Reference(_artifacts(place), types, time.monotonic() - begun)


# --- one trial -------------------------------------------------------------------------------------------------


def trial(
    scene: Scene, reference: Reference, point: str, victim: str, *, delay: float = 0.0, store: str = ""
) -> str:
    """Kill the victim when the event appears; ChaosError unless everything ends as if nothing had happened."""
    with new_place(scene, store) as place:
        killer = _Killer(place, point, victim, delay)
        if victim == "server":
            asyncio.run(_through_server(place, killer))
        else:
            _through_commands(place, killer)
        _check(place, reference)
        return "killed" if killer.has_killed else "not reached"


def _through_commands(place: Place, killer: "_Killer") -> None:
    _run_command(place, killer, "start", str(place.config))
    for _ in range(_ENOUGH):
        state = _state(place)
        if state is None:  # killed before there was a run
            _run_command(place, killer, "start", str(place.config))
        elif state == "DONE":
            return
        elif state == "READY_FOR_PR":
            _run_command(place, killer, "open-pr", "last")
        else:
            _run_command(place, killer, "resume", "last")
    raise ChaosError(f"the run does not come to its end: it is {_state(place)}")


def _run_command(place: Place, killer: "_Killer", *words: str) -> None:
    process = _command(place, *words)
    killer.watch(process)
    if process.wait(_BOUND) not in (0, 1, -signal.SIGKILL):
        raise ChaosError(f"{words[0]} ended with {process.returncode}: {_said(place)}")


async def _through_server(place: Place, killer: "_Killer") -> None:
    words = [sys.executable, "-m", "holdfast", "serve", "launch"]
    async with ClientSession(ProcessTransport(words, env=place.environment)) as session:
        await session.connect(timeout=60)
        config = json.loads(place.config.read_text())
        await _call(session, "launch_start_run", run_config=config, idempotency_key="chaos")
        run_id = await _until_run(place)
        for _ in range(_ENOUGH):
            await asyncio.to_thread(killer.until_quiet)
            state = _state(place)
            if state == "DONE":
                return
            tool = "launch_open_pr" if state == "READY_FOR_PR" else "launch_resume"
            await _call(session, tool, run_id=run_id)
    raise ChaosError(f"the run does not come to its end: it is {_state(place)}")


async def _call(session: ClientSession, tool: str, **arguments: Any) -> dict[str, Any]:
    """Call a tool whose worker may be killed under it; its answer, whichever it is."""
    try:
        return await session.call_tool(tool, arguments, timeout=_BOUND)
    except SessionError as error:  # the host says that the worker was lost
        return {"lost": str(error)}


async def _until_run(place: Place) -> str:
    bound = time.monotonic() + _BOUND
    while time.monotonic() < bound:
        runs = place.runs.runs()
        if runs:
            return runs[0].run_id
        await asyncio.sleep(0.02)
    raise ChaosError("there is no run")


class _Killer:
    """Kills once: the first victim that is there when the event has appeared."""

    def __init__(self, place: Place, point: str, victim: str, delay: float) -> None:
        self._place = place
        self._point = point
        self._victim = victim
        self._delay = delay
        self.has_killed = False

    def watch(self, process: "subprocess.Popen[bytes]") -> None:
        """Look until the process has ended, or was killed."""
        while process.poll() is None and not self.has_killed:
            self._look([process.pid])

    def until_quiet(self) -> None:
        """Look until nobody executes the run any more."""
        bound = time.monotonic() + _BOUND
        quiet = 0
        while quiet < 5 and time.monotonic() < bound:
            self._look([])
            run = self._place.runs.runs()[0]
            is_idle = run.holder is None and not self._place.runs.requests(state="pending")
            is_dead = run.holder is not None and not _is_alive(self._place, run.holder)
            quiet = quiet + 1 if is_idle or is_dead else 0
            time.sleep(0.02)  # noqa: TID251 - the next look at a condition with a bound

    def _look(self, engines: list[int]) -> None:
        if self.has_killed or not self._is_reached():
            time.sleep(0.005)  # noqa: TID251 - the next look at a condition with a bound
            return
        time.sleep(self._delay)  # noqa: TID251 - a random moment is what is asked for
        for pid in self._victims(engines):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
                self.has_killed = True
                return

    def _is_reached(self) -> bool:
        store = self._place.runs
        runs = store.runs()
        kind, _, gate = self._point.partition(":")
        events = store.events(runs[0].run_id) if runs else []
        return any(event.type == kind and (not gate or event.payload["gate"] == gate) for event in events)

    def _victims(self, engines: list[int]) -> list[int]:
        if self._victim == "engine":
            return engines
        wanted = "holdfast.launch.working" if self._victim == "worker" else "--standalone"
        return [pid for pid, words in _processes(self._place) if wanted in words and "keeper" not in words]


# --- looking ---------------------------------------------------------------------------------------------------


def _check(place: Place, reference: Reference) -> None:
    made = _artifacts(place)
    wrong = sorted(
        name for name in {*made, *reference.artifacts} if made.get(name) != reference.artifacts.get(name)
    )
    if wrong:
        raise ChaosError(f"artifacts differ: {', '.join(wrong)}")
    refs = subprocess.run(
        ["git", "-C", str(place.remote), "for-each-ref", "--format=%(refname)"],
        check=True, capture_output=True, text=True,
    ).stdout.split()  # fmt: skip
    branches = [name for name in refs if name.startswith("refs/heads/launch/")]
    pulls = [name for name in refs if name.startswith("refs/holdfast/pulls/")]
    if len(branches) != 1 or len(pulls) != 1:
        raise ChaosError(f"{len(branches)} branches and {len(pulls)} pull requests")
    count = subprocess.run(
        ["git", "-C", str(place.remote), "rev-list", "--count", branches[0], "--not", "HEAD"],
        check=True, capture_output=True, text=True,
    ).stdout.strip()  # fmt: skip
    if count != "1":
        raise ChaosError(f"{count} commits")
    _until(lambda: not _processes(place), "the end of all processes")


def _artifacts(place: Place) -> dict[str, str]:
    """Digests by name, without the one artifact that names the run itself."""
    found = place.runs.artifacts(place.runs.runs()[0].run_id)
    return {name: one.sha256 for name, one in found.items() if name != "pr.json"}


def _state(place: Place) -> str | None:
    runs = place.runs.runs()
    return runs[0].state if runs else None


def _command(place: Place, *words: str) -> "subprocess.Popen[bytes]":
    with (place.folder / "stderr").open("ab") as stderr:
        return subprocess.Popen(
            [sys.executable, "-m", "holdfast", "launch", *words],
            env=place.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=stderr,
        )


def _said(place: Place) -> str:
    return (place.folder / "stderr").read_text(errors="replace")[-2000:]


def _processes(place: Place) -> list[tuple[int, str]]:
    found = []
    for process in psutil.process_iter(["pid"]):
        with contextlib.suppress(psutil.Error):
            if process.environ().get(MARK) == place.mark and process.status() != psutil.STATUS_ZOMBIE:
                found.append((process.pid, " ".join(process.cmdline())))
    return found


def _is_alive(place: Place, holder: str) -> bool:
    pid = int(holder.split(":")[1])
    return any(pid == one for one, _ in _processes(place))


def _until(condition: Callable[[], bool], what: str, bound: float = 20.0) -> None:
    end = time.monotonic() + bound
    while not condition():
        if time.monotonic() > end:
            raise ChaosError(f"waited {bound:g} s in vain for {what}")
        time.sleep(0.05)  # noqa: TID251 - the next look at a condition with a bound


def _end_all(place: Place) -> None:
    for pid, _ in _processes(place):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


# --- the whole matrix ------------------------------------------------------------------------------------------


def main() -> int:
    """Run the matrix; 0 when nothing was lost."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--postgres", action="store_true", help="on a real PostgreSQL instead of SQLite")
    parser.add_argument("--random", type=int, default=0, help="so many random points instead of every event type")
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--victims", default=",".join(VICTIMS))
    given = parser.parse_args()
    seed = given.seed if given.seed is not None else random.SystemRandom().randrange(1_000_000)
    print(f"seed {seed}", flush=True)
    with tempfile.TemporaryDirectory(prefix="holdfast-launch-") as folder, contextlib.ExitStack() as resources:
        scene = make_scene(Path(folder))
        reference = make_reference(scene)
        print(f"undisturbed: {reference.seconds:.1f} s, {len(reference.artifacts)} artifacts", flush=True)
        points = _points(reference, given.victims.split(","), given.random, random.Random(seed))
        stores = _stores(Path(folder), resources) if given.postgres else (lambda: "")
        failed = [line for point in points if (line := _told(scene, reference, point, stores()))]
    print(f"{len(points)} kills, {len(failed)} failures")
    return 1 if failed else 0


def _points(
    reference: Reference, victims: list[str], count: int, dice: random.Random
) -> list[tuple[str, str, float]]:
    if not count:
        return [(kind, victim, 0.0) for kind in reference.event_types for victim in victims]
    # The gate that runs Hugo is the slowest work of all; some kills have to fall into it.
    slow = max(1, count // 5)
    points = [("GATE_RUN_STARTED:hugo_build", dice.choice(victims), dice.random() * 0.3) for _ in range(slow)]
    while len(points) < count:
        points.append((dice.choice(reference.event_types), dice.choice(victims), dice.random() * 0.5))
    return points


def _stores(folder: Path, resources: contextlib.ExitStack) -> Callable[[], str]:
    from tests.launch.postgres import fresh_schema, postgres

    url = resources.enter_context(postgres(folder))
    return lambda: resources.enter_context(fresh_schema(url))


def _told(scene: Scene, reference: Reference, point: tuple[str, str, float], store: str) -> str:
    kind, victim, delay = point
    begun = time.monotonic()
    try:
        outcome, failure = trial(scene, reference, kind, victim, delay=delay, store=store), ""
    except ChaosError as error:
        outcome, failure = f"FAILED: {error}", str(error)
    print(f"{kind:<27} {victim:<7} +{delay:.2f}s  {time.monotonic() - begun:5.1f} s  {outcome}", flush=True)
    return failure


if __name__ == "__main__":
    sys.exit(main())
