"""JSDoc and TSDoc: Markdown with tags, and links in braces."""

import re

from holdfast.launch.facts.docstrings import Docstring
from holdfast.launch.facts.ecosystems.doc_tags import read_tagged

__all__ = ["read_jsdoc"]

# Without a closing brace they take the rest of the text, in which nothing can match then.
_LINK = re.compile(r"\{@(?:link|linkcode|linkplain)\s+([^\s|}]++)\s*+\|?\s*+([^}]*+)(\}?)")
_CODE = re.compile(r"\{@code\s++([^}]*+)(\}?)")
_BARE = re.compile(r"\{@\w++\s*+([^}]*+)(\}?)")
_HTML = re.compile(r"</?(?:p|br|b|i|em|strong)\s*/?>", re.IGNORECASE)


def read_jsdoc(text: str) -> Docstring:
    """Take a comment apart."""
    return read_tagged(text, "javascript", _markdown)


def _markdown(text: str) -> str:
    text = _LINK.sub(lambda found: (found[2].strip() or _target(found[1])) if found[3] else found[0], text)
    text = _CODE.sub(lambda found: f"`{found[1]}`" if found[2] else found[0], text)
    return _HTML.sub(" ", _BARE.sub(lambda found: found[1] if found[2] else found[0], text))


def _target(name: str) -> str:
    return name if name.startswith("http") else f"`{name.replace('#', '.')}`"
