"""Files with code inside: chunks of both, where they stand, and what one bad piece costs."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.rows import each_row

from holdfast.search.embedded import segments
from holdfast.search.embedded.hosts import extract_host
from holdfast.search.embedded.segments import Segment, extract_segments
from holdfast.search.model import Chunk, Extraction
from holdfast.search.prepare import FileToPrepare, prepare
from holdfast.search.prepared import PreparedFile

GUIDE = """# Guide

Words.

## Running

```python
import os

def run(name):
    # look out here
    os.system(name)
```

1. Then:

   ```ts
   class Loader { load(id: number) { return get(id); } }
   ```

```yaml
key: value
```

```nope
not = code
```
"""


def unjudged(language: str, text: bytes, chunks: list[Chunk]) -> None:
    """No risk rules."""


def extracted(language: str, path: str, text: str) -> Extraction:
    return extract_host(language, path, text.encode(), unjudged)[1]


def rows(found: Extraction, mode: str = "code") -> list[tuple[str, str, str, int, int]]:
    return [
        (chunk.language, chunk.kind, chunk.name, chunk.start_line, chunk.end_line)
        for chunk in found.chunks
        if chunk.mode == mode
    ]


def test_code_in_markdown_has_the_chunks_of_its_language_in_the_lines_of_the_file() -> None:
    found = extracted("markdown", "docs/guide.md", GUIDE)

    assert rows(found) == [
        ("python", "module", "", 8, 8),
        ("python", "function", "run", 10, 12),
        ("typescript", "class", "Loader", 18, 18),
        ("typescript", "method", "Loader.load", 18, 18),
        ("yaml", "block", "key", 22, 22),
    ]
    assert rows(found, "extracted-prose") == [("python", "comment", "run", 11, 11)]
    assert found.chunks[1].mode == "prose"
    run = next(chunk for chunk in found.chunks if chunk.name == "run")
    assert GUIDE.encode()[run.start : run.end].startswith(b"def run(name):")
    assert run.facts["calls"] == ["os.system"]
    assert (found.imports, found.exports, found.remarks) == (["os"], [], [])


def test_sections_keep_their_fences_and_introduce_code_without_a_name() -> None:
    found = extracted("markdown", "docs/guide.md", GUIDE)

    assert rows(found, "prose") == [("", "section", "Guide", 1, 3), ("", "section", "Guide > Running", 5, 27)]
    assert all(chunk.text is None for chunk in found.chunks if chunk.mode == "prose")
    assert [chunk.doc for chunk in found.chunks if chunk.kind in ("module", "block")] == ["Guide > Running"] * 2


def test_the_text_around_scripts_is_searched_without_them() -> None:
    script, style = "<script>\nfunction f() { g(); }\n</script>", "<style>\n.a { b: c }\n</style>"
    text = f"<h1>Big words</h1>\n{script}\n<p>more</p>\n{style}\n"
    found = extracted("html", "a.html", text)

    assert rows(found) == [
        ("", "block", "Big words", 1, 8),
        ("javascript", "function", "f", 3, 3),
        ("css", "block", ".a", 7, 7),
    ]
    around = found.chunks[0].text or ""
    assert "more" in around
    assert "function" not in around
    assert len(around) == found.chunks[0].end - found.chunks[0].start


def test_a_component_imports_and_exports_what_its_scripts_do() -> None:
    broken = '<script>\nimport a from "b"\nexport let name = 1\nlet = =\n</script>'
    text = f'{broken}\n<script context="module">\nimport c from "d"\n</script>'
    found = extracted("svelte", "a.svelte", text)

    assert (found.imports, found.exports) == (["b", "d"], ["name"])
    assert [remark for remark in found.remarks if remark.startswith("line 1, javascript: ")] == found.remarks
    assert found.remarks


def test_cells_of_a_notebook_are_code_and_prose_in_the_lines_of_the_file() -> None:
    cells = [
        {"cell_type": "markdown", "source": ["# Study\n", "Why.\n", "```js\n", "go()\n", "```"]},
        {"cell_type": "code", "outputs": ["zebra"], "source": ["%time\n", "def f(x):\n", "  return g(x)"]},
        {"cell_type": "markdown", "source": ["## Part"]},
        {"cell_type": "code", "source": ["f(1)"]},
    ]
    source = json.dumps({"cells": cells}, indent=1)
    text, found = extract_host("notebook", "a.ipynb", source.encode(), unjudged)

    lines = source.split("\n")
    assert [(row[0], row[2], lines[row[3] - 1].strip()) for row in rows(found)] == [
        ("javascript", "", '"go()\\n",'),
        ("python", "f", '"def f(x):\\n",'),
        ("python", "", '"f(1)"'),
    ]
    assert [row[:3] for row in rows(found, "prose")] == [
        ("markdown", "section", "Study"),
        ("markdown", "section", "Study > Part"),
    ]
    assert b"zebra" not in text


def test_a_notebook_without_a_cell_is_read_as_json() -> None:
    text, found = extract_host("notebook", "a.ipynb", b'{\n "broken": [\n', unjudged)

    assert text == b'{\n "broken": [\n'
    assert [chunk.name for chunk in found.chunks] == ["broken"]


@each_row("language", ["markdown", "html", "vue", "svelte", "astro", "notebook"])
def test_an_empty_file_has_no_chunks(language: str) -> None:
    assert extracted(language, "a", "").chunks == []


def test_a_piece_that_cannot_be_read_is_plain_text() -> None:
    pieces = [Segment("python", 1, b"a()"), Segment("python", 5, b"b()")]

    def judge(language: str, text: bytes, chunks: list[Chunk]) -> None:
        assert text != b"a()"

    found = extract_segments("a.md", b"\na()\nb()", pieces, judge)

    assert [(chunk.start, chunk.start_line) for chunk in found.chunks] == [(1, 2), (5, 3)]
    assert found.chunks[0].kind == "block"
    assert found.remarks == ["line 2: python is plain text (AssertionError)"]


def test_only_so_many_pieces_of_a_file_are_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(segments, "_MOST_SEGMENTS", 2)
    found = extracted("markdown", "a.md", "```python\ndef a(): pass\n```\n" * 3)

    assert [row[1] for row in rows(found)] == ["function", "function", "block"]
    assert found.remarks == ["after the first 2, pieces of code in it are plain text"]


_PIECES = st.sampled_from(
    ["```py\n", "```\n", "def f(:\n  x(1)\n", "# T\n", "<script>", "</script>\n", "class A { b() { c() } }\n",
     "---\n", "é漢\r\n", "\n", "> ", "<style>", "</style>", "\ufeff", "// a comment here\n", "    "]
)  # fmt: skip


@settings(max_examples=60)
@given(st.sampled_from(["markdown", "html", "vue", "astro"]), st.lists(_PIECES, max_size=25))
def test_every_chunk_stands_in_the_line_where_it_begins(language: str, pieces: list[str]) -> None:
    source = "".join(pieces).encode()
    text, found = extract_host(language, "a", source, unjudged)

    assert text == source
    for chunk in found.chunks:
        assert 0 <= chunk.start <= chunk.end <= len(source)
        assert chunk.start_line == source.count(b"\n", 0, chunk.start) + 1
        assert chunk.end_line == source.count(b"\n", 0, max(chunk.start, chunk.end - 1)) + 1


def test_a_file_whose_grammars_are_not_asked_keeps_its_text_and_says_so(tmp_path: Path) -> None:
    (tmp_path / "guide.md").write_text(GUIDE)
    task = FileToPrepare(str(tmp_path), "guide.md", "prose", "markdown")

    whole, plain = prepare(task), prepare(task._replace(plain="parser-timeout, no result"))

    assert isinstance(whole, PreparedFile)
    assert isinstance(plain, PreparedFile)
    assert [chunk.mode for chunk in plain.chunks] == ["prose", "prose"]
    assert len(whole.chunks) == 8
    assert plain.remarks == ["indexed as plain text: parser-timeout, no result"]
