"""One turn of the machine: a copy of the state that may be changed, the time, and the commands so far.

The rooms of the kernel (admission, dispatch, answers, recovery...) are functions over a turn. Only the primitives
that all of them need stand here.
"""

from typing import Any

from holdfast.kernel.commands import Command, Record, ToClient, ToWorker
from holdfast.kernel.state import Errand, ErrandKind, Pending, State, Worker
from holdfast.vocabulary.events import Event
from holdfast.vocabulary.ids import RequestId
from holdfast.wire.codec import encode
from holdfast.wire.envelope import notification_message, request_message
from holdfast.wire.splice import replace_id

__all__ = ["Turn", "due_time"]

_EARLIEST = 1e-9  # since 0 is never


def due_time(at: float, now: float) -> float:
    """When something falls due that may have been due long ago: then it is due now."""
    return max(at, now, _EARLIEST)


class Turn:
    """The changing state of one step."""

    __slots__ = ("commands", "now", "state")

    def __init__(self, state: State, now: float) -> None:
        self.state = state.copy()
        self.now = now
        self.commands: list[Command] = []

    @property
    def active(self) -> Worker | None:
        """The worker that serves."""
        return self.state.workers.get(self.state.active)

    # --- changing ----------------------------------------------------------------------------------------------

    def put(self, entry: Pending) -> Pending:
        """Keep the new form of a request."""
        self.state.pending[entry.id] = entry
        self.wake(entry.due)
        self.wake(entry.beat_at)
        return entry

    def put_worker(self, worker: Worker) -> Worker:
        """Keep the new form of a worker."""
        self.state.workers[worker.generation] = worker
        self.wake(worker.due)
        return worker

    def restore_order(self) -> None:
        """What waits is walked in the order of acceptance, what was lost or moved among the rest."""
        waiting = self.state.waiting
        self.state.waiting = {request_id: None for request_id in self.state.pending if request_id in waiting}

    def wake(self, at: float) -> None:
        """See to it that the clock is looked at no later than then; 0 is never."""
        if at and (not self.state.wake_at or at < self.state.wake_at):
            self.state.wake_at = at

    def count(self, name: str, by: int = 1) -> None:
        """Count what happened."""
        self.state.counts[name] = self.state.counts.get(name, 0) + by

    def count_of(self, entry: Pending, name: str) -> None:
        """Count what happened to a request, if it is one of a client."""
        if not entry.is_own:
            self.count(name)

    # --- commanding --------------------------------------------------------------------------------------------

    def tell_client(self, message: Any, answers: RequestId | None = None) -> None:
        """Send a message of the host's own to the client."""
        self.commands.append(ToClient(encode(message), answers))

    def end_request(self, entry: Pending, answer: bytes) -> None:
        """Send the one terminal answer to a request."""
        told = ToClient(answer, entry.id, method=entry.method, tool=entry.tool, is_modern=entry.is_modern)
        self.commands.append(told)

    def tell_listener(self, message: Any, about: RequestId) -> None:
        """Send a message of the host's own to whoever sent the request that it is about."""
        self.commands.append(ToClient(encode(message), about=about))

    def tell_progress(self, message: Any, about: RequestId) -> None:
        """Send a sign of life of the host's own to whoever sent the request."""
        self.commands.append(ToClient(encode(message), is_droppable=True, about=about))

    def pass_to_client(
        self, payload: bytes, answers: RequestId | None = None, *, about: RequestId | None = None
    ) -> None:
        """Send bytes of the worker to the client."""
        self.commands.append(ToClient(payload, answers, about=about))

    def pass_to_worker(self, worker: Worker, payload: bytes, attempt: int = 0) -> None:
        """Send bytes of the client to a worker."""
        self.commands.append(ToWorker(worker.generation, payload, attempt))

    def notify_worker(self, worker: Worker, method: str, params: dict[str, Any]) -> None:
        """Send a notification of the host's own to a worker."""
        self.commands.append(ToWorker(worker.generation, encode(notification_message(method, params))))

    def send_errand(
        self,
        worker: Worker,
        kind: ErrandKind,
        request: tuple[str, dict[str, Any] | None] | bytes,
        *,
        within: float,
        about: RequestId | None = None,
    ) -> int:
        """Ask a worker something on the host's own behalf: a method with parameters, or a frame with a new id."""
        number = self.take_id()
        due = self.now + within
        self.state.errands[number] = Errand(kind, worker.generation, due, about)
        self.wake(due)
        if isinstance(request, bytes):
            payload = replace_id(request, number)
        else:
            payload = encode(request_message(number, request[0], request[1]))
        self.commands.append(ToWorker(worker.generation, payload))
        return number

    def take_id(self) -> int:
        """An id that was never used on the pipe of any worker."""
        number = self.state.next_id
        self.state.next_id += 1
        return number

    def record(self, event: Event) -> None:
        """Write down what happened."""
        self.commands.append(Record(event))
