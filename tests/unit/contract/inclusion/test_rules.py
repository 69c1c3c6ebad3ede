"""Every rule has an instance that is found, with its proven effect, its bumps and a confirmed witness."""

from typing import Any

import jsonschema_rs
from tests.rows import each_row
from tests.unit.contract.inclusion.rule_instances import INSTANCES

from holdfast.contract.inclusion import (
    RULES,
    Bump,
    Effect,
    SchemaChange,
    acknowledgements_of,
    bumps_of,
    compare_schemas,
    floors_of,
    strict_bumps_of,
)

# Emitted by whoever knows the whole tool, or when no keyword explains a verdict.
ELSEWHERE = {
    "object.reserved_name_reused",
    "type.root_not_object",
    "array.items_changed",
    "object.additional_properties_changed",
    "object.property_names_changed",
    "schema.narrowed",
    "schema.replaced",
    "schema.undecided",
}


@each_row(("rule", "old", "new", "effect", "bump_in", "bump_out"), INSTANCES)
def test_each_change_is_named_proven_and_priced(
    rule: str, old: Any, new: Any, effect: str, bump_in: str, bump_out: str
) -> None:
    found = [change for change in compare_schemas(old, new).changes if change.rule == rule]

    assert found, [change.rule for change in compare_schemas(old, new).changes]
    assert found[0].effect.value == effect
    assert [bump.value for bump in bumps_of(found[0])] == [bump_in, bump_out]


SHOWN = [
    (rule, old, new)
    for rule, old, new, effect, _, _ in INSTANCES
    if effect not in ("equal", "unknown") and rule != "ref.unresolved"
]


@each_row(("rule", "old", "new"), SHOWN)
def test_each_witness_is_accepted_by_exactly_one_schema(rule: str, old: Any, new: Any) -> None:
    change = next(change for change in compare_schemas(old, new).changes if change.rule == rule)

    assert change.witness is not None
    by_old = jsonschema_rs.validator_for(old, validate_formats=False).is_valid(change.witness.value)
    by_new = jsonschema_rs.validator_for(new, validate_formats=False).is_valid(change.witness.value)
    assert (by_old, by_new) == (change.witness.accepted_by == "old", change.witness.accepted_by == "new")


# A property that was free before and is typed now: milder by decision than what is proven.
MILDER = {"object.optional_property_added_typed"}


@each_row(("old", "new"), [(old, new) for rule, old, new, *_ in INSTANCES if rule not in MILDER])
def test_the_changes_demand_at_least_what_the_verdict_demands(old: Any, new: Any) -> None:
    verdict = compare_schemas(old, new)
    demanded = {Effect.NARROWS: (Bump.MAJOR, Bump.NONE), Effect.WIDENS: (Bump.NONE, Bump.MINOR)}
    least = demanded.get(verdict.effect, floors_of(verdict.effect))

    assert max(bumps_of(change)[0] for change in verdict.changes) >= least[0]
    assert max(bumps_of(change)[1] for change in verdict.changes) >= least[1]


def test_every_rule_has_an_instance() -> None:
    assert set(RULES) - {rule for rule, *_ in INSTANCES} == ELSEWHERE
    assert {rule for rule, *_ in INSTANCES} <= set(RULES)
    assert len(INSTANCES) > 100


def test_every_rule_says_what_it_means_under_a_stable_name() -> None:
    for name, rule in RULES.items():
        area, _, what = name.partition(".")
        assert area
        assert what
        assert name == name.lower().replace(" ", "_")
        assert len(rule.meaning) > 10


def test_a_change_of_behaviour_wants_a_word_and_a_strict_policy_more() -> None:
    change = SchemaChange("annotation.default_changed", "", Effect.EQUAL, "")

    assert acknowledgements_of(change) == (True, False)
    assert strict_bumps_of(change) == (Bump.MAJOR, Bump.PATCH)
    assert RULES[change.rule].acknowledge


def test_an_unknown_effect_is_breaking_and_wants_a_word_whatever_the_rule() -> None:
    change = SchemaChange("object.optional_property_added_typed", "", Effect.UNKNOWN, "")

    assert bumps_of(change) == (Bump.MAJOR, Bump.MAJOR)
    assert acknowledgements_of(change) == (True, True)


def test_bumps_are_ordered() -> None:
    assert Bump.NONE < Bump.PATCH < Bump.MINOR < Bump.MAJOR
    assert max(Bump.PATCH, Bump.MAJOR, Bump.NONE) is Bump.MAJOR
    assert Bump.MINOR >= Bump.PATCH
    assert Bump.PATCH <= Bump.MINOR
