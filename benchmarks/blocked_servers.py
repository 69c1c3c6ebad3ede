"""How long a client waits for its next good answer after the server behind a proxy has blocked.

    python -m benchmarks.blocked_servers
    python -m benchmarks.blocked_servers --only holdfast --kinds spin,pool

Every way to block, in front of every backend, ours against the peers, in one run. The peers are installed by name
into ~/.cache/holdfast-bench: FastMCP and mcp-proxy from PyPI, supergateway and mcporter from npm; the backends are
@modelcontextprotocol/server-memory, mcp-server-git, and a server written with FastMCP whose tools block. All
settings are the defaults. Each cell is the time from the first call that is sent after the block (or after the
blocking call was cancelled) until a call is answered with a result; each try has ten seconds, all have `--bound`.
"""

import argparse
import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.blocked.clients import HttpClient, ProgramClient, StdioClient, pause

from holdfast.testing.marked import MARK, command_line, marked_processes

CACHE = Path.home() / ".cache" / "holdfast-bench" / "blocked"
HERE = Path(__file__).parent / "blocked"
PYTHON, FASTMCP = CACHE / "py" / "bin", CACHE / "fm" / "bin"
PROGRAMS = CACHE / "node_modules" / ".bin"
TRY = 10.0  # seconds for one try


class Kind(NamedTuple):
    """A way to block: behind which backend, by which call or signal, and what is asked then."""

    backend: str
    words: str
    block: str = ""  # the tool that blocks
    signal: int = 0  # or the signal that does
    is_cancelled: bool = False
    ask: str = "pid"


KINDS: dict[str, Kind] = {
    "halted-memory": Kind("memory", "SIGSTOP, server-memory", signal=signal.SIGSTOP, ask="read_graph"),
    "halted-git": Kind("git", "SIGSTOP, mcp-server-git", signal=signal.SIGSTOP, ask="git_status"),
    "deaf": Kind("memory-relay", "stdin is not read, server-memory", signal=signal.SIGUSR1, ask="read_graph"),
    "sleep": Kind("fastmcp", "`time.sleep` in the loop", block="sleep"),
    "sleep-cancelled": Kind("fastmcp", "the same, cancelled", block="sleep", is_cancelled=True),
    "spin": Kind("fastmcp", "`while True` in the loop", block="spin"),
    "pool": Kind("fastmcp", "deadlocked thread pool, cancelled", block="pool", is_cancelled=True, ask="pooled"),
}


def install() -> None:
    """Install what is not there yet, with the ordinary clients."""
    for place, packages in ((PYTHON, ("mcp-proxy", "mcp-server-git")), (FASTMCP, ("fastmcp",))):
        if not (place / "python").exists():
            subprocess.run([sys.executable, "-m", "venv", str(place.parent)], check=True)
            subprocess.run([str(place / "pip"), "install", "-q", *packages], check=True)
    if not (PROGRAMS / "mcporter").exists():
        names = ["supergateway", "mcporter", "@modelcontextprotocol/server-memory"]
        found = shutil.which("npm", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}") or "npm"
        subprocess.run([found, "install", "--silent", "--no-fund", "--no-audit", *names], cwd=CACHE, check=True)


def backend_command(name: str, folder: Path) -> list[str]:
    """The command of a backend."""
    memory = [str(PROGRAMS / "mcp-server-memory")]
    if name == "git":
        subprocess.run(["git", "init", "-q", str(folder / "repo")], check=True)
        return [str(PYTHON / "mcp-server-git"), "--repository", str(folder / "repo")]
    if name == "fastmcp":
        return [str(FASTMCP / "python"), str(HERE / "server.py")]
    return memory if name == "memory" else [sys.executable, str(HERE / "relay.py"), *memory]


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as found:
        return int(found.getsockname()[1])


def _behind_http(
    words: Callable[[int], Sequence[str]], environment: Mapping[str, str], folder: Path
) -> HttpClient:
    port = _free_port()
    with (folder / "stderr").open("wb") as log:
        subprocess.Popen(words(port), stdin=subprocess.PIPE, stdout=log, stderr=log, env=dict(environment))
    return HttpClient(f"http://127.0.0.1:{port}/mcp")


