"""Conditions on the fields of records: what the arguments `meta` and `metaJson` ask for, in one form.

A condition is the path of a field, with dots for fields inside of fields, and a text that must be part of its
value in whatever case; without a text the field must be there and not be empty. Which records fulfil it is a
question to the index.
"""

from collections.abc import Mapping
from typing import Any

import orjson

from holdfast.errors import ToolError

__all__ = ["meta_conditions"]

_MAX_DEPTH = 32  # of objects inside of objects


def meta_conditions(meta: object, meta_json: object) -> list[tuple[str, str | None]]:
    """The conditions that the arguments `meta` and `metaJson` stand for, in every form in which they may be given.

    `meta` is an object, a text `key=value` or `key`, or a list of these; `metaJson` is an object, a list of
    objects, or the JSON text of one. Anything else is refused, not ignored.
    """
    return [*_meta_argument(meta), *_meta_json_argument(meta_json)]


def _meta_argument(meta: object) -> list[tuple[str, str | None]]:
    if meta is None:
        return []
    if isinstance(meta, list | tuple):
        return [condition for element in meta for condition in _meta_element(element)]
    return _meta_element(meta)


def _meta_element(element: object) -> list[tuple[str, str | None]]:
    if isinstance(element, Mapping):
        return _object_conditions(element, "meta")
    if not isinstance(element, str):
        raise _refusal("meta", "is an object, `key=value`, or a list of these")
    key, _, value = element.partition("=")
    return [(_key(key, "meta"), value.strip() or None)]


def _meta_json_argument(meta_json: object) -> list[tuple[str, str | None]]:
    if meta_json is None:
        return []
    if isinstance(meta_json, str | bytes):
        try:
            meta_json = orjson.loads(meta_json)
        except orjson.JSONDecodeError as error:
            raise _refusal("metaJson", f"is not valid JSON: {error}") from None
    elements = meta_json if isinstance(meta_json, list | tuple) else [meta_json]
    conditions: list[tuple[str, str | None]] = []
    for element in elements:
        if not isinstance(element, Mapping):
            raise _refusal("metaJson", "is an object, a list of objects, or the JSON text of one")
        conditions += _object_conditions(element, "metaJson")
    return conditions


def _object_conditions(
    fields: Mapping[Any, object], argument: str, prefix: str = "", depth: int = 0
) -> list[tuple[str, str | None]]:
    """One condition per plain value: objects inside become dotted paths, of a list every element is wanted."""
    if depth > _MAX_DEPTH:
        raise _refusal(argument, f"is nested deeper than {_MAX_DEPTH} objects")
    conditions: list[tuple[str, str | None]] = []
    for raw, value in fields.items():
        path = prefix + _key(str(raw), argument)
        for wanted in value if isinstance(value, list | tuple) and value else [value]:
            if isinstance(wanted, Mapping) and wanted:
                conditions += _object_conditions(wanted, argument, f"{path}.", depth + 1)
            elif isinstance(wanted, list | tuple | Mapping) and wanted:
                raise _refusal(argument, f"has a list inside of a list at {path}")
            else:
                conditions.append((path, None if _is_empty(wanted) else _text_of(wanted)))
    return conditions


def _key(raw: str, argument: str) -> str:
    key = raw.strip()
    if not key:
        raise _refusal(argument, "has a condition without the name of a field")
    return key


def _refusal(argument: str, reason: str) -> ToolError:
    return ToolError(
        "INVALID_REQUEST",
        f"{argument} {reason}",
        details={"argument": argument},
        hint='Write it as {"field": "value"}, or as field=value.',
    )


def _is_empty(value: object) -> bool:
    return value is None or (isinstance(value, str | list | tuple | Mapping) and not value)


def _text_of(value: object) -> str:
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    try:
        return orjson.dumps(value, default=str, option=orjson.OPT_NON_STR_KEYS).decode()
    except (orjson.JSONEncodeError, RecursionError):  # e.g. an integer beyond 64 bits
        return str(value)
