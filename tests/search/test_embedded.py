"""Code inside of documents, and documents without lines, searched in one index as a person would."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.search.documents import docx, paragraph, pdf

from holdfast.search.library import SearchIndex, build_index, open_index
from holdfast.search.portable import build_portable
from holdfast.search.repository import Repository, find_repository
from holdfast.search.request import SearchRequest

pytestmark = pytest.mark.xdist_group("embedded")  # one index for all

GUIDE = """# Handbook

## Cleaning up

```python
import os
import subprocess


def clean_workspace(request):
    target = os.environ["TARGET"]
    subprocess.run("rm -r " + target, shell=True)
```

1. Then load:

    ```ts title="load.ts"
    export async function loadWorkspace(id: number): Promise<Workspace> {
      return await client.fetch(id);
    }
    ```
"""
CARD = """<template>
  <h2>Workspace card</h2>
</template>

<script setup lang="ts">
import axios from "axios";

async function refreshCard(id: string) {
  return await axios.get(id);
}
</script>

<style lang="scss">
.workspace-card { color: teal; }
</style>
"""
PAGE = """<!doctype html>
<title>Start page</title>
<script type="application/ld+json">{"@type": "Thing"}</script>
<script>
function paint(hash) {
  document.write(location.hash);
}
</script>
"""
PANEL = """<script>
  export let title = "panel";
  function toggle() { open = !open; }
