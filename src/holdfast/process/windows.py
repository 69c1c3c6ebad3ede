"""Custody on Windows, behind the same interface: a process group, a job object, and `taskkill` for the tree.

There is no keeper here: a job object that kills on close ends the tree with the server, whatever ends the server.
The command joins the job right after its start; a child that it starts in between is covered by `taskkill /T`.
The ladder asks with CTRL_BREAK, which only console programs hear. Only the parts without Windows calls are tested
on the machines that this project is tested on.
"""

import asyncio
import ctypes
import os
import subprocess
from typing import Any

from holdfast.errors import ProcessError
from holdfast.process.command import Command, checked_seconds
from holdfast.process.custody import Deliver, Input, Output, Process, finished
from holdfast.process.outcome import Outcome
from holdfast.process.output_pipe import READ_BYTES

__all__ = ["ExtendedLimits", "Job", "WindowsProcess", "outcome_of", "start", "taskkill_command"]

KILL_BOUND = 5.0
_EOF_BOUND = 1.0  # seconds for the rest of the output, should somebody outside of the tree hold a pipe open
CREATE_NEW_PROCESS_GROUP = 0x200
CTRL_BREAK_EVENT = 1
JOB_OBJECT_EXTENDED_LIMIT_INFORMATION = 9
JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE = 0x2000
PROCESS_TERMINATE = 0x1
PROCESS_SET_QUOTA = 0x100

_DESCRIPTORS: dict[str, int | None] = {"null": subprocess.DEVNULL, "pipe": subprocess.PIPE, "inherit": None}


def taskkill_command(pid: int) -> list[str]:
    """The command that ends process `pid` and everything below it by force."""
    return ["taskkill", "/pid", str(pid), "/T", "/F"]


def outcome_of(pid: int, code: int, *, stopped: bool, killed: bool, survivors: tuple[int, ...]) -> Outcome:
    """The outcome; Windows knows no signals, so a forced end shows only as its exit code."""
    return Outcome(pid, returncode=code, stopped=stopped, killed=killed, survivors=survivors)


class _BasicLimits(ctypes.Structure):
    """JOBOBJECT_BASIC_LIMIT_INFORMATION."""

    _fields_ = (
        ("per_process_user_time", ctypes.c_int64),
        ("per_job_user_time", ctypes.c_int64),
        ("flags", ctypes.c_uint32),
        ("minimum_working_set", ctypes.c_size_t),
        ("maximum_working_set", ctypes.c_size_t),
        ("active_processes", ctypes.c_uint32),
        ("affinity", ctypes.c_size_t),
        ("priority_class", ctypes.c_uint32),
        ("scheduling_class", ctypes.c_uint32),
    )


class ExtendedLimits(ctypes.Structure):
    """JOBOBJECT_EXTENDED_LIMIT_INFORMATION."""

    _fields_ = (
        ("basic", _BasicLimits),
        ("io_counters", ctypes.c_uint64 * 6),
        ("process_memory", ctypes.c_size_t),
        ("job_memory", ctypes.c_size_t),
        ("peak_process_memory", ctypes.c_size_t),
        ("peak_job_memory", ctypes.c_size_t),
    )

    @classmethod
    def kill_on_close(cls) -> "ExtendedLimits":
        """Limits of a job whose members die when its last handle is closed, as when the server dies."""
        limits = cls()
        limits.basic.flags = JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
        return limits


class Job:
    """A job object that kills its members when it is closed."""

    def __init__(self) -> None:
        self._kernel: Any = getattr(ctypes, "WinDLL")("kernel32", use_last_error=True)  # noqa: B009 - Windows only
        for name in ("CreateJobObjectW", "OpenProcess"):
            getattr(self._kernel, name).restype = ctypes.c_void_p
        self._handle = ctypes.c_void_p(self._kernel.CreateJobObjectW(None, None))
        limits = ExtendedLimits.kill_on_close()
        self._kernel.SetInformationJobObject(
            self._handle, JOB_OBJECT_EXTENDED_LIMIT_INFORMATION, ctypes.byref(limits), ctypes.sizeof(limits)
        )

    def add(self, pid: int) -> bool:
        """Make process `pid`, and all that it starts from now on, members; False when it has ended already."""
        access = PROCESS_SET_QUOTA | PROCESS_TERMINATE
        address: int | None = self._kernel.OpenProcess(access, 0, pid)
        if address is None:
            return False
        handle = ctypes.c_void_p(address)
        added = bool(self._kernel.AssignProcessToJobObject(self._handle, handle))
        self._kernel.CloseHandle(handle)
        return added

    def close(self) -> None:
        """Kill all members and give the job up."""
        self._kernel.TerminateJobObject(self._handle, 1)
        self._kernel.CloseHandle(self._handle)


