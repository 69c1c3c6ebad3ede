"""The life of one host process: claim the streams, keep a worker running, serve a client, leave nothing behind."""

import asyncio
import os
import secrets
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

from holdfast.errors import HoldfastError, RefusedError
from holdfast.host.bounded_output import OutputBounds, facts_of
from holdfast.host.control import ControlServer
from holdfast.host.discretion import Discretion
from holdfast.host.front import Front, FrontPlan
from holdfast.host.hand_over import HandOver
from holdfast.host.host import Host
from holdfast.host.naming import legible, server_identity
from holdfast.host.onlookers import Onlookers
from holdfast.host.outcomes import open_outcomes
from holdfast.host.output_store import OutputStore, outputs_directory
from holdfast.host.policy import policy_of
from holdfast.host.private_places import records_directory
from holdfast.host.public_side import PublicSide
from holdfast.host.reaper import reap
from holdfast.host.records import Registration
from holdfast.host.release_directory import ReleaseDirectory
from holdfast.host.surface import Surface
from holdfast.host.takeover import Capsule, become, inherited
from holdfast.host.upgrades import UpgradePlan, follow
from holdfast.host.worker_environment import HOST_SECRETS
from holdfast.host.worker_process import WorkerOptions
from holdfast.kernel.cancellation import ANSWER_MARGIN
from holdfast.kernel.inputs import ClientLeft, ShutDown
from holdfast.observe.event_log import EventLog, NullEventLog, open_event_log, path_component
from holdfast.process.command import MARKER
from holdfast.process.containers import container_engine, remove_labelled
from holdfast.process.privacy import forget_variables, hide_process
from holdfast.settings import Configuration, Settings
from holdfast.stdio import collector
from holdfast.stdio.lifetime import Lifetime
from holdfast.stdio.outbox import Outbox
from holdfast.stdio.reader import InputReader
from holdfast.stdio.streams import StandardStreams, claim_standard_streams
from holdfast.stdio.terminal import write_stderr
from holdfast.version import __version__
from holdfast.vocabulary.events import FaultRecorded, HostStarted, HostStopped, KillFailed, LeftoversReaped
from holdfast.vocabulary.execution import SessionPhase
from holdfast.wire.framing import ContentLengthFramer, LineFramer

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
    speaks_both: bool | None = None,
    front: FrontPlan | None = None,
    upgrades: UpgradePlan | None = None,
    environment: Mapping[str, str] | None = None,
) -> int:
    """Serve the process's stdin and stdout with `command` as the worker; return the exit code.

    `is_ours` says that the command is one of this package, and `speaks_both` that what it serves is known to speak
    both eras, as servers of this package do. With a `front` there is HTTP beside it; then an input that ends
    before anybody said something means that there is no client on stdin, and the host stays. `upgrades` is what
    new versions are taken up from. `environment` is that of workers; None stands for our own.
    """
    hide_process()
    forget_variables(HOST_SECRETS)
    settings = configuration.settings
    capsule = inherited()
    if capsule is not None and capsule.is_trial:
        capsule.state(policy_of(configuration), 0.0)
        return 0
    onlookers = Onlookers(settings, legible(name), capsule)
    # Everything below this process carries its token, so that a later host can find what this one may leave.
    token = secrets.token_hex(8)
    outer = os.environ.get(MARKER)
    os.environ[MARKER] = f"{outer}:{token}" if outer else token
    log = open_event_log(settings, name)
    log.emit(HostStarted(legible(name), __version__, os.getpid(), tuple(map(legible, command))))
    log.flush()
    streams = claim_standard_streams()
    collector.loaded()
    process = _HostProcess(
        command,
        configuration,
        name,
        token,
        log,
        is_ours=is_ours,
        speaks_both=speaks_both,
        front=front,
        onlookers=onlookers,
        environment=environment,
    )
    code = asyncio.run(process.serve(streams, upgrades, capsule))
    if process.successor is not None:
        become(*process.successor)
    return code


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
        speaks_both: bool | None = None,
        front: FrontPlan | None = None,
        onlookers: Onlookers | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self._environment = environment
        self._is_ours = is_ours
        self._speaks_both = speaks_both
        self._plan = front
        self._command = tuple(command)
        self._configuration = configuration
        self._settings: Settings = configuration.settings
        self._name = name
        self._token = token
        self._log = log
        self._onlookers = onlookers or Onlookers(configuration.settings, name)
        self._control: ControlServer | None = None
        self._has_client = False  # somebody has said something on stdin
        self._releases: ReleaseDirectory | None = None  # that the command comes from
        self._hand_over: HandOver | None = None  # where that is possible
        # What the next version of this host goes on from, and the client's pipes; at the end.
        self.successor: tuple[int, StandardStreams] | None = None

    async def serve(
        self, streams: StandardStreams, upgrades: UpgradePlan | None = None, capsule: Capsule | None = None
    ) -> int:
        """Serve until there is a reason to end; return the exit code."""
        settings = self._settings
        self._releases = upgrades.releases if upgrades is not None else None
        options = self._worker_options()
        options.check = self._check_of(options.command)
        framer = options.framer()
        self._lifetime = lifetime = Lifetime(exit_with_parent=settings.exit_with_parent)
        self._left = asyncio.get_running_loop().create_future()
        self._outbox = Outbox(
            framer, self._log, on_full=self._on_full, on_lost=lambda: lifetime.end("broken_pipe")
        )
        self._surface = surface = self._new_surface()
        public = PublicSide(self._outbox, self._log, max_bytes=settings.max_message_bytes, surface=surface)
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
            self._host = self._new_host(options, public, capsule)
            self._hand_over = self._new_hand_over(framer)
            self._start_front()
            await self._onlookers.start(self._host, lambda: self._host.state.session.spoken)
            await self._register()
            if capsule is not None and capsule.unread:
                feed(capsule.unread)
            await self._reader.open(streams.reader)
            beside = [asyncio.create_task(self._reap())]
            if upgrades is not None:
                following = follow(upgrades, self._host.rollout, self._complain, lambda: self._host.command)
                beside.append(asyncio.create_task(following))
            reason = await lifetime.wait()
            if self._hand_over is not None and self._hand_over.capsule is not None:
                copies = StandardStreams(os.dup(streams.reader), os.dup(streams.writer))
                self.successor = (self._hand_over.capsule, copies)
            await self._end(reason)
            for task in beside:
                task.cancel()
        return self._exit_code(reason)

    def _worker_options(self) -> WorkerOptions:
        settings = self._settings
        return WorkerOptions(
            self._command,
            is_ours=self._is_ours,
            speaks_both=self._speaks_both,
            legacy=settings.mcp_mode == "legacy",
            grace=settings.kill_grace,
            noise_max=settings.noise_max,
            max_bytes=settings.max_message_bytes,
            max_header_bytes=settings.max_header_bytes,
            token=self._token,
            environment=self._environment,
        )

    def _new_surface(self) -> Surface:
        settings = self._settings
        place = outputs_directory(records_directory(settings), self._token)
        self._bounds = OutputBounds(
            settings,
            self._configuration.tools,
            OutputStore(place, max_entry=settings.max_message_bytes),
            self._log,
        )
        return Surface(self._bounds, self._log, self._documents() if settings.health_tools else {})

    def _documents(self) -> dict[str, Callable[[], Mapping[str, Any]]]:
        """What clients are told of the host, by name."""
        discretion = Discretion()
        return {
            "health": lambda: discretion.of(self.status()),
            "telemetry": lambda: discretion.of(self.telemetry()),
        }

    def _new_host(self, options: WorkerOptions, public: PublicSide, capsule: Capsule | None) -> Host:
        # Names are guessed and shared; an outcome is that of one server and of no other, and of all its releases.
        program = self._command if self._releases is None else [str(self._releases.root)]
        file = f"outcomes-{server_identity(program)}.sqlite"
        place = self._settings.state_path() / path_component(self._name)
        outcomes = open_outcomes(place / file, self._settings.dedup_ttl)
        policy = policy_of(self._configuration)
        restored = None
        if capsule is not None:
            restored = capsule.state(policy, asyncio.get_running_loop().time())
            options = options.of_release(capsule.command, self._check_of(capsule.command))
            self._has_client = True
        host = Host(policy, options, public, outcomes, self._log, self._on_leave, restored)
        host.releases.check_of = self._check_of
        if capsule is not None:
            host.figures.go_on_from(capsule.figures)
        public.take = host.take
        public.on_backlog = self._on_backlog
        public.revision = self._surface.revision = lambda: host.state.session.revision
        self._surface.is_shaking_hands = lambda: host.state.session.phase is SessionPhase.INITIALIZING
        self._bounds.facts = lambda tool: facts_of(host.state, tool)
        self._surface.emit = host.emit
        self._surface.lacks = lambda kind: kind not in (host.state.session.abilities or (kind,))
        self._surface.has_tool = lambda tool: facts_of(host.state, tool) is not None
        public.is_pending = lambda request_id: request_id in host.state.pending
        return host

    def _check_of(self, command: Sequence[str]) -> Callable[[], object] | None:
        """Whether a release is what it was packed as; to be asked before each start of a worker from it."""
        if self._releases is None:
            return None
        place = f"{self._releases.root / 'releases'}{os.sep}"
        names = [word.partition(place)[2].split(os.sep)[0] for word in command if place in word]
        return partial(self._releases.verified, names[0]) if names else None

    def _new_hand_over(self, framer: LineFramer | ContentLengthFramer) -> HandOver | None:
        if os.name == "nt" or self._plan is not None or not isinstance(framer, LineFramer):
            return None
        streams = (self._reader, self._outbox)
        return HandOver(self._host, self._public, framer, streams, self._lifetime, lambda: self._onlookers.port)

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
                surface=self._surface,
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
            self._complain(f"this host will not be found by `holdfast ps`: {told}")

    def _complain(self, text: str) -> None:
        with suppress(OSError):  # stderr may be what is full
            write_stderr(f"holdfast: {text}")

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
        told = {"name": legible(self._name), "pid": os.getpid(), "command": list(map(legible, self._host.command))}
        since = record.since if record else None
        return {**told, **self._host.health(), "started": since, "metrics": self._onlookers.address}

    def telemetry(self) -> dict[str, Any]:
        """What `holdfast telemetry` shows."""
        return {"name": legible(self._name), "pid": os.getpid(), **self._host.telemetry()}

    def metrics(self) -> dict[str, str]:
        """What `holdfast telemetry --prometheus` prints."""
        return {"text": self._host.metrics(legible(self._name)).decode()}

    async def restart(self) -> dict[str, Any]:
        """What `holdfast restart` does."""
        return await self._host.restart()

    async def rollout(self, command: Sequence[str] | None, *, accept_breaking: bool) -> dict[str, Any]:
        """What `holdfast rollout` does."""
        if command is None and self._releases is not None:
            current = await asyncio.to_thread(self._releases.current)
            command = (await asyncio.to_thread(self._releases.verified, current)).command
        return await self._host.rollout(command, accept_breaking=accept_breaking)

    async def reinstall(self, seconds: float) -> dict[str, Any]:
        """What `holdfast rollout --host` does: everything up to the moment from which there is no way back."""
        if self._hand_over is None:
            raise RefusedError("only a host that speaks lines on pipes, and no HTTP, can replace itself")
        await self._hand_over.begin(seconds)
        return {"pid": os.getpid(), "version": __version__}

    def stop(self) -> None:
        """What `holdfast stop` does."""
        self._lifetime.end("asked")

    # --- flow --------------------------------------------------------------------------------------------------

    def _on_full(self, full: bool) -> None:
        self._public.is_full = full
        if not full:
            self._host.pause_workers(False)  # noqa: FBT003
            if (
                self._hand_over is None or not self._hand_over.is_under_way
            ):  # then what the client writes is for the next host to read
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
        if self.successor is None:  # else the next host answers whatever is open
            self._host.freeze(False)  # noqa: FBT003 - it may have been asked to end while it was to be replaced
            self._host.take(ShutDown())  # of no effect once the kernel is done
            await asyncio.wait([self._left], timeout=self._settings.kill_grace + ANSWER_MARGIN + WRITE_BOUND)
        await self._outbox.drain(WRITE_BOUND)
        await self._host.close()
        self._surface.close()
        engine = container_engine(self._command)
        if engine is not None:  # a container that came up only after its worker was gone
            removal = await remove_labelled(engine, self._token, CONTAINER_BOUND)
            if removal.problem:
                self._tell_problem("containers", f"containers may be left: {removal.problem}")
        if self._control is not None:
            await self._control.close()
        await self._onlookers.close()
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
