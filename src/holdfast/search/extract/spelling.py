"""How names are written in a language: the patterns that find whole names and their parts.

Most languages put a dot between the parts of a name; others have `::` or `->` besides it. Nothing here knows a
language: separators, and signs before and behind a word, are all that differs.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial

from holdfast.search.languages.rules.language import Language

__all__ = ["Spelling", "spelled", "spelling"]

_DOTS = (".",)
_SIGNS = ".:->\\"


@dataclass(frozen=True, slots=True)
class Spelling:
    """The patterns of one set of separators. Bytes outside of ASCII count as letters."""

    whole: re.Pattern[str]  # a name with all its parts, and nothing else
    each: re.Pattern[str]  # every such name in a text
    first: re.Pattern[str]  # the first part of a name
    last: re.Pattern[str]  # the last separator and the last part
    run: re.Pattern[bytes]  # what may be a name, with a quote behind it: then it is the prefix of a string
    name: re.Pattern[bytes]  # the name that a run begins with
    accesses: tuple[bytes, ...]  # separators behind something that is read; what stands before `::` is not

    def last_access(self, source: bytes) -> Callable[[int, int], int]:
        """A function that tells where the last access in a range stands; -1 if there is none."""
        if self.accesses == (b".",):
            return partial(source.rfind, b".")
        return lambda start, end: max((source.rfind(sign, start, end) for sign in self.accesses), default=-1)

    def parted(self, name: str) -> tuple[str, str]:
        """All parts but the last one with their separators, and the last one: `a.b` and `c` of `a.b.c`."""
        last = self.last.search(name)
        return (name[: last.start()], last[0].lstrip(_SIGNS)) if last else ("", name)


def spelled(language: Language) -> Spelling:
    """The patterns for the names of a language."""
    return spelling(language.separators, language.signs_before, language.signs_behind)


@cache
def spelling(separators: tuple[str, ...] = _DOTS, before: str = "", behind: str = "") -> Spelling:
    """The patterns for names with these separators, and with these signs before and behind their words."""
    if before or behind:
        return _signed(separators, before, behind)
    # Names may hold a dollar sign, and attributes a hash, in some languages; in others neither gets this far.
    if separators == _DOTS:
        part = r"(?!\d)[\w$]+(?:\.#?(?!\d)[\w$]+)*"
        letter, tail = rb"[A-Za-z_$\x80-\xff]", rb"[\w$\x80-\xff]*"
        return Spelling(
            whole=re.compile(part + r"\Z"),
            each=re.compile(part),
            first=re.compile(r"[^.]+"),
            last=re.compile(r"\.[^.]*\Z"),
            run=re.compile(rb"[\w.$#\x80-\xff]+[\"']?"),
            name=re.compile(letter + tail + rb"(?:\.#?" + letter + tail + rb")*"),
            accesses=(b".",),
        )
    joint = "(?:" + "|".join(re.escape(separator) for separator in separators) + ")"
    signs = re.escape("".join({separator[-1] for separator in separators}))
    part = rf"(?!\d)[\w$]+(?:{joint}[\w$]+)*"
    in_bytes, word = joint.encode(), rb"[\w$\x80-\xff]+"
    # A separator in front shows the tail of something else, unless it is the end of `..`, a range.
    return Spelling(
        whole=re.compile(part + r"\Z"),
        each=re.compile(rf"(?<![\w${signs}])" + part),
        first=re.compile(r"[\w$]+"),
        last=re.compile(joint + r"[\w$]+\Z"),
        run=re.compile(rb"(?:(?<!\.)" + in_bytes + rb")?" + word + rb"(?:" + in_bytes + word + rb")*[\"']?"),
        name=re.compile(rb"(?!\d)" + word + rb"(?:" + in_bytes + word + rb")*"),
        accesses=tuple(separator.encode() for separator in separators if separator != "::"),
    )


def _signed(separators: tuple[str, ...], before: str, behind: str) -> Spelling:
    """The patterns where signs belong to names: `@items`, `$items`, `empty?`. No quote makes them a prefix."""
    never = "(?!)"  # where names have one part only
    joint = "(?:" + "|".join(re.escape(separator) for separator in separators) + ")" if separators else never
    around = re.escape(before + "".join({separator[-1] for separator in separators}))
    front = f"[{re.escape(before)}]*" if before else ""
    end = f"(?:[{re.escape(behind)}](?!=))?" if behind else ""
    part = rf"{front}(?!\d)\w+(?:{joint}{front}\w+)*{end}"
    joint_bytes, front_bytes, word = joint.encode(), front.encode(), rb"[\w\x80-\xff]+"
    more = rb"(?:" + joint_bytes + front_bytes + word + rb")*" + end.encode()
    return Spelling(
        whole=re.compile(part + r"\Z"),
        each=re.compile(rf"(?<![\w{around}])" + part),
        first=re.compile(rf"{front}\w+{end}" if separators else ".+"),
        last=re.compile(rf"{joint}{front}\w+{end}\Z"),
        run=re.compile(rb"(?:(?<!\.)" + joint_bytes + rb")?" + front_bytes + word + more),
        name=re.compile(front_bytes + rb"(?!\d)" + word + more),
        accesses=tuple(separator.encode() for separator in separators if separator not in ("::", "\\")),
    )
