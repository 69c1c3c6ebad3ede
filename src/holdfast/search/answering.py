"""One search on behalf of a caller: its arguments, the defaults of the repository, an open index, the answer."""

import sqlite3
from collections.abc import Callable, Mapping
from typing import Any

from holdfast.search.configuration import load_configuration
from holdfast.search.request import SearchRequest
from holdfast.search.served import Served

__all__ = ["answer"]


def answer(
    served: Served, arguments: Mapping[str, Any], stop: Callable[[], bool] = lambda: False
) -> dict[str, Any]:
    """The payload of a search; ToolError where it cannot be answered, CANCELLED once `stop` says so."""
    asked = SearchRequest.from_arguments(arguments)  # what is wrong with the question is told first
    repository = served.find(asked.repo_path)
    request = SearchRequest.from_arguments(load_configuration(repository).search.completed(arguments))
    try:
        with served.index(repository, stop) as index:
            return index.search(request, stop=stop)
    except (OSError, sqlite3.Error):  # it was replaced, and its build removed, while it was asked
        with served.index(repository, stop) as index:
            return index.search(request, stop=stop)
