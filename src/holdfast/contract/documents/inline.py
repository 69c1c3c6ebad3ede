"""Inline text in both directions: what a code span says, and any name or sentence written safely into Markdown.

Not an inline parser: emphasis and links stay as the author wrote them.
"""

import json
import re

__all__ = ["cell", "code_span", "first_code", "name_of_code", "safe_prose", "without_marks"]

_CODE = re.compile(r"(?<!`)`+([^`]+)`+")
_SIMPLE = re.compile(r"[!-_a-{}~]+(?: [!-_a-{}~]+)*")  # printable, without the backtick and the pipe
_MAX_DEPTH = 3
_EMPHASIS = re.compile(r"\*\*|__|(?<!\w)[*_](?=\S)|(?<=\S)[*_](?!\w)")


def code_span(text: str) -> str:
    """`text` as a code span on one line; what would break it is written as a JSON string."""
    if _SIMPLE.fullmatch(text) and not text.startswith('"'):
        return f"`{text}`"
    escaped = json.dumps(text).replace("`", "\\u0060").replace("|", "\\u007c")
    return f"`{escaped}`"


def first_code(text: str) -> str | None:
    """What the first code span says, or None."""
    match = _CODE.search(text)
    return name_of_code(match.group(1)) if match else None


def name_of_code(text: str) -> str:
    """The name that the inside of a code span stands for; a JSON string stands for its value."""
    stripped = text.strip()
    if len(stripped) > 1 and stripped.startswith('"') and stripped.endswith('"'):
        try:
            value = json.loads(stripped)
        except ValueError:
            return stripped
        return value if isinstance(value, str) else stripped
    return stripped


def without_marks(text: str) -> str:
    """The words without emphasis and without the marks of code spans."""
    return _EMPHASIS.sub("", _CODE.sub(lambda match: match.group(1), text)).strip()


def cell(text: str) -> str:
    """`text` as the cell of a table: one line, its pipes escaped."""
    return " ".join(text.replace("\0", "\ufffd").split()).replace("|", "\\|")


def safe_prose(text: str) -> str:
    """`text` as it is where it is paragraphs and lists only, else as a quotation, out of which nothing can break.

    A description may hold headings, fences or comments of its own; outside a quotation they would change the
    structure of the document around them.
    """
    from holdfast.contract.documents.markdown import read_blocks, read_source

    lines = [line.rstrip() for line in text.strip().replace("\r\n", "\n").replace("\r", "\n").split("\n")]
    plain = "\n".join(lines).replace("\0", "\ufffd")
    source = read_source(plain)
    blocks = read_blocks(source)
    if any(block.kind == "deep" or block.depth > _MAX_DEPTH for block in blocks):
        # One more level would be too deep to be read; a fence has none.
        fence = "`" * max(3, *(len(run) + 1 for run in re.findall(r"`+", plain)), 3)
        return f"{fence}text\n{plain}\n{fence}"
    is_plain = not source.front_matter_lines and all(block.kind in {"paragraph", "item"} for block in blocks)
    if is_plain and not plain.startswith(("\ufeff", "    ", "\t")):
        return plain
    return "\n".join(f"> {line}".rstrip() for line in plain.split("\n"))
