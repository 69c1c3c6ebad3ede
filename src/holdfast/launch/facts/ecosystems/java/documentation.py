"""Javadoc: HTML with tags at the beginning of lines, and code and links in braces."""

import html
import re

from holdfast.launch.elements import sub_elements
from holdfast.launch.facts.docstrings import Docstring
from holdfast.launch.facts.ecosystems.doc_markup import markup_text
from holdfast.launch.facts.ecosystems.doc_tags import read_tagged

__all__ = ["read_javadoc"]

_PRE_CODE = (re.compile(r"<pre>\s*\{@code\s", re.IGNORECASE), re.compile(r"\}\s*</pre>", re.IGNORECASE))
_CODE = re.compile(r"\{@(?:code|literal)\s++((?:[^{}]|\{[^{}]*\})*)\}")
_LINK = re.compile(r"\{@(?:link|linkplain)\s+([\w.#$]++(?:\([^)]*\))?)\s*+([^{}]*)\}")
_VALUE = re.compile(r"\{@value\s*+([^{}]*)\}")
_PACKAGES = re.compile(r"\b(?:[a-z]\w*\.)++(?=([A-Z])?)")
_OTHER = re.compile(r"\{@\w++\s*+([^{}]*+)\}")


def read_javadoc(text: str) -> Docstring:
    """Take a comment apart."""
    return read_tagged(text, "java", _markdown)


def _markdown(text: str) -> str:
    text = sub_elements(text, *_PRE_CODE, lambda _found, inside: f"<pre>{html.escape(inside)}</pre>")
    text = _CODE.sub(lambda found: f"<code>{html.escape(found[1])}</code>", text)
    text = _LINK.sub(lambda found: f"<code>{html.escape(found[2].strip() or _target(found[1]))}</code>", text)
    return markup_text(_OTHER.sub(r"\1", _VALUE.sub(r"<code>\1</code>", text)), "java")


def _target(name: str) -> str:
    """`Table#rows(int)` is read as `Table.rows(int)`, and `java.util.List` as `List`."""
    owner, sharp, member = _PACKAGES.sub(lambda found: "" if found[1] else found[0], name).partition("#")
    short = owner.rpartition(".")[2] if owner[:1].islower() else owner
    return f"{short}.{member}" if sharp and short else member or short
