"""One indexed sample repository for all tests that only read, and a fresh one for those that write."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.search.sample import write_sample

from holdfast.search.library import SearchIndex, build_index, open_index
from holdfast.search.repository import Repository, find_repository
from holdfast.search.request import SearchRequest

Ask = Callable[..., dict[str, Any]]


@pytest.fixture(scope="session")
def sample_index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SearchIndex]:
    place = tmp_path_factory.mktemp("sample")
    repository = find_repository(write_sample(place / "repo"))
    build_index(repository, place / "cache")
    with open_index(repository, place / "cache") as index:
        yield index


@pytest.fixture
def ask(sample_index: SearchIndex) -> Ask:
    def search(query: str = "*", **arguments: Any) -> dict[str, Any]:
        return sample_index.search(SearchRequest.from_arguments({"query": query, **arguments}))

    return search


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return find_repository(write_sample(tmp_path / "repo"))


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"
