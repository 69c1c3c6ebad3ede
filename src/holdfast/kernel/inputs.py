"""What can happen to a host, as data: each is one input of `step`."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from holdfast.vocabulary.faults import Fault
from holdfast.wire.envelope import Message

__all__ = [
    "CatalogJudged",
    "ClientLeft",
    "Fenced",
    "FromClient",
    "FromWorker",
    "GarbledAnswer",
    "HeldUp",
    "Input",
    "OutcomeFound",
    "RestartAsked",
    "RolloutAsked",
    "ShutDown",
    "Tick",
    "WorkerDown",
    "WorkerSeen",
    "WorkerUp",
]


class FromClient(NamedTuple):
    """A message of the client, and the bytes that it was read from."""

    message: Message
    frame: bytes
    is_own: bool = False  # a question of the host's own front, which no client has asked
    client: str = ""  # which one of several clients it is from, as far as that is known


class FromWorker(NamedTuple):
    """A message of a worker."""

    generation: int
    message: Message
    frame: bytes


class GarbledAnswer(NamedTuple):
    """A worker has answered in a way that cannot be read, but the id is legible; `problem` is told instead."""

    generation: int
    id: int
    problem: Fault


class HeldUp(NamedTuple):
    """The host itself does not read what this worker says, since its client does not: silence means nothing."""

    generation: int


class WorkerUp(NamedTuple):
    """The process of a worker was started; it can be written to."""

    generation: int


class WorkerDown(NamedTuple):
    """A worker is gone with all its processes, and everything that it said has been told.

    `cause` is the fault that its end is recorded as: class, code and message. `unsent` are the attempts of which
    no byte ever left this process: nobody can have executed them.
    """

    generation: int
    cause: Mapping[str, Any]
    unsent: frozenset[int] = frozenset()


class WorkerSeen(NamedTuple):
    """What the system tells of the processes of a worker: the answer to `LookAtWorker`.

    `cpu` is the time that they have used together, in seconds; None where the system does not tell.
    """

    generation: int
    is_halted: bool = False
    cpu: float | None = None


class OutcomeFound(NamedTuple):
    """What the store knows about the key of a call: nothing, the stored result, or that the arguments differ.

    `id` is that of the question, `LookUpOutcome`.
    """

    id: int
    result: bytes | None = None
    conflict: str = ""


class Tick(NamedTuple):
    """The time has come to look whether something is due."""


class RestartAsked(NamedTuple):
    """Somebody wants a fresh worker; what is in flight is to finish first."""


class RolloutAsked(NamedTuple):
    """Somebody wants another release to serve from now on; the host knows what each number stands for."""

    release: int


class CatalogJudged(NamedTuple):
    """Whether the tools of a successor may replace those that clients know; `problem` says why not."""

    generation: int
    problem: str = ""


class Fenced(NamedTuple):
    """From now on nothing is sent to workers that the client wants done, or it is again."""

    on: bool


class ClientLeft(NamedTuple):
    """The client has closed its end: no more requests, but it may still read answers."""


class ShutDown(NamedTuple):
    """The host must end now."""


Input = (
    FromClient
    | FromWorker
    | GarbledAnswer
    | HeldUp
    | WorkerUp
    | WorkerDown
    | WorkerSeen
    | OutcomeFound
    | Tick
    | RestartAsked
    | RolloutAsked
    | CatalogJudged
    | Fenced
    | ClientLeft
    | ShutDown
)
