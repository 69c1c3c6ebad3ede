"""Random schemas of every keyword, small changes of them, and values that attack what is claimed about a pair."""

import copy
from collections.abc import Callable
from random import Random
from typing import Any

import jsonschema_rs

from holdfast.contract.inclusion import Comparison, Effect, compare_schemas
from holdfast.contract.inclusion.documents import Document
from holdfast.contract.inclusion.model import Undecided
from holdfast.contract.inclusion.sampling import samples

NAMES = ("a", "b", "foo", "x-1")
EXTERNAL = "https://x.test/y"
# What the address outside the document may lead to: a claim must hold whatever it is.
OUTSIDE: tuple[Any, ...] = (True, {"properties": {"a": {}}}, {"prefixItems": [{}], "type": ["array", "object"]})
REFERRING = ("$ref", "$dynamicRef", "$dynamicRef")
UNREADABLE = ("^(?!x)", "^(?!a)", r"\bfoo\b", r"^\p{L}+$")
PATTERNS = ("^a", "^a+$", "b", "^(foo|bar)$", "^x-", "^[a-c]{1,3}$", "[0-9]", "^$", "^.{2}$", r"^\d+$", "a|b")
VALUES: tuple[Any, ...] = (
    None,
    True,
    False,
    0,
    1,
    1.0,
    2,
    -1,
    0.5,
    "",
    "a",
    "foo",
    [],
    [1],
    ["a"],
    {},
    {"a": 1},
    {"b": None},
)
DIALECTS = (
    "http://json-schema.org/draft-06/schema#",
    "http://json-schema.org/draft-07/schema#",
    "https://json-schema.org/draft/2019-09/schema",
)
TYPES = ("null", "boolean", "number", "integer", "string", "array", "object")

Maker = Callable[[Random, int], Any]


def _part(random: Random, depth: int) -> Any:
    return schema(random, depth - 1)


def _parts(random: Random, depth: int) -> list[Any]:
    return [_part(random, depth) for _ in range(random.randint(1, 3))]


def _named(random: Random, depth: int) -> dict[str, Any]:
    return {name: _part(random, depth) for name in random.sample(NAMES, random.randint(1, 3))}


def _types(random: Random, depth: int) -> Any:
    return random.choice(TYPES) if random.random() < 0.6 else random.sample(TYPES, random.randint(1, 3))


def _names(random: Random, depth: int) -> list[str]:
    return random.sample(NAMES, random.randint(0, 2))


def _values(random: Random, depth: int) -> list[Any]:
    unique = {repr(value): value for value in random.choices(VALUES, k=random.randint(1, 4))}
    return [value for value in unique.values() if value != 1 or type(value) is int]


def _pattern(random: Random, depth: int) -> str:
    return random.choice(UNREADABLE if random.random() < 0.06 else PATTERNS)


def _patterned(random: Random, depth: int) -> dict[str, Any]:
    draw = random.random()
    if draw < 0.04:  # more than can be set against each other
        return {text: _part(random, 0) for text in random.sample(PATTERNS, random.randint(6, 8))}
    known = UNREADABLE if draw < 0.14 else PATTERNS
    return {text: _part(random, depth) for text in random.sample(known, random.randint(1, 2))}


def _patterned_alternatives(random: Random, depth: int) -> list[Any]:
    """Objects of which one or the other holds: what is lost is lost to both."""
    known = random.choice((UNREADABLE, PATTERNS))
    return [
        {"patternProperties": {text: _part(random, 0) for text in random.sample(known, random.randint(1, 4))}}
        for _ in range(2)
    ]


def _alternatives(random: Random, depth: int) -> list[Any]:
    return _patterned_alternatives(random, depth) if random.random() < 0.15 else _parts(random, depth)


def _tagged(random: Random, depth: int) -> list[Any]:
    """Alternatives that a property tells apart, mostly."""
    values = random.choices(VALUES, k=random.randint(1, 4))
    return [
        {"properties": {"a": {"const": value}}, "required": ["a"], **_maybe(random, "type")} for value in values
    ]


