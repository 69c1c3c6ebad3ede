"""The life of one call: every history ends in exactly one answer, and the first reason to stop is the one told."""

from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from holdfast.vocabulary.call import ACCEPTED, Call, Command, Phase, Stop

ANSWERS = {Command.ANSWER_OUTCOME, Command.ANSWER_STOP}
STOPS = st.sampled_from(list(Stop))


class LifeOfACall(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.call: Call = ACCEPTED
        self.commands: list[Command] = []
        self.first_stop: Stop | None = None

    def take(self, step: tuple[Call, Command]) -> None:
        self.call, command = step
        self.commands.append(command)

    @precondition(lambda self: self.call.phase in {Phase.ACCEPTED, Phase.ENDED})
    @rule()
    def dispatch(self) -> None:
        self.take(self.call.dispatch())

    @precondition(lambda self: self.call.phase is not Phase.ACCEPTED)
    @rule()
    def finish(self) -> None:
        self.take(self.call.finish())

    @rule(why=STOPS)
    def stop(self, why: Stop) -> None:
        if self.first_stop is None and self.call.phase is not Phase.ENDED:
            self.first_stop = why
        self.take(self.call.request_stop(why))

    @rule()
    def give_up(self) -> None:
        self.take(self.call.give_up())

    @invariant()
    def there_is_at_most_one_answer(self) -> None:
        answers = [command for command in self.commands if command in ANSWERS]
        assert len(answers) == (1 if self.call.phase is Phase.ENDED else 0)

    @invariant()
    def the_work_begins_at_most_once(self) -> None:
        assert self.commands.count(Command.RUN) <= 1

    @invariant()
    def a_stopped_call_never_answers_with_its_outcome(self) -> None:
        if self.first_stop is not None:
            assert self.call.stop is self.first_stop
            assert Command.ANSWER_OUTCOME not in self.commands


TestLifeOfACall = LifeOfACall.TestCase


@given(STOPS)
def test_a_call_that_is_stopped_while_it_waits_never_runs(why: Stop) -> None:
    ended, command = ACCEPTED.request_stop(why)

    assert command is Command.ANSWER_STOP
    assert ended.dispatch().command is Command.DROP_LATE


@given(STOPS)
def test_a_result_that_comes_after_the_stop_does_not_replace_it(why: Stop) -> None:
    stopping = ACCEPTED.dispatch().call.request_stop(why).call

    ended, command = stopping.finish()

    assert command is Command.ANSWER_STOP
    assert ended.stop is why


def test_only_a_notification_and_a_lost_client_are_left_without_an_answer() -> None:
    silent = {why for why in Stop if not why.answered}

    assert silent == {Stop.CANCELLED_NOTIFICATION, Stop.DISCONNECT}
