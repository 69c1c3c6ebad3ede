"""Code on pages: where it may come from, what it is called, and whether it can be parsed."""

import pytest
from tests.launch.gate_views import INSTALL_MD, artifacts, codes, found, page_text, view_of

from holdfast.launch.code_fences import fences
from holdfast.launch.gates.snippets import GATE, syntax_problem

CODE = 'from tablekit import Table\n\ntable = Table.read("a.csv")\ntable.write("b.csv")'


def fenced(code: str, language: str = "python") -> str:
    return page_text(f"Look:\n\n```{language}\n{code}\n```\n")


@pytest.mark.parametrize(
    ("code", "language"),
    [
        (CODE, "python"),
        (CODE, "py"),
        ('table = Table.read("a.csv")', "python"),
        ("pip install tablekit", "bash"),
        ("$ pip install tablekit", "console"),
        ("# first\npip install tablekit\n\ntablekit --help", "sh"),
        ('pip install "tablekit[excel]"', "bash"),
        ("pip install other", "bash"),  # another gate corrects it
        ("git clone https://code.example/tablekit/tablekit", "bash"),
        ("read(path: str) -> Table", "python"),
        ("def read(path: str) -> Table: ...", "python"),
        ("Table.read(path: str) -> Table", "python"),
        ("tablekit.Table.read(\n    path: str,\n) -> Table", "text"),
        ("class Table(rows: list)", "python"),
        ("from tablekit import Table", "python"),
        ("import tablekit", "python"),
    ],
)
def test_code_of_the_repository_and_of_the_facts_may_be_shown(code: str, language: str) -> None:
    assert codes(GATE, view_of(fenced(code, language))) == []


@pytest.mark.parametrize(
    ("code", "language", "expected", "rule"),
    [
        ("print('made up')", "python", "SNIPPET_UNKNOWN", "drop_snippet"),
        ("pip install other\nrm -rf /", "bash", "SNIPPET_UNKNOWN", "drop_snippet"),
        ("rm -rf /", "bash", "SNIPPET_UNKNOWN", "drop_snippet"),
        ("from tablekit import Nothing", "python", "SNIPPET_UNKNOWN", "drop_snippet"),
        ("import os", "python", "SNIPPET_UNKNOWN", "drop_snippet"),
        ('table = Table.read("a.c', "python", "SNIPPET_UNKNOWN", "drop_snippet"),
        ("", "python", "SNIPPET_EMPTY", "drop_snippet"),
        (CODE, "", "SNIPPET_LANGUAGE_MISSING", "set_fence_language"),
        (CODE, "java", "SNIPPET_LANGUAGE_WRONG", "set_fence_language"),
    ],
)
def test_other_code_is_found_with_a_rule(code: str, language: str, expected: str, rule: str) -> None:
    (finding,) = found(GATE, view_of(fenced(code, language))).findings
    (block,) = fences(fenced(code, language))

    assert (finding.code, finding.fix_rule, finding.line) == (expected, rule, 9)
    assert finding.data["code_sha256"] == block.code_sha256
    assert finding.data.get("language") == ("python" if rule == "set_fence_language" else None)


def test_code_of_the_catalog_that_cannot_be_parsed_is_dropped() -> None:
    catalog = artifacts()["snippet_catalog"]
    catalog["snippets"][0]["code"] = "def broken(:"

    assert codes(GATE, view_of(fenced("def broken(:"), snippet_catalog=catalog)) == ["SNIPPET_SYNTAX"]


def test_code_that_was_there_before_is_not_judged() -> None:
    old = fenced("print('old')")

    assert codes(GATE, view_of(old + "\nNew.\n", before={INSTALL_MD: old})) == []


@pytest.mark.parametrize(
    ("code", "language", "ok"),
    [
        ("x = 1", "python", True), ("x = (", "python", False), (">>> 1 + 1\n2", "python", True),
        ("'\\d'", "python", True), ("x = " + "(" * 500, "python", False), ("\0", "python", False),
        ('{"a": 1}', "json", True), ("{a: 1}", "json", False), ("a = 1", "toml", True), ("a =", "toml", False),
        ("a: [1]", "yaml", True), ("a: [1", "yaml", False), ("echo 'a'", "bash", True), ("echo 'a", "bash", False),
        ("cat <<EOF\nit's\nEOF", "bash", True), ("anything (", "cobol", True),
    ],
)  # fmt: skip
def test_syntax_is_checked_where_the_language_is_known(code: str, language: str, ok: bool) -> None:
    assert (syntax_problem(code, language) == "") is ok


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("```py\na\n```", [(1, 3, "py", "a")]),
        ("~~~\na\n```\n~~~", [(1, 4, "", "a\n```")]),
        ("- x\n\n  ```sh\n  a\n    b\n  ```", [(3, 6, "sh", "a\n  b")]),
        ("> ```\n> a\n> ```", [(1, 3, "", "a")]),
        ("````\n```\n````\n```x\nb", [(1, 3, "", "```"), (4, 5, "x", "b")]),
        ("`` ``` `` is text", []),
        ("```a```", []),
        ("", []),
        ("```python {linenos=true}\r\na\r\n```\r\n", [(1, 3, "python", "a")]),
    ],
)
def test_fences_are_found_as_a_reader_sees_them(text: str, expected: list[tuple[int, int, str, str]]) -> None:
    assert [(block.line, block.end_line, block.language, block.code) for block in fences(text)] == expected
