"""An index follows its repository: only what changed is read again, and no crash leaves it inconsistent."""

import os
import shutil
import time
from pathlib import Path
from typing import Any

import pytest
from tests.search.sample import git

from holdfast.errors import ToolError, UsageError
from holdfast.search.home import FORMAT, IndexBusyError, IndexHome
from holdfast.search.library import (
    build_for,
    build_index,
    collect_garbage,
    compact_index,
    ensure_index,
    index_path,
    open_index,
    watch_index,
)
from holdfast.search.repository import Repository, index_home
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


def test_a_walk_tells_how_many_files_it_has_found(repository: Repository, cache: Path) -> None:
    told: list[int] = []

    def progress(stage: str, done: int, total: int | None, detail: str) -> None:
        if stage == "discover":
            told.append(done)

    for expected in ("built", "unchanged"):
        told.clear()
        report = build_index(repository, cache, progress=progress)
        assert (report["action"], told[0], told[-1]) == (expected, 0, report["files"])


def test_one_changed_file_is_the_only_one_that_is_parsed(repository: Repository, cache: Path) -> None:
    build_index(repository, cache)
    (repository.root / "src/errors.py").write_text("def zebra_crossing():\n    return 1\n")
    report = build_index(repository, cache)
    assert (report["action"], report["changed"], report["added"], report["removed"]) == ("updated", 1, 0, 0)
    with open_index(repository, cache) as index:
        assert report["chunks"] == sum(index.status()["chunks"].values())
    assert build_index(repository, cache)["chunks"] == report["chunks"]
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


def test_a_change_is_seen_though_the_file_has_its_size_and_its_time_of_before(
    repository: Repository, cache: Path
) -> None:
    code, binary = repository.root / "src/errors.py", repository.root / "src/later.py"
    code.write_text("def aaaa():\n    return 1\n")
    binary.write_bytes(b"\0" * 24)
    for path in (code, binary):
        os.utime(path, (1_700_000_000, 1_700_000_000))
    build_index(repository, cache)
    code.write_text("def bbbb():\n    return 1\n")
    binary.write_text("def cccc(): return 12345")
    for path in (code, binary):
        os.utime(path, (1_700_000_000, 1_700_000_000))

    with open_index(repository, cache) as index:
        assert index.status()["changedFiles"] == 2
    build_index(repository, cache)
    assert found(repository, cache, "bbbb") == {"src/errors.py"}
    assert found(repository, cache, "cccc") == {"src/later.py"}
    with open_index(repository, cache) as index:
        assert index.status()["changedFiles"] == 0


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
    for number in range(3):
        (repository.root / "src/grow.py").write_text(f"def grown_{number}():\n    return {number}\n" * 500)
        build_index(repository, cache)
    report = compact_index(repository, cache)
    assert report["bytes"] < report["bytesBefore"]
    assert found(repository, cache, "grown_2") == {"src/grow.py"}
    assert found(repository, cache, "grown_1") == set()


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


def test_an_index_that_was_deleted_is_built_again(repository: Repository, cache: Path) -> None:
    build_index(repository, cache)
    shutil.rmtree(cache)
    with ensure_index(repository, cache) as index:
        assert index.search(SearchRequest(query="RetryBudget"))["total"]["code"]


