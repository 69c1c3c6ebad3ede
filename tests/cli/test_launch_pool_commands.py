"""`holdfast launch batch` and `work` as a person types them wrongly: told at once, and nothing is begun."""

import importlib.util
import io
import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import Cli
from tests.launch.products import run_config

from holdfast.cli import launch_batch
from holdfast.cli.progress_bar import ProgressBar
from holdfast.launch.store.refusals import StoreError

CONFIG = run_config(Path("/product"), "a" * 40, Path("/site"), "b" * 40)


@pytest.fixture
def batch(tmp_path: Path) -> Path:
    """Two entries, of which the second is wrong."""
    path = tmp_path / "runs.json"
    path.write_text(json.dumps([CONFIG, {**CONFIG, "product_slug": "other", "site_ref": "main"}]))
    return path


def environment(tmp_path: Path, **more: str) -> dict[str, str]:
    return {"HOLDFAST_LAUNCH_DIR": str(tmp_path / "launch"), **more}


def test_a_batch_with_wrong_entries_tells_all_of_them_and_starts_nothing(
    cli: Cli, tmp_path: Path, batch: Path
) -> None:
    done = cli("launch", "batch", str(batch), env=environment(tmp_path))
    assert done.returncode == 2
    assert "entry 2 (other):\n  /site_ref: " in done.stderr
    assert "1 of 2 entries are wrong; nothing was started\n  try: correct them, or --keep-going" in done.stderr
    assert not (tmp_path / "launch").exists()


def test_programs_are_told_the_same(cli: Cli, tmp_path: Path, batch: Path) -> None:
    done = cli("launch", "batch", str(batch), "--json", env=environment(tmp_path))
    told: dict[str, Any] = json.loads(done.stdout)
    assert (done.returncode, told["ok"], told["started"]) == (2, False, 0)
    assert [(run["item"], bool(run["problems"]), run["run_id"]) for run in told["runs"]] == [
        (1, False, None),
        (2, True, None),
    ]


def test_a_batch_is_not_left_to_a_pool_that_is_none(cli: Cli, tmp_path: Path, batch: Path) -> None:
    done = cli("launch", "batch", str(batch), "--keep-going", "--detach", env=environment(tmp_path))
    assert done.returncode == 2
    assert "holdfast: nobody goes on with them without a pool\n  try: --launch-engine dbos" in done.stderr


def test_a_batch_that_is_left_opens_no_pull_requests(cli: Cli, tmp_path: Path, batch: Path) -> None:
    done = cli("launch", "batch", str(batch), "--detach", "--open-pr", env=environment(tmp_path))
    assert done.returncode == 2
    assert "whoever leaves opens no pull requests\n  try: leave one of" in done.stderr


def test_an_entry_whose_key_belongs_to_another_configuration_is_told_with_its_reason(
    cli: Cli, tmp_path: Path
) -> None:
    for name, slug in (("one.json", "one"), ("other.json", "other")):
        (tmp_path / name).write_text(json.dumps([{"config": {**CONFIG, "product_slug": slug}, "key": "k"}]))
    first = cli("launch", "batch", str(tmp_path / "one.json"), "--quiet", env=environment(tmp_path))
    assert first.returncode == 1
    assert "  one  FAILED  " in first.stdout
    assert "could not be cloned" in first.stdout
    done = cli("launch", "batch", str(tmp_path / "other.json"), "--quiet", env=environment(tmp_path))
    assert done.returncode == 1
    assert "entry 1 (other):\n  this idempotency_key started a run with another configuration" in done.stderr


@pytest.mark.parametrize(
    ("words", "variables", "told"),
    [
        ([], {}, "a pool needs a PostgreSQL database\n  try: set HOLDFAST_LAUNCH_STORE=postgresql://"),
        (
            [],
            {"HOLDFAST_LAUNCH_STORE": "sqlite:////tmp/x.db"},
            "needs PostgreSQL, and the run store is an SQLite file",
        ),
        (["--executor", ""], {"HOLDFAST_LAUNCH_STORE": "postgresql://x@127.0.0.1:1/x"}, "1 to 100 printable"),
        (["--executor", "a\nb"], {"HOLDFAST_LAUNCH_STORE": "postgresql://x@127.0.0.1:1/x"}, "1 to 100 printable"),
        ([], {"HOLDFAST_LAUNCH_STORE": "postgresql://x@127.0.0.1:1/x"}, "check that the database server runs"),
        (["--concurrency", "0"], {}, "0 is not in the range 1<=x<=256"),
        (["--launch-lease", "1"], {}, "expected a whole number from 3 to 86400"),
    ],
)
def test_a_machine_that_cannot_join_says_what_to_do(
    cli: Cli, tmp_path: Path, words: list[str], variables: dict[str, str], told: str
) -> None:
    done = cli("launch", "work", *words, env=environment(tmp_path, **variables))
    assert done.returncode == 2
    assert told in done.stderr


