"""`holdfast index`: what it tells, and what an interrupt leaves behind."""

import json
import os
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psutil
import pytest
from tests.cli.conftest import Cli

from holdfast.cli.ending import heeding_signals
from holdfast.cli.index_text import (
    describe_build,
    describe_collected,
    describe_compaction,
    describe_status,
    size_of,
)
from holdfast.cli.indexing import stop_on_interrupt
from holdfast.search import library
from holdfast.search.artifacts import bytes_below
from holdfast.search.trouble import trouble_with

REPORT: dict[str, Any] = {
    "action": "built", "files": 1234, "chunks": 1, "added": 1234, "changed": 0, "removed": 0,
    "skipped": {"binary": 5, "too large": 7, "minified": 0}, "seconds": 3.21, "bytes": 12_345_678,
}  # fmt: skip

STATUS: dict[str, Any] = {
    "repository": "/src/project", "path": "/cache/search/project", "builtAt": "2025-01-01T00:00:00Z",
    "commit": "0123456789abcdef", "branch": "main", "headCommit": "fedcba9876543210", "changedFiles": 3,
    "files": 13, "lines": 4000, "sourceBytes": 9000, "languages": {"go": 3, "python": 10, "": 1}, "bytes": 2000,
    "chunks": {"code": 100, "records": 0}, "skipped": {"binary": 1},
    "skippedFiles": [{"path": "a\x1b.bin", "reason": "binary", "detail": "NUL bytes"}],
    "remarks": [{"path": "a.py", "remark": "3 syntax errors"}],
}  # fmt: skip


# --- what is told ---------------------------------------------------------------------------------------------


def test_a_build_ends_with_one_line_of_figures() -> None:
    assert describe_build(REPORT) == (
        "built: 1,234 files, 1 chunk, 12.3 MB, in 3.2 s; skipped 12: 7 too large, 5 binary"
    )


def test_an_update_says_what_changed_and_none_says_that_nothing_did() -> None:
    updated = {**REPORT, "action": "updated", "added": 1, "changed": 2, "skipped": {}}
    unchanged = {**REPORT, "action": "unchanged", "added": 0, "skipped": {}}

    assert describe_build(updated).startswith("updated (1 added, 2 changed): 1,234 files")
    assert describe_build(unchanged).startswith("nothing changed: 1,234 files")


def test_the_status_is_one_fact_per_line() -> None:
    lines = list(describe_status(STATUS, now=datetime(2025, 1, 2, 4, tzinfo=UTC)))

    assert lines == [
        "repository   /src/project",
        "index        /cache/search/project",
        "built        1 d 4 h ago (2025-01-01T00:00:00Z)",
        "commit       0123456789ab, branch main, now at fedcba987654",
        "changed      3 files since then; holdfast index build brings it up to date",
        "files        13 files, 4,000 lines, 9.0 kB",
        "languages    10 python, 3 go, 1 other",
        "chunks       100: 100 code",
        "size         2.0 kB",
        "skipped      1: 1 binary",
        "remarks      about 1 file; --skipped lists them",
    ]


def test_skipped_files_are_listed_with_their_reasons_and_without_their_escapes() -> None:
    assert list(describe_status(STATUS, skipped=True))[-2:] == [
        "  a\\u001b.bin: binary (NUL bytes)",
        "  a.py: indexed; 3 syntax errors",
    ]


def test_a_report_that_says_nothing_is_still_told() -> None:
    assert list(describe_status({}, skipped=True)) == []
    assert describe_build({}) == "built: "
    assert describe_compaction({}) == "compacted"


def test_garbage_and_compaction_are_told_with_sizes() -> None:
    removed = [{"id": "a", "path": "/cache/a", "bytes": 1500, "reason": "old-build"}]
    busy = [{"id": "b", "path": "/cache/b", "reason": "it is being written"}]
    report = {"removals": removed, "dryRun": True, "failedRemovals": busy, "kept": [], "freedBytes": 1500}

    assert list(describe_collected(report)) == [
        "would remove /cache/a  1.5 kB  old-build",
        "would remove 1, 1.5 kB",
        "would keep /cache/b: it is being written",
    ]
    assert list(describe_collected({**report, "dryRun": False}))[-1] == "kept /cache/b: it is being written"
    assert describe_compaction({"bytesBefore": 3000, "bytes": 2000}) == "compacted: 3.0 kB before, 2.0 kB now"


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0 bytes"),
        (999, "999 bytes"),
        (1000, "1.0 kB"),
        (999_999, "1.0 MB"),
        (5e9, "5.0 GB"),
        (5e15, "5,000.0 TB"),
    ],
)
def test_a_size_is_said_in_the_unit_that_fits(count: float, text: str) -> None:
    assert size_of(count) == text


