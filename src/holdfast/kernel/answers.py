"""The end of a request: its one terminal answer, and what the host learns from it.

Every way to end goes through `_remove`, so that a request is in all tables or in none.
"""

from typing import Any

from holdfast.kernel.accounting import NO_FAILURE, Failure, failure_of, failure_of_fault, tell_end
from holdfast.kernel.catalog import journal_key
from holdfast.kernel.commands import KeepOutcome
from holdfast.kernel.hedging import forget_earlier, win
from holdfast.kernel.lists import keep_list, list_known
from holdfast.kernel.lost_state import mark_result
from holdfast.kernel.releases import is_fallback
from holdfast.kernel.replies import fault_answer, retry_after_ms, stop_answer, timeout_fault
from holdfast.kernel.rules import FACT_METHODS, LIST_METHODS
from holdfast.kernel.state import Pending, Role, Session, Tombstone, Worker, WorkerPhase
from holdfast.kernel.turn import Turn
from holdfast.kernel.workers import abilities_of, digest_of_capabilities, introduce, server_told, tell_fact
from holdfast.present.secrets import Secrets
from holdfast.vocabulary.call import Command, Stop
from holdfast.vocabulary.disposition import require_open
from holdfast.vocabulary.effects import SessionState
from holdfast.vocabulary.execution import SessionPhase
from holdfast.vocabulary.faults import Fault, fault
from holdfast.wire.codec import encode
from holdfast.wire.envelope import Response, result_message
from holdfast.wire.splice import raw_member, replace_id

__all__ = [
    "answer_found",
    "answer_from_lists",
    "answer_stored",
    "bury",
    "complete",
    "end_garbled",
    "end_silently",
    "end_stopped",
    "end_with_fault",
    "end_with_result",
]

_CANCELLED = failure_of_fault(fault("CANCELLED", "the client wants no answer any more"))
_STOP_CODES = {Stop.CANCEL_REQUEST: "CANCELLED", Stop.SHUTDOWN: "CANCELLED", Stop.TIMEOUT: "TOOL_TIMEOUT"}


def complete(turn: Turn, entry: Pending, response: Response, frame: bytes) -> None:
    """The worker has answered."""
    require_open(entry.knowledge)
    if entry.earlier is not None:
        entry = win(turn, entry, response.id if type(response.id) is int else entry.attempt)
    step = entry.call.finish()
    why = step.call.stop if step.command is Command.ANSWER_STOP else None
    failure = failure_of(response)
    if failure is None:
        _learn(turn, entry, response)
        _keep(turn, entry, response, frame)
        if entry.method in LIST_METHODS:
            keep_list(turn, entry, frame)
    elif entry.method == "tools/call":
        _note_refusal(turn, entry, failure)
    if why is not None and (failure or NO_FAILURE).code != _STOP_CODES.get(why):
        end_stopped(turn, entry, why)
        return
    _remove(turn, entry)
    turn.count_of(entry, "answered")
    tell_end(turn, entry, "ok" if failure is None else "error", failure or NO_FAILURE, by_worker=True)
    payload = replace_id(frame, entry.id)
    if turn.state.lost is not None and response.error is None:
        payload = mark_result(turn, entry, payload)
    turn.end_request(entry, payload)


def _note_refusal(turn: Turn, entry: Pending, failure: Failure) -> None:
    """A worker that takes no more calls does not count as ready until it has taken one again."""
    worker = turn.state.workers.get(entry.generation)
    if worker is not None and failure.code == "QUEUE_OVERLOADED" and not worker.is_refusing:
        turn.put_worker(worker._replace(is_refusing=True))


def _keep(turn: Turn, entry: Pending, response: Response, frame: bytes) -> None:
    """Have the result of a call stored under its key, if it is one: a question to the client is none yet."""
    if entry.rule is None or entry.rule.key is None:
        return
    kind = response.result.get("resultType", "complete") if isinstance(response.result, dict) else "complete"
    result = raw_member(frame, "result")
    if kind == "complete" and result is not None:
        kept = _without_secrets(turn, entry, result)
        if kept is not None:
            turn.commands.append(KeepOutcome(entry.tool, entry.rule.key, entry.params.get("arguments"), kept))


def _without_secrets(turn: Turn, entry: Pending, result: bytes) -> bytes | None:
    """A result that is to be stored, without what the call was given in confidence."""
    worker = turn.state.workers.get(entry.generation)
    facts = worker.catalog.tools.get(entry.tool) if worker is not None else None
    if facts is None or not facts.secrets:
        return result
    return Secrets(facts.secrets, entry.params.get("arguments")).result(result)


