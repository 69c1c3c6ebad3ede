"""The languages that can be parsed, by their id; each is one file of this folder.

Asking which fields a language has loads its rules and nothing else; the grammar is loaded when a file is parsed.
"""

import importlib
import importlib.util
from functools import cache

from holdfast.search.languages.language import Language

__all__ = ["LANGUAGES", "available", "fields_of"]

# The id of a language and the module with its `LANGUAGE`.
LANGUAGES = {
    "javascript": "javascript",
    "typescript": "typescript",
    "tsx": "tsx",
    "python": "python",
    "go": "go",
    "java": "java",
    "c": "c",
    "cpp": "cpp",
    "csharp": "csharp",
    "elixir": "elixir",
    "kotlin": "kotlin",
    "lua": "lua",
    "php": "php",
    "ruby": "ruby",
    "rust": "rust",
    "scala": "scala",
    "shell": "shell",
    "swift": "swift",
}


@cache
def _rules(language: str) -> Language | None:
    module = LANGUAGES.get(language)
    if module is None:
        return None
    found = importlib.import_module(f"{__name__}.{module}").LANGUAGE
    assert isinstance(found, Language)
    return found


@cache
def available(language: str) -> Language | None:
    """The language, if its rules are known and its grammar is installed."""
    rules = _rules(language)
    if rules is None or importlib.util.find_spec(rules.grammar.partition(":")[0]) is None:
        return None
    return rules


def fields_of(language: str) -> frozenset[str]:
    """Which facts, counts, flags and other fields a chunk of this language can have; empty if it is unknown."""
    rules = _rules(language)
    return rules.fields if rules else frozenset()
