"""Paths of data through a call, over a real index: what is linked, what is not, and what a change does to it."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from holdfast.cli.search_text import Look, describe_hits
from holdfast.search.library import SearchIndex, build_index, open_index
from holdfast.search.portable import build_portable
from holdfast.search.repository import find_repository
from holdfast.search.request import SearchRequest

pytestmark = pytest.mark.xdist_group("risk-flows")  # one index for all

FILES = {
    "app.py": """
import os
from flask import request
from lib.shell import run, quoted, name_of, twice
from elsewhere import launch

def gives():
    line = request.args["x"]
    run(line)

def takes():
    os.system(name_of())

def cleaned():
    os.system(quoted(request.args["x"]))

def handed_on():
    os.system(str(launch(request.args["x"])))

def foreign():
    launch(request.args["x"])

def far():
    twice(request.args["x"])

def again(line):
    again(request.args["x"])
    os.system(line)
""",
    "lib/shell.py": """
import os, shlex
from flask import request

def run(line):
    os.system("sh -c " + line)

def quoted(text):
    return shlex.quote(text)

def name_of():
    return request.args["name"]

def twice(line):
    run(line)
""",
    "other/launch.py": "import os\n\ndef launch(line):\n    os.system(line)\n",
    "service.py": """
from flask import request

class Service:
    def __init__(self, cleaner):
        self.cleaner = cleaner

    def handle(self):
        self.cleaner.erase_place(request.args["x"])
        self.cleaner.write_note(request.args["x"])
""",
    "cleaner.py": """
import shutil

class Cleaner:
    def erase_place(self, place):
        shutil.rmtree(place)

    def write_note(self, text):
        open(text)
