"""The life of a worker up to the moment when it serves: started, told of the session, its tools listed.

A server without tools, or one that cannot list them, becomes ready all the same; its calls are then dispatched at
most once. What a worker says while it is being prepared never reaches the client.
"""

import hashlib
from collections.abc import Mapping
from typing import Any

from holdfast.kernel.catalog import NO_CATALOG, read_catalog
from holdfast.kernel.commands import StartWorker, StopWorker
from holdfast.kernel.lists import forget_lists
from holdfast.kernel.lost_state import warn_session
from holdfast.kernel.rules import STREAM_METHODS
from holdfast.kernel.state import Errand, ErrandKind, Role, Session, Worker, WorkerPhase
from holdfast.kernel.turn import Turn
from holdfast.kernel.vitals import Condition
from holdfast.present.profile import HANDSHAKE_REVISIONS, META_SERVER_INFO, META_SUBSCRIPTION
from holdfast.vocabulary.events import ToolsNotListed, WorkerReady
from holdfast.vocabulary.execution import SessionPhase
from holdfast.wire.codec import RELAY_DEPTH, decode, encode
from holdfast.wire.envelope import METHOD_NOT_FOUND, Response, notification_message

__all__ = [
    "abilities_of",
    "announce_tools",
    "check_worker",
    "digest_of_capabilities",
    "fact_restored",
    "handshake_answered",
    "introduce",
    "is_candidate",
    "is_wanted_listed",
    "list_tools_again",
    "prepare_workers",
    "promote",
    "server_told",
    "start_worker",
    "stop_worker",
    "tell_fact",
    "tools_listed",
    "worker_opened",
]

_LONGEST_TROUBLE = 500
_TOOLS_CHANGED = "notifications/tools/list_changed"
_UNDER_HANDSHAKE = frozenset({SessionPhase.AWAITING_INITIALIZED, SessionPhase.LIVE})


def start_worker(turn: Turn, role: Role, delay: float = 0.0, release: int = 0) -> Worker:
    """Order a new process, of the release that serves unless told otherwise."""
    state = turn.state
    generation = state.next_generation
    state.next_generation += 1
    worker = Worker(generation, role, release=release or state.release)
    turn.commands.append(StartWorker(generation, delay, worker.release))
    return turn.put_worker(worker)


def stop_worker(turn: Turn, worker: Worker, fault: Mapping[str, Any] | None, *, politely: bool = False) -> None:
    """Order the end of a process; what becomes of its requests is decided when it is gone."""
    if worker.phase is not WorkerPhase.STOPPING:
        turn.put_worker(worker._replace(phase=WorkerPhase.STOPPING, due=0.0, fault=fault))
        turn.commands.append(StopWorker(worker.generation, politely))


def worker_opened(turn: Turn, worker: Worker) -> None:
    """The process reads; tell it of the handshake, if there has been one."""
    opened = turn.put_worker(worker._replace(phase=WorkerPhase.OPEN, heard_at=turn.now))
    if turn.state.session.phase in _UNDER_HANDSHAKE:
        introduce(turn, opened)


def introduce(turn: Turn, worker: Worker) -> None:
    """Tell a worker of the handshake that the session has been through."""
    turn.put_worker(_looked_at(turn, worker._replace(phase=WorkerPhase.INITIALIZING)))
    within = turn.state.policy.start_timeout
    turn.send_errand(worker, ErrandKind.INITIALIZE, _handshake_again(turn.state.session), within=within)


def _looked_at(turn: Turn, worker: Worker) -> Worker:
    """A worker that is looked at from time to time while it is being prepared: it may be halted."""
    if not turn.state.policy.liveness_interval or worker.life.look_at:
        return worker
    look_at = turn.now + turn.state.policy.liveness_interval
    turn.wake(look_at)
    return worker._replace(life=worker.life._replace(look_at=look_at))


def _handshake_again(session: Session) -> bytes:
    """The client's own words; where another revision than it asked for was settled on, they ask for that one."""
    assert session.initialize is not None  # there was a handshake
    message = decode(session.initialize, max_depth=RELAY_DEPTH)
    params = message.get("params")
    is_same = not isinstance(params, dict) or params.get("protocolVersion") == session.revision
    if is_same or session.revision not in HANDSHAKE_REVISIONS:
        return session.initialize
    return encode({**message, "params": {**params, "protocolVersion": session.revision}})