class WindowsProcess(Process):
    """A command whose tree is held by a job object."""

    def __init__(
        self,
        process: asyncio.subprocess.Process,
        job: Job,
        grace: float,
        *,
        token: str = "",
        on_stdout: Deliver | None = None,
        on_stderr: Deliver | None = None,
    ) -> None:
        self.pid = process.pid
        self.token = token
        self.stdin = process.stdin
        self._may_read = asyncio.Event()
        self._may_read.set()
        always = asyncio.Event()
        always.set()
        self._pumps: list[asyncio.Task[None]] = []
        self.stdout = self._output(process.stdout, on_stdout, self._may_read)
        self.stderr = self._output(process.stderr, on_stderr, always)
        self._process = process
        self._job = job
        self._grace = grace
        self._killed = False
        self._members: list[Any] = []
        self._stopping: asyncio.Task[None] | None = None
        self._ended = asyncio.ensure_future(self._watch())

    async def wait(self) -> Outcome:
        """Wait for the end of the command and, through the job, of its tree."""
        return await asyncio.shield(self._ended)

    async def stop(self, grace: float | None = None) -> Outcome:
        """CTRL_BREAK, up to `grace` seconds, `taskkill /T /F`; then the job kills whatever is left."""
        seconds = self._grace if grace is None else checked_seconds("grace", grace)
        if self._stopping is None and not self._ended.done():
            self._stopping = asyncio.ensure_future(self._ladder(seconds))
        outcome = await finished(self._ended)
        if self.stdin is not None:
            self.stdin.close()
        if self._pumps:
            await finished(asyncio.ensure_future(self._hand_over_the_rest()))
        return outcome

    def pause_stdout(self, full: bool) -> None:
        """Stop or resume passing on what goes to `on_stdout`; the stream reader behind it then fills up."""
        if full:
            self._may_read.clear()
        else:
            self._may_read.set()

    def _output(
        self, stream: asyncio.StreamReader | None, deliver: Deliver | None, may_read: asyncio.Event
    ) -> asyncio.StreamReader | None:
        if stream is None or deliver is None:
            return stream
        self._pumps.append(asyncio.ensure_future(_pump(stream, deliver, may_read)))
        return None

    async def _hand_over_the_rest(self) -> None:
        self._may_read.set()
        done, pending = await asyncio.wait(self._pumps, timeout=_EOF_BOUND)
        for pump in pending:
            pump.cancel()
        if pending:
            await asyncio.wait(pending)
        for pump in done:
            pump.result()

    async def _ladder(self, grace: float) -> None:
        import psutil

        try:
            self._members = psutil.Process(self.pid).children(recursive=True)
            os.kill(self.pid, CTRL_BREAK_EVENT)
        except (psutil.NoSuchProcess, OSError):
            pass  # it has ended, or has no console to hear it
        await asyncio.wait((self._ended,), timeout=grace)
        if not self._ended.done():
            self._killed = True
            quiet = subprocess.DEVNULL
            killer = await asyncio.create_subprocess_exec(*taskkill_command(self.pid), stdout=quiet, stderr=quiet)
            await killer.wait()  # "already exited" is no failure; whether it worked is seen by what is left

    async def _watch(self) -> Outcome:
        import psutil

        code = await self._process.wait()
        self._job.close()
        loop = asyncio.get_running_loop()
        _, alive = await loop.run_in_executor(None, psutil.wait_procs, self._members, KILL_BOUND)
        survivors = tuple(sorted(process.pid for process in alive))
        stopped = self._stopping is not None
        return outcome_of(self.pid, code, stopped=stopped, killed=self._killed, survivors=survivors)


async def _pump(stream: asyncio.StreamReader, deliver: Deliver, may_read: asyncio.Event) -> None:
    try:
        while data := await stream.read(READ_BYTES):
            await may_read.wait()
            deliver(data)
    finally:
        deliver(b"")


async def start(
    command: Command,
    *,
    stdin: Input,
    stdout: Output,
    stderr: Output,
    on_stdout: Deliver | None,
    on_stderr: Deliver | None,
    grace: float,
    limit: int,
) -> WindowsProcess:
    """Start the command in a process group and a job of its own."""
    try:
        process = await asyncio.create_subprocess_exec(
            *command.argv,
            cwd=command.cwd,
            env=dict(command.env),
            stdin=_DESCRIPTORS[stdin],
            stdout=_DESCRIPTORS[stdout],
            stderr=_DESCRIPTORS[stderr],
            limit=limit,
            creationflags=CREATE_NEW_PROCESS_GROUP,
        )
    except OSError as error:
        text = f"{command.argv[0]!r} cannot be started: {error.strerror}; check its name, path and permissions"
        raise ProcessError(text, details={"argv": list(command.argv), "errno": error.errno}) from error
    job = Job()
    job.add(process.pid)
    return WindowsProcess(process, job, grace, token=command.token, on_stdout=on_stdout, on_stderr=on_stderr)
