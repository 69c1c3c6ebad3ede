"""Addresses with holes: the templates of RFC 6570 that resources are declared with, and how an address fits one.

    library://books/{isbn}         one value, without a slash
    library://files/{+path}        a value that may hold slashes
    library://books{/isbn}         the same as /{isbn}
    library://search{?word,limit}  values of a query; each may be missing, in any order

An address fits in one way at most, and is found quickly not to fit. Values are decoded; what could lead a careless
function out of its directory is refused here: `..`, slashes and backslashes in a value; in a `{+path}` a part that
is `..`, and a path that begins at a root (`app://files//etc`, `app://files/C:/`).
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from urllib.parse import quote, unquote_to_bytes

from holdfast.errors import ContractError

__all__ = ["MAX_URI", "Hole", "UnsafeValue", "UriTemplate", "check_scheme", "is_template", "parse_template"]

MAX_URI = 8192  # characters; a longer address names nothing
_EXPRESSION = re.compile(r"\{([^{}]*)\}")
_SPECIFICATION = re.compile(r"([+#./;?&]?)([A-Za-z_]\w*(?:,[A-Za-z_]\w*)*)\Z")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_ROOT = re.compile(r"//|/?[A-Za-z]:(?:/|\Z)")  # of a path, with the slash that stands before it in the template
_PREFIXES = {"": "", "+": "", "#": "#", ".": ".", "/": "/", "?": "?", "&": "&"}
_UNRESERVED = "-._~"
_RESERVED = _UNRESERVED + ":/?#[]@!$&'()*+,;="
_HELP = "write {name}, {+path}, {/name}, {.name}, {#name} or {?one,two}"


class UnsafeValue(Exception):  # noqa: N818 - an address that is refused, not a defect
    """A value in an address that no function is given; the message says which and why."""

    def __init__(self, name: str, why: str) -> None:
        super().__init__(f"{name}: {why}")
        self.name = name


@dataclass(frozen=True, slots=True)
class Hole:
    """One expression: its operator and the names of its values."""

    operator: str
    names: tuple[str, ...]

    @property
    def is_query(self) -> bool:
        """Whether its values may be missing and stand in any order."""
        return self.operator in {"?", "&"}

    @property
    def takes_slashes(self) -> bool:
        """Whether a value may hold slashes."""
        return self.operator in {"+", "#"}


@dataclass(frozen=True)
class UriTemplate:
    """A template, taken apart: literal text and holes in turn."""

    text: str
    parts: tuple[str | Hole, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all values."""
        return tuple(name for part in self.parts if isinstance(part, Hole) for name in part.names)

    @property
    def optional(self) -> frozenset[str]:
        """The names of values that an address may leave out."""
        holes = [part for part in self.parts if isinstance(part, Hole) and part.is_query]
        return frozenset(name for hole in holes for name in hole.names)

    @cached_property
    def _path(self) -> re.Pattern[str]:
        pattern = ""
        for at, part in enumerate(self.parts):
            if isinstance(part, str):
                pattern += re.escape(part)
            elif not part.is_query:
                pattern += re.escape(_PREFIXES[part.operator]) + f"(?P<{part.names[0]}>{self._value(part, at)})"
        return re.compile(pattern + r"\Z", re.DOTALL)

    def _value(self, hole: Hole, at: int) -> str:
        if hole.takes_slashes:
            return ".+"
        # Up to the text that follows, where another hole follows that: so there is only one way to fit.
        following = self._text_before_next_hole(at)
        if following and "/" not in following:
            return f"(?:(?!{re.escape(following)})[^/?#])+"
        return "[^/?#]+"

    def _text_before_next_hole(self, at: int) -> str:
        after = self.parts[at + 1 : at + 3]
        if after and isinstance(after[0], Hole):
            return "" if after[0].is_query else _PREFIXES[after[0].operator]
        is_between = len(after) == 2 and isinstance(after[1], Hole) and not after[1].is_query
        return after[0] if is_between and isinstance(after[0], str) else ""

    def match(self, uri: str) -> dict[str, str] | None:
        """The values in an address, decoded; None where it does not fit; UnsafeValue where a value is refused."""
        if len(uri) > MAX_URI:
            return None
        path, query = uri, ""
        if self.optional:
            path, _, query = uri.partition("?")
        found = self._path.match(path)
        values = self._query_values(query) if found is not None else None
        if found is None or values is None:
            return None
        raw = {**found.groupdict(), **values}
        slashes = {part.names[0] for part in self.parts if isinstance(part, Hole) and part.takes_slashes}
        decoded = {name: _decoded(name, value, name in slashes) for name, value in raw.items()}
        for before, part in zip(self.parts, self.parts[1:], strict=False):
            if isinstance(before, str) and isinstance(part, Hole) and part.operator == "+":
                _check_relative(before, part.names[0], decoded[part.names[0]])
        return decoded

    def _query_values(self, query: str) -> dict[str, str] | None:
        values: dict[str, str] = {}
        for pair in query.split("&") if query else ():
            name, _, value = pair.partition("=")
            if name not in self.optional or name in values:
                return None
            values[name] = value
        return values

    def expand(self, values: Mapping[str, str]) -> str:
        """The address with these values in it; KeyError for one that is missing and needed."""
        made = ""
        for part in self.parts:
            if isinstance(part, str):
                made += part
            elif part.is_query:
                pairs = [
                    f"{name}={quote(values[name], safe=_UNRESERVED)}" for name in part.names if name in values
                ]
                made += (part.operator + "&".join(pairs)) if pairs else ""
            else:
                safe = _RESERVED if part.takes_slashes else _UNRESERVED
                made += _PREFIXES[part.operator] + quote(values[part.names[0]], safe=safe)
        return made


