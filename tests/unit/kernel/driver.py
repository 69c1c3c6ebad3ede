"""A host in memory: a scripted client and scripted workers around the kernel, and a clock that is moved by hand.

Every step is checked against the laws and invariants of the kernel, so each test that uses a `World` proves them
for its own history.
"""

from collections.abc import Iterable
from typing import Any, NamedTuple

from holdfast.kernel.commands import Command, LookAtWorker, Record, StartWorker, ToClient, ToWorker
from holdfast.kernel.inputs import (
    FromClient,
    FromWorker,
    Input,
    OutcomeFound,
    Tick,
    WorkerDown,
    WorkerSeen,
    WorkerUp,
)
from holdfast.kernel.invariants import broken_invariants
from holdfast.kernel.laws import Moment, broken_laws
from holdfast.kernel.machine import begin, step
from holdfast.kernel.policy import Policy
from holdfast.kernel.state import ErrandKind, State, Worker
from holdfast.vocabulary.execution import SessionPhase
from holdfast.vocabulary.ids import RequestId
from holdfast.vocabulary.meta import META_GENERATION, META_RESTARTED
from holdfast.wire.codec import decode, encode
from holdfast.wire.envelope import parse

__all__ = [
    "CRASH",
    "DESCRIPTION",
    "INITIALIZE",
    "INITIALIZED",
    "REVISION",
    "SERVER",
    "TOOLS",
    "Sent",
    "World",
    "answer",
    "call",
    "request",
    "tool",
]

REVISION = "2025-06-18"
CRASH = {"class": "process", "code": "WORKER_LOST", "message": "it crashed"}
INITIALIZE = {"protocolVersion": REVISION, "capabilities": {}, "clientInfo": {"name": "a client", "version": "1"}}
INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}
SERVER = {"protocolVersion": REVISION, "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}}
DESCRIPTION = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}


def request(request_id: RequestId, method: str, params: Any = None) -> dict[str, Any]:
    """A request as a client writes it."""
    return {"jsonrpc": "2.0", "id": request_id, "method": method, "params": params or {}}


def call(request_id: RequestId, name: str, arguments: Any = None, **meta: Any) -> dict[str, Any]:
    """A call of a tool."""
    params: dict[str, Any] = {"name": name, "arguments": arguments or {}}
    return request(request_id, "tools/call", {**params, "_meta": meta} if meta else params)


def answer(request_id: RequestId | None, result: Any) -> dict[str, Any]:
    """A successful answer."""
    return {"jsonrpc": "2.0", "id": request_id, "result": result}


def tool(
    name: str, kind: str = "", timeout_ms: int | None = None, state: str = "stateless", **recovery: str
) -> dict[str, Any]:
    """The definition of a tool; with a timeout it is one of our own servers."""
    meta: dict[str, Any] = {}
    if kind:
        keeps = {"kind": state, "key": "/arguments/n"} if state == "journaled" else {"kind": state}
        meta["io.holdfast/effect"] = {"recovery": {"kind": kind, **recovery}, "state": keeps}
    if timeout_ms is not None:
        meta |= {"io.holdfast/contract": {}, "io.holdfast/supervision": {"timeoutMs": timeout_ms}}
    return {"name": name, "inputSchema": {"type": "object", "properties": {"key": {}, "n": {}}}, "_meta": meta}


TOOLS = [
    {**tool("read"), "annotations": {"readOnlyHint": True}},
    tool("write"),
    tool("pay", "probe_required", probe="check"),
    tool("put", "deduplicated", key="/arguments/key"),
    tool("check", "replay_safe"),
    tool("ours", "replay_safe", timeout_ms=5000),
    tool("log in", "replay_safe", state="journaled"),
    tool("open", "replay_safe", state="generation_pinned"),
]


class Sent(NamedTuple):
    """Something that a worker was sent."""

    generation: int
    message: dict[str, Any]
    attempt: int
    payload: bytes


