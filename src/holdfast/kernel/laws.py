"""The eight laws of the kernel, each as a predicate over one step: what was, what came, what was done, what is.

A law that holds for every step holds for every history. Each yields the sentences that were broken:

    1  nothing is repeated without authority         5  everything is bounded
    2  one terminal outcome per request              6  a state is restored whole or not at all
    3  identity is preserved, byte for byte          7  the public session is not touched by workers
    4  recovery keeps the order                      8  state that was lost is not hidden
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from holdfast.kernel.capsule import CapsuleLimits, capture, restore
from holdfast.kernel.commands import Command, ToClient, ToWorker
from holdfast.kernel.inputs import FromClient, FromWorker, Input, WorkerDown
from holdfast.kernel.quarantine import PAIRS_MAX
from holdfast.kernel.state import ErrandKind, Pending, Role, State, Worker, WorkerPhase
from holdfast.vocabulary.effects import ReplayWord
from holdfast.vocabulary.execution import Knowledge, SessionPhase
from holdfast.vocabulary.ids import RequestId, match_cancellation
from holdfast.wire.codec import decode
from holdfast.wire.envelope import Message, Notification, Request, Response, parse
from holdfast.wire.splice import replace_id

__all__ = ["LAWS", "Moment", "broken_laws"]


class Moment(NamedTuple):
    """One step of a history."""

    now: float
    before: State
    given: Input
    after: State
    commands: list[Command]

    def dispatched(self) -> Iterator[tuple[ToWorker, Pending]]:
        """What was sent of the client's requests, and which request each is."""
        for command in self.commands:
            if isinstance(command, ToWorker) and command.attempt:
                yield command, self.after.pending[self.after.attempts[command.attempt]]

    def told(self) -> list[ToClient]:
        """What was sent to the client."""
        return [command for command in self.commands if isinstance(command, ToClient)]

    def earlier(self, entry: Pending) -> Pending | None:
        """The same request before the step; another one with its id does not count."""
        found = self.before.pending.get(entry.id)
        return found if found is not None and found.sequence == entry.sequence else None

    def ended(self) -> list[Pending]:
        """The requests that were pending before and are not any more."""
        kept = {entry.sequence for entry in self.after.pending.values()}
        return [entry for entry in self.before.pending.values() if entry.sequence not in kept]


def broken_laws(moment: Moment) -> list[str]:
    """Every sentence of every law that a step has broken."""
    return [f"law {number}: {problem}" for number, law in enumerate(LAWS, 1) for problem in law(moment)]


def _no_unauthorized_replay(moment: Moment) -> Iterator[str]:
    """A request is sent again only if its contract allows it, or its probe, or no byte of it ever left."""
    for _, entry in moment.dispatched():
        before = moment.earlier(entry)
        if before is None or before.knowledge is Knowledge.NOT_DISPATCHED or _was_unsent(moment, before):
            continue
        assert entry.rule is not None
        if before.is_in_flight and (
            before.earlier is not None or entry.rule.effect.replay is not ReplayWord.CONVERGENT
        ):
            yield f"{entry.tool} was sent to a second worker although that may not be"
        if entry.rule.effect.replay is ReplayWord.NEVER_REPLAY:
            yield f"{entry.tool} was sent twice"
        if entry.rule.effect.replay is ReplayWord.PROBE_REQUIRED and not (
            before.freed or _probe_told(moment, before)
        ):
            yield f"{entry.tool} was sent again without the word of its probe"
        if entry.replays != before.replays + 1:
            yield f"{entry.tool} was sent again without being charged"


def _single_terminal_outcome(moment: Moment) -> Iterator[str]:
    """Every request that ends is answered exactly once, or was cancelled by a client that wants silence."""
    answered = [command.answers for command in moment.told() if command.answers is not None]
    ended = [entry.id for entry in moment.ended()]
    said = moment.given.message if isinstance(moment.given, FromClient) else None
    own = [said.id] if isinstance(said, Request) else []
    for one in ended:
        silent = one not in answered and _is_withdrawn(said, one)
        if answered.count(one) != 1 and not silent:
            yield f"request {one!r} ended with {answered.count(one)} answers"
    if any(one not in ended and one not in own for one in answered) or len(answered) > len(
        set(map(repr, answered))
    ):
        yield "something was answered that had not been asked, or twice"
    for command in moment.told():
        message = parse(decode(command.payload))
        if isinstance(message, Response):
            refused = command.answers is None and own == [message.id] and message.error is not None
            same = type(message.id) is type(command.answers) and message.id == command.answers
            if not (refused or same):
                yield f"an answer to {message.id!r} was sent as one to {command.answers!r}"