def handshake_answered(turn: Turn, worker: Worker, response: Response) -> None:
    """The worker has answered the handshake that its predecessor once went through with the client."""
    session = turn.state.session
    result = response.result if isinstance(response.result, dict) else {}
    if response.error is not None or str(result.get("protocolVersion", "")) != session.revision:
        told = response.error["message"] if response.error else f"revision {result.get('protocolVersion')!r}"
        text = f"the worker does not take up the session ({session.revision}): {told}"
        stop_worker(turn, worker, {"class": "protocol", "code": "HANDSHAKE_CHANGED", "message": text})
        return
    worker = turn.put_worker(worker._replace(phase=WorkerPhase.OPEN, server=server_told(result)))
    missing = set(session.abilities) - set(abilities_of(result))
    if missing and is_candidate(turn, worker):
        text = f"the new release does not offer {', '.join(sorted(missing))} any more"
        stop_worker(turn, worker, {"class": "rollout", "code": "CAPABILITIES_DROPPED", "message": text})
        return
    if digest_of_capabilities(result) != session.capabilities:
        _note_other_capabilities(turn, worker)
    if session.initialized is not None:
        turn.pass_to_worker(worker, session.initialized)
    _tell_facts(turn, worker)


def _tell_facts(turn: Turn, worker: Worker) -> None:
    turn.put_worker(worker._replace(is_told=True, to_tell=tuple(turn.state.facts.values())))
    _tell_next(turn, worker.generation)


def is_candidate(turn: Turn, worker: Worker) -> bool:
    """Whether a worker is to bring another release into service."""
    return worker.role is Role.SUCCESSOR and worker.release != turn.state.release


def server_told(result: Mapping[str, Any]) -> Mapping[str, Any]:
    """The name and the version that a server gives itself in an answer, in either era."""
    meta = result.get("_meta")
    told = result.get("serverInfo", meta.get(META_SERVER_INFO) if isinstance(meta, dict) else None)
    return {key: told[key] for key in ("name", "version") if key in told} if isinstance(told, dict) else {}


def abilities_of(result: Mapping[str, Any]) -> tuple[str, ...]:
    """The names of what a server can do."""
    told = result.get("capabilities")
    return tuple(sorted(told)) if isinstance(told, dict) else ()


def digest_of_capabilities(result: Mapping[str, Any]) -> str:
    """Equal for workers that say the same about what they can do."""
    told = result.get("capabilities")
    members = sorted((name, encode(value).hex()) for name, value in told.items()) if isinstance(told, dict) else []
    return hashlib.sha256(encode(members)).hexdigest()


def _note_other_capabilities(turn: Turn, worker: Worker) -> None:
    """The client was promised something else and cannot be told; whoever operates the host can see it."""
    text = "the worker names other capabilities than the one that the client was introduced to"
    turn.count("capabilities_changed")
    turn.state.last_fault = {
        "class": "protocol",
        "code": "CAPABILITIES_CHANGED",
        "message": text,
        "generation": worker.generation,
    }


def tell_fact(turn: Turn, worker: Worker, frame: bytes) -> None:
    """Tell a worker what the client once told another one, behind all that it is being told already."""
    waiting = (*worker.to_tell, frame)[
        -2 * turn.state.policy.facts_max :
    ]  # one that does not answer lets none grow
    turn.put_worker(worker._replace(to_tell=waiting))
    _tell_next(turn, worker.generation)


def _tell_next(turn: Turn, generation: int) -> None:
    """One fact at a time, in their order: a worker may run several calls at once, and the last one counts."""
    worker = turn.state.workers[generation]
    is_busy = any(_is(errand, ErrandKind.RESTORE, worker) for errand in turn.state.errands.values())
    if worker.to_tell and not is_busy and worker.phase is not WorkerPhase.STOPPING:
        frame, *rest = worker.to_tell
        worker = turn.put_worker(worker._replace(to_tell=tuple(rest)))
        turn.send_errand(worker, ErrandKind.RESTORE, frame, within=turn.state.policy.start_timeout)


def fact_restored(turn: Turn, worker: Worker, response: Response | None) -> None:
    """A worker has answered what it was told of the session; None when it did not in time."""
    result = response.result if response is not None else None
    failed = isinstance(result, dict) and result.get("isError") is True
    if response is None or response.error is not None or failed:
        _fact_refused(turn, worker)
    _tell_next(turn, worker.generation)


def _fact_refused(turn: Turn, worker: Worker) -> None:
    turn.count("facts_refused")
    fault = {"class": "rollout", "code": "SESSION_NOT_RESTORED"}
    if is_candidate(turn, worker):
        text = "the new release does not take up what the session has in the worker"
        stop_worker(turn, worker, {**fault, "message": text})
    else:  # there is no other worker: the session goes on without it, and whoever looks is told
        text = "the worker does not take up all that the session had in the one before it"
        turn.state.last_fault = {**fault, "message": text, "generation": worker.generation}


