"""A client's configuration in JSON, edited as text: what is not ours stays byte for byte.

Comments, order, indentation and line ends are kept, because only the characters of one entry are touched. Each
edit is read again and compared with what was meant; a text that resists is refused, not rewritten.
"""

import json
import re
from typing import Any

from holdfast.setup.json_scan import ObjectSpan, blank_comments, blank_trailing_commas, scan_object
from holdfast.setup.text_refused import TextRefused

__all__ = ["JsonText"]

_PASTE = "edit it by hand: paste the entry that is shown"
_INDENT = re.compile(r"[ \t]*")


class JsonText:
    """A document whose object `container` has one entry per server. `lenient` texts may have comments.

    TextRefused tells what is wrong with the text, and in which line. A blank text is a document without entries.
    """

    def __init__(self, text: str, container: str, *, lenient: bool = False) -> None:
        self.text = text if text.strip() else "{}\n"
        self.container = container
        self.lenient = lenient
        self._clean = blank_comments(self.text) if lenient else self.text
        self.value = self._checked()
        found = self.value.get(container, {})
        if not isinstance(found, dict):
            raise TextRefused(f"has a {container!r} that is no object", "correct it by hand")
        self.servers: dict[str, Any] = found

    @property
    def is_bare(self) -> bool:
        """Whether nothing is left in it but the braces."""
        return self._clean == self.text and self.value in ({}, {self.container: {}})

    def put(self, name: str, entry: dict[str, Any]) -> "JsonText":
        """With this entry, in place of the one of that name or behind the others."""
        expected = {**self.value, self.container: {**self.servers, name: entry}}
        return self._edited(self._put((self.container, name), entry), expected)

    def update(self, name: str, keys: dict[str, Any]) -> "JsonText":
        """With these keys in the entry of that name; what else it holds is kept."""
        document = self
        for key, value in keys.items():
            entry = {**document.servers[name], key: value}
            expected = {**document.value, self.container: {**document.servers, name: entry}}
            document = document._edited(document._put((self.container, name, key), value), expected)
        return document

    def drop(self, name: str) -> "JsonText":
        """Without the entry of that name."""
        left = {key: value for key, value in self.servers.items() if key != name}
        return self._edited(self._drop(name), {**self.value, self.container: left})

    def block(self, name: str, entry: dict[str, Any]) -> str:
        """The entry as one would paste it."""
        return json.dumps({self.container: {name: entry}}, indent=2, ensure_ascii=False)

    # --- reading -------------------------------------------------------------------------------------------------

    def _checked(self) -> dict[str, Any]:
        try:
            text = blank_trailing_commas(self._clean) if self.lenient else self._clean
            # Numbers stay as they are written: they are compared, and never calculated with.
            value = json.loads(text, parse_int=str, parse_float=str, parse_constant=_refuse_constant)
        except json.JSONDecodeError as error:
            reason = f"is not valid JSON: line {error.lineno}, column {error.colno}: {error.msg.lower()}"
            raise TextRefused(reason, "correct that line; nothing was changed") from None
        except RecursionError:
            raise TextRefused("is nested too deeply", "look at it: no client writes that") from None
        if not isinstance(value, dict):
            raise TextRefused("holds no JSON object", "correct it by hand; nothing was changed")
        return value

    def _scan(self, start: int) -> ObjectSpan:
        found = scan_object(self._clean, start)
        keys = [member.key for member in found.members]
        if len(set(keys)) != len(keys):
            twice = next(key for key in keys if keys.count(key) > 1)
            line = self.text.count("\n", 0, start) + 1
            raise TextRefused(f"has {twice!r} twice in the object of line {line}", "remove one of them by hand")
        return found

    def _root(self) -> ObjectSpan:
        return self._scan(len(self._clean) - len(self._clean.lstrip()))

    # --- writing -------------------------------------------------------------------------------------------------

    def _edited(self, text: str, expected: dict[str, Any]) -> "JsonText":
        edited = JsonText(text, self.container, lenient=self.lenient)
        if edited.value != expected:
            raise TextRefused("cannot be changed without touching something else", _PASTE)
        return edited

    def _put(self, path: tuple[str, ...], value: Any) -> str:
        """The text with a value at this path; objects on the way that are not there are made."""
        place = self._root()
        for at, key in enumerate(path):
            member = place.find(key)
            if member is None:
                for missing in reversed(path[at + 1 :]):
                    value = {missing: value}
                return self._inserted(place, key, value)
            if at == len(path) - 1:
                rendered = self._rendered(value, self._indent_at(member.start), place)
                return self.text[: member.value] + rendered + self.text[member.end :]
            if self._clean[member.value] != "{":
                raise TextRefused(f"has a {key!r} that is no object", "correct it by hand")
            place = self._scan(member.value)
        raise AssertionError("a path has at least one key")

    def _inserted(self, place: ObjectSpan, key: str, value: Any) -> str:
        """The text with one more member at the end of an object."""
        text, newline = self.text, self._newline
        # Behind the last comment, which must not swallow what follows it.
        inner_end = place.start + 1 + len(text[place.start + 1 : place.end].rstrip())
        if not place.members:
            outer = self._indent_at(place.start)
            if self._is_one_line:
                return text[:inner_end] + self._member(key, value, outer, place) + text[place.end :]
            member = self._member(key, value, outer + self._unit, place)
            return f"{text[:inner_end]}{newline}{outer}{self._unit}{member}{newline}{outer}{text[place.end :]}"
        last = place.members[-1]
        if "\n" in text[place.start : place.end]:
            indent = self._indent_at(last.start)
            piece = newline + indent + self._member(key, value, indent, place)
        else:
            piece = (" " if self._is_spaced else "") + self._member(key, value, "", place)
        if last.comma is not None:  # whoever writes a comma behind the last member gets one behind ours
            return f"{text[:inner_end]}{piece},{text[inner_end:]}"
        return f"{text[: last.end]},{text[last.end : inner_end]}{piece}{text[inner_end:]}"

    def _drop(self, name: str) -> str:
        holder = self._root().find(self.container)
        place = self._scan(holder.value) if holder is not None else None
        member = place.find(name) if place is not None else None
        if place is None or member is None:
            return self.text
        at = place.members.index(member)
        before = len(self.text[: member.start].rstrip())
        if member.comma is not None:
            start, end = before, member.comma + 1
            if at + 1 < len(place.members) and "\n" not in self.text[end : place.members[at + 1].start]:
                start = member.start
                end += len(self.text[end:]) - len(self.text[end:].lstrip())
            text = self.text[:start] + self.text[end:]
        elif at > 0:
            comma = place.members[at - 1].comma
            assert comma is not None  # two members have one between them
            text = self.text[:comma] + self.text[comma + 1 : before] + self.text[member.end :]
        else:
            text = self.text[:before] + self.text[member.end :]
        opened = re.compile(r"\{\s*\}").match(text, place.start)
        return text if opened is None else text[: place.start] + "{}" + text[opened.end() :]

    def _member(self, key: str, value: Any, indent: str, place: ObjectSpan) -> str:
        colon = ": " if self._is_spaced else ":"
        return json.dumps(key, ensure_ascii=False) + colon + self._rendered(value, indent, place)

    def _rendered(self, value: Any, indent: str, place: ObjectSpan) -> str:
        inside = self.text[place.start : place.end]
        if self._is_one_line or (place.members and "\n" not in inside):
            spaced = self._is_spaced
            separators = (", ", ": ") if spaced else (",", ":")
            return json.dumps(value, ensure_ascii=False, separators=separators)
        lines = json.dumps(value, ensure_ascii=False, indent=self._unit).split("\n")
        return (self._newline + indent).join(lines)

    # --- the style of the text -----------------------------------------------------------------------------------

    @property
    def _newline(self) -> str:
        first = self.text.find("\n")
        return "\r\n" if first > 0 and self.text[first - 1] == "\r" else "\n"

    @property
    def _is_one_line(self) -> bool:
        """Whether a program wrote it without line breaks; one that holds nothing yet is written for people."""
        return "\n" not in self.text.strip() and bool(self.value)

    @property
    def _is_spaced(self) -> bool:
        return not self._is_one_line or '": ' in self.text

    @property
    def _unit(self) -> str:
        members = self._root().members
        return (self._indent_at(members[0].start) if members else "") or "  "

    def _indent_at(self, place: int) -> str:
        """The blanks that the line of this place starts with."""
        match = _INDENT.match(self.text, self.text.rfind("\n", 0, place) + 1)
        assert match is not None
        return match[0]


def _refuse_constant(word: str) -> Any:
    raise TextRefused(f"is not valid JSON: {word} is no number", "correct it by hand; nothing was changed")
