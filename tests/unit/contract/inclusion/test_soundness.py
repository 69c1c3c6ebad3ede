"""What is claimed about random pairs of schemas is attacked with random values, and stands."""

from collections import Counter

import pytest
from tests.unit.contract.inclusion.random_schemas import attack, refutation

from holdfast.contract.inclusion import Comparison, Effect

SLICES = 5
PAIRS_PER_SLICE = 150


@pytest.mark.parametrize("part", range(SLICES))
def test_no_claim_about_a_random_pair_is_refuted(part: int) -> None:
    verdicts: Counter[Effect] = Counter()
    for seed in range(part * PAIRS_PER_SLICE, (part + 1) * PAIRS_PER_SLICE):
        old, new, verdict, found = attack(seed, 24)
        verdicts[verdict.effect] += 1
        assert found is None, (seed, old, new, verdict.effect, found)

    assert verdicts[Effect.UNKNOWN] <= PAIRS_PER_SLICE // 10  # some of the pairs cannot be decided by anybody
    assert len(verdicts) >= 4


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ({"type": "string", "maxLength": 3}, {"type": "string", "maxLength": 2}),
        ({"enum": [1, 2]}, {"enum": [1]}),
        ({"properties": {"a": {"type": "integer"}}}, {"properties": {"a": {"type": "string"}}}),
        ({"items": {"minimum": 1}}, {"items": {"minimum": 2}}),
    ],
)
def test_the_attack_finds_a_lie(old: object, new: object) -> None:
    lie = Comparison(Effect.EQUAL)

    assert refutation(old, new, lie, seed=1, count=60) is not None
