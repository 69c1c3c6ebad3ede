"""Every history of a small world, up to a depth: two requests, one worker at a time, everything that can go wrong.

A node is a state of the kernel with what the client has been told so far. Nodes that differ only in numbers that
nobody can see (ids, generations, counters, the time of day) are one. What can happen next is the same list for
every node: each kind of input that `step` knows is in it (a test counts them). The ends of the host and what only
disturbs are asked for by `may_end` and `may_disturb`, since they multiply the histories.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

from tests.unit.kernel.driver import INITIALIZE, INITIALIZED, SERVER, TOOLS, World, call, request, tool

from holdfast.kernel.commands import Command, ToClient
from holdfast.kernel.inputs import (
    CatalogJudged,
    ClientLeft,
    Fenced,
    FromClient,
    FromWorker,
    GarbledAnswer,
    HeldUp,
    Input,
    OutcomeFound,
    RestartAsked,
    RolloutAsked,
    ShutDown,
    Tick,
    WorkerDown,
    WorkerSeen,
    WorkerUp,
)
from holdfast.kernel.invariants import broken_invariants
from holdfast.kernel.laws import LAWS, Moment
from holdfast.kernel.machine import step
from holdfast.kernel.state import Errand, ErrandKind, Lookup, Pending, State, Verdict, WorkerPhase
from holdfast.vocabulary.execution import SessionPhase
from holdfast.vocabulary.faults import fault
from holdfast.wire.codec import encode
from holdfast.wire.envelope import Notification, Request, Response

__all__ = ["EFFECTS", "Node", "Result", "explore", "happenings", "start"]

EFFECTS = ("read", "put", "pay", "write")
_NEW_TOOLS = [*TOOLS, tool("new")]  # what every release but the first offers
_POLICY: dict[str, Any] = {
    "replays": 1,
    "deadline": 10.0,
    "probe_hold": 5.0,
    "ping_timeout": 3.0,
    "restart_budget": 2,
}
_GARBLED = fault("INVALID_RESPONSE", "it cannot be read")
_CAPSULE_LAW = 5  # it looks at a state rather than at a step: once per state is enough


class Node(NamedTuple):
    """A point in a history."""

    state: State
    now: float
    tools: tuple[str, ...]  # what request 0, 1... calls
    sent: tuple[bool, ...]
    answers: tuple[int, ...]
    silent: tuple[bool, ...]  # cancelled by a client that wants no answer
    spent: tuple[tuple[int, int], ...]  # generation and id of attempts that are over
    path: tuple[str, ...]
    may_restart: bool = False
    may_end: bool = False
    may_disturb: bool = False
    may_roll_out: bool = False
    may_block: bool = False


class Result(NamedTuple):
    """How much an exploration has seen."""

    nodes: int
    steps: int


def start(
    tools: tuple[str, ...],
    *,
    may_restart: bool = False,
    may_end: bool = False,
    may_disturb: bool = False,
    may_roll_out: bool = False,
    may_block: bool = False,
    **policy: Any,
) -> Node:
    """A live session with a ready worker before the first request; a cold one if the handshake is among them."""
    blocking: dict[str, Any] = {"liveness_interval": 1.0, "suspect_after": 2.0} if may_block else {}
    world = World(**{**_POLICY, **blocking, **policy})
    if "initialize" not in tools:
        world.go_live()
    none = tuple(False for _ in tools)
    answers = tuple(0 for _ in tools)
    return Node(
        world.state, world.now, tools, none, answers, none, (), (), may_restart, may_end, may_disturb,
        may_roll_out, may_block,
    )  # fmt: skip


# --- what can happen ---------------------------------------------------------------------------------------------


def happenings(node: Node) -> Iterator[tuple[str, float, Input]]:
    """Everything that can happen next: its name, when, and the input."""
    state = node.state
    if state.is_over:
        return
    for number, name in enumerate(node.tools):
        if not node.sent[number]:
            yield f"send {number}", node.now, _said(_message(number, name))
    if state.session.phase is not SessionPhase.COLD and state.session.initialized is None:
        greeting = Notification("notifications/initialized", {})
        yield "initialized", node.now, FromClient(greeting, encode(INITIALIZED))
    for entry in state.pending.values():
        yield from _to_request(node, entry)
    for generation, attempt in node.spent:
        yield f"late {attempt}", node.now, _answered(generation, attempt, {"late": True})
    yield from _to_worker(node)
    if node.may_end:
        yield "leave", node.now, ClientLeft()
        yield "shut down", node.now, ShutDown()
    if node.may_disturb:
        yield from _disturbances(node)
    if state.wake_at:
        at = max(node.now, state.wake_at)
        yield "clock", at, Tick()


def _to_request(node: Node, entry: Pending) -> Iterator[tuple[str, float, Input]]:
    cancelled = Notification("notifications/cancelled", {"requestId": entry.id})
    stopped = Notification("$/cancelRequest", {"id": entry.id})
    yield f"cancel {entry.id}", node.now, FromClient(cancelled, b"{}")
    yield f"stop {entry.id}", node.now, FromClient(stopped, b"{}")
    if entry.is_in_flight:
        result = SERVER if entry.method == "initialize" else {"ok": True}
        yield f"answer {entry.id}", node.now, _answered(entry.generation, entry.attempt, result)
    if entry.earlier is not None:
        first = entry.earlier
        yield f"answer first {entry.id}", node.now, _answered(first.generation, first.attempt, {"ok": True})
    if entry.lookup is Lookup.ASKED:
        yield f"clear {entry.id}", node.now, OutcomeFound(entry.sequence)
        yield f"stored {entry.id}", node.now, OutcomeFound(entry.sequence, b'{"stored":true}')


def _disturbances(node: Node) -> Iterator[tuple[str, float, Input]]:
    """What a peer does wrong, or what only looks like trouble."""
    for entry in node.state.pending.values():
        yield f"duplicate {entry.id}", node.now, _said(_message(int(entry.id), node.tools[int(entry.id)]))
        if entry.is_in_flight:
            yield f"garble {entry.id}", node.now, GarbledAnswer(entry.generation, entry.attempt, _GARBLED)
            yield f"fail {entry.id}", node.now, _failed(entry.generation, entry.attempt)
        if entry.lookup is Lookup.ASKED:
            yield f"conflict {entry.id}", node.now, OutcomeFound(entry.sequence, conflict="other arguments")
    for number, errand in node.state.errands.items():
        yield f"garble {errand.kind.value}", node.now, GarbledAnswer(errand.generation, number, _GARBLED)
    for worker in node.state.workers.values():
        yield f"held up {worker.role.value}", node.now, HeldUp(worker.generation)


def _to_worker(node: Node) -> Iterator[tuple[str, float, Input]]:
    for worker in node.state.workers.values():
        gone = WorkerDown(worker.generation, {"code": "WORKER_LOST"})
        word = "end" if worker.phase is WorkerPhase.STOPPING else "lose"
        yield f"{word} {worker.role.value}", node.now, gone
        if node.state.attempts:
            yield (
                f"lose {worker.role.value} unsent",
                node.now,
                gone._replace(unsent=frozenset(node.state.attempts)),
            )
        if worker.phase is WorkerPhase.STARTING:
            yield f"up {worker.role.value}", node.now, WorkerUp(worker.generation)
        if node.may_block and (worker.ping or node.may_disturb):
            yield f"seen {worker.role.value} halted", node.now, WorkerSeen(worker.generation, True, 1.0)
            yield f"seen {worker.role.value} busy", node.now, WorkerSeen(worker.generation, False, node.now)
    if node.may_restart:
        yield "restart", node.now, RestartAsked()
    if node.may_roll_out:
        yield from _releases(node)
    for number, errand in node.state.errands.items():
        if errand.kind is ErrandKind.PROBE:
            for outcome in ("completed", "safe_to_retry", "unknown"):
                found = {"structuredContent": {"outcome": outcome, "result": {"found": True}}}
                yield f"probe {outcome}", node.now, _answered(errand.generation, number, found)
        else:
            result = _answer_to(node.state, errand)
            yield f"serve {errand.kind.value}", node.now, _answered(errand.generation, number, result)


def _releases(node: Node) -> Iterator[tuple[str, float, Input]]:
    yield "roll out", node.now, RolloutAsked(3 - node.state.release)
    is_fenced = node.state.is_fenced
    yield "let through" if is_fenced else "fence", node.now, Fenced(not is_fenced)
    for worker in node.state.workers.values():
        if worker.verdict is Verdict.ASKED:
            yield "judge fine", node.now, CatalogJudged(worker.generation)
            yield "judge bad", node.now, CatalogJudged(worker.generation, "it breaks callers")


def _answer_to(state: State, errand: Errand) -> Any:
    if errand.kind is ErrandKind.INITIALIZE:
        return SERVER
    release = state.workers[errand.generation].release
    return {"tools": TOOLS if release == 1 else _NEW_TOOLS} if errand.kind is ErrandKind.LIST_TOOLS else {}


def _message(number: int, name: str) -> dict[str, Any]:
    if name == "initialize":
        return request(number, name, INITIALIZE)
    return call(number, name, {"key": "k", "n": number})


def _said(message: dict[str, Any]) -> FromClient:
    return FromClient(Request(message["id"], message["method"], message["params"]), encode(message))


def _failed(generation: int, number: int) -> FromWorker:
    error = {"code": -32603, "message": "no"}
    return FromWorker(
        generation, Response(number, None, error), encode({"jsonrpc": "2.0", "id": number, "error": error})
    )


def _answered(generation: int, number: int, result: Any) -> FromWorker:
    frame = encode({"jsonrpc": "2.0", "id": number, "result": result})
    return FromWorker(generation, Response(number, result, None), frame)


# --- going on ----------------------------------------------------------------------------------------------------


def follow(node: Node, name: str, at: float, given: Input, *, prove: bool = True) -> Node:
    """The node after something has happened; AssertionError with the whole path where a law is broken."""
    after, commands = step(node.state, at, given)
    path = (*node.path, name)
    if prove:
        moment = Moment(at, node.state, given, after, commands)
        broken = [problem for law in LAWS if law is not LAWS[_CAPSULE_LAW] for problem in law(moment)]
        assert broken == [], (path, broken)
    return _told(node, name, at, after, commands)._replace(path=path)


def _told(node: Node, name: str, at: float, after: State, commands: list[Command]) -> Node:
    answers, silent, sent = list(node.answers), list(node.silent), list(node.sent)
    for command in commands:
        if isinstance(command, ToClient) and isinstance(command.answers, int):
            answers[command.answers] += 1
    word, _, number = name.partition(" ")
    if word == "send":
        sent[int(number)] = True
    if word == "cancel":
        silent[int(number)] = int(number) not in after.pending
    ended = ((node.state.pending[one].generation, attempt) for attempt, one in node.state.attempts.items())
    alive = [(generation, attempt) for generation, attempt in ended if attempt not in after.attempts]
    spent = tuple(one for one in dict.fromkeys((*node.spent, *alive)) if f"late {one[1]}" != name)[-2:]
    return node._replace(
        state=after, now=at, sent=tuple(sent), answers=tuple(answers), silent=tuple(silent), spent=spent
    )


def canonical(node: Node) -> object:
    """A node without what nobody can see."""
    state, now = node.state, node.now
    ranks = {
        number: rank for rank, number in enumerate(sorted((*state.attempts, *state.errands, *state.tombstones)))
    }
    first = min(state.workers, default=0)
    pending = tuple(
        (
            entry.id, entry.call, entry.knowledge, entry.rule is None, entry.generation - first, entry.replays,
            ranks.get(entry.attempt), _since(entry.due, now),
            entry.earlier and (entry.earlier.generation - first, ranks.get(entry.earlier.attempt)),
            entry.is_overdue, entry.freed, entry.lookup,
            entry.hold and (_since(entry.hold.until, now), _since(entry.hold.ask_at, now), entry.hold.pause,
                            ranks.get(entry.hold.errand)),
        )
        for entry in state.pending.values()
    )  # fmt: skip
    workers = tuple(
        (
            one.generation - first,
            one.role,
            one.phase,
            one.release,
            one.verdict,
            _since(one.announced_until, now),
            _since(one.due, now),
            bool(one.ping),
            one.life._replace(
                look_at=_since(one.life.look_at, now) or 0.0,
                asked_at=_since(one.life.asked_at, now) or 0.0,
                overdue_since=_since(one.life.overdue_since, now) or 0.0,
                stuck_since=_since(one.life.stuck_since, now) or 0.0,
                suspected_at=_since(one.life.suspected_at, now) or 0.0,
                relief_at=_since(one.life.relief_at, now) or 0.0,
                cpu=one.life.cpu and one.life.cpu - now,
                cpu_when_asked=one.life.cpu_when_asked and one.life.cpu_when_asked - now,
            ),
            _since(one.heard_at, now),
        )
        for one in state.workers.values()
    )
    errands = tuple(
        (ranks[number], one.kind, one.about, _since(one.due, now)) for number, one in state.errands.items()
    )
    spent = tuple((generation - first, attempt in state.tombstones) for generation, attempt in node.spent)
    session = (state.session.phase, state.session.initialized is None)
    restarts = (
        len(state.restarts.recent),
        state.restarts.is_degraded,
        state.rollout,
        state.release,
        state.is_fenced,
        state.probation and (_since(state.probation.until, now), state.probation.losses),
        state.probation and state.probation.fallback - first,
    )
    told = (node.sent, node.answers, node.silent, state.is_over, _since(state.leaving_at, now))
    return pending, workers, errands, spent, session, restarts, _since(state.wake_at, now), told


def _since(at: float, now: float) -> float | None:
    return round(at - now, 6) if at else None


def explore(root: Node, depth: int) -> Result:
    """Walk every history up to a depth, prove the laws in every step, and drive every node to its end."""
    seen = {canonical(root)}
    level, steps = [root], 0
    for _ in range(depth):
        following = []
        for node in level:
            for name, at, given in happenings(node):
                steps += 1
                after = follow(node, name, at, given)
                key = canonical(after)
                if key not in seen:
                    seen.add(key)
                    _prove(after, given, node)
                    following.append(after)
        level = following
    return Result(len(seen), steps)


def _prove(node: Node, given: Input, before: Node) -> None:
    moment = Moment(node.now, before.state, given, node.state, [])
    broken = [*broken_invariants(node.state), *LAWS[_CAPSULE_LAW](moment)]
    assert broken == [], (node.path, broken)
    end = _driven_to_the_end(node)
    for sent, answers, silent in zip(end.sent, end.answers, end.silent, strict=True):
        assert answers == (sent and not silent), (end.path, end.answers)


_HELPFUL = (
    "initialized",
    "end",
    "up",
    "serve",
    "answer",
    "clear",
    "probe safe_to_retry",
    "judge fine",
    "let through",
)


def _driven_to_the_end(node: Node) -> Node:
    """Let everybody do what they should, until nothing is pending."""
    for _ in range(60):
        if not node.state.pending:
            return node
        for name, at, given in happenings(node):
            if name.startswith(_HELPFUL):
                node = follow(node, name, at, given, prove=False)
                break
        else:
            node = follow(node, "clock", max(node.now, node.state.wake_at), Tick(), prove=False)
    raise AssertionError(f"it never ends: {node.path}")
