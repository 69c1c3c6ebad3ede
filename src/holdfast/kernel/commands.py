"""What the kernel wants done, as data, in this order: the host carries each out and decides nothing."""

from typing import NamedTuple

from holdfast.vocabulary.events import Event
from holdfast.vocabulary.ids import RequestId

__all__ = [
    "Command",
    "JudgeCatalog",
    "KeepOutcome",
    "Leave",
    "LookAtWorker",
    "LookUpOutcome",
    "Record",
    "RolloutEnded",
    "StartWorker",
    "StopWorker",
    "ToClient",
    "ToWorker",
]


class ToClient(NamedTuple):
    """Send these bytes to the client; `answers` is the request that ends with them, if one does.

    Of such a request `method`, `tool` and `is_modern` tell what it was about.
    """

    payload: bytes
    answers: RequestId | None = None
    is_droppable: bool = False  # progress: worth nothing to a client that does not read
    about: RequestId | None = None  # the request that progress is about
    method: str = ""
    tool: str = ""  # that was called, or the method
    is_modern: bool = False  # it described itself; there may have been no handshake

    @property
    def concerns(self) -> RequestId | None:
        """The request whose sender this is for; None where it is for the client of the session."""
        return self.about if self.answers is None else self.answers


class ToWorker(NamedTuple):
    """Send these bytes to a worker; `attempt` is the id of the client's request in them, 0 if there is none."""

    generation: int
    payload: bytes
    attempt: int = 0


class StartWorker(NamedTuple):
    """Start a worker process of a release, after a pause of about `delay` seconds."""

    generation: int
    delay: float
    release: int = 1


class StopWorker(NamedTuple):
    """End a worker with all its processes; `politely` closes its input first and lets it leave."""

    generation: int
    politely: bool


class LookAtWorker(NamedTuple):
    """Find out what the processes of a worker do; the answer is a `WorkerSeen`."""

    generation: int


class JudgeCatalog(NamedTuple):
    """Find out whether whoever knows the tools `before` can live with those `after`; both as JSON documents.

    The answer is a `CatalogJudged` of the same generation.
    """

    generation: int
    before: bytes
    after: bytes


class LookUpOutcome(NamedTuple):
    """Find out what is stored for the key of a call; the answer is an `OutcomeFound` with the same `id`."""

    id: int  # the sequence number of the call: clients use the ids of their requests again
    tool: str
    key: str
    arguments: object


class KeepOutcome(NamedTuple):
    """Store the result of a call under its key; it must be durable before the next command is carried out."""

    tool: str
    key: str
    arguments: object
    result: bytes


class Record(NamedTuple):
    """Write an event to the log."""

    event: Event


class RolloutEnded(NamedTuple):
    """A replacement that somebody asked for is done, or was refused for the reason `problem`."""

    problem: str


class Leave(NamedTuple):
    """Nothing is left to do: end the workers and then this process."""


Command = (
    ToClient
    | ToWorker
    | StartWorker
    | StopWorker
    | LookAtWorker
    | JudgeCatalog
    | LookUpOutcome
    | KeepOutcome
    | Record
    | RolloutEnded
    | Leave
)