# --- a repository, for real -----------------------------------------------------------------------------------


@pytest.fixture
def repository(tmp_path: Path, environment: dict[str, str]) -> Path:
    environment["HOLDFAST_CACHE_DIR"] = str(tmp_path / "cache")
    place = tmp_path / "project"
    place.mkdir()
    (place / "retry.py").write_text("def enforce(limit):\n    return limit\n")
    (place / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0")
    subprocess.run(["git", "init", "-q", str(place)], check=True)
    return place


@pytest.mark.parametrize("name", ["", "build", "status", "watch", "compact", "gc", "clean", "path"])
def test_every_command_has_help_with_an_example(cli: Cli, name: str) -> None:
    done = cli("index", *name.split(), "--help")

    assert (done.returncode, done.stderr) == (0, "")
    assert "Example" in done.stdout


def test_a_build_is_told_in_figures_and_the_second_one_has_nothing_to_do(cli: Cli, repository: Path) -> None:
    first = cli("index", "build", cwd=repository)
    second = cli("index", "build", "--json", cwd=repository)

    assert (first.returncode, first.stdout.count("\n")) == (0, 1)
    assert first.stdout.startswith("built: 1 file, ")
    assert json.loads(second.stdout)["action"] == "unchanged"
    assert second.stderr == ""


def test_the_status_tells_what_is_in_the_index_and_what_is_not(cli: Cli, repository: Path) -> None:
    cli("index", "build", cwd=repository)
    plain = cli("index", "status", "--repo", "project")
    listed = cli("index", "status", "--repo", "project", "--skipped")
    report = json.loads(cli("index", "status", "--json", cwd=repository).stdout)

    assert "1 python" in plain.stdout
    assert "no file since then" in plain.stdout
    assert "picture.png" in listed.stdout
    assert "picture.png" not in plain.stdout
    assert report["changedFiles"] == 0


@pytest.mark.parametrize("name", ["status", "compact"])
def test_without_an_index_there_is_a_remedy(cli: Cli, repository: Path, name: str) -> None:
    done = cli("index", name, cwd=repository)

    assert (done.returncode, done.stdout) == (2, "")
    assert "holdfast index build" in done.stderr


def test_the_path_is_told_before_and_after_there_is_an_index(cli: Cli, repository: Path, tmp_path: Path) -> None:
    before = json.loads(cli("index", "path", "--json", cwd=repository).stdout)
    cli("index", "build", cwd=repository)
    after = cli("index", "path", cwd=repository).stdout.strip()

    assert before == {"path": after, "exists": False}
    assert Path(after).is_dir()
    assert Path(after).is_relative_to(tmp_path / "cache")


def test_compaction_and_collection_keep_the_index_in_use(cli: Cli, repository: Path) -> None:
    cli("index", "build", cwd=repository)
    cli("index", "build", "--full", cwd=repository)

    assert cli("index", "compact", cwd=repository).returncode == 0
    assert cli("index", "gc", "--dry-run", cwd=repository).returncode == 0
    assert cli("index", "gc", "--yes", "--repo", str(repository)).returncode == 0
    assert cli("search", "--no-build", "enforce", cwd=repository).returncode == 0


def test_a_build_that_was_never_finished_is_collected(cli: Cli, repository: Path) -> None:
    cli("index", "build", cwd=repository)
    place = Path(cli("index", "path", cwd=repository).stdout.strip())
    (place / "builds" / "half").mkdir()
    told = cli("index", "gc", cwd=repository)

    assert told.stdout.startswith(f"would remove {place / 'builds' / 'half'}")
    assert told.stderr == "nothing was removed; --yes does it\n"
    assert (place / "builds" / "half").exists()
    report = json.loads(cli("index", "gc", "--yes", "--json").stdout)
    assert [(item["path"], item["reason"]) for item in report["removals"]] == [
        (str(place / "builds" / "half"), "old-build")
    ]
    assert not (place / "builds" / "half").exists()


def start(repository: Path, environment: dict[str, str], *arguments: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-m", "holdfast", "index", *arguments],
        cwd=repository, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


def wait_until(condition: Any, seconds: float = 20.0) -> None:
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until
        threading.Event().wait(0.02)


# --- an interrupt -----------------------------------------------------------------------------------------------


def test_an_interrupted_build_ends_and_keeps_the_index(
    cli: Cli, repository: Path, environment: dict[str, str]
) -> None:
    cli("index", "build", cwd=repository)
    place = Path(cli("index", "path", cwd=repository).stdout.strip())
    for number in range(1000):
        (repository / f"module{number}.py").write_text("def work(a, b):\n    return a + b\n" * 40)
    with start(repository, environment, "build", "--full") as process:
        wait_until(lambda: len(list((place / "builds").iterdir())) > 1)
        process.send_signal(signal.SIGINT)
        _, told = process.communicate(timeout=20)

    assert (process.returncode, told) == (130, "stopped; the index is unchanged\n")
    assert cli("search", "--no-build", "enforce", cwd=repository).returncode == 0


@pytest.mark.parametrize("command", ["index build", "search enforce"])
def test_an_interrupt_after_the_last_step_is_told_as_what_it_is(
    cli: Cli, repository: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    real = library.build_index

    def interrupted(*arguments: Any, **options: Any) -> None:
        real(*arguments, **options)
        raise KeyboardInterrupt

    monkeypatch.setattr(library, "build_index", interrupted)
    first = cli(*command.split(), cwd=repository)
    second = cli("index", "build", cwd=repository)

    assert (first.returncode, first.stderr) == (130, "stopped; the index was complete already\n")
    assert (second.returncode, second.stderr) == (130, "stopped; the index is unchanged\n")


def test_an_interrupt_leaves_the_signals_as_they_were() -> None:
    heard: list[int] = []
    before = signal.signal(signal.SIGALRM, lambda number, _frame: heard.append(number))
    try:
        with stop_on_interrupt() as stop:
            os.kill(os.getpid(), signal.SIGINT)
            assert stop()
        os.kill(os.getpid(), signal.SIGALRM)
    finally:
        signal.signal(signal.SIGALRM, before)
    assert heard == [signal.SIGALRM]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_build_that_is_ended_from_outside_leaves_no_git_behind(
    repository: Path, environment: dict[str, str], number: signal.Signals
) -> None:
    # Git waits for the other end of a pipe that its configuration includes; so it hangs as on a dead network disk.
    os.mkfifo(repository / ".git" / "pipe")
    with (repository / ".git" / "config").open("a") as config:
        config.write("[include]\n\tpath = pipe\n")
    with start(repository, environment, "build") as process:
        parent = psutil.Process(process.pid)
        wait_until(parent.children)
        git = parent.children(recursive=True)
        process.send_signal(number)
        process.send_signal(number)  # `timeout` sends its signal twice
        _, told = process.communicate(timeout=20)

    left = psutil.wait_procs(git, timeout=20)[1]
    for one in left:
        one.kill()
    assert (process.returncode, told, left) == (128 + number, "stopped; the index is unchanged\n", [])


def test_a_signal_that_is_ignored_from_the_start_stays_ignored() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)  # as nohup does
    try:
        with heeding_signals() as ended:
            assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
            with pytest.raises(KeyboardInterrupt):
                signal.raise_signal(signal.SIGTERM)
        assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    finally:
        signal.signal(signal.SIGHUP, before)
    assert [ended.exit_code(code) for code in (0, 1, 2, 130)] == [0, 1, 2, 143]


def hang_after_an_interrupt() -> None:
    os.kill(os.getpid(), signal.SIGINT)
    threading.Event().wait(20)


def test_work_that_does_not_notice_an_interrupt_is_torn_out_of_what_it_does() -> None:
    with pytest.raises(KeyboardInterrupt), stop_on_interrupt():
        hang_after_an_interrupt()


# --- files that cannot be written or read -----------------------------------------------------------------------


@pytest.fixture
def tiny_disk(tmp_path: Path) -> Iterator[Path]:
    place = tmp_path / "disk"
    place.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=200k", "tmpfs", str(place)], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("file systems cannot be mounted here")
    yield place
    subprocess.run(["umount", str(place)], check=True)


@pytest.mark.parametrize("command", ["index build", "search enforce"])
def test_a_full_disk_is_told_with_its_directory(cli: Cli, repository: Path, tiny_disk: Path, command: str) -> None:
    (repository / "long.py").write_text("".join(f"def work{n}(a{n}):\n    return {n}\n" for n in range(4000)))
    done = cli(*command.split(), "--cache-dir", str(tiny_disk), cwd=repository)

    assert (done.returncode, done.stdout) == (2, "")
    # A build that takes long enough shows its progress first.
    assert [line for line in done.stderr.splitlines() if not line.startswith("Indexing ")] == [
        f"holdfast: no space left in {tiny_disk}",
        "  try: free some, or choose another --cache-dir",
    ]
    assert not list((tiny_disk / "search").glob("*/builds/*"))


def test_a_limit_of_file_sizes_is_told_like_a_full_disk(repository: Path, environment: dict[str, str]) -> None:
    script = "import sys; from holdfast.cli.app import main; sys.exit(main(['index', 'build']))"
    # sys.dont_write_bytecode, also of its children: half a compiled module would stay where others import it.
    careful = environment | {"PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=repository, env=careful, capture_output=True, text=True,
        check=False, timeout=60, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000)),
    )  # fmt: skip

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("holdfast: ")
    assert "\n  try: " in done.stderr
    assert "unexpected" not in done.stderr


