"""One search on behalf of a caller: its arguments, the defaults of the repository, an open index, the answer.

A request may be asked of several repositories at once; then `federation` answers it.
"""

import sqlite3
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from holdfast.errors import ToolError
from holdfast.search.configuration import load_configuration
from holdfast.search.request import SearchRequest
from holdfast.search.served import Served

__all__ = ["Report", "answer", "answer_from_all"]


Report = Callable[[str, int, int, list[dict[str, Any]]], None]
"""Message, repositories done, repositories in all, early hits."""


def answer(
    served: Served,
    arguments: Mapping[str, Any],
    stop: Callable[[], bool] = lambda: False,
    report: Report | None = None,
) -> dict[str, Any]:
    """The payload of a search; ToolError where it cannot be answered, CANCELLED once `stop` says so."""
    asked = SearchRequest.from_arguments(arguments)  # what is wrong with the question is told first
    if asked.is_federated:
        return answer_from_all(served, asked, _base(served), stop, report)
    if report is not None:
        report("searching", 0, 1, [])
    repository = served.find(asked.repo_path[0] if asked.repo_path else None)
    request = SearchRequest.from_arguments(load_configuration(repository).search.completed(arguments))
    try:
        with served.index(repository, stop) as index:
            return index.search(request, stop=stop)
    except (OSError, sqlite3.Error):  # it was replaced, and its build removed, while it was asked
        with served.index(repository, stop) as index:
            return index.search(request, stop=stop)


def answer_from_all(
    served: Served,
    request: SearchRequest,
    base: Path,
    stop: Callable[[], bool] = lambda: False,
    report: Report | None = None,
) -> dict[str, Any]:
    """The payload of a search over several repositories; `base` is where the path of a workspace file begins."""
    from holdfast.search.federation.asking import ask_all
    from holdfast.search.federation.members import members_of
    from holdfast.search.federation.telling import told

    started = time.perf_counter()
    members = members_of(served, request, base)
    return told(ask_all(served, members.listed, request, stop, report), members, request, started)


def _base(served: Served) -> Path:
    """The root of the first repository that is served, as for every other path that a caller names."""
    try:
        return served.find().root
    except ToolError:  # it is not there; an absolute path needs none
        return Path.cwd()
