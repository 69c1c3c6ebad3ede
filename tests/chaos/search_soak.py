"""A long day of the search server: searches over MCP and HTTP while the index is built, and processes are killed.

    python -m tests.chaos.search_soak --seconds 1800 --seed 7

Two servers share one repository and its index. Both are searched all the time: over their pipes, over HTTP, and by
a crowd of MCP clients over HTTP, 200 at once in all; files are edited, the index is brought up to date and built
anew, calls are cancelled, clients hang up. The workers and the front of the first server are killed; the second is
left alone, so that what it leaks is seen. No search may fail that was not cancelled, and what a build has indexed
must be found from then on. HTTP may refuse or reset a connection, and a session be lost, only around the death of
a front. The run ends with a line of figures, or with exit code 1.
"""

import argparse
import http.client
import json
import os
import random
import re
import shutil
import signal
import statistics
import sys
import tempfile
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.chaos.mcp_crowd import Crowd
from tests.search.sample import write_sample
from tests.search.serving import CHILD, FRONT, WORKER, SearchServer, write_many

from holdfast.search.home import IndexHome
from holdfast.search.library import build_index
from holdfast.search.repository import find_repository, index_home

MB = 1_000_000
PATIENCE = 60.0  # seconds that a call may wait
FRONT_GONE = 15.0  # seconds after the death of a front in which connections may fail
GROWTH = 25 * MB  # of a process that was not killed, from the first third of the run to the last
LARGEST = 200 * MB  # of any process
_ODD_LOOKS = 3
MORE_FILES = 8  # descriptors at the end than after the first third
WORDS = ("retry budget", "exhausted", "many_1_1", "left AND right", '"for retries"', "class:", "print -budget")
UNBOTHERED = {
    "HOLDFAST_RESTART_BUDGET": "1000000",
    "HOLDFAST_REPLAYS": "20",  # with a crowd at the door, a call waits long enough to lose several workers
    "HOLDFAST_EVENT_LOG_BYTES": "1000000",
    "HOLDFAST_QUEUE_MAX": "1000",
    "HOLDFAST_HTTP_CONCURRENCY": "256",
    "HOLDFAST_HTTP_CLIENT_CONCURRENCY": "256",  # all clients come from one address
}
CROWD = 200  # MCP clients over HTTP
CROWD_PACE = 4.0  # seconds between two questions of one of them


# A head alone is the complaint of a process that was killed while it complained: its worker had been killed.
_TOLD_TRACEBACK = re.compile(r"^Traceback .*\n(?:[ \t].*\n)+\S", re.MULTILINE)


class SoakError(Exception):
    """Something failed that must not, or something was left."""


@dataclass
class Figures:
    """What was done, and what was seen of the server that is left alone."""

    done: Counter[str] = field(default_factory=Counter)
    memory: dict[str, list[int]] = field(default_factory=dict)
    files: dict[str, list[int]] = field(default_factory=dict)
    broken: list[str] = field(default_factory=list)

    def line(self) -> str:
        """All of it in one line."""
        told = [f"{name} {count}" for name, count in sorted(self.done.items())]
        for part, seen in self.memory.items():
            told.append(f"{part} {seen[0] / MB:.0f}..{max(seen) / MB:.0f} MB")
        return "; ".join(told)


