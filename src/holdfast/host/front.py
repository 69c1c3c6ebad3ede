"""The front: a process beside the worker that speaks HTTP, and whose requests enter the kernel like the client's.

It is a client of its own, of the era in which requests describe themselves, on a pair of pipes. Its ids begin with
a word that nobody else can know, so that answers find their way and one client cannot touch what is another's.
The host owns the listening socket: a front that dies or hangs is replaced, and whoever connects meanwhile waits.
One that refuses what it is told would refuse it again: that ends the host.
"""

import asyncio
import secrets
import socket
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from holdfast.errors import ProcessError, WireError
from holdfast.host.stderr_relay import StderrRelay, Tail
from holdfast.host.surface import Surface
from holdfast.host.worker_input import WorkerInput
from holdfast.kernel.commands import ToClient
from holdfast.kernel.inputs import FromClient
from holdfast.observe.sink import EventSink
from holdfast.present.last_words import last_words
from holdfast.process import Outcome, Process, spawn
from holdfast.process.custody import finished
from holdfast.vocabulary.events import FaultRecorded, FrontLost, FrontStarted, TokenRefused
from holdfast.vocabulary.ids import CLIENT_END, OWN_QUESTION, RequestId
from holdfast.vocabulary.meta import META_PRINCIPAL
from holdfast.wire.codec import RELAY_DEPTH, decode, encode
from holdfast.wire.envelope import (
    Notification,
    Request,
    error_message,
    notification_message,
    parse,
    result_message,
)
from holdfast.wire.framing import LineFramer
from holdfast.wire.legible import ENDS_KEPT, TooLongError

__all__ = ["Front", "FrontPlan"]

HEALTH = "holdfast/health"  # what the host itself answers
ALIVE = "holdfast/alive"  # what a front says every few seconds, to be missed when it hangs
WRONG_TOKEN = "holdfast/wrong_token"  # noqa: S105 - what it says of those who try others
_LOG_LINE = b'"notifications/message"'
SILENCE = 15.0  # seconds without a word after which a front that says so is taken to hang
_LONGEST_ADDRESS = 64
LOOKS = 5  # how often it is looked at in that time
USAGE_EXIT = 2
PROGRESS_PAUSE = 4 * 1024 * 1024  # bytes unread by the front from which on it is told no progress
FIRST_PAUSE = 0.1  # seconds before a front that was lost is started again; doubles with every loss
LONGEST_PAUSE = 5.0
SETTLED = 30.0  # seconds of life after which earlier losses are forgotten


@dataclass(frozen=True, slots=True)
class FrontPlan:
    """What is run as the front, where it listens, and what it is told: `options`, as its first line of input."""

    command: Sequence[str]
    listener: socket.socket
    options: Mapping[str, Any] = field(repr=False)  # it may hold a secret
    silence: float = SILENCE


