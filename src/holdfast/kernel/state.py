"""Everything that a host knows between two inputs: the session, its requests, its workers. Data only.

`State` is never changed once it was handed out: `step` works on a copy (see `turn`). What a client sent is kept as
it was sent, byte for byte.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from types import MappingProxyType
from typing import Any, NamedTuple

from holdfast.kernel.catalog import NO_CATALOG, Catalog
from holdfast.kernel.policy import Policy
from holdfast.kernel.rules import Rule
from holdfast.kernel.vitals import FRESH, Life
from holdfast.present.profile import MODERN
from holdfast.vocabulary.call import ACCEPTED, Call
from holdfast.vocabulary.execution import Knowledge, Rollout, SessionPhase
from holdfast.vocabulary.ids import RequestId

__all__ = [
    "RESTART_ASKED",
    "Blame",
    "Callback",
    "Earlier",
    "Errand",
    "ErrandKind",
    "Hold",
    "Lookup",
    "Pending",
    "Probation",
    "Restarts",
    "Role",
    "Session",
    "State",
    "StateLoss",
    "Tombstone",
    "Verdict",
    "Worker",
    "WorkerPhase",
]


RESTART_ASKED = "RESTART_ASKED"  # why a worker that must be the only one was ended


class Session(NamedTuple):
    """The handshake of the client, as far as it has come, and what a new worker must be told of it."""

    phase: SessionPhase = SessionPhase.COLD
    initialize: bytes | None = None  # the client's own request
    initialized: bytes | None = None  # and its notification
    revision: str = ""
    has_tools: bool = True
    capabilities: str = ""  # the digest of what the server can do
    abilities: tuple[str, ...] = ()  # and the names of it
    self_description: Mapping[str, Any] | None = None  # `_meta` of a request of the era without a handshake

    @property
    def spoken(self) -> str:
        """The revision that requests come in: that of the handshake, or the one that needs none."""
        return self.revision or (MODERN if self.self_description is not None else "")


class Lookup(Enum):
    """Whether it is known that no outcome is stored for the key of a call."""

    NOT_ASKED = "not_asked"
    ASKED = "asked"
    CLEAR = "clear"


class Hold(NamedTuple):
    """A call that waits for the answer of a probe."""

    until: float
    ask_at: float
    pause: float  # before the next question
    errand: int = 0  # the question that is under way


class Earlier(NamedTuple):
    """The attempt of a hedged call that was made first; whichever attempt is answered first ends the call."""

    generation: int
    attempt: int
    due: float


class Pending(NamedTuple):
    """One request of the client, from its acceptance to its one terminal answer."""

    id: RequestId
    sequence: int  # never used again, unlike the id
    method: str
    tool: str  # that is called, or the method
    params: Mapping[str, Any]  # kept after the dispatch only where the contract needs them
    frame: bytes
    accepted_at: float
    call: Call = ACCEPTED
    knowledge: Knowledge = Knowledge.NOT_DISPATCHED
    rule: Rule | None = None  # decided when it is first dispatched
    token: RequestId | None = None  # the client wants to hear of progress
    is_modern: bool = False
    generation: int = 0  # of the worker that was asked last
    attempt: int = 0  # the id of the request on that worker's pipe
    replays: int = 0
    moves: int = 0  # those of them that a planned replacement was the reason for, and not the call
    due: float = 0.0  # when to look at it again; 0 is never
    is_overdue: bool = False
    progress: float = 0.0  # the highest number that the client was told
    beat_at: float = 0.0  # when the client gets a sign of life
    has_beaten: bool = False  # it has had one
    hold: Hold | None = None
    freed: bool = False  # its probe has said that it may be sent again
    lookup: Lookup = Lookup.NOT_ASKED
    is_own: bool = False  # no client has asked it, so it is told of nowhere as if one had
    client: str = ""  # which one of several sent it, as far as that is known
    sent_at: float = 0.0  # when it was last dispatched
    earlier: Earlier | None = None  # it was sent to a second worker, and the first one may still answer

    @property
    def charged(self) -> int:
        """How many of its repetitions count against it."""
        return self.replays - self.moves

    @property
    def is_in_flight(self) -> bool:
        """Whether a worker has it."""
        return self.knowledge is Knowledge.IN_FLIGHT

    def is_with(self, generation: int) -> bool:
        """Whether this worker has it, be it as the first of two."""
        if self.knowledge is not Knowledge.IN_FLIGHT:
            return False
        return self.generation == generation or (
            self.earlier is not None and self.earlier.generation == generation
        )

    def attempt_with(self, generation: int) -> int:
        """The id of the attempt that this worker has."""
        is_earlier = self.earlier is not None and self.earlier.generation == generation
        return self.earlier.attempt if self.earlier is not None and is_earlier else self.attempt


class Role(Enum):
    """What a worker is there for."""

    ACTIVE = "active"
    SPARE = "spare"
    SUCCESSOR = "successor"
    RETIRED = "retired"  # it has made way: it finishes what it has, and ends


class WorkerPhase(Enum):
    """How far a worker has come."""

    STARTING = "starting"
    OPEN = "open"  # it reads; the session has no handshake yet that it would need to know of
    INITIALIZING = "initializing"  # it is being told of the handshake
    LISTING = "listing"  # it serves everything but calls of tools, whose effects are not known yet
    READY = "ready"
    STOPPING = "stopping"


class Verdict(Enum):
    """Whether a successor may take over although its tools are not those that the client knows."""

    NOT_ASKED = "not_asked"
    ASKED = "asked"
    FINE = "fine"


class Worker(NamedTuple):
    """One process behind the host."""

    generation: int
    role: Role
    phase: WorkerPhase = WorkerPhase.STARTING
    release: int = 1  # which program it runs
    due: float = 0.0  # when its phase has lasted too long
    ready_at: float = 0.0
    heard_at: float = 0.0
    retired_at: float = 0.0
    pages: tuple[Any, ...] = ()  # of its list of tools, so far
    page_bytes: int = 0
    cursors: frozenset[str] = frozenset()
    is_list_outdated: bool = False  # its tools have changed since it was asked for them
    catalog: Catalog = NO_CATALOG
    list_trouble: str = ""  # why its tools are not known
    server: Mapping[str, Any] = MappingProxyType({})  # its name and version, as it says
    is_told: bool = False  # of the session, and of all facts about it
    to_tell: tuple[bytes, ...] = ()  # facts that wait until it has answered the one before
    verdict: Verdict = Verdict.NOT_ASKED
    announced_until: float = 0.0  # its tools were announced; how long the client has to ask for them
    ping: int = 0  # the question whether it is alive that is under way
    life: Life = FRESH
    stuck_threads: int = 0  # of calls that were stopped, as it says itself
    is_refusing: bool = False  # its last answer to a call was that it takes no more
    fault: Mapping[str, Any] | None = None  # why the host itself ends it


class ErrandKind(Enum):
    """What the host itself asks workers."""

    INITIALIZE = "initialize"
    LIST_TOOLS = "list_tools"
    RESTORE = "restore"
    PING = "ping"
    PROBE = "probe"


class Errand(NamedTuple):
    """A request of the host's own that is under way."""

    kind: ErrandKind
    generation: int
    due: float
    about: RequestId | None = None


