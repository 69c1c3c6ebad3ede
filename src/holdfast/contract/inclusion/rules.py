"""The rules for changes of schemas, as data: what each means and how far a version must move for it.

The effect of a change is proven each time, not looked up here; `effect` is the usual one. A rule with no bumps of
its own follows the proven effect alone. Where a rule is milder or harsher than the effect, that is the decision of
the contract: a removed property breaks its callers even where the set of accepted values only grew.
"""

from dataclasses import dataclass

from holdfast.contract.inclusion.bump import Bump, floors_of
from holdfast.contract.inclusion.model import Effect, SchemaChange

__all__ = ["RULES", "Rule", "acknowledgements_of", "bumps_of", "strict_bumps_of"]


@dataclass(frozen=True)
class Rule:
    """One rule. `effect` None: as proven. `bump_in` and `bump_out` None: as the proven effect demands.

    `acknowledge_in` and `acknowledge_out`: somebody must also say that the change is meant. `strict_in` and
    `strict_out` are the bumps of a strict policy, where they differ.
    """

    meaning: str
    effect: Effect | None = None
    bump_in: Bump | None = None
    bump_out: Bump | None = None
    acknowledge_in: bool = False
    acknowledge_out: bool = False
    strict_in: Bump | None = None
    strict_out: Bump | None = None

    @property
    def acknowledge(self) -> bool:
        """Whether the change needs a word on either side."""
        return self.acknowledge_in or self.acknowledge_out


_E, _W, _N, _I, _U = Effect.EQUAL, Effect.WIDENS, Effect.NARROWS, Effect.INCOMPARABLE, Effect.UNKNOWN
_P, _MINOR, _MAJOR = Bump.PATCH, Bump.MINOR, Bump.MAJOR


def _set(effect: Effect, meaning: str) -> Rule:
    """A rule whose bumps are those of its effect."""
    return Rule(meaning, effect, *floors_of(effect))


def _pair(name: str, narrows: str, widens: str, what: str) -> dict[str, Rule]:
    """Two rules for the two directions of one keyword."""
    words = {"added": "was added", "removed": "was removed"}
    return {
        f"{name}{narrows}": _set(_N, f"{what} {words.get(narrows, f'was {narrows}')}"),
        f"{name}{widens}": _set(_W, f"{what} {words.get(widens, f'was {widens}')}"),
    }


def _proven(meaning: str) -> Rule:
    return Rule(meaning)


_OBJECT: dict[str, Rule] = {
    "object.required_property_added": _set(_N, "a property was added that must be given"),
    "object.required_property_with_default_added": _set(
        _N, "a property was added that must be given; nobody fills in its default before the check"
    ),
    "object.optional_property_added_to_closed": _set(
        _W, "an optional property was added to an object that allowed no others"
    ),
    "object.optional_property_added_typed": Rule(
        "an optional property with a schema was added to an open object, where any value was allowed before",
        _N, _MINOR, _MINOR, acknowledge_in=True, strict_in=_MAJOR,
    ),
    "object.optional_property_added_free": Rule(
        "an optional property of any value was added to an open object", _E, _MINOR, _MINOR
    ),
    "object.property_removed_from_closed": Rule(
        "a property was removed from an object that allows no others", _N, _MAJOR, _MAJOR, acknowledge_out=True
    ),
    "object.property_removed_from_open": Rule(
        "an optional property was removed from an open object: what callers send is silently ignored",
        _W, _MAJOR, _MINOR, acknowledge_out=True, strict_out=_MAJOR,
    ),
    "object.required_property_removed_from_open": Rule(
        "a required property was removed from an open object", _W, _MAJOR, _MAJOR
    ),
    "object.property_renamed": _set(_I, "a property has a new name"),
    "object.property_became_required": _set(_N, "an optional property must now be given"),
    "object.property_became_optional": _set(_W, "a required property may now be left out"),
    "object.closed": _set(_N, "other properties are no longer allowed"),
    "object.opened": _set(_W, "other properties are now allowed"),
    "object.additional_properties_narrowed": _set(_N, "other properties are now of a narrower schema"),
    "object.additional_properties_widened": _set(_W, "other properties are now of a wider schema"),
    "object.additional_properties_changed": _proven("other properties are of a different schema"),
    "object.pattern_property_added": _proven("properties that match a pattern have a schema now"),
    "object.pattern_property_removed": _proven("properties that match a pattern have no own schema any more"),
    "object.pattern_property_changed": _proven("properties that match a pattern have a different schema"),
    **_pair("object.property_names_", "added", "removed", "a schema for the names of properties"),
    **_pair("object.property_names_", "narrowed", "widened", "the schema for the names of properties"),
    "object.property_names_changed": _proven("the schema for the names of properties is a different one"),
    **_pair("object.min_properties_", "tightened", "relaxed", "the least number of properties"),
    **_pair("object.max_properties_", "tightened", "relaxed", "the largest number of properties"),
    **_pair("object.dependent_required_", "added", "removed", "a property that another one requires"),
    **_pair("object.dependent_schemas_", "added", "removed", "a schema that applies when a property is given"),
    "object.dependent_schemas_changed": _proven("the schema that applies when a property is given changed"),
    **_pair("object.unevaluated_properties_", "added", "removed", "a schema for properties that are not covered"),
    "object.unevaluated_properties_changed": _proven("the schema for properties that nothing else covers changed"),
    "object.reserved_name_reused": Rule(
        "the name of a removed property is used for something else", _I, _MAJOR, _MAJOR
    ),
}  # fmt: skip

