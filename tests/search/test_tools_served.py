"""Which repository a call means, and the pool of open indexes behind it."""

import os
import shutil
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest
from tests.search.sample import write_sample

from holdfast.errors import ToolError
from holdfast.search.answering import answer
from holdfast.search.backends import StandIn
from holdfast.search.home import IndexHome
from holdfast.search.library import SearchIndex, build_index
from holdfast.search.repository import Repository, find_repository, index_home
from holdfast.search.request import SearchRequest
from holdfast.search.served import SERVED_ENV, Served, aliases, announce, served


@pytest.fixture
def place(repository: Repository, cache: Path) -> Served:
    build_index(repository, cache)
    return Served(aliases([repository.root]), cache)


def ask(place: Served, **arguments: Any) -> dict[str, Any]:
    return answer(place, {"query": "retry budget", **arguments})


def open_files(under: Path) -> list[str]:
    """The files below a directory that this process has open."""
    found = []
    for entry in os.listdir("/proc/self/fd"):
        path = f"/proc/self/fd/{entry}"
        if os.path.islink(path) and os.readlink(path).startswith(str(under)):
            found.append(os.readlink(path))
    return found


def test_repositories_of_the_same_name_get_numbers() -> None:
    roots = [Path(name) for name in ("/a/shop", "/b/shop", "/c/shop-2", "/", "/d")]
    named = aliases(roots, {Path("/d"): "x"})

    assert list(named) == ["shop", "shop-2", "shop-2-2", "root", "x"]
    assert len(set(named.values())) == 5


def test_a_name_that_was_given_is_not_lost_to_a_directory_that_is_called_so() -> None:
    assert list(aliases([Path("/api"), Path("/web")], {Path("/web"): "api"})) == ["api-2", "api"]


def test_a_repository_is_meant_by_its_name_its_path_or_by_being_the_first(tmp_path: Path, cache: Path) -> None:
    roots = [write_sample(tmp_path / name / "shop") for name in ("one", "two")]
    place = Served(aliases(roots), cache)

    assert place.find().root == roots[0]
    assert place.find("shop-2").root == roots[1]
    assert place.find(str(roots[1] / "src")).root == roots[1]
    with pytest.raises(ToolError):
        place.find("nothing-of-that-name")


def test_a_served_repository_that_is_gone_is_told_at_once(repository: Repository, cache: Path) -> None:
    place = Served(aliases([repository.root]), cache)
    assert place.find() is place.find(repository.root.name)
    shutil.rmtree(repository.root)

    with pytest.raises(ToolError, match="not found"):
        place.find()


