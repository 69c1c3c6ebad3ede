"""An index follows its repository: only what changed is read again, and no crash leaves it inconsistent."""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.search.sample import git

from holdfast.errors import ToolError
from holdfast.search.home import FORMAT, IndexBusyError, IndexHome
from holdfast.search.library import (
    build_index,
    collect_garbage,
    compact_index,
    ensure_index,
    index_path,
    open_index,
)
from holdfast.search.repository import Repository
from holdfast.search.request import SearchRequest


def found(repository: Repository, cache: Path, query: str, **filters: Any) -> set[str]:
    with open_index(repository, cache) as index:
        payload = index.search(
            SearchRequest.from_arguments({"query": query, "mode": "code", "top": 1000, **filters})
        )
    return {hit["file"] for hit in payload["code"]}


def state_of(directory: Path) -> dict[str, tuple[int, int]]:
    paths = [path for path in directory.rglob("*") if path.is_file() and path.name != "writer.lock"]
    return {str(path): (path.stat().st_mtime_ns, path.stat().st_size) for path in paths}


def test_an_update_without_a_change_writes_nothing(repository: Repository, cache: Path) -> None:
    for path in repository.root.rglob("*"):  # files as young as the index would be compared by content
        os.utime(path, (1_700_000_000, 1_700_000_000))
    build_index(repository, cache)
    before = state_of(cache)
    assert build_index(repository, cache)["action"] == "unchanged"
    assert state_of(cache) == before


def test_one_changed_file_is_the_only_one_that_is_parsed(repository: Repository, cache: Path) -> None:
    build_index(repository, cache)
    (repository.root / "src/errors.py").write_text("def zebra_crossing():\n    return 1\n")
    report = build_index(repository, cache)
    assert (report["action"], report["changed"], report["added"], report["removed"]) == ("updated", 1, 0, 0)
    assert found(repository, cache, "zebra_crossing") == {"src/errors.py"}
    assert "src/errors.py" not in found(repository, cache, "BudgetError AND Exception")


def test_a_change_of_the_same_size_within_the_same_moment_is_seen(repository: Repository, cache: Path) -> None:
    path = repository.root / "src/errors.py"
    path.write_text("def aaaa():\n    return 1\n")
    build_index(repository, cache)
    times = path.stat()
    path.write_text("def bbbb():\n    return 1\n")
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    build_index(repository, cache)
    assert found(repository, cache, "bbbb") == {"src/errors.py"}


def test_a_touched_file_is_not_indexed_again(repository: Repository, cache: Path) -> None:
    build_index(repository, cache)
    os.utime(repository.root / "src/budget.py", (1, 1))
    report = build_index(repository, cache)
    assert (report["action"], report["generation"]) == ("unchanged", 1)


def test_new_renamed_and_deleted_files_are_followed(repository: Repository, cache: Path) -> None:
    build_index(repository, cache)
    (repository.root / "src/new.py").write_text("def newcomer():\n    return 1\n")
    (repository.root / "src/budget.py").rename(repository.root / "src/quota.py")
    (repository.root / "tools/manager.py").unlink()
    report = build_index(repository, cache)
    assert (report["added"], report["removed"]) == (2, 2)
    assert found(repository, cache, "RetryBudget.enforce", type="method") == {"src/quota.py"}
    assert found(repository, cache, "newcomer") == {"src/new.py"}
    assert found(repository, cache, "ToolManager", type="class") == set()


def test_a_switch_of_the_branch_and_back_is_followed(repository: Repository, cache: Path) -> None:
    build_index(repository, cache)
    git(repository.root, "switch", "--quiet", "--create", "side")
    (repository.root / "src/side.py").write_text("def only_on_the_side():\n    return 1\n")
    git(repository.root, "add", "--all")
    git(repository.root, "commit", "--quiet", "--message", "side", author="Side Author")
    build_index(repository, cache)
    assert found(repository, cache, "*", author="side author") == {"src/side.py"}
    git(repository.root, "switch", "--quiet", "trunk")
    build_index(repository, cache)
    assert found(repository, cache, "only_on_the_side") == set()
    assert found(repository, cache, "*", branch="trunk")
    assert not found(repository, cache, "*", branch="side")


def test_a_commit_alone_changes_the_history_and_no_chunk(repository: Repository, cache: Path) -> None:
    (repository.root / "src/budget.py").write_text("def fresh():\n    return 1\n")
    build_index(repository, cache)
    git(repository.root, "commit", "--quiet", "--all", "--message", "c", author="New Author")
    assert build_index(repository, cache)["generation"] == 1
    assert found(repository, cache, "*", author="new author") == {"src/budget.py"}


def test_an_open_index_follows_updates_and_new_builds(repository: Repository, cache: Path) -> None:
    build_index(repository, cache)
    with open_index(repository, cache) as index:
        (repository.root / "src/a.py").write_text("def first_wave():\n    return 1\n")
        build_index(repository, cache)
        assert index.search(SearchRequest(query="first_wave"))["total"]["code"]
        (repository.root / "src/b.py").write_text("def second_wave():\n    return 1\n")
        build_index(repository, cache, full=True)
        assert index.search(SearchRequest(query="second_wave"))["total"]["code"]


def test_old_builds_are_removed_unless_somebody_reads_them(repository: Repository, cache: Path) -> None:
    builds = index_path(repository, cache) / "builds"
    build_index(repository, cache, full=True)
    with open_index(repository, cache) as index:
        build_index(repository, cache, full=True)
        assert len(list(builds.iterdir())) == 2
        assert index.search(SearchRequest(query="budget"))["total"]["code"]
    assert collect_garbage(cache, repository)["removed"]
    assert len(list(builds.iterdir())) == 1


