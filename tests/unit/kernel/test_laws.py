"""The laws themselves: each notices when it is broken. That nothing breaks them is proved by the other tests."""

from collections.abc import Callable
from typing import Any

import pytest
from tests.unit.kernel.driver import World, answer, request

from holdfast.kernel.commands import Command, ToClient, ToWorker
from holdfast.kernel.inputs import WorkerDown
from holdfast.kernel.invariants import broken_invariants
from holdfast.kernel.laws import LAWS, Moment, broken_laws
from holdfast.kernel.state import Callback, Role, State, Tombstone, Worker, WorkerPhase
from holdfast.vocabulary.execution import Knowledge, SessionPhase
from holdfast.wire.codec import encode

Change = Callable[[State], None]


def note(method: str) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "method": method, "params": {}}


def dispatched() -> Moment:
    """The moment in which two lost calls are sent again."""
    world = World.live()
    world.calls(1, "read", {"n": 1})
    world.calls(2, "read", {"n": 2})
    world.replace_worker()
    return world.history[-1]


def completed() -> Moment:
    """The moment in which a call is answered."""
    world = World.live()
    world.calls(1, "write")
    world.calls(2, "write")
    world.worker_answers(1, {})
    return world.history[-1]


def broken(moment: Moment, law: int) -> list[str]:
    return list(LAWS[law - 1](moment))


def test_a_call_that_is_sent_twice_against_its_contract_breaks_the_first_law() -> None:
    moment = dispatched()
    after = moment.after.copy()
    write = World.live()
    write.calls(1, "write")
    after.pending[1] = after.pending[1]._replace(rule=write.state.pending[1].rule)

    assert broken(moment, 1) == []
    assert broken(moment._replace(after=after), 1) == ["read was sent twice"]


def hedged() -> Moment:
    """The moment in which a call of a blocked worker is sent to a second one."""
    world = World.live(liveness_interval=5.0, spare=True)
    world.make_ready(2)
    world.calls(1, "read")
    world.halted = {1}
    world.advance(0.4)
    world.tick()
    world.advance(0.2)
    return next(
        moment for moment in world.history if any(entry.earlier for entry in moment.after.pending.values())
    )


def test_a_call_that_a_third_worker_gets_or_that_may_not_be_repeated_breaks_the_first_law() -> None:
    moment = hedged()
    after, before = moment.after.copy(), moment.before.copy()
    write = World.live()
    write.calls(1, "write")
    after.pending[1] = after.pending[1]._replace(rule=write.state.pending[1].rule)
    before.pending[1] = before.pending[1]._replace(earlier=moment.after.pending[1].earlier)
    text = "was sent to a second worker although that may not be"

    assert broken_laws(moment) == []
    assert f"read {text}" in broken(moment._replace(after=after), 1)
    assert f"read {text}" in broken(moment._replace(before=before), 1)


def test_a_replay_that_is_not_charged_breaks_the_first_law() -> None:
    moment = dispatched()
    after = moment.after.copy()
    after.pending[1] = after.pending[1]._replace(replays=0)

    assert broken(moment._replace(after=after), 1) == ["read was sent again without being charged"]


def test_a_replay_without_the_word_of_its_probe_breaks_the_first_law() -> None:
    world = World.live()
    world.calls(1, "pay")
    world.replace_worker()
    world.probe_says({"outcome": "safe_to_retry"})
    moment = world.history[-1]
    hidden = moment._replace(given=WorkerDown(9, {}))

    assert broken(moment, 1) == []
    assert broken(hidden, 1) == ["pay was sent again without the word of its probe"]


def test_two_answers_or_none_break_the_second_law() -> None:
    moment = completed()
    (told,) = moment.told()

    assert broken(moment, 2) == []
    assert broken(moment._replace(commands=[told, told]), 2) != []
    assert broken(moment._replace(commands=[]), 2) == ["request 1 ended with 0 answers"]
    assert broken(moment._replace(commands=[told, told._replace(answers=2)]), 2) != []
    assert broken(moment._replace(commands=[told._replace(payload=told.payload.replace(b'"id":1', b'"id":7'))]), 2)


def test_a_changed_byte_breaks_the_third_law() -> None:
    moment = dispatched()
    commands = [
        command._replace(payload=command.payload.replace(b'"n":1', b'"n": 1'))
        if isinstance(command, ToWorker)
        else command
        for command in moment.commands
    ]
    after = moment.after.copy()
    after.pending[1] = after.pending[1]._replace(tool="another")

    assert broken(moment, 3) == []
    assert broken(moment._replace(commands=commands), 3) == ["read was changed on its way"]
    assert broken(moment._replace(after=after), 3) == ["another is not what it was"]


def test_another_order_breaks_the_fourth_law() -> None:
    moment = dispatched()
    assert broken(moment, 4) == []
    assert broken(moment._replace(commands=moment.commands[::-1]), 4) == ["requests were sent out of order"]
    after = moment.after.copy()
    after.pending[1] = after.pending[1]._replace(knowledge=Knowledge.OUTCOME_UNKNOWN)
    only_the_second = [one for one in moment.commands if isinstance(one, ToWorker) and b'"n":2' in one.payload]

    assert broken(moment._replace(after=after, commands=list(only_the_second)), 4) == ["read was overtaken"]


