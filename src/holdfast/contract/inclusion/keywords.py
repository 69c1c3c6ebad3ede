"""Every keyword of JSON Schema 2020-12 and what this engine makes of it; older words stand beside their successor.

This is the one table that says so: the compiler, the walk over subschemas, the rules of annotations and a test of
coverage read it. A word that is not in it is an extension and says nothing about values.
"""

from enum import Enum

__all__ = [
    "DIALECTS",
    "KEYWORDS",
    "OLDER_KEYWORDS",
    "REFERENCES",
    "SCHEMA_LISTS",
    "SCHEMA_MAPS",
    "SCHEMA_VALUES",
    "SPOKEN",
    "Treatment",
]


class Treatment(Enum):
    """How a keyword is read."""

    DECIDED = "its meaning is compared exactly"
    BOUNDED = "compared exactly up to a bound, beyond it unknown"
    REFERENCE = "resolved inside the document; unknown when it leads outside"
    ANNOTATION = "says nothing about which values are accepted; its changes are reported"
    ASSERTABLE = "an annotation unless formats are asserted"
    STRUCTURE = "names or holds schemas for references; says nothing by itself"


_D, _B, _R = Treatment.DECIDED, Treatment.BOUNDED, Treatment.REFERENCE
_A, _S = Treatment.ANNOTATION, Treatment.STRUCTURE

KEYWORDS: dict[str, Treatment] = {
    # core
    "$schema": _S, "$vocabulary": _S, "$id": _S, "$anchor": _S, "$dynamicAnchor": _S, "$defs": _S, "$comment": _A,
    "$ref": _R, "$dynamicRef": _R,
    # applicators
    "allOf": _D, "anyOf": _D, "oneOf": _B, "not": _B, "if": _B, "then": _B, "else": _B, "dependentSchemas": _D,
    "prefixItems": _D, "items": _D, "contains": _B,
    "properties": _D, "patternProperties": _B, "additionalProperties": _D, "propertyNames": _D,
    # unevaluated
    "unevaluatedItems": _B, "unevaluatedProperties": _B,
    # validation
    "type": _D, "enum": _D, "const": _D,
    "multipleOf": _D, "maximum": _D, "exclusiveMaximum": _D, "minimum": _D, "exclusiveMinimum": _D,
    "maxLength": _D, "minLength": _D, "pattern": _B,
    "maxItems": _D, "minItems": _D, "uniqueItems": _D, "maxContains": _D, "minContains": _D,
    "maxProperties": _D, "minProperties": _D, "required": _D, "dependentRequired": _D,
    # format and content
    "format": Treatment.ASSERTABLE, "contentEncoding": _A, "contentMediaType": _A, "contentSchema": _A,
    # meta-data
    "title": _A, "description": _A, "default": _A, "deprecated": _A, "readOnly": _A, "writeOnly": _A,
    "examples": _A,
}  # fmt: skip

# Words of older dialects, read as what they became.
OLDER_KEYWORDS: dict[str, str] = {
    "definitions": "$defs",
    "dependencies": "dependentRequired",
    "additionalItems": "items",
    "id": "$id",
    "$recursiveRef": "$dynamicRef",
    "$recursiveAnchor": "$dynamicAnchor",
}

# Words that a dialect does not know yet, or no more, say nothing there; `None` is the first or the last of them.
DIALECTS: tuple[str, ...] = ("draft-04", "draft-06", "draft-07", "2019-09", "2020-12")
SPOKEN: dict[str, tuple[str | None, str | None]] = {
    **dict.fromkeys(("const", "contains", "propertyNames"), ("draft-06", None)),
    **dict.fromkeys(("if", "then", "else"), ("draft-07", None)),
    **dict.fromkeys(("dependentRequired", "dependentSchemas", "minContains", "maxContains"), ("2019-09", None)),
    **dict.fromkeys(("unevaluatedItems", "unevaluatedProperties", "$anchor"), ("2019-09", None)),
    **dict.fromkeys(("$recursiveRef", "$recursiveAnchor"), ("2019-09", "2019-09")),
    **dict.fromkeys(("prefixItems", "$dynamicRef", "$dynamicAnchor"), ("2020-12", None)),
    "id": (None, "draft-04"),
    "$id": ("draft-06", None),
}

# Words that lead to another schema.
REFERENCES: tuple[str, ...] = ("$ref", "$dynamicRef", "$recursiveRef")

# Where schemas are found inside a schema.
SCHEMA_VALUES: frozenset[str] = frozenset({
    "not", "if", "then", "else", "items", "contains", "additionalProperties", "propertyNames", "unevaluatedItems",
    "unevaluatedProperties", "additionalItems", "contentSchema",
})  # fmt: skip
SCHEMA_LISTS: frozenset[str] = frozenset({"allOf", "anyOf", "oneOf", "prefixItems", "items"})
SCHEMA_MAPS: frozenset[str] = frozenset({
    "$defs", "definitions", "properties", "patternProperties", "dependentSchemas", "dependencies",
})  # fmt: skip
