"""One search on behalf of a caller: its arguments, the defaults of the repository, an open index, the answer."""

import sqlite3
from collections.abc import Mapping
from typing import Any

from holdfast.search.configuration import load_configuration
from holdfast.search.request import SearchRequest
from holdfast.search.served import Served

__all__ = ["answer"]


def answer(served: Served, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The payload of a search; ToolError where it cannot be answered."""
    asked = SearchRequest.from_arguments(arguments)  # what is wrong with the question is told first
    repository = served.find(asked.repo_path)
    request = SearchRequest.from_arguments(load_configuration(repository).search.completed(arguments))
    try:
        with served.index(repository) as index:
            return index.search(request)
    except (OSError, sqlite3.Error):  # it was replaced, and its build removed, while it was asked
        with served.index(repository) as index:
            return index.search(request)
