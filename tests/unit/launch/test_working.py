"""The process of one piece of work: it tells what became of it, in any locale, whatever went wrong."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.launch import stand_in_workers

from holdfast.launch.documents import sha256
from holdfast.launch.working import CANNOT_TELL


def worked(folder: Path, word: str, **environment: str) -> "subprocess.CompletedProcess[bytes]":
    """Let the stand-in of a worker do this, in a process of its own."""
    (folder / "repo_scout").write_text(word)
    (folder / "out").mkdir()
    order = {
        "run_id": "r_working", "worker": "repo_scout", "scope": "run", "attempt": 1, "config": {"word": "ü文"},
        "root": str(folder), "out": str(folder / "out"), "given": {}, "about": {},
    }  # fmt: skip
    return subprocess.run(
        [sys.executable, stand_in_workers.__file__],
        input=json.dumps(order, ensure_ascii=False).encode(), capture_output=True, check=False, timeout=50,
        env={**os.environ, stand_in_workers.ORDERS: str(folder), **environment},
    )  # fmt: skip


def told(folder: Path) -> dict[str, Any]:
    outcome: dict[str, Any] = json.loads((folder / "out" / "done.json").read_bytes())
    return outcome


def test_words_of_any_language_come_through_in_any_locale(tmp_path: Path) -> None:
    done = worked(tmp_path, "speak", LC_ALL="C", PYTHONUTF8="0", PYTHONIOENCODING="ascii", PYTHONCOERCECLOCALE="0")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[0])["payload"]["text"] == "größer → 文"
    made = {one["name"]: one["sha256"] for one in told(tmp_path)["made"]}
    assert made["größer.txt"] == sha256("ü文".encode())


@pytest.mark.parametrize(
    ("word", "details"),
    [
        ("odd", {"details": "not told: they are no JSON"}),
        ("endless", {"details": "not told: they have 1000009 characters"}),
        ("half-a-character", {"x": "?", "hint": "?"}),
        ("refuse", {"path": "x"}),
    ],
)
def test_a_refusal_is_told_even_where_its_details_cannot_be(
    tmp_path: Path, word: str, details: dict[str, str]
) -> None:
    assert worked(tmp_path, word).returncode == 0
    failed = told(tmp_path)["failed"]
    assert (failed["message"], failed["details"], failed["retryable"]) == ("it went wrong", details, False)


@pytest.mark.parametrize(
    ("word", "failed"),
    [
        ("os-error", {"message": "the worker failed: Permission denied", "retryable": False}),
        ("full", {"message": "the worker failed: No space left on device", "retryable": True}),
        ("raise", {"message": "the worker failed: ValueError", "retryable": False}),
    ],
)
def test_an_exception_is_told_without_what_it_says_and_whether_it_may_pass(
    tmp_path: Path, word: str, failed: dict[str, Any]
) -> None:
    done = worked(tmp_path, word)
    outcome = told(tmp_path)["failed"]
    assert {name: outcome[name] for name in failed} == failed
    assert (outcome["code"], "secret" in str(outcome)) == ("INTERNAL", False)
    assert b"Traceback" in done.stderr


def test_a_process_that_cannot_even_tell_its_failure_says_so_by_its_end(tmp_path: Path) -> None:
    done = worked(tmp_path, "mute")
    assert (done.returncode, b"Traceback" in done.stderr) == (CANNOT_TELL, True)
    assert not (tmp_path / "out" / "done.json").exists()