def connect(peer: str, command: list[str], environment: dict[str, str], folder: Path) -> Any:
    """A client of a backend behind a peer."""
    if peer == "holdfast":
        return StdioClient([sys.executable, "-m", "holdfast", "run", "--", *command], environment, folder)
    if peer == "FastMCP proxy":
        words = [str(FASTMCP / "python"), str(HERE / "proxy.py"), *command]
        return StdioClient(words, environment, folder)
    if peer == "mcp-proxy":
        program = str(PYTHON / "mcp-proxy")
        return _behind_http(
            lambda port: [program, "--port", str(port), "--pass-environment", "--", *command], environment, folder
        )
    if peer == "supergateway":
        program = str(PROGRAMS / "supergateway")
        flags = ["--outputTransport", "streamableHttp", "--stateful"]
        return _behind_http(
            lambda port: [program, "--stdio", " ".join(command), *flags, "--port", str(port)], environment, folder
        )
    return ProgramClient(str(PROGRAMS / "mcporter"), folder, command, environment)


# In the command line of a process that stands in front of the backend, and names it too.
_IN_FRONT = {"holdfast", "keeper.py", "proxy.py", "mcp-proxy", "supergateway", "mcporter", "sh"}
PEERS = ("holdfast", "FastMCP proxy", "mcp-proxy", "supergateway", "mcporter")


@contextlib.contextmanager
def _everything_ended(mark: str) -> Iterator[None]:
    try:
        yield
    finally:
        for _ in range(50):
            left = [pid for pid in marked_processes(mark) if pid != os.getpid()]
            for pid in left:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            if not left:
                break
            pause(0.1)


def measure(peer: str, kind: Kind, bound: float) -> float | None:
    """The seconds to the next good answer; None where none came within the bound."""
    folder = Path(tempfile.mkdtemp(prefix="holdfast-blocked-"))
    mark = uuid.uuid4().hex
    environment = {
        **os.environ,
        MARK: mark,
        "BLOCKED_FLAG": str(folder / "flag"),
        "MEMORY_FILE_PATH": str(folder / "memory.json"),
        "HOLDFAST_STATE_DIR": str(folder / "state"),
        "HOLDFAST_CONFIG": "none",
    }
    command = backend_command(kind.backend, folder)
    arguments = {"repo_path": str(folder / "repo")} if kind.ask == "git_status" else {}
    with _everything_ended(mark):
        client = connect(peer, command, environment, folder)
        client.open(60.0)
        if not any(client.call(kind.ask, arguments, 30.0) for _ in range(3)):
            raise RuntimeError(f"{peer} does not even answer before anything is blocked")
        _block(client, kind, mark, command)
        began = time.monotonic()
        while time.monotonic() - began < bound:
            tried = time.monotonic()
            if client.call(kind.ask, arguments, min(2 * TRY, bound)):
                return time.monotonic() - began
            pause(max(0.0, 0.5 - (time.monotonic() - tried)))
    shutil.rmtree(folder, ignore_errors=True)
    return None


def _block(client: Any, kind: Kind, mark: str, command: Sequence[str]) -> None:
    if kind.block:
        number = client.start(kind.block, {})
        pause(1.0)
        if kind.is_cancelled:
            client.cancel(number)
        return
    is_relay = kind.signal == signal.SIGUSR1
    program = "relay.py" if is_relay else Path(command[0]).name
    for pid in marked_processes(mark):
        names = {Path(word).name for word in command_line(pid)}
        if program in names and not names & _IN_FRONT:
            os.kill(pid, kind.signal)


def main() -> int:
    """Measure every cell, and print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--only", default=",".join(PEERS))
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--bound", type=float, default=60.0)
    parser.add_argument("--at-once", type=int, default=3, help="cells that are measured at the same time")
    given = parser.parse_args()
    install()
    peers, kinds = given.only.split(","), given.kinds.split(",")

    def cell(one: tuple[str, str]) -> str:
        try:
            found = measure(one[0], KINDS[one[1]], given.bound)
        except (RuntimeError, OSError) as error:
            return f"- ({error})"[:60]
        told = f"> {given.bound:g} s" if found is None else f"{found:.1f} s"
        print(f"{one[1]:16s} {one[0]:14s} {told}", flush=True)
        return told

    cells = [(peer, kind) for kind in kinds for peer in peers]
    with ThreadPoolExecutor(given.at_once) as pool:
        told = dict(zip(cells, pool.map(cell, cells), strict=True))
    print("\n| block | " + " | ".join(peers) + " |\n|---|" + "---|" * len(peers))
    for kind in kinds:
        print(f"| {KINDS[kind].words} | " + " | ".join(told[peer, kind] for peer in peers) + " |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
