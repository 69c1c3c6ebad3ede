"""Regular expressions: which are accepted, and the engine that runs them.

They run over whole files that somebody else wrote, so the engine is RE2: its time grows with the text and with
nothing else. Look-around and back-references cannot be had that way and are refused. `^` and `$` stand for the
ends of a line.
"""

import re
import warnings
from functools import lru_cache
from importlib import import_module
from typing import Any

from holdfast.errors import ToolError

__all__ = ["Tree", "compiled", "parsed"]

_LONGEST_PATTERN = 1000
_MOST_MEMORY = 32 << 20  # bytes that one pattern may take

# What RE2 knows and the parser of the standard library does not: classes of Unicode, and of POSIX in a class.
_PROPERTY = re.compile(r"\\[pP](?:\{\^?\w+\}|[A-Z])")
_POSIX = re.compile(r"\[:\^?\w+:\]")
_ANY = r"\w"  # stands for them where only the form of a pattern counts: some character, no matter which

Tree = Any  # the parse tree of the standard library, which has no public type


@lru_cache(256)
def compiled(pattern: str, flags: str = "") -> Any:
    """The pattern, ready for `search` and `finditer` over text or UTF-8 bytes.

    Raises ToolError INVALID_REQUEST for one that is not accepted; `details["position"]` counts the characters of
    the pattern before the mistake.
    """
    parsed(pattern, flags)
    import re2

    options = re2.Options()
    options.log_errors = False
    options.max_mem = _MOST_MEMORY
    try:
        return re2.compile(f"(?m{''.join(sorted(set(flags) - {'m'}))}:{pattern})", options)
    except re2.error as error:
        said = error.args[0].decode("utf-8", "replace") if error.args else ""
        hint = "Look-around, back-references and counts above 1,000 are not supported; write it without them."
        raise _refused(f"the regular expression is not supported: {said}", 0, hint) from None


@lru_cache(256)
def parsed(pattern: str, flags: str = "") -> Tree:
    """The parse tree of a pattern that is valid as such; classes that only RE2 knows are any class in it."""
    if len(pattern) > _LONGEST_PATTERN:
        length = f"the regular expression has {len(pattern):,} characters, and {_LONGEST_PATTERN:,} are allowed"
        raise _refused(length, _LONGEST_PATTERN, "Write a shorter one.")
    try:
        pattern.encode()
    except UnicodeEncodeError as error:
        raise _refused(
            "the regular expression is not valid Unicode", error.start, "Write other characters."
        ) from None
    unknown = sorted(set(flags) - set("ims"))
    if unknown:
        raise _refused(f"the flag {unknown[0]!r} of a regular expression is not known", 0, "There are i, m and s.")
    plain, places = _without_own_classes(pattern)
    parser: Any = import_module("re._parser")  # what `re.compile` itself parses with; no public name leads there

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # remarks on the style of a pattern
            return parser.parse(plain, re.IGNORECASE if "i" in flags else 0)
    except re.error as error:
        message = f"the regular expression is not valid: {error.msg}"
        raise _refused(
            message, places[error.pos or 0], "Correct it; a backslash makes a character literal."
        ) from None
    except (OverflowError, RecursionError):
        raise _refused("the regular expression is too large", 0, "Write a simpler one.") from None


def _without_own_classes(pattern: str) -> tuple[str, list[int]]:
    """The pattern without what only RE2 knows, and where each of its characters, and its end, was before."""
    parts: list[str] = []
    places: list[int] = []
    at, class_from = 0, -1  # where the class began that we are in, behind its bracket
    while at < len(pattern):
        own = _PROPERTY.match(pattern, at) or (_POSIX.match(pattern, at) if class_from >= 0 else None)
        length = own.end() - at if own else 2 if pattern[at] == "\\" else 1
        part = pattern[at : at + length]
        if part == "[" and class_from < 0:
            class_from = at + 1 + pattern.startswith("^", at + 1)
        elif part == "]" and at > class_from:  # as the first of a class it is one of its characters
            class_from = -1
        shown = _ANY if own else part
        parts.append(shown)
        places += [at] * len(shown) if own else range(at, at + len(part))
        at += length
    return "".join(parts), [*places, len(pattern)]


def _refused(message: str, position: int, hint: str) -> ToolError:
    return ToolError("INVALID_REQUEST", message, details={"position": position}, hint=hint)
