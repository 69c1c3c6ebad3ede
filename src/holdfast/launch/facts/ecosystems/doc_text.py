"""Documentation in Markdown, as comments beside code have it, taken apart: a summary, text, and code in fences.

Dialects that are not Markdown are rewritten into it first. Links keep their words, headings go, code stays.
"""

import re

from holdfast.launch.facts.blocks import Block
from holdfast.launch.facts.docstrings import Docstring
from holdfast.launch.facts.markdown_blocks import markdown_blocks
from holdfast.launch.facts.sentences import split, tidy

__all__ = ["escaped", "first_paragraph", "read_text"]

_LONGEST = 40_000
_LONGEST_DOCUMENTATION = 7_500
_SHORTCUT = re.compile(r"\[(`[^`\n]+`)\](?:\[[^\]\n]*\])?(?![\[(:])")
_NAME = re.compile(r"(?<![\]\w`!])\[([A-Za-z_][\w.]*+(?:(?:::|\.)[\w]+)*(?:\(\))?!?)\](?![\[(:])")
_DEFINITION = re.compile(r"^\s{0,3}\[[^\]]+\]:\s*\S+.*$", re.MULTILINE)
_SEAM = "\2"
_SPECIAL = re.compile(r"([\\*_<\[\]])")


def escaped(text: str) -> str:
    """Plain text whose signs mean nothing."""
    return _SPECIAL.sub(r"\\\1", text)


def read_text(text: str, language: str) -> Docstring:
    """Take a text apart; code in it that names no language is in this one."""
    found = Docstring()
    text = _without_links(text[:_LONGEST].expandtabs(4))
    blocks = [block for block in markdown_blocks(text) if block.text.strip()]
    found.summary, found.summary_lines = _summary(blocks)
    found.documentation = _documentation(blocks, language)
    return found


def first_paragraph(text: str) -> str:
    """What a short text says, on one line and without markup: that of a parameter or a result."""
    blocks = markdown_blocks(_without_links(text[:_LONGEST]))
    said = next((block.text for block in blocks if block.kind in ("paragraph", "item")), "")
    return tidy(said)[:1_000]


def _without_links(text: str) -> str:
    """Links to names become code; one that touches code is one with it, as in a type whose parameter is a link."""
    text = _SHORTCUT.sub(rf"{_SEAM}\1{_SEAM}", text.replace(_SEAM, ""))
    return _NAME.sub(r"`\1`", text.replace(f"`{_SEAM}`", "").replace(_SEAM, ""))


def _summary(blocks: list[Block]) -> tuple[str, int]:
    first = next((block for block in blocks if block.kind != "heading"), None)
    if first is None or first.kind != "paragraph":
        return "", 1
    sentences = split(first.text)
    text = sentences[0].text if sentences else ""
    if not text or text.endswith(":"):
        return "", 1
    return (text if text.endswith((".", "!", "?")) else text + ".")[:1_000], first.end_line


def _documentation(blocks: list[Block], language: str) -> str:
    made: list[str] = []
    used = 0
    for block in blocks:
        if block.kind == "heading":
            continue
        if block.kind == "code":
            label = block.language if block.language not in ("", "ignore", "no_run", "should_panic") else language
            text = f"```{label}\n{block.text}\n```"
        else:
            text = f"- {tidy(block.text)}" if block.kind == "item" else block.text
        used += len(text) + 2
        if used > _LONGEST_DOCUMENTATION:
            break
        glue = "\n" if made and block.kind == "item" and made[-1].startswith("- ") else "\n\n"
        made.append(text if not made else glue + text)
    return "".join(made).strip()
