"""An index that is carried to another machine: taken up as it is, or refused as a whole."""

import contextlib
import hashlib
import json
import resource
import sqlite3
import sys
from pathlib import Path
from typing import Any

import pytest

from holdfast.errors import ToolError
from holdfast.search.exported import DIRECTORY, export_index, restore_index
from holdfast.search.home import FORMAT
from holdfast.search.library import build_index, open_index
from holdfast.search.repository import Repository
from holdfast.search.request import SearchRequest


def never() -> bool:
    return False


def answer(repository: Repository, cache: Path) -> list[dict[str, Any]]:
    with open_index(repository, cache) as index:
        hits: list[dict[str, Any]] = index.search(SearchRequest.from_arguments({"query": "retry budget"}))["code"]
        return hits


@pytest.fixture
def exported(repository: Repository, cache: Path, tmp_path: Path) -> Path:
    build_index(repository, cache)
    export_index(repository, cache, tmp_path / "export")
    return tmp_path / "export"


def rewrite(directory: Path, **changes: Any) -> None:
    manifest = json.loads((directory / "manifest.json").read_text())
    (directory / "manifest.json").write_text(json.dumps(manifest | changes))


def test_an_exported_index_answers_the_same_on_another_machine(
    repository: Repository, cache: Path, exported: Path, tmp_path: Path
) -> None:
    assert restore_index(repository, tmp_path / "other", exported, stop=never)

    assert answer(repository, tmp_path / "other") == answer(repository, cache)
    assert build_index(repository, tmp_path / "other")["action"] in {"unchanged", "updated"}


def test_an_export_replaces_an_earlier_one_and_nothing_else(
    repository: Repository, cache: Path, exported: Path, tmp_path: Path
) -> None:
    export_index(repository, cache, exported)
    foreign = tmp_path / "foreign"
    foreign.mkdir()
    (foreign / "thesis.txt").write_text("mine")

    with pytest.raises(ToolError, match="FORBIDDEN"):
        export_index(repository, cache, foreign)

    assert [path.name for path in foreign.iterdir()] == ["thesis.txt"]


def test_without_an_index_nothing_is_exported(repository: Repository, cache: Path, tmp_path: Path) -> None:
    with pytest.raises(ToolError, match="NO_INDEX"):
        export_index(repository, cache, tmp_path / "export")
    assert not (tmp_path / "export").exists()


@pytest.mark.parametrize("text", ["", "{", "[]", '{"holdfast": "index"}', "\x00" * 100])
def test_what_is_no_export_is_not_taken_up(repository: Repository, tmp_path: Path, text: str) -> None:
    (tmp_path / "manifest.json").write_text(text)
    assert not restore_index(repository, tmp_path / "cache", tmp_path, stop=never)
    assert not (tmp_path / "cache").exists()


def test_an_export_of_another_format_is_not_taken_up(
    repository: Repository, exported: Path, tmp_path: Path
) -> None:
    rewrite(exported, format=FORMAT + 1)
    assert not restore_index(repository, tmp_path / "other", exported, stop=never)


