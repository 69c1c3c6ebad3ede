"""Laws for all schemas: each equals itself, a swap turns the verdict round, and inclusion forms chains."""

import subprocess
import sys
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.unit.contract.inclusion.random_schemas import document, mutated, pair, rewritten, validators

from holdfast.contract.inclusion import Comparison, Effect, bumps_of, compare_schemas

ROOT = Path(__file__).parents[4]
SEEDS = st.integers(0, 10**9)
TURNED = {Effect.WIDENS: Effect.NARROWS, Effect.NARROWS: Effect.WIDENS}
INCLUDES = (Effect.EQUAL, Effect.WIDENS)


@settings(max_examples=60, deadline=None)
@given(SEEDS)
def test_a_schema_equals_itself_also_when_it_is_not_the_same_text(seed: int) -> None:
    schema = document(Random(seed))
    relabelled = {**schema, "title": "t"} if isinstance(schema, dict) else schema

    assert compare_schemas(schema, schema).effect is Effect.EQUAL
    assert compare_schemas(schema, relabelled).effect is Effect.EQUAL


@example(8798)  # a witness that only chance finds
@settings(max_examples=60, deadline=None)
@given(SEEDS)
def test_a_swap_turns_the_verdict_and_the_witnesses_round(seed: int) -> None:
    old, new = pair(Random(seed))
    there, back = compare_schemas(old, new), compare_schemas(new, old)

    assert back.effect is TURNED.get(there.effect, there.effect)
    if there.effect is not Effect.UNKNOWN:
        assert (there.witness_lost is None) is (back.witness_gained is None)


@settings(max_examples=50, deadline=None)
@given(SEEDS)
def test_inclusion_is_never_contradicted_along_a_chain(seed: int) -> None:
    random = Random(seed)
    first = document(random)
    second = mutated(random, first)
    third = mutated(random, second)
    steps = compare_schemas(first, second).effect, compare_schemas(second, third).effect

    if all(step in INCLUDES for step in steps):
        assert compare_schemas(first, third).effect in (*INCLUDES, Effect.UNKNOWN)


@settings(max_examples=60, deadline=None)
@given(SEEDS)
def test_a_rewriting_is_never_called_a_change(seed: int) -> None:
    random = Random(seed)
    schema = document(random)

    assert compare_schemas(schema, rewritten(random, schema)).effect in (Effect.EQUAL, Effect.UNKNOWN)


def confirmed(old: Any, new: Any, verdict: Comparison) -> None:
    """Every witness in a comparison is accepted by exactly the side that it names."""
    shown = [verdict.witness_lost, verdict.witness_gained, *(change.witness for change in verdict.changes)]
    witnesses = [witness for witness in shown if witness is not None]
    both = validators(old, new) if witnesses else []
    for witness in witnesses:
        verdicts = tuple(validator.is_valid(witness.value) for validator in both)
        assert verdicts == (witness.accepted_by == "old", witness.accepted_by == "new")


@settings(max_examples=80, deadline=None)
@given(SEEDS)
def test_every_witness_is_what_it_claims_and_every_verdict_has_its_changes(seed: int) -> None:
    old, new = pair(Random(seed))
    verdict = compare_schemas(old, new)

    confirmed(old, new, verdict)
    assert verdict.effect is Effect.EQUAL or verdict.changes
    for change in verdict.changes:
        assert all(bumps_of(change))


@pytest.mark.parametrize("seed", range(5))
def test_the_same_question_has_the_same_answer(seed: int) -> None:
    old, new = pair(Random(seed))

    assert compare_schemas(old, new) == compare_schemas(old, new)


def test_another_process_gives_the_same_answers() -> None:
    program = (
        "from random import Random; from holdfast.contract.inclusion import compare_schemas; "
        "from tests.unit.contract.inclusion.random_schemas import pair; "
        "print([compare_schemas(*pair(Random(seed))) for seed in range(60)])"
    )
    answers = [
        subprocess.run(
            [sys.executable, "-c", program],
            cwd=ROOT,
            env={"PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    ]

    assert answers[0] == answers[1]
    assert len(answers[0]) > 1_000