def _identity_preservation(moment: Moment) -> Iterator[str]:
    """What is passed on is what was sent, byte for byte, but for the id; a request never becomes another one."""
    for command, entry in moment.dispatched():
        if replace_id(command.payload, 0) != replace_id(entry.frame, 0):
            yield f"{entry.tool} was changed on its way"
    for entry in moment.after.pending.values():
        before = moment.earlier(entry)
        fixed = ("id", "sequence", "method", "tool", "frame", "accepted_at", "token", "is_modern")
        if before is not None and any(getattr(before, name) != getattr(entry, name) for name in fixed):
            yield f"{entry.tool} is not what it was"
        if before is not None and before.rule is not None and entry.rule != before.rule:
            yield f"{entry.tool} is under another rule than it was"


def _ordered_recovery(moment: Moment) -> Iterator[str]:
    """What is sent in one step is sent in the order of acceptance, and nothing overtakes what can be repeated."""
    # A copy for a second worker overtakes nothing: its request had its turn before.
    sent = [entry.sequence for _, entry in moment.dispatched() if not _is_copy(moment, entry)]
    if sent != sorted(sent):
        yield "requests were sent out of order"
    if moment.after.session.phase is SessionPhase.INITIALIZING:
        return  # the handshake goes first, whatever waits for it
    for entry in moment.after.pending.values():
        lost = entry.knowledge is Knowledge.OUTCOME_UNKNOWN and entry.hold is None
        if lost and any(number > entry.sequence for number in sent):
            yield f"{entry.tool} was overtaken"


def _bounded(moment: Moment) -> Iterator[str]:
    """Every table has a bound that no peer can exceed."""
    state, policy = moment.after, moment.after.policy
    workers = state.workers.values()
    sizes = {
        "requests": (len(state.pending), policy.pending_max),
        "callbacks": (len(state.callbacks), policy.callbacks_max),
        "tombstones": (len(state.tombstones), policy.tombstones_max),
        "facts": (len(state.facts), policy.facts_max),
        "pages": (max((len(worker.cursors) for worker in workers), default=0), policy.pages_max),
        "pairs that are blamed": (len(state.blamed), PAIRS_MAX),
        "errands": (len(state.errands), len(state.pending) + len(workers) * (policy.facts_max + 3)),
        "losses": (len(state.restarts.recent), policy.restart_budget + 1),
        "workers": (sum(worker.role is not Role.RETIRED for worker in workers), 3),
        "bytes of pages": (max((worker.page_bytes for worker in workers), default=0), policy.pages_bytes),
        "workers that one request is with": (
            max((1 + (entry.earlier is not None) for entry in state.pending.values()), default=0),
            2,
        ),
        "workers that finish calls": (sum(_is_finishing(worker) for worker in workers), policy.retired_max + 1),
    }
    for name, (size, most) in sizes.items():
        if size > most:
            yield f"there are {size} {name}"
    if len(state.pending) > 1 and state.bytes_pending > policy.pending_bytes:
        yield "the requests are too large together"
    holds = [entry.hold for entry in state.pending.values() if entry.hold is not None]
    if any(hold.until > moment.now + policy.probe_hold for hold in holds):
        yield "a call is held for too long"


def _is_copy(moment: Moment, entry: Pending) -> bool:
    before = moment.earlier(entry)
    return before is not None and before.is_in_flight and entry.earlier is not None


def _is_finishing(worker: Worker) -> bool:
    return worker.role is Role.RETIRED and worker.phase is not WorkerPhase.STOPPING


