"""An XML manifest as a small tree in which every element knows its lines. Entities of its own are refused."""

from dataclasses import dataclass, field
from xml.parsers import expat

__all__ = ["Element", "xml_tree"]

_DEEPEST = 100


@dataclass(slots=True)
class Element:
    """One element: its name without a namespace, its attributes, its own text, and what stands in it."""

    name: str
    line: int
    attributes: dict[str, str] = field(default_factory=dict)
    text: str = ""
    end_line: int = 0
    children: list["Element"] = field(default_factory=list)

    def first(self, *way: str) -> "Element | None":
        """The first element on this way."""
        here: Element | None = self
        for name in way:
            here = next((one for one in here.children if one.name == name), None) if here else None
        return here

    def every(self, *way: str) -> list["Element"]:
        """All elements on this way."""
        found = [self]
        for name in way:
            found = [child for one in found for child in one.children if child.name == name]
        return found

    def value(self, *way: str) -> str:
        """The text of the first element on this way, or nothing."""
        found = self.first(*way)
        return " ".join(found.text.split()) if found else ""


class _TooDeepError(ValueError):
    pass


def xml_tree(text: str) -> Element | None:
    """The outermost element; None where it is no XML, declares entities, or is nested too deeply."""
    root = Element("", 1)
    opened = [root]
    parser = expat.ParserCreate()

    def begin(name: str, attributes: dict[str, str]) -> None:
        if len(opened) > _DEEPEST:
            raise _TooDeepError
        element = Element(name.rpartition(":")[2], parser.CurrentLineNumber, attributes)
        opened[-1].children.append(element)
        opened.append(element)

    def end(_name: str) -> None:
        opened.pop().end_line = parser.CurrentLineNumber

    def said(data: str) -> None:
        opened[-1].text += data

    def refuse(*_arguments: object) -> None:
        raise _TooDeepError

    parser.StartElementHandler, parser.EndElementHandler = begin, end
    parser.CharacterDataHandler, parser.EntityDeclHandler = said, refuse
    try:
        parser.Parse(text.encode("utf-8", "replace") if not text.startswith("<?xml") else _plain(text), True)  # noqa: FBT003
    except (expat.ExpatError, _TooDeepError, LookupError):
        return None
    return root.children[0] if root.children else None


def _plain(text: str) -> bytes:
    """Without the declaration, whose encoding need not be the one that the text has now; its lines stay."""
    head, closed, rest = text.partition("?>")
    return ("\n" * head.count("\n") + rest if closed else text).encode("utf-8", "replace")