def _is_being_restored(turn: Turn, worker: Worker) -> bool:
    return bool(turn.state.workers[worker.generation].to_tell) or any(
        _is(errand, ErrandKind.RESTORE, worker) for errand in turn.state.errands.values()
    )


def _is(errand: Errand, kind: ErrandKind, worker: Worker) -> bool:
    return errand.kind is kind and errand.generation == worker.generation


def prepare_workers(turn: Turn) -> None:
    """Have the tools listed of every worker that is far enough, and see to a spare."""
    state = turn.state
    if not is_wanted_listed(turn):
        return
    for worker in list(state.workers.values()):
        is_far_enough = worker.phase is WorkerPhase.OPEN and worker.role is not Role.RETIRED
        if is_far_enough and state.session.phase is SessionPhase.COLD and not worker.is_told:
            _tell_facts(turn, worker)  # where there is no handshake, this is the first that it hears
        if is_far_enough and not _is_being_restored(turn, worker):
            _list_or_be_ready(turn, state.workers[worker.generation])
    if state.policy.spare and not state.policy.single and not state.leaving_at:
        _see_to_spare(turn)


def _list_or_be_ready(turn: Turn, worker: Worker) -> None:
    if turn.state.session.has_tools:
        _list_tools(turn, turn.put_worker(_looked_at(turn, worker._replace(phase=WorkerPhase.LISTING))))
    else:
        _become_ready(turn, worker)


def _see_to_spare(turn: Turn) -> None:
    active = turn.active
    served = active is not None and active.phase is WorkerPhase.READY and active.life.condition is Condition.FINE
    on_hand = any(worker.role in {Role.SPARE, Role.SUCCESSOR} for worker in turn.state.workers.values())
    if served and not on_hand:
        # After a loss it is the spare that is put off, or workers would be lost without any pause.
        start_worker(turn, Role.SPARE, max(0.0, turn.state.restarts.retry_at - turn.now))


def is_wanted_listed(turn: Turn) -> bool:
    """Whether the session has come far enough for a worker to list its tools."""
    state = turn.state
    session = state.session
    if session.phase is SessionPhase.LIVE:
        return True
    if session.phase is SessionPhase.COLD:
        return session.self_description is not None
    # Some clients call tools without ever saying that they are initialized.
    eager = any(state.pending[request_id].method == "tools/call" for request_id in state.waiting)
    return session.phase is SessionPhase.AWAITING_INITIALIZED and eager


def _list_tools(turn: Turn, worker: Worker, cursor: str | None = None) -> None:
    """Ask for the list of tools, from its beginning or from a page on."""
    session = turn.state.session
    params: dict[str, Any] = {} if cursor is None else {"cursor": cursor}
    if session.phase is SessionPhase.COLD and session.self_description is not None:
        params["_meta"] = dict(session.self_description)
    if cursor is None:
        worker = _without_list(turn, worker)
    policy = turn.state.policy
    # Where there is no handshake this is the first that a worker is asked: it may still be starting.
    is_starting = session.phase is SessionPhase.COLD and worker.phase is WorkerPhase.LISTING and cursor is None
    within = max(policy.list_timeout, policy.start_timeout) if is_starting else policy.list_timeout
    turn.send_errand(worker, ErrandKind.LIST_TOOLS, ("tools/list", params), within=within)


def list_tools_again(turn: Turn, worker: Worker) -> None:
    """The tools have changed. What is being listed at the moment does not count; the next list comes after it."""
    if any(_is(errand, ErrandKind.LIST_TOOLS, worker) for errand in turn.state.errands.values()):
        turn.put_worker(worker._replace(is_list_outdated=True))
    else:
        _list_tools(turn, worker)


def _without_list(turn: Turn, worker: Worker) -> Worker:
    return turn.put_worker(worker._replace(pages=(), page_bytes=0, cursors=frozenset(), is_list_outdated=False))


