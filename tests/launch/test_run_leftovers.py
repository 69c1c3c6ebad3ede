"""What a run changes, and what it leaves behind: the difference as git takes it, and what a prune removes."""

import os
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from tests.launch.runs import PAGE, Launched, Place

from holdfast.errors import ToolError, UsageError
from holdfast.launch.engine.local import owned
from holdfast.launch.pruning import leftovers, parsed_age, removed
from holdfast.launch.run_changes import changes_of_run

LATER = datetime.now(UTC) + timedelta(days=400)
MONTH = timedelta(days=30)


def test_the_difference_of_a_run_is_one_that_git_applies(shared: Place, origin: Launched, tmp_path: Path) -> None:
    shared.reset()
    changes = changes_of_run(shared.service, shared.run_id)
    assert PAGE in changes.files
    assert list(changes.files)[-1].endswith(".holdfast-launch.json")
    patch = tmp_path / "run.patch"
    patch.write_text("".join(f"{line}\n" for line in changes.diff()))
    site = tmp_path / "site"
    subprocess.run(["git", "clone", "--quiet", str(origin.site), str(site)], check=True, timeout=60)
    subprocess.run(["git", "-C", str(site), "apply", str(patch)], check=True, timeout=60)
    for path, (_, after) in changes.files.items():
        assert (site / path).read_bytes() == after
    assert sum(row["added"] for row in changes.stat()) == sum(
        line.startswith("+") and not line.startswith("+++ ") for line in changes.diff()
    )


def test_a_run_that_has_put_nothing_into_the_site_has_no_difference(shared: Place) -> None:
    shared.reset()
    with shared.database() as connection:
        connection.execute("DELETE FROM launch_artifacts WHERE name = 'patch_bundle.json'")
    shared.put_in("DRAFTING")
    with pytest.raises(ToolError) as refused:
        changes_of_run(shared.service, shared.run_id)
    assert (refused.value.code, refused.value.details["reason"]) == ("ILLEGAL_STATE", "no_bundle")
    shared.reset()


def test_a_prune_takes_old_runs_that_are_over_and_nothing_that_somebody_may_go_on_with(shared: Place) -> None:
    shared.reset()
    kinds = {one.kind for one in leftovers(shared.service, MONTH, now=LATER)}
    assert "run" not in kinds  # it is ready for its pull request
    (asked,) = [one for one in leftovers(shared.service, MONTH, ["READY_FOR_PR"], now=LATER) if one.kind == "run"]
    assert (asked.run_id, asked.state) == (shared.run_id, "READY_FOR_PR")
    shared.put_in("DONE")
    assert [one for one in leftovers(shared.service, MONTH) if one.kind == "run"] != []  # it was over long ago
    shared.put_in("DONE", finished_at=datetime.now(UTC).isoformat())
    assert [one for one in leftovers(shared.service, MONTH) if one.kind == "run"] == []
    shared.put_in("DONE", holder="somebody")
    assert [one for one in leftovers(shared.service, MONTH) if one.kind == "run"] == []
    shared.reset()


def test_what_was_pruned_is_gone_and_the_history_is_whole(place: Place) -> None:
    place.put_in("DONE")
    lost = place.workspace.objects / "ab" / ("ab" * 32)
    lost.parent.mkdir(exist_ok=True)
    lost.write_bytes(b"of a worker that died")
    os.utime(lost, (1, 1))
    fresh = place.workspace.objects / "ab" / ("ac" * 32)
    fresh.write_bytes(b"of a worker at work")
    stray = place.root / "runs" / "r_unknown_run"
    stray.mkdir()
    os.utime(stray, (1, 1))
    found = leftovers(place.service, MONTH)
    assert {one.kind for one in found} == {"run", "object", "unknown_run"}
    assert max(found, key=lambda one: one.bytes).kind == "run"
    before = len(list(place.workspace.objects.glob("??/*")))
    assert removed(place.service, found) == sum(one.bytes for one in found)
    assert not place.run_folder.exists()
    assert not stray.exists()
    assert not lost.exists()
    assert len(list(place.workspace.objects.glob("??/*"))) == before - 1
    assert leftovers(place.service, MONTH) == []
    assert place.service.status(place.run_id)["artifacts"]
    assert [one for one in place.service.replay(place.run_id)[1] if "objects" in one] == []
    with pytest.raises(ToolError) as refused:
        changes_of_run(place.service, place.run_id)
    assert refused.value.details["missing"] == "worktree"


def test_nothing_is_removed_while_runs_are_executed_or_where_one_went_on(shared: Place) -> None:
    shared.reset()
    shared.put_in("DONE")
    found = [one for one in leftovers(shared.service, MONTH) if one.kind == "run"]
    with owned(shared.workspace) as is_owned:
        assert is_owned
        with pytest.raises(ToolError) as refused:
            removed(shared.service, found)
    assert (refused.value.details["reason"], refused.value.retryable) == ("busy", True)
    shared.put_in("READY_FOR_PR")
    assert removed(shared.service, found) == 0
    assert shared.work_tree.is_dir()
    shared.reset()


@pytest.mark.parametrize("age", ["", "d", "30", "-1d", "1y", "1.5d", "٣d", "9999999d", "1d ", "d1"])
def test_an_age_that_is_none_is_refused(age: str) -> None:
    with pytest.raises(UsageError):
        parsed_age(age)


def test_ages_are_read() -> None:
    assert [parsed_age(age) for age in ("0d", "45m", "12h", "30d", "2w")] == [
        timedelta(), timedelta(minutes=45), timedelta(hours=12), timedelta(days=30), timedelta(weeks=2),
    ]  # fmt: skip
