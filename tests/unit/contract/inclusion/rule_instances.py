"""One instance of each rule: an old and a new schema, the proven effect, and the bumps of input and output."""

from typing import Any

__all__ = ["INSTANCES", "Instance"]

Instance = tuple[str, Any, Any, str, str, str]

S: dict[str, Any] = {"type": "string"}
I: dict[str, Any] = {"type": "integer"}  # noqa: E741
N: dict[str, Any] = {"type": "number"}
NULL: dict[str, Any] = {"type": "null"}
SEVEN = "http://json-schema.org/draft-07/schema#"


def obj(required: tuple[str, ...] = (), rest: Any = None, **properties: Any) -> dict[str, Any]:
    """An object schema."""
    made: dict[str, Any] = {"type": "object", "properties": properties}
    if required:
        made["required"] = list(required)
    return made if rest is None else {**made, "additionalProperties": rest}


def arr(**keywords: Any) -> dict[str, Any]:
    """An array schema."""
    return {"type": "array", **keywords}


def txt(**keywords: Any) -> dict[str, Any]:
    """A string schema."""
    return {"type": "string", **keywords}


def num(**keywords: Any) -> dict[str, Any]:
    """A number schema."""
    return {"type": "number", **keywords}


def tree(**keywords: Any) -> dict[str, Any]:
    """A recursive schema."""
    return {"$ref": "#/$defs/t", "$defs": {"t": obj(next={"$ref": "#/$defs/t"}, **keywords)}}


CAT = obj(("kind",), kind={"const": "cat"}, lives=I)
DOG = obj(("kind",), kind={"const": "dog"}, tricks=arr(items=S))
WOLF = obj(("kind",), kind={"const": "wolf"}, tricks=arr(items=S))

OBJECTS: list[Instance] = [
    ("object.required_property_added", obj(a=S), obj(("b",), a=S, b=I), "narrows", "major", "minor"),
    (
        "object.required_property_with_default_added",
        obj(a=S), obj(("b",), a=S, b={**I, "default": 1}), "narrows", "major", "minor",
    ),
    (
        "object.optional_property_added_to_closed",
        obj(rest=False, a=S), obj(rest=False, a=S, b=I), "widens", "minor", "major",
    ),
    ("object.optional_property_added_typed", obj(a=S), obj(a=S, b=I), "narrows", "minor", "minor"),
    ("object.optional_property_added_free", obj(a=S), obj(a=S, b={}), "equal", "minor", "minor"),
    (
        "object.property_removed_from_closed",
        obj(rest=False, a=S, b=I), obj(rest=False, a=S), "narrows", "major", "major",
    ),
    ("object.property_removed_from_open", obj(a=S, b=I), obj(a=S), "widens", "major", "minor"),
    ("object.required_property_removed_from_open", obj(("b",), a=S, b=I), obj(a=S), "widens", "major", "major"),
    (
        "object.property_renamed",
        obj(("user_name",), user_name=S), obj(("username",), username=S), "incomparable", "major", "major",
    ),
    ("object.property_became_required", obj(a=S), obj(("a",), a=S), "narrows", "major", "minor"),
    ("object.property_became_optional", obj(("a",), a=S), obj(a=S), "widens", "minor", "major"),
    ("object.closed", obj(a=S), obj(rest=False, a=S), "narrows", "major", "minor"),
    ("object.opened", obj(rest=False, a=S), obj(a=S), "widens", "minor", "major"),
    ("object.additional_properties_narrowed", obj(a=S), obj(rest=S, a=S), "narrows", "major", "minor"),
    ("object.additional_properties_widened", obj(rest=S, a=S), obj(a=S), "widens", "minor", "major"),
    ("type.widened", obj(rest=I, a=S), obj(rest=N, a=S), "widens", "minor", "major"),
    (
        "object.pattern_property_added",
        {"type": "object"}, {"type": "object", "patternProperties": {"^x": S}}, "narrows", "major", "minor",
    ),
    (
        "object.pattern_property_added",
        {"type": "object", "additionalProperties": False},
        {"type": "object", "patternProperties": {"^x": S}, "additionalProperties": False},
        "widens", "minor", "major",
    ),
    (
        "object.pattern_property_removed",
        {"type": "object", "patternProperties": {"^x": S}}, {"type": "object"}, "widens", "minor", "major",
    ),
    (
        "object.pattern_property_changed",
        {"patternProperties": {"^x": S}}, {"patternProperties": {"^x": I}}, "incomparable", "major", "major",
    ),
    (
        "object.property_names_added",
        {"type": "object"}, {"type": "object", "propertyNames": {"maxLength": 3}}, "narrows", "major", "minor",
    ),
    ("object.property_names_removed", {"propertyNames": {"maxLength": 3}}, {}, "widens", "minor", "major"),
    (
        "object.property_names_narrowed",
        {"propertyNames": {"maxLength": 3}}, {"propertyNames": {"maxLength": 2}}, "narrows", "major", "minor",
    ),
    (
        "object.property_names_widened",
        {"propertyNames": {"maxLength": 3}}, {"propertyNames": {"maxLength": 4}}, "widens", "minor", "major",
    ),
    ("object.min_properties_tightened", {"minProperties": 1}, {"minProperties": 2}, "narrows", "major", "minor"),
    ("object.min_properties_relaxed", {"minProperties": 2}, {"minProperties": 1}, "widens", "minor", "major"),
    ("object.max_properties_tightened", {"maxProperties": 2}, {"maxProperties": 1}, "narrows", "major", "minor"),
    ("object.max_properties_relaxed", {"maxProperties": 1}, {}, "widens", "minor", "major"),
    ("object.dependent_required_added", {}, {"dependentRequired": {"a": ["b"]}}, "narrows", "major", "minor"),
    ("object.dependent_required_removed", {"dependentRequired": {"a": ["b"]}}, {}, "widens", "minor", "major"),
    (
        "object.dependent_schemas_added",
        {}, {"dependentSchemas": {"a": {"minProperties": 2}}}, "narrows", "major", "minor",
    ),
    (
        "object.dependent_schemas_removed",
        {"dependentSchemas": {"a": {"minProperties": 2}}}, {}, "widens", "minor", "major",
    ),
    (
        "object.dependent_schemas_changed",
        {"dependentSchemas": {"a": {"minProperties": 2}}}, {"dependentSchemas": {"a": {"minProperties": 3}}},
        "narrows", "major", "minor",
    ),
    (
        "object.unevaluated_properties_added",
        {"allOf": [obj(a=S)]}, {"allOf": [obj(a=S)], "unevaluatedProperties": False}, "narrows", "major", "minor",
    ),
    (
        "object.unevaluated_properties_removed",
        {"allOf": [obj(a=S)], "unevaluatedProperties": False}, {"allOf": [obj(a=S)]}, "widens", "minor", "major",
    ),
    (
        "object.unevaluated_properties_changed",
        {"allOf": [obj(a=S)], "unevaluatedProperties": N}, {"allOf": [obj(a=S)], "unevaluatedProperties": I},
        "narrows", "major", "minor",
    ),
]  # fmt: skip

