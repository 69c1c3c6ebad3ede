"""The front matter of a page of a Hugo site: taken off, understood, and put back, as YAML, TOML or JSON.

What is in it are JSON values; dates are text, as they are written. Whether they are the right ones is for others.
"""

import json
import math
import re
from collections.abc import Mapping
from datetime import date, datetime, time
from typing import Any, NamedTuple

from holdfast.errors import HoldfastError
from holdfast.launch.yaml_reading import YamlError, read_yaml
from holdfast.launch.yaml_writing import YamlWritingError, is_date, quoted, yaml_lines

__all__ = ["FrontMatter", "FrontMatterError", "render", "split", "type_of"]

_FENCES = {"---": "yaml", "+++": "toml"}
_LONGEST = 1 << 20
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_TOML_LINE = re.compile(r"\(at line (\d+)")


class FrontMatterError(HoldfastError):
    """Front matter that cannot be read or written; `line` (from 1, of the whole text) is where."""

    def __init__(self, message: str, line: int = 1) -> None:
        super().__init__(message)
        self.message = message
        self.line = line


class FrontMatter(NamedTuple):
    """A page in its parts. `body_line` is the line (from 1) on which the body begins."""

    format: str  # yaml, toml, json or none
    data: dict[str, Any]
    body: str
    body_line: int


def split(text: str) -> FrontMatter:
    """The parts of a page; a page without front matter is all body."""
    start = len(text) - len(text.lstrip("\ufeff \t\r\n"))
    if text.startswith("{", start) and not text.startswith("{{", start):  # a shortcode begins like that
        return _split_json(text, start)
    first, _, _ = text[start : start + 1000].partition("\n")
    form = _FENCES.get(first.rstrip())
    if form is None:
        return FrontMatter("none", {}, text, 1)
    fence = first.rstrip()
    opened = text.count("\n", 0, start) + 1
    begin = start + len(first) + 1
    found = re.compile(rf"^{re.escape(fence)}[ \t\r]*(?:\n|\Z)", re.MULTILINE).search(text, begin)
    if found is None:
        raise FrontMatterError(f"the front matter that {fence} begins has no end", opened)
    inside = text[begin : found.start()]
    data = _parsed(inside, form, opened)
    return FrontMatter(form, data, text[found.end() :], opened + inside.count("\n") + 2)


def render(data: Mapping[str, Any], body: str, format: str = "yaml") -> str:  # noqa: A002 - Hugo's word for it
    """The page as text: the keys in their order, then the body exactly as it is."""
    try:
        return _rendered(data, format) + body
    except YamlWritingError as error:
        raise FrontMatterError(str(error)) from error
    except (TypeError, ValueError, RecursionError) as error:
        raise FrontMatterError(f"this cannot be written as {format}: {error}") from error


def type_of(value: Any) -> str:
    """What kind of value a key of front matter holds, in the words of the contract."""
    if isinstance(value, str):
        return "date" if is_date(value) else "string"
    names = ((bool, "boolean"), (int, "integer"), (float, "number"), (Mapping, "object"), (list | tuple, "array"))
    return next((name for kind, name in names if isinstance(value, kind)), "null")


def _split_json(text: str, start: int) -> FrontMatter:
    opened = text.count("\n", 0, start) + 1
    try:
        data, end = json.JSONDecoder(parse_constant=_no_constant).raw_decode(text[: start + _LONGEST], start)
    except json.JSONDecodeError as error:
        raise FrontMatterError(f"the front matter is no JSON: {error.msg}", error.lineno) from error
    except (ValueError, RecursionError) as error:
        raise FrontMatterError(f"the front matter is no JSON: {error}", opened) from error
    rest = re.compile(r"[ \t\r]*+(?:\n|\Z)").match(text, end)
    if rest is None:
        raise FrontMatterError("the front matter must end its line", text.count("\n", 0, end) + 1)
    return FrontMatter("json", _checked(data, opened), text[rest.end() :], text.count("\n", 0, rest.end()) + 1)


def _parsed(inside: str, form: str, opened: int) -> dict[str, Any]:
    if len(inside) > _LONGEST:
        raise FrontMatterError(f"the front matter has more than {_LONGEST} characters", opened)
    if form == "yaml":
        try:
            return _checked(read_yaml(inside), opened)
        except YamlError as error:
            raise FrontMatterError(error.message, opened + error.line) from error
    import tomllib

    try:
        return _checked(_plain(tomllib.loads(inside.replace("\r\n", "\n"))), opened)
    except (tomllib.TOMLDecodeError, RecursionError, ValueError) as error:
        found = _TOML_LINE.search(str(error))
        raise FrontMatterError(
            f"the front matter is no TOML: {error}", opened + int(found[1] if found else 1)
        ) from error


def _checked(data: Any, line: int) -> dict[str, Any]:
    if data is None:
        return {}
    if not isinstance(data, dict):
        raise FrontMatterError("the front matter is no list of keys and values", line)
    return data


def _plain(value: Any) -> Any:
    """A value of TOML as a JSON value; a date as it is written."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, datetime):
        return value.isoformat().removesuffix("+00:00") + ("Z" if str(value).endswith("+00:00") else "")
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError("a number that is not finite")
    return value


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no number")


def _rendered(data: Mapping[str, Any], form: str) -> str:
    if form == "yaml":
        return "".join(line + "\n" for line in ("---", *yaml_lines(data), "---"))
    if form == "toml":
        return "".join(line + "\n" for line in ("+++", *(_toml_pair(*pair) for pair in data.items()), "+++"))
    if form == "json":
        text = json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False)
        quoted(text)  # refuses half a character
        return text + "\n"
    if form == "none" and not data:
        return ""
    raise FrontMatterError(f"there is no front matter of the kind {form!r}")


def _toml_pair(key: str, value: Any) -> str:
    return f"{key if _BARE_KEY.fullmatch(key) else quoted(key)} = {_toml(value)}"


def _toml(value: Any) -> str:
    if isinstance(value, str):
        return value if is_date(value) and _is_toml_date(value) else quoted(value)
    if isinstance(value, bool | int):
        return str(value).lower()
    if isinstance(value, float) and math.isfinite(value):
        return repr(value)
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_toml(item) for item in value) + "]"
    if isinstance(value, Mapping):
        return "{" + ", ".join(_toml_pair(*pair) for pair in value.items()) + "}"
    raise FrontMatterError(f"TOML has no value for {type(value).__name__}")


def _is_toml_date(text: str) -> bool:
    """Whether TOML gives the same text back: no time of day that the clock does not have, for one."""
    import tomllib

    try:
        return _plain(tomllib.loads(f"x = {text}")["x"]) == text  # type: ignore[no-any-return]
    except (ValueError, KeyError):
        return False
