"""One order for several lists: fair, stable, and never against the order at home."""

from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.search.federation.fusing import COMPARED, RRF_K, fused

LISTS = st.lists(st.lists(st.sampled_from([0.0, 1.0, 2.5, 7.0, 9.0, 30.0]), max_size=12), min_size=1, max_size=6)


def order(scores: list[list[float]], top: int = 100, priorities: list[int] | None = None) -> list[tuple[int, int]]:
    return [(one.member, one.position) for one in fused(scores, priorities or [0] * len(scores), top)]


def test_the_score_is_the_sum_of_two_reciprocal_ranks() -> None:
    first, second, third = fused([[9.0, 4.0], [7.0]], [0, 0], 3)

    assert (first.member, first.at_home, first.among_all) == (0, 1, 1)
    assert first.score == 1 / (RRF_K + 1) + 1 / (RRF_K + 1)
    assert (second.member, second.at_home, second.among_all) == (1, 1, 2)
    assert third.score == 1 / (RRF_K + 2) + 1 / (RRF_K + 3)


def test_a_repository_in_which_nothing_fits_well_does_not_come_before_what_fits() -> None:
    weak = [[1.0, 0.9] for _ in range(19)]

    strong = [30.0 - place for place in range(12)]

    assert order([*weak, strong], top=5) == [(19, place) for place in range(5)]


def test_every_repository_is_heard_where_all_fit_alike() -> None:
    assert {member for member, _ in order([[9.0, 8.9, 8.8], [8.7, 8.6], [8.5]], top=5)} == {0, 1, 2}


def test_what_is_equal_is_settled_by_priority_then_by_the_order_of_the_lists() -> None:
    assert order([[5.0], [5.0], [5.0]]) == [(0, 0), (1, 0), (2, 0)]
    assert order([[5.0], [5.0], [5.0]], priorities=[0, 0, 7]) == [(2, 0), (0, 0), (1, 0)]


@settings(max_examples=100, deadline=None)
@given(scores=LISTS, top=st.integers(1, 30))
def test_a_longer_list_begins_with_the_shorter_one_and_homes_keep_their_order(
    scores: list[list[float]], top: int
) -> None:
    whole = order(scores)

    assert order(scores, top) == whole[:top]
    assert len(whole) == min(sum(map(len, scores)), 100)
    for member in range(len(scores)):
        own = [position for one, position in whole if one == member]
        assert own == sorted(own)


@settings(max_examples=100, deadline=None)
@given(scores=LISTS)
def test_the_place_among_all_counts_the_better_hits_of_every_other_repository(scores: list[list[float]]) -> None:
    falling = [[min(one[: at + 1]) for at in range(len(one))] for one in scores]
    for placed in fused(scores, [0] * len(scores), 100):
        own = falling[placed.member][placed.position]
        others = [one[:COMPARED] for member, one in enumerate(falling) if member != placed.member]
        assert placed.among_all == placed.at_home + sum(score > own for one in others for score in one)
