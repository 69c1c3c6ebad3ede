"""Notebooks: cells where they stand in the file, kernels and magics, and files that are no whole notebook."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.rows import each_row

from holdfast.search.embedded.notebook import Notebook, read_notebook


def code(*lines: str, **more: Any) -> dict[str, Any]:
    return {"cell_type": "code", "metadata": {}, "outputs": [], "source": list(lines), **more}


def notebook(*cells: object, metadata: object = None, indent: int | None = 1) -> bytes:
    whole = {"cells": list(cells), "metadata": {} if metadata is None else metadata, "nbformat": 4}
    return json.dumps(whole, indent=indent, ensure_ascii=False).encode()


def read(source: bytes) -> Notebook:
    found = read_notebook(source)
    assert found is not None
    return found


def languages(source: bytes) -> list[tuple[str, bytes]]:
    return [(one.language, one.text) for one in read(source).code]


def test_every_line_of_a_cell_stands_in_its_line_of_the_file() -> None:
    outputs = [{"data": {"image/png": "A" * 9999}, "text": ["never\n", "shown"]}]
    source = notebook(code('say("hä")\n', "\\d\n", "end", outputs=outputs), code("last"))
    found = read(source)

    rows, text = source.decode().split("\n"), found.text.decode().split("\n")
    assert len(rows) == len(text)
    assert found.lines == list(range(1, len(rows) + 1))
    for line in ('say("hä")', "\\d", "end", "last"):
        assert json.dumps(line, ensure_ascii=False)[1:-1] in rows[text.index(line)]
    assert "never" not in found.text.decode()


def test_a_cell_that_is_one_line_of_the_file_keeps_its_lines_and_tells_the_one_of_the_file() -> None:
    found = read(notebook(code(source="a = 1\nb = 2\n"), code(source="c = 3"), indent=None))

    assert found.text == b"a = 1\nb = 2\nc = 3"
    assert found.lines == [1, 1, 1]
    assert [one.start for one in found.code] == [0, 12]


@each_row(
    ("metadata", "language"),
    [
        ({"kernelspec": {"language": "julia"}}, "julia"),
        ({"language_info": {"name": "R"}}, "r"),
        ({"kernelspec": {"language": "nope"}, "language_info": {"name": "typescript"}}, "typescript"),
        ({}, "python"),
        ([], "python"),
        ({"kernelspec": ["python"], "language_info": {"name": {}}}, "python"),
    ],
)
def test_the_kernel_says_the_language(metadata: object, language: str) -> None:
    assert languages(notebook(code("x = 1"), metadata=metadata)) == [(language, b"x = 1")]


@each_row(
    ("cell", "language", "text"),
    [
        ("%matplotlib inline\nx = 1", "python", "\nx = 1"),
        ("!pip install x\nf()", "python", "\nf()"),
        ("  %time f()\ng()", "python", "\ng()"),
        ("y = !ls\ng()", "python", "\ng()"),
        ("a, b = %magic x\ng()", "python", "\ng()"),
        ("?f\nf?\nf.g??\ng()", "python", "\n\n\ng()"),
        ("%%time\nf()", "python", "\nf()"),
        ("%%bash\necho %x", "shell", "\necho %x"),
        ("%%javascript\n!x", "javascript", "\n!x"),
        ("x = a % b\ny = (c\n  % d)\nz = e \\\n  != f", "python", "x = a % b\ny = (c\n  % d)\nz = e \\\n  != f"),
    ],
)
def test_magics_are_blank_and_name_the_language_of_their_cell(cell: str, language: str, text: str) -> None:
    [(found, bytes_)] = languages(notebook(code(source=cell)))

    assert found == language
    assert [line.strip() for line in bytes_.decode().split("\n")] == [line.strip() for line in text.split("\n")]
    assert len(bytes_) == len(cell)


def test_text_and_unknown_cells_are_no_code() -> None:
    cells = ({"cell_type": "markdown", "source": "# T"}, {"source": "?"}, {"cell_type": 3, "source": ["x"]})
    found = read(notebook(*cells, code("%%latex\n", "x"), 7, None, [], {"cell_type": "code", "source": 5}))

    assert found.code == []
    assert b"# T" in found.text


def test_what_stands_before_a_break_is_kept() -> None:
    whole = notebook(code("first = 1"), code("second = 2"))
    found = read(whole[: whole.index(b"second")])

    assert [one.text for one in found.code] == [b"first = 1"]
    assert found.remarks == [f"broken JSON behind line {whole[: whole.index(b'second')].count(10) + 1}"]


@pytest.mark.parametrize(
    "source",
    [
        b"", b"{", b"[]", b"null", b'"cells"', b'{"cells": 5}', b'{"cells": {}}', b'{"cells": []}', b"\xff\xfe",
        b'{"cells": ' + b"[" * 200_000, b'{"cells": [{"outputs": ' + b"[" * 200_000, b'{"worksheets": [{}]}',
        b'{"cells": [{"cell_type": "code", "source": []}]}', b"{1: 2}",
    ],
    ids=range(14),
)  # fmt: skip
def test_a_file_without_a_cell_is_no_notebook(source: bytes) -> None:
    assert read_notebook(source) is None


def test_numbers_without_end_and_half_characters_do_no_harm() -> None:
    cell = b'{"cell_type": "code", "source": ["a = \'\\ud800\'"]}'
    source = b'{"nbformat": ' + b"9" * 10_000 + b', "cells": [' + cell + b"]}"

    assert languages(source) == [("python", b"a = '?'")]
    assert languages(b"\xef\xbb\xbf" + source) == [("python", b"a = '?'")]


_TEXTS = st.text(alphabet='ab \n\r"\\é漢\x0b', max_size=8)


@given(st.lists(st.lists(_TEXTS, max_size=4), max_size=6), st.booleans())
def test_any_text_of_cells_comes_out_as_it_went_in(cells: list[list[str]], spread: bool) -> None:
    source = notebook(*(code(*lines) for lines in cells), indent=1 if spread else None)
    found = read_notebook(source)

    wanted = ["".join(lines).encode() for lines in cells if lines]
    assert (found.text.split() if found else []) == b"\n".join(wanted).split()
    if found is not None:
        assert len(found.code) == len(wanted)
        assert len(found.lines) == found.text.count(b"\n") + 1
        assert found.lines == sorted(found.lines)
