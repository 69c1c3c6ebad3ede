"""`holdfast launch try-model`, as a person types it before the first run with a model."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import Cli
from tests.launch.fake_model import fake_model, said
from tests.launch.products import run_config


@pytest.fixture
def config(tmp_path: Path) -> Path:
    return written(tmp_path, "none:")


def written(folder: Path, url: str, **settings: Any) -> Path:
    config = run_config(folder / "product", "a" * 40, folder / "site", "b" * 40)
    config["llm"] |= {"api_base_url": url, "model": "small", **settings}
    (folder / "run.json").write_text(json.dumps(config))
    return folder / "run.json"


def test_a_model_is_shown_with_what_may_be_used_of_its_words(cli: Cli, tmp_path: Path) -> None:
    with fake_model(
        lambda text: said(text.replace("reads", "reads 7 and").replace("opens a file", "opens any file"))
    ) as fake:
        done = cli("launch", "try-model", str(written(tmp_path, fake.url)))

    assert done.returncode == 0
    assert "0 of 3 sentences would be printed in its words" in done.stdout
    assert "refused: the text states what no claim says: 7" in done.stdout


def test_a_model_that_does_not_answer_is_one_line_and_exit_code_1(cli: Cli, tmp_path: Path) -> None:
    path = written(tmp_path, "http://127.0.0.1:9/v1")
    done = cli("launch", "try-model", str(path))
    as_json = cli("launch", "try-model", str(path), "--json")

    assert (done.returncode, as_json.returncode) == (1, 1)
    assert "no answer: the model gave no answer (connection)" in done.stderr
    assert json.loads(as_json.stdout)["tried"][0]["error_class"] == "connection"


def test_a_configuration_without_a_model_says_what_to_write(cli: Cli, config: Path) -> None:
    done = cli("launch", "try-model", str(config))

    assert done.returncode == 2
    assert "names no model" in done.stderr
    assert "llm.api_base_url" in done.stderr


def test_a_key_that_is_not_set_is_told_by_its_name(cli: Cli, tmp_path: Path) -> None:
    file = str(written(tmp_path, "http://127.0.0.1:9/v1", api_key_env="NO_SUCH_KEY"))
    refused = cli("launch", "try-model", file)
    assert "HOLDFAST_LAUNCH_TOKENS=NO_SUCH_KEY=127.0.0.1:9" in refused.stderr
    done = cli("launch", "try-model", file, "--allow-tokens", "NO_SUCH_KEY=127.0.0.1:9")

    assert done.returncode == 1
    assert "NO_SUCH_KEY" in done.stderr


def test_the_last_run_where_there_is_none_says_how_to_begin(cli: Cli, tmp_path: Path) -> None:
    done = cli("launch", "answers", "last", "--launch-dir", str(tmp_path / "empty"))

    assert done.returncode == 2
    assert "there are no runs here yet" in done.stderr
    assert "holdfast launch start" in done.stderr
