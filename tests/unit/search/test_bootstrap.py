"""Making a repository ready: the steps in their order, one failure told with all of them, nothing run unasked."""

import json
import os
from pathlib import Path
from typing import Any

import psutil
import pytest

from holdfast.errors import ToolError
from holdfast.search.answers.bootstrap import BootstrapAnswer
from holdfast.search.bootstrap import BootstrapSteps, bootstrap
from holdfast.search.repository import Repository, find_repository

NAMES = ["install", "dictionaries", "tooling", "artifacts", "index", "sqlite"]


class Recorded:
    """Steps that note what was asked of them; one may fail."""

    def __init__(
        self, *, failing: str = "", code: str = "DOWNLOAD_VERIFY_FAILED", artifacts: bool = False
    ) -> None:
        self.asked: list[Any] = []
        self._failing, self._code, self._artifacts = failing, code, artifacts

    def _note(self, name: str, said: Any) -> Any:
        self.asked.append(name)
        if name.startswith(self._failing or "-"):
            raise ToolError(self._code, "it broke", details={"why": "rain"}, hint="wait")
        return said

    def steps(self) -> BootstrapSteps:
        return BootstrapSteps(
            dictionaries=lambda: str(self._note("dictionaries", "en")),
            tooling=lambda: list(self._note("tooling", [{"message": "no git"}, {"message": "no npm"}])),
            restore=lambda: bool(self._note("restore", self._artifacts)),
            index=lambda full: str(self._note(f"index {'full' if full else 'update'}", "2 files")),
            sqlite=lambda: str(self._note("sqlite", "1 file")),
        )


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    (tmp_path / "project").mkdir()
    return find_repository(tmp_path / "project")


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory that is all of PATH, beside that of the shell."""
    place = tmp_path / "programs"
    place.mkdir()
    monkeypatch.setenv("PATH", f"{place}{os.pathsep}/bin")
    return place


def program(place: Path, name: str, script: str) -> None:
    (place / name).write_text(f"#!/bin/sh\n{script}\n")
    (place / name).chmod(0o755)


def booted(repository: Repository, recorded: Recorded, **arguments: Any) -> dict[str, Any]:
    given = {"progress": lambda *_: None, "stop": lambda: False, **arguments}
    payload = bootstrap(repository, repository.root.parent / "cache", steps=recorded.steps(), **given)
    BootstrapAnswer.model_validate(payload)
    assert [step["name"] for step in payload["steps"]] == NAMES
    return payload


def statuses(steps: list[dict[str, Any]]) -> str:
    return " ".join(step["status"] for step in steps)


def test_the_steps_are_taken_in_their_order_and_nothing_is_installed_unasked(
    repository: Repository, programs: Path
) -> None:
    (repository.root / "package-lock.json").write_text("{}")
    program(programs, "npm", f"touch {programs}/ran")
    recorded = Recorded()

    payload = booted(repository, recorded, with_sqlite=True)
    assert recorded.asked == ["dictionaries", "tooling", "index full", "sqlite"]
    assert statuses(payload["steps"]) == "skipped done done skipped done done"
    assert payload["steps"][2]["detail"] == "no git; no npm"
    assert payload["output"].count("\n") == 5
    assert not (programs / "ran").exists()


def test_every_step_can_be_left_out(repository: Repository) -> None:
    recorded = Recorded()

    payload = booted(repository, recorded, skip_dicts=True, skip_tooling=True, skip_index=True)
    assert (recorded.asked, statuses(payload["steps"])) == ([], " ".join(["skipped"] * 6))


@pytest.mark.parametrize(("incremental", "artifacts"), [(True, False), (False, True)])
def test_an_index_that_is_kept_or_restored_is_only_brought_up_to_date(
    repository: Repository, incremental: bool, artifacts: bool
) -> None:
    recorded = Recorded(artifacts=artifacts)
    booted(repository, recorded, incremental=incremental, skip_artifacts=False)

    assert recorded.asked[-1] == "index update"


@pytest.mark.parametrize(("failing", "before"), [("tooling", 2), ("restore", 3), ("index", 4)])
def test_a_step_that_fails_ends_the_call_with_its_error(repository: Repository, failing: str, before: int) -> None:
    recorded = Recorded(failing=failing)
    with pytest.raises(ToolError) as failed:
        booted(repository, recorded, with_sqlite=True, skip_artifacts=False)

    error = failed.value
    assert (error.code, error.hint, error.details["why"]) == ("DOWNLOAD_VERIFY_FAILED", "wait", "rain")
    steps = error.details["steps"]
    assert steps[before]["status"] == "failed"
    assert {step["status"] for step in steps[before + 1 :]} == {"skipped"}
    assert "failed before it" in steps[-1]["detail"]
    assert "sqlite" not in recorded.asked


def test_dictionaries_that_cannot_be_had_keep_nothing_else_from_being_done(repository: Repository) -> None:
    recorded = Recorded(failing="dictionaries")
    payload = booted(repository, recorded, with_sqlite=True)

    assert statuses(payload["steps"]) == "skipped failed done skipped done done"
    assert payload["steps"][1]["detail"] == "it broke"
    assert recorded.asked == ["dictionaries", "tooling", "index full", "sqlite"]


def test_a_stop_while_dictionaries_are_fetched_ends_it(repository: Repository) -> None:
    recorded = Recorded(failing="dictionaries", code="CANCELLED")
    with pytest.raises(ToolError, match="CANCELLED"):
        booted(repository, recorded)

    assert recorded.asked == ["dictionaries"]


def test_an_exported_index_in_the_repository_is_not_believed_unasked(repository: Repository) -> None:
    recorded = Recorded(artifacts=True)
    payload = booted(repository, recorded)

    assert payload["steps"][3] == {"name": "artifacts", "status": "skipped", "detail": "left out, as asked",
                                   "durationMs": 0}  # fmt: skip
    assert recorded.asked[-1] == "index full"


def test_a_stop_between_two_steps_ends_it(repository: Repository) -> None:
    recorded = Recorded()
    with pytest.raises(ToolError, match="CANCELLED") as stopped:
        booted(repository, recorded, stop=lambda: len(recorded.asked) == 2)

    assert recorded.asked == ["dictionaries", "tooling"]
    assert statuses(stopped.value.details["steps"]) == "skipped done done skipped skipped skipped"


def test_progress_counts_the_steps_that_are_wanted(repository: Repository) -> None:
    told: list[tuple[str, int, int | None]] = []
    booted(
        repository, Recorded(), skip_tooling=True, skip_artifacts=False,
        progress=lambda stage, done, total, _detail: told.append((stage, done, total)),
    )  # fmt: skip

    assert told == [("dictionaries", 0, 3), ("artifacts", 1, 3), ("index", 2, 3), ("done", 3, 3)]


# Installing, when it is asked for.


@pytest.mark.parametrize(
    ("lock", "content", "name", "arguments"),
    [
        ("package-lock.json", "{}", "npm", "ci --ignore-scripts"),
        ("pnpm-lock.yaml", "", "pnpm", "--frozen-lockfile --ignore-scripts --ignore-pnpmfile"),
        ("yarn.lock", "# yarn lockfile v1\n", "yarn", "--frozen-lockfile --ignore-scripts"),
        ("yarn.lock", "__metadata:\n  version: 8\n", "yarn", "--immutable --mode=skip-build"),
        ("bun.lock", "{}", "bun", "--frozen-lockfile --ignore-scripts"),
        ("uv.lock", "version = 1\n", "uv", "--frozen --no-install-project"),
        ("poetry.lock", "", "poetry", "--no-root --no-interaction"),
    ],
)
def test_the_manager_of_the_lock_file_runs_in_the_repository_without_scripts(
    repository: Repository, programs: Path, lock: str, content: str, name: str, arguments: str
) -> None:
    (repository.root / lock).write_text(content)
    program(programs, name, f'echo "$@" > {programs}/said; pwd >> {programs}/said')

    payload = booted(repository, Recorded(), skip_install=False)
    said = (programs / "said").read_text().splitlines()
    assert payload["steps"][0]["status"] == "done"
    assert arguments in said[0]
    assert said[1] == str(repository.root)


def test_without_a_lock_file_there_is_nothing_to_install(repository: Repository, programs: Path) -> None:
    program(programs, "npm", "exit 1")
    os.mkfifo(repository.root / "package-lock.json")

    assert booted(repository, Recorded(), skip_install=False)["steps"][0]["status"] == "skipped"


def test_a_manager_that_is_not_installed_is_a_missing_capability(repository: Repository, programs: Path) -> None:
    (repository.root / "uv.lock").write_text("")
    recorded = Recorded()
    with pytest.raises(ToolError, match="needs uv") as failed:
        booted(repository, recorded, skip_install=False)

    assert (failed.value.code, recorded.asked) == ("CAPABILITY_MISSING", [])
    assert "Install uv" in (failed.value.hint or "")


def test_lock_files_of_two_managers_are_refused(repository: Repository, programs: Path) -> None:
    for name in ("package-lock.json", "pnpm-lock.yaml", "uv.lock"):
        (repository.root / name).write_text("")

    with pytest.raises(ToolError, match=r"package-lock\.json, pnpm-lock\.yaml") as failed:
        booted(repository, Recorded(), skip_install=False)
    assert failed.value.code == "INVALID_REQUEST"


def test_what_a_manager_prints_when_it_fails_is_told_in_bounds(repository: Repository, programs: Path) -> None:
    (repository.root / "package-lock.json").write_text("{}")
    program(programs, "npm", "yes noise | head -c 1000000; echo 'no network' >&2; exit 7")
    with pytest.raises(ToolError) as failed:
        booted(repository, Recorded(), skip_install=False)

    details = failed.value.details
    assert (failed.value.code, details["exitCode"], details["stderr"]) == ("CAPABILITY_MISSING", 7, "no network\n")
    assert len(json.dumps(details)) < 40_000
    assert details["steps"][0]["status"] == "failed"


def test_a_stop_ends_a_manager_with_all_that_it_started(repository: Repository, programs: Path) -> None:
    (repository.root / "package-lock.json").write_text("{}")
    program(
        programs,
        "npm",
        f"sleep 300 & echo $! > {programs}/pid.draft; mv {programs}/pid.draft {programs}/pid; wait",
    )

    with pytest.raises(ToolError, match="CANCELLED"):
        booted(repository, Recorded(), skip_install=False, stop=(programs / "pid").exists)
    assert not psutil.pid_exists(int((programs / "pid").read_text()))