def tools_listed(turn: Turn, worker: Worker, response: Response | None, size: int = 0) -> None:
    """A page of the list has come, in a message of this size; None when it did not come in time."""
    if worker.is_list_outdated:
        _list_tools(turn, worker)
        return
    result = response.result if response is not None and isinstance(response.result, dict) else {}
    tools = result.get("tools")
    pages = (*worker.pages, *(tools if isinstance(tools, list) else ()))
    cursor = result.get("nextCursor")
    worker = worker._replace(pages=pages, page_bytes=worker.page_bytes + size)
    # A cursor that does not advance would be followed for ever.
    if isinstance(cursor, str) and cursor and cursor not in worker.cursors:
        worker = worker._replace(cursors=worker.cursors | {cursor})
        policy = turn.state.policy
        if len(worker.cursors) <= policy.pages_max and worker.page_bytes <= policy.pages_bytes:
            _list_tools(turn, turn.put_worker(worker), cursor)
            return
    why = _why_not_listed(response)
    listed = response is not None and response.error is None
    if is_candidate(turn, worker) and not listed:
        text = f"the new release cannot list its tools: {why or 'it knows no tools/list'}"
        stop_worker(turn, worker, {"class": "rollout", "code": "TOOLS_NOT_LISTED", "message": text})
        return
    server = worker.server or server_told(result)
    known = worker.catalog if worker.catalog.tools else turn.state.catalog or NO_CATALOG
    # What its predecessor said is a better guess than nothing: it runs the same program.
    catalog = read_catalog(pages, turn.state.policy) if listed or pages else known
    worker = _without_list(turn, worker._replace(catalog=catalog, server=server, list_trouble=why))
    if why:
        turn.record(ToolsNotListed(worker.generation, worker.role.value, why))
    if worker.phase is WorkerPhase.LISTING:
        _become_ready(turn, worker)
    elif worker.role is Role.ACTIVE and worker.phase is WorkerPhase.READY:
        turn.state.catalog = catalog  # the worker itself has announced the change


def _why_not_listed(response: Response | None) -> str:
    """Why nobody knows what tools a worker has; empty where it told them, or has none to tell."""
    if response is None:
        return "it did not answer in time"
    if response.error is not None:
        is_unknown = response.error.get("code") == METHOD_NOT_FOUND
        return "" if is_unknown else str(response.error["message"])[:_LONGEST_TROUBLE]
    has_list = isinstance(response.result, dict) and isinstance(response.result.get("tools"), list)
    return "" if has_list else "its answer holds no list of tools"


def _become_ready(turn: Turn, worker: Worker) -> None:
    due = turn.now + turn.state.policy.ping_interval if turn.state.policy.ping_interval else 0.0
    life = worker.life._replace(is_halted=False)
    ready = turn.put_worker(worker._replace(phase=WorkerPhase.READY, ready_at=turn.now, due=due, life=life))
    turn.record(WorkerReady(worker.generation, worker.role.value, len(worker.catalog.tools)))
    if worker.role is Role.ACTIVE:
        turn.state.restarts = turn.state.restarts._replace(is_degraded=False)
        _serve(turn, ready)


def promote(turn: Turn, worker: Worker) -> None:
    """Make a worker the one that serves."""
    promoted = turn.put_worker(worker._replace(role=Role.ACTIVE))
    turn.state.active = worker.generation
    if worker.phase is WorkerPhase.READY:
        _serve(turn, promoted)


def _serve(turn: Turn, worker: Worker) -> None:
    state = turn.state
    changed = state.catalog is not None and state.catalog.witness != worker.catalog.witness
    state.catalog = worker.catalog
    if changed:
        forget_lists(turn)
    if changed and not worker.announced_until:
        announce_tools(turn)
    if state.lost is not None:
        warn_session(turn, worker)


def announce_tools(turn: Turn) -> None:
    """Tell the client that there are other tools: every client with a handshake, others where they listen."""
    if turn.state.session.phase is SessionPhase.LIVE:
        turn.tell_client(notification_message(_TOOLS_CHANGED))
    for entry in turn.state.pending.values():
        wanted = entry.params.get("notifications") if entry.method in STREAM_METHODS else None
        if isinstance(wanted, dict) and wanted.get("toolsListChanged") is True:
            params = {"_meta": {META_SUBSCRIPTION: entry.id}}
            turn.tell_listener(notification_message(_TOOLS_CHANGED, params), entry.id)


def check_worker(turn: Turn, worker: Worker) -> None:
    """Ask a worker whether it is alive, unless it is being asked already."""
    if worker.ping or worker.phase in {WorkerPhase.STARTING, WorkerPhase.STOPPING}:
        return
    session = turn.state.session
    question: tuple[str, dict[str, Any] | None] = ("ping", None)
    if session.phase is SessionPhase.COLD and session.self_description is not None:
        question = ("server/discover", {"_meta": dict(session.self_description)})
    within = turn.state.policy.ping_timeout
    number = turn.send_errand(worker, ErrandKind.PING, question, within=within)
    worker = turn.state.workers[worker.generation]
    life = worker.life._replace(asked_at=turn.now, cpu_when_asked=None)
    turn.put_worker(worker._replace(ping=number, life=life))
