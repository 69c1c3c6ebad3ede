"""Rules that mend one line of a page.

Each takes the text and the issue; what it cannot mend it gives back as it was.
"""

import re
from collections.abc import Mapping
from typing import Any

from holdfast.launch.claim_marks import MARK, claims_of, mark
from holdfast.launch.fixing.page_text import is_shell, line_of, without_lines
from holdfast.launch.patching.page_lines import body_line, code_lines
from holdfast.launch.secret_scan import redact_secrets

__all__ = [
    "drop_duplicate_claim",
    "drop_uncited_line",
    "drop_unknown_mark",
    "mark_line",
    "redact_secret",
    "remove_dead_link",
    "remove_template_token",
    "repair_anchor",
]

_TABLE_RULE = re.compile(r"\s*+\|?\s*:?-+:?\s*+(\|\s*:?-+:?\s*+)*\|?\s*")
_EMPTY_VALUE = re.compile(r"""[^:=]+[:=]\s*+(""|''|)\s*""")
_TITLE = r"""(?:\s+(?:"[^"]*"|'[^']*'|\([^)]*\)))?\s*\)"""


def remove_template_token(text: str, issue: Mapping[str, Any]) -> str:
    """Take a left-over token of a template out of its line."""
    lines = text.split("\n")
    place = line_of(lines, issue)
    if place < 0 or not issue["data"]["token"]:
        return text
    left = lines[place].replace(issue["data"]["token"], "")
    lead = left[: len(left) - len(left.lstrip())]
    left = lead + re.sub(r"(?<!\s)\s+(?=[.,;:!?])|(?<=\S)[ ]{2,}(?=\S)", _one_space, left[len(lead) :]).rstrip()
    if place + 1 < body_line(text):
        if _EMPTY_VALUE.fullmatch(left):  # a key must not lose its value
            return text
    elif is_shell(left):
        return "\n".join(without_lines(lines, place, place + 1))
    return "\n".join([*lines[:place], left, *lines[place + 1 :]])


def redact_secret(text: str, issue: Mapping[str, Any]) -> str:
    """Redact what looks like a credential in the line; the issue names the line as it is without that."""
    lines, redacted = text.split("\n"), redact_secrets(text).split("\n")
    place = line_of(redacted, issue)
    return text if place < 0 else "\n".join([*lines[:place], redacted[place], *lines[place + 1 :]])


def remove_dead_link(text: str, issue: Mapping[str, Any]) -> str:
    """A link that leads nowhere becomes its own text, or goes with its line in a list of links; an image goes."""
    lines = text.split("\n")
    place = line_of(lines, issue, avoiding=code_lines(text))
    if place < 0:
        return text
    target = re.escape(issue["data"]["target"])
    image = re.compile(rf"!\[[^\]]*\]\(\s*<?{target}>?{_TITLE}")
    link = re.compile(rf"\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\(\s*<?{target}>?{_TITLE}")
    tag = re.compile(rf"""<a\b[^<>]*\bhref\s*=\s*["']{target}["'][^<>]*>(.*?)</a>""", re.IGNORECASE)
    picture = re.compile(rf"""<img\b[^<>]*\bsrc\s*=\s*["']{target}["'][^<>]*>""", re.IGNORECASE)
    left = image.sub("", picture.sub("", lines[place]))
    is_only_link = re.fullmatch(rf"\s*(?:[-*+]|\d+[.)])\s+{link.pattern}\s*", left)
    left = link.sub(r"\1", tag.sub(r"\1", left)).replace(f"<{issue['data']['target']}>", "")
    left = _without_references(lines, left, issue["data"]["target"])
    if left == lines[place]:
        return text
    left = left.rstrip()
    if is_only_link or is_shell(left):
        return "\n".join(without_lines(lines, place, place + 1))
    return "\n".join([*lines[:place], left, *lines[place + 1 :]])


