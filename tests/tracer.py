"""Records what calls of tools do outside of their process: programs, connections, writes, native code.

Two tracers give the same kind of record. The audit hook of Python is always there: it sees every process start of
this one, but not what other programs and native libraries do themselves. strace, where it is installed, sees the
system calls of the whole tree. `mark` names the call that what follows belongs to.
"""

import contextlib
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = ["Act", "Grounds", "mark", "record_here", "strace_refusal", "traced"]

Act = tuple[str, str, str]  # the marked call; exec, connect, write or load; a program, an address or a path

_MARK = "/holdfast-tracer/"
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
# The places of paths among the arguments of an audit event, and those of the directories that they begin at.
_CHANGES: dict[str, tuple[tuple[int, int], ...]] = {
    "os.remove": ((0, 1),), "os.rmdir": ((0, 1),), "os.mkdir": ((0, 2),), "os.chmod": ((0, 2),),
    "os.chown": ((0, 3),), "os.utime": ((0, 3),), "os.symlink": ((1, 2),), "os.rename": ((0, 2), (1, 3)),
    "os.link": ((0, 2), (1, 3)), "os.truncate": ((0, -1),),
}  # fmt: skip
_SIMPLE = {
    **dict.fromkeys(("subprocess.Popen", "os.exec", "os.posix_spawn", "os.system", "pty.spawn"), ("exec", 0)),
    **dict.fromkeys(("socket.connect", "socket.sendto"), ("connect", 1)),
    "socket.getaddrinfo": ("connect", 0),
    "ctypes.dlopen": ("load", 0),
    "sqlite3.load_extension": ("load", 1),
}
_SYSTEM_CALLS = (
    "execve,connect,open,openat,creat,unlink,unlinkat,rmdir,rename,renameat,renameat2,mkdir,mkdirat,link,linkat,"
    "symlink,symlinkat,chmod,fchmodat,truncate,mmap"
)
_LINE = re.compile(r"^(\d+) +(\w+)\((.*)\) += (-?\w+)")
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"')
_DIRECTORY = re.compile(r"^(?:AT_FDCWD|\d+)<([^>]*)>")
_MAPPED = re.compile(r"\d+<(/[^>]*)>")


@dataclass(frozen=True)
class Grounds:
    """Where a server may write unmentioned, and whose code may be loaded."""

    own: tuple[Path, ...]

    def describe(self, act: Act) -> str:
        """Return the act in a word or two; empty for what needs no permission."""
        _, kind, what = act
        if kind == "write":
            return "" if what.startswith("/dev/") or self._is_below(what, self.own) else f"write {what}"
        if kind == "load":
            ours = (Path(sys.prefix), Path(sys.base_prefix), Path("/lib"), Path("/lib64"), Path("/usr"))
            return "" if "/" not in what or self._is_below(what, ours) else f"load {what}"
        name = os.path.basename(what)
        return f"{kind} {re.sub(r'^python[0-9.]*$', 'python', name) if kind == 'exec' else what}"

    @staticmethod
    def _is_below(path: str, places: Sequence[Path]) -> bool:
        real = os.path.realpath(path)
        return any(real == str(place.resolve()) or real.startswith(f"{place.resolve()}/") for place in places)


def mark(call: str) -> None:
    """Say which call begins, in a way that both tracers see; empty for none."""
    with contextlib.suppress(OSError):
        os.open(f"{_MARK}{call}", os.O_RDONLY)


def traced(directory: Path, environment: dict[str, str], *command: str) -> tuple[list[Act], dict[str, Any]]:
    """Run a program in Python that prints its own `acts` under every tracer; all acts, and what it printed."""
    output = directory / "strace"
    front = [] if strace_refusal() else _strace_command(output)
    done = subprocess.run(
        [*front, sys.executable, *command], check=False, capture_output=True, env=environment, timeout=150,
        cwd=Path(__file__).parents[1],
    )  # fmt: skip
    assert done.returncode == 0, done.stderr.decode()[-2000:]
    printed = json.loads(done.stdout.splitlines()[-1])
    audited = printed["acts"]
    return [(call, kind, what) for call, kind, what in audited] + (_traced_acts(output) if front else []), printed


def record_here() -> list[Act]:
    """Record from now on what this process does; the list grows."""
    acts: list[Act] = []
    call = ""

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        nonlocal call
        if event == "open" and isinstance(arguments[0], str) and arguments[0].startswith(_MARK):
            call = arguments[0].removeprefix(_MARK)
        elif call:
            acts.extend((call, kind, _text(what)) for kind, what in _audited(event, arguments))

    sys.addaudithook(hook)
    return acts


