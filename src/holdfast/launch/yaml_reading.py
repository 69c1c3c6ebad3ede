"""YAML as JSON values, read from anybody: no objects, no bombs, no duplicate keys, and a line for every complaint.

The values are those of YAML 1.2, as Hugo reads them: `yes` and dates are text. The events of libyaml are put
together here and not by its own loader, which recurses until the process dies.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from holdfast.errors import HoldfastError, UsageError

__all__ = ["YamlError", "read_yaml", "resolved"]

_MOST_VALUES = 200_000
_DEEPEST = 64
_INTEGER = re.compile(r"[-+]?[0-9]{1,300}")
_BASED = re.compile(r"0[xo][0-9a-fA-F]{1,300}")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]{1,300}|[0-9]{1,300}(?:\.[0-9]{0,300})?)(?:[eE][-+]?[0-9]{1,3})?")
_WORDS = {
    "": None, "~": None, "null": None, "Null": None, "NULL": None, "true": True, "True": True, "TRUE": True,
    "false": False, "False": False, "FALSE": False,
}  # fmt: skip
_TAGS = "tag:yaml.org,2002:"
_PLAIN_TAGS = frozenset(_TAGS + name for name in ("int", "float", "bool", "null", "seq", "map", "timestamp"))


class YamlError(HoldfastError):
    """Text that is no YAML we read; `line` (from 1) is where."""

    def __init__(self, message: str, line: int) -> None:
        super().__init__(f"line {line}: {message}")
        self.message = message
        self.line = line


def resolved(text: str) -> Any:
    """What a plain scalar means."""
    if text in _WORDS:
        return _WORDS[text]
    if _INTEGER.fullmatch(text):
        return int(text)
    if _BASED.fullmatch(text):
        try:
            return int(text[2:], 16 if text[1] == "x" else 8)
        except ValueError:  # 0o9
            return text
    if _FLOAT.fullmatch(text):
        number = float(text)
        return number if abs(number) != float("inf") else text
    return text


def read_yaml(text: str, *, most: int = _MOST_VALUES, deepest: int = _DEEPEST) -> Any:
    """The one document of the text; None where it is empty. UsageError where there is no library that could."""
    try:
        import yaml
    except ModuleNotFoundError as error:
        raise UsageError("reading YAML needs PyYAML", remedy="pip install 'holdfast[launch]'") from error

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    builder = _Builder(most, deepest)
    try:
        for event in yaml.parse(text, Loader=loader):
            builder.take(event)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise YamlError(error.problem or error.context or "it is no YAML", mark.line + 1 if mark else 1) from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise YamlError(
            f"it is no YAML: {str(error).splitlines()[0] if str(error) else type(error)}", 1
        ) from error
    return builder.document


@dataclass(slots=True)
class _Open:
    """A list or an object whose end has not come yet."""

    value: Any
    anchor: str | None
    size: int = 1
    key: str | None = None
    merged: list[Any] = field(default_factory=list)


class _Builder:
    def __init__(self, most: int, deepest: int) -> None:
        self.document: Any = None
        self._most = most
        self._deepest = deepest
        self._documents = 0
        self._line = 1
        self._total = 0
        self._open: list[_Open] = []
        # Of each anchor its value, and how many values it stands for wherever it is repeated.
        self._anchors: dict[str, tuple[Any, int]] = {}
        self._takers: dict[str, Callable[[Any], None]] = {
            "ScalarEvent": self._scalar,
            "AliasEvent": self._alias,
            "SequenceStartEvent": self._list,
            "MappingStartEvent": self._object,
        }

    def take(self, event: Any) -> None:
        """Put the next event in its place."""
        self._line = event.start_mark.line + 1
        kind = type(event).__name__
        if kind == "DocumentStartEvent":
            self._start()
        elif kind in ("SequenceEndEvent", "MappingEndEvent"):
            self._end()
        elif kind in self._takers:
            self._takers[kind](event)

    def _refuse(self, why: str) -> YamlError:
        return YamlError(why, self._line)

    def _start(self) -> None:
        self._documents += 1
        if self._documents > 1:
            raise self._refuse("there is more than one document")

    def _scalar(self, event: Any) -> None:
        if self._takes_key():
            self._key(event.value, is_plain=event.implicit[0])
            return
        if event.tag in (None, *_PLAIN_TAGS):
            value = resolved(event.value) if event.implicit[0] or event.tag else event.value
        elif event.tag in ("!", _TAGS + "str"):
            value = event.value
        else:
            raise self._refuse(f"the tag {event.tag} is not read here")
        self._place(value, 1, event.anchor)

    def _alias(self, event: Any) -> None:
        if event.anchor not in self._anchors:
            raise self._refuse(f"*{event.anchor} stands for nothing that has ended")
        value, size = self._anchors[event.anchor]
        if self._takes_key():
            if not isinstance(value, str):
                raise self._refuse("a key must be text")
            self._key(value, is_plain=False)
        else:
            self._place(value, size, None)

    def _list(self, event: Any) -> None:
        self._descend(event, [])

    def _object(self, event: Any) -> None:
        self._descend(event, {})

    def _descend(self, event: Any, value: Any) -> None:
        if event.tag not in (None, "!", *_PLAIN_TAGS):
            raise self._refuse(f"the tag {event.tag} is not read here")
        if self._takes_key():
            raise self._refuse("a key must be text")
        if len(self._open) >= self._deepest:
            raise self._refuse(f"it is nested more than {self._deepest} deep")
        self._open.append(_Open(value, event.anchor))

    def _end(self) -> None:
        ended = self._open.pop()
        for source in ended.merged:
            for key, value in source.items():
                ended.value.setdefault(key, value)
        self._place(ended.value, ended.size, ended.anchor)

    def _takes_key(self) -> bool:
        return bool(self._open) and isinstance(self._open[-1].value, dict) and self._open[-1].key is None

    def _key(self, text: str, *, is_plain: bool) -> None:
        owner = self._open[-1]
        if text in owner.value or (text == "<<" and owner.merged):
            raise self._refuse(f"the key {text[:100]!r} is there twice")
        owner.key = "\0<<" if is_plain and text == "<<" else text

    def _place(self, value: Any, size: int, anchor: str | None) -> None:
        self._total += size
        if self._total > self._most:
            raise self._refuse(f"it stands for more than {self._most} values")
        if anchor:
            self._anchors[anchor] = (value, size)
        if not self._open:
            self.document = value
            return
        owner = self._open[-1]
        owner.size += size
        if isinstance(owner.value, list):
            owner.value.append(value)
        elif owner.key == "\0<<":
            owner.key = None
            owner.merged = self._sources(value)
        else:
            owner.value[owner.key] = value
            owner.key = None

    def _sources(self, value: Any) -> list[Any]:
        sources = value if isinstance(value, list) else [value]
        if not sources or not all(isinstance(source, dict) for source in sources):
            raise self._refuse("<< takes objects")
        return sources
