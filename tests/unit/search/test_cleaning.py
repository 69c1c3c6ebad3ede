"""Removing indexes: only what is ours, only what nobody uses, and never a person's work."""

import math
import os
import time
from pathlib import Path
from typing import Any

import pytest

from holdfast.errors import ToolError
from holdfast.search.answers.upkeep import Cleaned, Collected
from holdfast.search.cleaning import cache_gc, clean_artifacts
from holdfast.search.configuration import CacheLimits
from holdfast.search.home import IndexHome
from holdfast.search.repository import Repository, find_repository, index_home

DAY = 86400


def everything(place: Path) -> list[Path]:
    return sorted(place.rglob("*"))


def index_of(name: str, place: Path, *, age_days: float = 0, size: int = 1000) -> IndexHome:
    """A home with one current build, last used so long ago."""
    root = place / "repositories" / name
    root.mkdir(parents=True, exist_ok=True)
    home = IndexHome(index_home(find_repository(root), place / "cache"))
    with home.writing():
        build = home.new_build()
        build.store.write_bytes(b"x" * size)
        home.promote(build, root)
    then = time.time() - age_days * DAY
    for path in (home.directory / "current.json", build.store, build.directory):
        os.utime(path, (then, then))
    return home


def repository_of(name: str, place: Path) -> Repository:
    return find_repository(place / "repositories" / name)


def collected(place: Path, **arguments: Any) -> dict[str, Any]:
    payload = cache_gc(place / "cache", **arguments)
    Collected.model_validate(payload)
    assert payload["freedBytes"] == sum(one["bytes"] for one in payload["removals"])
    return payload


def cleaned(place: Path, name: str, **arguments: Any) -> dict[str, Any]:
    payload = clean_artifacts(place / "cache", repository_of(name, place), **arguments)
    Cleaned.model_validate(payload)
    assert payload["output"]
    return payload


def reasons(payload: dict[str, Any]) -> list[tuple[str, str]]:
    return [(one["id"].rpartition("-")[0], one["reason"]) for one in payload["removals"]]


# What may go at all.


@pytest.mark.parametrize("limits", [{}, {"max_bytes": 0}, {"max_age_days": 0}])
@pytest.mark.parametrize("name", ["photos", "photos-0123456789ab"])
def test_a_foreign_directory_is_never_touched(tmp_path: Path, name: str, limits: dict[str, int]) -> None:
    for file in ("holiday.png", "current.json", "writer.lock", "builds/1/store.db"):
        (tmp_path / "cache" / "search" / name / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "cache" / "search" / name / file).write_text("{}")
    before = everything(tmp_path)

    assert collected(tmp_path, **limits)["removals"] == []
    assert everything(tmp_path) == before


def test_a_link_to_an_index_elsewhere_is_never_followed(tmp_path: Path) -> None:
    home = index_of("one", tmp_path, age_days=9)
    moved = home.directory.rename(tmp_path / home.directory.name)
    home.directory.symlink_to(moved)

    assert collected(tmp_path, max_bytes=0)["removals"] == []
    assert (moved / "current.json").exists()


def test_a_cache_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    assert collected(tmp_path, max_bytes=0)["totals"] == {"repos": 0, "bytes": 0}
    assert not (tmp_path / "cache").exists()


@pytest.mark.parametrize("place", ["/", "/usr/..", "~"])
def test_the_root_of_the_disk_and_a_home_are_refused(
    tmp_path: Path, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))

    with pytest.raises(ToolError, match="FORBIDDEN"):
        cache_gc(Path(place).expanduser(), max_bytes=0)
    with pytest.raises(ToolError, match="FORBIDDEN"):
        clean_artifacts(Path(place).expanduser(), find_repository(tmp_path), all_repositories=True)


@pytest.mark.parametrize(
    "limits", [{"max_bytes": -1}, {"max_age_days": -0.5}, {"max_age_days": math.nan}, {"max_age_days": math.inf}]
)
def test_limits_that_mean_nothing_are_refused(tmp_path: Path, limits: dict[str, Any]) -> None:
    with pytest.raises(ToolError, match="INVALID_REQUEST"):
        cache_gc(tmp_path, **limits)


# By age and by size.


