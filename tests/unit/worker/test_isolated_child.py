"""The program inside an isolated call, alone: what it does when its server dies."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.unit.worker import dying_tools

from holdfast.wire.codec import decode, encode
from holdfast.worker.isolated_child import SERVER_IS_GONE


def request(note: Path) -> dict[str, Any]:
    return {
        "path": sys.path,
        "module": dying_tools.__name__,
        "file": None,
        "function": "mortal",
        "tool": "safe",
        "callId": "c1",
        "requestId": 1,
        "grace": 0.3,
        "asking": {"by": "nothing", "level": None},
        "arguments": {"note": str(note), "deaths": 0},
    }


def run(said: bytes, stdout: int) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "holdfast.worker.isolated_child"],
        input=said,
        stdout=stdout,
        stderr=subprocess.PIPE,
        timeout=60,
        check=False,
    )


def test_a_child_whose_server_listens_tells_its_outcome(tmp_path: Path) -> None:
    ended = run(encode(request(tmp_path / "runs")) + b"\n", subprocess.PIPE)

    assert decode(ended.stdout.splitlines()[-1])["payload"]["runs"] == 1
    assert (ended.returncode, ended.stderr) == (0, b"")


def test_a_child_whose_server_died_before_the_outcome_ends_without_a_word(tmp_path: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    try:
        ended = run(encode(request(tmp_path / "runs")) + b"\n", writer)
    finally:
        os.close(writer)

    assert len((tmp_path / "runs").read_text().splitlines()) == 1
    assert (ended.returncode, ended.stderr) == (SERVER_IS_GONE, b"")


@pytest.mark.parametrize("said", [b"", b'{"path": ['], ids=["nothing", "half a request"])
def test_a_child_whose_server_died_while_it_asked_runs_nothing(said: bytes) -> None:
    ended = run(said, subprocess.PIPE)

    assert (ended.returncode, ended.stdout, ended.stderr) == (SERVER_IS_GONE, b"", b"")
