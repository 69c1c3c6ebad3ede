"""The prose of a docstring: its paragraphs and lists, without fields, directives, sections of names and code.

Parameters, results and errors of a name are told in tables, and its examples are snippets; what is left here is
what a person would read aloud. Styles may be mixed in one docstring, as they are in the wild.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

__all__ = ["Piece", "pieces"]

_DIRECTIVE = re.compile(r"\.\.\s+([\w:-]+)::\s*(.*)$")
_FIELD = re.compile(r":\w+(?:\s[^:]*)?:(?:\s|$)")
_SECTION = re.compile(
    r"(?:Args|Arguments|Parameters|Params|Keyword Arg(?:ument)?s|Other Parameters|Attributes|Returns?|Yields?|"
    r"Raises|Except|Exceptions|Warns|Examples?|Usage|See Also|References|Todo|Methods)\s*:*$",
    re.IGNORECASE,
)
_ASIDE = re.compile(r"(Notes?|Warnings?|Tip|Hint|Important|Caution)\s*:$", re.IGNORECASE)
_RULE = re.compile(r"[-=~^]{3,}$")
_FENCE = re.compile(r"(`{1,}|~{3,})[\w+-]*$")
_ITEM = re.compile(r"(?:[-*+]|\d{1,2}[.)])\s+(?=\S)")
_CODE = re.compile(r"(?:# ?)?>>>|\.\.\.\s|\$\s")
_LAST_SENTENCE = re.compile(r"(?:^|(?<=[.!?])\s+)[^.!?]*:$")
_SINCE = {"versionadded": "Added in version", "versionchanged": "Changed in version"}
_ASIDES = frozenset({"note", "warning", "tip", "hint", "important", "caution", "attention", "danger"})


class Piece(NamedTuple):
    """A paragraph, or the items of a list."""

    texts: tuple[str, ...]
    is_list: bool = False


def pieces(documentation: str) -> list[Piece]:
    """The paragraphs and lists of a docstring in their order."""
    return list(_pieces(documentation.expandtabs(4).split("\n")))


def _pieces(lines: list[str]) -> Iterator[Piece]:
    at = 0
    while at < len(lines):
        line = lines[at].strip()
        end = _skipped(lines, at)
        if end > at:
            yield from _said(lines[at:end])
            at = end
        elif _ITEM.match(line):
            at, items = _list(lines, at)
            yield Piece(tuple(items), is_list=True)
        else:
            end = at
            while end < len(lines) and lines[end].strip() and not (end > at and _interrupts(lines, end)):
                end += 1
            text = _announcing_nothing(" ".join(line.strip() for line in lines[at:end]), lines, end)
            if text:
                yield Piece((text,))
            at = max(end, at + 1)


def _interrupts(lines: list[str], at: int) -> bool:
    return _ITEM.match(lines[at].strip()) is not None or _skipped(lines, at) > at


def _skipped(lines: list[str], at: int) -> int:
    """Where the part that begins here and is no prose ends; `at` itself where it is prose."""
    line, text = lines[at], lines[at].strip()
    if _FENCE.fullmatch(text):
        return _fence_end(lines, at)
    if at + 1 < len(lines) and text and _RULE.fullmatch(lines[at + 1].strip()):
        return _underlined_end(lines, at) if _SECTION.match(text) else at + 2
    is_block = text.startswith("..") or _FIELD.match(text) or _CODE.match(text)
    if is_block or (_SECTION.fullmatch(text) and text.endswith(":")) or _ASIDE.fullmatch(text):
        return _indented_end(lines, at)
    if line.startswith("    ") and not (at and lines[at - 1].strip()):
        return _indented_end(lines, at, margin=3)
    return at


def _indented_end(lines: list[str], at: int, margin: int = -1) -> int:
    """The first line after `at` that is not further to the right than it."""
    margin = _margin(lines[at]) if margin < 0 else margin
    end = at + 1
    is_code = _CODE.match(lines[at].strip()) is not None
    while end < len(lines):
        if not lines[end].strip():
            if is_code:
                return end
        elif not is_code and _margin(lines[end]) <= margin:
            return end
        end += 1
    return end


def _margin(line: str) -> int:
    return len(line) - len(line.lstrip())


def _fence_end(lines: list[str], at: int) -> int:
    """After the fence that closes; a fence that nothing closes is a line of its own."""
    closing = (end for end in range(at + 1, len(lines)) if re.fullmatch(r"`+|~{3,}", lines[end].strip()))
    return next(closing, at) + 1


def _underlined_end(lines: list[str], at: int) -> int:
    end = at + 2
    while end < len(lines):
        if end + 1 < len(lines) and lines[end].strip() and _RULE.fullmatch(lines[end + 1].strip()):
            return end
        end += 1
    return end


def _said(block: list[str]) -> Iterator[Piece]:
    """What a directive or a section says that belongs to the prose."""
    first = block[0].strip()
    found = _DIRECTIVE.match(first)
    if found and found[1] in _SINCE:
        version, _, text = found[2].partition(" ")
        told = " ".join([text, *(line.strip() for line in block[1:])]).strip()
        about = f"{_SINCE[found[1]]} {version}"
        yield Piece((f"{about}: {told}" if told else f"{about}.",))
    elif (found and found[1] in _ASIDES) or _ASIDE.fullmatch(first):
        margin = min((_margin(line) for line in block[1:] if line.strip()), default=0)
        inner = [line[margin:] for line in block[1:]]
        yield from _pieces([found[2], *inner] if found else inner)


def _list(lines: list[str], at: int) -> tuple[int, list[str]]:
    margin = _margin(lines[at])
    items: list[str] = []
    while at < len(lines):
        text = lines[at].strip()
        if text and _margin(lines[at]) == margin and _ITEM.match(text):
            items.append(_ITEM.sub("", text, count=1))
        elif text and _margin(lines[at]) > margin and lines[at - 1].strip():
            items[-1] += " " + text
        elif text or not _goes_on(lines, at, margin):
            break
        at += 1
    return at, items


def _goes_on(lines: list[str], at: int, margin: int) -> bool:
    following = next((line for line in lines[at:] if line.strip()), "")
    return _margin(following) == margin and _ITEM.match(following.strip()) is not None


def _announcing_nothing(text: str, lines: list[str], end: int) -> str:
    """Without a last sentence that announces code which is not shown here."""
    following = next((at for at in range(end, len(lines)) if lines[at].strip()), end)
    is_code = following < len(lines) and _skipped(lines, following) > following
    if text.endswith("::") or (text.endswith(":") and is_code):
        return _LAST_SENTENCE.sub("", text.rstrip(":") + ":").strip()
    return text