def test_without_the_extra_a_machine_is_told_what_to_install(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "dbos" else find(name))
    done = cli("launch", "work", env=environment(tmp_path, HOLDFAST_LAUNCH_STORE="postgresql://x@127.0.0.1:1/x"))
    assert done.returncode == 2
    assert "the engine `dbos` is not installed\n  try: pip install 'holdfast[scale]'" in done.stderr


INSTALL = "\n  try: pip install 'holdfast[launch]'\n"
WITHOUT_EXTRA = (
    "import sys; sys.modules.update(sqlalchemy=None, yaml=None); "
    "from holdfast.cli.app import main; sys.exit(main())"
)


def without_extra(tmp_path: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", WITHOUT_EXTRA, *words],
        cwd=tmp_path, env={**os.environ, **environment(tmp_path)}, input="",
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["start", "runs.yaml"], "launch runs need a database library" + INSTALL),
        (["batch", "runs.yaml"], "reading YAML needs PyYAML" + INSTALL),
        (["batch", "runs.json"], "launch runs need a database library" + INSTALL),
        (["work"], "a pool needs a PostgreSQL database\n"),
    ],
)
def test_without_the_extra_of_launch_runs_every_command_tells_what_is_missing(
    tmp_path: Path, words: list[str], told: str
) -> None:
    (tmp_path / "runs.json").write_text(json.dumps([CONFIG]))
    (tmp_path / "runs.yaml").write_text("- run.yaml\n")
    done = without_extra(tmp_path, "launch", *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"holdfast: {told}")


def test_without_the_extra_a_launch_server_is_refused_at_its_start(tmp_path: Path) -> None:
    done = without_extra(tmp_path, "serve", "--standalone", "launch")

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"holdfast: launch runs need a database library{INSTALL}"


def test_without_the_extra_a_call_says_what_to_install(tmp_path: Path) -> None:
    done = without_extra(tmp_path, "call", "launch", "launch_list_runs")

    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    error = json.loads(next(line for line in done.stderr.splitlines() if line.startswith("{")))["error"]
    assert (error["code"], error["message"]) == ("INTERNAL", "the run store could not be used")
    assert error["details"]["hint"] == "pip install 'holdfast[launch]'"


def test_a_dry_run_is_executed_here_and_asks_no_pool(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text(json.dumps(CONFIG))
    pool = {"HOLDFAST_LAUNCH_ENGINE": "dbos", "HOLDFAST_LAUNCH_STORE": "postgresql://x@127.0.0.1:1/x"}
    done = cli(
        "launch", "start", str(tmp_path / "run.json"), "--dry-run", "--quiet", env=environment(tmp_path, **pool)
    )
    assert done.returncode == 1
    assert "The product repository product could not be cloned" in done.stderr
    assert "dry run: nothing was kept" in done.stderr


def test_a_store_that_cannot_be_reached_for_a_while_is_told_once_and_so_is_its_return() -> None:
    troubles = iter([True, True, True, False, False])

    class Runs:
        """Runs in a store that goes away and comes back."""

        def look(self) -> Counter[str]:
            if next(troubles):
                raise StoreError("unavailable", "the run store: it is starting up")
            return Counter(DONE=1)

    stream = io.StringIO()
    looking: Any = vars(launch_batch)["_Looking"](Runs(), ProgressBar(stream))
    seen = [looking.again(Counter(executing=1)) for _ in range(5)]

    assert seen == [{"executing": 1}] * 3 + [{"DONE": 1}] * 2
    assert stream.getvalue().splitlines() == [
        "note: the run store: it is starting up",
        "note: the run store can be reached again",
    ]
