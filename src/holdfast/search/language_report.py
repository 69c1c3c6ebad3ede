"""Which languages are known, whether their files can be parsed on this machine, and which fields they have.

What filters can ask of a language is said by its description; this only puts the descriptions side by side. No
file is read and no grammar loaded.
"""

from dataclasses import dataclass

from holdfast.search.discover.kinds import extensions_of, language_id
from holdfast.search.languages import LANGUAGES, available, described
from holdfast.search.model import COUNTS, FACTS, FLAGS

__all__ = ["GROUPS", "REMEDY", "LanguageRow", "described_fields", "language_fields", "language_named"]

REMEDY = "pip install 'holdfast[languages]'"

# Fields that answer one question together, in the order in which a person asks.
GROUPS: dict[str, tuple[str, ...]] = {
    "signature": ("signature", "params", "param_types", "param_defaults", "return_types"),
    "declared": ("visibility", "modifiers", "decorators", "extends", "doc"),
    "calls": ("calls", "uses", "throws", "awaits"),
    "data": ("reads", "writes", "mutations", "aliases", "inferred_types"),
    "modules": ("imports", "exports"),
    "flow": (*COUNTS, *(flag for flag in FLAGS if flag not in COUNTS)),
    "risk": tuple(fact for fact in FACTS if fact.startswith("risk_")),
}

_DESCRIBED = {
    "signature": "the head of the definition on one line",
    "visibility": "public, protected, private or internal",
    "doc": "its documentation",
    "branches": "how many branches it has: if, case, catch",
    "loops": "how many loops",
    "breaks": "how many breaks",
    "continues": "how many continues",
    "returns": "how many returns, and whether it returns a value",
    "complexity": "1 and its branches, loops and boolean operators",
    "async": "whether it is asynchronous",
    "generator": "whether it yields",
}


@dataclass(frozen=True, slots=True)
class LanguageRow:
    """One language: whether it can be parsed here, the ends of its files, its fields in the order of GROUPS."""

    language: str
    is_installed: bool
    extensions: tuple[str, ...]
    fields: tuple[str, ...]

    def of(self, group: str) -> tuple[str, ...]:
        """Those of its fields that are in this group."""
        return tuple(field for field in GROUPS[group] if field in self.fields)


def language_fields() -> list[LanguageRow]:
    """A row for each language that is described, by its id."""
    return [_row(language) for language in sorted(LANGUAGES)]


def language_named(name: str) -> LanguageRow | None:
    """The row of the language that a person calls `rust`, `C++` or `py`; None for one that is not described."""
    wanted = name.strip().lower()
    language = wanted if wanted in LANGUAGES else language_id(wanted)
    return _row(language) if language in LANGUAGES else None


def described_fields(row: LanguageRow) -> list[tuple[str, str]]:
    """Every field of a language with what it means."""
    return [(field, _DESCRIBED.get(field) or FACTS[field]) for field in row.fields]


def _row(language: str) -> LanguageRow:
    rules = described(language)
    known = rules.fields if rules is not None else frozenset()
    fields = tuple(dict.fromkeys(field for group in GROUPS.values() for field in group if field in known))
    return LanguageRow(language, available(language) is not None, extensions_of(language), fields)
