"""What one caller may have, with a clock of our own."""

from contextlib import ExitStack

import pytest

from holdfast.api.allowance import MOST_CALLERS, MOST_LISTENING, Allowances
from holdfast.api.callers import Caller, Token, digest_of_token, matching_token
from holdfast.api.envelope import HttpError
from holdfast.api.options import FrontOptions
from holdfast.worker.listening import MAX_STREAMS

ANN, BEN = Caller("ann"), Caller("ben")


class Clock:
    """Time as the test wants it."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


def limits(**more: object) -> tuple[Allowances, Clock]:
    clock = Clock()
    return Allowances(FrontOptions("1", **more), clock), clock  # type: ignore[arg-type]


def test_a_bucket_fills_up_again_and_is_that_of_one_caller() -> None:
    allowances, clock = limits(client_rate=2)
    for _ in range(4):
        allowances.count(ANN)
    with pytest.raises(HttpError) as refused:
        allowances.count(ANN)
    allowances.count(BEN)
    clock.now += 0.5
    allowances.count(ANN)

    assert (refused.value.status, refused.value.problem.code) == (429, "RATE_LIMITED")
    assert dict(refused.value.headers)[b"retry-after"] == b"1"


def test_places_are_given_back_whatever_happens() -> None:
    allowances, _ = limits(client_concurrency=1, client_streams=1)
    for place in (allowances.request, allowances.stream):
        with pytest.raises(ZeroDivisionError), place(ANN), place(BEN):
            raise ZeroDivisionError
        with place(ANN), pytest.raises(HttpError), place(ANN):
            raise AssertionError("there is no second place")
        with place(ANN):
            pass


def test_only_so_many_callers_are_remembered_and_never_one_with_something_open() -> None:
    allowances, _ = limits(client_concurrency=1)
    with allowances.request(ANN):
        for number in range(MOST_CALLERS + 5):
            allowances.has_room_for_session(Caller(str(number)))
        with pytest.raises(HttpError), allowances.request(ANN):
            raise AssertionError("it was forgotten")
    assert len(allowances._known) <= MOST_CALLERS + 1


def test_a_caller_may_call_what_the_patterns_of_its_token_name() -> None:
    narrow = Caller("n", ("search", "index_*"))
    assert [narrow.may_call(tool) for tool in ("search", "index_status", "Search", "build_index")] == [
        True,
        True,
        False,
        False,
    ]
    assert Caller("all").may_call("anything")
    assert not Caller("none", ()).may_call("anything")


def test_a_token_is_found_by_its_digest() -> None:
    tokens = [Token("a", digest_of_token("one")), Token("b", digest_of_token("two"))]
    assert matching_token(tokens, "two") == tokens[1]
    assert matching_token(tokens, "") is None
    assert matching_token([], "one") is None


TOKENS = tuple(Token(name, digest_of_token(name)) for name in ("ann", "ben"))


def test_one_of_several_tokens_cannot_take_every_place() -> None:
    allowances, _ = limits(concurrency=8, tokens=TOKENS)
    with ExitStack() as taken:
        for _ in range(4):
            taken.enter_context(allowances.request(ANN))
        with pytest.raises(HttpError) as refused:
            taken.enter_context(allowances.request(ANN))
        taken.enter_context(allowances.request(BEN))
    assert refused.value.status == 429


@pytest.mark.parametrize("tokens", [(), TOKENS[:1]])
def test_callers_that_cannot_be_told_apart_share_every_place(tokens: tuple[Token, ...]) -> None:
    allowances, _ = limits(concurrency=8, tokens=tokens)
    with ExitStack() as taken:
        for _ in range(8):
            taken.enter_context(allowances.request(ANN))


def test_one_of_several_tokens_cannot_take_every_stream_and_some_are_kept_for_sessions() -> None:
    allowances, _ = limits(tokens=TOKENS)
    with ExitStack() as taken:
        for _ in range(MOST_LISTENING // 2):
            taken.enter_context(allowances.listen(ANN))
        with pytest.raises(HttpError) as own:
            taken.enter_context(allowances.listen(ANN))
        for _ in range(MOST_LISTENING // 2):
            taken.enter_context(allowances.listen(BEN))
        with pytest.raises(HttpError) as full:
            taken.enter_context(allowances.listen(Caller("eve")))
    with allowances.listen(ANN):
        pass
    assert (own.value.status, full.value.status) == (429, 503)
    assert dict(full.value.headers)[b"retry-after"] == b"1"
    assert MOST_LISTENING < MAX_STREAMS
