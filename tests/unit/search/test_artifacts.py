"""`report_artifacts` counts what is on disk, and finds nothing wrong with what is healthy."""

import os
from pathlib import Path
from typing import Any

import pytest
from tests.unit.search.indexed import Indexed, bytes_on_disk, make_indexed

from holdfast.search.answers.status import ArtifactReport
from holdfast.search.artifacts import last_used, report_artifacts
from holdfast.search.checkup import check_status
from holdfast.search.library import open_index


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> Indexed:
    return make_indexed(tmp_path_factory.mktemp("artifacts"))


def report(indexed: Indexed, **arguments: Any) -> dict[str, Any]:
    payload = report_artifacts(indexed.repository, indexed.cache, **arguments)
    ArtifactReport.model_validate(payload)
    return payload


def test_a_healthy_index_has_no_issues(indexed: Indexed) -> None:
    assert report(indexed)["health"] == {"issues": [], "hints": []}


def test_a_changed_bit_is_noticed_although_size_and_time_of_its_file_are_those_of_before(
    indexed: Indexed, tmp_path: Path
) -> None:
    polled = indexed.copied(tmp_path / "cache")
    assert report(polled)["health"]["issues"] == []
    file = next(polled.build.terms.glob("*.pos"))
    written = file.stat()
    content = bytearray(file.read_bytes())
    content[10] ^= 1
    file.write_bytes(content)
    os.utime(file, ns=(written.st_atime_ns, written.st_mtime_ns))

    checked = check_status(polled.repository, polled.cache, capabilities={}, warnings=())
    assert "index-damaged" in [finding["code"] for finding in checked["findings"]]
    assert "damaged" in report(polled)["health"]["issues"][0]


def test_damage_that_comes_later_is_found_by_the_next_report(indexed: Indexed, tmp_path: Path) -> None:
    polled = indexed.copied(tmp_path / "cache")
    assert report(polled)["health"]["issues"] == []
    file = next(polled.build.terms.glob("*.pos"))
    file.write_bytes(b"\xff" * file.stat().st_size)

    assert "damaged" in report(polled)["health"]["issues"][0]


def test_bytes_are_those_on_disk(indexed: Indexed, tmp_path: Path) -> None:
    full = indexed.copied(tmp_path / "cache")
    home = full.home.directory
    for name in ("blame.db", "blame.db-wal", "triage/records/1.json", "sqlite-fts.db", "unknown/deep", "loose"):
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_bytes(b"x" * (100 + len(name)))
    (home / "link").symlink_to(full.build.store)
    (home / "builds" / "left-over").mkdir()
    (home / "builds" / "left-over" / "store.db").write_bytes(b"y" * 77)
    (full.cache / "models").mkdir()
    (full.cache / "models" / "m").write_bytes(b"z" * 9)

    payload = report(full)
    repo, overall = payload["repo"], payload["overall"]
    assert repo["totalBytes"] == sum(repo["artifacts"].values()) == bytes_on_disk(home)
    assert repo["artifacts"]["store"] == bytes_on_disk(full.build.store) + 77
    assert repo["artifacts"]["terms"] == bytes_on_disk(full.build.terms)
    assert repo["artifacts"]["triage"] == bytes_on_disk(home / "triage")
    assert repo["artifacts"]["blame"] == len("blame.db") + len("blame.db-wal") + 200
    assert repo["artifacts"]["sqlite"] == repo["sqlite"]["bytes"] == 100 + len("sqlite-fts.db")
    assert [(build["name"], build["current"]) for build in repo["builds"]] == [
        (full.build.name, True),
        ("left-over", False),
    ]
    assert overall["totalBytes"] == overall["cacheBytes"] == bytes_on_disk(full.cache)
    assert (overall["modelBytes"], payload["allRepos"][0]["bytes"]) == (9, repo["totalBytes"])


def test_without_an_index_there_is_nothing_and_that_is_said(indexed: Indexed, tmp_path: Path) -> None:
    payload = report(Indexed(indexed.repository, tmp_path / "cache"))

    assert (payload["repo"]["totalBytes"], payload["repo"]["builds"], payload["allRepos"]) == (0, [], [])
    assert payload["health"]["issues"] == ["there is no index of this repository yet"]
    assert "build_index" in payload["health"]["hints"][0]


def test_only_directories_of_ours_are_listed(indexed: Indexed, tmp_path: Path) -> None:
    full = indexed.copied(tmp_path / "cache")
    (full.cache / "search" / "photos-0123456789ab").mkdir()

    assert [one["id"] for one in report(full)["allRepos"]] == [indexed.repository.repo_id]


def test_opening_an_index_is_using_it(indexed: Indexed, tmp_path: Path) -> None:
    full = indexed.copied(tmp_path / "cache")
    for path in (full.home.directory, *full.home.directory.rglob("*")):
        os.utime(path, (1000, 1000))
    assert last_used(full.home) == 1000

    open_index(full.repository, full.cache).close()
    assert last_used(full.home) > 1000
