"""What runs leave on disk is for their owner alone, file by file."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.errors import UsageError
from holdfast.launch.service import RunService
from holdfast.launch.workspace import Workspace, workspace_of
from holdfast.settings import Settings


@pytest.fixture(autouse=True)
def usual_mask() -> Iterator[None]:
    """Files of this process are open to readers, as on most machines."""
    before = os.umask(0o022)
    yield
    assert os.umask(before) == 0o022  # whoever changed it has put it back


def open_to_others(root: Path) -> list[str]:
    return [
        str(path) for path in [root, *root.rglob("*")] if not path.is_symlink() and path.stat().st_mode & 0o077
    ]


def test_a_workspace_is_private_from_the_first_command(tmp_path: Path) -> None:
    root = tmp_path / "state" / "launch"
    with RunService(workspace_of(Settings(launch_dir=root))) as service:
        service.objects.put(b"text of a repository")
        service.owe("POST", "/x", {})
    assert {path.name for path in root.iterdir()} >= {"runs.sqlite", "objects"}

    assert open_to_others(root.parent) == []


def test_what_an_older_version_left_open_is_closed_and_links_are_not_followed(tmp_path: Path) -> None:
    root, outside = tmp_path / "launch", tmp_path / "outside"
    (root / "runs" / "r" / "work").mkdir(parents=True)
    for name in ("launch.log", "runs/r/work/page.md", "runs/r/work/program"):
        (root / name).write_text("text")
    (root / "runs/r/work/program").chmod(0o755)
    outside.write_text("somebody reads it")
    (root / "runs" / "r" / "work" / "link").symlink_to(outside)
    with RunService(workspace_of(Settings(launch_dir=root))):
        pass

    assert open_to_others(root) == []
    assert (root / "runs/r/work/program").stat().st_mode & 0o777 == 0o700
    assert outside.stat().st_mode & 0o777 == 0o644


def test_a_workspace_that_was_opened_by_hand_is_closed_again_and_two_services_share_the_mask(
    tmp_path: Path,
) -> None:
    root = tmp_path / "launch"
    workspace = workspace_of(Settings(launch_dir=root))
    with RunService(workspace):
        pass
    root.chmod(0o755)
    (root / "launch.log").write_text("x")
    with RunService(workspace) as first:
        second = RunService(workspace)
        first.close()
        (root / "while-the-second-is-open").write_text("x")
        second.close()

    assert open_to_others(root) == []


def test_a_process_that_ends_while_it_holds_a_workspace_says_nothing_of_it(tmp_path: Path) -> None:
    program = (
        "import os, pathlib, sys; from holdfast.launch.private_files import held_private\n"
        "os.held = held_private(pathlib.Path(sys.argv[1]))\nos.held.__enter__()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path)], check=True, capture_output=True, text=True
    )

    assert done.stderr == ""


def test_a_service_that_cannot_be_opened_leaves_the_mask_as_it_was(tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        RunService(Workspace(tmp_path, "nonsense://"))
