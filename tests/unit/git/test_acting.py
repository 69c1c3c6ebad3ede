"""Git that writes: clones that are whole or not there, addresses that start nothing, and an end to everything."""

import os
import signal
import socket
import stat
import subprocess
import sys
import threading
from contextlib import suppress
from itertools import count
from pathlib import Path

import pytest
from tests.launch.products import commit_all, git, make_repository
from tests.unit.search.processes import running_git

from holdfast.git.acting import act, checked_address, clone_at
from holdfast.git.asking import GitError, GitStoppedError, GitTimeoutError
from holdfast.git.stall import GitStalledError, has_worked

WAITS = ["-c", "alias.wait=!exec tail -f /dev/null", "wait"]


@pytest.mark.parametrize(
    "address",
    [
        "https://x.example/a.git", "http://x.example/a", "ssh://git@x.example/a", "git://x.example/a",
        "file:///srv/a", "/srv/a", "git@x.example:a/b.git",
    ],
)  # fmt: skip
def test_plain_addresses_are_taken(address: str) -> None:
    assert checked_address(address) == address


@pytest.mark.parametrize(
    "address",
    [
        "", ".", "relative/a", "../a", "ext::sh -c id", "ext://x", "ftp://x.example/a", "--upload-pack=id", "-x",
        "https://x.example/a\nb", "/srv/\0", "/srv/a\r", "fd::7", "http::https://x.example", "host:path:more:",
        "javascript:x", "https:/x", "git@-oProxyCommand=id:x",
    ],
)  # fmt: skip
def test_addresses_that_could_start_something_are_refused(address: str) -> None:
    with pytest.raises(GitError):
        checked_address(address)


def test_a_clone_is_the_commit_and_nothing_else(tmp_path: Path) -> None:
    first = make_repository(tmp_path / "a", {"x.txt": b"1\n", "run.sh": b"#!/bin/sh\n"})
    (tmp_path / "a" / "run.sh").chmod(0o755)
    second = commit_all(tmp_path / "a", "second")
    (tmp_path / "a" / "x.txt").write_text("later")
    commit_all(tmp_path / "a", "third")

    clone_at(str(tmp_path / "a"), second, tmp_path / "into" / "b")
    clone_at(f"file://{tmp_path}/a", first, tmp_path / "into" / "c")

    assert git(tmp_path / "into" / "b", "rev-parse", "HEAD") == second
    assert (tmp_path / "into" / "b" / "x.txt").read_text() == "1\n"
    assert os.access(tmp_path / "into" / "b" / "run.sh", os.X_OK)
    assert not os.access(tmp_path / "into" / "c" / "run.sh", os.X_OK)
    assert sorted(path.name for path in (tmp_path / "into").iterdir()) == ["b", "c"]


def test_a_commit_that_no_branch_has_any_more_is_cloned(tmp_path: Path) -> None:
    first = make_repository(tmp_path / "a", {"x": b"1"})
    git(tmp_path / "a", "commit", "--amend", "--quiet", "--message", "other")

    clone_at(str(tmp_path / "a"), first, tmp_path / "b")

    assert git(tmp_path / "b", "rev-parse", "HEAD") == first


def test_a_git_that_outlived_a_killed_clone_is_not_in_the_way(tmp_path: Path) -> None:
    sha = make_repository(tmp_path / "a", {"x": b"1"})
    left = tmp_path / ".b.cloning" / ".git"
    is_over = threading.Event()

    def still_writes() -> None:
        for number in count():
            if is_over.is_set():
                return
            with suppress(FileNotFoundError, FileExistsError):  # it is removed at the same time
                left.mkdir(parents=True, exist_ok=True)
                (left / str(number % 3)).write_bytes(b"")

    writer = threading.Thread(target=still_writes)
    writer.start()
    try:
        for number in range(5):
            clone_at(str(tmp_path / "a"), sha, tmp_path / "b")
            (tmp_path / "b").rename(tmp_path / f"b{number}")
    finally:
        is_over.set()
        writer.join()


@pytest.mark.parametrize("address", ["nowhere", "a"])
def test_a_clone_that_fails_leaves_nothing(tmp_path: Path, address: str) -> None:
    make_repository(tmp_path / "a", {"x": b"1"})

    with pytest.raises(GitError):
        clone_at(str(tmp_path / address), "1" * 40, tmp_path / "b")

    assert [path.name for path in tmp_path.iterdir()] == ["a"]


