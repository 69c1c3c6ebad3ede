"""The languages that can be parsed, by their id; each is one file of this folder, called by that id.

Asking which fields a language has loads its rules and nothing else; the grammar is loaded when a file is parsed.
"""

import importlib
import importlib.util
import pkgutil
from functools import cache
from importlib.machinery import PathFinder

from holdfast.search.languages.rules.language import Language

__all__ = ["LANGUAGES", "available", "described", "fields_of"]

LANGUAGES = frozenset(module.name for module in pkgutil.iter_modules(__path__) if not module.ispkg)


@cache
def described(language: str) -> Language | None:
    """The rules of a language, whether its grammar is installed or not; None if it is unknown."""
    if language not in LANGUAGES:
        return None
    found = importlib.import_module(f"{__name__}.{language}").LANGUAGE
    assert isinstance(found, Language)
    return found


@cache
def available(language: str) -> Language | None:
    """The language, if its rules are known and its grammar is installed."""
    rules = described(language)
    if rules is None or (rules.scan is None and not _is_installed(rules.grammar.partition(":")[0])):
        return None
    return rules


def _is_installed(module: str) -> bool:
    """Whether it can be imported. The packages around it are not loaded for that: they load parsers."""
    package, *inside = module.split(".")
    found = importlib.util.find_spec(package)
    for part in inside:
        places = found.submodule_search_locations if found else None
        package = f"{package}.{part}"
        found = PathFinder.find_spec(package, places) if places else None
    return found is not None


def fields_of(language: str) -> frozenset[str]:
    """Which facts, counts, flags and other fields a chunk of this language can have; empty if it is unknown."""
    rules = described(language)
    return rules.fields if rules else frozenset()
