"""Linters that are really run over a real index: what they say is kept, found again, and never in the way."""

import os
import sqlite3
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.search.tiny_model import write_model

from holdfast.errors import ToolError, UsageError
from holdfast.search.building import build
from holdfast.search.home import IndexHome
from holdfast.search.library import build_index, open_index
from holdfast.search.linting.running import LintReport, lint_index
from holdfast.search.repository import Repository, find_repository, index_home
from holdfast.search.request import SearchRequest
from holdfast.search.vectors.making import embed_index

FILES = {
    "app/bad.py": "import os\n\n\nclass Shop:\n    def open(self):\n        return 1\n\n    def close(self):\n"
    "        x = undefined_name\n\n\ndef fine():\n    return 2\n",
    "app/good.py": "def quiet():\n    return 1\n",
    "run.sh": "#!/bin/sh\nstart() {\n  rm $1\n}\nstop() {\n  true\n}\n",
    "web/app.js": "function used() { return 1; }\n\nfunction broken() { var a = 1; }\nused();\n",
    "eslint.config.js": 'module.exports = [{ rules: { "no-unused-vars": "error" } }];\n',
}


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    for path, text in FILES.items():
        file = tmp_path / "repo" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    found = find_repository(tmp_path / "repo")
    build_index(found, tmp_path / "cache")
    return found


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


def lint(
    repository: Repository, cache: Path, *tools: str, stop: Callable[[], bool] = lambda: False
) -> list[LintReport]:
    return lint_index(repository, cache, tools=tools, progress=lambda *_: None, stop=stop)


def ask(repository: Repository, cache: Path, **arguments: Any) -> dict[str, Any]:
    with open_index(repository, cache) as index:
        return index.search(SearchRequest.from_arguments({"query": "*", "mode": "code", "top": 50, **arguments}))


def names(answer: dict[str, Any]) -> set[str]:
    return {hit["name"] for hit in answer["code"]}


def test_what_a_linter_complains_about_is_found_and_the_rest_is_clean(repository: Repository, cache: Path) -> None:
    reports = {report.linter: report for report in lint(repository, cache)}

    assert {name: report.looked_at for name, report in reports.items()} == {"ruff": 2, "shellcheck": 1}
    complained = names(ask(repository, cache, lint=True))
    assert {"Shop.close", "start"} <= complained
    assert not complained & {"Shop.open", "Shop", "fine", "quiet", "stop"}
    assert {"Shop.open", "fine", "quiet", "stop"} <= names(ask(repository, cache, lint=False))
    assert "used" not in names(ask(repository, cache, lint=False))  # no linter has seen it


def test_a_hit_says_what_the_linter_said(repository: Repository, cache: Path) -> None:
    lint(repository, cache, "ruff")

    (hit,) = [
        hit for hit in ask(repository, cache, lint=True, output="full")["code"] if hit["name"] == "Shop.close"
    ]
    finding = next(one for one in hit["lint"] if one["rule"] == "F821")
    assert (finding["tool"], finding["line"], "undefined_name" in finding["message"]) == ("ruff", 9, True)
    assert any("ruff F821" in reason for reason in hit["why"])


def test_a_file_is_looked_at_once_for_as_long_as_it_stays_the_same(repository: Repository, cache: Path) -> None:
    lint(repository, cache, "ruff")
    again = lint(repository, cache, "ruff")
    (repository.root / "app/good.py").write_text("import sys\n")
    build_index(repository, cache)
    changed = lint(repository, cache, "ruff")
    (repository.root / "app/good.py").write_text(FILES["app/good.py"])
    build_index(repository, cache, full=True)
    back = lint(repository, cache, "ruff")

    assert [report[0].looked_at for report in (again, changed, back)] == [0, 1, 0]
    assert again[0].findings == back[0].findings > 0
    assert "quiet" not in names(ask(repository, cache, lint=True))


