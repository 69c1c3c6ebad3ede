"""Processes belong to the call of the tool that started them: when it is stopped, they end with all below them.

`install` wraps the functions that start processes, so that each child is recorded with the call that started it:
`subprocess`, `asyncio.create_subprocess_*`, `os.fork`, `os.posix_spawn` and `multiprocessing`. Children that are
started past these, as by `os.system` or a C library, are found as children of the thread that runs the call. Not
covered: what the tool's own threads start, unless they run in a copy of its context, as `asyncio.to_thread` does.

What a call that returned has left running stays, unless its tool declares `owns_processes=True`. Programs that are
started with `spawn` and `run` have a keeper of their own, and are no concern of this module.
"""

import asyncio
import contextvars
import importlib.util
import os
import secrets
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from importlib.machinery import ModuleSpec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import psutil

__all__ = ["CALL_MARKER", "CallProcesses", "install", "not_owned", "owned_by", "record_thread"]

# In the environment of each process of a call: finds the ones whose parents have ended.
CALL_MARKER = "HOLDFAST_CALL"
KILL_BOUND = 5.0  # seconds after which processes that survive SIGKILL are given up
_KILL_TIME = 0.2  # seconds in which a killed process is usually gone
_CLOCK_STEP = 0.02  # the kernel counts in hundredths of a second
# Helpers of multiprocessing that serve the whole process, not one call.
_SHARED = (
    b"multiprocessing.forkserver",
    b"multiprocessing.resource_tracker",
    b"multiprocessing.semaphore_tracker",
)

_current: contextvars.ContextVar["CallProcesses | None"] = contextvars.ContextVar("holdfast_call", default=None)
_lock = threading.Lock()
_is_installed = False
_shared: set[int] = set()  # processes that are no single call's


class CallProcesses:
    """The processes of one call."""

    __slots__ = ("_is_over", "_pids", "_threads", "_token")

    def __init__(self) -> None:
        self._pids: list[tuple[int, float]] = []  # with the time of their recording, since numbers are used again
        self._threads: list[int] = []
        self._token = ""
        self._is_over = False

    @property
    def token(self) -> str:
        """A value for CALL_MARKER that no other call has; made when the first process is started."""
        self._token = self._token or secrets.token_hex(8)
        return self._token

    def add(self, pid: int) -> None:
        """Record a child; one that is started after the call was stopped is killed at once."""
        self._pids.append((pid, time.time()))
        if self._is_over:
            threading.Thread(target=self._end, args=(0.0,), name="custody", daemon=True).start()

    def add_thread(self, native_id: int) -> None:
        """Record a thread of the call: what it starts past the wrapped functions are its own children."""
        self._threads.append(native_id)

    async def end(self, grace: float) -> tuple[int, ...]:
        """End all of them: a request, `grace` seconds, then a kill; the ids of those that are still alive."""
        self._is_over = True
        if not self._pids and not self._thread_children():
            return ()
        loop = asyncio.get_running_loop()
        outcome: asyncio.Future[tuple[int, ...]] = loop.create_future()

        def work() -> None:
            survivors = self._end(grace)
            with suppress(RuntimeError):  # the loop is closed: nobody waits any more
                loop.call_soon_threadsafe(outcome.set_result, survivors)

        # A thread of its own: those of the loop's executor may all be held by tools that do not stop.
        threading.Thread(target=work, name="end of a call", daemon=True).start()
        return await asyncio.shield(outcome)

    def _thread_children(self) -> list[int]:
        found: list[int] = []
        for thread in self._threads:
            with suppress(OSError, ValueError), open(f"/proc/self/task/{thread}/children") as file:
                found += map(int, file.read().split())
        return found

    def _end(self, grace: float) -> tuple[int, ...]:
        """Ask what is there and what appears meanwhile, then kill until a search finds nothing."""
        now = time.monotonic()
        kill_at, give_up_at = now + grace, now + grace + KILL_BOUND
        asked: set[int] = set()
        while members := self._members():
            now = time.monotonic()
            if now >= give_up_at:
                return tuple(sorted(process.pid for process in members))
            for process in members:
                if now >= kill_at or process.pid not in asked:
                    _signal(process, kill=now >= kill_at)
                asked.add(process.pid)
            _wait(members, kill_at - now if now < kill_at else _KILL_TIME)
        return ()

    def _members(self) -> "list[psutil.Process]":
        """Every living process of the call: its children, what carries its marker, and everything below these."""
        import psutil

        own = os.getpid()
        processes = {process.pid: process for process in psutil.process_iter()}
        below: dict[int, list[int]] = {}
        pending = [pid for pid, since in self._pids if _is_older(processes.get(pid), since)]
        pending += self._thread_children()
        for pid, process in processes.items():
            with suppress(psutil.Error):
                below.setdefault(process.ppid(), []).append(pid)
                if self._token and process.environ().get(CALL_MARKER) == self._token:
                    pending.append(pid)
        found: dict[int, psutil.Process] = {}
        while pending:
            pid = pending.pop()
            if pid not in found and pid != own and pid in processes and pid not in _shared:
                found[pid] = processes[pid]
                pending += below.get(pid, ())
        return [process for process in found.values() if _is_alive(process)]


def _is_older(process: "psutil.Process | None", since: float) -> bool:
    """Whether this is still the process that was recorded, and not a later one with its number."""
    import psutil

    with suppress(psutil.Error):
        return process is not None and process.create_time() <= since + _CLOCK_STEP
    return False


def _is_alive(process: "psutil.Process") -> bool:
    import psutil

    try:
        return bool(process.status() != psutil.STATUS_ZOMBIE)
    except psutil.Error:
        return False