def test_the_index_of_a_repository_that_is_gone_is_garbage(repository: Repository, cache: Path) -> None:
    build_index(repository, cache)
    assert collect_garbage(cache)["removed"] == []
    shutil.rmtree(repository.root)
    assert collect_garbage(cache, dry_run=True)["bytes"] > 0
    assert collect_garbage(cache)["bytes"] > 0
    assert list((cache / "search").iterdir()) == []


def test_compacting_forgets_dead_versions_and_keeps_the_answers(repository: Repository, cache: Path) -> None:
    build_index(repository, cache)
    for number in range(5):
        (repository.root / "src/grow.py").write_text(f"def grown_{number}():\n    return {number}\n" * 500)
        build_index(repository, cache)
    report = compact_index(repository, cache)
    assert report["bytes"] < report["bytesBefore"]
    assert found(repository, cache, "grown_4") == {"src/grow.py"}
    assert found(repository, cache, "grown_3") == set()


def test_an_index_of_an_old_format_is_built_anew(repository: Repository, cache: Path) -> None:
    build_index(repository, cache)
    pointer = index_path(repository, cache) / "current.json"
    pointer.write_text(pointer.read_text().replace(f'"format": {FORMAT}', '"format": 0'))
    with pytest.raises(ToolError, match="old format 0") as caught:
        open_index(repository, cache)
    assert caught.value.code == "NO_INDEX"
    assert build_index(repository, cache)["action"] == "built"


def test_a_stopped_build_leaves_the_old_index_serving_and_nothing_behind(
    repository: Repository, cache: Path
) -> None:
    build_index(repository, cache)
    calls = iter([False] * 3)
    with pytest.raises(ToolError) as caught:
        build_index(repository, cache, full=True, stop=lambda: next(calls, True))
    assert caught.value.code == "CANCELLED"
    assert len(list((index_path(repository, cache) / "builds").iterdir())) == 1
    assert found(repository, cache, "RetryBudget")


def test_a_stopped_update_takes_everything_back(repository: Repository, cache: Path) -> None:
    build_index(repository, cache)
    for number in range(8):
        (repository.root / f"src/n{number}.py").write_text(f"def newcomer_{number}():\n    return 1\n")
    calls = iter([False] * 4)
    with pytest.raises(ToolError):
        build_index(repository, cache, stop=lambda: next(calls, True))
    assert found(repository, cache, "newcomer") == set()
    assert build_index(repository, cache)["added"] == 8
    assert len(found(repository, cache, "newcomer")) == 8


def test_a_second_writer_is_refused_with_the_process_that_writes(repository: Repository, cache: Path) -> None:
    with IndexHome(index_path(repository, cache)).writing(), pytest.raises(IndexBusyError, match=str(os.getpid())):
        build_index(repository, cache)


def test_a_search_goes_on_while_another_process_writes(repository: Repository, cache: Path) -> None:
    build_index(repository, cache)
    (repository.root / "src/late.py").write_text("def latecomer():\n    return 1\n")
    with IndexHome(index_path(repository, cache)).writing(), ensure_index(repository, cache) as index:
        assert index.search(SearchRequest(query="RetryBudget"))["total"]["code"]


def test_an_index_that_was_deleted_under_a_reader_is_built_again(repository: Repository, cache: Path) -> None:
    build_index(repository, cache)
    shutil.rmtree(cache)
    with ensure_index(repository, cache) as index:
        assert index.search(SearchRequest(query="RetryBudget"))["total"]["code"]


KILLED = """
import os, sys, threading, signal
from pathlib import Path
from holdfast.search.library import build_index
from holdfast.search.repository import find_repository
threading.Timer(float(sys.argv[3]), lambda: os.kill(os.getpid(), signal.SIGKILL)).start()
build_index(find_repository(sys.argv[1]), Path(sys.argv[2]), full=sys.argv[4] == "full")
"""


@pytest.mark.parametrize("kind", ["full", "update"])
def test_a_build_that_is_killed_at_any_moment_leaves_a_consistent_index(
    repository: Repository, cache: Path, kind: str
) -> None:
    build_index(repository, cache)
    killed = 0
    for step in range(8):
        names = [f"wave_{step}_{number}" for number in range(30)]
        (repository.root / "src/waves.py").write_text(
            "".join(f"def {name}():\n    return 1\n\n\n" for name in names)
        )
        delay = f"{0.12 + step * 0.06:.2f}"
        run = [sys.executable, "-c", KILLED, str(repository.root), str(cache), delay, kind]
        killed += subprocess.run(run, check=False).returncode == -signal.SIGKILL
        check_consistent(repository, cache)
    assert killed
    build_index(repository, cache)
    assert found(repository, cache, "wave_7_3", type="function") == {"src/waves.py"}
    assert len(list((index_path(repository, cache) / "builds").iterdir())) == 1


def check_consistent(repository: Repository, cache: Path) -> None:
    """Every chunk that is found has its row, its file and its text; every wave is whole."""
    with open_index(repository, cache) as index:
        payload = index.search(SearchRequest.from_arguments({"query": "*", "mode": "code", "top": 1000}))
    assert payload["total"]["code"] == len(payload["code"])
    assert all(hit["snippet"]["lines"] for hit in payload["code"])
    waves = {hit["name"].rpartition("_")[0] for hit in payload["code"] if hit["name"].startswith("wave_")}
    assert len(waves) <= 1
