"""The catalog of snippets: where code comes from, how it is cleaned and checked, and what it belongs to."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.launch.facts_place import PYPROJECT, built, place_of

from holdfast.launch.facts.code_texts import checked, imports_of, language_named, uses_of, without_prompts

README = b"""# tablekit

## Usage

`read` loads a table from a file.

```python
from tablekit import read
import pandas

read("a.csv")
```

```console
$ tablekit a.csv
3 rows
```

```python
read("a.csv"
```

## Contributing

```bash
pip install -e .
```
"""
SOURCE = b'''def read(path):
    """Read a table.

    >>> read("a.csv")
    3
    """
'''
FILES = {
    "pyproject.toml": PYPROJECT,
    "README.md": README,
    "tablekit/__init__.py": SOURCE,
    "examples/join_tables.py": b'"""Join two tables by a key."""\n\nimport tablekit\n\ntablekit.read("b.csv")\n',
    "docs/guide.rst": b"Guide\n=====\n\nLong::\n\n" + b"    x = 1\n" * 80 + b"\nShort::\n\n    y = 2\n",
}


@pytest.fixture(scope="module")
def snippets(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    _, _, catalog = built(place_of(tmp_path_factory.mktemp("snippets") / "place", FILES))
    found: list[dict[str, Any]] = catalog["snippets"]
    return found


def test_the_best_places_come_first_and_contributors_code_never(snippets: list[dict[str, Any]]) -> None:
    origins = [snippet["source"]["origin"] for snippet in snippets]
    assert origins == ["example", "readme", "readme", "readme", "docs", "docstring"]
    assert not any("pip install -e" in snippet["code"] for snippet in snippets)


def test_an_example_is_shown_without_its_docstring_which_introduces_it(snippets: list[dict[str, Any]]) -> None:
    example = snippets[0]
    assert example["code"] == 'import tablekit\n\ntablekit.read("b.csv")'
    assert (example["title"], example["introduction"]) == ("Join two tables by a key", "Join two tables by a key.")
    assert (example["source"]["start_line"], example["source"]["end_line"], example["introduction_line"]) == (
        3,
        5,
        1,
    )
    assert "join-two-tables-by-a-key" in example["tags"]


def test_a_snippet_knows_its_heading_its_introduction_and_what_it_uses(snippets: list[dict[str, Any]]) -> None:
    usage = snippets[1]
    assert (usage["title"], usage["introduction"]) == ("Usage", "`read` loads a table from a file.")
    assert usage["introduction_claim_id"].startswith("clm_")
    assert {"usage", "readme", "api:tablekit.read"} <= set(usage["tags"])
    assert usage["requirements"]["dependencies"] == ["pandas"]
    assert (usage["source"]["start_line"], usage["source"]["end_line"]) == (8, 11)


def test_prompts_are_taken_off_and_results_become_comments(snippets: list[dict[str, Any]]) -> None:
    assert snippets[2]["code"] == "tablekit a.csv\n# 3 rows"
    assert snippets[2]["language"] == "bash"
    assert snippets[5]["code"] == 'read("a.csv")\n# 3'
    assert "api:tablekit.read" in snippets[5]["tags"]


def test_broken_code_is_kept_and_said_to_be_broken(snippets: list[dict[str, Any]]) -> None:
    assert [snippet["validation"]["syntax_ok"] for snippet in snippets] == [True, True, True, False, True, True]
    assert snippets[3]["validation"]["message"].startswith("SyntaxError")


def test_a_snippet_of_many_lines_is_left_out_unless_it_is_an_example(snippets: list[dict[str, Any]]) -> None:
    assert [snippet["code"] for snippet in snippets if snippet["source"]["origin"] == "docs"] == ["y = 2"]


def test_tests_are_shown_only_where_there_is_little_else(tmp_path: Path) -> None:
    head = b"import os\nfrom tablekit import read\n\n"
    test = head + b"def test_reads_a_file():\n    assert read('a') == 3\n\ndef test_b(x):\n    pass\n"
    files = {"pyproject.toml": PYPROJECT, "tablekit/__init__.py": SOURCE, "tests/test_read.py": test}
    _, _, catalog = built(place_of(tmp_path, files))
    (shown, _) = catalog["snippets"]
    assert (shown["source"]["origin"], shown["title"]) == ("test", "Reads a file")
    assert shown["code"] == "from tablekit import read\n\nassert read('a') == 3"


@pytest.mark.parametrize(
    ("language", "good", "bad"),
    [
        ("python", "await f(x)", "def f(:"),
        ("json", '{"a": 1}', "{a: 1}"),
        ("toml", "a = 1", "a = "),
        ("yaml", "a: [1, 2]", "a: [1, 2"),
        ("ini", "[a]\nb = 1", "b = 1"),
        ("bash", "echo 'a b'", "echo 'a b"),
    ],
)
def test_what_can_be_parsed_is_checked(language: str, good: str, bad: str) -> None:
    assert checked(language, good) == (True, "")
    assert not checked(language, bad).ok
    assert checked("haskell", bad).message.startswith("not checked")


@pytest.mark.parametrize(
    "code",
    ["(" * 100_000, "x\0y", "-" * 5000 + "1", "[" * 1000, "x = " + "1+" * 20_000 + "1"],
    ids=["open", "null", "minus", "lists", "sum"],
)
def test_hostile_code_is_only_broken(code: str) -> None:
    for language in ("python", "json", "toml", "yaml", "ini", "bash"):
        checked(language, code)
    imports_of(code, ())
    assert uses_of(code, {"a.b"}, {"a"}) == []


@pytest.mark.parametrize(
    ("info", "code", "language"),
    [
        ("py", "x", "python"),
        ("", ">>> x\n1", "python"),
        ("", "$ ls", "bash"),
        ("", "pip install x", "bash"),
        ("", "import x\nx.y()", "python"),
        ("", '{"a": 1}', "json"),
        ("", "just words here", "text"),
        ("C++", "x", "c++"),
    ],
)
def test_a_language_is_known_by_its_label_or_its_looks(info: str, code: str, language: str) -> None:
    assert language_named(info, code) == language


def test_names_are_followed_through_imports() -> None:
    code = "import kit as k\nfrom kit.io import read as r\nk.Table.new()\nr()\nother.Table()"
    assert uses_of(code, {"kit.Table", "kit.io.read", "kit.Other"}, {"kit"}) == ["kit.Table", "kit.io.read"]


def test_a_session_over_several_lines_keeps_its_shape() -> None:
    session = ">>> for x in y:\n...     f(x)\n...\n<BLANKLINE>\n1\n2"
    assert without_prompts("python", session) == "for x in y:\n    f(x)\n\n\n# 1\n# 2".replace("\n\n\n", "\n\n")
    assert without_prompts("bash", "$ a \\\n  b\nout") == "a \\\n  b\n# out"


@given(st.sampled_from(["python", "bash"]), st.text(alphabet="$>. a\\\n'\"", max_size=60))
def test_any_session_can_be_cleaned(language: str, code: str) -> None:
    without_prompts(language, code)