class Tombstone(NamedTuple):
    """An attempt whose answer nobody waits for any more."""

    generation: int
    id: RequestId
    is_given_up: bool = False  # it was asked to stop, and did not say that it has


class Callback(NamedTuple):
    """A request of a worker that the client has to answer."""

    generation: int
    id: RequestId  # as the worker knows it
    about: RequestId | None = None  # the client's request that it is asked for, where the worker says so
    asked_at: float = 0.0


class Restarts(NamedTuple):
    """How often workers were lost lately, and in all."""

    total: int = 0
    consecutive: int = 0
    recent: tuple[float, ...] = ()
    is_degraded: bool = False
    retry_at: float = 0.0


class Probation(NamedTuple):
    """A release that has just taken over, and what to go back to if it does not hold."""

    until: float  # 0 after a loss, until a worker serves again
    previous: int  # the release before it
    fallback: int  # the generation of the worker that made way, kept meanwhile
    losses: int = 0


class Blame(NamedTuple):
    """How often one tool with the same arguments has ended its worker, and until when that counts."""

    losses: int
    until: float
    is_enough: bool = False  # for it to be refused


class StateLoss(NamedTuple):
    """The last replacement of a worker that may have held state, and who has yet to learn of it."""

    reason: str
    unaware: Mapping[str, int]  # clients whose results have not told them, and the generation that they know
    unrefused: frozenset[str] = frozenset()  # clients whose next call is refused, where that is wanted
    is_warned: bool = False


