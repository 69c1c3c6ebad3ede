"""Random histories of the whole kernel: whatever clients, workers and clocks do, the laws hold."""

from dataclasses import replace
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule
from tests.unit.kernel.driver import (
    DESCRIPTION,
    INITIALIZE,
    INITIALIZED,
    SERVER,
    TOOLS,
    World,
    answer,
    call,
    request,
    tool,
)

from holdfast.kernel.capsule import CapsuleLimits, capture, restore
from holdfast.kernel.commands import ToClient
from holdfast.kernel.inputs import (
    CatalogJudged,
    ClientLeft,
    HeldUp,
    OutcomeFound,
    RestartAsked,
    RolloutAsked,
    ShutDown,
    WorkerSeen,
)
from holdfast.kernel.invariants import broken_invariants
from holdfast.kernel.laws import Moment
from holdfast.kernel.machine import resume
from holdfast.kernel.policy import Policy
from holdfast.kernel.state import ErrandKind, Lookup, WorkerPhase
from holdfast.wire.envelope import Notification, Request

IDS = st.sampled_from([0, 1, 2, "1", "two"])
NAMES = st.sampled_from(["read", "write", "pay", "put", "check", "ours", "log in", "open", "no such tool"])
METHODS = st.sampled_from(
    [
        "tools/list",
        "resources/read",
        "logging/setLevel",
        "resources/subscribe",
        "subscriptions/listen",
        "acme/do",
        "ping",
    ]
)
RESULTS: st.SearchStrategy[Any] = st.sampled_from(
    [{}, {"content": []}, {"isError": True}, None, {"resultType": "input_required"}]
)
POLICY = Policy(
    pending_max=4, pending_bytes=900, replays=1, deadline=20.0, deadline_total=50.0, ping_interval=15.0,
    ping_timeout=5.0, heartbeat=4.0, restart_budget=3, restart_slow=10.0, probe_hold=8.0, callbacks_max=2,
    tombstones_max=3, facts_max=2, pages_max=3, spare=True, probation=20.0, probation_losses=2,
    suspect_after=3.0, liveness_interval=1.0,
)  # fmt: skip


