"""The life of one host process: claim the streams, keep a worker running, serve a client, leave nothing behind."""

import asyncio
import gc
import os
import secrets
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from holdfast.errors import HoldfastError
from holdfast.host.control import ControlServer
from holdfast.host.front import Front, FrontPlan
from holdfast.host.host import Host
from holdfast.host.naming import legible, server_identity
from holdfast.host.outcomes import open_outcomes
from holdfast.host.policy import policy_of
from holdfast.host.public_side import PublicSide
from holdfast.host.reaper import reap
from holdfast.host.records import Registration
from holdfast.host.worker_process import WorkerOptions
from holdfast.kernel.cancellation import ANSWER_MARGIN
from holdfast.kernel.inputs import ClientLeft, ShutDown
from holdfast.observe.event_log import EventLog, NullEventLog, open_event_log, path_component
from holdfast.process.command import MARKER
from holdfast.process.containers import container_engine, remove_labelled
from holdfast.settings import Configuration, Settings
from holdfast.stdio.lifetime import Lifetime
from holdfast.stdio.outbox import Outbox
from holdfast.stdio.reader import InputReader
from holdfast.stdio.streams import StandardStreams, claim_standard_streams
from holdfast.version import __version__
from holdfast.vocabulary.events import FaultRecorded, HostStarted, HostStopped, KillFailed, LeftoversReaped

__all__ = ["run_host"]

WRITE_BOUND = 2.0  # seconds that the last answers may take to leave
CONTAINER_BOUND = 20.0
CLIENT_PAUSE = 16 * 1024 * 1024  # bytes unread by the client from which on it is not read from
WORKER_PAUSE = 32 * 1024 * 1024  # and from which on workers are not read from


def run_host(
    command: Sequence[str],
    configuration: Configuration,
    name: str,
    *,
    is_ours: bool = False,
    front: FrontPlan | None = None,
) -> int:
    """Serve the process's stdin and stdout with `command` as the worker; return the exit code.

    `is_ours` says that the command serves a server of this package. With a `front` there is HTTP beside it; then
    an input that ends before anybody said something means that there is no client on stdin, and the host stays.
    """
    settings = configuration.settings
    # Everything below this process carries its token, so that a later host can find what this one may leave.
    token = secrets.token_hex(8)
    outer = os.environ.get(MARKER)
    os.environ[MARKER] = f"{outer}:{token}" if outer else token
    log = open_event_log(settings, name)
    log.emit(HostStarted(legible(name), __version__, os.getpid(), tuple(map(legible, command))))
    log.flush()
    streams = claim_standard_streams()
    gc.collect()
    gc.freeze()
    process = _HostProcess(command, configuration, name, token, log, is_ours=is_ours, front=front)
    return asyncio.run(process.serve(streams))


