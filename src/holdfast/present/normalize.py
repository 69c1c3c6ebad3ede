"""Declared normalization: further spellings of an argument that mean the same without doubt.

A tool declares them; nothing undeclared is changed. Four kinds: another name for a field, the text of a whole
number, a path or its `file://` URI, and the words of an enumeration in other case or by another name. A value
is taken over exactly or refused, never rounded, cut or guessed. `apply` runs before validation; `widen` gives
the input schema to publish, which accepts exactly what `apply` turns into something the tool accepts:

    spelling = aliases(path="file") | integers("limit") | tokens("mode", ("fast", "exact"), {"quick": "fast"})
"""

import string
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from dataclasses import field as dataclass_field
from typing import Any, Protocol

from holdfast.errors import ContractError, HoldfastError, UsageError
from holdfast.present.integer_text import parse_integer
from holdfast.present.paths import PathStyle, local_path
from holdfast.present.widening import LOCAL_PATH, LOCAL_PATH_NAME, widen_integer, widen_path, widen_tokens

__all__ = [
    "Normalization",
    "NormalizationError",
    "aliases",
    "integers",
    "match_token",
    "paths",
    "tokens",
    "violation",
]

_LOWER = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)
_SEPARATORS = str.maketrans("-_ ", "___")
_SYNTAX = frozenset("\\^$.*+?()[]{}|/")
# Keywords of the arguments as a whole that say nothing about the fields beyond themselves.
_ROOT_KEYWORDS = frozenset(
    {"type", "properties", "required", "additionalProperties", "$defs", "$schema", "title", "description",
     "examples", "default", "deprecated", "$comment"}
)  # fmt: skip


class NormalizationError(HoldfastError):
    """Arguments that mean nothing, or two things; `violations` has the shape of validation's own."""

    def __init__(self, violations: Sequence[Mapping[str, Any]]) -> None:
        super().__init__("; ".join(str(item["message"]) for item in violations))
        self.violations = [dict(item) for item in violations]


def violation(field: str, keyword: str, params: Mapping[str, Any], message: str) -> dict[str, Any]:
    """One violation, at an argument, in the shape that validation uses; the paths are JSON Pointers."""
    pointer = "/" + field.replace("~", "~0").replace("/", "~1")
    return {
        "instancePath": pointer,
        "schemaPath": f"/properties{pointer}",
        "keyword": keyword,
        "params": dict(params),
        "message": message,
    }