@pytest.mark.parametrize("command", ["index build", "search enforce", "index gc"])
def test_a_cache_directory_that_is_none_is_told(cli: Cli, repository: Path, tmp_path: Path, command: str) -> None:
    (tmp_path / "file").write_text("")
    done = cli(*command.split(), "--cache-dir", str(tmp_path / "file" / "cache"), cwd=repository)

    if command != "index gc":  # which finds nothing to remove there
        assert done.returncode == 2
        assert f"cannot use {tmp_path / 'file' / 'cache'}: not a directory\n  try: " in done.stderr


@pytest.mark.parametrize("damage", ["store.db", "terms/meta.json", "no terms"])
def test_a_damaged_index_is_told_with_the_way_to_a_new_one(cli: Cli, repository: Path, damage: str) -> None:
    cli("index", "build", cwd=repository)
    (build,) = Path(cli("index", "path", cwd=repository).stdout.strip()).glob("builds/*")
    if damage == "no terms":
        for segment in (build / "terms").glob("*.term"):
            segment.unlink()
    else:
        (build / damage).write_bytes(b"\xff" * 20_000)
    for command in ("search --no-build enforce", "index status", "index compact"):
        done = cli(*command.split(), cwd=repository)
        complaint, remedy = done.stderr.splitlines()
        assert (done.returncode, done.stdout) == (2, "")
        assert "index is damaged" in complaint
        assert "holdfast index build" in remedy
    assert cli("index", "build", "--full", cwd=repository).returncode == 0
    assert cli("search", "--no-build", "enforce", cwd=repository).returncode == 0


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (OSError(28, "x", "/cache/a"), "no space left in /cache"),
        (OSError(122, "x"), "no space left in /cache"),
        (PermissionError(13, "x", "/cache/search/a"), "cannot write to /cache: permission denied"),
        (PermissionError(13, "x", "/"), "cannot write to /cache: permission denied"),
        (OSError(30, "x"), "cannot write to /cache: read-only file system"),
        (OSError(5, "x"), "cannot use /cache: input/output error"),
        (PermissionError(13, "x", "/src/secret.py"), None),
        (OSError(9, "x"), None),
        (BrokenPipeError(32, "x"), None),
        (ValueError("An IO error occurred: 'No space left on device (os error 28)'"), "no space left in /cache"),
        (ValueError("IoError { Os { code: 13, kind: x } }"), "cannot write to /cache: permission denied"),
        (ValueError("Data corrupted: 'x'"), "the index is damaged"),
        (ValueError("year is out of range"), None),
        (KeyboardInterrupt(), None),
    ],
)  # fmt: skip
def test_trouble_is_told_only_where_it_is_about_the_index(error: BaseException, words: str | None) -> None:
    told = trouble_with(error, Path("/cache"))

    assert (told and told.message) == words
    assert told is None or told.remedy