SCALARS: list[Instance] = [
    ("type.replaced", S, I, "incomparable", "major", "major"),
    ("type.widened", I, N, "widens", "minor", "major"),
    ("type.widened", S, {"type": ["string", "null"]}, "widens", "minor", "major"),
    ("type.widened", S, {"anyOf": [S, NULL]}, "widens", "minor", "major"),
    ("type.narrowed", N, I, "narrows", "major", "minor"),
    ("type.narrowed", {"type": ["string", "null"]}, S, "narrows", "major", "minor"),
    ("enum.value_added", {"enum": ["a"]}, {"enum": ["a", "b"]}, "widens", "minor", "major"),
    (
        "enum.value_added_extensible",
        {"enum": ["a"], "x-extensible-enum": True}, {"enum": ["a", "b"], "x-extensible-enum": True},
        "widens", "minor", "minor",
    ),
    ("enum.value_removed", {"enum": ["a", "b"]}, {"enum": ["a"]}, "narrows", "major", "minor"),
    ("enum.values_replaced", {"enum": ["a", "b"]}, {"enum": ["a", "c"]}, "incomparable", "major", "major"),
    ("enum.added", S, txt(enum=["a"]), "narrows", "major", "minor"),
    ("enum.dropped", txt(const="a"), S, "widens", "minor", "major"),
    ("number.minimum_tightened", num(minimum=1), num(minimum=2), "narrows", "major", "minor"),
    ("number.minimum_relaxed", num(minimum=2), num(minimum=1), "widens", "minor", "major"),
    ("number.maximum_tightened", num(maximum=100), num(maximum=20), "narrows", "major", "minor"),
    ("number.maximum_relaxed", num(maximum=20), N, "widens", "minor", "major"),
    ("number.exclusive_minimum_tightened", N, num(exclusiveMinimum=0), "narrows", "major", "minor"),
    (
        "number.exclusive_minimum_relaxed",
        num(exclusiveMinimum=2), num(exclusiveMinimum=1), "widens", "minor", "major",
    ),
    (
        "number.exclusive_maximum_tightened",
        num(exclusiveMaximum=2), num(exclusiveMaximum=1), "narrows", "major", "minor",
    ),
    ("number.exclusive_maximum_relaxed", num(exclusiveMaximum=2), N, "widens", "minor", "major"),
    ("number.bound_became_exclusive", num(minimum=1), num(exclusiveMinimum=1), "narrows", "major", "minor"),
    ("number.bound_became_inclusive", num(exclusiveMaximum=1), num(maximum=1), "widens", "minor", "major"),
    ("number.multiple_of_added", N, num(multipleOf=2), "narrows", "major", "minor"),
    ("number.multiple_of_removed", num(multipleOf=2), N, "widens", "minor", "major"),
    ("number.multiple_of_relaxed", num(multipleOf=6), num(multipleOf=3), "widens", "minor", "major"),
    ("number.multiple_of_tightened", num(multipleOf=0.1), num(multipleOf=0.3), "narrows", "major", "minor"),
    ("number.multiple_of_replaced", num(multipleOf=4), num(multipleOf=6), "incomparable", "major", "major"),
    ("string.min_length_tightened", S, txt(minLength=1), "narrows", "major", "minor"),
    ("string.min_length_relaxed", txt(minLength=2), txt(minLength=1), "widens", "minor", "major"),
    ("string.max_length_tightened", txt(maxLength=5), txt(maxLength=4), "narrows", "major", "minor"),
    ("string.max_length_relaxed", txt(maxLength=5), S, "widens", "minor", "major"),
    ("string.pattern_added", S, txt(pattern="^a"), "narrows", "major", "minor"),
    ("string.pattern_removed", txt(pattern="^a"), S, "widens", "minor", "major"),
    ("string.pattern_changed", txt(pattern="^a+$"), txt(pattern="^a*$"), "widens", "minor", "major"),
    ("string.pattern_changed", txt(pattern="^a"), txt(pattern="^b"), "incomparable", "major", "major"),
    ("string.pattern_changed", txt(pattern="^(?=x)"), txt(pattern="^(?=y)"), "unknown", "major", "major"),
    ("string.format_added", S, txt(format="date"), "equal", "major", "minor"),
    ("string.format_removed", txt(format="date"), S, "equal", "minor", "major"),
    ("string.format_changed", txt(format="date"), txt(format="time"), "equal", "major", "major"),
    ("string.content_changed", S, txt(contentEncoding="base64"), "equal", "minor", "major"),
    (
        "string.content_changed",
        txt(contentMediaType="text/html"), txt(contentMediaType="text/plain"), "equal", "minor", "major",
    ),
    ("string.content_changed", txt(contentSchema={}), txt(contentSchema=I), "equal", "minor", "major"),
]  # fmt: skip