class Mcp:
    """One server, and the client at its pipes: searches, builds, cancellations."""

    def __init__(
        self, server: SearchServer, root: Path, dice: random.Random, figures: Figures, pace: float
    ) -> None:
        self.server = server
        self._pace = pace
        self._next_search = 0.0
        self._root = root
        self._dice = dice
        self._figures = figures
        self._searches: dict[int, tuple[float, str]] = {}
        self._build: tuple[int, float, str] | None = None
        self._cancel_at = 0.0
        self._next_build = time.monotonic() + dice.uniform(0.5, 2)
        self._forgotten: set[int] = set()

    def turn(self) -> None:
        """Send what is due and take what came."""
        now = time.monotonic()
        while len(self._searches) < 4 and now >= self._next_search:
            self._next_search = now + self._pace
            self._search(self._dice.choice(WORDS))
        is_looking = any(must_find for _, must_find in self._searches.values())
        if self._build is None and not is_looking and now > self._next_build:
            self._start_build(now)
        elif self._build is not None and self._cancel_at and now > self._cancel_at:
            self._cancel_build()
        self.server.turn(0.01)
        for answer in self.server.drain():
            self._settle(answer)
        for number, (since, query) in self._searches.items():
            if now - since > PATIENCE:
                raise SoakError(f"search {number} {query!r} has waited {PATIENCE:g} s; {self.server.stderr()}")

    def waits_since(self, moment: float) -> bool:
        """Whether a search that was asked before then has no answer yet."""
        return any(since < moment for since, _ in self._searches.values())

    def rest(self) -> None:
        """Take the answers that are missing."""
        deadline = time.monotonic() + PATIENCE
        while (self._searches or self._build) and time.monotonic() < deadline:
            self.server.turn(0.02)
            for answer in self.server.drain():
                self._settle(answer)
        if self._searches or self._build:
            raise SoakError(f"no answer to {self._searches} {self._build}")

    def _search(self, query: str, must_find: str = "") -> None:
        number = self.server.start_call("search", {"query": query, "top": 3})
        if not must_find and self._dice.random() < 0.02:
            self.server.cancel(number)
            self._forgotten.add(number)
            self._figures.done["cancelled"] += 1
        else:
            self._searches[number] = (time.monotonic(), must_find)

    def _start_build(self, now: float) -> None:
        word = f"soaked{self._dice.randrange(10**9)}"
        path = self._root / f"{self.server.folder.name}_{self._dice.randrange(20)}.py"  # nobody else's
        path.write_text(f"def {word}(cost):\n    return cost\n")
        self._figures.done["edits"] += 1
        is_full = self._dice.random() < 0.15
        meta = {"progressToken": word} if self._dice.random() < 0.5 else None
        number = self.server.start_call("build_index", {"incremental": not is_full}, meta)
        self._build = (number, now, word)
        self._cancel_at = now + self._dice.uniform(0.0, 2.5) if self._dice.random() < 0.3 else 0.0

    def _cancel_build(self) -> None:
        assert self._build is not None
        self.server.notify("$/cancelRequest", {"id": self._build[0]})
        self._cancel_at = 0.0
        self._build = (*self._build[:2], "")

    def _settle(self, answer: dict[str, Any]) -> None:
        number, result = answer["id"], answer.get("result", {})
        is_good = result.get("isError") is False
        if self._build is not None and number == self._build[0]:
            word, self._build = self._build[2], None
            self._next_build = time.monotonic() + self._dice.uniform(0.2, 3) + 10 * self._pace
            self._settle_build(answer, word, is_good=is_good)
            return
        if number in self._forgotten:
            return
        _, must_find = self._searches.pop(number)
        if not is_good:
            raise SoakError(f"a search failed: {json.dumps(answer)[:600]}")
        if must_find and not any(hit["name"] == must_find for hit in result["structuredContent"]["code"]):
            raise SoakError(f"{must_find} was built and is not found")
        self._figures.done["searches"] += 1

    def _settle_build(self, answer: dict[str, Any], word: str, *, is_good: bool) -> None:
        code = answer.get("result", {}).get("_meta", {}).get("io.holdfast/error", {}).get("code")
        if is_good:
            self._figures.done["builds"] += 1
            if word:
                self._search(word, must_find=word)
        elif code == "CANCELLED" and not word:
            self._figures.done["cancelled builds"] += 1
        elif answer.get("error", {}).get("data", {}).get("code") == "REPLAY_EXHAUSTED":
            # Its worker was killed as often as a call is repeated; a build is long and no read.
            self._figures.done["builds killed too often"] += 1
        else:
            raise SoakError(f"a build failed: {json.dumps(answer)[:600]}")