def _exclusive(random: Random, depth: int) -> list[Any]:
    return _tagged(random, depth) if random.random() < 0.2 else _parts(random, depth)


PLAIN: dict[str, Maker] = {
    "type": _types,
    "enum": lambda random, depth: _values(random, depth) or [0],
    "const": lambda random, depth: random.choice(VALUES),
    "minimum": lambda random, depth: random.choice((-1, 0, 0.5, 1, 2, 5)),
    "maximum": lambda random, depth: random.choice((0, 1, 1.5, 2, 5, 10)),
    "exclusiveMinimum": lambda random, depth: random.choice((-1, 0, 1, 2)),
    "exclusiveMaximum": lambda random, depth: random.choice((0, 1, 2, 10)),
    "multipleOf": lambda random, depth: random.choice((1, 2, 3, 6, 0.5, 0.1, 1.5)),
    "minLength": lambda random, depth: random.randint(0, 3),
    "maxLength": lambda random, depth: random.randint(0, 4),
    "pattern": _pattern,
    "minItems": lambda random, depth: random.randint(0, 3),
    "maxItems": lambda random, depth: random.randint(0, 4),
    "uniqueItems": lambda random, depth: random.random() < 0.8,
    "minProperties": lambda random, depth: random.randint(0, 3),
    "maxProperties": lambda random, depth: random.randint(0, 4),
    "required": _names,
    "dependentRequired": lambda random, depth: {random.choice(NAMES): _names(random, depth)},
    "format": lambda random, depth: random.choice(("date", "email")),
}
NESTED: dict[str, Maker] = {
    "properties": _named,
    "patternProperties": _patterned,
    "additionalProperties": _part,
    "propertyNames": lambda random, depth: {"pattern": random.choice(PATTERNS)} | _maybe(random, "maxLength"),
    "dependentSchemas": lambda random, depth: {random.choice(NAMES): _part(random, depth)},
    "unevaluatedProperties": _part,
    "items": _part,
    "prefixItems": _parts,
    "contains": _part,
    "unevaluatedItems": _part,
    "allOf": _parts,
    "anyOf": _alternatives,
    "oneOf": _exclusive,
    "not": _part,
    "if": _part,
    "then": _part,
    "else": _part,
}
WEIGHTS = {"properties": 6, "type": 8, "items": 3, "required": 3, "additionalProperties": 2, "anyOf": 2}


def _maybe(random: Random, keyword: str) -> dict[str, Any]:
    return {keyword: PLAIN[keyword](random, 0)} if random.random() < 0.5 else {}


def keyword_value(random: Random, depth: int) -> tuple[str, Any]:
    """A keyword and a value for it."""
    pool = {**PLAIN, **NESTED} if depth > 0 else PLAIN
    words = list(pool)
    word = random.choices(words, [WEIGHTS.get(name, 1) for name in words])[0]
    return word, pool[word](random, depth)


def schema(random: Random, depth: int = 3) -> Any:
    """A random schema."""
    if random.random() < 0.08:
        return random.random() < 0.7
    made: dict[str, Any] = {}
    for _ in range(random.choice((1, 1, 2, 2, 3, 4))):
        word, value = keyword_value(random, depth)
        made[word] = value
    if "contains" in made and random.random() < 0.5:
        made[random.choice(("minContains", "maxContains"))] = random.randint(0, 2)
    return made


def document(random: Random) -> Any:
    """A random schema that may refer to itself."""
    root = schema(random)
    if random.random() < 0.06:
        return random.choice((_anchored, _doubly_referring, _leading_outside))(random)
    if isinstance(root, dict) and random.random() < 0.3:
        root["$defs"] = {"n": schema(random, 2)}
        reference = random.choice(({"$ref": "#/$defs/n"}, {"$ref": "#"}))
        place = random.choice(("properties", "items", "anyOf"))
        if place == "properties":
            root["properties"] = {**root.get("properties", {}), "next": reference}
        elif place == "items":
            root["items"] = reference
        else:
            root["anyOf"] = [{"$ref": "#/$defs/n"}, {"type": "null"}]
    return root