ARRAYS: list[Instance] = [
    ("array.items_narrowed", arr(), arr(items=S), "narrows", "major", "minor"),
    ("array.items_widened", arr(items=S), arr(), "widens", "minor", "major"),
    ("type.narrowed", arr(items=N), arr(items=I), "narrows", "major", "minor"),
    (
        "array.prefix_items_inserted",
        arr(prefixItems=[S]), arr(prefixItems=[I, S]), "incomparable", "major", "major",
    ),
    ("array.prefix_items_removed", arr(prefixItems=[S, I]), arr(prefixItems=[S]), "widens", "major", "major"),
    (
        "array.prefix_items_reordered",
        arr(prefixItems=[S, I]), arr(prefixItems=[I, S]), "incomparable", "major", "major",
    ),
    ("type.replaced", arr(prefixItems=[S, I]), arr(prefixItems=[S, S]), "incomparable", "major", "major"),
    ("array.tuple_closed", arr(prefixItems=[S]), arr(prefixItems=[S], items=False), "narrows", "major", "minor"),
    ("array.tuple_opened", arr(prefixItems=[S], items=False), arr(prefixItems=[S]), "widens", "minor", "major"),
    ("array.min_items_tightened", arr(), arr(minItems=1), "narrows", "major", "minor"),
    ("array.min_items_relaxed", arr(minItems=2), arr(minItems=1), "widens", "minor", "major"),
    ("array.max_items_tightened", arr(maxItems=2), arr(maxItems=1), "narrows", "major", "minor"),
    ("array.max_items_relaxed", arr(maxItems=2), arr(), "widens", "minor", "major"),
    ("array.unique_items_added", arr(), arr(uniqueItems=True), "narrows", "major", "minor"),
    ("array.unique_items_removed", arr(uniqueItems=True), arr(), "widens", "minor", "major"),
    ("array.contains_added", arr(), arr(contains=S), "narrows", "major", "minor"),
    ("array.contains_removed", arr(contains=S), arr(), "widens", "minor", "major"),
    ("array.contains_changed", arr(contains=N), arr(contains=I), "narrows", "major", "minor"),
    ("array.min_contains_raised", arr(contains=S), arr(contains=S, minContains=2), "narrows", "major", "minor"),
    ("array.min_contains_lowered", arr(contains=S), arr(contains=S, minContains=0), "widens", "minor", "major"),
    (
        "array.max_contains_lowered",
        arr(contains=S, maxContains=3), arr(contains=S, maxContains=2), "narrows", "major", "minor",
    ),
    ("array.max_contains_raised", arr(contains=S, maxContains=3), arr(contains=S), "widens", "minor", "major"),
    (
        "array.unevaluated_items_added",
        arr(prefixItems=[S]), arr(prefixItems=[S], unevaluatedItems=False), "narrows", "major", "minor",
    ),
    ("array.unevaluated_items_removed", arr(unevaluatedItems=S), arr(), "widens", "minor", "major"),
    (
        "array.unevaluated_items_changed",
        arr(unevaluatedItems=N), arr(unevaluatedItems=I), "narrows", "major", "minor",
    ),
]  # fmt: skip