def test_what_is_announced_is_what_the_processes_below_serve(
    repository: Repository, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(SERVED_ENV, "")
    announce(aliases([repository.root]), cache, repository.root / "w.jsonc")
    try:
        assert served().find().root == repository.root
        assert (served().cache_dir, served().workspace) == (cache, repository.root / "w.jsonc")
        assert served() is served()
    finally:
        served.cache_clear()


def test_a_reader_is_used_again(place: Served, repository: Repository) -> None:
    with place.index(repository) as first:
        pass
    with place.index(repository) as second:
        assert second is first


def test_a_question_that_is_wrong_costs_no_reader(place: Served, repository: Repository) -> None:
    with pytest.raises(ToolError), place.index(repository) as first:
        raise ToolError("INVALID_REQUEST", "wrong")
    with place.index(repository) as second:
        assert second is first


def test_a_reader_that_failed_is_not_used_again(place: Served, repository: Repository) -> None:
    with pytest.raises(RuntimeError), place.index(repository) as first:
        raise RuntimeError("broken")
    with place.index(repository) as second:
        assert second is not first


def test_at_the_same_time_nobody_shares_a_reader_and_only_a_few_are_kept(
    place: Served, repository: Repository, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("holdfast.search.served._PATIENCE", 0.0)  # the others are slow: nobody waits for them
    together = Barrier(9)

    def read(_: int) -> SearchIndex | StandIn:
        with place.index(repository) as index:
            together.wait(20)
            return index

    with ThreadPoolExecutor(9) as threads:
        assert len({id(index) for index in threads.map(read, range(9))}) == 9

    kept = [path for path in open_files(cache) if path.endswith("readers.lock")]
    assert len(kept) == 2
    place.release(repository)
    assert open_files(cache) == []


def test_more_searches_than_can_run_at_once_take_turns(place: Served, repository: Repository) -> None:
    used: list[SearchIndex | StandIn] = []

    def read(_: int) -> None:
        with place.index(repository) as index:
            used.append(index)

    with ThreadPoolExecutor(9) as threads:
        list(threads.map(read, range(50)))

    assert len(used) == 50
    assert len(set(map(id, used))) <= 2


def test_only_so_many_indexes_are_kept_open(tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("holdfast.search.served._IDLE_IN_ALL", 8)
    for number in range(10):
        (tmp_path / f"r{number}").mkdir()
        (tmp_path / f"r{number}" / "budget.py").write_text("def retry_budget():\n    return 1\n")
    repositories = [find_repository(tmp_path / f"r{number}") for number in range(10)]
    place = Served(aliases(repository.root for repository in repositories), cache)
    for repository in repositories:
        build_index(repository, cache)
        assert ask(place, repoPath=repository.root.name)["code"]

    assert sum(path.endswith("readers.lock") for path in open_files(cache)) == 8
    place.release()
    assert open_files(cache) == []


def test_an_index_that_was_removed_is_not_answered_from(
    place: Served, repository: Repository, cache: Path
) -> None:
    assert ask(place)["code"]
    shutil.rmtree(index_home(repository, cache))

    with pytest.raises(ToolError, match="NO_INDEX"):
        ask(place)
    assert open_files(cache) == []
    build_index(repository, cache)
    assert ask(place)["code"]


def test_an_index_that_is_removed_in_the_middle_of_a_search_is_no_index(
    place: Served, repository: Repository, cache: Path
) -> None:
    with ExitStack() as stack:
        index = stack.enter_context(place.index(repository))
        assert isinstance(index, SearchIndex)
        shutil.rmtree(index_home(repository, cache))
        stack.callback(index.status)
        with pytest.raises(ToolError, match="NO_INDEX"):
            stack.close()


def test_an_index_that_is_damaged_while_it_is_open_is_no_index(
    place: Served, repository: Repository, cache: Path
) -> None:
    ask(place)
    build = IndexHome(index_home(repository, cache)).current()
    assert build is not None
    with build.store.open("r+b") as file:
        file.write(b"nothing of SQLite" * 10_000)

    with pytest.raises(ToolError, match="NO_INDEX"):
        ask(place, query="something else")
    with pytest.raises(ToolError, match="NO_INDEX"):
        ask(place, query="something else")


def test_damage_that_only_the_search_meets_is_no_index_either(place: Served, repository: Repository) -> None:
    with pytest.raises(ToolError, match="NO_INDEX"), place.index(repository):
        raise sqlite3.DatabaseError("database disk image is malformed")
    with pytest.raises(sqlite3.OperationalError), place.index(repository):
        raise sqlite3.OperationalError("disk I/O error")


def test_readers_of_an_old_build_do_not_keep_it_from_being_removed(
    place: Served, repository: Repository, cache: Path
) -> None:
    with ExitStack() as stack:
        for _ in range(3):
            stack.enter_context(place.index(repository))
    build_index(repository, cache, full=True)
    assert ask(place)["code"]
    build_index(repository, cache)

    assert len(list(IndexHome(index_home(repository, cache)).builds.iterdir())) == 1


def test_a_search_whose_index_is_replaced_meanwhile_is_answered_by_the_next(
    place: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []
    search = SearchIndex.search

    def removed_once(index: SearchIndex, request: SearchRequest, **more: Any) -> dict[str, Any]:
        asked.append(1)
        if len(asked) == 1:
            raise FileNotFoundError("the build was removed")
        return search(index, request, **more)

    monkeypatch.setattr(SearchIndex, "search", removed_once)

    assert ask(place)["code"]
    assert len(asked) == 2


def test_a_search_that_nobody_waits_for_ends_where_it_is(place: Served) -> None:
    whole, asked = 0, 0

    def count() -> bool:
        nonlocal whole
        whole += 1
        return False

    def stop() -> bool:
        nonlocal asked
        asked += 1
        return asked > whole // 2

    answer(place, {"query": "/def \\w+/ budget"}, count)
    with pytest.raises(ToolError, match="CANCELLED"):
        answer(place, {"query": "/def \\w+/ budget retry"}, stop)

    assert whole > 10
    assert ask(place)["code"]  # whoever comes next is not affected


def test_a_search_that_nobody_waits_for_gives_up_its_place_in_the_queue(place: Served) -> None:
    with ExitStack() as slow:
        repository = place.find()
        for _ in range(2):
            slow.enter_context(place.index(repository))
        with pytest.raises(ToolError, match="before its turn"):
            answer(place, {"query": "budget"}, lambda: True)