def _object_schema(random: Random) -> dict[str, Any]:
    made = schema(random, 2)
    return made if isinstance(made, dict) else {}


def _anchored(random: Random) -> Any:
    """One name in two resources of a document, plain or dynamic in each, and a reference of either kind to it."""
    kinds = ("$anchor", "$dynamicAnchor")
    target = {random.choice(kinds): "x", "type": random.choice(TYPES)}
    inner = {"$id": "inner", random.choice(REFERRING): "#x", "$defs": {"k": target}}
    outer = {random.choice(kinds): "x"} if random.random() < 0.7 else {}
    other = {"b": {random.choice(REFERRING): "inner#x"}} if random.random() < 0.3 else {}
    return {
        "$id": "https://e.test/root",
        **outer,
        "type": ["object", random.choice(TYPES[:-1])],
        "properties": {"a": {"$ref": "inner"}, **other},
        "$defs": {"inner": inner},
    }


def _doubly_referring(random: Random) -> Any:
    """Two references in one place, beside a word that depends on where both lead."""
    return {
        "$ref": "#/$defs/n",
        "$dynamicRef": random.choice(("#x", "#/$defs/d")),
        random.choice(("unevaluatedProperties", "unevaluatedItems")): _part(random, 1),
        "$defs": {"n": _object_schema(random), "d": {"$dynamicAnchor": "x", "properties": _named(random, 1)}},
    }


def _leading_outside(random: Random) -> Any:
    """A reference that leaves the document, beside a word that depends on where it leads."""
    word = random.choice(("unevaluatedProperties", "unevaluatedItems"))
    return {"$ref": EXTERNAL, word: random.random() < 0.2 or _part(random, 0) if random.random() < 0.5 else False}


def _hazard(random: Random) -> tuple[Any, Any]:
    """A pair of the kind that a proof most easily gets wrong: it rests on something that cannot be looked at."""
    if random.random() < 0.4:
        word = random.choice(("type", "minProperties"))
        old = {word: PLAIN[word](random, 0)}
        return old, {**old, "anyOf": _patterned_alternatives(random, 1)}
    old = random.choice((_anchored, _doubly_referring, _leading_outside))(random)
    new = copy.deepcopy(old)
    targets = [place for place in places(new) if "type" in place]
    if "$id" in old and targets:
        random.choice(targets)["type"] = random.choice(TYPES)
    else:
        word = random.choice(("maxProperties", "maxItems", "required", "type", "prefixItems"))
        new[word] = {**PLAIN, **NESTED}[word](random, 1)
    return (old, new) if random.random() < 0.5 else (new, old)


def places(node: Any) -> list[dict[str, Any]]:
    """Every object schema in a schema."""
    found: list[dict[str, Any]] = []
    pending = [node]
    while pending:
        item = pending.pop()
        if not isinstance(item, dict):
            continue
        found.append(item)
        for word, value in item.items():
            if word in ("properties", "patternProperties", "dependentSchemas", "$defs"):
                pending.extend(value.values())
            elif word in ("allOf", "anyOf", "oneOf", "prefixItems"):
                pending.extend(value)
            elif word in NESTED:
                pending.append(value)
    return found


def mutated(random: Random, original: Any) -> Any:
    """The schema with one small change somewhere."""
    changed = copy.deepcopy(original)
    spots = places(changed)
    if not spots:
        return schema(random)
    spot = random.choice(spots)
    words = [word for word in spot if word not in ("$ref", "$defs")]
    draw = random.random()
    if words and draw < 0.3:
        del spot[random.choice(words)]
    elif words and draw < 0.7:
        word = random.choice(words)
        spot[word] = _nudged(random, word, spot[word])
    else:
        word, value = keyword_value(random, 2)
        spot[word] = value
    return changed


