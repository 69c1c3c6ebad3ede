"""The end of a request: its one terminal answer, and what the host learns from it.

Every way to end goes through `_remove`, so that a request is in all tables or in none.
"""

from typing import Any

from holdfast.kernel.commands import KeepOutcome
from holdfast.kernel.disposition import require_open
from holdfast.kernel.replies import fault_answer, retry_after_ms, stop_answer, timeout_fault
from holdfast.kernel.rules import FACT_METHODS
from holdfast.kernel.state import Pending, Role, Session, Tombstone, WorkerPhase
from holdfast.kernel.turn import Turn
from holdfast.kernel.workers import digest_of_capabilities, introduce, tell_fact
from holdfast.vocabulary.call import Command, Stop
from holdfast.vocabulary.events import CallEnded
from holdfast.vocabulary.execution import SessionPhase
from holdfast.vocabulary.faults import Fault, fault
from holdfast.vocabulary.meta import META_ERROR
from holdfast.wire.codec import encode
from holdfast.wire.envelope import Response, result_message
from holdfast.wire.splice import raw_member, replace_id

__all__ = [
    "answer_found",
    "answer_stored",
    "bury",
    "complete",
    "end_garbled",
    "end_silently",
    "end_stopped",
    "end_with_fault",
    "end_with_result",
]

_STOP_CODES = {Stop.CANCEL_REQUEST: "CANCELLED", Stop.SHUTDOWN: "CANCELLED", Stop.TIMEOUT: "TOOL_TIMEOUT"}


def complete(turn: Turn, entry: Pending, response: Response, frame: bytes) -> None:
    """The worker has answered."""
    require_open(entry.knowledge)
    step = entry.call.finish()
    why = step.call.stop if step.command is Command.ANSWER_STOP else None
    failed = _is_failure(response)
    if not failed:
        _learn(turn, entry, response)
        _keep(turn, entry, response, frame)
    if why is not None and _code_of(response) != _STOP_CODES.get(why):
        end_stopped(turn, entry, why)
        return
    _remove(turn, entry)
    turn.count("answered")
    _log(turn, entry, "error" if failed else "ok", _code_of(response))
    turn.pass_to_client(replace_id(frame, entry.id), entry.id)


def _keep(turn: Turn, entry: Pending, response: Response, frame: bytes) -> None:
    """Have the result of a call stored under its key, if it is one: a question to the client is none yet."""
    if entry.rule is None or entry.rule.key is None:
        return
    kind = response.result.get("resultType", "complete") if isinstance(response.result, dict) else "complete"
    result = raw_member(frame, "result")
    if kind == "complete" and result is not None:
        turn.commands.append(KeepOutcome(entry.tool, entry.rule.key, entry.params.get("arguments"), result))


def answer_stored(turn: Turn, entry: Pending, result: bytes) -> None:
    """An earlier call with the same key and arguments has succeeded: its result is the answer."""
    _remove(turn, entry)
    turn.count("answered")
    turn.count("deduplicated")
    _log(turn, entry, "ok", None)
    # The stored bytes are put in as they are; only the envelope around them is new.
    envelope = encode(result_message(entry.id, 0))
    told = _with_result_type(result) if entry.is_modern else result
    turn.pass_to_client(envelope[:-2] + told + b"}", entry.id)


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
    turn.count("answered")
    turn.count("completed_by_probe")
    _log(turn, entry, "ok", None)
    turn.tell_client(result_message(entry.id, result), entry.id)


def end_with_fault(turn: Turn, entry: Pending, problem: Fault) -> None:
    """The host ends the request with an error of its own."""
    _remove(turn, entry)
    turn.count("answered")
    if problem.code in {"AMBIGUOUS_OUTCOME", "ROLLOUT_DISRUPTED"}:
        turn.count("ambiguous")
    _log(turn, entry, "error", problem.code)
    after = retry_after_ms(turn.state, turn.now)
    turn.tell_client(fault_answer(entry, problem, entry.generation or turn.state.active, after), entry.id)


def end_with_result(turn: Turn, entry: Pending, problem: Fault) -> None:
    """The host ends a call of a tool with a failed result, as the tool itself would."""
    _remove(turn, entry)
    turn.count("answered")
    _log(turn, entry, "error", problem.code)
    turn.tell_client(stop_answer(entry, problem, entry.generation or turn.state.active), entry.id)


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
    turn.count("answered")
    turn.count("timeouts" if why is Stop.TIMEOUT else "cancelled")
    problem = _stop_fault(turn, entry, why)
    _log(turn, entry, "timeout" if why is Stop.TIMEOUT else "cancelled", problem.code)
    turn.tell_client(stop_answer(entry, problem, entry.generation or turn.state.active), entry.id)


def end_silently(turn: Turn, entry: Pending) -> None:
    """The client wants to hear no more of the request."""
    _remove(turn, entry)
    turn.count("cancelled")
    turn.count("unanswered")
    _log(turn, entry, "cancelled", "CANCELLED")


def bury(turn: Turn, entry: Pending, *, is_given_up: bool = False) -> None:
    """Remember the attempt that is under way, so that its late answer is known for what it is."""
    tombs = turn.state.tombstones
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
        )
        for worker in list(state.workers.values()):
            news = worker.generation != entry.generation and worker.role is not Role.RETIRED
            if news and worker.phase is WorkerPhase.OPEN:
                introduce(turn, worker)  # it was there before the handshake, and has not heard of it
    elif entry.method in FACT_METHODS:
        _remember(turn, entry)


def _remember(turn: Turn, entry: Pending) -> None:
    facts = turn.state.facts
    about = "log level" if entry.method == "logging/setLevel" else f"resource {entry.params.get('uri')}"
    facts.pop(about, None)
    for worker in list(turn.state.workers.values()):
        if worker.generation != entry.generation and worker.phase in {WorkerPhase.LISTING, WorkerPhase.READY}:
            tell_fact(turn, worker, entry.frame)  # one that is prepared already must know it too
    if entry.method != "resources/unsubscribe":
        facts[about] = entry.frame
        while len(facts) > turn.state.policy.facts_max:
            del facts[next(iter(facts))]


def _is_failure(response: Response) -> bool:
    if response.error is not None:
        return True
    return isinstance(response.result, dict) and response.result.get("isError") is True


def _code_of(response: Response) -> str | None:
    """The code of a failure, where the worker names one."""
    if response.error is not None:
        data = response.error.get("data")
        code = data.get("code") if isinstance(data, dict) else None
        return code if isinstance(code, str) else str(response.error.get("code"))
    meta = response.result.get("_meta") if isinstance(response.result, dict) else None
    told = meta.get(META_ERROR) if isinstance(meta, dict) else None
    code = told.get("code") if isinstance(told, dict) else None
    return code if isinstance(code, str) else None


def _log(turn: Turn, entry: Pending, outcome: str, code: str | None) -> None:
    """One line per call of a tool; a server of our own writes its own."""
    if entry.method != "tools/call" or (entry.rule is not None and entry.rule.is_ours):
        return
    duration = round((turn.now - entry.accepted_at) * 1000, 3)
    call_id = f"{entry.generation}.{entry.sequence}"
    turn.record(CallEnded(entry.id, call_id, entry.tool, outcome, duration, code))