_SCALAR: dict[str, Rule] = {
    "type.replaced": _set(_I, "values of a different type are expected"),
    "type.widened": _set(_W, "more types are accepted: a list grew, null was added, integer became number"),
    "type.narrowed": _set(_N, "fewer types are accepted: a list shrank, null was removed, number became integer"),
    "type.root_not_object": Rule("the schema of an input is not one of objects", None, _MAJOR, Bump.NONE),
    "enum.value_added": _set(_W, "a value was added to a list of values"),
    "enum.value_added_extensible": Rule(
        "a value was added to a list that was declared extensible", _W, _MINOR, _MINOR, acknowledge_out=True
    ),
    "enum.value_removed": _set(_N, "a value was removed from a list of values"),
    "enum.values_replaced": _set(_I, "values of a list were exchanged for others"),
    "enum.added": _set(_N, "a free value became one of a list"),
    "enum.dropped": _set(_W, "one of a list became a free value"),
    **_pair("number.minimum_", "tightened", "relaxed", "the smallest number"),
    **_pair("number.maximum_", "tightened", "relaxed", "the largest number"),
    **_pair("number.exclusive_minimum_", "tightened", "relaxed", "the bound that numbers must be above"),
    **_pair("number.exclusive_maximum_", "tightened", "relaxed", "the bound that numbers must be below"),
    "number.bound_became_exclusive": _set(_N, "a bound no longer counts itself"),
    "number.bound_became_inclusive": _set(_W, "a bound now counts itself"),
    **_pair("number.multiple_of_", "added", "removed", "a factor that numbers must be multiples of"),
    "number.multiple_of_relaxed": _set(_W, "the new factor divides the old one"),
    "number.multiple_of_tightened": _set(_N, "the old factor divides the new one"),
    "number.multiple_of_replaced": _set(_I, "neither factor divides the other"),
    **_pair("string.min_length_", "tightened", "relaxed", "the least length of a text"),
    **_pair("string.max_length_", "tightened", "relaxed", "the largest length of a text"),
    **_pair("string.pattern_", "added", "removed", "a pattern"),
    "string.pattern_changed": _proven("a pattern is a different one; compared as automata where that is possible"),
    "string.format_added": Rule("a format was added; validators may check it", _N, _MAJOR, _MINOR),
    "string.format_removed": Rule("a format was removed; validators may have checked it", _W, _MINOR, _MAJOR),
    "string.format_changed": Rule("a format was exchanged; validators may check it", _I, _MAJOR, _MAJOR),
    "string.content_changed": Rule(
        "the encoding, media type or schema of what a text contains changed",
        _E, _MINOR, _MAJOR, acknowledge_in=True,
    ),
}  # fmt: skip

_ARRAY: dict[str, Rule] = {
    "array.items_narrowed": _set(_N, "items are now of a narrower schema"),
    "array.items_widened": _set(_W, "items are now of a wider schema"),
    "array.items_changed": _proven("items are of a different schema"),
    "array.prefix_items_inserted": Rule("a place was added to a tuple", _I, _MAJOR, _MAJOR),
    "array.prefix_items_removed": Rule("a place was removed from a tuple", _I, _MAJOR, _MAJOR),
    "array.prefix_items_reordered": Rule("the places of a tuple changed their order", _I, _MAJOR, _MAJOR),
    "array.tuple_closed": _set(_N, "a tuple allows no more items after its last place"),
    "array.tuple_opened": _set(_W, "a tuple allows items after its last place"),
    **_pair("array.min_items_", "tightened", "relaxed", "the least number of items"),
    **_pair("array.max_items_", "tightened", "relaxed", "the largest number of items"),
    **_pair("array.unique_items_", "added", "removed", "the demand that items differ"),
    **_pair("array.contains_", "added", "removed", "a schema that some item must be of"),
    "array.contains_changed": _proven("the schema that some item must be of is a different one"),
    **_pair("array.min_contains_", "raised", "lowered", "the least number of such items"),
    **_pair("array.max_contains_", "lowered", "raised", "the largest number of such items"),
    **_pair("array.unevaluated_items_", "added", "removed", "a schema for items that nothing else covers"),
    "array.unevaluated_items_changed": _proven("the schema for items that nothing else covers changed"),
}

