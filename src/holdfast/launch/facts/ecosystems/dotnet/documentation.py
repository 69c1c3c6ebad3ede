"""The comments of C#: XML with a summary, parameters, a result, exceptions and remarks."""

import re

from holdfast.launch.facts.docstrings import Docstring, Documented
from holdfast.launch.facts.ecosystems.doc_markup import markup_text
from holdfast.launch.facts.ecosystems.doc_text import first_paragraph, read_text

__all__ = ["read_xmldoc"]

_SECTION = r"<{0}\b[^>]*>(.*?)</{0}\s*>"
_PARAMETER = re.compile(r"<(?:param|typeparam)\s+name=\"([^\"]+)\"\s*>(.*?)</(?:param|typeparam)\s*>", re.DOTALL)
_EXCEPTION = re.compile(r"<exception\s+cref=\"([^\"]+)\"\s*(?:/>|>(.*?)</exception\s*>)", re.DOTALL)
_SEE = re.compile(
    r"<(?:see|seealso)\s+(?:cref|langword|href)=\"([^\"]+)\"\s*(?:/>|>(.*?)</(?:see|seealso)\s*>)", re.DOTALL
)
_REFERENCE = re.compile(r"<(?:paramref|typeparamref)\s+name=\"([^\"]+)\"\s*/>")
_TAGGED = re.compile(r"<(?:summary|remarks|param|returns|inheritdoc|value|exception|example)\b")


def read_xmldoc(text: str) -> Docstring:
    """Take a comment apart; one without tags is plain text."""
    if not _TAGGED.search(text):
        return read_text(markup_text(text, "csharp", "code"), "csharp")
    parts = [_section(text, name) for name in ("summary", "value", "remarks", "example")]
    found = read_text("\n\n".join(_markdown(part) for part in parts if part), "csharp")
    for name, said in _PARAMETER.findall(text):
        told = first_paragraph(_markdown(said))
        if told:
            found.parameters.append(Documented(name, told))
    found.returns = first_paragraph(_markdown(_section(text, "returns")))
    for name, said in _EXCEPTION.findall(text):
        found.raises.append(Documented(_plain(name), first_paragraph(_markdown(said or ""))))
    return found


def _section(text: str, name: str) -> str:
    found = re.search(_SECTION.format(name), text, re.DOTALL)
    return found[1] if found else ""


def _markdown(text: str) -> str:
    text = _SEE.sub(lambda found: f"<c>{(found[2] or '').strip() or _plain(found[1])}</c>", text)
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
