"""`index_status` always answers, and never calls something missing that is there."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from tests.unit.search.indexed import Indexed, git, make_indexed

from holdfast.search.answers.status import IndexStatus
from holdfast.search.config_status import config_status
from holdfast.search.home import FORMAT
from holdfast.search.index_report import index_status
from holdfast.search.library import build_index
from holdfast.search.repository import find_repository


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> Indexed:
    return make_indexed(tmp_path_factory.mktemp("status"))


def status(indexed: Indexed) -> dict[str, Any]:
    payload = index_status(indexed.repository, indexed.cache)
    IndexStatus.model_validate(payload)
    return payload


def test_a_healthy_index_is_there_in_every_part(indexed: Indexed) -> None:
    payload = status(indexed)

    parts = list(payload["index"].values())
    assert list(payload["index"]) == ["code", "prose", "extractedProse", "records"]
    assert all(
        part["exists"] and part["chunkMeta"]["exists"] and part["tokenPostings"]["exists"] for part in parts
    )
    assert all(part["chunkMeta"]["bytes"] > 0 and part["tokenPostings"]["bytes"] > 0 for part in parts)
    assert (payload["index"]["code"]["chunks"], payload["index"]["records"]["chunks"]) == (1, 0)
    assert (payload["problem"], payload["incremental"]["exists"]) == (None, True)


def test_it_tells_what_is_in_the_index_and_how_fresh_it_is(indexed: Indexed) -> None:
    payload = status(indexed)

    current = payload["current"]
    assert (current["build"], current["changedFiles"], current["files"]) == (indexed.build.name, 0, 2)
    assert current["commit"] == current["headCommit"] == payload["git"]["head"]
    assert current["skipped"] == {"binary": 1}
    assert (current["skippedCount"], current["skippedFiles"][0]["path"]) == (1, "data.bin")
    assert current["bytes"] == indexed.build.size()


def test_without_an_index_everything_is_told_as_missing(indexed: Indexed, tmp_path: Path) -> None:
    payload = status(Indexed(indexed.repository, tmp_path / "empty"))

    parts = list(payload["index"].values())
    assert not any(part["exists"] or part["chunkMeta"]["exists"] or part["chunks"] for part in parts)
    assert (payload["problem"]["code"], payload["current"]) == ("no-index", None)
    assert not payload["sqlite"]["exists"]
    assert not (tmp_path / "empty").exists()


@pytest.mark.parametrize(
    "damage", ["rubbish", "truncated", "no store", "no terms", "rubbish in the terms", "pointer"]
)
def test_an_index_that_is_damaged_is_told_as_that(indexed: Indexed, tmp_path: Path, damage: str) -> None:
    broken = indexed.copied(tmp_path / "cache")
    store, terms = broken.build.store, broken.build.terms
    if damage == "rubbish":
        store.write_bytes(b"rubbish" * 1000)
    elif damage == "truncated":
        os.truncate(store, store.stat().st_size // 2)
    elif damage == "no store":
        store.unlink()
    elif damage == "no terms":
        terms.rename(tmp_path / "terms")
    elif damage == "rubbish in the terms":
        (terms / "meta.json").write_text("{")
    else:
        pointer = json.dumps({"build": "gone", "format": FORMAT, "root": "/"})
        (broken.home.directory / "current.json").write_text(pointer)

    payload = status(broken)
    assert (payload["problem"]["code"], payload["current"]) == ("index-damaged", None)
    assert str(tmp_path) not in payload["problem"]["message"]


def test_an_index_of_another_format_is_told_as_outdated(indexed: Indexed, tmp_path: Path) -> None:
    old = indexed.copied(tmp_path / "cache")
    (old.home.directory / "current.json").write_text('{"build": "x", "format": 0, "root": "/"}')

    assert status(old)["problem"]["code"] == "index-outdated"


def test_what_is_not_committed_makes_it_dirty(tmp_path: Path) -> None:
    repository = make_indexed(tmp_path).repository
    before = index_status(repository, tmp_path / "cache")["git"]
    (repository.root / "new.py").write_text("x = 1\n")

    after = index_status(repository, tmp_path / "cache")["git"]
    assert (before["isDirty"], after["isDirty"], after["branch"], after["warning"]) == (False, True, "main", None)


def test_git_that_does_not_answer_is_a_warning(indexed: Indexed, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")

    told = status(indexed)["git"]
    assert told["isDirty"] is None
    assert "git does not answer" in told["warning"]
    assert told["branch"] == "main"


def test_a_directory_without_git_is_neither_clean_nor_dirty(tmp_path: Path) -> None:
    told = index_status(find_repository(tmp_path), tmp_path / "cache")["git"]

    assert told == {"isRepo": False, "head": None, "branch": None, "isDirty": None, "warning": None}


def test_lists_stay_short_and_their_lengths_are_told(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    for number in range(250):
        (tmp_path / "project" / f"{number:03}.bin").write_bytes(b"\0")
    repository = find_repository(tmp_path / "project")
    build_index(repository, tmp_path / "cache")

    current = status(Indexed(repository, tmp_path / "cache"))["current"]
    assert (len(current["skippedFiles"]), current["skippedCount"]) == (200, 250)


def test_dictionaries_models_and_the_portable_file_are_told(indexed: Indexed, tmp_path: Path) -> None:
    cache = indexed.copied(tmp_path / "cache").cache
    portable = f"search/{indexed.repository.repo_id}/sqlite-fts.db"
    lists = ("dictionaries/en.txt", "dictionaries/.en.draft", "dictionaries/dictionaries.json")
    models = ("models/small/model.bin", "models/.lock", "models/models.json")
    for name in (*lists, *models, portable):
        (cache / name).parent.mkdir(parents=True, exist_ok=True)
        (cache / name).write_text("word\n")

    payload = index_status(indexed.repository, cache)
    assert (payload["dictionaries"]["files"], payload["models"]["model"]) == (["en.txt"], "small")
    assert payload["dictionaries"]["enabled"] is False, "nothing reads them"
    assert (payload["sqlite"]["exists"], payload["sqlite"]["bytes"]) == (True, 5)
    assert payload["models"]["hint"] is None


def test_a_manifest_alone_is_neither_a_dictionary_nor_a_model(indexed: Indexed, tmp_path: Path) -> None:
    for name in ("dictionaries", "models"):
        (tmp_path / name).mkdir()
        (tmp_path / name / f"{name}.json").write_text("{}")

    payload, configured = index_status(indexed.repository, tmp_path), config_status(indexed.repository, tmp_path)
    assert (payload["dictionaries"]["files"], payload["models"]["model"]) == ([], None)
    assert payload["models"]["available"] is configured["cache"]["modelAvailable"] is False
    assert configured["cache"]["dictionaries"] == []


def test_another_branch_is_seen_at_once(tmp_path: Path) -> None:
    indexed = make_indexed(tmp_path)
    git(indexed.repository.root, "checkout", "-qb", "other")

    payload = status(indexed)
    assert (payload["current"]["branch"], payload["current"]["headBranch"]) == ("main", "other")
