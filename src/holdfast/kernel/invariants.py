"""What is true of every state, whatever has happened: its tables agree with each other. Used to prove `step`."""

from collections.abc import Iterator

from holdfast.kernel.state import Pending, Role, State, WorkerPhase
from holdfast.vocabulary.effects import ReplayWord
from holdfast.vocabulary.execution import Knowledge, Rollout, SessionPhase

__all__ = ["broken_invariants"]


def broken_invariants(state: State) -> list[str]:
    """The sentences that are not true of a state; none for every state that `step` returns."""
    return [
        *_requests(state),
        *(problem for entry in state.pending.values() for problem in _request(state, entry)),
        *_numbers(state),
        *_owners(state),
        *_session(state),
        *_alarm(state),
    ]


def _requests(state: State) -> Iterator[str]:
    pending = state.pending.values()
    sequences = [entry.sequence for entry in pending]
    if sequences != sorted(set(sequences)) or any(one >= state.next_sequence for one in sequences):
        yield "requests are kept in the order of their acceptance"
    if list(state.waiting) != [entry.id for entry in pending if not entry.is_in_flight]:
        yield "what waits is what no worker has, in order"
    attempts = {entry.attempt: entry.id for entry in pending if entry.is_in_flight}
    attempts |= {entry.earlier.attempt: entry.id for entry in pending if entry.earlier is not None}
    if state.attempts != attempts:
        yield "every attempt belongs to one request in flight"
    if state.bytes_pending != sum(len(entry.frame) for entry in pending):
        yield "the bytes of all requests are counted exactly"
    if any(entry.id != key or type(entry.id) is not type(key) for key, entry in state.pending.items()):
        yield "a request is found under its own id"


def _request(state: State, entry: Pending) -> Iterator[str]:
    lost = entry.knowledge is Knowledge.OUTCOME_UNKNOWN
    if entry.knowledge is Knowledge.COMPLETED:
        yield "what is completed is pending no more"
    if entry.is_in_flight and (entry.generation not in state.workers or entry.rule is None):
        yield "what is in flight is with a worker, under a rule"
    if entry.earlier is not None and not (
        entry.is_in_flight
        and entry.earlier.generation in state.workers
        and entry.earlier.generation != entry.generation
        and entry.rule is not None
        and entry.rule.effect.replay is ReplayWord.CONVERGENT
    ):
        yield "what two workers have may be repeated, and both live"
    if lost and (entry.rule is None or entry.rule.effect.replay is ReplayWord.NEVER_REPLAY):
        yield "what may not be repeated never waits for it"
    if not entry.is_in_flight and (entry.attempt or entry.call.stop is not None):
        yield "what no worker has is neither an attempt nor being stopped"
    if entry.rule is not None and entry.charged > entry.rule.replays:
        yield "nothing is repeated more often than it may be"
    probed = entry.rule is not None and entry.rule.effect.replay is ReplayWord.PROBE_REQUIRED
    if entry.hold is not None and not (lost and probed and entry.due == entry.hold.until):
        yield "what is held is a lost call with a probe, and has a bound"
    if entry.hold is not None and entry.hold.errand and entry.hold.errand not in state.errands:
        yield "what is held is asked about, or will be"
    if lost and probed and entry.hold is None and not entry.freed:
        yield "what only a probe can free is held until it has"


def _numbers(state: State) -> Iterator[str]:
    used = [*state.attempts, *state.errands, *state.tombstones]
    if len(set(used)) != len(used) or any(not 0 < number < state.next_id for number in used):
        yield "no id is used twice on the pipes of workers"
    if any(not 0 < number < state.next_callback for number in state.callbacks):
        yield "no id is used twice towards the client"
    if any(not 0 < generation < state.next_generation for generation in state.workers):
        yield "no generation is used twice"


def _owners(state: State) -> Iterator[str]:
    owners = {errand.generation for errand in state.errands.values()}
    owners |= {callback.generation for callback in state.callbacks.values()}
    owners |= {tombstone.generation for tombstone in state.tombstones.values()}
    if not owners <= set(state.workers):
        yield "with a worker goes everything that was between it and the host"
    active = [worker.generation for worker in state.workers.values() if worker.role is Role.ACTIVE]
    gone = bool(state.leaving_at) or state.is_over
    if active != [state.active] and not (gone and not active):
        yield "there is exactly one active worker"
    successors = [worker for worker in state.workers.values() if worker.role is Role.SUCCESSOR]
    if successors and state.rollout is Rollout.STABLE:
        yield "there is a successor only while a replacement is under way"
    if state.relief and (state.relief != state.active or state.rollout is Rollout.STABLE):
        yield "a relief is for the worker that serves, and is under way"
    if state.active in state.workers and state.workers[state.active].release != state.release:
        yield "the worker that serves is of the release that serves"
    if state.policy.single and len(state.workers) > 1:
        yield "where there may be one worker only, there is one"
    if any(worker.ping and worker.ping not in state.errands for worker in state.workers.values()):
        yield "a worker that is being asked for a sign of life can answer"
    retired = [worker for worker in state.workers.values() if worker.role is Role.RETIRED]
    at_work = {entry.generation for entry in state.pending.values() if entry.is_in_flight}
    at_work |= {entry.earlier.generation for entry in state.pending.values() if entry.earlier is not None}
    at_work |= {callback.generation for callback in state.callbacks.values()}
    ended = {worker.generation for worker in retired if worker.phase is WorkerPhase.STOPPING}
    at_work |= {state.probation.fallback} if state.probation is not None else set()
    if not state.is_over and {worker.generation for worker in retired} - ended - at_work:
        yield "a worker that has made way ends once it has nothing left to finish"


def _session(state: State) -> Iterator[str]:
    session = state.session
    handshakes = sum(entry.method == "initialize" for entry in state.pending.values())
    if handshakes != (session.phase is SessionPhase.INITIALIZING):
        yield "the handshake is under way as long as its request is"
    if (session.initialize is None) != (session.phase is SessionPhase.COLD):
        yield "a session that was begun knows how"
    if session.initialized is not None and session.phase not in {SessionPhase.INITIALIZING, SessionPhase.LIVE}:
        yield "a session whose client is ready is live"
    if session.initialized is None and session.phase is SessionPhase.LIVE:
        yield "a session is live once its client is ready"


def _alarm(state: State) -> Iterator[str]:
    dues = [errand.due for errand in state.errands.values()]
    dues += [worker.due for worker in state.workers.values()]
    dues += [at for entry in state.pending.values() for at in (entry.due, entry.beat_at)]
    dues += [worker.life.look_at for worker in state.workers.values()]
    dues += [worker.announced_until for worker in state.workers.values() if worker.role is Role.SUCCESSOR]
    dues += [state.leaving_at, state.probation.until if state.probation is not None else 0.0]
    if not state.is_over and any(due and not 0 < state.wake_at <= due for due in dues):
        yield "the alarm is set to the first thing that falls due, or earlier"
