"""`holdfast search --callers` and its kin, and `holdfast index lint`, as a person types them."""

import json
from pathlib import Path

import pytest
from tests.cli.conftest import Cli

FILES = {
    "stock.py": "def reserve(sku):\n    return sku\n",
    "till.py": "import os\nfrom stock import reserve\n\n\ndef sell():\n    return reserve('A')\n",
    "ruff.toml": 'lint.select = ["F401"]\n',
    "other.py": "def lend(library):\n    library.reserve('B')\n",
}


@pytest.fixture
def shop_folder(tmp_path: Path) -> Path:
    folder = tmp_path / "repo"
    folder.mkdir()
    for name, text in FILES.items():
        (folder / name).write_text(text)
    return folder


def test_callers_are_listed_with_how_sure_each_is(cli: Cli, shop_folder: Path) -> None:
    done = cli("search", "--callers", "reserve", "-q", cwd=shop_folder)

    assert done.returncode == 0
    assert done.stdout.index("calls stock.reserve: by its import") < done.stdout.index(
        "a guess, by the name alone"
    )
    assert done.stdout.startswith("till.py:5  function  sell\n")


def test_a_definition_that_is_not_there_is_told_without_a_query(cli: Cli, shop_folder: Path) -> None:
    done = cli("search", "--definition", "restock", cwd=shop_folder)

    assert (done.returncode, done.stdout) == (1, "")
    assert "nothing that is called restock is defined" in done.stderr
    assert done.stderr.endswith("nothing found\n")


def test_findings_of_linters_are_asked_for_and_found(cli: Cli, shop_folder: Path) -> None:
    asked = cli("index", "lint", "--json", cwd=shop_folder)
    again = cli("index", "lint", cwd=shop_folder)
    found = cli("search", "--lint", "--json", "*", cwd=shop_folder)

    (ruff,) = [one for one in json.loads(asked.stdout)["linters"] if one["linter"] == "ruff"]
    assert (ruff["lookedAt"], ruff["findings"]) == (3, 1)
    assert "1 finding; 0 files looked at, 3 known from before" in again.stdout
    assert [hit["lint"][0]["rule"] for hit in json.loads(found.stdout)["code"]] == ["F401"]


def test_a_linter_that_is_not_known_is_refused_in_one_line(cli: Cli, shop_folder: Path) -> None:
    done = cli("index", "lint", "--tool", "flake8", cwd=shop_folder)

    assert (done.returncode, done.stdout) == (2, "")
    assert "no linter is called flake8" in done.stderr
    assert "try: use one of ruff, shellcheck, eslint" in done.stderr