def test_a_changed_byte_is_noticed_and_the_old_index_stays(
    repository: Repository, cache: Path, exported: Path
) -> None:
    build_index(repository, cache, full=True)
    before = answer(repository, cache)
    store = exported / "index" / "store.db"
    data = bytearray(store.read_bytes())
    data[len(data) // 2] ^= 1
    store.write_bytes(data)

    with pytest.raises(ToolError, match="DOWNLOAD_VERIFY_FAILED"):
        restore_index(repository, cache, exported, stop=never)

    assert answer(repository, cache) == before


@pytest.mark.parametrize(
    "path", ["../../evil", "/etc/passwd", "terms/../../evil", "terms/..", "other.db", 7, None]
)
def test_a_file_outside_of_an_index_is_refused(
    repository: Repository, exported: Path, tmp_path: Path, path: Any
) -> None:
    rewrite(exported, files=[{"path": path, "bytes": 1, "sha256": "0" * 64}])
    with pytest.raises(ToolError, match="ARCHIVE_UNSAFE"):
        restore_index(repository, tmp_path / "other", exported, stop=never)


def test_a_file_that_is_named_twice_is_refused(repository: Repository, exported: Path, tmp_path: Path) -> None:
    files = json.loads((exported / "manifest.json").read_text())["files"]
    rewrite(exported, files=[*files, files[0]])

    with pytest.raises(ToolError, match="ARCHIVE_UNSAFE") as refused:
        restore_index(repository, tmp_path / "other", exported, stop=never)
    assert refused.value.details["entry"] == files[0]["path"]
    assert not (tmp_path / "other").exists()


def test_an_export_into_the_repository_is_not_indexed_as_content(repository: Repository, cache: Path) -> None:
    before = build_index(repository, cache)["files"]
    export_index(repository, cache, repository.root / DIRECTORY)

    assert build_index(repository, cache)["files"] == before
    export_index(repository, cache, repository.root / DIRECTORY)
    assert restore_index(repository, cache.with_name("other"), repository.root / DIRECTORY, stop=never)


def test_a_link_in_place_of_a_file_is_not_followed(repository: Repository, exported: Path, tmp_path: Path) -> None:
    store = exported / "index" / "store.db"
    store.rename(tmp_path / "elsewhere.db")
    store.symlink_to(tmp_path / "elsewhere.db")
    with pytest.raises(ToolError, match="DOWNLOAD_VERIFY_FAILED"):
        restore_index(repository, tmp_path / "other", exported, stop=never)


def test_taking_up_an_export_can_be_stopped(repository: Repository, exported: Path, tmp_path: Path) -> None:
    with pytest.raises(ToolError, match="CANCELLED"):
        restore_index(repository, tmp_path / "other", exported, stop=lambda: True)
    assert not list((tmp_path / "other").rglob("store.db"))


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TRIGGER grow AFTER INSERT ON files BEGIN INSERT INTO skipped VALUES (random(), '', '', 0, 0); END",
        "CREATE VIEW everything AS SELECT * FROM files",
        "DROP TABLE history",
    ],
)
def test_a_store_with_anything_but_our_tables_is_refused_and_the_old_index_stays(
    repository: Repository, cache: Path, exported: Path, statement: str
) -> None:
    build_index(repository, cache, full=True)
    before = answer(repository, cache)
    with contextlib.closing(sqlite3.connect(exported / "index" / "store.db")) as store:
        store.execute(statement)
        store.commit()
    resign(exported)

    with pytest.raises(ToolError, match="other tables"):
        restore_index(repository, cache, exported, stop=never)

    assert answer(repository, cache) == before


@pytest.mark.parametrize("part", ["store.db", "terms"])
def test_an_export_without_one_of_its_halves_never_takes_the_place_of_an_index(
    repository: Repository, cache: Path, exported: Path, part: str
) -> None:
    build_index(repository, cache, full=True)
    before = answer(repository, cache)
    for path in exported.joinpath("index").rglob("*"):
        if path.is_file() and part in path.as_posix():
            path.unlink()
    resign(exported)

    with pytest.raises(ToolError, match="DOWNLOAD_VERIFY_FAILED"):
        restore_index(repository, cache, exported, stop=never)

    assert answer(repository, cache) == before
    assert [path.name for path in cache.rglob("builds/*")] == [path.name for path in cache.rglob("builds/*")][:1]


def test_an_export_from_a_cache_of_an_odd_name_is_whole(repository: Repository, tmp_path: Path) -> None:
    odd = tmp_path / "c#1?x=1%41"
    build_index(repository, odd)

    export_index(repository, odd, tmp_path / "export")

    assert restore_index(repository, tmp_path / "other", tmp_path / "export", stop=never)
    assert answer(repository, tmp_path / "other") == answer(repository, odd)
    assert {path.name for path in tmp_path.iterdir()} == {odd.name, "export", "other", "repo"}


def test_an_export_that_was_killed_is_taken_up_by_the_next_one(
    repository: Repository, cache: Path, tmp_path: Path
) -> None:
    build_index(repository, cache)
    (tmp_path / "export" / ".index.draft" / "terms").mkdir(parents=True)

    export_index(repository, cache, tmp_path / "export")

    assert {path.name for path in (tmp_path / "export").iterdir()} == {"index", "manifest.json", ".holdfastignore"}


def resign(directory: Path) -> None:
    """Write the manifest anew, as whoever forges an export would."""
    inner = directory / "index"
    files = [path for path in sorted(inner.rglob("*")) if path.is_file()]
    entries = [
        {
            "path": path.relative_to(inner).as_posix(),
            "bytes": path.stat().st_size,
            "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
        }
        for path in files
    ]
    rewrite(directory, files=entries)


def test_an_export_that_finds_no_room_says_so_in_a_line_and_leaves_no_draft(
    repository: Repository, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    build_index(repository, cache)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, hard))  # of this process: nobody else's disk is full
    try:
        with pytest.raises(ToolError) as refused:
            export_index(repository, cache, tmp_path / "export")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))

    assert refused.value.message == "the export could not be written: file too large"
    assert list((tmp_path / "export").iterdir()) == []
    export_index(repository, cache, tmp_path / "export")
    assert restore_index(repository, tmp_path / "other", tmp_path / "export", stop=never)
