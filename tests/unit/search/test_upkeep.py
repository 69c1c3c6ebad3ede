"""Cleaning up: what is ours and unused goes, and nothing else, whatever a cache directory holds."""

import contextlib
import sqlite3
from pathlib import Path

import pytest

from holdfast.errors import ToolError
from holdfast.search.home import IndexHome
from holdfast.search.library import build_index
from holdfast.search.repository import Repository, find_repository, index_home
from holdfast.search.upkeep import collect_garbage, compact_index


def everything(place: Path) -> list[Path]:
    return sorted(place.rglob("*"))


def index_of(root: Path, cache: Path) -> IndexHome:
    """A home with one current build of a repository that was there once."""
    root.mkdir(exist_ok=True)
    home = IndexHome(index_home(find_repository(root), cache))
    with home.writing():
        build = home.new_build()
        build.store.write_bytes(b"x" * 50)
        home.promote(build, root)
    return home


@pytest.fixture
def gone(tmp_path: Path) -> IndexHome:
    home = index_of(tmp_path / "project", tmp_path / "cache")
    (tmp_path / "project").rmdir()
    return home


@pytest.mark.parametrize("name", ["photos", "photos-0123456789ab"])
@pytest.mark.parametrize("file", ["holiday.png", "current.json", "writer.lock", "builds/1/store.db"])
@pytest.mark.parametrize("dry_run", [False, True])
def test_a_foreign_directory_is_neither_removed_nor_written_to(
    tmp_path: Path, name: str, file: str, dry_run: bool
) -> None:
    (tmp_path / "search" / name / file).parent.mkdir(parents=True)
    (tmp_path / "search" / name / file).write_text("{}")
    before = everything(tmp_path)

    assert collect_garbage(tmp_path, dry_run=dry_run)["removed"] == []
    assert everything(tmp_path) == before


def test_a_link_to_somewhere_else_is_left_alone(gone: IndexHome, tmp_path: Path) -> None:
    moved = gone.directory.rename(tmp_path / "elsewhere")
    gone.directory.symlink_to(moved)

    assert collect_garbage(tmp_path / "cache")["removed"] == []
    assert (moved / "current.json").exists()


def test_the_index_of_a_repository_that_is_gone_is_removed_with_its_directory(
    gone: IndexHome, tmp_path: Path
) -> None:
    told = collect_garbage(tmp_path / "cache", dry_run=True)
    assert gone.current() is not None
    report = collect_garbage(tmp_path / "cache")

    assert [item["path"] for item in report["removed"]] == [str(gone.directory)]
    assert (told["removed"], report["bytes"]) == (report["removed"], told["bytes"])
    assert not gone.directory.exists()


def test_what_a_person_put_beside_an_index_survives_it(gone: IndexHome, tmp_path: Path) -> None:
    (gone.directory / "notes").mkdir()
    (gone.directory / "notes" / "thesis.tex").write_text("x")

    assert len(collect_garbage(tmp_path / "cache")["removed"]) == 1
    assert everything(gone.directory) == [gone.directory / "notes", gone.directory / "notes" / "thesis.tex"]
    assert collect_garbage(tmp_path / "cache")["removed"] == []


@pytest.mark.parametrize("dry_run", [False, True])
def test_an_index_that_is_read_stays_although_its_repository_is_gone(
    gone: IndexHome, tmp_path: Path, dry_run: bool
) -> None:
    build = gone.current()
    assert build is not None

    with gone.reading(build):
        assert collect_garbage(tmp_path / "cache", dry_run=dry_run)["removed"] == []
    assert gone.current() == build


def test_one_that_is_being_written_is_left_alone_and_named(gone: IndexHome, tmp_path: Path) -> None:
    with gone.writing():
        report = collect_garbage(tmp_path / "cache")

    assert (report["removed"], report["busy"]) == ([], [str(gone.directory)])


def test_an_index_in_use_loses_only_its_old_builds(tmp_path: Path) -> None:
    home = index_of(tmp_path / "project", tmp_path)
    current = home.current()
    old = home.new_build()

    report = collect_garbage(tmp_path, find_repository(tmp_path / "project"))

    assert [item["path"] for item in report["removed"]] == [str(old.directory)]
    assert home.current() == current


def test_halves_that_do_not_belong_together_are_not_compacted(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "a.py").write_text("def work():\n    return 1\n")
    repository = find_repository(tmp_path / "project")
    build_index(repository, tmp_path / "cache")
    build = IndexHome(index_home(repository, tmp_path / "cache")).current()
    assert build is not None
    with contextlib.closing(sqlite3.connect(build.store, isolation_level=None)) as store:
        store.execute("UPDATE facts_of_index SET value = 9 WHERE key = 'generation'")

    with pytest.raises(ToolError, match="the index is damaged: ") as refused:
        compact_index(repository, tmp_path / "cache")
    assert "holdfast index build --full" in (refused.value.hint or "")


def test_a_repository_without_an_index_gets_no_directory_for_the_asking(tmp_path: Path) -> None:
    repository: Repository = find_repository(tmp_path)

    assert collect_garbage(tmp_path / "cache", repository)["removed"] == []
    with pytest.raises(ToolError, match="no index to compact"):
        compact_index(repository, tmp_path / "cache")
    assert not (tmp_path / "cache").exists()
