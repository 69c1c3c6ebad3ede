"""Which backend answers: the one that is named, and never another in its place; `auto` takes what there is."""

import os
import shutil
import sqlite3
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from tests.unit.search.indexed import Indexed, make_indexed

from holdfast.errors import ToolError
from holdfast.search import in_memory, portable, portable_reading
from holdfast.search.backends import StandIn
from holdfast.search.engine.memory_postings import GatheredChunks
from holdfast.search.engine.portable_file import seal
from holdfast.search.engine.portable_postings import PortablePostings
from holdfast.search.library import SearchIndex, build_for, build_index, compact_index, open_index, open_to_search
from holdfast.search.request import SearchRequest

HOW = "run `holdfast index build --backend {}`, or call build_sqlite_index"


def build(project: Indexed, backend: str = "sqlite", *, full: bool = False) -> dict[str, Any]:
    quiet: Any = lambda *_: None  # noqa: E731
    return build_for(backend, project.repository, project.cache, full=full, progress=quiet, stop=lambda: False)


def refusal(index: SearchIndex | StandIn, backend: str) -> ToolError:
    with pytest.raises(ToolError) as caught:
        index.search(SearchRequest(query="work", backend=backend))
    return caught.value


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Indexed:
    project = make_indexed(tmp_path_factory.mktemp("backends"))
    build(project)
    return project


@pytest.fixture
def project(made: Indexed, tmp_path: Path) -> Iterator[Indexed]:
    """The same with a cache and files that may be changed."""
    source = made.repository.root / "work.py"
    before = source.read_text()
    yield made.copied(tmp_path / "cache")
    if source.read_text() != before:
        source.write_text(before)


@pytest.fixture
def index(project: Indexed) -> Iterator[SearchIndex]:
    with open_index(project.repository, project.cache) as index:
        yield index


# Names.


@pytest.mark.parametrize("backend", ["tantivy", "memory", "sqlite", "sqlite-fts"])
def test_the_backend_that_is_named_answers_and_says_so(index: SearchIndex, backend: str) -> None:
    payload = index.search(SearchRequest(query="work", backend=backend))
    assert (payload["backend"], payload["total"]["code"], payload["warnings"]) == (backend, 1, [])


@pytest.mark.parametrize("backend", ["lmdb", "", "SQLITE", "sqlite_fts"])
def test_a_backend_that_there_is_not_is_refused_with_those_that_there_are(
    index: SearchIndex, backend: str
) -> None:
    error = refusal(index, backend)
    assert error.code == "INVALID_REQUEST"
    assert "auto, tantivy, memory, sqlite, sqlite-fts" in (error.hint or "")


# The SQLite file.


def test_building_for_one_name_builds_for_the_other(project: Indexed) -> None:
    project.home.portable.unlink()
    report = build(project, "sqlite-fts")
    assert (report["action"], report["sqlite"]["path"]) == ("unchanged", str(project.home.portable))
    with open_index(project.repository, project.cache) as index:
        assert index.search(SearchRequest(query="work", backend="sqlite"))["total"]["code"] == 1


def test_a_build_for_the_default_backend_leaves_the_file_alone(project: Indexed) -> None:
    before = project.home.portable.stat()
    assert "sqlite" not in build(project, "tantivy")
    after = project.home.portable.stat()  # reading it may move the time of its last access
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


@pytest.mark.parametrize(("full", "incremental"), [(False, True), (True, False)])
def test_the_file_follows_the_index(project: Indexed, index: SearchIndex, full: bool, incremental: bool) -> None:
    (project.repository.root / "work.py").write_text("def newcomer():\n    return 2\n")
    report = build(project, full=full)
    assert report["sqlite"]["incremental"] is incremental
    payload = index.search(SearchRequest(query="newcomer", backend="sqlite"))
    assert (payload["total"]["code"], payload["warnings"]) == (1, [])
    assert index.search(SearchRequest(query="work", mode="code", backend="sqlite"))["total"]["code"] == 1


@pytest.mark.parametrize("backend", ["sqlite", "sqlite-fts"])
def test_an_older_file_says_how_it_is_brought_up_to_date(project: Indexed, backend: str) -> None:
    (project.repository.root / "work.py").write_text("def newcomer():\n    return 2\n")
    build_index(project.repository, project.cache)
    with open_index(project.repository, project.cache) as index:
        warnings = index.search(SearchRequest(query="work", backend=backend))["warnings"]
    assert [warning["code"] for warning in warnings] == ["stale", "stale"]
    assert warnings[1]["message"] == f"the {backend} index is older than the default one; {HOW.format(backend)}"


