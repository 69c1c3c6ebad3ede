"""The comments of C#: XML with a summary, parameters, a result, exceptions and remarks."""

import re

from holdfast.launch.elements import elements, sub_elements
from holdfast.launch.facts.docstrings import Docstring, Documented
from holdfast.launch.facts.ecosystems.doc_markup import markup_text
from holdfast.launch.facts.ecosystems.doc_text import first_paragraph, read_text

__all__ = ["read_xmldoc"]

_PARAMETER = (
    re.compile(r"<(?:param|typeparam)\s+name=\"([^\"]+)\"\s*>"),
    re.compile(r"</(?:param|typeparam)\s*>"),
)
_EXCEPTION = (re.compile(r"<exception\s+cref=\"([^\"]+)\"\s*(?P<empty>/)?>"), re.compile(r"</exception\s*>"))
_SEE = (
    re.compile(r"<(?:see|seealso)\s+(?:cref|langword|href)=\"([^\"]+)\"\s*(?P<empty>/)?>"),
    re.compile(r"</(?:see|seealso)\s*>"),
)
_REFERENCE = re.compile(r"<(?:paramref|typeparamref)\s+name=\"([^\"]+)\"\s*/>")
_TAGGED = re.compile(r"<(?:summary|remarks|param|returns|inheritdoc|value|exception|example)\b")


def read_xmldoc(text: str) -> Docstring:
    """Take a comment apart; one without tags is plain text."""
    if not _TAGGED.search(text):
        return read_text(markup_text(text, "csharp", "code"), "csharp")
    parts = [_section(text, name) for name in ("summary", "value", "remarks", "example")]
    found = read_text("\n\n".join(_markdown(part) for part in parts if part), "csharp")
    for named, inside, _ in elements(text, *_PARAMETER):
        told = first_paragraph(_markdown(inside))
        if told:
            found.parameters.append(Documented(named[1], told))
    found.returns = first_paragraph(_markdown(_section(text, "returns")))
    for named, inside, _ in elements(text, *_EXCEPTION):
        found.raises.append(Documented(_plain(named[1]), first_paragraph(_markdown(inside))))
    return found


def _section(text: str, name: str) -> str:
    opening, closing = re.compile(rf"<{name}\b[^>]*>"), re.compile(rf"</{name}\s*>")
    return next((inside for _, inside, _ in elements(text, opening, closing)), "")


def _markdown(text: str) -> str:
    text = sub_elements(text, *_SEE, lambda found, inside: f"<c>{inside.strip() or _plain(found[1])}</c>")
    return markup_text(_REFERENCE.sub(r"<c>\1</c>", text), "csharp", "code")


def _plain(name: str) -> str:
    """`T:System.IO.Stream` is read as `Stream`, `M:A.B.Go(System.Int32)` as `B.Go`, `List{T}` as `List<T>`."""
    if name.startswith("http"):
        return name
    kind, colon, rest = name.partition(":") if len(name) > 1 and name[1:2] == ":" else ("", "", name)
    bare = rest.partition("(")[0]
    parts = bare.split(".")
    shown = ".".join(parts[-2:]) if colon and kind in "MPFE" else parts[-1] if colon else bare
    return re.sub(r"(?<!`)`+\d+", "", shown).replace("{", "<").replace("}", ">")