class _Rule(Protocol):
    """How one field is read."""

    @property
    def keyword(self) -> str:
        """The keyword of a violation of this rule."""

    def read(self, text: str) -> Any:
        """What the text means; ValueError when it means nothing."""

    def widen(self, schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> dict[str, Any]:
        """The field's schema with the further spellings."""


@dataclass(frozen=True, slots=True)
class _IntegerRule:
    keyword: str = "integerText"

    def read(self, text: str) -> int:
        return parse_integer(text)

    def widen(self, schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> dict[str, Any]:
        return widen_integer(schema, definitions)


@dataclass(frozen=True, slots=True)
class _PathRule:
    style: PathStyle | None
    root: str | None
    keyword: str = "localPath"

    def read(self, text: str) -> str:
        return local_path(text, style=self.style, root=self.root)

    def widen(self, schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> dict[str, Any]:
        return widen_path(schema, definitions)


@dataclass(frozen=True, slots=True)
class _TokenRule:
    canonical: tuple[str, ...]
    other: tuple[tuple[str, str], ...]
    meanings: Mapping[str, str] = dataclass_field(compare=False, repr=False)
    keyword: str = "token"

    def read(self, text: str) -> str:
        # A word that is not known is left for validation, which lists the ones that are.
        return self.meanings.get(_folded(text), text)

    def widen(self, schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> dict[str, Any]:
        pattern = "|".join(map(_any_spelling, self.meanings))
        named = "".join(f"; {word} means {meaning}" for word, meaning in self.other)
        words = f"The same words in any case, with - _ or a space between{named}."
        return widen_tokens(schema, definitions, self.canonical, f"^(?:{pattern})$", words)


@dataclass(frozen=True, slots=True)
class Normalization:
    """What a tool declares about the spelling of its arguments. Parts combine with `|`; empty changes nothing."""

    field_aliases: tuple[tuple[str, str], ...] = ()
    rules: tuple[tuple[str, _Rule], ...] = ()

    def __post_init__(self) -> None:
        names = [alias for alias, _ in self.field_aliases]
        fields = [field for field, _ in self.rules]
        meant = {field for _, field in self.field_aliases}
        _refuse_repeats(names, "is declared as an alias twice")
        _refuse_repeats(fields, "has two rules for its spelling")
        for name in names:
            if name in meant or name in fields:
                raise ContractError(
                    f"{name!r} is an alias and a field", remedy="let every alias name a field of the tool"
                )

    def __or__(self, other: "Normalization") -> "Normalization":
        return Normalization(self.field_aliases + other.field_aliases, self.rules + other.rules)

    def __bool__(self) -> bool:
        return bool(self.field_aliases or self.rules)

    def apply(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments as the tool's own schema knows them; NormalizationError lists everything that is wrong."""
        violations: list[dict[str, Any]] = []
        normal = self._renamed(arguments, violations)
        for field, rule in self.rules:
            if isinstance(normal.get(field), str):
                try:
                    normal[field] = rule.read(normal[field])
                except ValueError as error:
                    violations.append(violation(field, rule.keyword, {}, f"{field} {error}"))
        if violations:
            raise NormalizationError(violations)
        return normal

    def _renamed(self, arguments: Mapping[str, Any], violations: list[dict[str, Any]]) -> dict[str, Any]:
        fields = dict(self.field_aliases)
        normal: dict[str, Any] = {}
        given: dict[str, str] = {}
        for name, value in arguments.items():
            field = fields.get(name, name)
            if field in given:
                both = [given[field], name]
                message = f"{both[0]} and {both[1]} are the same argument; give one of them"
                violations.append(violation(name, "alias", {"field": field, "given": both}, message))
            given[field] = name
            normal[field] = value
        return normal

    def widen(self, schema: Mapping[str, Any]) -> dict[str, Any]:
        """The input schema to publish: valid exactly for what `apply` makes valid for `schema`.

        Nothing is put beside the properties that hosts refuse there: model providers do not take a schema with
        `anyOf`, `oneOf`, `allOf` or `not` at its root.
        """
        if not self:
            return dict(schema)
        strange = schema.keys() - _ROOT_KEYWORDS
        if strange:
            raise ContractError(
                f"arguments with {min(strange)!r} in their schema cannot be normalized",
                remedy="drop the keyword or the normalization",
            )
        definitions = self._definitions(schema)
        properties = dict(schema.get("properties", {}))
        for field, rule in self.rules:
            properties[field] = _widened(field, rule, _declared(field, properties), definitions)
        for alias, field in self.field_aliases:
            if alias in properties:
                raise ContractError(f"alias {alias!r} is a field of its own", remedy="choose another alias")
            properties[alias] = _alias_schema(field, _declared(field, properties))
        kept = {key: value for key, value in schema.items() if key not in {"required", "$defs"}}
        widened = {**kept, "properties": properties, **self._name_rules(schema.get("required", ()))}
        return {**widened, "$defs": definitions} if definitions else widened

    def _definitions(self, schema: Mapping[str, Any]) -> dict[str, Any]:
        definitions = dict(schema.get("$defs", {}))
        if any(isinstance(rule, _PathRule) for _, rule in self.rules):
            if LOCAL_PATH_NAME in definitions:
                raise ContractError(f"the definition {LOCAL_PATH_NAME!r} is taken", remedy="rename the type")
            definitions[LOCAL_PATH_NAME] = LOCAL_PATH
        return definitions

    def _name_rules(self, required: Sequence[str]) -> dict[str, Any]:
        """Keywords that let a field come under one of its names, and under one only."""
        names: dict[str, list[str]] = {}
        for alias, field in self.field_aliases:
            names.setdefault(field, [field]).append(alias)
        rules: dict[str, Any] = {}
        fixed = [field for field in required if field not in names]
        if fixed:
            rules["required"] = fixed
        movable = [field for field in required if field in names]
        if movable:
            choices = [{"anyOf": [{"required": [name]} for name in names[field]]} for field in movable]
            rules |= {"if": {"required": movable}, "else": {"allOf": choices}}
        if names:
            rules["dependentSchemas"] = {
                alias: {"properties": {name: False for name in names[field] if name != alias}}
                for alias, field in self.field_aliases
            }
        return rules


def aliases(mapping: Mapping[str, str] | None = None, /, **named: str) -> Normalization:
    """Further names of fields: `aliases(path="file")` lets `path` stand for `file`. Giving both is an error."""
    return Normalization(field_aliases=tuple({**(mapping or {}), **named}.items()))


def integers(*fields: str) -> Normalization:
    """Fields that also take the text of a whole number, such as `"7"` or `"7.000"`."""
    return Normalization(rules=tuple((field, _IntegerRule()) for field in fields))


def paths(*fields: str, style: PathStyle | None = None, root: str | None = None) -> Normalization:
    """Fields that take a path or the `file://` URI of a local path; see `local_path` for style and root."""
    if (style is None) != (root is None):
        raise ContractError("a path style needs a root, and a root a style", remedy="give both or neither")
    return Normalization(rules=tuple((field, _PathRule(style, root)) for field in fields))


def tokens(name: str, canonical: Iterable[str], other: Mapping[str, str] | None = None) -> Normalization:
    """An enumeration whose words count in any case, with `-`, `_` or a space between, and by further names.

    `canonical` lists all words of the field; `other` maps further names to them. Two words that would then be
    the same are refused.
    """
    words = tuple(canonical)
    further = dict(other or {})
    rule = _TokenRule(words, tuple(further.items()), _token_table(words, further))
    return Normalization(rules=((name, rule),))


def match_token(word: str, canonical: Iterable[str], other: Mapping[str, str] | None = None) -> str:
    """The canonical word that `word` means, for command lines; UsageError lists the words that there are."""
    words = tuple(canonical)
    found = _token_table(words, dict(other or {})).get(_folded(word))
    if found is None:
        raise UsageError(f"{word!r} is not known", remedy=f"use one of {', '.join(words)}")
    return found


def _refuse_repeats(names: Sequence[str], why: str) -> None:
    for name in names:
        if names.count(name) > 1:
            raise ContractError(f"{name!r} {why}", remedy="declare it once")


def _declared(field: str, properties: Mapping[str, Any]) -> dict[str, Any]:
    if field not in properties:
        raise ContractError(f"{field!r} is not a field of the tool", remedy="name one of its parameters")
    schema = properties[field]
    return {} if schema is True else {"not": {}} if schema is False else dict(schema)


def _widened(field: str, rule: _Rule, schema: dict[str, Any], definitions: Mapping[str, Any]) -> dict[str, Any]:
    try:
        return rule.widen(schema, definitions)
    except ContractError as error:
        raise ContractError(f"field {field!r}: {error.message}", remedy=error.remedy) from error


def _alias_schema(field: str, schema: dict[str, Any]) -> dict[str, Any]:
    # An alias has no default of its own: when it is absent, the field's counts.
    kept = {key: value for key, value in schema.items() if key not in {"default", "title"}}
    return {**kept, "description": f"Alias of {field}."}


def _folded(word: str) -> str:
    """The word without regard to ASCII case and to which separator is used; no other letters are touched."""
    return word.translate(_LOWER).translate(_SEPARATORS)


def _token_table(canonical: Sequence[str], other: Mapping[str, str]) -> dict[str, str]:
    """Folded word -> canonical word; ContractError where two words fold to the same."""
    table: dict[str, str] = {}
    for word, meaning in [*((word, word) for word in canonical), *other.items()]:
        if meaning not in canonical:
            raise ContractError(f"{word!r} means {meaning!r}, which is no word of the field",
                                remedy=f"let it mean one of {', '.join(canonical)}")  # fmt: skip
        if table.setdefault(_folded(word), meaning) != meaning:
            raise ContractError(f"{word!r} could mean {table[_folded(word)]!r} or {meaning!r}",
                                remedy="rename one of them")  # fmt: skip
    return table


def _any_spelling(folded: str) -> str:
    """A pattern for every word that folds to `folded`."""
    return "".join(map(_any_case, folded))


def _any_case(character: str) -> str:
    if character == "_":
        return "[-_ ]"
    if character in string.ascii_lowercase:
        return f"[{character.upper()}{character}]"
    return f"\\{character}" if character in _SYNTAX else character