COMBINED: list[Instance] = [
    ("any_of.added", {}, {"anyOf": [S, I]}, "narrows", "major", "minor"),
    ("any_of.removed", {"anyOf": [S, I]}, {}, "widens", "minor", "major"),
    ("any_of.branch_added", {"anyOf": [S, I]}, {"anyOf": [S, I, NULL]}, "widens", "minor", "major"),
    ("any_of.branch_removed", {"anyOf": [S, I, NULL]}, {"anyOf": [S, I]}, "narrows", "major", "minor"),
    ("one_of.added", {}, {"oneOf": [S, I]}, "narrows", "major", "minor"),
    ("one_of.removed", {"oneOf": [S, I]}, {}, "widens", "minor", "major"),
    ("one_of.branch_added_disjoint", {"oneOf": [S, I]}, {"oneOf": [S, I, NULL]}, "widens", "minor", "major"),
    ("one_of.branch_added_overlapping", {"oneOf": [S, I]}, {"oneOf": [S, I, N]}, "incomparable", "major", "major"),
    ("one_of.branch_removed", {"oneOf": [S, I]}, {"oneOf": [S]}, "narrows", "major", "minor"),
    (
        "one_of.branch_removed_overlapping",
        {"oneOf": [S, I, N]}, {"oneOf": [S, I]}, "incomparable", "major", "major",
    ),
    ("all_of.conjunct_added", {"allOf": [S]}, {"allOf": [S, {"minLength": 1}]}, "narrows", "major", "minor"),
    ("all_of.conjunct_removed", {"allOf": [S, {"minLength": 1}]}, {"allOf": [S]}, "widens", "minor", "major"),
    ("not.added", {}, {"not": S}, "narrows", "major", "minor"),
    ("not.removed", {"not": S}, {}, "widens", "minor", "major"),
    ("not.inner_grown", {"not": I}, {"not": N}, "narrows", "major", "minor"),
    ("not.inner_shrunk", {"not": N}, {"not": I}, "widens", "minor", "major"),
    ("not.changed", {"not": S}, {"not": I}, "incomparable", "major", "major"),
    (
        "condition.narrowed",
        {"if": S, "then": {"minLength": 1}}, {"if": S, "then": {"minLength": 2}}, "narrows", "major", "minor",
    ),
    (
        "condition.narrowed",
        {"if": txt(minLength=3), "then": {"pattern": "^a"}}, {"if": txt(minLength=2), "then": {"pattern": "^a"}},
        "narrows", "major", "minor",
    ),
    ("condition.widened", {"if": S, "then": {"minLength": 1}}, {}, "widens", "minor", "major"),
    (
        "condition.changed",
        {"if": S, "then": {"minLength": 2}}, {"if": S, "else": {"minimum": 2}}, "incomparable", "major", "major",
    ),
    ("discriminator.tag_changed", {"oneOf": [CAT, DOG]}, {"oneOf": [CAT, WOLF]}, "incomparable", "major", "major"),
    ("boolean_schema.became_true", False, True, "widens", "minor", "major"),
    ("boolean_schema.became_false", True, False, "narrows", "major", "minor"),
    ("ref.moved", {"$ref": "#/$defs/a", "$defs": {"a": S}}, S, "equal", "patch", "patch"),
    (
        "ref.moved",
        {"$ref": "#/$defs/a", "$defs": {"a": S}}, {"$ref": "#/$defs/b", "$defs": {"b": S}},
        "equal", "patch", "patch",
    ),
    (
        "type.replaced",
        {"$ref": "#/$defs/a", "$defs": {"a": S}}, {"$ref": "#/$defs/b", "$defs": {"b": I}},
        "incomparable", "major", "major",
    ),
    ("ref.unresolved", {"$ref": "https://e.test/a"}, {"$ref": "https://e.test/b"}, "unknown", "major", "major"),
    (
        "ref.unresolved",
        {"$defs": {"a": {"$dynamicAnchor": "x"}, "b": {"$dynamicAnchor": "x"}}, "$dynamicRef": "#x"},
        {"$defs": {"a": {"$dynamicAnchor": "x"}}, "type": "string"}, "widens", "major", "major",
    ),
    ("object.optional_property_added_typed", tree(), tree(size=I), "narrows", "minor", "minor"),
    ("recursion.changed", tree(), obj(next=obj(next=obj())), "widens", "minor", "major"),
    (
        "dialect.changed",
        {"$schema": SEVEN, "items": [S]}, {"prefixItems": [S]}, "equal", "none", "none",
    ),
    (
        "dialect.changed",
        {"$schema": SEVEN, "$ref": "#/definitions/a", "minimum": 1, "definitions": {"a": {}}},
        {"$ref": "#/definitions/a", "minimum": 1, "definitions": {"a": {}}}, "narrows", "major", "minor",
    ),
    ("schema.widened", {"maximum": 5, "allOf": [{"maximum": 5}]}, {}, "widens", "minor", "major"),
]  # fmt: skip