def test_another_configuration_is_another_opinion(repository: Repository, cache: Path) -> None:
    lint(repository, cache, "ruff")
    (repository.root / "ruff.toml").write_text('lint.ignore = ["F821", "F841"]\nfix = true\n')
    build_index(repository, cache)
    (report,) = lint(repository, cache, "ruff")

    assert report.looked_at == 2
    assert "Shop.close" not in names(ask(repository, cache, lint=True))
    assert (repository.root / "app/bad.py").read_text() == FILES["app/bad.py"]
    assert not list(repository.root.rglob(".ruff_cache"))


def test_findings_of_another_configuration_are_told_as_that(repository: Repository, cache: Path) -> None:
    lint(repository, cache, "ruff")
    before = ask(repository, cache, lint=True)["warnings"]
    (repository.root / "ruff.toml").write_text('lint.ignore = ["F821"]\n')
    build_index(repository, cache)
    after = ask(repository, cache, lint=True)["warnings"]

    assert [warning["code"] for warning in before] == []
    assert "ruff has another configuration now" in after[-1]["message"]


def test_a_configuration_that_git_ignores_counts_as_well(repository: Repository, cache: Path) -> None:
    (repository.root / ".gitignore").write_text(".shellcheckrc\n")
    build_index(repository, cache)
    lint(repository, cache, "shellcheck")
    (repository.root / ".shellcheckrc").write_text("disable=SC2086\n")
    (report,) = lint(repository, cache, "shellcheck")

    assert (report.looked_at, report.findings) == (1, 0)


def test_eslint_runs_only_where_it_is_named(
    repository: Repository, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    environment = Path(__file__).parents[2] / ".venv"
    monkeypatch.setenv("PATH", f"{environment / 'bin'}{os.pathsep}{os.environ['PATH']}")  # node is in there
    (repository.root / "node_modules").symlink_to(environment / "node_modules")
    assert {report.linter for report in lint(repository, cache)} == {"ruff", "shellcheck"}
    (report,) = lint(repository, cache, "eslint")

    assert report.remarks == []
    assert names(ask(repository, cache, lint=True, lang="javascript")) == {"broken"}


def test_a_file_that_differs_from_the_index_is_left_for_later(repository: Repository, cache: Path) -> None:
    (repository.root / "app/bad.py").write_text("import os, sys\n")
    (report,) = lint(repository, cache, "ruff")

    assert (report.files, report.looked_at) == (2, 1)


def test_without_any_findings_a_search_says_what_to_do(repository: Repository, cache: Path) -> None:
    answer = ask(repository, cache, lint=True)

    assert answer["code"] == []
    assert "holdfast index lint" in answer["warnings"][-1]["message"]


def program(repository: Repository, text: str) -> None:
    folder = repository.root / "node_modules" / ".bin"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "eslint").write_text(f"#!/bin/sh\ncase $1 in --version) echo v9.9.9; exit;; esac\n{text}\n")
    (folder / "eslint").chmod(stat.S_IRWXU)


@pytest.mark.parametrize(
    ("script", "remark"),
    [
        ("echo 'no configuration' >&2; exit 2", "no configuration"),
        ("echo not json", "not json"),
        ("echo '[{}]'; exit 0", "[{}]"),
        ("kill -9 $$", "SIGKILL"),
        ("echo '{\"a\": 1}'", '{"a": 1}'),
    ],
)
def test_a_linter_that_fails_is_told_and_costs_nothing_else(
    repository: Repository, cache: Path, script: str, remark: str
) -> None:
    program(repository, script)
    lint(repository, cache, "ruff")
    (report,) = lint(repository, cache, "eslint")

    assert remark in report.remarks[0]
    assert "given up" in report.remarks[-1]
    assert (report.findings, report.looked_at) == (0, 0)
    assert "Shop.close" in names(ask(repository, cache, lint=True))


def test_a_linter_that_does_not_tell_its_version_is_not_asked(repository: Repository, cache: Path) -> None:
    program(repository, "exit 0")
    (repository.root / "node_modules/.bin/eslint").write_text("#!/bin/sh\necho broken\n")
    (report,) = lint(repository, cache, "eslint")

    assert report.remarks == ["eslint does not tell its version: it was not asked"]
    assert (report.files, report.looked_at, report.known) == (2, 0, 0)