_COMBINED: dict[str, Rule] = {
    **_pair("any_of.", "added", "removed", "a list of alternatives"),
    "any_of.branch_added": _set(_W, "an alternative was added"),
    "any_of.branch_removed": _set(_N, "an alternative was removed"),
    **_pair("one_of.", "added", "removed", "a list of alternatives that exclude each other"),
    "one_of.branch_added_disjoint": _set(_W, "an alternative was added that overlaps no other"),
    "one_of.branch_added_overlapping": _set(_I, "an alternative was added that overlaps another: both now fail"),
    "one_of.branch_removed": _set(_N, "an alternative was removed"),
    "one_of.branch_removed_overlapping": _set(_I, "an alternative was removed that overlapped another"),
    **_pair("all_of.conjunct_", "added", "removed", "a schema that must hold as well"),
    **_pair("not.", "added", "removed", "a schema that must not hold"),
    "not.inner_grown": _set(_N, "the schema that must not hold accepts more"),
    "not.inner_shrunk": _set(_W, "the schema that must not hold accepts less"),
    "not.changed": _proven("the schema that must not hold is a different one"),
    "condition.narrowed": _set(_N, "a condition applies to more values, or its consequence accepts less"),
    "condition.widened": _set(_W, "a condition applies to fewer values, or its consequence accepts more"),
    "condition.changed": _proven("a condition or its consequence is a different one"),
    "discriminator.tag_changed": _set(_I, "the value that tells alternatives apart changed"),
    "boolean_schema.became_true": _set(_W, "nothing was accepted, now everything is"),
    "boolean_schema.became_false": _set(_N, "everything was accepted, now nothing is"),
    "ref.moved": Rule("the same schema is referred to in another way", _E, _P, _P),
    "ref.unresolved": Rule(
        "a reference leads outside the document, or depends on who refers to it",
        _U, _MAJOR, _MAJOR, acknowledge_in=True, acknowledge_out=True,
    ),
    "recursion.changed": _proven("a recursive schema repeats in another way"),
    "dialect.changed": _proven("the schema is written in another dialect"),
    "schema.widened": _set(_W, "more values are accepted, for a reason that no single keyword shows"),
    "schema.narrowed": _set(_N, "fewer values are accepted, for a reason that no single keyword shows"),
    "schema.replaced": _set(_I, "other values are accepted, for a reason that no single keyword shows"),
    "schema.undecided": Rule(
        "whether values were lost or gained could not be decided",
        _U, _MAJOR, _MAJOR, acknowledge_in=True, acknowledge_out=True,
    ),
}  # fmt: skip

_ANNOTATION: dict[str, Rule] = {
    **{
        f"annotation.default_{how}": Rule(
            f"a default was {how}: the same call may do something else",
            _E, _MAJOR, _P, acknowledge_in=True,
        )
        for how in ("added", "changed", "removed")
    },
    "annotation.deprecated_set": Rule("a part is deprecated now", _E, _MINOR, _MINOR),
    "annotation.deprecated_unset": Rule("a part is no longer deprecated", _E, _P, _P),
    "annotation.read_only_set": Rule("a property leaves the input: it is only read now", _E, _MAJOR, _P),
    "annotation.read_only_unset": Rule("a property joins the input: it may be written now", _E, _MINOR, _P),
    "annotation.read_only_unset_required": Rule(
        "a property that must be there joins the input: callers that leave it out are refused", _E, _MAJOR, _P
    ),
    "annotation.write_only_set": Rule("a property leaves the output: it is only written now", _E, _P, _MAJOR),
    "annotation.write_only_unset": Rule("a property joins the output: it may be read now", _E, _P, _MINOR),
    "annotation.title_changed": Rule("a title changed", _E, _P, _P),
    "annotation.description_changed": Rule(
        "a description has other words, so its subject may mean something else",
        _E, _MINOR, _P, acknowledge_in=True, strict_in=_MAJOR,
    ),
    "annotation.description_clarified": Rule("a description kept its words and gained some", _E, _P, _P),
    "annotation.examples_changed": Rule("examples changed", _E, _P, _P),
    "annotation.comment_changed": Rule("a comment changed", _E, _P, _P),
    "annotation.extension_changed": Rule("a word that no standard defines changed", _E, _P, _P),
}  # fmt: skip

RULES: dict[str, Rule] = {**_OBJECT, **_SCALAR, **_ARRAY, **_COMBINED, **_ANNOTATION}


def bumps_of(change: SchemaChange) -> tuple[Bump, Bump]:
    """The floors for a change: in the schema of an input, and in the schema of an output."""
    rule = RULES[change.rule]
    proven = floors_of(change.effect)
    if rule.bump_in is None or rule.bump_out is None:
        return proven
    own = (rule.bump_in, rule.bump_out)
    if change.effect in (rule.effect, Effect.EQUAL):
        return own
    return max(own[0], proven[0]), max(own[1], proven[1])


def strict_bumps_of(change: SchemaChange) -> tuple[Bump, Bump]:
    """The floors under a strict policy, where a change of behaviour counts as breaking."""
    rule = RULES[change.rule]
    bump_in, bump_out = bumps_of(change)
    return max(bump_in, rule.strict_in or bump_in), max(bump_out, rule.strict_out or bump_out)


def acknowledgements_of(change: SchemaChange) -> tuple[bool, bool]:
    """Whether somebody must say that a change is meant: in an input, and in an output."""
    rule = RULES[change.rule]
    unknown = change.effect is Effect.UNKNOWN
    return rule.acknowledge_in or unknown, rule.acknowledge_out or unknown
