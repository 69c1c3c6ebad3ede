"""`holdfast serve search` as a person types it: what is refused, in one line, before anything is started."""

import os
import subprocess
import sys
from pathlib import Path

import pytest


def refusal(*words: str, cwd: Path, **environ: str) -> str:
    """What a command says that does not start."""
    outer = {key: value for key, value in os.environ.items() if not key.startswith("HOLDFAST_")}
    done = subprocess.run(
        [sys.executable, "-m", "holdfast", "serve", *words],
        cwd=cwd,
        env={**outer, "HOLDFAST_STATE_DIR": str(cwd / "state"), "HOLDFAST_CONFIG": "none", **environ},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert "Traceback" not in done.stderr
    return done.stderr


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("search", "--http", "7345"), "is not an address to listen on"),
        (("search", "--http", "0.0.0.0:0"), "there is no token"),
        (("search", "--http", "127.0.0.1:0", "--standalone"), "HTTP needs the host"),
        (("search", "--http", "127.0.0.1:0", "--http-token-file", "missing"), "the token cannot be read"),
        (("search", "--repo", "missing"), "Repo path not found"),
        (("search", "--workspace", "missing.jsonc"), "there is no workspace file"),
        (("server.py", "--http", "127.0.0.1:0"), "--http is for the search server"),
        (("server.py", "--repo", "."), "--repo is for the search server"),
        (("server.py", "--workspace", "w"), "--workspace is for the search server"),
    ],
)
def test_what_cannot_be_served_is_refused_in_one_line(tmp_path: Path, words: tuple[str, ...], told: str) -> None:
    (tmp_path / "server.py").write_text("")
    said = refusal(*words, cwd=tmp_path)
    assert told in said
    assert len(said.splitlines()) <= 2


def test_a_token_file_of_several_words_is_refused(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("open sesame\n")
    assert "does not hold one token" in refusal(
        "search", "--http", "127.0.0.1:0", "--http-token-file", "token", cwd=tmp_path
    )


def test_a_token_is_never_shown(tmp_path: Path) -> None:
    shown = subprocess.run(
        [sys.executable, "-m", "holdfast", "config", "show"],
        cwd=tmp_path,
        env={**os.environ, "HOLDFAST_HTTP_TOKEN": "sesame", "HOLDFAST_CONFIG": "none"},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert "http_token" in shown
    assert "sesame" not in shown


def test_a_file_called_search_is_not_taken_for_the_server(tmp_path: Path) -> None:
    (tmp_path / "search").write_text("")
    assert "not a Python file" in refusal("search", cwd=tmp_path)