@pytest.mark.skipif(sys.platform != "linux", reason="needs a file system without room")
def test_a_disk_without_room_is_called_full_whatever_sqlite_calls_it() -> None:
    error = sqlite3.OperationalError("disk I/O error")
    error.sqlite_errorname = "SQLITE_IOERR_SHMSIZE"
    told = trouble_with(error, Path("/proc"))

    assert told is not None
    assert told.message == "no space left in /proc"


def test_an_index_is_removed_only_when_that_is_said(cli: Cli, repository: Path) -> None:
    cli("index", "build", cwd=repository)
    place = Path(cli("index", "path", cwd=repository).stdout.strip())
    kept = bytes_below(place)
    preview = cli("index", "clean", cwd=repository)

    assert preview.stdout == f"would remove {place.name}, {kept:,} bytes\n"
    assert preview.stderr == "nothing was removed; --yes does it\n"
    assert bytes_below(place) == kept
    both = cli("index", "clean", "--yes", "--dry-run", cwd=repository)
    assert (both.returncode, both.stderr.count("exclude each other")) == (2, 1)
    done = json.loads(cli("index", "clean", "--force", "--json", cwd=repository).stdout)
    assert (done["freedBytes"], done["dryRun"], place.exists()) == (kept, False, False)
    assert cli("index", "clean", "--yes", cwd=repository).stdout == "there is nothing to remove\n"


