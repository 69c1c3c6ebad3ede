"""The file `holdfast-risk.toml` at the root of a repository: what it says is what a search finds."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.search.library import SearchIndex, build_index, open_index
from holdfast.search.repository import find_repository
from holdfast.search.request import SearchRequest

RULES = """
[[sink]]
name = "legacy-shell"
patterns = ["legacy.shell"]
category = "command-injection"
severity = "high"

[[sink]]
name = "os.system"
languages = ["python"]
patterns = ["our.system"]
category = "command-injection"
severity = "high"

[[sink]]
name = "eval"
enabled = false
"""
SOURCE = """
def added(line):
    legacy.shell(line)

def of_the_replaced_rule(line):
    os.system(line)

def of_the_rule_in_its_place(line):
    our.system(line)

def switched_off(line):
    eval(line)

def left_in_place(line):
    pickle.loads(line)
"""


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SearchIndex]:
    place = tmp_path_factory.mktemp("risk")
    root = place / "repo"
    root.mkdir()
    Path(root, "holdfast-risk.toml").write_text(RULES)
    Path(root, "app.py").write_text(SOURCE)
    build_index(find_repository(root), place / "cache")
    with open_index(find_repository(root), place / "cache") as opened:
        yield opened


@pytest.mark.parametrize(
    ("sink", "functions"),
    [
        ("legacy-shell", ["added"]),
        ("os.system", ["of_the_rule_in_its_place"]),
        ("eval", []),
        ("deserialize", ["left_in_place"]),
    ],
)
def test_a_rule_is_added_replaced_by_name_or_switched_off(
    index: SearchIndex, sink: str, functions: list[str]
) -> None:
    found = index.search(SearchRequest.from_arguments({"query": "*", "riskSink": sink, "mode": "code"}))

    assert [hit["name"] for hit in found["code"]] == functions
