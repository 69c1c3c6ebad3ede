"""An index that is carried to another machine: taken up as it is, or refused as a whole."""

import json
from pathlib import Path
from typing import Any

import pytest

from holdfast.errors import ToolError
from holdfast.search.exported import export_index, restore_index
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
