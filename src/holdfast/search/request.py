"""One request to search: typed, complete, and the same for the command line, for servers and for the cache.

`SearchRequest.from_arguments` takes JSON as anybody may send it and either gives a request in which every value
means one thing, or refuses with everything that is wrong at once. Finding things is done elsewhere.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

from holdfast.errors import ToolError
from holdfast.search.model import MODES
from holdfast.search.request_fields import BLANK, FIELD_OF, FIELDS, SHORTCUTS, Field, as_regex, split_list
from holdfast.search.request_schema import MAX_VIOLATIONS, Violation, schema_violations, violation

__all__ = [
    "EVERY_REPOSITORY",
    "FIELDS",
    "SHORTCUTS",
    "SearchRequest",
    "as_regex",
    "cache_key",
    "modes",
    "with_shortcuts",
]

EVERY_REPOSITORY = "*"  # as a repository: all that are served
_MAX_DEPTH = 16  # of the conditions on records
_DAY = 24 * 3600.0

_MODES: dict[str | None, tuple[str, ...]] = {
    None: ("code", "prose", "extracted-prose"),
    "prose": ("prose", "extracted-prose"),
    "all": MODES,
}
# Spellings that mean the same as another.
_SAME: dict[str, dict[str, str | None]] = {
    "mode": {"both": None},
    "backend": {"fts": "sqlite-fts"},
    "output": {"json": "full"},
}
_VALUES = attrgetter(*(field.attribute for field in FIELDS))
_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"))
_SAME_KIND = {"typealias": "type", "func": "function", "const": "variable"}


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """What is looked for, one attribute per row of FIELDS. None, or an empty tuple, is what was not asked."""

    query: str
    repo_path: tuple[str, ...] = ()
    workspace_path: str | None = None
    mode: str | None = None
    path: tuple[str, ...] = ()
    file: tuple[str, ...] = ()
    ext: tuple[str, ...] = ()
    lang: tuple[str, ...] = ()
    branch: str | None = None
    case_file: bool | None = None
    case_tokens: bool | None = None
    case: bool | None = None
    definition: str | None = None
    references: str | None = None
    callers: str | None = None
    type: tuple[str, ...] = ()
    signature: str | None = None
    param: str | None = None
    decorator: str | None = None
    visibility: str | None = None
    extends: str | None = None
    return_type: str | None = None
    inferred_type: str | None = None
    import_: str | None = None
    calls: str | None = None
    uses: str | None = None
    throws: str | None = None
    awaits: str | None = None
    reads: str | None = None
    writes: str | None = None
    mutates: str | None = None
    alias: str | None = None
    async_: bool | None = None
    generator: bool | None = None
    returns: bool | None = None
    lint: bool | None = None
    branches_min: int | None = None
    loops_min: int | None = None
    breaks_min: int | None = None
    continues_min: int | None = None
    meta: Any = None
    meta_json: Any = None
    author: tuple[str, ...] = ()
    chunk_author: str | None = None
    modified_after: str | None = None
    modified_since: float | None = None
    churn_min: int | None = None
    risk: str | None = None
    risk_tag: str | None = None
    risk_source: str | None = None
    risk_sink: str | None = None
    risk_category: str | None = None
    risk_flow: str | None = None
    top: int = 5
    context: int = 0
    output: str = "compact"
    backend: str = "auto"
    ann: bool | None = None
    explain: bool | None = None

    @classmethod
    def from_arguments(cls, arguments: Mapping[str, Any]) -> "SearchRequest":
        """The request that a JSON object of arguments makes.

        ToolError INVALID_REQUEST lists all violations: of the schema, or else those that no schema can tell.
        """
        found = schema_violations(arguments)
        if found:  # told alone: whoever checks the schema before it gets here answers the same
            raise _refusal(found)
        values: dict[str, Any] = {}
        for name, value in arguments.items():
            field = FIELD_OF[name]
            if value is not None:
                values[field.attribute] = _normal(field, value)
                found.extend(_meaning_violations(field, value, values[field.attribute]))
        found.extend(_condition_violations(values) if not found else ())
        if found:
            raise _refusal(found[:MAX_VIOLATIONS])
        return cls(**values)

    def to_arguments(self) -> dict[str, Any]:
        """The JSON arguments that make this request again: only what differs from the defaults."""
        arguments: dict[str, Any] = {}
        for field in FIELDS:
            value = getattr(self, field.attribute)
            if value not in (None, ()) and (value != field.default or isinstance(value, bool)):
                arguments[field.name] = list(value) if isinstance(value, tuple) else value
        return arguments

    @property
    def files_match_case(self) -> bool:
        """Whether `path` and `file` tell capital from small letters."""
        return bool(self.case) if self.case_file is None else self.case_file

    @property
    def tokens_match_case(self) -> bool:
        """Whether the words of the query tell capital from small letters."""
        return bool(self.case) if self.case_tokens is None else self.case_tokens

    def modified_after_seconds(self, now: float) -> float | None:
        """The earliest time of the last change, in seconds since 1970; the later one of both conditions."""
        after = None if self.modified_after is None else _seconds(self.modified_after)
        since = None if self.modified_since is None else now - self.modified_since * _DAY
        return max((time for time in (after, since) if time is not None), default=None)

    @property
    def is_federated(self) -> bool:
        """Whether it is asked of several repositories at once."""
        return self.workspace_path is not None or len(self.repo_path) > 1 or EVERY_REPOSITORY in self.repo_path


def modes(request: SearchRequest) -> tuple[str, ...]:
    """The modes that are searched, in the order in which they are shown."""
    return _MODES.get(request.mode) or (request.mode or "",)


def cache_key(request: SearchRequest) -> str:
    """A key that differs for any two requests that could have different answers from the same index."""
    return _ENCODER.encode(_VALUES(request))


def with_shortcuts(request: SearchRequest, shortcuts: Iterable[tuple[str, str]]) -> SearchRequest:
    """The request with what its query says as `field:value`.

    Entries of lists are added to those that the request has; any other field can be said only once.
    """
    arguments = request.to_arguments()
    found: list[Violation] = []
    for name, text in shortcuts:
        field = SHORTCUTS[name.lower()]
        if field.kind == "texts":
            arguments[field.name] = [*arguments.get(field.name, ()), *split_list(text)]
        elif field.name in arguments:
            found.append(_in_query("twice", {"field": field.name}, f"{field.name} is given twice"))
        elif field.kind == "flag" and text.lower() not in _TRUTH:
            found.append(_in_query("boolean", {"field": field.name}, f"{field.name}: must be true or false"))
        else:
            arguments[field.name] = _TRUTH[text.lower()] if field.kind == "flag" else _value(field, text)
    if found:
        raise _refusal(found)
    return SearchRequest.from_arguments(arguments)


_TRUTH = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}


def _value(field: Field, text: str) -> Any:
    """What a text in a query stands for; one that is no number is left to the schema, which refuses it."""
    if field.kind in {"integer", "number"}:
        try:
            return int(text) if field.kind == "integer" else float(text)
        except ValueError:
            return text
    return text


def _in_query(keyword: str, params: Mapping[str, Any], message: str) -> Violation:
    return violation("/query", "/properties/query", keyword, params, message, in_schema=False)


def _refusal(found: list[Violation]) -> ToolError:
    first = found[0]
    more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
    place = first["instancePath"] or "arguments"
    return ToolError(
        "INVALID_REQUEST",
        f"{place}: {first['message']}{more}",
        details={"violations": found},
        hint="correct the arguments that details.violations lists",
    )


# --- what a value means ---------------------------------------------------------------------------------------


def _normal(field: Field, value: Any) -> Any:
    if field.kind == "text":
        return value.strip(BLANK)
    if field.kind == "places":
        return tuple(dict.fromkeys(one.strip(BLANK) for one in ([value] if isinstance(value, str) else value)))
    if field.kind == "texts":
        entries = split_list(value) if isinstance(value, str) else value
        return tuple(dict.fromkeys(map(_ENTRIES.get(field.name, str), entries)))
    if field.kind == "integer":
        return max(int(value), 1) if field.name == "top" else int(value)
    if field.kind == "number":
        return float(value)
    if field.kind == "choice":
        return _SAME[field.name].get(value, value)
    return value


def _extension(text: str) -> str:
    return "." + text.strip(BLANK).lstrip("*").lstrip(".").lower()


def _kind(text: str) -> str:
    kind = text.strip(BLANK).lower().removesuffix("declaration").removesuffix("definition")
    return _SAME_KIND.get(kind, kind)


def _word(text: str) -> str:
    return text.strip(BLANK).lower()


_ENTRIES: dict[str, Callable[[str], str]] = {"ext": _extension, "type": _kind, "lang": _word}


# --- what no schema can say -----------------------------------------------------------------------------------


def _meaning_violations(field: Field, given: Any, value: Any) -> Iterator[Violation]:
    place, rule = f"/{field.name}", f"/properties/{field.name}"
    if not _is_unicode(given):
        yield violation(place, rule, "unicode", {}, "must be JSON in valid Unicode, not too deep", in_schema=False)
    elif field.name in {"path", "file"}:
        for entry in value:
            if message := _regex_fault(entry):
                yield violation(place, rule, "regex", {"entry": entry}, message, in_schema=False)
    elif field.name in {"ext", "type"}:
        if "." in value or "" in value:
            yield violation(place, rule, "pattern", {}, "has an entry that names nothing")
    elif field.name == "modifiedAfter":
        try:
            _seconds(value)
        except (ValueError, OverflowError):
            params = {"format": "date-time"}
            yield violation(place, rule, "format", params, "must be an ISO date or time", in_schema=False)


def _regex_fault(entry: str) -> str:
    expression = as_regex(entry)
    if expression is None:
        return ""
    from holdfast.search.regex import compiled

    try:
        compiled(*expression)
    except ToolError as refusal:
        return f"{entry[:60]}: {refusal.message}"
    return ""


def _condition_violations(values: Mapping[str, Any]) -> Iterator[Violation]:
    given = {name: values.get(FIELD_OF[name].attribute) for name in ("meta", "metaJson")}
    for name, value in given.items():
        if value is not None:
            from holdfast.search.meta import meta_conditions

            try:
                meta_conditions(*((value, None) if name == "meta" else (None, value)))
            except ToolError as error:
                place, rule = f"/{name}", f"/properties/{name}"
                yield violation(place, rule, "conditions", {}, error.message, in_schema=False)


def _is_unicode(value: Any, depth: int = _MAX_DEPTH) -> bool:
    """Whether JSON can say it: text without halves of characters, keys that are texts, and not bottomless."""
    if isinstance(value, str):
        return value.isascii() or not any("\ud800" <= character <= "\udfff" for character in value)
    if depth == 0 and isinstance(value, list | tuple | Mapping):
        return False
    if isinstance(value, Mapping):
        keys_are_texts = all(isinstance(key, str) and _is_unicode(key) for key in value)
        return keys_are_texts and all(_is_unicode(item, depth - 1) for item in value.values())
    if isinstance(value, list | tuple):
        return all(_is_unicode(item, depth - 1) for item in value)
    return value is None or isinstance(value, bool | int | float)


def _seconds(text: str) -> float:
    """An ISO date or time as seconds since 1970; without a zone it is UTC, which is the same anywhere."""
    from datetime import UTC, datetime

    moment = datetime.fromisoformat(text)
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