def test_without_limits_only_what_no_search_can_use_goes(tmp_path: Path) -> None:
    home = index_of("old", tmp_path, age_days=900)
    with home.writing():
        left = home.new_build()
    index_of("gone", tmp_path)
    (tmp_path / "repositories" / "gone").rmdir()

    payload = collected(tmp_path)
    assert (payload["mode"], reasons(payload)) == ("builds", [("gone", "orphan"), ("old", "old-build")])
    assert not left.directory.exists()
    assert home.current() is not None


def test_what_was_not_used_for_long_goes_by_age(tmp_path: Path) -> None:
    index_of("a-new", tmp_path, age_days=1)
    index_of("b-old", tmp_path, age_days=20)
    index_of("c-older", tmp_path, age_days=30)

    payload = collected(tmp_path, max_age_days=10)
    assert (payload["mode"], reasons(payload)) == ("repo", [("c-older", "age"), ("b-old", "age")])
    assert len(list((tmp_path / "cache" / "search").iterdir())) == 1


def test_what_was_used_longest_ago_goes_first_until_the_rest_fits(tmp_path: Path) -> None:
    index_of("a", tmp_path, age_days=2, size=5000)
    index_of("b", tmp_path, age_days=9, size=5000)
    kept = index_of("c", tmp_path, age_days=1, size=5000)

    payload = collected(tmp_path, max_bytes=8000)
    assert reasons(payload) == [("b", "quota"), ("a", "quota")]
    assert payload["totals"]["repos"] == 3
    assert payload["totals"]["bytes"] - payload["freedBytes"] == kept.size() <= 8000


def test_garbage_goes_before_a_useful_index(tmp_path: Path) -> None:
    home = index_of("a", tmp_path, size=5000)
    with home.writing():
        home.new_build().store.write_bytes(b"x" * 9000)

    assert reasons(collected(tmp_path, max_bytes=8000)) == [("a", "old-build")]


@pytest.mark.parametrize(
    "limits", [{}, {"max_bytes": 8000}, {"max_age_days": 5}, {"max_bytes": 0, "max_age_days": 0}]
)
def test_a_dry_run_tells_what_would_happen_and_changes_nothing(tmp_path: Path, limits: dict[str, int]) -> None:
    index_of("a", tmp_path, age_days=2, size=5000)
    home = index_of("b", tmp_path, age_days=9, size=5000)
    with home.writing():
        home.new_build().store.write_bytes(b"x" * 100)
    before = everything(tmp_path)

    told = collected(tmp_path, dry_run=True, **limits)
    assert everything(tmp_path) == before
    done = collected(tmp_path, **limits)
    assert (told["removals"], told["freedBytes"]) == (done["removals"], done["freedBytes"])


def test_of_one_repository_only_its_own_index_may_go(tmp_path: Path) -> None:
    index_of("a", tmp_path, age_days=9)
    index_of("b", tmp_path, age_days=9)

    payload = collected(tmp_path, repository=repository_of("a", tmp_path), max_bytes=0)
    assert (reasons(payload), payload["totals"]["repos"]) == ([("a", "quota")], 1)


# What is in use, and what is a person's work.


@pytest.mark.parametrize("dry_run", [False, True])
def test_an_index_in_use_is_left_alone_and_the_next_one_goes(tmp_path: Path, dry_run: bool) -> None:
    read, written = index_of("a", tmp_path, age_days=9), index_of("b", tmp_path, age_days=8)
    index_of("c", tmp_path, age_days=7)
    build = read.current()
    assert build is not None

    with read.reading(build), written.writing():
        payload = collected(tmp_path, max_bytes=0, dry_run=dry_run)
    assert reasons(payload) == [("c", "quota")]
    assert sorted(one["reason"] for one in payload["failedRemovals"]) == [
        "it is being read",
        "it is being written",
    ]
    assert None not in (read.current(), written.current())


@pytest.mark.parametrize("dry_run", [False, True])
def test_records_of_triage_are_kept_and_told(tmp_path: Path, dry_run: bool) -> None:
    home = index_of("a", tmp_path, age_days=9)
    record = home.directory / "triage" / "records" / "1.json"
    record.parent.mkdir(parents=True)
    record.write_text("{}")

    payload = collected(tmp_path, max_bytes=0, dry_run=dry_run)
    assert (reasons(payload), [one["path"] for one in payload["kept"]]) == (
        [("a", "quota")],
        [str(home.directory / "triage")],
    )
    assert record.read_text() == "{}"


