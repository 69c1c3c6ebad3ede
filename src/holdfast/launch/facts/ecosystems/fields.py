"""What stands in the body of a type: fields, properties and variants, each with the comment above it.

The engine has definitions down to methods; the fields of a struct or of an interface are lines of it.
"""

import re
from collections.abc import Iterator, Sequence

from holdfast.launch.elements import sub_elements
from holdfast.launch.evidence import Definition

__all__ = ["body_of", "fields_of"]

_COMMENT_LINE = re.compile(r"^\s*//[/!]? ?(.*)$")
_STRINGS = re.compile(r"\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|`[^`\n]*`|//.*$|/\*.*?\*/")
_MOST = 80


def fields_of(
    owner: Definition, source: Sequence[str], pattern: re.Pattern[str], signs: tuple[str, ...] = ("",)
) -> Iterator[Definition]:
    """The fields whose line matches: group 1 is the name. Comments that begin with a sign are documentation."""
    comment: list[str] = []
    comment_line = 0
    depth = 0
    found = 0
    inside_comment = False
    for number in range(owner.start_line, min(owner.end_line, len(source)) + 1):
        line = source[number - 1]
        stripped = line.strip()
        if inside_comment or stripped.startswith(("/*", "//")):
            comment_line = comment_line or number
            comment.append(line)
            inside_comment = (inside_comment or stripped.startswith("/*")) and "*/" not in stripped
            continue
        named = pattern.match(line) if depth == 1 and found < _MOST else None
        if named:
            found += 1
            doc = _said(comment) if comment and comment[0].strip().startswith(signs) else ""
            yield Definition(
                "variable", f"{owner.name}.{named[1]}", _signature(source, number, owner.end_line), number, number,
                doc=doc, doc_line=comment_line if doc else 0,
                visibility="public",
            )  # fmt: skip
        if stripped and not stripped.startswith(("#[", "@", "[")):
            comment, comment_line = [], 0
        bare = _STRINGS.sub("", line)
        depth += bare.count("{") + bare.count("(") + bare.count("[")
        depth -= bare.count("}") + bare.count(")") + bare.count("]")


def _signature(source: Sequence[str], number: int, last: int) -> str:
    """The line of a field, and what follows where a bracket stays open."""
    made: list[str] = []
    depth = 0
    for at in range(number, min(last, number + 12) + 1):
        bare = _STRINGS.sub("", source[at - 1])
        depth += sum(map(bare.count, "([{")) - sum(map(bare.count, ")]}"))
        made.append(re.sub(r"(?<!\s)\s*//.*$", "", source[at - 1]).strip())
        if depth <= 0:
            break
    return " ".join(made).rstrip(" ;,")[:400]


def _said(lines: Sequence[str]) -> str:
    if not lines:
        return ""
    if not lines[0].strip().startswith("/*"):
        return "\n".join(found[1] if (found := _COMMENT_LINE.match(line)) else line for line in lines)
    text = "\n".join(lines).strip()
    text = re.sub(r"^/\*[*!]*|(?:(?<!\*)\*+)?/$", "", text)
    return "\n".join(re.sub(r"^\s*\*? ?", "", line) for line in text.split("\n")).strip()


def body_of(definition: Definition, source: Sequence[str], keep: re.Pattern[str] | None, most: int = 24) -> str:
    """The text of a short definition without comments, and of its body only the lines to keep."""
    lines = source[definition.start_line - 1 : definition.end_line]
    text = sub_elements("\n".join(lines), re.compile(r"/\*"), re.compile(r"\*/"))
    made = [re.sub(r"(?:^|(?<!\s)\s+)//.*$", "", line).rstrip() for line in text.split("\n")]
    made = _whole([line for line in made if line.strip()])
    if keep is not None and len(made) > 2:
        made = [made[0], *(line for line in made[1:-1] if keep.match(line)), made[-1]]
    if not made or len(made) > most:
        return ""
    margin = min(len(line) - len(line.lstrip()) for line in made)
    return "\n".join(line[margin:].replace("\t", "    ") for line in made)


def _whole(lines: Sequence[str]) -> list[str]:
    """The lines up to the bracket that closes the first one."""
    depth, is_open = 0, False
    for number, line in enumerate(lines, 1):
        bare = _STRINGS.sub("", line)
        depth += sum(map(bare.count, "([{")) - sum(map(bare.count, ")]}"))
        is_open = is_open or "{" in bare
        if is_open and depth <= 0:
            return list(lines[:number])
    return list(lines)
