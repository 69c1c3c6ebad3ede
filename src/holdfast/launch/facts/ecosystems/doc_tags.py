"""Documentation with tags at the beginning of lines, `@param name text`: what JSDoc, TSDoc and Javadoc share."""

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from holdfast.launch.elements import sub_elements
from holdfast.launch.facts.docstrings import Docstring, Documented
from holdfast.launch.facts.ecosystems.doc_text import first_paragraph, read_text

__all__ = ["Tag", "read_tagged"]

_TAG = re.compile(r"^\s*@(\w+)[ \t]*(.*)$")
_FENCE = re.compile(r"^\s*(?:```|~~~)")
_TYPE = re.compile(r"^\{(?:[^{}]|\{[^{}]*\})*\}\s*")
_NAMED = re.compile(r"(?:\[\s*([\w$.]++)[^\]]*\]|<?([\w$.]+)>?(?:\[\])?)\s*(?:-+\s+)?(.*)", re.DOTALL)
_EXAMPLE_TITLE = (re.compile(r"<caption>", re.IGNORECASE), re.compile(r"</caption>\s*", re.IGNORECASE))


class Tag(NamedTuple):
    """One tag with everything up to the next one."""

    name: str
    text: str


def read_tagged(text: str, language: str, markdown: Callable[[str], str] = lambda text: text) -> Docstring:
    """Take such a text apart; `markdown` rewrites what stands in it."""
    body, tags = _parted(text)
    examples = [
        _example(markdown(sub_elements(tag.text, *_EXAMPLE_TITLE)), language)
        for tag in tags
        if tag.name == "example"
    ]
    described = next((tag.text for tag in tags if tag.name in ("description", "desc") and not body.strip()), "")
    told = markdown(body or described)
    found = read_text("\n\n".join([told, *examples, *_remarks(tags, markdown)]), language)
    for tag in tags:
        _take(tag, found, markdown)
    return found


def _parted(text: str) -> tuple[str, list[Tag]]:
    """What stands before the first tag, and the tags; an `@` inside of code is none."""
    body: list[str] = []
    tags: list[tuple[str, list[str]]] = []
    in_fence = False
    for line in text.split("\n"):
        if _FENCE.match(line):
            in_fence = not in_fence
        tag = _TAG.match(line) if not in_fence else None
        if tag:
            tags.append((tag[1], [tag[2]]))
        elif tags:
            tags[-1][1].append(line)
        else:
            body.append(line)
    return "\n".join(body), [Tag(name, "\n".join(lines)) for name, lines in tags]


def _example(text: str, language: str) -> str:
    code = text.strip("\n")
    return code if "```" in code or not code.strip() else f"```{language}\n{code}\n```"


def _remarks(tags: list[Tag], markdown: Callable[[str], str]) -> Iterator[str]:
    for tag in tags:
        if tag.name in ("remarks", "apiNote", "implNote") and tag.text.strip():
            yield markdown(tag.text)


def _take(tag: Tag, found: Docstring, markdown: Callable[[str], str]) -> None:
    text = _TYPE.sub("", tag.text.strip())
    if tag.name in ("param", "arg", "argument", "typeParam", "template", "typeparam"):
        named = _NAMED.match(text)
        name = (named[1] or named[2]) if named else ""
        told = first_paragraph(markdown(named[3])) if named else ""
        if name and told and "." not in name:
            found.parameters.append(Documented(name, told))
    elif tag.name in ("returns", "return"):
        found.returns = found.returns or first_paragraph(markdown(text.removeprefix("- ")))
    elif tag.name in ("throws", "exception"):
        _raised(tag.text.strip(), found, markdown)
    elif tag.name == "deprecated":
        found.deprecated = first_paragraph(markdown(text))[:500] or "deprecated"


def _raised(text: str, found: Docstring, markdown: Callable[[str], str]) -> None:
    typed = re.match(r"\{([\w.$]+)\}\s*(?:-\s+)?(.*)", text, re.DOTALL)
    plain = re.match(r"([A-Z][\w.$]*)\s*(?:-\s+)?(.*)", text, re.DOTALL)
    named = typed or plain
    if named:
        found.raises.append(Documented(named[1].rpartition(".")[2], first_paragraph(markdown(named[2]))))