class Kernel(RuleBasedStateMachine):
    """A client, workers and a clock that do anything at any time; the driver proves the laws in every step."""

    policy = POLICY

    def __init__(self) -> None:
        super().__init__()
        self.world = World(self.policy)

    @property
    def over(self) -> bool:
        return self.world.state.is_over

    @initialize(live=st.booleans())
    def begin(self, live: bool) -> None:
        if live:
            self.world.go_live()

    # --- the client ---

    @rule(number=IDS, name=NAMES, key=st.sampled_from([None, "a", "b"]), token=st.sampled_from([None, "t", 1]))
    def call_tool(self, number: Any, name: str, key: str | None, token: Any) -> None:
        meta = {} if token is None else {"progressToken": token}
        self.world.client_sends(call(number, name, {"n": 1} if key is None else {"n": 1, "key": key}, **meta))

    @rule(number=IDS, name=NAMES)
    def call_in_the_era_without_a_handshake(self, number: Any, name: str) -> None:
        self.world.client_sends(call(number, name, {"key": "a"}, **DESCRIPTION))

    @rule(number=IDS, method=METHODS)
    def ask(self, number: Any, method: str) -> None:
        self.world.client_sends(request(number, method, {"uri": f"a:{number}"}))

    @rule(number=IDS)
    def shake_hands(self, number: Any) -> None:
        self.world.client_sends(request(number, "initialize", INITIALIZE))

    @rule()
    def say_initialized(self) -> None:
        self.world.client_sends(INITIALIZED)

    @rule(number=IDS)
    def cancel(self, number: Any) -> None:
        self.world.cancels(number)

    @rule(number=IDS)
    def stop(self, number: Any) -> None:
        self.world.stops(number)

    @rule(number=st.integers(1, 5))
    def answer_a_question(self, number: int) -> None:
        self.world.client_sends(answer(number, {}))

    # --- the workers ---

    @rule(data=st.data(), result=RESULTS)
    def answer_something(self, data: st.DataObject, result: Any) -> None:
        attempts = sorted(self.world.state.attempts)
        if attempts:
            entry = self.world.state.pending[self.world.state.attempts[data.draw(st.sampled_from(attempts))]]
            told = SERVER if entry.method == "initialize" and result is not None else result
            self.world.worker_says(answer(entry.attempt, told), entry.generation)

    @rule(data=st.data(), good=st.booleans())
    def answer_the_host(self, data: st.DataObject, good: bool) -> None:
        own = {n: e for n, e in self.world.state.errands.items() if e.kind is not ErrandKind.PROBE}
        if own:
            number = data.draw(st.sampled_from(sorted(own)))
            release = self.world.state.workers[own[number].generation].release
            tools = [*TOOLS, *(tool(f"new {release}") for _ in range(release > 1))]
            kinds = {ErrandKind.INITIALIZE: SERVER, ErrandKind.LIST_TOOLS: {"tools": tools, "nextCursor": "x"}}
            if good:
                self.world.worker_says(answer(number, kinds.get(own[number].kind, {})), own[number].generation)
            else:
                self.world.worker_fails(number, "no", own[number].generation)

    @rule(data=st.data(), outcome=st.sampled_from(["completed", "safe_to_retry", "unknown", None]))
    def answer_a_probe(self, data: st.DataObject, outcome: str | None) -> None:
        probes = {n: e for n, e in self.world.state.errands.items() if e.kind is ErrandKind.PROBE}
        if probes:
            number = data.draw(st.sampled_from(sorted(probes)))
            told = {"structuredContent": {"outcome": outcome, "result": 5}}
            self.world.worker_says(answer(number, told), probes[number].generation)

    @rule(number=st.integers(-1, 60), generation=st.integers(1, 6))
    def answer_what_was_not_asked(self, number: int, generation: int) -> None:
        known = {*self.world.state.attempts, *self.world.state.errands}
        if number not in known:
            heard = len(self.world.heard)
            self.world.worker_says(answer(number, {"made": "up"}), generation)
            assert not any(message.get("result") == {"made": "up"} for message in self.world.heard[heard:])

    @rule(
        generation=st.integers(1, 6),
        method=st.sampled_from(
            ["roots/list", "ping", "notifications/message", "notifications/tools/list_changed"]
        ),
    )
    def worker_speaks(self, generation: int, method: str) -> None:
        message = request("q", method) if "notif" not in method else {"jsonrpc": "2.0", "method": method}
        self.world.worker_says(message, generation)

    @rule(generation=st.integers(1, 6), token=st.sampled_from(["t", 1, "other"]), number=st.integers(-2, 9))
    def worker_tells_progress(self, generation: int, token: Any, number: int) -> None:
        params = {"progressToken": token, "progress": number}
        self.world.worker_says(
            {"jsonrpc": "2.0", "method": "notifications/progress", "params": params}, generation
        )

    @rule(generation=st.integers(1, 6), load=st.sampled_from([0.0, 1.0]))
    def worker_is_halted_or_goes_on(self, generation: int, load: float) -> None:
        self.world.halted ^= {generation}
        self.world.load = load

    @rule(generation=st.integers(1, 6), is_halted=st.booleans())
    def worker_is_seen(self, generation: int, is_halted: bool) -> None:
        self.world.give(WorkerSeen(generation, is_halted, None))

    @rule(data=st.data())
    def the_first_of_two_attempts_is_answered(self, data: st.DataObject) -> None:
        hedged = [entry.earlier for entry in self.world.state.pending.values() if entry.earlier is not None]
        if hedged:
            first = data.draw(st.sampled_from(hedged))
            self.world.worker_says(answer(first.attempt, {}), first.generation)

    @rule(generation=st.integers(1, 6))
    def worker_is_not_read(self, generation: int) -> None:
        self.world.give(HeldUp(generation))

    @rule(data=st.data())
    def worker_starts(self, data: st.DataObject) -> None:
        starting = [w.generation for w in self.world.state.workers.values() if w.phase is WorkerPhase.STARTING]
        if starting:
            self.world.worker_up(data.draw(st.sampled_from(starting)))

    @rule(data=st.data(), unsent=st.booleans())
    def worker_is_lost(self, data: st.DataObject, unsent: bool) -> None:
        if self.world.state.workers:
            generation = data.draw(st.sampled_from(sorted(self.world.state.workers)))
            self.world.lose_worker(generation, self.world.state.attempts if unsent else ())

    # --- the rest of the world ---

    @rule(seconds=st.sampled_from([0.1, 1.0, 5.0, 30.0]))
    def time_passes(self, seconds: float) -> None:
        self.world.advance(seconds)

    @rule(result=st.sampled_from([None, b'{"stored":1}']), conflict=st.sampled_from(["", "", "other arguments"]))
    def store_answers(self, result: bytes | None, conflict: str) -> None:
        for entry in list(self.world.state.pending.values()):
            if entry.lookup is Lookup.ASKED:
                self.world.give(OutcomeFound(entry.sequence, result, conflict))
                return

    @rule()
    def ask_for_a_replacement(self) -> None:
        self.world.give(RestartAsked())

    @rule(release=st.integers(1, 4))
    def roll_out(self, release: int) -> None:
        self.world.give(RolloutAsked(release))

    @rule(generation=st.integers(1, 9), problem=st.sampled_from(["", "it breaks callers"]))
    def judge(self, generation: int, problem: str) -> None:
        self.world.give(CatalogJudged(generation, problem))

    @precondition(lambda self: len(self.world.history) > 25)
    @rule(given=st.sampled_from([ClientLeft(), ShutDown()]))
    def leave(self, given: Any) -> None:
        self.world.give(given)

    @rule()
    def another_host_takes_over(self) -> None:
        if self.over or self.world.state.leaving_at:
            return
        world = self.world
        data = capture(world.state, world.now)
        world.state, commands = resume(restore(data, self.policy, world.now, CapsuleLimits()), world.now)
        assert broken_invariants(world.state) == []
        world.history.append(Moment(world.now, world.state, ShutDown(), world.state, commands))
        world.note(commands)

    def teardown(self) -> None:
        world = self.world
        world.give(ShutDown())
        world.advance(60.0)

        assert self.over
        assert world.state.pending == {}
        assert_one_outcome_each(world.history)


