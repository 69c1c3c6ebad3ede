"""The inline markup of reStructuredText, taken off: code stays in backticks, links keep their words.

Line breaks are kept where they are, so that a sentence can still be found in its file.
"""

import re
from collections.abc import Callable

from holdfast.launch.facts.roles import LOST, role_text

__all__ = ["rst_inline"]

_LITERAL = re.compile(r"``(.+?)``", re.DOTALL)
_ROLE = re.compile(r":([a-zA-Z][\w:+-]*):`([^`]+)`")
_LINK = re.compile(r"`([^`<]*?)(?<!\s)\s*<([^<>`]*)>`__?")
_REFERENCE = re.compile(r"`([^`]+)`__?(?!\w)")
_INTERPRETED = re.compile(r"`([^`]+)`")
_TARGET = re.compile(r"(?<!\s)\s*<[^<>`]*>$")
# A command at the beginning that is explained: `tool run`: what it does.
_COMMAND = re.compile(r"\s*`([a-z][\w-]*(?: [a-z][\w-]*)*)`(?=:\s)")
_STRONG = re.compile(r"(?<![\w*])\*\*(?=\S)(.+?)(?<=\S)\*\*(?![\w*])", re.DOTALL)
_EMPHASIS = re.compile(r"(?<![\w*\\])\*(?=[^\s*])([^*]+?)(?<=[^\s\\])\*(?![\w*])")
_FOOTNOTE = re.compile(r"(?<!\s)\s*\[(?:\d+|#\w*|\*)\]_")
_WORD = re.compile(r"(?<![\w`])([A-Za-z][\w.+-]*?[A-Za-z0-9])__?(?=[\s.,;:!?)'’]|$)")
_SUBSTITUTION = re.compile(r"\|[A-Za-z][\w -]*\|_{0,2}")
# A backslash also ends a role, so that letters may follow at once: `:class:`Option`\s`.
_ESCAPED = re.compile(r"\\(\s|[^\w\s])|(?<=\0)\\(?=\w)")
# Between words; at the beginning of a word it is an option.
_DASHES = re.compile(r"(?<=\s)---?(?=\s)")
_CODE_LIKE = re.compile(r"[\w.]+\(.*\)|\w+(?:\.\w+)+|[^\W_]*+_\w*+|[A-Z][^\WA-Z]*+[A-Z]\w*+|--?\w[\w-]*")


def rst_inline(text: str) -> str:
    """The text without its markup; words that are lost leave a mark that no sentence may have."""
    if not any(sign in text for sign in ("`", "*", "_", "|", "\\", "--")):
        return text
    kept: list[str] = []

    def keep(code: str) -> str:
        kept.append(code)
        return f"\0{len(kept) - 1}\0"

    text = text.replace("\0", "")
    text = _LITERAL.sub(lambda found: keep("`" + found[1] + "`"), text)
    text = _ROLE.sub(lambda found: keep(role_text(found[1], found[2])), text)
    text = _LINK.sub(lambda found: found[1] or keep(found[2]), text)
    text = _REFERENCE.sub(r"\1", text)
    if command := _COMMAND.match(text):
        text = keep(command[0].strip()) + text[command.end() :]
    text = _INTERPRETED.sub(lambda found: _interpreted(found[1], keep), text)
    text = _FOOTNOTE.sub("", text)
    text = _STRONG.sub(r"\1", text)
    text = _EMPHASIS.sub(r"\1", text)
    text = _WORD.sub(r"\1", text)
    text = _SUBSTITUTION.sub(LOST, text)
    text = _DASHES.sub(lambda found: "—" if len(found[0]) > 2 else "–", text)
    text = _ESCAPED.sub(lambda found: "" if found[1] in (None, " ", "\n") else found[1], text)
    return re.sub("\0(\\d+)\0", lambda found: kept[int(found[1])], text)


def _interpreted(content: str, keep: Callable[[str], str]) -> str:
    """Words in single backticks: code where they look like it, else what a reader sees of a reference."""
    words = _TARGET.sub("", content) or content.strip("<> ")
    return keep(f"`{words}`") if _is_code(words) else words


def _is_code(word: str) -> bool:
    return word.isidentifier() or _CODE_LIKE.fullmatch(word) is not None