def test_both_names_stay_open_at_the_same_time(index: SearchIndex, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []

    def counted(path: Path, name: str) -> PortablePostings:
        opened.append(name)
        return PortablePostings(path, name)

    monkeypatch.setattr(portable_reading, "PortablePostings", counted)
    for backend in ("sqlite", "sqlite-fts") * 3:
        index.search(SearchRequest(query="work", backend=backend))
    assert opened == ["sqlite", "sqlite-fts"]


def without_fts5(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (portable, "holdfast.search.backends"):
        monkeypatch.setattr(f"{module if isinstance(module, str) else module.__name__}.has_fts5", lambda: False)


def test_without_fts5_the_file_is_for_the_plain_tables_alone(
    project: Indexed, index: SearchIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_fts5(monkeypatch)
    report = build(project)["sqlite"]
    assert (report["incremental"], [w["code"] for w in report["warnings"]]) == (False, ["full", "fts"])
    assert index.search(SearchRequest(query="work", backend="sqlite"))["total"]["code"] == 1
    error = refusal(index, "sqlite-fts")
    assert (error.code, "without FTS5" in error.message) == ("NO_INDEX", True)
    assert (error.hint or "").startswith(HOW.format("sqlite-fts"))
    with pytest.raises(ToolError) as caught:
        build(project, "sqlite-fts")
    assert (caught.value.code, "sqlite" in (caught.value.hint or "")) == ("CAPABILITY_MISSING", True)
    monkeypatch.undo()
    assert build(project)["sqlite"]["warnings"][0]["message"].endswith("without FTS5")


def test_the_plain_tables_need_nothing_of_fts5(project: Indexed, index: SearchIndex) -> None:
    with sqlite3.connect(project.home.portable) as connection:
        connection.execute("DROP TABLE word_places")
        connection.execute("DROP TABLE words")
    connection.close()
    seal(project.home.portable)
    assert index.search(SearchRequest(query='"return 1" /wor./', backend="sqlite"))["total"]["code"] == 1
    assert refusal(index, "sqlite-fts").code == "NO_INDEX"


def test_a_file_of_an_older_format_is_built_anew(project: Indexed, index: SearchIndex) -> None:
    data = bytearray(project.home.portable.read_bytes())
    data[71] = 1
    project.home.portable.write_bytes(data)
    error = refusal(index, "sqlite")
    assert (error.message, error.hint) == (
        "the SQLite file of the index has the other format 1",
        HOW.format("sqlite"),
    )
    assert "other format 1" in build(project)["sqlite"]["warnings"][0]["message"]
    assert index.search(SearchRequest(query="work", backend="sqlite"))["total"]["code"] == 1


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_place_that_may_not_be_written_can_be_searched(project: Indexed) -> None:
    project.home.directory.chmod(0o555)
    try:
        with open_index(project.repository, project.cache) as index:
            assert index.search(SearchRequest(query="work", backend="sqlite"))["total"]["code"] == 1
            assert index.search(SearchRequest(query="work", backend="memory"))["total"]["code"] == 1
    finally:
        project.home.directory.chmod(0o755)


# Memory.


def test_memory_writes_nothing(project: Indexed, index: SearchIndex) -> None:
    project.home.portable.unlink()
    before = sorted(path for path in project.cache.rglob("*") if "store.db-" not in path.name)
    assert index.search(SearchRequest(query="/wor./ lang:python", backend="memory"))["total"]["code"] == 1
    assert sorted(path for path in project.cache.rglob("*") if "store.db-" not in path.name) == before


def test_memory_is_of_the_newest_generation(project: Indexed, index: SearchIndex) -> None:
    assert not index.search(SearchRequest(query="newcomer", backend="memory"))["total"]["code"]
    (project.repository.root / "work.py").write_text("def newcomer():\n    return 2\n")
    build_index(project.repository, project.cache)
    payload = index.search(SearchRequest(query="newcomer", backend="memory"))
    assert (payload["total"]["code"], payload["index"]["generation"]) == (1, 2)
    compact_index(project.repository, project.cache)
    assert index.search(SearchRequest(query="newcomer", backend="memory"))["code"] == payload["code"]


def test_memory_is_gathered_once_for_all_readers_and_let_go_with_the_last(
    project: Indexed, index: SearchIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    gathered: list[int] = []
    real = in_memory._Gathering.chunks

    def counted(self: Any) -> GatheredChunks:
        gathered.append(1)
        return real(self)

    monkeypatch.setattr(in_memory._Gathering, "chunks", counted)
    with open_index(project.repository, project.cache) as other:
        for one in (index, other, index):
            one.search(SearchRequest(query="work", backend="memory"))
    assert gathered == [1]
    assert index.search(SearchRequest(query="/retur./", backend="memory"))["total"]["code"] == 1
    index.close()
    assert not [state for state in in_memory._GATHERED if str(project.cache) in str(state)]


def test_readers_that_come_at_once_wait_for_the_one_who_gathers(
    project: Indexed, index: SearchIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    began, go_on, gathered = threading.Event(), threading.Event(), []
    real = in_memory._Gathering.chunks

    def slow(self: Any) -> GatheredChunks:
        gathered.append(1)
        began.set()
        assert go_on.wait(20)
        return real(self)

    monkeypatch.setattr(in_memory._Gathering, "chunks", slow)
    with open_index(project.repository, project.cache) as other, ThreadPoolExecutor(2) as threads:
        first = threads.submit(index.search, SearchRequest(query="work", backend="memory"))
        assert began.wait(20)
        asked = iter(range(1000))
        with pytest.raises(ToolError) as caught:  # and who waits can be stopped
            other.search(SearchRequest(query="work", backend="memory"), stop=lambda: next(asked) > 8)
        second = threads.submit(other.search, SearchRequest(query="work", backend="memory"))
        go_on.set()
        assert first.result(20)["code"] == second.result(20)["code"]
    assert (gathered, caught.value.code) == ([1], "CANCELLED")


def test_a_change_of_times_alone_gathers_nothing_anew(project: Indexed, index: SearchIndex) -> None:
    index.search(SearchRequest(query="work", backend="memory"))
    held = index._in_memory
    os.utime(project.repository.root / "work.py", (1, 1))
    build_index(project.repository, project.cache)
    payload = index.search(SearchRequest(query="work", backend="memory"))
    assert (payload["index"]["changedFiles"], index._in_memory is held) == (0, True)


def test_an_index_that_is_too_large_for_memory_is_refused(
    index: SearchIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(in_memory, "MOST_CHUNKS", 2)
    error = refusal(index, "memory")
    assert (error.code, error.hint) == ("CAPABILITY_MISSING", "use the backend auto")


def test_gathering_can_be_stopped_and_taken_up_again(index: SearchIndex) -> None:
    asked = iter(range(1000))
    with pytest.raises(ToolError) as caught:
        index.search(SearchRequest(query="work", backend="memory"), stop=lambda: next(asked) > 4)
    assert caught.value.code == "CANCELLED"
    assert index.search(SearchRequest(query="work", backend="memory"))["total"]["code"] == 1


# Auto, where the default backend is lost.


def lose(project: Indexed, how: str) -> None:
    if how == "terms":
        for path in project.build.terms.glob("*"):
            path.write_bytes(b"")
    elif how == "store":
        project.build.store.write_bytes(b"SQLite format 3\0" + bytes(5000))
    elif how == "build":
        shutil.rmtree(project.build.directory)
    elif how == "pointer":
        (project.home.directory / "current.json").unlink()
    else:
        (project.home.directory / "current.json").write_text('{"build": "x", "format": 1}')


LOST = ("terms", "store", "build", "pointer", "format")


@pytest.mark.parametrize("how", LOST)
def test_auto_takes_the_file_where_the_index_is_lost_and_says_so(project: Indexed, how: str) -> None:
    lose(project, how)
    with pytest.raises(ToolError) as caught:
        open_index(project.repository, project.cache)
    assert caught.value.code == "NO_INDEX"
    with open_to_search(project.repository, project.cache) as index:
        payload = index.search(SearchRequest(query="work"))
        asked = index.search(SearchRequest(query="work", backend="sqlite"))
    assert (payload["backend"], payload["total"]["code"]) == ("sqlite-fts", 1)
    assert payload["warnings"][-1]["code"] == "backend"
    assert "holdfast index build" in payload["warnings"][-1]["message"]
    assert asked["backend"] == "sqlite"


def test_auto_needs_no_fts5(project: Indexed, monkeypatch: pytest.MonkeyPatch) -> None:
    lose(project, "terms")
    without_fts5(monkeypatch)
    with open_to_search(project.repository, project.cache) as index:
        assert index.search(SearchRequest(query="work"))["backend"] == "sqlite"


@pytest.mark.parametrize("backend", ["tantivy", "memory"])
def test_a_backend_that_needs_the_index_is_not_replaced(project: Indexed, backend: str) -> None:
    lose(project, "terms")
    with open_to_search(project.repository, project.cache) as index:
        error = refusal(index, backend)
    assert (error.code, "build_index" in (error.hint or "")) == ("NO_INDEX", True)


@pytest.mark.parametrize("file", ["gone", "torn", "foreign"])
def test_where_nothing_can_be_opened_the_index_is_what_is_missing(project: Indexed, file: str) -> None:
    lose(project, "terms")
    data = project.home.portable.read_bytes()
    project.home.portable.unlink()
    if file != "gone":
        project.home.portable.write_bytes(data[: len(data) // 2] if file == "torn" else b"hello")
    with pytest.raises(ToolError) as caught:
        open_to_search(project.repository, project.cache)
    assert (caught.value.code, caught.value.hint) == (
        "NO_INDEX",
        "call build_index, or run `holdfast index build` there",
    )


def test_where_the_index_can_be_opened_there_is_no_stand_in(project: Indexed) -> None:
    with open_to_search(project.repository, project.cache) as index:
        assert isinstance(index, SearchIndex)
        assert index.search(SearchRequest(query="work"))["backend"] == "tantivy"