@pytest.mark.parametrize("is_link", [False, True])
def test_what_a_killed_clone_left_is_removed(tmp_path: Path, is_link: bool) -> None:
    sha = make_repository(tmp_path / "a", {"x": b"1"})
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious" / "file").write_text("kept")
    half = tmp_path / ".b.cloning"
    if is_link:
        half.symlink_to("precious")
    else:
        (half / ".git").mkdir(parents=True)

    clone_at(str(tmp_path / "a"), sha, tmp_path / "b")

    assert (tmp_path / "b" / "x").read_text() == "1"
    assert (tmp_path / "precious" / "file").read_text() == "kept"
    assert not os.path.lexists(half)


def test_files_are_checked_out_byte_for_byte_and_no_filter_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trap = tmp_path / "trap"
    home = tmp_path / "home"
    home.mkdir()
    programs = f"smudge = touch {trap}\n clean = touch {trap}\n required = true"
    (home / ".gitconfig").write_text(f'[filter "evil"]\n {programs}\n[core]\n autocrlf = true\n')
    content = b"one $Id$\ntwo\r\n"
    rules = b"* text eol=crlf ident filter=evil working-tree-encoding=UTF-16LE-BOM\n"
    make_repository(tmp_path / "a", {"x.txt": content})
    objects = {"x.txt": content, ".gitattributes": rules}
    for name, text in objects.items():
        sha = git(tmp_path / "a", "hash-object", "-w", "--no-filters", "--stdin", stdin=text)
        git(tmp_path / "a", "update-index", "--add", "--cacheinfo", f"100644,{sha},{name}")
    tree = git(tmp_path / "a", "write-tree")
    commit = git(tmp_path / "a", "commit-tree", tree, "-m", "rules")
    monkeypatch.setenv("HOME", str(home))

    clone_at(str(tmp_path / "a"), commit, tmp_path / "b")

    assert (tmp_path / "b" / "x.txt").read_bytes() == content
    assert not trap.exists()
    assert act(["status", "--porcelain"], root=tmp_path / "b") == b""


def test_hooks_and_templates_of_the_user_do_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trap, hook = tmp_path / "trap", tmp_path / "template" / "hooks" / "post-checkout"
    hook.parent.mkdir(parents=True)
    hook.write_text(f"#!/bin/sh\ntouch {trap}\n")
    hook.chmod(hook.stat().st_mode | stat.S_IXUSR)
    (tmp_path / ".gitconfig").write_text(
        f"[init]\n templateDir = {hook.parent.parent}\n[core]\n hooksPath = {hook.parent}\n"
    )
    sha = make_repository(tmp_path / "a", {"x": b"1"})
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("GIT_TEMPLATE_DIR", str(hook.parent.parent))

    clone_at(str(tmp_path / "a"), sha, tmp_path / "b")

    assert not trap.exists()


def test_submodules_stay_empty_and_links_stay_links(tmp_path: Path) -> None:
    sha = make_repository(tmp_path / "a", {"x": b"1"})
    (tmp_path / "a" / "out").symlink_to("/etc/passwd")
    (tmp_path / "a" / "loop").symlink_to("loop")
    git(tmp_path / "a", "update-index", "--add", "--cacheinfo", f"160000,{sha},sub")
    (tmp_path / "a" / ".gitmodules").write_text('[submodule "sub"]\n path = sub\n url = ext::sh -c id\n')
    git(tmp_path / "a", "add", "out", "loop", ".gitmodules")
    git(tmp_path / "a", "commit", "--quiet", "--message", "links")
    commit = git(tmp_path / "a", "rev-parse", "HEAD")

    clone_at(str(tmp_path / "a"), commit, tmp_path / "b")

    assert os.readlink(tmp_path / "b" / "out") == "/etc/passwd"
    assert os.readlink(tmp_path / "b" / "loop") == "loop"
    assert list((tmp_path / "b" / "sub").iterdir()) == []


def test_git_is_given_what_it_reads_and_gives_what_it_prints(tmp_path: Path) -> None:
    act(["init", "--quiet"], root=tmp_path)
    large = os.urandom(3_000_000)

    sha = act(["hash-object", "-w", "--stdin"], root=tmp_path, stdin=large).decode().strip()

    assert act(["cat-file", "blob", sha], root=tmp_path) == large