class Http(threading.Thread):
    """Somebody who searches over HTTP, connects again when it has to, and sometimes hangs up."""

    def __init__(self, soak: "Soak", server: SearchServer, seed: int) -> None:
        super().__init__(daemon=True)
        self._soak = soak
        self._address = server.base().removeprefix("http://")
        self._dice = random.Random(seed)
        self._may_fail = server is soak.servers[0]

    def run(self) -> None:
        """Search until the soak is over."""
        connection = http.client.HTTPConnection(self._address, timeout=PATIENCE)
        while not self._soak.is_over.wait(0.02 + self._soak.pace):
            try:
                self._search(connection)
            except (ConnectionError, http.client.HTTPException) as error:
                connection.close()
                if not self._may_fail or time.monotonic() - self._soak.front_died > FRONT_GONE:
                    self._soak.figures.broken.append(f"HTTP failed: {error!r}")
                self._soak.figures.done["HTTP retries"] += 1
            except Exception as error:
                self._soak.figures.broken.append(f"HTTP failed: {error!r}")
                break
        connection.close()

    def _search(self, connection: http.client.HTTPConnection) -> None:
        body = json.dumps({"query": self._dice.choice(WORDS), "top": 3})
        connection.request("POST", "/search", body, {"Content-Type": "application/json"})
        if self._dice.random() < 0.05:
            connection.close()  # without waiting for the answer
            self._soak.figures.done["hang-ups"] += 1
            return
        response = connection.getresponse()
        text = response.read()
        if response.status != 200:
            self._soak.figures.broken.append(f"HTTP {response.status}: {text[:300]!r}")
        self._soak.figures.done["HTTP searches"] += 1


