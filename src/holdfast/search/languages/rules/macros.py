"""Macros around the heads of C and C++ functions, which no grammar can tell from the words of the language.

`LIB_API int f(void) LIB_PURE;` is a declaration with two words more than a declaration has. Which of them are
macros is a guess by how they are written, so it is asked for only where the parser stumbled, and holds only if
less is broken without them.
"""

import re
from collections.abc import Iterator

from holdfast.search.languages.rules.conditionals import without_comments
from holdfast.search.languages.rules.language import words

__all__ = ["macros_of_heads"]

Span = tuple[int, int]

_MACRO = rb"(?:[A-Z][A-Z0-9_]{2,}|__(?!attribute__|declspec|asm)\w+)"
_NAME = rb"(?:(?:\w+(?:<[^<>;{}()\n]*>)?::)*(?:operator[ \t]*[^\w\s(;{}]{1,3}|~?\w+))"
# The words before a name, the name, and what stands behind the parameters.
_HEAD = re.compile(
    rb"^[ \t]*(?P<before>(?:[\w:<>,]+[ \t*&\n]+){1,8}?)(?P<name>" + _NAME + rb")[ \t]*"
    rb"\((?:[^();{}]|\((?:[^();{}]|\([^();{}]*\))*\))*\)"
    rb"(?P<behind>(?:\s+(?:const|noexcept|override|final|" + _MACRO + rb"(?:\([^()\n]*\))?)(?![^\s;{:]))*)"
    rb"(?=\s*[;{:])",
    re.MULTILINE,
)
_WORD = re.compile(rb"([\w:<>,]+)([ \t\n]*[*&]?)")
_BEHIND = re.compile(_MACRO + rb"(?:\([^()\n]*\))?")
# Macros that stand between two definitions, or before one, on lines of their own.
_CALLED = _MACRO + rb"(?:\((?:[^();{}\n]|\([^()\n]*\))*\))?"
_ALONE = re.compile(
    rb"(?:\A\s*|(?:[;{}:>]|^#[^\n]*+(?<!\\))\s*?\n[ \t]*)"
    rb"(" + _CALLED + rb"(?:[ \t]*\n\s*" + _CALLED + rb")*)[ \t]*\n(?=\s*[\w#\[~])",
    re.MULTILINE,
)
_IS_MACRO = re.compile(_MACRO + rb"\Z")
_OTHER_WORDS = words(
    "static extern inline const volatile virtual friend explicit constexpr typename struct class enum union"
)
_STATEMENTS = words("else if return while for switch do case new delete throw goto typedef using namespace")


def macros_of_heads(source: bytes) -> list[Span]:
    """Every word that may be a macro in the head of a function, or alone between two definitions."""
    source = without_comments(source)
    found = set(_alone(source))
    for head in _HEAD.finditer(source):
        written = list(_WORD.finditer(source, *head.span("before")))
        plain = [word[1].decode("utf-8", "replace") for word in written]
        if _STATEMENTS.isdisjoint(plain):
            found.update(_before(written, plain, head["name"]))
            found.update(macro.span() for macro in _BEHIND.finditer(source, *head.span("behind")))
    return sorted(found)


def _alone(source: bytes) -> Iterator[Span]:
    position = 0
    while found := _ALONE.search(source, position):
        yield found.span(1)
        position = found.end(1)


def _before(written: list[re.Match[bytes]], plain: list[str], name: bytes) -> Iterator[Span]:
    """All but the word that has to be the type, where no word in small letters is."""
    macros = [word for word in written if _IS_MACRO.match(word[1])]
    kept = None
    if len(macros) + len(_OTHER_WORDS.intersection(plain)) == len(written) and not _has_no_type(name):
        kept = next((word for word in macros if word[2].strip()), None) or _likely_type(macros)
    return (word.span(1) for word in macros if word is not kept)


def _likely_type(macros: list[re.Match[bytes]]) -> re.Match[bytes] | None:
    """BOOL API f(void), but also static __always_inline __u32 f(void)."""
    capitals = [word for word in macros if not word[1].startswith(b"__")]
    return capitals[0] if capitals else macros[-1] if macros else None


def _has_no_type(name: bytes) -> bool:
    """A constructor outside of its class, a destructor."""
    *around, last = re.sub(rb"<[^<>]*>", b"", name).split(b"::")
    return last.startswith(b"~") or (bool(around) and around[-1] == last)
