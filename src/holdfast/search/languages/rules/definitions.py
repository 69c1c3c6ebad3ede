"""Languages of which only the definitions are known: what they are called, where they stand, what is said of them.

Nothing is claimed about what happens inside of a definition: no calls, no names that are read, no counts.
"""

import re
from collections.abc import Callable

from holdfast.search.languages.rules.language import SLASH_COMMENTS, Import, Language, Parameter, words

__all__ = ["DASH_COMMENTS", "access", "definitions_only", "no_visibility", "packed"]

# `-- a remark`, and the brackets around longer ones.
DASH_COMMENTS = re.compile(r"^[ \t]*(?:\{-+|--+)(?:[ \t]?[|^!])?[ \t]?|[ \t]*+(?:-+\})?[ \t\r]*+$", re.MULTILINE)

# Words for access that some languages have, and what they are called here.
_ACCESS = {
    "public": "public",
    "open": "public",
    "protected": "protected",
    "internal": "internal",
    "package": "internal",
    "private": "private",
    "fileprivate": "private",
}


def packed(name: str) -> str:
    """The grammar of this name in the one package that holds many of them, the extra `languages`."""
    return f"tree_sitter_language_pack.bindings.{name}:language"


def no_visibility(_name: str, _modifiers: list[str]) -> str:
    """The rule of languages that do not say it of each definition."""
    return ""


def access(default: str) -> Callable[[str, list[str]], str]:
    """The rule of languages that say it with a word; without one, it is the default."""

    def visibility(_name: str, modifiers: list[str]) -> str:
        return next((_ACCESS[modifier] for modifier in modifiers if modifier in _ACCESS), default)

    return visibility


def _no_parameters(_text: str, _blanked: str) -> list[Parameter]:
    return []


def _no_imports(_text: str) -> list[Import]:
    return []


def _no_exports(_source: bytes, _public: list[str]) -> list[str]:
    return []


def definitions_only(
    language: str,
    grammar: str,
    query: str,
    *,
    root: str,
    fields: str = "",
    visibility: Callable[[str, list[str]], str] = no_visibility,
    comment_signs: re.Pattern[str] = SLASH_COMMENTS,
    restart: bytes = b"",
    misleading: bytes = b"",
    naming: Callable[[str], str] | None = None,
    joins: bool = False,
    trims: bool = False,
) -> Language:
    """A language with this query for its definitions and comments; `fields` are what it has besides the usual."""
    return Language(
        id=language,
        grammar=grammar,
        # The whole file is declared to be no name that is read: `reads` and `uses` would be guesses.
        query=f"{query}\n({root}) @label\n(ERROR) @label\n(ERROR) @error\n(MISSING) @error\n",
        fields=words("signature doc") | words(fields),
        keywords=frozenset(),
        visibility=visibility,
        parameters=_no_parameters,
        imports=_no_imports,
        exports=_no_exports,
        restart=re.compile(restart, re.MULTILINE) if restart else None,
        misleading=re.compile(misleading) if misleading else None,
        comment_signs=comment_signs,
        naming=naming,
        joins=joins,
        trims=trims,
    )
