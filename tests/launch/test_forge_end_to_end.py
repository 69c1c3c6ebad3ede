"""A whole run on a private site on a forge: killed while it opens its pull request, and its token is nowhere."""

import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.launch.forge_server import ForgeServer, forge_server
from tests.launch.products import git, make_product, make_site

from holdfast.git.access import encoded

pytestmark = [pytest.mark.xdist_group("launch-forge"), pytest.mark.timeout(180)]

TOKEN = "g1tea-t0ken-fedcba9876543210"
SECRETS = (TOKEN.encode(), encoded(TOKEN).encode())


class Terminal:
    """`holdfast launch` as a person types it; remembers everything that was shown."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.shown = b""
        self.seen_processes: set[bytes] = set()
        (folder / "home").mkdir()
        self._record_git(folder / "bin")

    def _record_git(self, folder: Path) -> None:
        """A git that writes down its arguments first: most of them end before anybody could look at them."""
        folder.mkdir()
        record = f'printf "%s\\n" "$0 $*" >> {self.folder}/commands.txt'
        (folder / "git").write_text(f'#!/bin/sh\n{record}\nexec {shutil.which("git")} "$@"\n', "utf-8")
        (folder / "git").chmod(0o755)

    def start(self, *words: str) -> "subprocess.Popen[bytes]":
        environment = os.environ | {
            "HOLDFAST_LAUNCH_DIR": str(self.folder / "launch"), "HOME": str(self.folder / "home"),
            "GITEA_TOKEN": TOKEN, "HOLDFAST_LAUNCH_TOKENS": "GITEA_TOKEN=127.0.0.1", "no_proxy": "127.0.0.1",
            "PATH": f"{self.folder / 'bin'}:{os.environ['PATH']}",
        }  # fmt: skip
        return subprocess.Popen(
            [sys.executable, "-m", "holdfast", "launch", *words], cwd=self.folder, env=environment,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip

    def ended(self, process: "subprocess.Popen[bytes]") -> tuple[int, str]:
        """How it ended, and what it printed; every process that runs meanwhile is looked at."""
        output: list[bytes] = []
        reader = threading.Thread(target=lambda: output.extend(process.communicate(timeout=120)))
        reader.start()
        while reader.is_alive():
            reader.join(0.1)
            self.look_at_processes()
        self.shown += b"".join(output)
        assert process.returncode is not None
        return process.returncode, output[0].decode()

    def type(self, *words: str) -> str:
        code, out = self.ended(self.start(*words))
        assert code == 0, self.shown.decode()[-3000:]
        return out

    def look_at_processes(self) -> None:
        for directory in Path("/proc").glob("[0-9]*"):
            try:
                self.seen_processes.add((directory / "cmdline").read_bytes())
            except OSError:
                continue  # it has ended


def until(condition: Callable[[], bool], bound: float = 90.0) -> None:
    end = time.monotonic() + bound
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.02)  # noqa: TID251 - the next look at a condition with a bound


@pytest.fixture
def forge(tmp_path: Path) -> Iterator[ForgeServer]:
    with forge_server("gitea", tmp_path / "forge", TOKEN) as server:
        make_site(tmp_path / "site")
        server.path("acme/site").parent.mkdir(parents=True)
        git(tmp_path, "clone", "--quiet", "--bare", str(tmp_path / "site"), str(server.path("acme/site")))
        make_product(tmp_path / "tablekit")
        yield server


def stored_objects(folder: Path) -> Iterator[bytes]:
    """Every object of every repository that was made there."""
    for head in folder.rglob("HEAD"):
        if (head.parent / "objects").is_dir():
            command = ["git", "--git-dir", str(head.parent), "cat-file", "--batch-all-objects", "--batch"]
            yield subprocess.run(command, capture_output=True, check=True).stdout


def test_a_killed_opening_is_completed_and_the_token_is_in_nothing_that_was_written_or_shown(
    forge: ForgeServer, tmp_path: Path
) -> None:
    desk = tmp_path / "desk"
    desk.mkdir()
    terminal = Terminal(desk)
    config = terminal.type("init", str(tmp_path / "tablekit"), forge.address("acme/site"), "--forge", "gitea")
    assert "forge: gitea" in config
    assert "github_token_env: GITEA_TOKEN" in config
    fewer = re.sub(r"(required_sections:)(?:\n  - \w+)+", r"\1\n  - docs", config)
    (desk / "run.yaml").write_text(fewer + "launch_tier: minimal\n", "utf-8")
    run_id = terminal.type("start", "run.yaml").split()[0]

    release = threading.Event()
    forge.fault("POST", "/pulls", after=True, hold=release)
    opening = terminal.start("open-pr", run_id)
    until(lambda: len(forge.pulls.get("acme/site", [])) == 1)
    terminal.look_at_processes()
    opening.send_signal(signal.SIGKILL)
    terminal.ended(opening)
    release.set()

    shown = terminal.type("open-pr", run_id).splitlines()
    (pull,) = forge.pulls["acme/site"]
    assert shown == [f"{forge.url}/acme/site/pulls/1", f"branch launch/{run_id}/tablekit", f"commit {pull.sha}"]
    assert git(forge.path("acme/site"), "rev-parse", f"launch/{run_id}/tablekit") == pull.sha
    assert "## Taking it back" in pull.body
    terminal.type("events", run_id, "--json")

    files = [path for path in desk.rglob("*") if path.is_file()]
    assert any(path.name == "commits.sqlite" for path in files)
    places = [terminal.shown, *terminal.seen_processes, *(path.read_bytes() for path in files)]
    places += [*stored_objects(desk), pull.body.encode()]
    assert len(terminal.seen_processes) > 5
    assert " push " in (desk / "commands.txt").read_text("utf-8")
    assert not [place[:200] for place in places if any(secret in place for secret in SECRETS)]