""",
    "second.py": "class Second:\n    def write_note(self, text):\n        return text\n",
    "page.js": "import { run } from './lib/shell'\nexport function go(req) { run(req.query.x) }\n",
}


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SearchIndex]:
    place = tmp_path_factory.mktemp("flows")
    write(place / "repo", FILES)
    repository = find_repository(place / "repo")
    build_index(repository, place / "cache")
    build_portable(repository, place / "cache", mode="all", progress=lambda *_: None, stop=lambda: False)
    with open_index(repository, place / "cache") as opened:
        yield opened


def write(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)


def ask(index: SearchIndex, **arguments: Any) -> dict[str, Any]:
    asked = {"query": "*", "mode": "code", "top": 100, **arguments}
    return index.search(SearchRequest.from_arguments(asked))


def names(payload: dict[str, Any]) -> set[str]:
    return {hit["name"] for hit in payload["code"]}


def flows_of(index: SearchIndex, name: str) -> list[dict[str, Any]]:
    hits = [hit for hit in ask(index, output="full")["code"] if hit["name"] == name]
    return [flow for hit in hits for flow in hit.get("risk", {}).get("flows", [])]


def test_input_that_another_function_gives_to_a_sink_is_told_of_the_caller(index: SearchIndex) -> None:
    (flow,) = flows_of(index, "gives")

    assert (flow["source"], flow["sink"], flow["category"]) == ("http.request", "os.system", "command-injection")
    assert (flow["severity"], flow["scope"], flow["confidence"]) == ("critical", "cross-function", "medium")
    assert [(step["file"], step["line"], step["text"]) for step in flow["path"]] == [
        ("app.py", 8, 'line = request.args["x"]'),
        ("app.py", 9, "run(line)"),
        ("lib/shell.py", 5, "def run(line):"),
        ("lib/shell.py", 6, 'os.system("sh -c " + line)'),
    ]


def test_input_that_another_function_gives_back_is_told_of_the_caller(index: SearchIndex) -> None:
    (flow,) = flows_of(index, "takes")
    assert [(step["file"], step["line"]) for step in flow["path"]] == [("lib/shell.py", 12), ("app.py", 12)]


@pytest.mark.parametrize(
    ("name", "flows"),
    [
        pytest.param("cleaned", [], id="cleaned inside of the callee"),
        pytest.param("handed_on", ["http.request->os.system"], id="handed on by a function that is not known"),
        pytest.param("foreign", [], id="imported from elsewhere, though one of this name is here"),
        pytest.param("far", [], id="two calls away"),
        pytest.param("again", [], id="calls itself"),
        pytest.param("go", [], id="another family of languages"),
    ],
)
def test_what_becomes_of_a_flow_is_decided_by_its_calls(index: SearchIndex, name: str, flows: list[str]) -> None:
    assert [f"{flow['source']}->{flow['sink']}" for flow in flows_of(index, name)] == flows


def test_a_callee_that_only_its_name_tells_is_a_guess_and_says_so(index: SearchIndex) -> None:
    flows = flows_of(index, "Service.handle")
    assert [(flow["sink"], flow["confidence"]) for flow in flows] == [
        ("file.change", "low")
    ]  # two have `write_note`


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        ({"riskFlow": "http.request->os"}, {"gives", "takes", "handed_on"}),
        ({"riskSink": "file.change"}, {"Service.handle", "Cleaner.erase_place"}),
        ({"riskCategory": "path"}, {"Service.handle", "Cleaner.erase_place", "Cleaner.write_note"}),
        ({"riskTag": "filesystem"}, {"Service.handle", "Cleaner.erase_place", "Cleaner.write_note"}),
        (
            {"riskSource": "http", "path": "app.py", "riskSink": "os.system"},
            {"gives", "takes", "cleaned", "handed_on", "again"},
        ),
        ({"riskFlow": "critical"}, set()),
    ],
)
def test_filters_ask_for_linked_flows_as_well(
    index: SearchIndex, arguments: dict[str, Any], found: set[str]
) -> None:
    assert names(ask(index, **arguments)) == found


@pytest.mark.parametrize("backend", ["auto", "fts", "sqlite", "memory"])
def test_every_backend_links_the_same(index: SearchIndex, backend: str) -> None:
    expected = ask(index, riskFlow="->", output="full")["code"]
    assert expected
    assert ask(index, riskFlow="->", output="full", backend=backend)["code"] == expected


def test_a_value_that_only_linked_flows_have_is_not_called_unknown(index: SearchIndex) -> None:
    payload = ask(index, riskFlow="http.request->file.change")
    assert names(payload) == {"Service.handle"}
    assert payload["warnings"] == []


def test_risk_is_shown_in_full_answers_and_where_it_is_asked_for(index: SearchIndex) -> None:
    assert not any("risk" in hit for hit in ask(index, output="compact")["code"])
    assert all(hit["risk"]["flows"] for hit in ask(index, output="compact", riskFlow="->")["code"])
    full = {hit["name"]: hit for hit in ask(index, output="full")["code"]}
    assert full["gives"]["facts"]["risk_flows"] == ["http.request->os.system"]
    assert full["run"]["risk"]["severity"] == "critical"
    assert full["run"]["risk"]["sinks"] == [
        {"name": "os.system", "category": "command-injection", "severity": "critical", "line": 6}
    ]
    assert "risk" not in full["Service.__init__"]


def test_a_change_of_the_callee_changes_what_is_told_of_a_caller_in_another_file(tmp_path: Path) -> None:
    root, cache = tmp_path / "repo", tmp_path / "cache"
    write(root, FILES)
    repository = find_repository(root)
    build_index(repository, cache)
    with open_index(repository, cache) as opened:
        assert len(flows_of(opened, "gives")) == 1
        text = FILES["lib/shell.py"].replace('"sh -c " + line', "shlex.quote(line)")
        (root / "lib/shell.py").write_text(text)
        assert build_index(repository, cache)["changed"] == 1  # the caller was not looked at again
        assert flows_of(opened, "gives") == []
        assert "gives" not in names(ask(opened, riskFlow="->"))
        shutil.rmtree(root / "lib")
        build_index(repository, cache)
        assert names(ask(opened, riskFlow="->")) == {"cleaned", "handed_on", "Service.handle"}


def test_a_person_is_shown_the_lines_of_the_way(index: SearchIndex) -> None:
    lines = list(describe_hits(ask(index, riskFlow="http.request->os.system", path="app.py"), Look()))

    start = lines.index(
        "    http.request -> os.system  command-injection, critical, cross-function, confidence medium"
    )
    assert lines[start + 1 : start + 5] == [
        '        app.py:8        line = request.args["x"]',
        "        app.py:9        run(line)",
        "        lib/shell.py:5  def run(line):",
        '        lib/shell.py:6  os.system("sh -c " + line)',
    ]