</script>
<h1>{title}</h1>
"""
CELLS: list[dict[str, Any]] = [
    {"cell_type": "markdown", "metadata": {}, "source": ["# Churn study\n", "\n", "Who leaves, and why."]},
    {
        "cell_type": "code",
        "execution_count": 1,
        "metadata": {},
        "outputs": [{"output_type": "stream", "text": ["quetzal " * 5000]}],
        "source": [
            "%matplotlib inline\n",
            "import os\n",
            "\n",
            "def churn(path):\n",
            '    return os.system("a" + path)',
        ],
    },
]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> tuple[Repository, Path]:
    root = tmp_path_factory.mktemp("embedded")
    project = root / "project"
    project.mkdir()
    files: dict[str, bytes] = {
        "guide.md": GUIDE.encode(),
        "Card.vue": CARD.encode(),
        "page.html": PAGE.encode(),
        "Panel.svelte": PANEL.encode(),
        "study.ipynb": json.dumps({"cells": CELLS, "metadata": {}, "nbformat": 4}, indent=1).encode(),
        "flat.ipynb": json.dumps(
            {"cells": [{"cell_type": "code", "source": "a = 1\ndef flat():\n  pass"}]}
        ).encode(),
        "broken.ipynb": b'{"cells": [{"cell_type": "code", "source": ["salvaged = 1"]}, {"cell_',
        "plan.docx": docx(
            paragraph("Before.") + paragraph("Rollout", "Heading1") + paragraph("The zeppelin leaves.")
        ),
        "report.pdf": pdf("A submarine surfaced", "The submarine dived"),
        "locked.pdf": pdf("x", encrypted=True),
    }
    for name, data in files.items():
        (project / name).write_bytes(data)
    repository = find_repository(project)
    build_index(repository, root / "cache")
    return repository, root / "cache"


@pytest.fixture(scope="module")
def index(place: tuple[Repository, Path]) -> Iterator[SearchIndex]:
    with open_index(*place) as opened:
        yield opened


Ask = Callable[..., list[dict[str, Any]]]


@pytest.fixture
def ask(index: SearchIndex) -> Ask:
    def search(query: str = "*", mode: str = "code", **arguments: Any) -> list[dict[str, Any]]:
        wanted = {"query": query, "mode": mode, "top": 50, **arguments}
        payload = index.search(SearchRequest.from_arguments(wanted))
        hits: list[dict[str, Any]] = payload["extractedProse" if mode == "extracted-prose" else mode]
        return hits

    return search


def named(hits: list[dict[str, Any]]) -> set[tuple[str, str]]:
    return {(hit["file"], hit["name"]) for hit in hits if hit["kind"] in ("function", "method", "variable")}


def test_code_is_found_by_its_own_language_wherever_it_stands(ask: Ask) -> None:
    assert named(ask(lang="python")) == {
        ("guide.md", "clean_workspace"), ("study.ipynb", "churn"), ("flat.ipynb", "a"), ("flat.ipynb", "flat"),
        ("broken.ipynb", "salvaged"),
    }  # fmt: skip
    assert named(ask(lang="ts")) == {("guide.md", "loadWorkspace"), ("Card.vue", "refreshCard")}
    assert {hit["language"] for hit in ask(lang="ts")} == {"typescript"}
    assert {(hit["file"], hit["name"]) for hit in ask(lang="css")} == {("Card.vue", ".workspace-card")}


def test_code_is_found_by_the_language_of_its_file_as_well(ask: Ask) -> None:
    assert ("Card.vue", "refreshCard") in named(ask(lang="vue"))
    assert ("study.ipynb", "churn") in named(ask(lang="notebook"))


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        ({"calls": "subprocess.run"}, ("guide.md", "clean_workspace")),
        ({"calls": "axios.get"}, ("Card.vue", "refreshCard")),
        ({"awaits": "client.fetch"}, ("guide.md", "loadWorkspace")),
        ({"riskFlow": "process.env"}, ("guide.md", "clean_workspace")),
        ({"riskSink": "document.write"}, ("page.html", "paint")),
        ({"calls": "os.system"}, ("study.ipynb", "churn")),
        ({"import": "axios", "type": "function"}, ("Card.vue", "refreshCard")),
        ({"query": "/def churn\\(/"}, ("study.ipynb", "churn")),
        ({"query": "toggle"}, ("Panel.svelte", "toggle")),
    ],
)
def test_everything_that_is_known_of_code_is_known_there_too(
    ask: Ask, arguments: dict[str, Any], found: tuple[str, str]
) -> None:
    assert named(ask(**arguments)) == {found}


@pytest.mark.parametrize("name", ["clean_workspace", "loadWorkspace", "refreshCard", "paint", "toggle", "churn"])
def test_lines_are_those_of_the_file(ask: Ask, place: tuple[Repository, Path], name: str) -> None:
    hit = next(hit for hit in ask(name) if hit["name"] == name)
    lines = (place[0].root / hit["file"]).read_text().split("\n")

    for shown in hit["snippet"]["lines"]:
        written = lines[shown["line"] - 1]
        text = json.dumps(shown["text"])[1:-1] if hit["file"].endswith(".ipynb") else shown["text"]
        assert text in written
    assert name in lines[hit["startLine"] - 1]
    assert hit["endLine"] <= len(lines)


def test_a_flow_in_a_fence_names_lines_of_the_file(ask: Ask) -> None:
    [hit] = ask(riskFlow="process.env", output="full")
    lines = GUIDE.split("\n")

    [flow] = hit["risk"]["flows"]
    assert [lines[step["line"] - 1].strip() for step in flow["path"]] == [step["text"] for step in flow["path"]]
    assert [step["line"] for step in flow["path"]] == [11, 12]


def test_a_cell_in_one_line_of_the_file_is_shown_with_its_own_lines(ask: Ask) -> None:
    [hit] = [hit for hit in ask("flat") if hit["name"] == "flat"]

    assert (hit["startLine"], hit["endLine"]) == (1, 1)
    assert [(line["line"], line["text"]) for line in hit["snippet"]["lines"]] == [
        (1, "def flat():"),
        (1, "  pass"),
    ]


def test_prose_keeps_the_fences_and_outputs_are_nowhere(ask: Ask) -> None:
    assert {hit["name"] for hit in ask("subprocess", mode="prose")} == {"Handbook > Cleaning up"}
    assert {hit["name"] for hit in ask("leaves", mode="prose")} == {"Churn study"}
    assert ask("quetzal") + ask("quetzal", mode="prose") + ask("/quetzal/") == []


def test_documents_say_on_which_page_or_under_which_heading(ask: Ask) -> None:
    pages = ask("submarine", mode="extracted-prose")
    [section] = ask("zeppelin", mode="extracted-prose")
    [before] = ask("before", mode="extracted-prose", output="compact")

    assert [(hit["name"], hit["location"]) for hit in pages] == [("page 1", {"page": 1}), ("page 2", {"page": 2})]
    assert (section["name"], section["location"]) == ("Rollout", {"heading": "Rollout"})
    assert before["location"] == {"heading": ""}
    assert [line["text"] for line in section["snippet"]["lines"]] == ["Rollout", "The zeppelin leaves."]
    assert "location" not in ask("churn")[0]


def test_documents_are_searched_by_expressions_and_shown_with_their_context(ask: Ask) -> None:
    [hit] = ask("/submarine dive./", mode="extracted-prose", context=2)

    assert hit["location"] == {"page": 2}
    assert hit["context"]["before"] == ["A submarine surfaced", ""]
    assert [hit["name"] for hit in ask("SUBMARINE", mode="extracted-prose", caseTokens=True)] == []


def test_the_status_says_what_could_not_be_read(index: SearchIndex) -> None:
    status = index.status()

    assert [(one["path"], one["detail"]) for one in status["skippedFiles"]] == [("locked.pdf", "encrypted")]
    assert status["remarks"] == [{"path": "broken.ipynb", "remark": "broken JSON behind line 1"}]
    assert status["languages"]["notebook"] == 3


def test_the_portable_file_knows_the_same_languages(place: tuple[Repository, Path], index: SearchIndex) -> None:
    build_portable(*place, progress=lambda *_: None, stop=lambda: False)
    arguments = {"query": "*", "mode": "code", "lang": "python", "top": 50}

    both = [
        index.search(SearchRequest.from_arguments({**arguments, "backend": backend}))["code"]
        for backend in ("auto", "sqlite-fts")
    ]
    assert both[0] == both[1]
    assert named(both[1]) >= {("guide.md", "clean_workspace"), ("study.ipynb", "churn")}
