"""TOML that may come from anywhere: what cannot be read is told in words, and nothing takes for ever.

The reader of the standard library is loaded only when there is something to read.
"""

import re
from typing import Any

from holdfast.errors import HoldfastError

__all__ = ["MOST_PARTS", "TomlRefused", "parse_toml"]

# The reader takes the square of the length of a dotted key: one of a megabyte takes an hour. So such keys are
# looked for first, token by token, and no token twice. Texts have to be known as such, or a quote hides a key.
MOST_PARTS = 100
_TOKEN = re.compile(
    r"""
    (?P<text> \"{3} (?: [^"\\]++ | \\[\s\S] | ""?(?!") )* "{0,5} | '{3} (?: [^']++ | ''?(?!') )* '{0,5} )
    | (?P<part> [A-Za-z0-9_-]++ | " (?: [^"\\\n]++ | \\. )* "? | '[^'\n]*+'? )
    | (?P<dot> \. )
    | (?P<blank> [ \t]++ )
    | (?P<other> \#[^\n]*+ | . | \n )
    """,
    re.VERBOSE,
)


class TomlRefused(HoldfastError):  # noqa: N818 - it names what happened
    """A text that is no TOML, or none that we read; `reason` goes on where the name of its file ends."""

    def __init__(self, reason: str, remedy: str) -> None:
        super().__init__(reason)
        self.reason = reason
        self.remedy = remedy


def parse_toml(text: str) -> dict[str, Any]:
    """The tables of a TOML text."""
    import tomllib

    if text.count(".") >= MOST_PARTS and _has_tower(text):
        raise TomlRefused(f"has a key of more than {MOST_PARTS} parts", "no key has more than a few")
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise TomlRefused("is nested too deeply", "use tables, not towers") from None
    except ValueError as error:  # its own kind, and the one for numbers of thousands of digits
        reason = " ".join(str(error).split())[:200]
        raise TomlRefused(f"is not valid TOML: {reason}", "correct that line") from None


def _has_tower(text: str) -> bool:
    """Whether more names stand in a row, with nothing but dots between them, than any key needs."""
    dots, expected = 0, "part"
    for token in _TOKEN.finditer(text):
        kind = token.lastgroup
        if kind == "blank":
            continue
        if kind != expected:
            dots = 0
        elif kind == "dot":
            dots += 1
            if dots >= MOST_PARTS:
                return True
        expected = "dot" if kind == "part" else "part"
    return False