class Front:
    """The front of one host, kept running."""

    def __init__(
        self,
        plan: FrontPlan,
        *,
        grace: float,
        max_bytes: int,
        log: EventSink,
        take: Callable[[FromClient], None],
        pending: Callable[[], list[RequestId]],
        health: Callable[[], Mapping[str, Any]],
        on_refusal: Callable[[], None],
        surface: Surface | None = None,
    ) -> None:
        self.refusal: int | None = None  # the exit code of a first front that refused to start at all
        self._on_refusal = on_refusal
        self._plan = plan
        self._grace = grace
        self._max_bytes = max_bytes
        self._log = log
        self._take = take
        self._pending = pending
        self._health = health
        self._surface = surface
        self._passed_on: set[RequestId | None] = set()  # requests of its clients, as they came
        self._relay = StderrRelay()
        self._tail = Tail()
        self._prefix = ""
        self._framer = LineFramer(max_bytes, ends_kept=ENDS_KEPT)
        self._has_spoken = False  # this one or one before it
        self._shows_life = False  # the one that runs now has said that it is alive
        self._is_quiet = False  # it has said nothing since it was last looked at
        # Why the one that runs now cannot go on.
        self._broken: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._input: WorkerInput | None = None
        self._losses = 0
        self._keeping: asyncio.Task[None] | None = None

    def owns(self, request_id: RequestId | None) -> bool:
        """Whether the front that runs now sent this request."""
        return isinstance(request_id, str) and bool(self._prefix) and request_id.startswith(self._prefix)

    def start(self) -> None:
        """Start it and keep it running, until `close`."""
        self._keeping = asyncio.create_task(self._keep())

    async def close(self) -> None:
        """End it, and wait for it."""
        if self._keeping is not None:
            self._keeping.cancel()
            await asyncio.wait([self._keeping])
        self._plan.listener.close()
        self._relay.close()

    def send(self, command: ToClient) -> None:
        """Send what the kernel says about one of its requests."""
        payload = self._shaped(command)
        self._passed_on.discard(command.answers)
        if payload:
            self._say(payload, is_droppable=command.answers is None)

    def _shaped(self, command: ToClient) -> bytes | None:
        """In the form that clients get; what the front asks for itself it is told whole.

        But what the server says of itself is what the front makes the handshakes of its clients from.
        """
        is_for_clients = command.concerns in self._passed_on or command.method == "server/discover"
        if self._surface is None or not is_for_clients:
            return command.payload
        return self._surface.shaped(command)

    def overhear(self, command: ToClient) -> None:
        """Let it hear a line of the worker's log that names no request: it may have the only one that waits."""
        if _LOG_LINE in command.payload:
            self._say(command.payload, is_droppable=True)

    def _say(self, payload: bytes, *, is_droppable: bool) -> None:
        if self._input is not None and not (is_droppable and self._input.waiting > PROGRESS_PAUSE):
            self._input.send(payload + b"\n", 0)

    # --- its life ----------------------------------------------------------------------------------------------

    async def _keep(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            begun = loop.time()
            try:
                reason = await self._run()
            except ProcessError as error:
                reason = error.message
            except Exception as error:  # noqa: BLE001 - nobody else would start it again
                reason = self._record_failure(error)
            if self.refusal is not None:
                self._on_refusal()
                return
            self._losses = 1 if loop.time() - begun > SETTLED else self._losses + 1
            self._withdraw_requests()
            self._log.emit(FrontLost(reason, self._losses))
            self._log.flush()
            await asyncio.sleep(min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** min(self._losses - 1, 10)))

    def _record_failure(self, error: Exception) -> str:
        fault_id, name = secrets.token_hex(4), type(error).__name__
        trace = "".join(traceback.format_exception(error))
        self._log.emit(FaultRecorded(fault_id, None, None, name, f"the host failed at its front: {error}", trace))
        return f"the host failed at it: {name} ({fault_id})"

    async def _run(self) -> str:
        """Run one front to its end; why it ended. ProcessError where it cannot be run, or not be ended."""
        self._prefix = f"front-{secrets.token_hex(8)}-"
        self._framer = LineFramer(self._max_bytes, ends_kept=ENDS_KEPT)
        self._shows_life = False
        self._passed_on.clear()
        self._broken = asyncio.get_running_loop().create_future()
        descriptor = self._plan.listener.fileno()
        process = await spawn(
            [*self._plan.command, f"--fd={descriptor}"],
            stdin="pipe",
            on_stdout=self._on_stdout,
            on_stderr=self._on_stderr,
            grace=self._grace,
            pass_fds=(descriptor,),
        )
        try:
            assert process.stdin is not None  # it was asked for
            self._input = WorkerInput(process.stdin)
            self._input.send(encode({**self._plan.options, "idPrefix": self._prefix}) + b"\n", 0)
            self._log.emit(FrontStarted(process.pid))
            self._log.flush()
            return await self._watch(process)
        finally:
            # To its end, whatever happens meanwhile: a process that nobody holds any more would stay.
            await finished(asyncio.ensure_future(self._end(process)))

    async def _watch(self, process: Process) -> str:
        """Wait until it ends or has to be ended; why."""
        ended = asyncio.ensure_future(process.wait())
        silence = asyncio.ensure_future(self._wait_for_silence())
        either: set[asyncio.Future[Any]] = {ended, silence, self._broken}
        try:
            await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        finally:
            silence.cancel()
        if ended.done():
            return self._why_ended(ended.result())
        if self._broken.done():
            return self._broken.result()
        await process.stop(0)  # it would not hear a request either
        return f"it has said nothing for {self._plan.silence:g} seconds"

    def _why_ended(self, outcome: Outcome) -> str:
        if outcome.returncode == USAGE_EXIT and not self._has_spoken:
            self.refusal = outcome.returncode
        words = last_words(self._tail.text())
        return f"it ended ({outcome.describe()})" + (f": {words}" if words else "")

    async def _wait_for_silence(self) -> None:
        # Looks are counted, not seconds: a host that was itself held up must not blame the front for it.
        missed = 0
        while missed < LOOKS:
            self._is_quiet = True
            await asyncio.sleep(self._plan.silence / LOOKS)
            missed = missed + 1 if self._shows_life and self._is_quiet else 0

    async def _end(self, process: Process) -> None:
        """Let it finish what it has, and see that it is gone."""
        if self._input is not None:
            self._input.close()
            self._input = None
        await asyncio.wait([asyncio.ensure_future(process.wait())], timeout=self._grace)
        await process.stop(self._grace)

    def _withdraw_requests(self) -> None:
        """Nobody waits for the answers any more, so the work need not go on."""
        for request_id in [one for one in self._pending() if self.owns(one)]:
            params = {"requestId": request_id}
            note = Notification("notifications/cancelled", params)
            self._take(FromClient(note, encode(notification_message(note.method, params))))
        self._prefix = ""

    # --- what it says ------------------------------------------------------------------------------------------

    def _on_stdout(self, data: bytes) -> None:
        self._is_quiet = False
        for frame in self._framer.feed(data) if data else ():
            try:
                if isinstance(frame, WireError):
                    raise frame
                self._receive(frame)
            except TooLongError as error:
                self._refuse(error)
            except WireError as error:
                self._relay.write(f"holdfast: the front said something else: {error.message}\n".encode())

    def _refuse(self, error: TooLongError) -> None:
        """Answer a message that is too long; where nobody can tell whose it is, nobody is left waiting."""
        number = error.request_id
        if number is not None and self.owns(number):
            answer = error_message(number, error.jsonrpc_code, error.message, error.data)
            self._say(encode(answer), is_droppable=False)
        elif not self._broken.done():
            self._broken.set_result(f"it sent a message that cannot be answered: {error.message}")

    def _receive(self, frame: bytes) -> None:
        message = parse(decode(frame, max_depth=RELAY_DEPTH))
        self._has_spoken = True
        if isinstance(message, Notification) and message.method == ALIVE:
            self._shows_life = True
        elif isinstance(message, Notification) and message.method == WRONG_TOKEN:
            self._record_wrong_token(message.params)
        elif isinstance(message, Request) and self.owns(message.id):
            answer = self._own_answer(message)
            if answer is not None:
                self._say(answer, is_droppable=False)
            else:
                number = str(message.id).removeprefix(self._prefix)
                client = number.rpartition(CLIENT_END)[0]
                self._take(FromClient(message, frame, number.startswith(OWN_QUESTION), client))
        elif isinstance(message, Notification) and self.owns(message.params.get("requestId")):
            self._passed_on.discard(message.params["requestId"])
            self._take(FromClient(message, frame))

    def _record_wrong_token(self, params: Mapping[str, Any]) -> None:
        address, count = params.get("address"), params.get("count")
        if isinstance(address, str) and type(count) is int:
            self._log.emit(TokenRefused(address[:_LONGEST_ADDRESS], count))
            self._log.flush()

    def _own_answer(self, request: Request) -> bytes | None:
        """What the host itself answers; None for what is the kernel's business."""
        if request.method == HEALTH:
            return encode(result_message(request.id, dict(self._health())))
        meta = request.params.get("_meta")
        if self._surface is None or not isinstance(meta, dict) or META_PRINCIPAL not in meta:
            return None
        answer = self._surface.answer(request)
        if answer is None:
            self._passed_on.add(request.id)
        return answer

    def _on_stderr(self, data: bytes) -> None:
        if data:
            self._tail.add(data)
            self._relay.write(data)
