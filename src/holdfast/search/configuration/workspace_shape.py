"""What a workspace file may say, checked by hand: every key, its type, and what is missing; all of it at once.

Whether the directories exist that it names is not asked here.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from holdfast.search.configuration.values import Place, type_violation, unknown_keys
from holdfast.search.request_schema import Violation

__all__ = ["SCHEMA_VERSION", "workspace_violations"]

SCHEMA_VERSION = 1
_MOST_REPOS = 256
_MOST_TAGS = 32
_HIGHEST_PRIORITY = 1000
_LONGEST_NAME = 200
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_ROOT_KEYS = ("schemaVersion", "name", "defaults", "repos")
_DEFAULT_KEYS = ("enabled", "priority", "tags")
_REPO_KEYS = ("root", "alias", *_DEFAULT_KEYS)


def workspace_violations(document: Any, place: Place) -> Iterator[Violation]:
    """Everything in a workspace file that cannot be, as far as the file alone can tell."""
    if not isinstance(document, dict):
        yield _coded(type_violation("object", document, place), "ERR_WORKSPACE_ROOT_NOT_OBJECT")
        return
    yield from _unknown_keys(document, _ROOT_KEYS, place)
    version = document.get("schemaVersion")
    if type(version) is not int or version != SCHEMA_VERSION:
        message = f"must be {SCHEMA_VERSION}" if "schemaVersion" in document else "is missing"
        where = place.inner("schemaVersion", "/properties/schemaVersion")
        yield where.violation("const", message, code="ERR_WORKSPACE_SCHEMA_VERSION")
    if "name" in document:
        yield from _check("name", document["name"], place)
    if "defaults" in document:
        yield from _table(document["defaults"], _DEFAULT_KEYS, place.inner("defaults", "/properties/defaults"))
    yield from _repos_shape(document.get("repos"), place.inner("repos", "/properties/repos"))


def _repos_shape(repos: Any, place: Place) -> Iterator[Violation]:
    if repos is None or repos == []:
        message = "must name at least one repository"
        yield place.violation("minItems", message, code="ERR_WORKSPACE_REPOS_EMPTY")
    elif not isinstance(repos, list):
        yield _coded(type_violation("array", repos, place))
    elif len(repos) > _MOST_REPOS:
        message = f"must have at most {_MOST_REPOS} entries"
        yield place.violation("maxItems", message, limit=_MOST_REPOS, code="ERR_WORKSPACE_INVALID_SHAPE")
    else:
        for index, entry in enumerate(repos):
            yield from _table(entry, _REPO_KEYS, place.inner(index, "/items"))


def _table(table: Any, known: tuple[str, ...], place: Place) -> Iterator[Violation]:
    if not isinstance(table, dict):
        yield _coded(type_violation("object", table, place))
        return
    yield from _unknown_keys(table, known, place)
    if "root" in known and "root" not in table:
        message = "the key 'root' is missing"
        yield place.violation("required", message, missingProperty="root", code="ERR_WORKSPACE_INVALID_SHAPE")
    for name in known:
        if name in table:
            yield from _check(name, table[name], place)


def _unknown_keys(table: Mapping[str, Any], known: tuple[str, ...], place: Place) -> Iterator[Violation]:
    if "cacheRoot" in table:
        message = "it cannot be set here: a project must not choose where we write"
        remedy = "remove it; set HOLDFAST_CACHE_DIR or give --cache-dir"
        where = place.inner("cacheRoot", "/properties/cacheRoot")
        yield where.violation("refused", message, remedy=remedy, code="ERR_WORKSPACE_UNKNOWN_KEY")
    others = {name: value for name, value in table.items() if name != "cacheRoot"}
    yield from unknown_keys(others, known, place, code="ERR_WORKSPACE_UNKNOWN_KEY")


def _check(name: str, value: Any, above: Place) -> Iterator[Violation]:
    fault = _FAULTS[name](value)
    if fault:
        place = above.inner(name, f"/properties/{name}")
        yield place.violation("value", fault, code="ERR_WORKSPACE_INVALID_SHAPE")


def _root_fault(value: Any) -> str:
    fine = isinstance(value, str) and value.strip() and "\0" not in value
    return "" if fine else "must be the path of a directory"


def _alias_fault(value: Any) -> str:
    fine = isinstance(value, str) and _NAME.fullmatch(value)
    return "" if fine else "must be a name of letters, digits, '.', '_' and '-'"


def _name_fault(value: Any) -> str:
    fine = isinstance(value, str) and 0 < len(value.strip()) <= _LONGEST_NAME and value.isprintable()
    return "" if fine else f"must be one line of text, {_LONGEST_NAME} characters at most"


def _enabled_fault(value: Any) -> str:
    return "" if isinstance(value, bool) else "must be true or false"


def _priority_fault(value: Any) -> str:
    fine = type(value) is int and abs(value) <= _HIGHEST_PRIORITY
    return "" if fine else f"must be an integer from -{_HIGHEST_PRIORITY} to {_HIGHEST_PRIORITY}"


def _tags_fault(value: Any) -> str:
    fine = isinstance(value, list) and len(value) <= _MOST_TAGS and not any(map(_alias_fault, value))
    return "" if fine else f"must be a list of {_MOST_TAGS} names at most, of letters, digits, '.', '_' and '-'"


_FAULTS = {
    "root": _root_fault,
    "alias": _alias_fault,
    "name": _name_fault,
    "enabled": _enabled_fault,
    "priority": _priority_fault,
    "tags": _tags_fault,
}


def _coded(item: Violation, code: str = "ERR_WORKSPACE_INVALID_SHAPE") -> Violation:
    return {**item, "params": {**item["params"], "code": code}}