def _nudged(random: Random, word: str, value: Any) -> Any:
    if isinstance(value, bool) and word != "const":
        return not value
    if isinstance(value, (int, float)) and word != "const" and word != "multipleOf":
        return max(value + random.choice((-1, 1)), 0)
    if isinstance(value, list) and len(value) > 1 and random.random() < 0.6:
        return [item for item in value if item is not value[0]]
    if isinstance(value, dict) and len(value) > 1 and word in ("properties", "patternProperties"):
        return dict(list(value.items())[1:])
    maker = PLAIN.get(word) or NESTED.get(word)
    return value if maker is None else maker(random, 2)


def rewritten(random: Random, original: Any) -> Any:
    """The same schema, written differently."""
    if not isinstance(original, dict):
        return {} if original else {"not": {}}
    if any(word in str(original) for word in ("Ref", "$ref", "unevaluated")):
        return dict(reversed(list(original.items())))
    return random.choice((
        {"allOf": [original]},
        {"anyOf": [original]},
        {"$ref": "#/$defs/moved", "$defs": {"moved": original}},
        {"not": {"not": original}},
        dict(reversed(list(original.items()))),
        {"anyOf": [original, {**original, "minLength": 3}]} if "minLength" not in original else original,
    ))  # fmt: skip


def dated(random: Random, schema: Any) -> Any:
    """Now and then the schema as one of an older dialect, where some of its words mean nothing."""
    if not isinstance(schema, dict) or random.random() > 0.08:
        return schema
    return {"$schema": random.choice(DIALECTS), **schema}


def pair(random: Random) -> tuple[Any, Any]:
    """An old schema and a new one that has something to do with it."""
    old, new = _pair(random)
    return dated(random, old), dated(random, new)


def _pair(random: Random) -> tuple[Any, Any]:
    if random.random() < 0.08:
        return _hazard(random)
    old = document(random)
    draw = random.random()
    if draw < 0.6:
        return old, mutated(random, old)
    if draw < 0.75:
        return old, mutated(random, mutated(random, old))
    return (old, rewritten(random, old)) if draw < 0.9 else (old, document(random))


def refutation(old: Any, new: Any, verdict: Comparison, seed: int, count: int) -> Any:
    """A value that proves a claim wrong, in a list, or None."""
    claims_lost = verdict.effect in (Effect.EQUAL, Effect.WIDENS)
    claims_gained = verdict.effect in (Effect.EQUAL, Effect.NARROWS)
    if not claims_lost and not claims_gained:
        return None
    documents = [Document(old), Document(new)]
    outside = OUTSIDE if EXTERNAL in str((old, new)) else OUTSIDE[:1]
    for world in outside:
        try:
            first, second = validators(old, new, world)
        except (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError):
            return None
        for value in samples(documents, count, seed):
            by_old, by_new = first.is_valid(value), second.is_valid(value)
            if (claims_lost and by_old and not by_new) or (claims_gained and by_new and not by_old):
                return [value]
    return None


def validators(old: Any, new: Any, world: Any = True) -> list[Any]:
    """The independent validators of two schemas, for which the address outside leads to `world`."""
    registry = jsonschema_rs.Registry([(EXTERNAL, world)])
    return [
        jsonschema_rs.validator_for(schema, validate_formats=False, registry=registry) for schema in (old, new)
    ]


def attack(seed: int, count: int = 40) -> tuple[Any, Any, Comparison, Any]:
    """One random pair, what is claimed about it, and a refutation of that."""
    random = Random(seed)
    old, new = pair(random)
    verdict = compare_schemas(old, new)
    try:
        return old, new, verdict, refutation(old, new, verdict, seed, count)
    except Undecided:
        return old, new, verdict, None
