"""Where indexes live: locks that hold while others remove, and a pointer that never gets ahead of its build."""

import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

import pytest

from holdfast.errors import ToolError, UsageError
from holdfast.search import home as home_module
from holdfast.search.home import Build, IndexBusyError, IndexHome
from holdfast.search.repository import find_repository


@pytest.fixture
def home(tmp_path: Path) -> IndexHome:
    made = IndexHome(tmp_path / "search" / "project-0123456789ab")
    with made.writing():
        pass
    return made


def a_build(home: IndexHome) -> Build:
    build = home.new_build()
    build.store.write_bytes(b"x" * 100)
    build.terms.mkdir()
    (build.terms / "meta.json").write_text("{}")
    return build


# --- those who read ---------------------------------------------------------------------------------------------


def test_a_reader_that_waited_while_its_build_was_removed_is_told_so(
    home: IndexHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    build = a_build(home)
    real: Callable[..., bool] = home_module._flock

    def after_the_removal(file: IO[str], **how: Any) -> bool:
        shutil.rmtree(build.directory)
        return real(file, **how)

    monkeypatch.setattr(home_module, "_flock", after_the_removal)
    with pytest.raises(FileNotFoundError, match=build.name), home.reading(build):
        pass


def test_who_reads_a_build_has_all_of_it_however_often_others_clean_up(home: IndexHome) -> None:
    outcomes: list[bool] = []

    def read(build: Build, start: threading.Barrier) -> None:
        start.wait(20)
        try:
            with home.reading(build):
                outcomes.append(build.store.exists() and (build.terms / "meta.json").exists())
        except FileNotFoundError:
            outcomes.append(True)  # it is gone, and the reader knows

    for _ in range(150):
        start = threading.Barrier(2)
        reader = threading.Thread(target=read, args=(a_build(home), start))
        reader.start()
        start.wait(20)
        home.prune()
        reader.join(20)
    assert outcomes == [True] * 150


def test_a_build_that_is_read_is_not_removed_and_one_that_is_not_is(home: IndexHome) -> None:
    read, left = a_build(home), a_build(home)

    with home.reading(read):
        would = home.prune(dry_run=True)
        assert left.store.exists()
        assert home.prune() == would == [(left.directory, 102)]
        assert not home.remove()
    assert list(home.builds.iterdir()) == [read.directory]
    assert home.prune() == [(read.directory, 102)]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount")
def test_a_build_on_a_disk_that_cannot_be_written_to_can_be_read(home: IndexHome) -> None:
    build = a_build(home)
    (build.directory / "readers.lock").unlink()
    place = str(home.directory)
    mounted = subprocess.run(["mount", "--bind", "-o", "ro", place, place], capture_output=True, check=False)
    if mounted.returncode:
        pytest.skip("directories cannot be mounted here")
    try:
        with home.reading(build):
            assert build.store.exists()
            assert not (build.directory / "readers.lock").exists()
    finally:
        subprocess.run(["umount", place], check=True)


def test_a_link_among_the_builds_is_not_followed(home: IndexHome, tmp_path: Path) -> None:
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious" / "file").write_text("x")
    home.builds.mkdir()
    (home.builds / "link").symlink_to(tmp_path / "precious")
    (home.builds / "file").write_text("")

    assert home.prune() == []
    assert (tmp_path / "precious" / "file").exists()


# --- those who write --------------------------------------------------------------------------------------------


def test_whoever_waited_for_a_home_that_was_removed_holds_the_lock_of_the_new_one(home: IndexHome) -> None:
    has_it, may_leave = threading.Event(), threading.Event()

    def wait_for_it() -> None:
        with IndexHome(home.directory).writing(wait=20):
            has_it.set()
            may_leave.wait(20)

    waiter = threading.Thread(target=wait_for_it)
    with home.writing():
        waiter.start()
        assert home.remove()
    assert has_it.wait(20)
    with pytest.raises(IndexBusyError, match=str(os.getpid())), home.writing():
        pass
    assert home.is_ours()
    may_leave.set()
    waiter.join(20)


def test_a_lock_file_that_was_replaced_while_it_was_taken_is_taken_again(
    home: IndexHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    real: Callable[..., bool] = home_module._flock
    locked: list[int] = []

    def replaced_at_first(file: IO[str], **how: Any) -> bool:
        if not locked:
            (home.directory / "writer.lock").unlink()
        locked.append(os.fstat(file.fileno()).st_ino)
        return real(file, **how)

    monkeypatch.setattr(home_module, "_flock", replaced_at_first)
    with home.writing():
        assert len(locked) == 2
        assert locked[-1] == (home.directory / "writer.lock").stat().st_ino


def test_waiting_for_the_lock_ends_when_it_is_told_to(home: IndexHome) -> None:
    answers = iter([False, False, True])

    with home.writing(), pytest.raises(ToolError) as stopped, home.writing(wait=3600, stop=lambda: next(answers)):
        pass
    assert stopped.value.code == "CANCELLED"


def test_an_error_of_the_work_under_the_lock_reaches_the_caller(home: IndexHome) -> None:
    with pytest.raises(FileNotFoundError, match="of the work"), home.writing():
        raise FileNotFoundError("of the work")
    with home.writing():
        pass


def test_everything_is_on_the_disk_before_the_pointer_and_the_pointer_after_it(
    home: IndexHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    build, synced, real = a_build(home), [], os.fsync

    def fsync(descriptor: int) -> None:
        synced.append(os.fstat(descriptor).st_ino)
        real(descriptor)

    monkeypatch.setattr(os, "fsync", fsync)
    home.promote(build, Path("/"))

    places = (build.store, build.terms / "meta.json", build.terms, build.directory, home.builds)
    order = [synced.index(place.stat().st_ino) for place in (*places, home.directory / "current.json")]
    assert order[-1] == max(order) == len(synced) - 2
    assert synced[-1] == home.directory.stat().st_ino


def test_files_that_vanish_while_they_are_counted_are_no_error(
    home: IndexHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    build, walk = a_build(home), os.walk

    def slow_walk(top: Path) -> Any:
        for found in list(walk(top)):
            (build.terms / "meta.json").unlink(missing_ok=True)  # a merge has ended
            yield found

    monkeypatch.setattr(os, "walk", slow_walk)
    assert build.size() == 100


# --- what is ours -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["project", "0123456789ab", "project-0123456789aB", "project-0123456789abc"])
def test_a_directory_with_another_name_is_not_ours(tmp_path: Path, name: str) -> None:
    other = IndexHome(tmp_path / name)
    with other.writing():
        pass

    assert not other.is_ours()


def test_a_directory_without_the_mark_is_not_ours_and_neither_is_a_link(home: IndexHome, tmp_path: Path) -> None:
    link = tmp_path / "link-0123456789ab"
    link.symlink_to(home.directory)

    assert home.is_ours()
    assert not IndexHome(link).is_ours()
    (home.directory / "holdfast-index.json").write_text("")  # of a writer that died
    assert not home.is_ours()
    with home.writing():
        assert home.is_ours()


def test_a_removal_takes_what_is_ours_and_leaves_the_rest(home: IndexHome) -> None:
    home.promote(a_build(home), Path("/"))
    (home.directory / "blame.db-wal").write_text("")
    foreign = [home.directory / "thesis.tex", home.builds / "photo.png", home.directory / "blame.db.d"]
    foreign[2].mkdir()
    for file in foreign[:2]:
        file.write_text("x")

    with home.writing():
        assert home.remove()
    assert sorted(home.directory.rglob("*")) == sorted([*foreign, home.builds])
    assert not home.is_ours()


def test_a_removal_of_an_index_leaves_no_directory(home: IndexHome) -> None:
    home.promote(a_build(home), Path("/"))

    with home.writing():
        assert home.remove()
    assert not home.directory.exists()


def test_where_search_cannot_work_it_is_told_at_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sys, "platform", "win32")

    with pytest.raises(UsageError, match="needs Linux or macOS") as refused:
        find_repository(tmp_path)
    assert "WSL" in refused.value.remedy
