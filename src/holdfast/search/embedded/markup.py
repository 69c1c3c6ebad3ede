"""Scripts and styles in HTML, Vue, Svelte and Astro files.

Tags are found by their looks, comments are stepped over, and a script ends where a browser would end it. Handlers
in attributes and what a template computes are left to the text around.
"""

import re

from holdfast.search.discover.kinds import language_id
from holdfast.search.embedded.segments import Segment, is_code

__all__ = ["scripts_and_styles"]

_TAG = re.compile(rb"(?i)<!--|<(script|style)(?=[\s/>])")
_ENDS = {name: re.compile(rb"(?i)</" + name + rb"(?=[\s/>])") for name in (b"script", b"style")}
_ATTRIBUTES = re.compile(rb"(?:[^>\"']++|\"[^\"]*+\"|'[^']*+')*+>")
_ATTRIBUTE = re.compile(r"(?i)(?<![\w-])(type|lang)\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'>]+))")
_LONGEST_TAG = 4_000
_ASTRO_SCRIPT = re.compile(rb"\A(?:\xef\xbb\xbf)?\s*---[ \t]*\r?\n(.*?)^---[ \t]*\r?$", re.DOTALL | re.MULTILINE)
_TYPES = {
    **dict.fromkeys(("", "module", "text/javascript", "application/javascript", "text/ecmascript"), "javascript"),
    **dict.fromkeys(("application/ecmascript", "application/x-javascript", "text/babel"), "javascript"),
    "text/jsx": "javascript",
    **dict.fromkeys(("text/typescript", "application/typescript", "text/x-typescript"), "typescript"),
    **dict.fromkeys(("application/json", "importmap", "speculationrules"), "json"),
    **dict.fromkeys(("text/css", "text/scss", "text/sass", "text/less"), "css"),
}  # data for search engines, templates and shaders are no code of the page


def scripts_and_styles(host: str, source: bytes) -> list[Segment]:
    """The scripts and styles of a page or component that have a known language, in order of their position."""
    segments: list[Segment] = []
    at = 0
    if host == "astro" and (head := _ASTRO_SCRIPT.match(source)):
        segments.append(Segment("typescript", head.start(1), head[1]))
        at = head.end()
    while tag := _TAG.search(source, at):
        if tag[1] is None:
            closing = source.find(b"-->", tag.end())
            at = len(source) if closing < 0 else closing + 3
            continue
        attributes = _ATTRIBUTES.match(source, tag.end(), tag.end() + _LONGEST_TAG)
        if attributes is None:
            at = tag.end() + _LONGEST_TAG  # no tag, and looking again and again would take for ever
            continue
        start, at = attributes.end(), attributes.end()
        if attributes[0].endswith(b"/>"):
            continue  # in a component it is empty; in HTML nobody writes it before code
        name = tag[1].lower()
        closing_tag = _ENDS[name].search(source, start)
        at = end = closing_tag.start() if closing_tag else len(source)
        language = _language_of(name, attributes[0].decode("utf-8", "replace"), host)
        if language and source[start:end].strip():
            segments.append(Segment(language, start, source[start:end]))
    return segments


def _language_of(tag: bytes, attributes: str, host: str) -> str:
    """What the attributes of a tag say of its content; "" where that is no code."""
    said = {
        key.lower(): (one or two or three).strip().lower()
        for key, one, two, three in _ATTRIBUTE.findall(attributes)
    }
    if said.get("lang"):
        language = language_id(said["lang"])
        return language if is_code(language) else ""
    if tag == b"style":
        return "css" if _TYPES.get(said.get("type", "text/css")) == "css" else ""
    if host == "astro" and not said.get("type"):
        return "typescript"
    language = _TYPES.get(said.get("type", "").partition(";")[0].strip(), "")
    return language if language != "css" else ""
