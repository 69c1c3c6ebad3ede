"""Custody on POSIX: the server's side of the keeper, which does the work of ending a tree (see `keeper`).

The server holds one socket to each keeper. Closing it, by intention or by dying, ends the tree. Should a keeper be
killed itself, the command dies with it and the rest is searched for by `sweep`.
"""

import asyncio
import errno
import json
import os
import socket
import subprocess
from contextlib import ExitStack, suppress
from functools import partial
from typing import IO, Any

from holdfast.errors import ProcessError
from holdfast.interpreter import script_command
from holdfast.process import keeper as keeper_program
from holdfast.process.command import MARKER, TEST_MARK, Command, checked_seconds
from holdfast.process.custody import Deliver, Input, Output, Process, finished
from holdfast.process.keeper import KILL_BOUND
from holdfast.process.outcome import Outcome
from holdfast.process.output_pipe import OutputPipe

__all__ = ["KeptProcess", "start"]

_MARGIN = 2.0  # seconds beyond its own bounds after which a keeper that says nothing is given up
# What a keeper is found by, and what its interpreter may need to start.
_KEPT = frozenset({MARKER, TEST_MARK, "PATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "__PYVENV_LAUNCHER__"})
_DESCRIPTORS: dict[str, int | None] = {"null": subprocess.DEVNULL, "pipe": subprocess.PIPE, "inherit": None}


class KeptProcess(Process):
    """A command whose tree is held by a keeper."""

    def __init__(
        self, command: Command, grace: float, popen: "subprocess.Popen[bytes]", control: socket.socket
    ) -> None:
        self.pid = 0
        self.token = command.token
        self.keeper_pid = popen.pid
        self.stdin = self.stdout = self.stderr = None
        self._command = command
        self._grace = grace
        self._popen = popen
        self._control = control
        self._loop = asyncio.get_running_loop()
        self._started: asyncio.Future[None] = self._loop.create_future()
        self._ended: asyncio.Future[Outcome] = self._loop.create_future()
        self._transports: dict[IO[bytes], asyncio.BaseTransport] = {}
        self._outputs: dict[IO[bytes], OutputPipe] = {}
        self._received = b""
        self._outcome: Outcome | None = None
        self._last_resort: asyncio.TimerHandle | None = None
        control.settimeout(0)
        self._loop.add_reader(control, self._on_readable)

    async def wait(self) -> Outcome:
        """Wait until the keeper has reported the end of the whole tree."""
        return await asyncio.shield(self._ended)

    async def stop(self, grace: float | None = None) -> Outcome:
        """Have the keeper end the tree, and wait for its report."""
        seconds = self._grace if grace is None else checked_seconds("grace", grace)
        self._request_stop(seconds)
        try:
            return await finished(self._ended)
        finally:
            self._close_streams()

    def pause_stdout(self, full: bool) -> None:
        """Stop or resume reading what goes to `on_stdout`."""
        if self._popen.stdout in self._outputs:
            self._outputs[self._popen.stdout].pause(full)

    async def begin(self, limit: int, on_stdout: Deliver | None, on_stderr: Deliver | None) -> None:
        """Tell the keeper what to run, connect the streams, and wait until the command is executed."""
        try:
            await self._connect_streams(limit, on_stdout, on_stderr)
            await self._send_request()
            await asyncio.shield(self._started)
        except BaseException:
            # The end of file, other than a message, also ends a request that was sent only in part.
            with suppress(OSError):  # the keeper is gone already
                self._control.shutdown(socket.SHUT_WR)
            await self.stop()
            raise
        for output in self._outputs.values():
            output.start()

    async def _send_request(self) -> None:
        command = self._command
        fields = [str(os.getpid()), repr(self._grace), command.cwd, str(len(command.argv)), *command.argv]
        fields += [f"{name}={value}" for name, value in command.env.items()]
        body = os.fsencode("\0".join(fields))
        with suppress(OSError):  # the keeper is gone; the end of file that it leaves fails the start
            await self._loop.sock_sendall(self._control, b"%d\n%b" % (len(body), body))

    async def _connect_streams(self, limit: int, on_stdout: Deliver | None, on_stderr: Deliver | None) -> None:
        if self._popen.stdin is not None:
            self.stdin = await self._writer(self._popen.stdin)
        self.stdout = await self._output(self._popen.stdout, limit, on_stdout)
        self.stderr = await self._output(self._popen.stderr, limit, on_stderr)

    async def _writer(self, pipe: IO[bytes]) -> asyncio.StreamWriter:
        # A reader's protocol, since it alone offers both flow control and `wait_closed` to a writer.
        protocol = asyncio.StreamReaderProtocol(asyncio.StreamReader(loop=self._loop), loop=self._loop)
        transport, _ = await self._loop.connect_write_pipe(lambda: protocol, pipe)
        self._transports[pipe] = transport
        return asyncio.StreamWriter(transport, protocol, None, self._loop)

    async def _output(
        self, pipe: IO[bytes] | None, limit: int, deliver: Deliver | None
    ) -> asyncio.StreamReader | None:
        if pipe is None:
            return None
        if deliver is not None:
            self._outputs[pipe] = OutputPipe(pipe, deliver)
            return None
        reader = asyncio.StreamReader(limit=limit, loop=self._loop)
        protocol = asyncio.StreamReaderProtocol(reader, loop=self._loop)
        self._transports[pipe], _ = await self._loop.connect_read_pipe(lambda: protocol, pipe)
        return reader

    def _request_stop(self, grace: float) -> None:
        if self._ended.done() or self._last_resort is not None:
            return
        with suppress(OSError):  # the keeper has ended, or was told by the end of file: the end is under way
            self._control.send(b"stop %r\n" % grace)
        # A keeper that was stopped by a signal, say, would let us wait for ever.
        self._last_resort = self._loop.call_later(grace + KILL_BOUND + _MARGIN, self._popen.kill)

    def _on_readable(self) -> None:
        try:
            data = self._control.recv(64 * 1024)
        except (BlockingIOError, InterruptedError):
            return
        except ConnectionResetError:  # the keeper died before it had read all that was sent
            data = b""
        *lines, self._received = (self._received + data).split(b"\n")
        for line in lines:
            self._on_record(json.loads(line))
        if not data:
            self._on_keeper_end()

    def _on_record(self, record: dict[str, Any]) -> None:
        if record["event"] == "started":
            self.pid = record["pid"]
            self._settle_start(None)
        elif record["event"] == "refused":
            self._outcome = Outcome(pid=0)
            self._settle_start(_refusal(self._command, record["step"], record["errno"]))
        else:
            code = record["code"]
            self._outcome = Outcome(
                pid=self.pid,
                returncode=code if code is not None and code >= 0 else None,
                signal=-code if code is not None and code < 0 else None,
                stopped=record["stopped"],
                killed=record["killed"],
                survivors=tuple(record["survivors"]),
            )

    def _on_keeper_end(self) -> None:
        self._loop.remove_reader(self._control)
        self._control.close()
        self._popen.wait()  # its socket closes while it exits, so this takes microseconds
        if self._outcome is not None:
            self._conclude(self._outcome)
            return
        self._settle_start(ProcessError(f"the keeper of {self._command.argv[0]!r} ended before it could start it"))
        self._sweep()

    def _sweep(self) -> None:
        from holdfast.process.sweep import sweep

        job = partial(sweep, self._command.token, self.pid, bound=KILL_BOUND)
        self._loop.run_in_executor(None, job).add_done_callback(self._on_swept)

    def _on_swept(self, search: "asyncio.Future[tuple[int, ...]]") -> None:
        if (failure := search.exception()) is not None:
            text = f"the keeper of process {self.pid} is gone and its tree could not be searched for: {failure}"
            self._ended.set_exception(ProcessError(text, details={"pid": self.pid}))
            return
        stopped = self._last_resort is not None
        self._conclude(Outcome(self.pid, stopped=stopped, killed=True, lost=True, survivors=search.result()))

    def _conclude(self, outcome: Outcome) -> None:
        if self._last_resort is not None:
            self._last_resort.cancel()
        self._ended.set_result(outcome)

    def _settle_start(self, failure: ProcessError | None) -> None:
        if self._started.done():
            return
        if failure is None:
            self._started.set_result(None)
        else:
            self._started.set_exception(failure)
            self._started.exception()  # marks it as seen: whoever started the command may be cancelled by now

    def _close_streams(self) -> None:
        with ExitStack() as stack:  # a callable that raises must not keep the other streams open
            for output in self._outputs.values():
                stack.callback(output.finish)
            for pipe in (self._popen.stdin, self._popen.stdout, self._popen.stderr):
                if pipe not in self._outputs:
                    self._close_stream(pipe)

    def _close_stream(self, pipe: IO[bytes] | None) -> None:
        transport = None if pipe is None else self._transports.get(pipe)
        if isinstance(transport, asyncio.WriteTransport):
            # A plain close would first deliver what is buffered, and nobody is left to read it.
            if not transport.is_closing() or transport.get_write_buffer_size():
                transport.abort()
        elif transport is not None:
            transport.close()
        elif pipe is not None:  # the start failed before this one was connected
            pipe.close()


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
    pass_fds: tuple[int, ...] = (),
) -> KeptProcess:
    """Start the keeper, and through it the command."""
    try:
        ours, theirs = socket.socketpair()
    except OSError as error:
        raise _not_started(command, error) from error
    try:
        # The keeper runs in little of our environment and at the root: the command's own must not be able to break
        # it, and what the command may not know must not stand where it can read it.
        # Not in a thread: the parent-death signal is bound to the thread that starts the keeper.
        popen = subprocess.Popen(  # noqa: ASYNC220
            script_command(str(keeper_program.__file__), str(theirs.fileno()), command.argv[0]),
            stdin=_DESCRIPTORS[stdin],
            stdout=_DESCRIPTORS[stdout],
            stderr=_DESCRIPTORS[stderr],
            bufsize=0,
            cwd="/",
            env={name: value for name, value in os.environ.items() if name in _KEPT},
            pass_fds=(theirs.fileno(), *pass_fds),
            start_new_session=True,
        )
    except OSError as error:
        ours.close()
        raise _not_started(command, error) from error
    finally:
        theirs.close()
    process = KeptProcess(command, grace, popen, ours)
    await process.begin(limit, on_stdout, on_stderr)
    return process


def _not_started(command: Command, error: OSError) -> ProcessError:
    return ProcessError(
        f"{command.argv[0]!r} cannot be started: {error.strerror}; check the limits on processes and open files",
        details={"argv": list(command.argv), "errno": error.errno},
    )


def _refusal(command: Command, step: str, number: int) -> ProcessError:
    program = command.argv[0]
    if step == "chdir":
        text = f"cannot enter the directory {command.cwd!r}: {os.strerror(number)}; give another cwd"
    elif number == errno.ENOENT and "/" not in program:
        text = f"there is no program {program!r} on PATH; install it or give its full path"
    elif number == errno.ENOENT and os.path.exists(os.path.join(command.cwd, program)):
        text = f"the interpreter that {program!r} names in its first line does not exist; install or correct it"
    elif number == errno.ENOENT:
        text = f"there is no program {program!r}; check the path"
    elif number == errno.EACCES and os.path.isdir(os.path.join(command.cwd, program)):
        text = f"{program!r} is a directory; name a program in it"
    elif number == errno.EACCES:
        text = f"{program!r} may not be executed; make it executable (chmod +x) or name its interpreter"
    elif number == errno.ENOEXEC:
        text = f"{program!r} is not a program for this machine; name its interpreter or add a #! line"
    elif number == errno.E2BIG:
        text = f"the arguments and environment of {program!r} are too large; pass the data on stdin or in a file"
    else:
        text = f"{program!r} cannot be executed: {os.strerror(number)}"
    return ProcessError(text, details={"argv": list(command.argv), "errno": number, "step": step})