class _HostProcess:
    """The parts of one host, from their start to their end."""

    def __init__(
        self,
        command: Sequence[str],
        configuration: Configuration,
        name: str,
        token: str,
        log: EventLog | NullEventLog,
        *,
        is_ours: bool,
        front: FrontPlan | None = None,
    ) -> None:
        self._is_ours = is_ours
        self._plan = front
        self._command = tuple(command)
        self._configuration = configuration
        self._settings: Settings = configuration.settings
        self._name = name
        self._token = token
        self._log = log
        self._control: ControlServer | None = None
        self._has_client = False  # somebody has said something on stdin

    async def serve(self, streams: StandardStreams) -> int:
        """Serve until there is a reason to end; return the exit code."""
        settings = self._settings
        options = self._worker_options()
        framer = options.framer()
        self._lifetime = lifetime = Lifetime(exit_with_parent=settings.exit_with_parent)
        self._left = asyncio.get_running_loop().create_future()
        self._outbox = Outbox(
            framer, self._log, on_full=self._on_full, on_lost=lambda: lifetime.end("broken_pipe")
        )
        public = PublicSide(self._outbox, self._log, max_bytes=settings.max_message_bytes)
        self._public = public

        def feed(data: bytes) -> None:
            self._has_client = self._has_client or bool(data)
            for frame in framer.feed(data) if data else framer.finish():
                public.receive(frame)
            if public.is_full and self._outbox.waiting > CLIENT_PAUSE:
                self._reader.pause(True)  # noqa: FBT003

        self._reader = InputReader(feed, on_end=self._on_input_end)
        with lifetime.watch():
            await self._outbox.open(streams.writer, streams.reader)
            self._host = self._new_host(options, public)
            self._start_front()
            await self._register()
            await self._reader.open(streams.reader)
            reaping = asyncio.create_task(self._reap())
            reason = await lifetime.wait()
            await self._end(reason)
            reaping.cancel()
        return self._exit_code(reason)

    def _worker_options(self) -> WorkerOptions:
        settings = self._settings
        return WorkerOptions(
            self._command,
            is_ours=self._is_ours,
            legacy=settings.mcp_mode == "legacy",
            grace=settings.kill_grace,
            noise_max=settings.noise_max,
            max_bytes=settings.max_message_bytes,
            max_header_bytes=settings.max_header_bytes,
            token=self._token,
        )

    def _new_host(self, options: WorkerOptions, public: PublicSide) -> Host:
        # Names are guessed and shared; an outcome is that of one server and of no other.
        file = f"outcomes-{server_identity(self._command)}.sqlite"
        place = self._settings.state_path() / path_component(self._name)
        outcomes = open_outcomes(place / file, self._settings.dedup_ttl)
        host = Host(policy_of(self._configuration), options, public, outcomes, self._log, self._on_leave)
        public.take = host.take
        public.on_backlog = self._on_backlog
        public.revision = lambda: host.state.session.revision
        public.is_pending = lambda request_id: request_id in host.state.pending
        return host

    def _start_front(self) -> None:
        if self._plan is not None:
            self._host.front = Front(
                self._plan,
                grace=self._settings.kill_grace,
                max_bytes=self._settings.max_message_bytes,
                log=self._log,
                take=self._host.take,
                pending=lambda: list(self._host.state.pending),
                health=self.status,
                on_refusal=lambda: self._lifetime.end("error"),
            )
            self._host.front.start()

    def _on_input_end(self) -> None:
        if self._has_client or self._plan is None:
            self._lifetime.end("eof")

    # --- beside the session ------------------------------------------------------------------------------------

    async def _register(self) -> None:
        """Be found by `holdfast ps`. A host that cannot be found serves all the same."""
        try:
            registration = Registration.create(self._settings, self._name, self._command, [self._token])
            self._control = ControlServer(self, registration)
            await self._control.start()
        except (HoldfastError, OSError) as error:
            told = f"{error.filename}: {error.strerror}" if isinstance(error, OSError) else str(error)
            with suppress(OSError):  # stderr may be what is full
                os.write(2, f"holdfast: this host will not be found by `holdfast ps`: {told}\n".encode())

    async def _reap(self) -> None:
        with suppress(HoldfastError, OSError):  # the directory of records cannot be used; that was told above
            for reaped in await reap(self._settings):
                self._log.emit(LeftoversReaped(reaped.host, len(reaped.killed), len(reaped.containers)))
                if reaped.left:
                    text = f"processes that the host {reaped.host} left are still alive"
                    self._log.emit(KillFailed(None, reaped.left, text))
                if reaped.problem:
                    self._tell_problem("leftovers", f"what the host {reaped.host} left: {reaped.problem}")
                self._log.flush()

    def _tell_problem(self, what: str, message: str) -> None:
        self._log.emit(FaultRecorded(what, None, None, "HoldfastError", message, ""))

    def status(self) -> dict[str, Any]:
        """What `holdfast status` shows."""
        record = self._control and self._control.record
        told = {"name": legible(self._name), "pid": os.getpid(), "command": list(map(legible, self._command))}
        return {**told, **self._host.health(), "started": record.since if record else None}

    async def restart(self) -> dict[str, Any]:
        """What `holdfast restart` does."""
        return await self._host.restart()

    def stop(self) -> None:
        """What `holdfast stop` does."""
        self._lifetime.end("asked")

    # --- flow --------------------------------------------------------------------------------------------------

    def _on_full(self, full: bool) -> None:
        self._public.is_full = full
        if not full:
            self._host.pause_workers(False)  # noqa: FBT003
            self._reader.pause(False)  # noqa: FBT003

    def _on_backlog(self) -> None:
        # A worker that HTTP is answered from is not held up for the sake of one client. What piles up for that one
        # is bounded all the same, by the requests that it had sent before it was no longer read from.
        if self._plan is None and self._outbox.waiting > WORKER_PAUSE:
            self._host.pause_workers(True)  # noqa: FBT003

    def _on_leave(self) -> None:
        if not self._left.done():
            self._left.set_result(None)
        self._lifetime.end("error")  # a reason only where there was none before: the worker cannot be started

    async def _end(self, reason: str) -> None:
        if reason == "eof":
            self._host.take(ClientLeft())
            await self._lifetime.give_time(asyncio.shield(self._left))
        self._host.take(ShutDown())  # of no effect once the kernel is done
        await asyncio.wait([self._left], timeout=self._settings.kill_grace + ANSWER_MARGIN + WRITE_BOUND)
        await self._outbox.drain(WRITE_BOUND)
        await self._host.close()
        engine = container_engine(self._command)
        if engine is not None:  # a container that came up only after its worker was gone
            removal = await remove_labelled(engine, self._token, CONTAINER_BOUND)
            if removal.problem:
                self._tell_problem("containers", f"containers may be left: {removal.problem}")
        if self._control is not None:
            await self._control.close()
        self._log.emit(HostStopped(legible(self._name), os.getpid(), reason, self._host.counts()))
        self._log.close()
        await self._reader.close()
        await self._outbox.close()

    def _exit_code(self, reason: str) -> int:
        if self._host.first_failure is not None:
            raise self._host.first_failure
        if self._host.refusal is not None:
            return self._host.refusal
        if self._host.front is not None and self._host.front.refusal is not None:
            return self._host.front.refusal
        return self._lifetime.exit_code or (1 if reason == "error" else 0)