ANNOTATIONS: list[Instance] = [
    ("annotation.default_added", I, {**I, "default": 1}, "equal", "major", "patch"),
    ("annotation.default_changed", {**I, "default": 10}, {**I, "default": 50}, "equal", "major", "patch"),
    ("annotation.default_removed", {**I, "default": 1}, I, "equal", "major", "patch"),
    ("annotation.deprecated_set", I, {**I, "deprecated": True}, "equal", "minor", "minor"),
    ("annotation.deprecated_unset", {**I, "deprecated": True}, I, "equal", "patch", "patch"),
    ("annotation.read_only_set", I, {**I, "readOnly": True}, "equal", "major", "patch"),
    ("annotation.read_only_unset", {**I, "readOnly": True}, I, "equal", "minor", "patch"),
    (
        "annotation.read_only_unset_required",
        obj(("a",), a={**I, "readOnly": True}), obj(("a",), a=I), "equal", "major", "patch",
    ),
    ("annotation.write_only_set", I, {**I, "writeOnly": True}, "equal", "patch", "major"),
    ("annotation.write_only_unset", {**I, "writeOnly": True}, I, "equal", "patch", "minor"),
    ("annotation.title_changed", I, {**I, "title": "t"}, "equal", "patch", "patch"),
    (
        "annotation.description_changed",
        {**I, "description": "How many."}, {**I, "description": "The smallest stock to report."},
        "equal", "minor", "patch",
    ),
    (
        "annotation.description_changed",
        {**I, "description": "Report sold ones."}, {**I, "description": "Do not report sold ones."},
        "equal", "minor", "patch",
    ),
    (
        "annotation.description_clarified",
        {**I, "description": "How many."}, {**I, "description": "How many results, at most."},
        "equal", "patch", "patch",
    ),
    ("annotation.description_clarified", I, {**I, "description": "How many."}, "equal", "patch", "patch"),
    ("annotation.examples_changed", I, {**I, "examples": [1]}, "equal", "patch", "patch"),
    ("annotation.comment_changed", I, {**I, "$comment": "c"}, "equal", "patch", "patch"),
    ("annotation.extension_changed", {**I, "x-a": 1}, {**I, "x-a": 2}, "equal", "patch", "patch"),
]  # fmt: skip

INSTANCES: list[Instance] = [*OBJECTS, *SCALARS, *ARRAYS, *COMBINED, *ANNOTATIONS]