def is_template(uri: str) -> bool:
    """Whether an address has holes."""
    return "{" in uri or "}" in uri


def parse_template(text: str) -> UriTemplate:
    """A template taken apart, or a ContractError that says what is wrong with it."""
    check_scheme(text)
    parts: list[str | Hole] = []
    at = 0
    for found in _EXPRESSION.finditer(text):
        if found.start() > at:
            parts.append(text[at : found.start()])
        parts.append(_hole(text, found.group(1)))
        at = found.end()
    if at < len(text):
        parts.append(text[at:])
    if any(isinstance(part, str) and ("{" in part or "}" in part) for part in parts):
        raise ContractError(f"the template {text!r} has a brace that is not closed", remedy=_HELP)
    template = UriTemplate(text, tuple(parts))
    _check_parts(template)
    return template


def check_scheme(uri: str) -> None:
    """Refuse an address that is not absolute."""
    if not _SCHEME.match(str(uri)) or any(ord(sign) <= 32 for sign in uri):
        raise ContractError(f"{uri!r} is no address", remedy="write one with a scheme, such as library://books")
    if len(uri) > MAX_URI:
        raise ContractError("an address is longer than anybody reads", remedy=f"use at most {MAX_URI} characters")


def _hole(text: str, inside: str) -> Hole:
    found = _SPECIFICATION.match(inside)
    if found is None or found[1] == ";":
        raise ContractError(f"the template {text!r} has the expression {{{inside}}}", remedy=_HELP)
    hole = Hole(found[1], tuple(found[2].split(",")))
    if len(hole.names) > 1 and not hole.is_query:
        raise ContractError(
            f"{{{inside}}} in {text!r} names several values", remedy="write one expression for each"
        )
    return hole


def _check_parts(template: UriTemplate) -> None:
    names = template.names
    if len(set(names)) != len(names):
        raise ContractError(f"the template {template.text!r} names a value twice", remedy="give each its own name")
    holes = [part for part in template.parts if isinstance(part, Hole)]
    if sum(hole.takes_slashes for hole in holes) > 1:
        raise ContractError(
            f"the template {template.text!r} has two values with slashes", remedy="keep one of them"
        )
    for first, second in zip(template.parts, template.parts[1:], strict=False):
        together = isinstance(first, Hole) and isinstance(second, Hole) and not second.is_query
        if together and not _PREFIXES.get(second.operator if isinstance(second, Hole) else ""):
            raise ContractError(f"in {template.text!r} two values touch", remedy="put some text between them")
    tail = template.parts[-1] if template.parts else ""
    if any(hole.is_query for hole in holes) and not (isinstance(tail, Hole) and tail.is_query):
        raise ContractError(
            f"the query in {template.text!r} does not stand at its end", remedy="move {?...} there"
        )


def _decoded(name: str, value: str, takes_slashes: bool) -> str:
    try:
        text = unquote_to_bytes(value).decode()
    except UnicodeDecodeError:
        raise UnsafeValue(name, "is not UTF-8") from None
    if "\0" in text or "\\" in text:
        raise UnsafeValue(name, "holds a sign that no address needs")
    if takes_slashes:
        if ".." in text.split("/"):
            raise UnsafeValue(name, "leads upwards with '..'")
    elif "/" in text or ".." in text:
        raise UnsafeValue(name, "holds a slash or '..'")
    return text


def _check_relative(before: str, name: str, path: str) -> None:
    """Refuse a path with a root of its own: joined to a directory, it would leave it without any `..`."""
    slash = "/" if before.endswith("/") else ""
    if path.startswith("//") or _ROOT.match(slash + path):
        raise UnsafeValue(name, "begins at a root; write it without the first slash or the drive")
