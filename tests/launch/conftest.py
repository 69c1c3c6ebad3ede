"""The one run that all tests of the tools are copies of, and a copy for each test that asks for one."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.launch import runs
from tests.launch.runs import Launched, Mended, Place, Published


@pytest.fixture(scope="session")
def origin(tmp_path_factory: pytest.TempPathFactory) -> Launched:
    return runs.launched(tmp_path_factory.mktemp("launched"))


@pytest.fixture(scope="session")
def mended(origin: Launched, tmp_path_factory: pytest.TempPathFactory) -> Mended:
    return runs.mended(origin, tmp_path_factory.mktemp("mended"))


@pytest.fixture(scope="session")
def published(origin: Launched, tmp_path_factory: pytest.TempPathFactory) -> Published:
    return runs.published(origin, tmp_path_factory.mktemp("published"))


@pytest.fixture
def place(origin: Launched, tmp_path: Path) -> Iterator[Place]:
    """A copy that a test may leave as it likes."""
    made = Place(origin, tmp_path)
    made.serve()
    yield made
    Place.stop()


@pytest.fixture(scope="module")
def copy(origin: Launched, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    yield Place(origin, tmp_path_factory.mktemp("copy"))
    Place.stop()


@pytest.fixture
def shared(copy: Place) -> Place:
    """A copy for all tests of a module that leave it as it was, or begin with a reset."""
    copy.serve()
    return copy
