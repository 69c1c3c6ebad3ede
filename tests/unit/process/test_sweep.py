"""The search for a tree without its keeper: it finds its own and nobody else."""

import os
import subprocess

import psutil
import pytest

from holdfast.process.command import MARKER
from holdfast.process.sweep import sweep


def sleeper(environment: dict[str, str], **options: bool) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(["sleep", "60"], env={**os.environ, **environment}, **options)  # type: ignore[call-overload,no-any-return]


def test_only_processes_with_the_token_are_killed() -> None:
    mine, nested = sleeper({MARKER: "token"}), sleeper({MARKER: "outer:token"})
    similar, stranger = sleeper({MARKER: "token2"}), sleeper({})
    assert sweep("token", 0, bound=5.0) == ()
    alive = [psutil.pid_exists(process.pid) for process in (mine, nested, similar, stranger)]
    for process in (mine, nested, similar, stranger):
        process.kill()
        process.wait()
    assert alive == [False, False, True, True]


def test_a_member_without_the_marker_is_found_by_its_session() -> None:
    bare = subprocess.Popen(["env", "-i", "sleep", "60"], start_new_session=True)
    assert sweep("token", bare.pid, bound=5.0) == ()
    assert not psutil.pid_exists(bare.pid)
    bare.wait()


def test_what_cannot_be_killed_within_the_bound_is_returned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("psutil.Process.kill", lambda process: None)
    immortal = sleeper({MARKER: "token3"})
    assert sweep("token3", 0, bound=0.0) == (immortal.pid,)
    immortal.send_signal(9)
    immortal.wait()