def test_a_file_that_is_mended_after_its_parser_failed_is_found(
    repository: Repository, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = repository.root / "src/odd.py"
    path.write_text("crash = 1\n")
    (tmp_path / "task.py").write_text(
        "from pathlib import Path\n\nfrom holdfast.search.prepare import prepare\n\n\n"
        "def run(task):\n"
        "    if b'crash = 1' in Path(task.root, task.path).read_bytes():\n        raise ValueError\n"
        "    return prepare(task)\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setattr("holdfast.search.build.PARSER", "task:run")
    assert build_index(repository, cache)["skipped"] == {"parser-error": 1}
    path.write_text("def mended_at_last():\n    return 1\n")
    with ensure_index(repository, cache) as index:
        assert index.search(SearchRequest(query="mended_at_last"))["total"]["code"] == 1
        assert index.status()["skipped"] == {}


def test_broken_risk_rules_are_told_and_the_old_index_stays(repository: Repository, cache: Path) -> None:
    build_index(repository, cache)
    (repository.root / "holdfast-risk.toml").write_text("[[sink]]\nname = 5\n")
    for full in (True, False):
        with pytest.raises(UsageError, match=r"holdfast-risk\.toml"):
            build_index(repository, cache, full=full)
    assert found(repository, cache, "RetryBudget")


def test_other_risk_rules_are_applied_to_files_that_did_not_change(repository: Repository, cache: Path) -> None:
    build_index(repository, cache)
    assert not found(repository, cache, "*", riskSink="legacy-spend")
    (repository.root / "holdfast-risk.toml").write_text(
        '[[sink]]\nname = "legacy-spend"\nlanguages = ["python"]\npatterns = ["RetryBudget()"]\n'
        'category = "money"\nseverity = "high"\ntags = ["money"]\n'
    )
    build_index(repository, cache)
    assert found(repository, cache, "*", riskSink="legacy-spend") == {"tests/test_budget.py"}


def test_an_open_index_sees_a_commit_that_changed_no_file(repository: Repository, cache: Path) -> None:
    (repository.root / "src/budget.py").write_text("def fresh():\n    return 1\n")
    build_index(repository, cache)
    request = SearchRequest.from_arguments({"query": "*", "mode": "code", "author": "new author"})
    with open_index(repository, cache) as index:
        assert index.search(request)["total"]["code"] == 0
        git(repository.root, "commit", "--quiet", "--all", "--message", "c", author="New Author")
        build_index(repository, cache)
        assert index.search(request)["total"]["code"] == 1


def test_a_remembered_answer_still_tells_how_fresh_the_index_is(
    repository: Repository, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("holdfast.search.opened._FRESHNESS_SECONDS", -1.0)
    build_index(repository, cache)
    with open_index(repository, cache) as index:
        first = index.search(SearchRequest(query="budget"))
        first["code"].clear()
        (repository.root / "src/budget.py").write_text("def fresh():\n    return 1\n")
        again = index.search(SearchRequest(query="budget", explain=None))
    assert (first["index"]["changedFiles"], again["index"]["changedFiles"]) == (0, 1)
    assert again["code"]


def test_the_same_tree_gives_the_same_answers_from_every_build(repository: Repository, cache: Path) -> None:
    for number in range(90):
        (repository.root / f"src/same_{number:03}.py").write_text("def same(value):\n    return value\n")
    answers = []
    for attempt in range(2):
        build_index(repository, cache / str(attempt))
        with open_index(repository, cache / str(attempt)) as index:
            for query in ("*", "same value"):
                payload = index.search(SearchRequest.from_arguments({"query": query, "mode": "code", "top": 8}))
                answers.append([hit["file"] for hit in payload["code"]])
    assert answers[:2] == answers[2:]
    assert answers[1][0] == "src/same_000.py"


def test_a_long_signature_is_searched_to_its_end(repository: Repository, cache: Path) -> None:
    parameters = ", ".join(f"parameter_number_{number}" for number in range(40))
    (repository.root / "src/long.py").write_text(f"def long({parameters}):\n    return 1\n")
    build_index(repository, cache)
    assert found(repository, cache, "*", signature="parameter_number_39") == {"src/long.py"}


# --- the configuration of the repository ------------------------------------------------------------------------


def configure(repository: Repository, text: str) -> None:
    """Write a configuration, TOML or JSON, that git ignores and that no time of a file or directory gives away."""
    root = repository.root
    times = root.stat()
    (root / ".git/info").mkdir(exist_ok=True)
    (root / ".git/info/exclude").write_text(".pairofcleats.json\nholdfast.toml\n")
    for name in (".pairofcleats.json", "holdfast.toml"):
        (root / name).unlink(missing_ok=True)
    (root / ("holdfast.toml" if text.startswith("[") else ".pairofcleats.json")).write_text(text)
    os.utime(root, ns=(times.st_atime_ns, times.st_mtime_ns))


def skipped(repository: Repository, cache: Path) -> dict[str, str]:
    with open_index(repository, cache) as index:
        return {one["path"]: one["reason"] for one in index.status()["skippedFiles"]}


IGNORE_BUDGET = '{"indexing": {"ignore": ["/src/budget.py", "tools/"]}}'
TINY = '{"indexing": {"maxFileBytes": {"code": 40}}}'


def test_a_build_leaves_out_what_the_configuration_says(repository: Repository, cache: Path) -> None:
    configure(repository, IGNORE_BUDGET)
    report = build_index(repository, cache)
    assert report["skipped"]["configured"] == 2
    assert skipped(repository, cache) == {
        ".pairofcleats.json": "ignored",
        "src/budget.py": "configured",
        "tools/": "configured",
    }
    assert "src/budget.py" not in found(repository, cache, "*")


@pytest.mark.parametrize("text", [IGNORE_BUDGET, TINY])
def test_an_update_follows_a_changed_configuration_and_parses_nothing_again(
    repository: Repository, cache: Path, text: str
) -> None:
    configure(repository, "{}")
    before = build_index(repository, cache)
    configure(repository, text)
    without = build_index(repository, cache)
    assert without["removed"] > 0
    assert (without["action"], without["added"], without["changed"]) == ("updated", 0, 0)
    assert "src/budget.py" not in found(repository, cache, "*")
    configure(repository, "{}")
    again = build_index(repository, cache)
    assert (again["added"], again["changed"], again["removed"]) == (without["removed"], 0, 0)
    assert (again["files"], again["chunks"]) == (before["files"], before["chunks"])


def test_a_changed_configuration_makes_an_index_stale_even_where_git_ignores_it(
    repository: Repository, cache: Path
) -> None:
    configure(repository, "{}")
    build_index(repository, cache)
    for text, stale in ((TINY, True), ('{"search": {"top": 7}}', False)):
        configure(repository, text)
        with open_index(repository, cache) as index:
            assert index.is_stale() is stale
    configure(repository, IGNORE_BUDGET)
    with ensure_index(repository, cache) as index:
        assert index.status()["skipped"]["configured"] == 2
        assert not index.is_stale()


def test_a_configuration_that_changes_no_file_is_noted_once(repository: Repository, cache: Path) -> None:
    build_index(repository, cache)
    configure(repository, '{"indexing": {"ignore": ["nothing-of-this-name"]}}')
    report = build_index(repository, cache)
    assert (report["action"], report["generation"]) == ("unchanged", 1)
    with open_index(repository, cache) as index:
        assert not index.is_stale()


def test_a_broken_configuration_is_told_and_the_old_index_stays(repository: Repository, cache: Path) -> None:
    build_index(repository, cache)
    (repository.root / "src/late.py").write_text("def latecomer():\n    return 1\n")
    configure(repository, "[search.indexing]\nignore = 5")
    before = state_of(cache)
    for attempt in (lambda: build_index(repository, cache), lambda: build_index(repository, cache, full=True),
                    lambda: ensure_index(repository, cache)):  # fmt: skip
        with pytest.raises(ToolError, match="must be a list") as caught:
            attempt()
        assert caught.value.code == "INVALID_REQUEST"
    assert state_of(cache) == before
    assert found(repository, cache, "RetryBudget")


def test_a_watch_follows_a_changed_configuration_and_outlives_a_broken_one(
    repository: Repository, cache: Path
) -> None:
    configure(repository, "{}")
    reports: list[dict[str, Any]] = []
    notes: list[str] = []
    steps = iter([TINY, "[search", IGNORE_BUDGET])

    def report(done: dict[str, Any]) -> None:
        reports.append(done)
        if (text := next(steps, None)) is not None:
            configure(repository, text)

    def progress(stage: str, _done: int, _total: int | None, detail: str) -> None:
        if stage == "note":
            notes.append(detail)
            report({"action": "refused", "skipped": {}})

    deadline = time.monotonic() + 40
    watch_index(
        repository, cache, on_report=report, progress=progress,
        stop=lambda: len(reports) == 4 or time.monotonic() > deadline,
    )  # fmt: skip
    assert [done["action"] for done in reports] == ["built", "updated", "refused", "updated"]
    assert "oversized" in reports[1]["skipped"]
    assert notes[0].startswith("not brought up to date: holdfast.toml: is not valid TOML")
    assert "configured" in reports[3]["skipped"]


@pytest.mark.parametrize(("another", "was"), [("_READERS", {}), ("__version__", "0.0.1")])
def test_files_are_read_again_by_another_version_and_where_another_reader_was_installed(
    repository: Repository, cache: Path, monkeypatch: pytest.MonkeyPatch, another: str, was: Any
) -> None:
    (repository.root / "old.pl").write_text("sub greet { return 1; }\n")
    monkeypatch.setattr(f"holdfast.search.capabilities.{another}", was)
    build_index(repository, cache)
    monkeypatch.undo()

    with open_index(repository, cache) as index:
        assert index.is_stale()
    assert build_index(repository, cache)["changed"] > 5
    with open_index(repository, cache) as index:
        assert not index.is_stale()
    assert build_index(repository, cache)["action"] == "unchanged"


def test_damage_in_the_middle_of_the_store_is_mended_by_a_search(repository: Repository, cache: Path) -> None:
    build_index(repository, cache)
    build = IndexHome(index_home(repository, cache)).current()
    assert build is not None
    with build.store.open("r+b") as store:
        store.seek(4096 * 3)
        store.write(b"\xa5" * 4096 * 8)

    with ensure_index(repository, cache) as index:
        assert index.search(SearchRequest(query="budget"))["code"]


def test_a_search_of_the_sqlite_file_brings_it_up_to_date_first(repository: Repository, cache: Path) -> None:
    build_for("sqlite", repository, cache, full=False, progress=lambda *_: None, stop=lambda: False)
    (repository.root / "late.py").write_text("def latecomer():\n    return 1\n")

    with ensure_index(repository, cache, backend="sqlite") as index:
        answer = index.search(SearchRequest(query="latecomer", backend="sqlite"))
    assert [hit["name"] for hit in answer["code"]] == ["latecomer"]
    assert answer["warnings"] == []