def assert_one_outcome_each(history: list[Moment]) -> None:
    """Between two requests with the same id there is exactly one answer to it, or a cancellation."""
    open_ids: set[Any] = set()
    for moment in history:
        said = getattr(moment.given, "message", None)
        if isinstance(said, Request) and moment.after.next_sequence > moment.before.next_sequence:
            assert said.id not in open_ids
            open_ids.add(said.id)
        for command in moment.commands:
            if isinstance(command, ToClient) and command.answers in open_ids:
                open_ids.remove(command.answers)
            elif isinstance(command, ToClient) and command.answers is not None:
                assert isinstance(said, Request)  # refused, or answered by the host itself
        if isinstance(said, Notification) and said.method == "notifications/cancelled":
            open_ids -= open_ids - set(moment.after.pending)
    assert open_ids == set()


class OneWorkerOnly(Kernel):
    """The same where a second worker may never be beside the first."""

    policy = replace(POLICY, single=True)


TestOneWorkerOnly = OneWorkerOnly.TestCase
TestOneWorkerOnly.settings = settings(
    max_examples=15, stateful_step_count=60, deadline=None, suppress_health_check=list(HealthCheck)
)
TestKernel = Kernel.TestCase
TestKernel.settings = settings(
    max_examples=40, stateful_step_count=60, deadline=None, suppress_health_check=list(HealthCheck)
)
