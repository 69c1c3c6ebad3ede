"""`holdfast index build --backend`, `holdfast search --backend`: what is not there is told with how to get it."""

import json
import os
import re
import shlex
import subprocess
from pathlib import Path

import pytest
from tests.cli.conftest import Cli

from holdfast.cli.index_text import describe_portable


@pytest.fixture
def repository(tmp_path: Path, environment: dict[str, str]) -> Path:
    environment["HOLDFAST_CACHE_DIR"] = str(tmp_path / "cache")
    place = tmp_path / "project"
    place.mkdir()
    (place / "retry.py").write_text("def retry(budget):\n    return budget\n")
    subprocess.run(["git", "init", "-q", str(place)], check=True)
    return place


@pytest.mark.parametrize("backend", ["sqlite", "sqlite-fts"])
def test_the_command_that_the_refusal_names_is_the_one_that_helps(
    cli: Cli, repository: Path, backend: str
) -> None:
    refused = cli("search", "--backend", backend, "retry", cwd=repository)
    assert (refused.returncode, f"there is no {backend} index" in refused.stderr) == (2, True)
    (command,) = re.findall("`holdfast (.*?)`", refused.stderr)
    assert command == f"index build --backend {backend}"
    assert cli(*shlex.split(command), cwd=repository).returncode == 0
    found = json.loads(cli("search", "--json", "--backend", backend, "retry", cwd=repository).stdout)
    assert (found["backend"], found["total"]["code"], found["warnings"]) == (backend, 1, [])


def test_the_refusal_names_the_tool_for_programs_too(cli: Cli, repository: Path) -> None:
    told = json.loads(cli("search", "--json", "--backend", "sqlite", "retry", cwd=repository).stdout)
    assert told["code"] == "NO_INDEX"
    assert "build_sqlite_index" in json.dumps(told)


def test_memory_needs_nothing_but_the_index(cli: Cli, repository: Path) -> None:
    found = json.loads(cli("search", "--json", "--backend", "memory", "retry", cwd=repository).stdout)
    assert (found["backend"], found["total"]["code"]) == ("memory", 1)


def test_a_build_says_what_became_of_the_file(cli: Cli, repository: Path) -> None:
    os.utime(repository / "retry.py", (1, 1))  # a file that was written just now is looked at again
    first, again = (cli("index", "build", "--backend", "sqlite", cwd=repository).stdout for _ in range(2))
    (repository / "retry.py").write_text("def other(budget):\n    return 1\n")
    third = json.loads(cli("index", "build", "--backend", "sqlite", "--json", cwd=repository).stdout)
    assert "SQLite file written: " in first
    assert "note" not in first
    assert "SQLite file has everything already: " in again
    assert (third["action"], third["sqlite"]["incremental"], third["sqlite"]["warnings"]) == ("updated", True, [])


@pytest.mark.parametrize("backend", ["memory", "auto", "lmdb", ""])
def test_only_what_can_be_built_is_built(cli: Cli, repository: Path, backend: str) -> None:
    refused = cli("index", "build", "--backend", backend, cwd=repository)
    assert (refused.returncode, "sqlite-fts" in refused.stderr) == (2, True)


def test_an_unknown_backend_of_a_search_is_refused_with_the_list(cli: Cli, repository: Path) -> None:
    refused = cli("search", "--backend", "lmdb", "retry", cwd=repository)
    assert refused.returncode == 2
    assert all(name in refused.stderr for name in ("auto", "tantivy", "memory", "sqlite", "sqlite-fts"))


def test_a_search_that_may_not_build_takes_the_file_where_the_index_is_lost(
    cli: Cli, repository: Path, tmp_path: Path
) -> None:
    cli("index", "build", "--backend", "sqlite", cwd=repository)
    for path in (tmp_path / "cache").glob("search/*/builds/*/terms/meta.json"):
        path.unlink()
    done = cli("search", "--no-build", "retry", cwd=repository)
    repaired = json.loads(cli("search", "--json", "retry", cwd=repository).stdout)
    assert (done.returncode, "retry.py:1" in done.stdout) == (0, True)
    assert "sqlite-fts has answered instead" in done.stderr
    assert repaired["backend"] == "tantivy"


def test_what_is_to_be_known_about_a_file_is_told_in_a_line_of_its_own() -> None:
    made = {"path": "/x.db", "bytes": 2000, "unchanged": False, "incremental": False}
    lines = list(describe_portable({"sqlite": {**made, "warnings": [{"code": "fts", "message": "no FTS5"}]}}))
    assert lines == ["SQLite file written: /x.db, 2.0 kB", "note: no FTS5"]
    assert list(describe_portable({})) == []
