"""The client's side of the host: its bytes to messages, and answers back to it, batches included.

What cannot be a message is answered here, at once, with the same words as by a server without a host. A client
that does not read its answers is not read from either, once too much has piled up.
"""

from collections.abc import Callable, Container
from typing import Any

from holdfast.errors import WireError
from holdfast.host.batch import Batch
from holdfast.host.surface import Surface
from holdfast.kernel.commands import ToClient
from holdfast.kernel.inputs import FromClient
from holdfast.observe.sink import EventSink
from holdfast.stdio.outbox import Outbox
from holdfast.vocabulary.events import MessageRejected
from holdfast.vocabulary.ids import RequestId
from holdfast.vocabulary.meta import META_PRINCIPAL
from holdfast.wire.codec import RELAY_DEPTH, decode, encode
from holdfast.wire.envelope import INVALID_PARAMS, INVALID_REQUEST, Request, error_message, parse
from holdfast.wire.splice import split_batch

__all__ = ["PublicSide"]

_NOT_YOURS = f"{META_PRINCIPAL} is for the host to say: who a client is, its token tells; leave it out"
_BATCH_REVISION = "2025-03-26"
HELD_BYTES = 16 * 1024 * 1024  # answers that wait for the rest of their batch, of all batches together


class PublicSide:
    """Turns frames into inputs of the kernel, and its answers into frames."""

    def __init__(self, outbox: Outbox, log: EventSink, *, max_bytes: int, surface: Surface | None = None) -> None:
        self.is_full = False  # the client does not read
        self.take: Callable[[FromClient], None] = _nobody
        self.revision: Callable[[], str] = str
        self.is_pending: Callable[[RequestId], bool] = lambda _: False
        self.on_backlog: Callable[[], None] = lambda: None  # told of what piles up while the client does not read
        self._outbox = outbox
        self._log = log
        self._max_bytes = max_bytes
        self._surface = surface
        self._batches: dict[RequestId, Batch] = {}
        self._held = 0  # bytes of answers in them

    @property
    def holds_batches(self) -> bool:
        """Whether answers are kept back until the rest of their batch is there."""
        return bool(self._batches)

    def receive(self, frame: bytes | WireError) -> None:
        """Take one frame of the client, whatever it is."""
        try:
            if isinstance(frame, WireError):
                raise frame
            document = decode(frame, max_depth=RELAY_DEPTH)
            if isinstance(document, list):
                self._receive_batch(document, frame)
            else:
                self._take(FromClient(parse(document), frame))
        except WireError as error:
            self._outbox.send(self._rejection(error))

    def send(self, command: ToClient) -> None:
        """Send what the kernel says, or keep it until the rest of its batch is there."""
        if self._surface is not None:
            shaped = self._surface.shaped(command)
            command = command if shaped is command.payload else command._replace(payload=shaped)
        self._send(command)

    def _send(self, command: ToClient) -> None:
        batch = self._batches.pop(command.answers, None) if command.answers is not None else None
        if batch is not None and command.answers is not None:
            batch.owed.discard(command.answers)
            if command.payload:
                batch.add(command.payload)
                self._held += len(command.payload)
            self._send_if_complete(batch)
        elif command.payload and not (self.is_full and command.is_droppable):
            self._send_bytes(command.payload)

    def settle(self, pending: Container[RequestId]) -> None:
        """Expect no more answers to requests that are over: a cancelled one must not hold up its batch."""
        for request_id in [one for one in self._batches if one not in pending]:
            batch = self._batches.pop(request_id)
            batch.owed.discard(request_id)
            self._send_if_complete(batch)

    def _receive_batch(self, documents: list[Any], frame: bytes) -> None:
        if self.revision() != _BATCH_REVISION:
            raise WireError(INVALID_REQUEST, "batches exist only in sessions of protocol revision 2025-03-26")
        if not documents:
            raise WireError(INVALID_REQUEST, "an empty batch holds no request")
        batch = Batch(self._max_bytes)
        inputs = self._inputs_of(batch, documents, frame)
        self._held += batch.size
        self._send_if_complete(batch)  # with only notifications in it, and what is no message
        for given in inputs:
            if isinstance(given.message, Request):
                self._batches[given.message.id] = batch
            self._take(given)

    def _take(self, given: FromClient) -> None:
        """Answer what is the host's own business; the rest is the kernel's, and so are ids that are in flight."""
        message = given.message
        if isinstance(message, Request) and _says_who_it_is(message) and not self.is_pending(message.id):
            refusal = WireError(INVALID_PARAMS, _NOT_YOURS, request_id=message.id)
            self._send(ToClient(encode(self._rejection(refusal)), message.id))
            return
        if self._surface is not None and isinstance(message, Request) and not self.is_pending(message.id):
            answer = self._surface.answer(message)
            if answer is not None:
                self._send(ToClient(answer, message.id))
                return
        self.take(given)

    def _inputs_of(self, batch: Batch, documents: list[Any], frame: bytes) -> list[FromClient]:
        """The messages of a batch; what is refused of it is answered in the batch itself."""
        inputs: list[FromClient] = []
        for document, element in zip(documents, split_batch(frame), strict=True):
            try:
                message = parse(document)
                if isinstance(message, Request):
                    self._owe(batch, message.id)
            except WireError as error:
                batch.add(encode(self._rejection(error)))
                continue
            inputs.append(FromClient(message, element))
        return inputs

    def _owe(self, batch: Batch, request_id: RequestId) -> None:
        """Expect an answer; not to an id that is in flight, whose one answer belongs to somebody else."""
        if request_id in batch.owed or request_id in self._batches or self.is_pending(request_id):
            text = f"request id {request_id!r:.80} is still in flight"
            raise WireError(INVALID_REQUEST, text, request_id=request_id)
        batch.owed.add(request_id)

    def _send_if_complete(self, batch: Batch) -> None:
        """Send a batch that is complete; and what there is of one that would have to be split anyway."""
        if batch.is_complete or batch.size > self._max_bytes or self._held > HELD_BYTES:
            self._held -= batch.size
            for array in batch.arrays():
                self._send_bytes(array)

    def _send_bytes(self, payload: bytes) -> None:
        self._outbox.send_bytes(payload)
        if self.is_full:
            self.on_backlog()

    def _rejection(self, error: WireError) -> dict[str, Any]:
        self._log.emit(MessageRejected(error.jsonrpc_code, error.message))
        return error_message(error.request_id, error.jsonrpc_code, error.message, error.data)


def _says_who_it_is(request: Request) -> bool:
    """Whether a client claims to be somebody: what a worker seals for one client, another may not open."""
    meta = request.params.get("_meta")
    return isinstance(meta, dict) and META_PRINCIPAL in meta


def _nobody(given: FromClient) -> None:
    raise AssertionError(f"nobody takes {given}")
