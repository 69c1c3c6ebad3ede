"""What is known about the execution of a request, and the words for where sessions and workers are in their lives.

Three lives are told apart on purpose: the session of the client (which outlives workers), the process of a worker
(of which there are many), and the knowledge about one request (which outlives the worker that was asked first).
"""

from enum import Enum

__all__ = ["Handshake", "Impediment", "Knowledge", "Lifecycle", "ProbeAnswer", "Rollout", "SessionPhase"]


class Knowledge(Enum):
    """What is known about the execution of one request."""

    NOT_DISPATCHED = "not_dispatched"  # no byte of it ever reached a worker
    IN_FLIGHT = "in_flight"
    COMPLETED = "completed"
    OUTCOME_UNKNOWN = "outcome_unknown"  # the worker was lost before it answered


class ProbeAnswer(Enum):
    """What a probe found out about an earlier attempt. A probe that does not know is no answer."""

    ALREADY_COMPLETED = "already_completed"
    SAFE_TO_REPLAY = "safe_to_replay"


class SessionPhase(Enum):
    """How far the handshake between the client and the server has come; the loss of a worker never changes it."""

    COLD = "cold"
    INITIALIZING = "initializing"
    AWAITING_INITIALIZED = "awaiting_initialized"
    LIVE = "live"


class Lifecycle(Enum):
    """The state of a host, as health tells it."""

    COLD = "cold"
    STARTING = "starting"
    READY = "ready"
    RECOVERING = "recovering"
    DEGRADED = "degraded"  # a call would not be taken, or not by the worker that serves: health tells the reason


class Impediment(Enum):
    """Why a host is not ready although it is neither starting nor recovering."""

    WORKER_STOPPED = "worker_stopped"
    WORKER_STUCK = "worker_stuck"
    WORKER_UNKNOWN = "worker_unknown"
    WORKER_REFUSES = "worker_refuses"
    WORKERS_FAIL = "workers_fail"
    QUEUE_FULL = "queue_full"


class Handshake(Enum):
    """How far the active worker has come, as health tells it."""

    ABSENT = "absent"
    STARTING = "starting"
    INITIALIZING = "initializing"
    READY = "ready"
    FAILED = "failed"


class Rollout(Enum):
    """Whether a planned replacement of the worker is under way."""

    STABLE = "stable"
    PENDING = "pending"  # the successor is being prepared
    RELOADING = "reloading"  # it is ready; the incumbent finishes what it has