def answer_stored(turn: Turn, entry: Pending, result: bytes) -> None:
    """An earlier call with the same key and arguments has succeeded: its result is the answer."""
    _remove(turn, entry)
    turn.count_of(entry, "answered")
    turn.count_of(entry, "deduplicated")
    tell_end(turn, entry, "ok", NO_FAILURE, by_worker=False)
    _end_with_bytes(turn, entry, _with_result_type(result) if entry.is_modern else result)


def _end_with_bytes(turn: Turn, entry: Pending, result: bytes) -> None:
    """The stored bytes are put in as they are; only the envelope around them is new."""
    envelope = encode(result_message(entry.id, 0))
    turn.end_request(entry, envelope[:-2] + result + b"}")


def answer_from_lists(turn: Turn, entry: Pending) -> bool:
    """Answer a request for a list without its worker, if what it told last still counts; whether it does."""
    result = list_known(turn.state, entry) if entry.method in LIST_METHODS and entry.call.stop is None else None
    if result is None:
        return False
    bury(turn, entry)
    _remove(turn, entry)
    turn.count_of(entry, "answered")
    turn.count_of(entry, "listed_by_host")
    tell_end(turn, entry, "ok", NO_FAILURE, by_worker=False)
    _end_with_bytes(turn, entry, result)
    return True


def _with_result_type(result: bytes) -> bytes:
    """A stored result for a client of the era that wants to be told its type; an older one did not store it."""
    rest = result.strip()
    if not rest.startswith(b"{") or raw_member(rest, "resultType") is not None:
        return result
    rest = rest[1:].lstrip()
    return b'{"resultType":"complete"' + (b"" if rest.startswith(b"}") else b",") + rest


def answer_found(turn: Turn, entry: Pending, result: dict[str, Any]) -> None:
    """A probe has found out that the call took effect, and what it returned."""
    require_open(entry.knowledge)
    _remove(turn, entry)
    turn.count_of(entry, "answered")
    turn.count_of(entry, "completed_by_probe")
    tell_end(turn, entry, "ok", NO_FAILURE, by_worker=False)
    turn.end_request(entry, encode(result_message(entry.id, result)))


def end_with_fault(turn: Turn, entry: Pending, problem: Fault) -> None:
    """The host ends the request with an error of its own."""
    _remove(turn, entry)
    turn.count_of(entry, "answered")
    if problem.code in {"AMBIGUOUS_OUTCOME", "ROLLOUT_DISRUPTED"}:
        turn.count_of(entry, "ambiguous")
    tell_end(turn, entry, "error", failure_of_fault(problem), by_worker=False)
    after = retry_after_ms(turn.state, turn.now)
    turn.end_request(entry, encode(fault_answer(entry, problem, entry.generation or turn.state.active, after)))


def end_with_result(turn: Turn, entry: Pending, problem: Fault) -> None:
    """The host ends a call of a tool with a failed result, as the tool itself would."""
    _remove(turn, entry)
    turn.count_of(entry, "answered")
    tell_end(turn, entry, "error", failure_of_fault(problem), by_worker=False)
    turn.end_request(entry, encode(stop_answer(entry, problem, entry.generation or turn.state.active)))


def end_garbled(turn: Turn, entry: Pending, problem: Fault) -> None:
    """The worker has answered, and nobody can read what."""
    require_open(entry.knowledge)
    if entry.call.stop is not None:
        end_stopped(turn, entry, entry.call.stop)
    else:
        end_with_result(turn, entry, problem)


def end_stopped(turn: Turn, entry: Pending, why: Stop) -> None:
    """The request was ended from outside: by its caller, its deadline, or the end of the host."""
    if not why.answered:
        end_silently(turn, entry)
        return
    _remove(turn, entry)
    turn.count_of(entry, "answered")
    turn.count_of(entry, "timeouts" if why is Stop.TIMEOUT else "cancelled")
    problem = _stop_fault(turn, entry, why)
    outcome = "timeout" if why is Stop.TIMEOUT else "cancelled"
    tell_end(turn, entry, outcome, failure_of_fault(problem), by_worker=False)
    turn.end_request(entry, encode(stop_answer(entry, problem, entry.generation or turn.state.active)))


def end_silently(turn: Turn, entry: Pending) -> None:
    """The client wants to hear no more of the request."""
    _remove(turn, entry)
    turn.count_of(entry, "cancelled")
    turn.count_of(entry, "unanswered")
    tell_end(turn, entry, "cancelled", _CANCELLED, by_worker=False)