def test_indexes_beyond_a_limit_are_collected_the_longest_unused_first(cli: Cli, repository: Path) -> None:
    cli("index", "build", cwd=repository)
    place = Path(cli("index", "path", cwd=repository).stdout.strip())

    assert "quota" in cli("index", "gc", "--max-bytes", "0").stdout
    assert place.exists()
    assert "quota" in cli("index", "gc", "--max-bytes", "0", "--yes").stdout
    assert not place.exists()


def test_a_foreign_directory_in_the_cache_survives_the_collection(cli: Cli, repository: Path) -> None:
    cli("index", "build", cwd=repository)
    search = Path(cli("index", "path", cwd=repository).stdout.strip()).parent
    (search / "photos-0123456789ab").mkdir()
    shutil.rmtree(repository)
    done = cli("index", "gc", "--yes")

    assert (done.returncode, done.stdout.count("removed ")) == (0, 2)  # one line, and the sum
    assert [entry.name for entry in search.iterdir()] == ["photos-0123456789ab"]
    assert not list((search / "photos-0123456789ab").iterdir())


# --- watching ---------------------------------------------------------------------------------------------------


def test_a_watched_repository_is_brought_up_to_date_by_itself(
    cli: Cli, repository: Path, environment: dict[str, str]
) -> None:
    cli("index", "build", cwd=repository)
    with start(repository, environment, "watch", "--json") as process:
        assert process.stderr is not None
        assert process.stdout is not None
        assert process.stderr.readline().startswith("watching ")
        # A change that comes before the watch has begun is seen by its first comparison.
        (repository / "zebra.py").write_text("def zebra():\n    return 1\n")
        reports = iter(process.stdout.readline, "")
        assert any(json.loads(report)["added"] == 1 for report in reports)
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 130
    assert cli("search", "--no-build", "zebra", cwd=repository).returncode == 0


# --- the extension for vectors --------------------------------------------------------------------------------


def test_a_library_that_nobody_vouches_for_is_reported_and_not_loaded(cli: Cli, tmp_path: Path) -> None:
    library = tmp_path / "vec0.so"
    library.write_bytes(b"\x7fELF of a stranger")
    options = ("--path", str(library), "--cache-dir", str(tmp_path / "cache"))
    refused = cli("index", "verify-extension", *options)
    report = json.loads(cli("index", "verify-extension", *options, "--json").stdout)

    assert (refused.returncode, "its SHA-256 is not that of a download" in refused.stdout) == (1, True)
    assert (report["exists"], report["load"]["attempted"]) == (True, False)
    assert cli("index", "verify-extension", *options, "--no-load").returncode == 0
