"""Files that hold a repository's text are closed to every other user, each by itself."""

import contextlib
import json
import os
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from holdfast.cli.app import cli
from holdfast.search.library import build_index, open_index
from holdfast.search.private import close_to_others, private_files
from holdfast.search.repository import Repository

NOBODY = 65534


@contextlib.contextmanager
def umask(value: int) -> Iterator[None]:
    before = os.umask(value)
    try:
        yield
    finally:
        os.umask(before)


def open_places(*directories: Path) -> list[str]:
    """What others have any right to, below some directories and themselves."""
    paths = [path for directory in directories for path in (directory, *directory.rglob("*"))]
    return [f"{path} {path.stat().st_mode & 0o777:o}" for path in paths if path.lstat().st_mode & 0o077]


def holdfast(repository: Repository, cache: Path, *words: str) -> None:
    with umask(0), contextlib.chdir(repository.root):
        done = CliRunner().invoke(cli, [*words, "--cache-dir", str(cache)], standalone_mode=False)
    assert (done.exception, done.return_value) in {(None, 0), (None, None)}, (words, done.output)


def test_each_command_that_writes_leaves_nothing_open_to_others(
    repository: Repository, cache: Path, tmp_path: Path
) -> None:
    (repository.root / "findings.json").write_text(
        json.dumps([{"id": "CVE-2024-1", "title": "a hole", "severity": "high", "package": {"name": "leftpad"}}])
    )
    holdfast(repository, cache, "search", "retry budget", "--author", "a")
    assert open_places(cache) == []
    (repository.root / "more.py").write_text("def more():\n    return 1\n")
    holdfast(repository, cache, "index", "build", "--backend", "sqlite-fts")
    assert open_places(cache) == []
    holdfast(repository, cache, "search", "budget", "--chunk-author", "a")
    holdfast(repository, cache, "index", "compact")
    holdfast(repository, cache, "index", "lint")
    holdfast(repository, cache, "triage", "ingest", "generic", "findings.json")
    record = next(iter((cache / "search").glob("*/triage/records/*.json"))).stem
    holdfast(repository, cache, "triage", "pack", record)
    holdfast(repository, cache, "triage", "decide", record, "accept", "--because", "unused")
    holdfast(repository, cache, "index", "export", str(tmp_path / "export"))
    assert len([*cache.rglob("*")]) > 20
    assert open_places(cache, tmp_path / "export") == []


def test_what_an_earlier_version_left_open_is_closed_by_the_next_search(
    repository: Repository, cache: Path, tmp_path: Path
) -> None:
    build_index(repository, cache)
    outside = tmp_path / "outside"
    outside.write_text("not ours")
    outside.chmod(0o644)
    home = next((cache / "search").iterdir())
    (home / "link").symlink_to(outside)
    for path in [home.parent, *home.parent.rglob("*")]:
        if not path.is_symlink():
            path.chmod(0o755 if path.is_dir() else 0o644)
    home.chmod(0o700)  # a private directory on top would hide the rest only for as long as it stays
    open_index(repository, cache).close()
    (home / "link").unlink()
    assert open_places(home.parent) == []
    assert stat.S_IMODE(outside.stat().st_mode) == 0o644


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_another_user_can_read_no_file_of_an_index(repository: Repository, cache: Path) -> None:
    with umask(0):
        build_index(repository, cache)
    files = [path for path in cache.rglob("*") if path.is_file()]
    for directory in {cache, *(path for path in cache.rglob("*") if path.is_dir())}:
        directory.chmod(0o755)  # so that each file has to refuse by itself
    for place in cache.parents:
        if not place.stat().st_mode & 0o001:
            place.chmod(0o711)
    look = "import os, sys\nos.setuid(int(sys.argv[1]))\nprint([f for f in sys.argv[2:] if os.access(f, os.R_OK)])"
    done = subprocess.run(
        [sys.executable, "-c", look, str(NOBODY), *map(str, files)], capture_output=True, text=True, check=True
    )
    assert files
    assert done.stdout.strip() == "[]"


def test_the_umask_is_put_back_when_the_last_of_several_threads_has_written() -> None:
    with umask(0o022):
        both, first_left = threading.Barrier(2), threading.Event()

        def write() -> None:
            with private_files():
                both.wait(10)
            first_left.set()

        other = threading.Thread(target=write)
        other.start()
        with private_files():
            both.wait(10)
            assert first_left.wait(10)
            assert os.umask(0o077) == 0o077
        other.join(10)
        assert os.umask(0o022) == 0o022


def test_a_file_that_is_gone_does_not_keep_the_others_open(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    os.chmod(tmp_path / "file", 0o640)
    close_to_others([tmp_path / "gone", tmp_path / "file"])
    assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == 0o600