def bury(turn: Turn, entry: Pending, *, is_given_up: bool = False) -> None:
    """Remember the attempt that is under way, so that its late answer is known for what it is."""
    tombs = turn.state.tombstones
    entry = forget_earlier(turn, entry)
    if entry.is_in_flight:
        tombs[entry.attempt] = Tombstone(entry.generation, entry.id, is_given_up)
        while len(tombs) > turn.state.policy.tombstones_max:
            del tombs[next(iter(tombs))]


def _stop_fault(turn: Turn, entry: Pending, why: Stop) -> Fault:
    if why is Stop.TIMEOUT:
        policy = turn.state.policy
        # One that is being stopped was out of time when its grace began.
        ended_at = entry.due - policy.grace if entry.call.stop is why else turn.now
        return timeout_fault(entry, policy, ended_at)
    if why is Stop.SHUTDOWN:
        text = f"{entry.tool} was stopped because the server is shutting down"
        return fault("CANCELLED", text, retryable=True)  # as far as that is safe, which the answer sees to
    return fault("CANCELLED", f"{entry.tool} was cancelled")


def _remove(turn: Turn, entry: Pending) -> None:
    state = turn.state
    del state.pending[entry.id]
    state.waiting.pop(entry.id, None)
    state.attempts.pop(entry.attempt, None)
    if entry.earlier is not None:
        state.attempts.pop(entry.earlier.attempt, None)
    state.bytes_pending -= len(entry.frame)
    if entry.method == "initialize" and state.session.phase is SessionPhase.INITIALIZING:
        # It has failed, whoever says so: the client may try again.
        state.session = Session(self_description=state.session.self_description)


def _learn(turn: Turn, entry: Pending, response: Response) -> None:
    """What a success says about the session."""
    state = turn.state
    if entry.method == "initialize":
        result: dict[str, Any] = response.result if isinstance(response.result, dict) else {}
        capabilities = result.get("capabilities")
        live = state.session.initialized is not None  # some clients do not wait for the answer
        state.session = state.session._replace(
            phase=SessionPhase.LIVE if live else SessionPhase.AWAITING_INITIALIZED,
            revision=str(result.get("protocolVersion", "")),
            has_tools=isinstance(capabilities, dict) and "tools" in capabilities,
            capabilities=digest_of_capabilities(result),
            abilities=abilities_of(result),
        )
        asked = state.workers.get(entry.generation)
        if asked is not None:
            turn.put_worker(asked._replace(server=server_told(result)))
        for worker in list(state.workers.values()):
            news = worker.generation != entry.generation and worker.role is not Role.RETIRED
            if news and worker.phase is WorkerPhase.OPEN:
                introduce(turn, worker)  # it was there before the handshake, and has not heard of it
    elif entry.method in FACT_METHODS:
        about = "log level" if entry.method == "logging/setLevel" else f"resource {entry.params.get('uri')}"
        _remember(turn, entry, about, is_over=entry.method == "resources/unsubscribe")
    elif entry.method == "tools/call":
        _learn_of_state(turn, entry)


def _learn_of_state(turn: Turn, entry: Pending) -> None:
    """What a call has left behind in its worker: the next one is told to do the same, or can never be."""
    worker = turn.state.workers.get(entry.generation)
    facts = worker.catalog.tools.get(entry.tool) if worker is not None else None
    if facts is None or facts.state is SessionState.STATELESS:
        return
    if facts.state is SessionState.GENERATION_PINNED:
        turn.state.pins[entry.tool] = entry.generation
    else:
        _remember(turn, entry, f"tool {entry.tool}: {journal_key(entry.params, facts.state_key)}")


def _remember(turn: Turn, entry: Pending, about: str, *, is_over: bool = False) -> None:
    facts = turn.state.facts
    facts.pop(about, None)
    for worker in list(turn.state.workers.values()):
        if worker.generation != entry.generation and _must_know(turn, worker):
            tell_fact(turn, worker, entry.frame)
    if not is_over:
        facts[about] = entry.frame
        while len(facts) > turn.state.policy.facts_max:
            forgotten = next(iter(facts))
            del facts[forgotten]
            if forgotten.startswith("tool "):
                turn.state.pins[forgotten.removeprefix("tool ").partition(":")[0]] = entry.generation


def _must_know(turn: Turn, worker: Worker) -> bool:
    """Whether a worker was told of the session already, and may yet serve it."""
    stands_by = worker.role is not Role.RETIRED or is_fallback(turn, worker)
    if worker.phase is WorkerPhase.OPEN:
        return stands_by and worker.is_told
    return stands_by and worker.phase in {WorkerPhase.LISTING, WorkerPhase.READY}
