"""Other search tools, each installed in a folder of its own and run in its best configuration without a network.

Every tool has several configurations; the one that does best on some questions of the development split is the one
that is scored on the test split. A tool that cannot be installed or run is named with the reason.
"""

import json
import os
import platform
import resource
import shutil
import subprocess
import sys
import tarfile
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.search.corpora import made
from benchmarks.search.fetch import Source, archive_of, complain, npm_program
from benchmarks.search.model import Hit

__all__ = ["COMPETITORS", "Codegraph", "Competitor", "Probe", "Semble", "UnavailableError"]

PATIENCE = 120.0  # seconds for one question


class UnavailableError(Exception):
    """The tool cannot be used here; the message is the reason."""


@dataclass
class Competitor(ABC):
    """A tool: `install` and `index` come first, then `search` is called with one of `configurations`."""

    cache: Path
    name: str = ""
    how: str = ""
    configurations: list[dict[str, Any]] = field(default_factory=list)
    index_seconds: float = 0.0
    index_cpu: float = 0.0
    trials: int = 40  # development questions that choose the configuration; a tool that is fast gets all of them

    @property
    def folder(self) -> Path:
        """Where the tool is installed."""
        return self.cache / "tools" / self.name

    def prepare(self, tree: Path) -> None:
        """Install the tool and index a tree; raises UnavailableError with the reason when that fails."""
        try:
            self.install()
            self.index(tree)
        except (OSError, subprocess.SubprocessError, SystemExit, ValueError) as error:
            raise UnavailableError(_last_line(error)) from error

    @abstractmethod
    def install(self) -> None:
        """Bring the tool into its folder."""

    @abstractmethod
    def index(self, tree: Path) -> None:
        """Index a tree and note what it cost."""

    @abstractmethod
    def search(self, query: str, configuration: dict[str, Any]) -> list[Hit]:
        """The first ten hits, with paths relative to the tree."""

    def close(self) -> None:  # noqa: B027 - most leave nothing running
        """End what still runs."""

    def environment(self) -> dict[str, str]:
        """The tool's own home, no telemetry and no network."""
        home = self.folder / "home"
        home.mkdir(parents=True, exist_ok=True)
        offline = {"HF_HUB_OFFLINE": "1", "CODEGRAPH_TELEMETRY": "0", "CODEGRAPH_NO_DAEMON": "1"}
        return {**os.environ, **offline, "HOME": str(home), "XDG_CACHE_HOME": str(home), "DO_NOT_TRACK": "1"}

    def timed(self, work: Callable[[], object]) -> None:
        """Do the indexing and note its wall and CPU seconds (of programs that have ended)."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        began = time.perf_counter()
        work()
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.index_seconds = time.perf_counter() - began
        self.index_cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


class Semble(Competitor):
    """semble: words and static vectors. Its own model is not on the registries; wordllama's vectors stand in."""

    packages = ("semble==0.7.0", "wordllama==0.4.0.post1")
    process: subprocess.Popen[str] | None = None

    def __init__(self, cache: Path) -> None:
        blends = [{"alpha": alpha, "rerank": rerank} for alpha in (None, 0.0, 0.3) for rerank in (True, False)]
        super().__init__(cache, "semble", "in process", blends, trials=1_000)

    def install(self) -> None:
        """A virtual environment of its own."""
        with made(self.folder / "venv", self.packages) as is_made:
            if not is_made:
                complain("installing semble")
                venv = self.folder / "venv"
                _run([sys.executable, "-m", "venv", str(venv)])
                _run([str(venv / "bin" / "python"), "-m", "pip", "install", "--quiet", *self.packages])

    def index(self, tree: Path) -> None:
        """Start the driver; it indexes at once and tells what that took."""
        shutil.rmtree(self.folder / "home", ignore_errors=True)  # its cache of indexes
        python = self.folder / "venv" / "bin" / "python"
        driver = Path(__file__).parent / "semble_driver.py"
        self.process = subprocess.Popen(
            [str(python), str(driver), str(tree), str(self.folder / "model")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=(self.folder / "stderr.txt").open("w"),
            text=True,
            env=self.environment(),
        )
        ready = self._answer()
        self.index_seconds, self.index_cpu = ready["seconds"], ready["cpu"]

    def search(self, query: str, configuration: dict[str, Any]) -> list[Hit]:
        """One line to the driver and one back."""
        assert self.process is not None
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps({"query": query, **configuration}) + "\n")
        self.process.stdin.flush()
        return [Hit(*place) for place in self._answer()]

    def close(self) -> None:
        """Let the driver end."""
        if self.process is not None and self.process.stdin is not None:
            self.process.stdin.close()
            self.process.wait(timeout=PATIENCE)

    def _answer(self) -> Any:
        assert self.process is not None
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise ValueError((self.folder / "stderr.txt").read_text().strip() or "the driver ended")
        return json.loads(line)


