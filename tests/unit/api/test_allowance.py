"""What one caller may have, with a clock of our own."""

import pytest

from holdfast.api.allowance import MOST_CALLERS, Allowances
from holdfast.api.callers import Caller, Token, digest_of_token, matching_token
from holdfast.api.envelope import HttpError
from holdfast.api.options import FrontOptions

ANN, BEN = Caller("ann"), Caller("ben")


class Clock:
    """Time as the test wants it."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


def limits(**more: float) -> tuple[Allowances, Clock]:
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