def test_one_file_that_a_linter_stumbles_over_costs_itself(repository: Repository, cache: Path) -> None:
    program(repository, 'for p in "$@"; do case $p in *app.js) echo boom >&2; exit 2;; esac; done; echo "[]"')
    (report,) = lint(repository, cache, "eslint")

    assert report.looked_at == 1
    assert report.remarks == ["web/app.js: boom"]


def test_a_stop_ends_a_linter_that_hangs_with_all_it_started(repository: Repository, cache: Path) -> None:
    note = repository.root.parent / "pid"
    program(repository, f"sleep 600 & echo $! > {note}; wait")
    with pytest.raises(ToolError) as caught:
        lint(repository, cache, "eslint", stop=note.exists)

    assert caught.value.code == "CANCELLED"
    with pytest.raises(ProcessLookupError):
        os.kill(int(note.read_text()), 0)


def test_a_linter_that_is_unknown_or_not_installed_is_refused(
    repository: Repository, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(UsageError, match="no linter is called flake8"):
        lint(repository, cache, "flake8")
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(ToolError) as caught:
        lint(repository, cache, "eslint")
    assert caught.value.code == "CAPABILITY_MISSING"


def test_a_damaged_file_of_findings_is_like_none(repository: Repository, cache: Path) -> None:
    build = IndexHome(index_home(repository, cache)).current()
    assert build is not None
    build.lint.write_bytes(b"rubbish" * 1000)
    assert ask(repository, cache, lint=True)["code"] == []
    lint(repository, cache, "ruff")

    assert "Shop.close" in names(ask(repository, cache, lint=True))
    assert sqlite3.connect(build.lint).execute("PRAGMA integrity_check").fetchone() == ("ok",)


# --- asked for by a client -------------------------------------------------------------------------------------


OPTIONS: dict[str, Any] = {
    "mode": "all", "sqlite": False, "incremental": True, "use_artifacts": False,
    "artifacts_dir": None, "progress": lambda *_: None, "stop": lambda: False,
}  # fmt: skip


def built(repository: Repository, cache: Path, **more: Any) -> list[dict[str, str]]:
    """The remarks of `build_index`."""
    warnings: list[dict[str, str]] = build(repository, cache, **OPTIONS, **more)["warnings"]
    return warnings


def test_a_client_has_linters_run_that_run_no_code_of_the_repository(repository: Repository, cache: Path) -> None:
    (remark,) = built(repository, cache, linters=["ruff"])

    assert remark["code"] == "linters"
    assert "3 findings; 2 files looked at" in remark["message"]
    assert names(ask(repository, cache, lint=True, lang="python"))


def test_a_linter_that_runs_code_of_the_repository_needs_the_operators_permission(
    repository: Repository, cache: Path, tmp_path: Path
) -> None:
    program(repository, f"touch {tmp_path}/executed; echo '[]'")
    with pytest.raises(ToolError) as caught:
        built(repository, cache, linters=["ruff", "eslint"])
    assert (caught.value.code, "HOLDFAST_CODE_LINTERS=eslint" in str(caught.value.hint)) == ("FORBIDDEN", True)
    assert not (tmp_path / "executed").exists()

    (remark,) = built(repository, cache, linters=["eslint"], code_linters=["eslint"])
    assert (remark["message"], (tmp_path / "executed").exists()) == (
        "eslint 9.9.9: 0 findings; 2 files looked at, 0 known already", True,
    )  # fmt: skip


def test_a_client_has_vectors_made_with_a_model_that_is_on_this_machine(
    repository: Repository, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("holdfast.search.downloads.wheel._run_pip", None)  # whoever fetches anything fails
    with pytest.raises(ToolError) as caught:
        built(repository, cache, vectors=True)
    assert (caught.value.code, "download_models" in str(caught.value.hint)) == ("CAPABILITY_MISSING", True)

    model = write_model(tmp_path / "model")
    embed_index(repository, cache, model=str(model), progress=lambda *_: None, stop=lambda: False)
    (repository.root / "app" / "more.py").write_text("def more():\n    return 3\n")
    (remark,) = built(repository, cache, vectors=True)
    assert remark["code"] == "vectors"
    assert "1 embedded" in remark["message"]
