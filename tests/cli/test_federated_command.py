"""`holdfast search` over a workspace or several repositories, as a person types it."""

import json
from pathlib import Path

import pytest
from tests.cli.conftest import Cli


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A workspace of two repositories and one that is not there."""
    for name, text in (
        ("api", "def spend(budget):\n    return budget\n"),
        ("web", "def show(budget):\n    pass\n"),
    ):
        (tmp_path / name).mkdir()
        (tmp_path / name / "budget.py").write_text(text)
    repos = [{"root": "api", "alias": "backend"}, {"root": "web"}, {"root": "gone"}]
    (tmp_path / "shop.jsonc").write_text(json.dumps({"schemaVersion": 1, "repos": repos}))
    return tmp_path


def test_a_workspace_is_indexed_and_searched_in_one_command(cli: Cli, shop: Path) -> None:
    done = cli("search", "--workspace", "shop.jsonc", "--compact", "--mode", "code", "budget", cwd=shop)

    assert done.returncode == 0
    assert sorted(line.split()[0] for line in done.stdout.splitlines() if " function " in line) == [
        "[backend]",
        "[web]",
    ]
    assert "note: gone was not searched: the directory gone does not exist (NOT_FOUND)" in done.stderr


def test_several_repositories_are_searched_together(cli: Cli, shop: Path) -> None:
    words = ("search", "--repo", str(shop / "api"), "--repo", str(shop / "web"), "--json", "budget")
    payload = json.loads(cli(*words).stdout)

    assert {hit["repo"] for hit in payload["code"]} == {"api", "web"}
    assert [one["problem"] for one in payload["repos"]] == [None, None]
    lines = cli(*words[:-2], "--format", "vimgrep", "spend").stdout.splitlines()
    assert any(line.startswith(f"{shop / 'api' / 'budget.py'}:1:") for line in lines)


def test_nothing_found_and_nothing_that_can_be_searched_are_told_apart(cli: Cli, shop: Path) -> None:
    nothing = cli("search", "--workspace", str(shop / "shop.jsonc"), "nothing-like-this-anywhere")
    none = cli("search", "--no-build", "--repo", str(shop / "gone"), "--repo", str(shop / "lost"), "budget")
    told = cli("search", "--json", "--workspace", str(shop / "none.jsonc"), "budget")

    assert (nothing.returncode, none.returncode, told.returncode) == (1, 2, 2)
    assert "none of 2 repositories can be searched" in none.stderr
    assert json.loads(told.stdout)["code"] == "NOT_FOUND"


def test_a_workspace_whose_only_chosen_directory_is_gone_says_what_to_do(cli: Cli, shop: Path) -> None:
    done = cli("search", "--workspace", str(shop / "shop.jsonc"), "--repo", "gone", "budget")

    assert done.returncode == 2
    assert done.stderr.splitlines() == [
        "holdfast: the one repository cannot be searched; gone: the directory gone does not exist",
        "  try: correct its root in the workspace file, or bring the directory back",
    ]


def test_a_workspace_file_that_is_not_there_is_told_by_its_name(cli: Cli, shop: Path) -> None:
    done = cli("search", "--workspace", "shp.jsonc", "budget", cwd=shop)

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.splitlines()[0] == "holdfast: there is no workspace file shp.jsonc"
    assert "try: name a workspace file" in done.stderr


def test_without_a_build_what_is_not_indexed_is_told(cli: Cli, shop: Path) -> None:
    cli("index", "build", "--repo", str(shop / "web"))
    words = ("search", "--no-build", "--repo", str(shop / "api"), "--repo", str(shop / "web"), "budget")
    done = cli(*words)

    assert done.returncode == 0
    assert "note: api was not searched: there is no index of this repository yet (NO_INDEX)" in done.stderr