def repair_anchor(text: str, issue: Mapping[str, Any]) -> str:
    """A link gets the target that was meant, where it stands or where its name is defined."""
    target, replacement = issue["data"]["target"], issue["data"]["replacement"]
    lines = text.split("\n")
    place = line_of(lines, issue, avoiding=code_lines(text))
    if place < 0 or not target:
        return text
    aimed = re.escape(target)
    linked = re.compile(rf"""(\]\(\s*<?|\b(?:href|src)\s*=\s*["']){aimed}(?=[\s>)"']|$)""")
    bare = re.compile(rf"(^|[\s(<]){aimed}(?=[\s>).,;:!?]|$)")
    defined = re.compile(rf"(\s{{0,3}}\[[^\]]+\]:\s*<?){aimed}(?=[\s>]|$)")
    new = linked.sub(lambda found: found[1] + replacement, lines[place])
    if new == lines[place] and "://" in target:
        new = bare.sub(lambda found: found[1] + replacement, new)
    if new != lines[place]:
        return "\n".join([*lines[:place], new, *lines[place + 1 :]])
    return "\n".join(defined.sub(lambda found: found[1] + replacement, line) for line in lines)


def mark_line(text: str, issue: Mapping[str, Any]) -> str:
    """A line gets the mark of the one claim that it was found to rest on."""
    lines = text.split("\n")
    place = line_of(lines, issue, avoiding=code_lines(text))
    missing = (
        [] if place < 0 else [name for name in issue["data"]["claim_ids"] if name not in claims_of(lines[place])]
    )
    if not missing:
        return text
    line = lines[place].rstrip()
    ids = [*claims_of(line), *missing]
    line = MARK.sub("", line).rstrip()
    row = re.fullmatch(r"(\s*\|.*?)(?<!\s)\s*\|", line)
    lines[place] = f"{row[1]}{mark(ids)} |" if row else line + mark(ids)
    return "\n".join(lines)


def drop_uncited_line(text: str, issue: Mapping[str, Any]) -> str:
    """A line that rests on nothing goes."""
    return _without(text, line_of(text.split("\n"), issue, avoiding=code_lines(text)))


def drop_duplicate_claim(text: str, issue: Mapping[str, Any]) -> str:
    """A line goes that says what another one says."""
    lines = text.split("\n")
    others = {number for number, line in enumerate(lines, 1) if issue["data"]["claim_id"] not in claims_of(line)}
    return _without(text, line_of(lines, issue, avoiding=others))


def drop_unknown_mark(text: str, issue: Mapping[str, Any]) -> str:
    """A mark loses a claim that there is not."""
    lines = text.split("\n")
    gone = issue["data"]["claim_id"]
    others = {number for number, line in enumerate(lines, 1) if gone not in claims_of(line)}
    place = line_of(lines, issue, avoiding=others)
    if place >= 0:
        lines[place] = MARK.sub(lambda found: _mark_without(found[0], gone), lines[place])
    return "\n".join(lines)


def _without(text: str, place: int) -> str:
    lines = text.split("\n")
    is_header = 0 <= place < len(lines) - 1 and "|" in lines[place] and _TABLE_RULE.fullmatch(lines[place + 1])
    if place + 1 < body_line(text) or is_header:  # a table without its header is none
        return text
    return "\n".join(without_lines(lines, place, place + 1))


def _mark_without(written: str, gone: str) -> str:
    kept = [name for name in claims_of(written) if name != gone]
    return mark(kept)


def _without_references(lines: list[str], line: str, target: str) -> str:
    """The line with `[text][name]` as its text, where the name stands for the target, or for nothing."""
    defined = re.compile(rf"\s{{0,3}}\[([^\]]+)\]:\s*<?{re.escape(target)}>?(\s|$)")
    names = {_key(found[1]) for each in lines if (found := defined.match(each))}
    names |= {_key(target[1:-1])} if target.startswith("[") and target.endswith("]") else set()

    def plain(found: re.Match[str]) -> str:
        if _key(found[3] or found[2]) not in names:
            return found[0]
        return "" if found[1] else found[2]

    return re.sub(r"(!?)\[([^\[\]]*)\]\[([^\[\]]*)\]", plain, line)


def _key(name: str) -> str:
    return " ".join(name.split()).casefold()


def _one_space(found: re.Match[str]) -> str:
    """Where a word went, no gap stays; nor a space before what ends a sentence."""
    after = found.string[found.end() : found.end() + 1]
    return "" if after in ".,;:!?" else " "