def _signal(process: "psutil.Process", *, kill: bool) -> None:
    import psutil

    with suppress(psutil.Error):  # what this leaves alive is found again
        if kill:
            process.kill()
        else:
            process.terminate()


def _wait(members: "list[psutil.Process]", seconds: float) -> None:
    """Wait until all of them have ended, without reaping any: that is for the tool that started them."""
    deadline = time.monotonic() + seconds
    if not hasattr(os, "pidfd_open"):  # only Linux has it
        while time.monotonic() < deadline and any(map(_is_alive, members)):
            threading.Event().wait(_KILL_TIME / 10)
        return
    with ExitStack() as opened:
        poller = select.poll()
        waiting = set()
        for process in members:
            with suppress(OSError):  # it has ended
                descriptor = os.pidfd_open(process.pid)
                opened.callback(os.close, descriptor)
                poller.register(descriptor, select.POLLIN)
                waiting.add(descriptor)
        while waiting and (left := deadline - time.monotonic()) > 0:
            for descriptor, _ in poller.poll(left * 1000):
                poller.unregister(descriptor)
                waiting.discard(descriptor)


def owned_by(processes: CallProcesses) -> None:
    """Make this call the owner of what the running task, and the threads that take over its context, start."""
    _current.set(processes)


def record_thread() -> None:
    """Record the running thread with its call, if it has one."""
    processes = _current.get()
    if processes is not None:
        processes.add_thread(threading.get_native_id())


@contextmanager
def not_owned() -> Iterator[None]:
    """Start processes inside that belong to the whole server, not to the call that happens to need them first."""
    token = _current.set(None)
    try:
        yield
    finally:
        _current.reset(token)


def install() -> None:
    """Wrap the functions that start processes, once; without a call that runs they do what they always did."""
    global _is_installed  # noqa: PLW0603 - the functions belong to the whole interpreter too
    with _lock:
        if _is_installed or os.name == "nt":
            return
        _is_installed = True
    _wrap_popen()
    os.fork = _forking(os.fork)
    os.forkpty = _forking(os.forkpty)
    for name in ("posix_spawn", "posix_spawnp"):
        if hasattr(os, name):
            setattr(os, name, _spawning(getattr(os, name)))
    _wrap_fork_exec()
    _wrap_multiprocessing()


def _wrap_popen() -> None:
    original = subprocess.Popen.__init__

    def start(self: Any, args: Any, *rest: Any, **options: Any) -> None:
        processes = _current.get()
        if processes is None:
            original(self, args, *rest, **options)
            return
        if len(rest) < 10:  # `env` is the eleventh argument after `self`; nobody counts that far
            env = options.get("env")
            options["env"] = {**(os.environ if env is None else env), CALL_MARKER: processes.token}
        original(self, args, *rest, **options)
        processes.add(self.pid)

    subprocess.Popen.__init__ = start  # type: ignore[method-assign]


def _forking(original: Callable[[], Any]) -> Callable[[], Any]:
    def fork() -> Any:
        processes = _current.get()
        answer = original()
        pid = answer if isinstance(answer, int) else answer[0]
        if processes is None:
            return answer
        if pid:
            processes.add(pid)
        else:
            os.environ[CALL_MARKER] = processes.token  # for what the child starts
            _current.set(None)
            _forget_signals()
        return answer

    return fork


def _forget_signals() -> None:
    """In a fork of the server: a signal to it must not wake the event loop of its parent, whose pipe it shares."""
    signal.set_wakeup_fd(-1)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        if callable(signal.getsignal(number)):
            signal.signal(number, signal.SIG_DFL)


def _spawning(original: Callable[..., int]) -> Callable[..., int]:
    def spawn(path: Any, argv: Any, env: Any, /, *rest: Any, **options: Any) -> int:
        processes = _current.get()
        if processes is None:
            return original(path, argv, env, *rest, **options)
        pid = original(path, argv, {**env, CALL_MARKER: processes.token}, *rest, **options)
        processes.add(pid)
        return pid

    return spawn


def _wrap_fork_exec() -> None:
    """Wrap what multiprocessing starts interpreters with; `subprocess` has a reference of its own."""
    import _posixsubprocess

    original = _posixsubprocess.fork_exec

    def fork_exec(argv: Any, *rest: Any) -> int:
        pid: int = original(argv, *rest)
        processes = _current.get()
        if any(name in os.fsencode(word) for word in argv for name in _SHARED):
            _shared.add(pid)
        elif processes is not None:
            processes.add(pid)
        return pid

    _posixsubprocess.fork_exec = fork_exec


class _AfterImport:
    """Wraps `multiprocessing` when it is imported, which most servers never do."""

    _NAME = "multiprocessing.process"

    def find_spec(self, name: str, *_: Any) -> ModuleSpec | None:
        """Find this one module, with a loader that wraps it."""
        if name != self._NAME:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.loader is not None:
            load = spec.loader.exec_module

            def load_and_wrap(module: Any) -> None:
                load(module)
                _wrap_process(module)

            spec.loader.exec_module = load_and_wrap  # type: ignore[method-assign]
        return spec


def _wrap_multiprocessing() -> None:
    if (module := sys.modules.get("multiprocessing.process")) is not None:
        _wrap_process(module)
    else:
        sys.meta_path.insert(0, _AfterImport())


def _wrap_process(module: Any) -> None:
    """A process of the fork server is not started by us: only `start` knows its number."""
    original = module.BaseProcess.start

    def start(self: Any) -> None:
        original(self)
        processes = _current.get()
        if processes is not None and self.pid is not None:
            processes.add(self.pid)

    module.BaseProcess.start = start