def _atomic_restoration(moment: Moment) -> Iterator[str]:
    """The capsule of a state gives back its session, its facts and every request, those in flight as lost."""
    if moment.after.is_over:
        return
    again = restore(capture(moment.after, moment.now), moment.after.policy, moment.now, CapsuleLimits())
    if (again.session, again.facts) != (moment.after.session, moment.after.facts):
        yield "the session is not restored"
    kept = [
        (entry.id, entry.sequence, entry.frame, entry.replays, entry.moves)
        for entry in moment.after.pending.values()
    ]
    if kept != [
        (entry.id, entry.sequence, entry.frame, entry.replays, entry.moves) for entry in again.pending.values()
    ]:
        yield "the requests are not restored"
    if list(again.waiting) != list(again.pending) or again.attempts or again.workers:
        yield "a restored request is with a worker"


def _public_session_isolation(moment: Moment) -> Iterator[str]:
    """Losing workers changes nothing about the session, and preparing them is not heard by the client."""
    handshake_over = any(entry.method == "initialize" for entry in moment.ended())
    by_client = isinstance(moment.given, FromClient)
    if moment.before.session != moment.after.session and not (handshake_over or by_client):
        yield "the session changed although the client did nothing"
    given = moment.given
    if isinstance(given, FromWorker) and _is_private(moment.before, given):
        told = moment.told()
        if any(_is_passed_on(given, command) for command in told) or any(
            command.answers in moment.before.attempts.values() for command in told
        ):
            yield "the client heard what was said in private"


def _no_hidden_loss(moment: Moment) -> Iterator[str]:
    """No worker with state is replaced behind a client's back; until then answers are the worker's own bytes."""
    before, after, given = moment.before, moment.after, moment.given
    gone = before.workers.get(before.active)
    if gone is not None and gone.life.holds_state and after.active != before.active:
        owed = after.lost.unaware if after.lost is not None else {}
        if any(client not in owed for client in after.clients):
            yield "state was lost, and a client is not owed a word about it"
    if not isinstance(given, FromWorker) or not isinstance(given.message, Response) or before.lost is not None:
        return
    number = given.message.id
    entry = before.pending.get(before.attempts.get(number, 0)) if type(number) is int else None
    if entry is None or entry.call.stop is not None:
        return
    for command in moment.told():
        if command.answers == entry.id and command.payload != replace_id(given.frame, entry.id):
            yield f"the answer to {entry.tool} was changed on its way"


LAWS: tuple[Callable[[Moment], Iterator[str]], ...] = (
    _no_unauthorized_replay,
    _single_terminal_outcome,
    _identity_preservation,
    _ordered_recovery,
    _bounded,
    _atomic_restoration,
    _public_session_isolation,
    _no_hidden_loss,
)


def _is_withdrawn(said: Message | None, request_id: RequestId) -> bool:
    """Whether a message is the wish of the client to hear no more of just this request."""
    if not isinstance(said, Notification) or said.method != "notifications/cancelled":
        return False
    wanted = said.params.get("requestId")
    return match_cancellation(wanted, {request_id: None}) is not None


def _was_unsent(moment: Moment, entry: Pending) -> bool:
    return isinstance(moment.given, WorkerDown) and entry.attempt in moment.given.unsent


def _probe_told(moment: Moment, entry: Pending) -> bool:
    said = moment.given.message if isinstance(moment.given, FromWorker) else None
    return isinstance(said, Response) and entry.hold is not None and said.id == entry.hold.errand


def _is_passed_on(said: FromWorker, command: ToClient) -> bool:
    """Whether the client is told what a worker said, be it under another id."""
    if said.frame in command.payload:
        return True
    told = parse(decode(command.payload))
    return isinstance(said.message, Request) and isinstance(told, Request) and told.method == said.message.method


def _is_private(state: State, said: FromWorker) -> bool:
    """Whether a message is an answer to the host itself, or of a worker that the client does not hear yet."""
    number = said.message.id if isinstance(said.message, Response) else None
    errand = state.errands.get(number) if type(number) is int else None
    if errand is not None:
        return errand.kind is not ErrandKind.PROBE
    worker = state.workers.get(said.generation)
    if worker is None or isinstance(said.message, Response):
        return False
    stands_by = worker.role in {Role.SPARE, Role.SUCCESSOR}
    return stands_by or worker.phase is WorkerPhase.INITIALIZING
