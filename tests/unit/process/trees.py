"""Real process trees for the tests of custody, and bounded waiting for what becomes of them."""

import asyncio
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import psutil

from holdfast.process import posix

PYTHON = [sys.executable, "-I", "-S"]
BOUND = 10.0

# Each member writes its id to NAME.pid and then appends to `beats` for as long as it lives.
MEMBER = """
import os, signal, sys, time

folder = sys.argv[1]

def note(name, text):
    with open(f"{folder}/{name}.part", "w") as file:
        file.write(text)
    os.rename(f"{folder}/{name}.part", f"{folder}/{name}")

def tidy(*_):
    note("tidied", "yes")
    os._exit(0)

def live(name, *traits):
    if "loner" in traits:
        os.setsid()
    if "daemon" in traits:
        os.fork() and os._exit(0)
        os.setsid()
        os.fork() and os._exit(0)
    if "stubborn" in traits:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if "tidy" in traits:
        signal.signal(signal.SIGTERM, tidy)
    for trait in traits:
        if trait.startswith("child="):
            start(*trait[6:].replace(">", "child=", 1).split("+"))
    note(f"{name}.pid", str(os.getpid()))
    if "brief" in traits:
        os._exit(0)
    while True:
        with open(f"{folder}/beats", "a") as file:
            file.write(".")
        time.sleep(0.005)

def start(name, *traits):
    if os.fork():
        return
    if "bare" in traits:
        traits = [trait for trait in traits if trait != "bare"]
        os.execve(sys.executable, [sys.executable, "-I", "-S", __file__, folder, name, *traits], {})
    live(name, *traits)

live(*sys.argv[2:])
"""

GRANDCHILD = "child=child+>grandchild"  # a child with a child
WILD = ("child=stubborn+stubborn", "child=loner+loner", "child=daemon+daemon", "child=bare+loner+daemon+bare")


class Tree:
    """A command that starts a tree, and the members that it is known to consist of."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.members: dict[str, psutil.Process] = {}
        (folder / "member.py").write_text(MEMBER)

    def command(self, *traits: str) -> list[str]:
        return [*PYTHON, str(self.folder / "member.py"), str(self.folder), "parent", *traits]

    def grown(self, names: str) -> bool:
        """Whether every one of the named members has come alive."""
        for name in names.split():
            file = self.folder / f"{name}.pid"
            if name not in self.members and file.exists():
                self.members[name] = psutil.Process(int(file.read_text()))
        return self.members.keys() >= set(names.split())

    def traces(self) -> list[str]:
        """The names of the members that still exist, be it as zombies."""
        return [name for name, process in self.members.items() if process.is_running()]

    def keeper(self) -> psutil.Process:
        """The keeper in front of the tree."""
        keeper = self.members["parent"].parent()
        assert keeper is not None
        return keeper

    def alive(self) -> list[str]:
        """The names of the members that still run; one that init has yet to collect does not."""
        return [name for name in self.traces() if not _is_zombie(self.members[name])]

    def beats(self) -> int:
        """How much the members have written so far."""
        file = self.folder / "beats"
        return file.stat().st_size if file.exists() else 0


def changed_keeper(folder: Path, change: str) -> str:
    """A keeper that differs from the real one by `change`, as it would on another system."""
    script = folder / "changed_keeper.py"
    home = Path(posix.__file__).parent
    script.write_text(
        f"import os, sys\nsys.path.append({str(home)!r})\nimport keeper\n{change}\n"
        "keeper.main(int(sys.argv[1]))\nos._exit(0)\n"
    )
    return str(script)


def powerless_keeper(folder: Path) -> str:
    """A keeper whose signals reach nobody, as with processes that hang in the kernel."""
    return changed_keeper(folder, "keeper._send = lambda kill, target, number: None; keeper.KILL_BOUND = 0.1")


def _is_zombie(process: psutil.Process) -> bool:
    try:
        return bool(process.status() == psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return True


def until(condition: Callable[[], object]) -> None:
    """Wait for `condition`, and fail when it does not come true within the bound."""
    deadline = time.monotonic() + BOUND
    pause = threading.Event()
    while not condition():
        assert time.monotonic() < deadline, "the condition did not come true in time"
        pause.wait(0.005)


async def until_async(condition: Callable[[], object]) -> None:
    """Like `until`, while the event loop runs on."""
    deadline = time.monotonic() + BOUND
    while not condition():
        assert time.monotonic() < deadline, "the condition did not come true in time"
        await asyncio.sleep(0.005)