def test_input_and_output_may_both_be_large_and_slow(tmp_path: Path) -> None:
    act(["init", "--quiet"], root=tmp_path)
    sha = act(["hash-object", "-w", "--stdin"], root=tmp_path, stdin=b"x" * 1000).decode().strip()
    asked = f"{sha}\n".encode() * 6_000

    answer = act(["cat-file", "--batch"], root=tmp_path, stdin=asked)

    assert len(answer) == 6_000 * (len(f"{sha} blob 1000\n") + 1001)


def test_a_complaint_is_told(tmp_path: Path) -> None:
    with pytest.raises(GitError, match="not a git repository"):
        act(["status"], root=tmp_path)
    with pytest.raises(GitError, match="cannot be started"):
        act(["status", "\0"], root=tmp_path)


def test_git_ends_when_it_is_told_to_and_when_its_time_is_over(tmp_path: Path) -> None:
    act(["init", "--quiet"], root=tmp_path)
    asked = count()

    with pytest.raises(GitStoppedError):
        act(WAITS, root=tmp_path, stop=lambda: next(asked) > 1)
    with pytest.raises(GitTimeoutError):
        act(WAITS, root=tmp_path, seconds=0.1)

    assert running_git() == []


def test_only_what_may_use_the_network_reaches_another_repository(tmp_path: Path) -> None:
    make_repository(tmp_path / "a", {"x": b"1"})
    act(["init", "--quiet"], root=tmp_path)

    with pytest.raises(GitError, match="transport 'file' not allowed"):
        act(["fetch", "--", str(tmp_path / "a")], root=tmp_path)

    act(["fetch", "--quiet", "--", str(tmp_path / "a")], root=tmp_path, network=True)


def test_nobody_is_asked_for_a_password(tmp_path: Path) -> None:
    environment = {"GIT_ASKPASS": "/bin/echo", "GIT_TERMINAL_PROMPT": "1"}
    with pytest.MonkeyPatch.context() as patch:
        for name, value in environment.items():
            patch.setenv(name, value)
        seen = act(["-c", "alias.say=!env", "say"], root=make(tmp_path)).decode().splitlines()

    assert {"GIT_ASKPASS=/bin/false", "GIT_TERMINAL_PROMPT=0"} <= set(seen)


def make(path: Path) -> Path:
    subprocess.run(["git", "init", "--quiet", path], check=True)
    return path


@pytest.mark.parametrize("scheme", ["git", "http"])
def test_a_server_that_takes_the_connection_and_sends_nothing_is_given_up(tmp_path: Path, scheme: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"{scheme}://127.0.0.1:{silent.getsockname()[1]}/a.git"
        with pytest.raises(GitStalledError, match="sent nothing"):
            act(["ls-remote", "--", address], root=tmp_path, network=True, stalled=0.4)
    assert not running_git()


def test_a_git_that_works_without_a_word_is_not_taken_for_stalled(tmp_path: Path) -> None:
    busy = "alias.busy=!timeout 1 sh -c 'while :; do :; done'; true"
    act(["-c", busy, "busy"], root=tmp_path, network=True, stalled=0.3)


def test_the_computing_time_of_waiting_is_no_work_however_long_it_is_summed_up() -> None:
    # Seen with git 2.39 in a TLS handshake that the other side never answers: a hundredth of a second every five.
    assert not any(has_worked((911_000, 0.03), (911_000, 0.03 + 0.01 * (one // 5)), one) for one in range(36))
    assert has_worked((911_000, 0.03), (911_001, 0.03), 1)
    assert has_worked((911_000, 0.03), (911_000, 0.08), 1)


def test_an_interrupt_ends_a_git_that_waits_for_a_silent_server(tmp_path: Path) -> None:
    code = (
        "import signal, sys; from holdfast.git.acting import act; "
        "signal.signal(signal.SIGINT, signal.default_int_handler); act(sys.argv[1:], root='.', network=True)"
    )
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"git://127.0.0.1:{silent.getsockname()[1]}/a.git"
        asking = subprocess.Popen(
            [sys.executable, "-P", "-c", code, "ls-remote", "--", address], cwd=tmp_path, stderr=subprocess.PIPE
        )
        with asking, silent.accept()[0] as connection:
            asking.send_signal(signal.SIGINT)
            connection.settimeout(20)
            while connection.recv(1000):  # until git is gone, and its end of the connection
                pass
            asking.wait(20)
    assert asking.returncode