@pytest.mark.parametrize(
    "grow",
    [
        lambda state: state.callbacks.update({n: Callback(1, n) for n in range(1, 300)}),
        lambda state: state.tombstones.update({n: Tombstone(1, n) for n in range(5000)}),
        lambda state: state.facts.update({str(n): b"" for n in range(300)}),
        lambda state: state.pending.update(dict.fromkeys(range(2000), state.pending[2])),
    ],
)
def test_a_table_that_grows_beyond_its_bound_breaks_the_fifth_law(grow: Change) -> None:
    moment = completed()
    after = moment.after.copy()
    grow(after)

    assert broken(moment, 5) == []
    assert broken(moment._replace(after=after), 5) != []


def test_a_session_that_changes_with_the_worker_breaks_the_seventh_law() -> None:
    world = World.live()
    world.lose_worker()
    moment = world.history[-1]
    after = moment.after.copy()
    after.session = after.session._replace(phase=SessionPhase.COLD)

    assert broken(moment, 7) == []
    assert broken(moment._replace(after=after), 7) != []


def test_a_private_handshake_that_the_client_hears_breaks_the_seventh_law() -> None:
    world = World.live()
    world.lose_worker()
    world.worker_up()
    world.worker_says(answer(min(world.state.errands), world.server))
    moment = world.history[-1]
    heard: Any = [ToClient(moment.given.frame)]  # type: ignore[union-attr]

    assert broken(moment, 7) == []
    assert broken(moment._replace(commands=heard), 7) == ["the client heard what was said in private"]
    assert broken_laws(moment) == []


@pytest.mark.parametrize(
    "harm",
    [
        lambda state: state.attempts.clear(),
        lambda state: state.waiting.update({2: None}),
        lambda state: setattr(state, "bytes_pending", 0),
        lambda state: setattr(state, "next_sequence", 1),
        lambda state: setattr(state, "next_id", 1),
        lambda state: setattr(state, "wake_at", 0.0),
        lambda state: setattr(state, "wake_at", 1e9),
        lambda state: setattr(state, "active", 9),
        lambda state: state.workers.clear(),
        lambda state: setattr(state, "session", state.session._replace(phase=SessionPhase.INITIALIZING)),
        lambda state: setattr(state, "session", state.session._replace(initialized=None)),
        lambda state: state.pending.update({2: state.pending[2]._replace(replays=99)}),
        lambda state: state.pending.update({2: state.pending[2]._replace(knowledge=Knowledge.OUTCOME_UNKNOWN)}),
        lambda state: state.tombstones.update({1: Tombstone(77, 1)}),
    ],
)
def test_tables_that_do_not_agree_are_noticed(harm: Change) -> None:
    state = completed().after.copy()
    assert broken_invariants(state) == []
    harm(state)

    assert broken_invariants(state) != []


def test_a_notification_excuses_the_silence_about_nothing_but_what_it_cancels() -> None:
    world = World.live()
    world.calls(1, "write")
    world.calls(2, "write")
    world.cancels(1)
    moment = world.history[-1]
    after = moment.after.copy()
    del after.pending[2]
    world.stops(2)
    stopped = world.history[-1]._replace(commands=[])

    assert broken(moment, 2) == []
    assert broken(moment._replace(after=after), 2) == ["request 2 ended with 0 answers"]
    assert broken(stopped, 2) == ["request 2 ended with 0 answers"]


@pytest.mark.parametrize("message", [note("notifications/message"), request("q", "roots/list")])
def test_a_spare_that_the_client_hears_breaks_the_seventh_law(message: dict[str, Any]) -> None:
    world = World.live(spare=True)
    world.make_ready(2)
    world.worker_says(message, 2)
    moment = world.history[-1]
    heard: Any = [ToClient(encode({**message, "id": 5} if "id" in message else message))]

    assert broken(moment, 7) == []
    assert broken(moment._replace(commands=heard), 7) == ["the client heard what was said in private"]


def test_workers_that_finish_calls_are_bounded_too() -> None:
    moment = completed()
    after = moment.after.copy()
    after.workers.update({n: Worker(n, Role.RETIRED, WorkerPhase.READY) for n in range(10, 20)})

    assert broken(moment._replace(after=after), 5) == ["there are 10 workers that finish calls"]


def test_a_loss_of_state_that_no_client_hears_of_breaks_the_eighth_law() -> None:
    world = World.live()
    world.calls(1, "write")
    world.worker_answers(1, {})
    world.lose_worker()
    moment = world.history[-1]
    after = moment.after.copy()
    after.lost = None

    assert broken(moment, 8) == []
    assert broken(moment._replace(after=after), 8) == ["state was lost, and a client is not owed a word about it"]


def test_an_answer_that_is_changed_although_no_state_was_lost_breaks_the_eighth_law() -> None:
    moment = completed()
    changed: list[Command] = [ToClient(encode(answer(1, {"more": 1})), 1)]

    assert broken(moment, 8) == []
    assert broken(moment._replace(commands=changed), 8) == ["the answer to write was changed on its way"]
