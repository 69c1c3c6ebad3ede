"""The databases of the run store's tests: each test that asks for one runs on SQLite and on PostgreSQL."""

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.launch.postgres import fresh_schema, is_available, postgres

if TYPE_CHECKING:
    from tests.launch.stages import Stage

    from holdfast.launch.store.run_store import RunStore


@pytest.fixture(scope="session")
def postgres_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of a running PostgreSQL, the same for all workers of a test run."""
    if not is_available():
        pytest.skip("there is no PostgreSQL: install the wheel pgserver, or set HOLDFAST_TEST_POSTGRES")
    here = tmp_path_factory.getbasetemp()
    with postgres(here.parent if "PYTEST_XDIST_WORKER" in os.environ else here) as url:
        yield url


@pytest.fixture
def postgres_url(postgres_server: str) -> Iterator[str]:
    """The URL of an empty PostgreSQL database."""
    with fresh_schema(postgres_server) as url:
        yield url


@pytest.fixture
def memory_directory() -> Iterator[Path]:
    """A directory in memory where there is one: tests end no machine, and need not wait for its disk."""
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if os.access(memory, os.W_OK) else None) as directory:
        yield Path(directory)


@pytest.fixture(params=["sqlite", "postgresql"])
def store_url(request: pytest.FixtureRequest, memory_directory: Path) -> str:
    """The URL of an empty database, once of each kind."""
    if request.param == "sqlite":
        return f"sqlite:///{memory_directory}/runs.db"
    url: str = request.getfixturevalue("postgres_url")
    return url


@pytest.fixture
def open_store(store_url: str) -> Iterator[Callable[[], "RunStore"]]:
    """Opens the same store again and again, as other processes would; all are closed afterwards."""
    from holdfast.launch.store.run_store import RunStore

    opened: list[RunStore] = []

    def open_one() -> RunStore:
        opened.append(RunStore(store_url))
        return opened[-1]

    yield open_one
    for store in opened:
        store.close()


@pytest.fixture
def store(open_store: Callable[[], "RunStore"]) -> "RunStore":
    """An empty run store, once in each kind of database."""
    return open_store()


@pytest.fixture
def stage(memory_directory: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator["Stage"]:
    """A workspace with workers that do as they are told."""
    from tests.launch.stages import Stage

    with closing(Stage(memory_directory, f"sqlite:///{memory_directory}/runs.db", monkeypatch)) as made:
        yield made


@pytest.fixture
def any_stage(memory_directory: Path, store_url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator["Stage"]:
    """The same, once with each kind of database."""
    from tests.launch.stages import Stage

    with closing(Stage(memory_directory, store_url, monkeypatch)) as made:
        yield made