def _audited(event: str, arguments: tuple[Any, ...]) -> Iterator[tuple[str, str]]:
    if event in _CHANGES:
        for path, directory in _CHANGES[event]:
            if not isinstance(arguments[path], int):
                yield "write", _from_directory(_text(arguments[path]), arguments[directory])
    elif event in _SIMPLE:
        kind, place = _SIMPLE[event]
        yield kind, _text(arguments[place])
    elif event == "open" and arguments[2] & _WRITING and not isinstance(arguments[0], int):
        yield "write", _text(arguments[0])
    elif event == "import" and arguments[1] is not None:
        yield "load", _text(arguments[1])  # native code alone has a file here
    elif event == "sqlite3.connect" and not re.search("^:memory:$|mode=ro|immutable=1", _text(arguments[0])):
        yield "write", _text(arguments[0]).removeprefix("file:").partition("?")[0]


def _from_directory(path: str, directory: Any) -> str:
    is_open = isinstance(directory, int) and directory >= 0 and not os.path.isabs(path)
    return os.path.join(os.readlink(f"/proc/self/fd/{directory}"), path) if is_open else path


def _text(value: Any) -> str:
    return os.fsdecode(value) if isinstance(value, (bytes, os.PathLike)) else str(value)


# --- strace -----------------------------------------------------------------------------------------------------


def strace_refusal() -> str:
    """Return why there is no strace; empty where it is wanted, installed and may trace."""
    if os.environ.get("HOLDFAST_HOSTILE") != "full":
        return "it makes every system call slow, so it runs with `make hostile` alone"
    program = shutil.which("strace")
    if program is None:
        return "strace is not installed: what other programs and native libraries do is not traced"
    tried = subprocess.run([program, "-f", "-qq", "-e", "trace=none", "true"], capture_output=True, check=False)
    return "" if tried.returncode == 0 else f"strace may not trace here: {tried.stderr.decode()[:200]}"


def _strace_command(output: Path) -> list[str]:
    """What stands in front of a command line to trace it, with all of its children."""
    return ["strace", "-f", "-qq", "-y", "-s", "4096", "-e", f"trace={_SYSTEM_CALLS}", "-o", str(output)]


def _traced_acts(output: Path) -> list[Act]:
    """Read what strace wrote; the calls of a child that ends late count for the call that is marked then."""
    acts: list[Act] = []
    call = ""
    for line in _whole_lines(output.read_text(errors="replace").splitlines()):
        matched = _LINE.match(line)
        if matched is None:
            continue
        _, name, arguments, result = matched.groups()
        quoted = _QUOTED.findall(arguments)
        if quoted and quoted[0].startswith(_MARK):
            call = quoted[0].removeprefix(_MARK)
        elif call and (name == "connect" or not result.startswith("-")):  # a refused connection was tried
            acts += [(call, kind, what) for kind, what in _system_call(name, arguments, quoted)]
    return acts


def _whole_lines(lines: Sequence[str]) -> Iterator[str]:
    """Put the two halves of an interrupted system call together."""
    begun: dict[str, str] = {}
    for line in lines:
        process, _, rest = line.partition(" ")
        if rest.endswith("<unfinished ...>"):
            begun[process] = line.removesuffix("<unfinished ...>").rstrip()
        elif "resumed>" in rest and process in begun:
            yield begun.pop(process) + rest.partition("resumed>")[2]
        else:
            yield line


def _system_call(name: str, arguments: str, quoted: Sequence[str]) -> Iterator[tuple[str, str]]:
    if name == "execve":
        yield "exec", quoted[0]
    elif name == "connect":
        yield "connect", arguments.partition(", ")[2]
    elif name == "mmap":
        mapped = _MAPPED.search(arguments)
        if mapped and "PROT_EXEC" in arguments:
            yield "load", mapped[1]
    elif name in ("open", "openat"):
        if re.search(r"O_WRONLY|O_RDWR|O_CREAT|O_TRUNC|O_APPEND", arguments.rpartition('"')[2]):
            yield "write", _absolute(arguments, quoted[0])
    else:
        places = quoted[-1:] if name.startswith("symlink") else quoted
        yield from (("write", _absolute(arguments, path)) for path in places)


def _absolute(arguments: str, path: str) -> str:
    directory = _DIRECTORY.match(arguments)
    return os.path.join(directory[1], path) if directory else path