def test_records_of_triage_survive_their_repository(tmp_path: Path) -> None:
    home = index_of("a", tmp_path)
    (home.directory / "triage").mkdir()
    (home.directory / "triage" / "1.json").write_text("{}")
    (tmp_path / "repositories" / "a").rmdir()

    payload = collected(tmp_path)
    assert (reasons(payload), len(payload["kept"])) == ([("a", "orphan")], 1)
    assert everything(home.directory) == [home.directory / "triage", home.directory / "triage" / "1.json"]


# On demand.


def test_the_index_of_one_repository_is_removed(tmp_path: Path) -> None:
    home, other = index_of("a", tmp_path), index_of("b", tmp_path)
    size = home.size()

    payload = cleaned(tmp_path, "a")
    assert payload["removals"] == [{"id": home.directory.name, "path": str(home.directory), "bytes": size}]
    assert (payload["freedBytes"], home.directory.exists(), other.current() is None) == (size, False, False)
    assert "removed a-" in payload["output"]
    assert cleaned(tmp_path, "a")["output"] == "there is nothing to remove"


def test_all_are_removed_where_that_is_asked_for(tmp_path: Path) -> None:
    for name in ("b", "a"):
        index_of(name, tmp_path)

    told = cleaned(tmp_path, "a", all_repositories=True, dry_run=True)
    assert [one["id"][0] for one in told["removals"]] == ["a", "b"]
    assert cleaned(tmp_path, "a", all_repositories=True)["removals"] == told["removals"]
    assert everything(tmp_path / "cache") == [tmp_path / "cache" / "search"]


def test_one_in_use_is_refused_and_left_whole(tmp_path: Path) -> None:
    home = index_of("a", tmp_path)
    build = home.current()
    assert build is not None
    before = everything(tmp_path)

    for use in (home.writing(), home.reading(build)):
        with use, pytest.raises(ToolError) as refused:
            cleaned(tmp_path, "a")
        assert refused.value.code == "QUEUE_OVERLOADED"
        assert str(tmp_path) not in refused.value.message
    assert everything(tmp_path) == before


def test_a_preview_tells_that_one_in_use_would_be_kept_and_why(tmp_path: Path) -> None:
    home = index_of("a", tmp_path)
    build = home.current()
    assert build is not None

    for use, reason in ((home.writing(), "it is being written"), (home.reading(build), "it is being read")):
        with use:
            payload = cleaned(tmp_path, "a", dry_run=True)
        assert payload["kept"] == [{"id": home.directory.name, "path": str(home.directory), "reason": reason}]
        assert (payload["removals"], payload["freedBytes"]) == ([], 0)
        assert payload["output"] == f"would keep {home.directory.name}: {reason}"


def test_of_all_those_in_use_are_kept_and_told(tmp_path: Path) -> None:
    home = index_of("a", tmp_path)
    index_of("b", tmp_path)

    with home.writing():
        payload = cleaned(tmp_path, "a", all_repositories=True)
    assert [one["id"][0] for one in payload["removals"]] == ["b"]
    assert payload["kept"] == [
        {"id": home.directory.name, "path": str(home.directory), "reason": "it is being written"}
    ]


def test_an_old_build_that_is_read_keeps_the_current_one_too(tmp_path: Path) -> None:
    home = index_of("a", tmp_path)
    with home.writing():
        newer = home.new_build()
    with home.reading(newer), pytest.raises(ToolError, match="being read"):
        cleaned(tmp_path, "a")

    assert home.current() is not None


def test_what_a_repository_says_of_the_cache_is_about_its_own_index_alone(tmp_path: Path) -> None:
    for name in ("hostile", "mine", "old"):
        index_of(name, tmp_path, age_days=0 if name == "mine" else 90)
    own = (repository_of("hostile", tmp_path), CacheLimits(max_bytes=1, max_age_days=30))

    payload = collected(tmp_path, own=own)
    assert reasons(payload) == [("hostile", "age")]
    assert payload["limits"] == {"maxBytes": 1, "maxAgeDays": 30}
    assert reasons(collected(tmp_path, own=own, max_age_days=60)) == [("old", "age")], "a call says more"
    assert reasons(collected(tmp_path, own=(repository_of("mine", tmp_path), own[1]))) == [("mine", "quota")]
