"""Documentation in tags of HTML or XML, rewritten into Markdown: what Javadoc and the comments of C# share."""

import html
import re
import textwrap

from holdfast.launch.elements import sub_elements

__all__ = ["markup_text"]

_TABLE = (
    re.compile(r"<(?P<name>table|dl)\b", re.IGNORECASE),
    re.compile(r"</(?P<name>table|dl)\s*>", re.IGNORECASE),
)
_HEADING = (
    re.compile(r"<h(?P<name>[1-6])\b[^>]*>", re.IGNORECASE),
    re.compile(r"</h(?P<name>[1-6])\s*>", re.IGNORECASE),
)
_PARAGRAPH = re.compile(
    r"</?(?:p|para|br|div|blockquote|remarks|example|value|ul|ol|list)\b[^>]*+/?>", re.IGNORECASE
)
_ITEM = re.compile(r"(?:(?<!\s)\s+)?<(?:li|item)\b[^>]*>\s*", re.IGNORECASE)
_TAG = re.compile(r"</?[A-Za-z][^<>]*>")
_COMMENT = (re.compile(r"<!--"), re.compile(r"-->"))
_SIGNS = re.compile(r"([\\*_\[\]])")


def markup_text(text: str, language: str, blocks: str = "pre") -> str:
    """The text as Markdown; code blocks, which stand in these tags, are in this language."""
    kept: list[str] = []

    def keep(made: str) -> str:
        kept.append(made)
        return f"\1{len(kept) - 1}\1"

    def block(_found: re.Match[str], inside: str) -> str:
        return f"\n\n{keep(_fence(html.unescape(_TAG.sub('', inside)), language))}\n\n"

    def inline(_found: re.Match[str], inside: str) -> str:
        return keep(_span(html.unescape(_TAG.sub("", inside))))

    text = sub_elements(text.replace("\1", ""), *_COMMENT)
    text = sub_elements(text, *_element(blocks), block)
    text = sub_elements(text, *_element("code|tt|c|kbd|samp"), inline)
    text = re.sub(r"`[^`\n]+`", lambda found: keep(found[0]), text)
    text = sub_elements(text, *_TABLE, lambda _found, _inside: "\n\n")
    text = sub_elements(text, *_HEADING, lambda _found, _inside: "\n\n")
    text = _ITEM.sub("\n- ", _PARAGRAPH.sub("\n\n", text))
    text = _SIGNS.sub(r"\\\1", html.unescape(_TAG.sub("", text))).replace("<", "\\<")
    text = "\n".join(line.strip() for line in text.split("\n"))
    return re.sub("\1(\\d+)\1", lambda found: kept[int(found[1])], text).strip()


def _element(names: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    return (
        re.compile(rf"<(?:{names})\b[^>]*>", re.IGNORECASE),
        re.compile(rf"</(?:{names})\s*>", re.IGNORECASE),
    )


def _span(code: str) -> str:
    plain = " ".join(code.split()).replace("`", "")
    return f"`{plain}`" if plain else ""


def _fence(code: str, language: str) -> str:
    lines = code.replace("\t", "    ").strip("\n").rstrip()
    return f"```{language}\n{textwrap.dedent(lines)}\n```" if lines.strip() else ""