class Soak:
    """One run; `pace` is the least time between two searches of a client, for a run that is not alone.

    `blow_every` is the longest time between two kills; a short run strikes more often.
    """

    def __init__(
        self,
        seconds: float,
        seed: int,
        folder: Path,
        pace: float = 0.0,
        blow_every: float = 8.0,
        crowd: int = CROWD,
    ) -> None:
        self.seconds = seconds
        self._crowd = crowd
        self.pace = pace
        self._blow_every = blow_every
        self.figures = Figures()
        self.is_over = threading.Event()
        self.front_died = 0.0
        self.servers: list[SearchServer] = []
        self._dice = random.Random(seed)
        self._folder = folder
        self._root = write_sample(folder / "repo")
        write_many(self._root, 40, 20)
        self._next_blow = time.monotonic() + blow_every / 2
        self._last_blow = 0.0
        self._looked = 0.0
        self._odd: Counter[str] = Counter()  # looks in a row at which a part was not one process

    def run(self) -> Figures:
        """Do all of it; SoakError where something is wrong."""
        repository = find_repository(self._root)
        build_index(repository, self._folder / "cache")
        first, second = (self._server(number) for number in range(2))
        with first, second:
            self.servers = [first, second]
            clients = [Mcp(server, self._root, self._dice, self.figures, self.pace) for server in self.servers]
            callers = [Http(self, server, number) for number, server in enumerate(self.servers * 2)]
            crowds = [self._new_crowd(server, self._crowd // 2) for server in self.servers]
            for caller in callers:
                caller.start()
            for crowd in crowds:
                crowd.start()
            until = time.monotonic() + self.seconds
            while time.monotonic() < until:
                self._turn(clients)
            self.is_over.set()
            for crowd in crowds:
                crowd.end(PATIENCE)
            for caller in callers:
                caller.join(PATIENCE)
            for client in clients:
                client.rest()
            self._end()
        self._check_files(index_home(repository, self._folder / "cache"))
        return self.figures

    def _new_crowd(self, server: SearchServer, count: int) -> Crowd:
        def lost(why: str) -> None:
            if server is not self.servers[0] or time.monotonic() - self.front_died > FRONT_GONE:
                self.figures.broken.append(f"MCP over HTTP was lost: {why}")
            self.figures.done["MCP begun anew"] += 1

        return Crowd(
            server.base().removeprefix("http://"),
            count,
            pace=CROWD_PACE,
            patience=PATIENCE,
            question=lambda dice: {"query": dice.choice(WORDS), "top": 3},
            done=lambda what: self.figures.done.update([what]),
            failed=self.figures.broken.append,
            lost=lost,
        )

    def _server(self, number: int) -> SearchServer:
        folder = self._folder / f"server{number}"
        cache = self._folder / "cache"
        return SearchServer(self._root, cache, folder, "--http=127.0.0.1:0", environment=UNBOTHERED)

    def _turn(self, clients: list[Mcp]) -> None:
        for client in clients:
            client.turn()
            if broken := client.server.log.broken_laws():
                raise SoakError("; ".join(broken[:5]))
        if self.figures.broken:
            raise SoakError("; ".join(self.figures.broken[:5]))
        now = time.monotonic()
        # A search whose worker is killed three times is given up, as it must be; a slow machine needs a pause.
        if now > self._next_blow and not clients[0].waits_since(self._last_blow):
            self._last_blow = now
            self._next_blow = now + self._dice.uniform(self._blow_every / 4, self._blow_every)
            self._strike()
        if now > self._looked + 1:
            self._looked = now
            self._look(self.servers[1])

    def _strike(self) -> None:
        """Kill a worker mostly, sometimes the front; of the first server."""
        what = self._dice.choices([WORKER, FRONT], [3, 1])[0]
        if what is FRONT:
            self.front_died = time.monotonic()
        for pid in self.servers[0].below(what):
            os.kill(pid, signal.SIGKILL)
            self.figures.done["killed workers" if what is WORKER else "killed fronts"] += 1

    def _look(self, server: SearchServer) -> None:
        import psutil

        parts = {"host": [server.process.pid], "worker": server.below(WORKER), "front": server.below(FRONT)}
        for part, pids in parts.items():
            # A child that a process has just forked is called like its parent until it becomes another program.
            self._odd[part] = 0 if len(pids) == 1 else self._odd[part] + 1
            if self._odd[part] >= _ODD_LOOKS:
                raise SoakError(f"{len(pids)} processes are the {part} of the server that is left alone")
        if any(self._odd.values()):
            return
        for part, pids in parts.items():
            process = psutil.Process(pids[0])
            self.figures.memory.setdefault(part, []).append(process.memory_full_info().pss)
            self.figures.files.setdefault(part, []).append(process.num_fds())

    def _end(self) -> None:
        """Nothing is asked any more: no child is left, and nothing has grown."""
        for server in self.servers:
            server.until(lambda server=server: not server.below(CHILD), 10, "the end of all children")  # type: ignore[misc]
        self._look(self.servers[1])
        for part, seen in self.figures.memory.items():
            third = max(1, len(seen) // 3)
            grown = statistics.median(seen[-third:]) - statistics.median(seen[2 : third + 2])
            if grown > GROWTH or max(seen) > LARGEST:
                raise SoakError(f"the {part} has grown by {grown / MB:.0f} MB to {max(seen) / MB:.0f} MB")
            files = self.figures.files[part]
            if files[-1] > max(files[: third + 2]) + MORE_FILES:
                raise SoakError(
                    f"the {part} has {files[-1]} open files; at first it had {max(files[: third + 2])}"
                )
        for server in self.servers:
            server.assert_nothing_left(bound=10)
            if broken := server.log.broken_laws(is_over=True):
                raise SoakError("; ".join(broken[:5]))
            if _TOLD_TRACEBACK.search((server.folder / "stderr").read_text()):
                raise SoakError(f"somebody failed: {server.stderr()}")

    def _check_files(self, place: Path) -> None:
        """What is left on disk is one index, and logs that do not grow without end."""
        home = IndexHome(place)
        with home.writing():
            home.prune()
        if len(list(home.builds.iterdir())) != 1 or list(place.glob(".*.draft*")):
            raise SoakError(f"left in the cache: {sorted(map(str, place.rglob('*')))[:20]}")
        state = [path for server in self.servers for path in (server.folder / "state").rglob("*")]
        if len(state) > 40:
            raise SoakError(f"{len(state)} files in the state directories: {sorted(map(str, state))[:20]}")


def main() -> int:
    """Parse the options and run; the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=1800.0)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    options = parser.parse_args()
    print(f"seed {options.seed}", flush=True)
    folder = Path(tempfile.mkdtemp(prefix="holdfast-soak-"))
    soak = Soak(options.seconds, options.seed, folder)
    try:
        figures = soak.run()
    except (SoakError, AssertionError) as error:
        print(f"FAILED with --seed {options.seed}: {error}\n{soak.figures.line()}\nsee {folder}", flush=True)
        return 1
    print(figures.line())
    shutil.rmtree(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