class World:
    """One host, its client and its workers."""

    def __init__(self, policy: Policy | None = None, **changes: Any) -> None:
        settled = {"ping_interval": 0.0, "liveness_interval": 0.0, "heartbeat": 0.0, **changes}
        self.now = 100.0
        self.tools: list[Any] = TOOLS
        self.server: dict[str, Any] = SERVER
        self.history: list[Moment] = []
        self.commands: list[Command] = []
        self.heard: list[dict[str, Any]] = []  # by the client
        self.raw: list[bytes] = []
        self.sent: list[Sent] = []  # to workers
        self.halted: set[int] = set()  # workers whose process is in state T
        self.load = 0.0  # of a CPU, by the workers
        self.state: State
        self.state, commands = begin(policy or Policy(**settled), self.now)
        self.note(commands)

    @classmethod
    def live(cls, *, tools: list[Any] | None = None, **changes: Any) -> "World":
        """A session after its handshake, with one worker that is ready."""
        world = cls(**changes)
        world.tools = TOOLS if tools is None else tools
        world.go_live()
        return world

    def go_live(self) -> None:
        """Start the worker and go through the handshake."""
        self.worker_up()
        self.client_sends(request(0, "initialize", INITIALIZE))
        self.worker_answers(0, self.server)
        self.client_sends(INITIALIZED)
        self.serve()
        self.heard.clear()

    # --- what happens ------------------------------------------------------------------------------------------

    def give(self, given: Input) -> list[Command]:
        """Let one thing happen, and see that no law is broken."""
        before = self.state
        self.state, commands = step(before, self.now, given)
        moment = Moment(self.now, before, given, self.state, commands)
        self.history.append(moment)
        assert broken_laws(moment) == []
        assert broken_invariants(self.state) == []
        self.note(commands)
        for command in commands:
            if isinstance(command, LookAtWorker):
                generation = command.generation
                self.give(WorkerSeen(generation, generation in self.halted, self.load * self.now))
        return commands

    def client_sends(self, message: dict[str, Any] | bytes) -> None:
        """The client writes a message."""
        frame = message if isinstance(message, bytes) else encode(message)
        self.give(FromClient(parse(decode(frame)), frame))

    def calls(self, request_id: RequestId, name: str, arguments: Any = None, **meta: Any) -> None:
        """The client calls a tool."""
        self.client_sends(call(request_id, name, arguments, **meta))

    def cancels(self, request_id: object) -> None:
        """The client wants to hear no more of a request."""
        params = {"requestId": request_id}
        self.client_sends({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params})

    def stops(self, request_id: object) -> None:
        """The client wants a request to end, and an answer."""
        self.client_sends({"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": request_id}})

    def worker_says(self, message: dict[str, Any] | bytes, generation: int | None = None) -> None:
        """A worker writes a message."""
        frame = message if isinstance(message, bytes) else encode(message)
        self.give(FromWorker(generation or self.state.active, parse(decode(frame)), frame))

    def worker_answers(self, request_id: RequestId, result: Any, generation: int | None = None) -> None:
        """The worker that has a request of the client answers it."""
        entry = self.state.pending[request_id]
        self.worker_says(answer(entry.attempt, result), generation or entry.generation)

    def worker_fails(self, number: int, message: str = "no", generation: int | None = None) -> None:
        """A worker answers with an error."""
        error = {"code": -32601, "message": message}
        self.worker_says({"jsonrpc": "2.0", "id": number, "error": error}, generation)

    def worker_up(self, generation: int | None = None) -> None:
        """The process of a worker was started."""
        self.give(WorkerUp(generation or self.state.active))

    def lose_worker(
        self, generation: int | None = None, unsent: Iterable[int] = (), **cause: Any
    ) -> list[Command]:
        """A worker is gone."""
        return self.give(WorkerDown(generation or self.state.active, {**CRASH, **cause}, frozenset(unsent)))

    def serve(self, generation: int | None = None) -> None:
        """A worker answers what the host itself asks, until nothing is left but probes."""
        wanted = generation or self.state.active
        answers = {ErrandKind.INITIALIZE: self.server, ErrandKind.LIST_TOOLS: {"tools": self.tools}}
        while True:
            errands = [
                (number, errand.kind)
                for number, errand in self.state.errands.items()
                if errand.generation == wanted and errand.kind is not ErrandKind.PROBE
            ]
            if not errands:
                return
            number, kind = errands[0]
            self.worker_says(answer(number, answers.get(kind, {})), wanted)

    def make_ready(self, generation: int | None = None) -> None:
        """Start a worker and let it go through everything that it is asked."""
        wanted = generation or self.state.active
        self.worker_up(wanted)
        self.serve(wanted)

    def replace_worker(self) -> None:
        """Lose the worker, and have the next one ready."""
        self.lose_worker()
        self.make_ready()

    def probe_says(self, structured: Any, generation: int | None = None) -> None:
        """The probe that is being asked answers."""
        number = self.errand(ErrandKind.PROBE)
        self.worker_says(answer(number, {"content": [], "structuredContent": structured}), generation)

    def store_says(self, result: bytes | None = None, conflict: str = "") -> None:
        """The store answers the last question."""
        asked = self.last("LookUpOutcome")
        self.give(OutcomeFound(asked.id, result, conflict))

    def tick(self) -> None:
        """Look at the clock."""
        self.give(Tick())

    def advance(self, seconds: float) -> None:
        """Let time pass, with a look at the clock whenever something may be due."""
        end = self.now + seconds
        for _ in range(10_000):
            at = self.state.wake_at
            if not at or at > end:
                self.now = end
                return
            self.now = max(self.now, at)
            self.tick()
        raise AssertionError("the clock is looked at all the time")

    # --- what can be seen --------------------------------------------------------------------------------------

    @property
    def worker(self) -> Worker:
        """The active worker."""
        return self.state.workers[self.state.active]

    def answers_to(self, request_id: RequestId) -> list[dict[str, Any]]:
        """What the client was told in answer to a request."""
        return [
            message
            for message in self.heard
            if "method" not in message and message["id"] == request_id and type(message["id"]) is type(request_id)
        ]

    def answer_to(self, request_id: RequestId) -> dict[str, Any]:
        """The one answer to a request."""
        (only,) = self.answers_to(request_id)
        return only

    def result_of(self, request_id: RequestId) -> Any:
        """The result that a worker gave, without what the host says beside it about lost state."""
        result = dict(self.answer_to(request_id)["result"])
        meta = result.pop("_meta", {})
        kept = {key: meta[key] for key in meta if key not in {META_GENERATION, META_RESTARTED}}
        return {**result, "_meta": kept} if kept else result

    def fault_of(self, request_id: RequestId) -> dict[str, Any]:
        """The data of the error that a request ended with."""
        data = self.answer_to(request_id)["error"]["data"]
        assert isinstance(data, dict)
        return data

    def code_of(self, request_id: RequestId) -> str:
        """The code of the failure that a request ended with, in whichever form it was told."""
        told = self.answer_to(request_id)
        meta = told["error"]["data"] if "error" in told else told["result"]["_meta"]["io.holdfast/error"]
        return str(meta["code"])

    def told(self, method: str) -> list[dict[str, Any]]:
        """The parameters of the notifications and requests of a method that the client has got."""
        return [message.get("params", {}) for message in self.heard if message.get("method") == method]

    def sent_to(self, generation: int, method: str | None = None) -> list[dict[str, Any]]:
        """What a worker was sent, of one method or in all."""
        messages = [sent.message for sent in self.sent if sent.generation == generation]
        return [message for message in messages if method in (None, message.get("method"))]

    def dispatched(self, generation: int | None = None) -> list[Any]:
        """The client's requests that a worker was sent, by what identifies them in these tests."""
        return [
            sent.message["params"].get("arguments", {}).get("n", sent.message["method"])
            for sent in self.sent
            if sent.attempt and generation in (None, sent.generation)
        ]

    def errand(self, kind: ErrandKind) -> int:
        """The id of the one question of a kind that is under way."""
        (number,) = [number for number, errand in self.state.errands.items() if errand.kind is kind]
        return number

    def phase(self) -> SessionPhase:
        """How far the session has come."""
        return self.state.session.phase

    def events(self, name: str) -> list[Any]:
        """The events of a name that were recorded."""
        found = [command.event for command in self.commands if isinstance(command, Record)]
        return [event for event in found if event.name == name]

    def last(self, name: str) -> Any:
        """The last command of a kind."""
        return next(command for command in reversed(self.commands) if type(command).__name__ == name)

    def starts(self) -> list[float]:
        """The pauses before each worker was started."""
        return [command.delay for command in self.commands if isinstance(command, StartWorker)]

    def count(self, name: str) -> int:
        """How often something was counted."""
        return self.state.counts.get(name, 0)

    def note(self, commands: list[Command]) -> None:
        """Take down what the kernel wants done."""
        self.commands += commands
        for command in commands:
            if isinstance(command, ToClient):
                self.raw.append(command.payload)
                self.heard.append(decode(command.payload))
            elif isinstance(command, ToWorker):
                self.sent.append(
                    Sent(command.generation, decode(command.payload), command.attempt, command.payload)
                )
