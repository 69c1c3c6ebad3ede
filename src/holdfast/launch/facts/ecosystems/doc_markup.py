"""Documentation in tags of HTML or XML, rewritten into Markdown: what Javadoc and the comments of C# share."""

import html
import re
import textwrap

__all__ = ["markup_text"]

_BLOCK = r"<({})\b[^>]*>(.*?)</\1\s*>"
_INLINE = re.compile(
    r"<(?:code|tt|c|kbd|samp)\b[^>]*>(.*?)</(?:code|tt|c|kbd|samp)\s*>", re.DOTALL | re.IGNORECASE
)
_TABLE = re.compile(r"<(table|dl)\b.*?</\1\s*>", re.DOTALL | re.IGNORECASE)
_HEADING = re.compile(r"<h([1-6])\b[^>]*>.*?</h\1\s*>", re.DOTALL | re.IGNORECASE)
_PARAGRAPH = re.compile(
    r"</?(?:p|para|br|div|blockquote|remarks|example|value|ul|ol|list)\b[^>]*+/?>", re.IGNORECASE
)
_ITEM = re.compile(r"\s*<(?:li|item)\b[^>]*>\s*", re.IGNORECASE)
_TAG = re.compile(r"</?[A-Za-z][^<>]*>")
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_SIGNS = re.compile(r"([\\*_\[\]])")


def markup_text(text: str, language: str, blocks: str = "pre") -> str:
    """The text as Markdown; code blocks, which stand in these tags, are in this language."""
    kept: list[str] = []

    def keep(made: str) -> str:
        kept.append(made)
        return f"\1{len(kept) - 1}\1"

    def block(found: re.Match[str]) -> str:
        inside = html.unescape(_TAG.sub("", found[2]))
        return f"\n\n{keep(_fence(inside, language))}\n\n"

    text = _COMMENT.sub("", text.replace("\1", ""))
    text = re.sub(_BLOCK.format(blocks), block, text, flags=re.DOTALL | re.IGNORECASE)
    text = _INLINE.sub(lambda found: keep(_span(html.unescape(_TAG.sub("", found[1])))), text)
    text = re.sub(r"`[^`\n]+`", lambda found: keep(found[0]), text)
    text = _HEADING.sub("\n\n", _TABLE.sub("\n\n", text))
    text = _ITEM.sub("\n- ", _PARAGRAPH.sub("\n\n", text))
    text = _SIGNS.sub(r"\\\1", html.unescape(_TAG.sub("", text))).replace("<", "\\<")
    text = "\n".join(line.strip() for line in text.split("\n"))
    return re.sub("\1(\\d+)\1", lambda found: kept[int(found[1])], text).strip()


def _span(code: str) -> str:
    plain = " ".join(code.split()).replace("`", "")
    return f"`{plain}`" if plain else ""


def _fence(code: str, language: str) -> str:
    lines = code.replace("\t", "    ").strip("\n").rstrip()
    return f"```{language}\n{textwrap.dedent(lines)}\n```" if lines.strip() else ""