class Probe(Competitor):
    """probe: no index, it reads the whole tree for every question."""

    source = Source("npm", "@probelabs/probe", "0.6.0-rc325", (".gz",))
    tree = Path()

    def __init__(self, cache: Path) -> None:
        ways: list[dict[str, Any]] = [
            {"flags": ["--allow-tests"]},
            {"flags": ["--allow-tests", "--no-merge"]},
            {"flags": []},
        ]
        super().__init__(cache, "probe", "a process", ways)

    def install(self) -> None:
        """The binary of this machine out of the package's tarball."""
        with made(self.folder / "bin", self.source.version) as is_made:
            if not is_made:
                complain("installing probe")
                self._unpack(archive_of(self.source, self.cache))

    def index(self, tree: Path) -> None:
        """Nothing to index; shows that the binary runs."""
        self.tree = tree
        _run([str(self.folder / "bin" / "probe"), "--version"])

    def search(self, query: str, configuration: dict[str, Any]) -> list[Hit]:
        """One run of the program."""
        flags = [*configuration["flags"], "--max-results", "10", "--format", "json"]
        command = [str(self.folder / "bin" / "probe"), "search", *flags, "--", query, str(self.tree)]
        found = _json_in(_run(command, self.environment())) or {"results": []}
        return [
            Hit(str(Path(result["file"]).relative_to(self.tree)), *result["lines"]) for result in found["results"]
        ]

    def _unpack(self, package: Path) -> None:
        system = "apple-darwin" if sys.platform == "darwin" else "unknown-linux-musl"
        machine = {"arm64": "aarch64", "AMD64": "x86_64"}.get(platform.machine(), platform.machine())
        with tarfile.open(package) as outer:
            wanted = [name for name in outer.getnames() if name.endswith(f"-{machine}-{system}.tar.gz")]
            inner = outer.extractfile(wanted[0]) if wanted else None
            if inner is None:
                raise UnavailableError(f"the package has no binary for {machine} {system}")
            with tarfile.open(fileobj=inner) as archive:
                for member in archive:
                    if member.isfile() and Path(member.name).name == "probe":
                        member.name = "probe"
                        archive.extract(member, self.folder / "bin", filter="data")


class Codegraph(Competitor):
    """codegraph: a graph of symbols; asked by its symbol search and by its context builder."""

    package = "@colbymchenry/codegraph@1.6.1"
    copy = Path()

    def __init__(self, cache: Path) -> None:
        ways = [
            {"command": ["query", "--json", "--limit", "10"]},
            {"command": ["query", "--json", "--limit", "10", "--kind", "function"]},
            {"command": ["query", "--json", "--limit", "10", "--kind", "method"]},
            {"command": ["context", "--format", "json", "--no-code", "--max-nodes", "10"]},
        ]
        super().__init__(cache, "codegraph", "a process", ways)

    @property
    def program(self) -> str:
        """What is called."""
        return str(self.folder / "prefix" / "node_modules" / ".bin" / "codegraph")

    def install(self) -> None:
        """Into a prefix of its own, without install scripts."""
        with made(self.folder / "prefix", self.package) as is_made:
            if not is_made:
                complain("installing codegraph")
                prefix = str(self.folder / "prefix")
                quiet = ["--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error"]
                _run([npm_program(), "install", "--prefix", prefix, *quiet, self.package])

    def index(self, tree: Path) -> None:
        """It writes its index into the tree, so it gets a copy."""
        self.copy = self.folder / "tree"
        shutil.rmtree(self.copy, ignore_errors=True)
        shutil.copytree(tree, self.copy)
        self.timed(lambda: _run([self.program, "init", "--yes", str(self.copy)], self.environment()))

    def search(self, query: str, configuration: dict[str, Any]) -> list[Hit]:
        """One run of the program."""
        command, *flags = configuration["command"]
        answer = _run([self.program, command, *flags, "--path", str(self.copy), "--", query], self.environment())
        found = _json_in(answer) or []
        nodes = [entry["node"] for entry in found] if isinstance(found, list) else found["nodes"]
        return [Hit(node["filePath"], node["startLine"], node["endLine"]) for node in nodes][:10]


COMPETITORS: dict[str, Callable[[Path], Competitor]] = {"semble": Semble, "probe": Probe, "codegraph": Codegraph}


def _run(command: list[str], environment: dict[str, str] | None = None) -> str:
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False, timeout=1800)
    if done.returncode != 0:
        raise ValueError(f"{Path(command[0]).name} ended with {done.returncode}: {done.stderr.strip()[-400:]}")
    return done.stdout


def _json_in(text: str) -> Any:
    """The JSON value in what a program printed; None when it printed none (it found nothing)."""
    starts = [place for place in (text.find("{"), text.find("[")) if place >= 0]
    return json.JSONDecoder().raw_decode(text[min(starts) :])[0] if starts else None


def _last_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return lines[-1] if lines else type(error).__name__
