"""The requests of the parity test: the same three hundred in every run, of every argument, good and bad.

Good ones take their values from the table that proves that each argument does something, so that most of them
find something. A place in a value, such as `{bare}`, is filled in by whoever sends it.
"""

import random
from typing import Any

from tests.search.test_arguments import FILTERS, OTHERS

from holdfast.search.request_fields import FIELDS

__all__ = ["GOOD", "INVALID", "REQUESTS", "filled"]

Request = dict[str, Any]

QUERIES = (
    "budget",
    "*",
    "retry budget",
    '"retry budget"',
    "budget OR spend",
    "enforce -test",
    "limit AND NOT java",
    "(spend OR limit) cost",
    "/[Bb]udget/",
    "lang:python budget",
    "nothing-like-this",
    "RetryBudget.enforce",
    "calls:subprocess.run",
    "wörter",
)
# Beside what the table has: other forms of the same, and the ends of ranges.
MORE: dict[str, list[Any]] = {
    "repoPath": ["{repo}", "{repo}/src", ["{repo}", "{bare}"]],
    "workspacePath": ["{workspace}"],
    "mode": ["code", "prose", "extracted-prose", "records", "all", "both"],
    "output": ["compact", "full", "json"],
    "backend": ["auto", "tantivy", "memory", "sqlite-fts", "fts", "sqlite"],
    "ann": [True, False, None],
    "top": [1, 3.0, 1000, 0, -7],
    "context": [0, 2, 100],
    "meta": ["service=billing", "level", ["service=mail", "level=info"], {"service": "billing"}],
    "metaJson": [{"level": "error"}, '{"service": "mail"}'],
    "branch": ["trunk", "other"],
    "explain": [True, False, None],
    "lint": [True, False],
    "case": [True, False, None],
    "modifiedAfter": ["2026-03-01", "2026-03-01T12:00:00+02:00"],
    "modifiedSince": [0, 0.5, 1_000_000],
}
INVALID: tuple[Request, ...] = (
    # Of the wrong type, or beyond its bounds.
    {"query": "budget", "top": "abc"},
    {"query": "budget", "top": 2.5},
    {"query": "budget", "top": 1001},
    {"query": "budget", "top": True},
    {"query": "budget", "context": -1},
    {"query": "budget", "context": 101},
    {"query": "budget", "context": "two"},
    {"query": "budget", "branchesMin": -1},
    {"query": "budget", "loopsMin": "many"},
    {"query": "budget", "churnMin": 2**40},
    {"query": "budget", "modifiedSince": -0.5},
    {"query": "budget", "modifiedSince": "lately"},
    {"query": "budget", "mode": "nothing"},
    {"query": "budget", "backend": "elastic"},
    {"query": "budget", "mode": 7},
    {"query": "budget", "output": "xml"},
    {"query": "budget", "ann": "yes"},
    {"query": "budget", "async": 1},
    {"query": "budget", "lint": "true"},
    {"query": "budget", "type": 7},
    {"query": "budget", "path": {}},
    {"query": "budget", "path": []},
    {"query": "budget", "path": ["src", 7]},
    {"query": "budget", "ext": ["py", ""]},
    {"query": "budget", "lang": ","},
    {"query": "budget", "file": " "},
    {"query": "budget", "signature": ""},
    {"query": "budget", "calls": ["a"]},
    {"query": "budget", "author": None},
    {"query": "budget", "meta": 7},
    {"query": "budget", "meta": {}},
    {"query": "budget", "metaJson": True},
    {"query": "budget", "param": "x" * 4097},
    {"query": ""},
    {"query": " \t"},
    {"query": 7},
    {"query": None},
    {},
    # Unknown.
    {"query": "budget", "nonsense": 1},
    {"query": "budget", "risktag": "exec"},
    {"query": "budget", "languages": "python", "top": 5},
    # Several at once.
    {"query": "budget", "top": "abc", "mode": "nothing", "context": -1},
    {"top": 1001, "nonsense": True},
    # What no schema can tell.
    {"query": "budget", "path": "/(/"},
    {"query": "budget", "file": ["ok.py", "/[/"]},
    {"query": "budget", "ext": "."},
    {"query": "budget", "type": "declaration"},
    {"query": "budget", "modifiedAfter": "yesterday"},
    {"query": "budget", "modifiedAfter": "2026-13-01"},
    {"query": "budget", "modifiedAfter": "2026-01-01", "path": "/(/"},
    {"query": "budget", "meta": "=x"},
    {"query": "budget", "metaJson": "{"},
    {"query": "budget", "metaJson": "[1]"},
    # The language of the query.
    {"query": "budget AND ("},
    {"query": "budget AND"},
    {"query": "OR budget"},
    {"query": "AND"},
    {"query": "/(/"},
    {"query": "NOT"},
    {"query": "async:perhaps"},
    {"query": "lint:perhaps budget"},
    {"query": "modifiedAfter:never"},
    # No index.
    {"query": "budget", "repoPath": "{bare}"},
    {"query": "budget", "repoPath": "{bare}", "lang": "python", "output": "full"},
    {"query": "budget (", "repoPath": "{bare}"},
)


def _values() -> dict[str, list[Any]]:
    values = {name: list(more) for name, more in MORE.items()}
    for arguments in [row[0] for row in FILTERS] + [row[1] for row in OTHERS.values()]:
        for name, value in arguments.items():
            if name != "query" and value not in values.setdefault(name, []):
                values[name].append(value)
    return values


def _good(count: int) -> list[Request]:
    """First every value of every argument by itself, then some of them together."""
    chance = random.Random(6)
    values = _values()
    requests: list[Request] = [{"query": query} for query in QUERIES]
    requests += [{"query": "*", name: value} for name in values for value in values[name]]
    names = sorted(values)
    plain = [query for query in QUERIES if ":" not in query]  # what a query says as field:value is said once only
    while len(requests) < count:
        chosen = chance.sample(names, chance.randint(1, 3))
        drawn = {name: chance.choice(values[name]) for name in chosen}
        requests.append({"query": chance.choice(plain), **drawn})
    return requests


GOOD: tuple[Request, ...] = tuple(_good(300 - len(INVALID)))
REQUESTS = (*GOOD, *INVALID)
assert {name for request in GOOD for name in request} == {field.name for field in FIELDS}


def filled(value: Any, places: dict[str, str]) -> Any:
    """The value with the places filled in."""
    if isinstance(value, str):
        for name, place in places.items():
            value = value.replace(f"{{{name}}}", place)
        return value
    if isinstance(value, list):
        return [filled(item, places) for item in value]
    return {key: filled(item, places) for key, item in value.items()} if isinstance(value, dict) else value