@dataclass(slots=True)
class State:
    """The whole knowledge of a host. Build the first one with `machine.begin`."""

    policy: Policy
    session: Session = Session()
    pending: dict[RequestId, Pending] = field(default_factory=dict)  # in the order of acceptance
    waiting: dict[RequestId, None] = field(default_factory=dict)  # those that no worker has, in the same order
    attempts: dict[int, RequestId] = field(default_factory=dict)  # by their id on the worker's pipe
    tombstones: dict[int, Tombstone] = field(default_factory=dict)
    errands: dict[int, Errand] = field(default_factory=dict)
    callbacks: dict[int, Callback] = field(default_factory=dict)
    facts: dict[str, bytes] = field(default_factory=dict)  # what a new worker is told again, by what it is about
    workers: dict[int, Worker] = field(default_factory=dict)
    active: int = 0  # the generation that serves; 0 is none
    catalog: Catalog | None = None  # what clients know, as far as they ever asked
    restarts: Restarts = Restarts()
    rollout: Rollout = Rollout.STABLE
    relief: int = 0  # the worker that the replacement under way is for, if it is because that one seems blocked
    lists: Mapping[tuple[str, ...], bytes] = field(
        default_factory=dict
    )  # answers that need no worker; never changed
    clients: Mapping[str, None] = field(default_factory=dict)  # that have asked anything; never changed
    lost: StateLoss | None = None
    alone: RequestId | None = None  # the call that is to be alone with the worker, and until when
    alone_until: float = 0.0
    blamed: Mapping[bytes, Blame] = field(default_factory=dict)  # by digests of tool and arguments; never changed
    release: int = 1  # the program that serves
    probation: Probation | None = None
    pins: dict[str, int] = field(
        default_factory=dict
    )  # tools with state that cannot be built again: in which worker
    last_rollout: Mapping[str, Any] | None = None
    is_fenced: bool = False  # what the client wants done waits
    leaving_at: float = 0.0  # the client is gone: when its last calls have had their time
    is_over: bool = False
    last_fault: Mapping[str, Any] | None = None
    counts: dict[str, int] = field(default_factory=dict)
    bytes_pending: int = 0
    next_sequence: int = 1
    next_id: int = 1
    next_callback: int = 1
    next_generation: int = 1
    wake_at: float = 0.0  # no later than the first thing that falls due; 0 is never

    def copy(self) -> "State":
        """A state of its own with the same content."""
        return State(
            policy=self.policy,
            session=self.session,
            pending=dict(self.pending),
            waiting=dict(self.waiting),
            attempts=dict(self.attempts),
            tombstones=dict(self.tombstones),
            errands=dict(self.errands),
            callbacks=dict(self.callbacks),
            facts=dict(self.facts),
            workers=dict(self.workers),
            active=self.active,
            catalog=self.catalog,
            restarts=self.restarts,
            rollout=self.rollout,
            relief=self.relief,
            lists=self.lists,
            clients=self.clients,
            lost=self.lost,
            alone=self.alone,
            alone_until=self.alone_until,
            blamed=self.blamed,
            release=self.release,
            probation=self.probation,
            pins=dict(self.pins),
            last_rollout=self.last_rollout,
            is_fenced=self.is_fenced,
            leaving_at=self.leaving_at,
            is_over=self.is_over,
            last_fault=self.last_fault,
            counts=dict(self.counts),
            bytes_pending=self.bytes_pending,
            next_sequence=self.next_sequence,
            next_id=self.next_id,
            next_callback=self.next_callback,
            next_generation=self.next_generation,
            wake_at=self.wake_at,
        )
