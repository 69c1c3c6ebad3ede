"""Fenced code in Markdown: which lines are code, and of which language."""

from hypothesis import given
from hypothesis import strategies as st
from tests.rows import each_row

from holdfast.search.embedded.markdown import fenced_code, language_of_fence


def found(text: str) -> list[tuple[str, str]]:
    """Language and text of each piece of code."""
    source = text.encode()
    segments = fenced_code(source)
    assert all(len(source[one.start : one.end]) == len(one.text) for one in segments)
    return [(one.language, one.text.decode()) for one in segments]


@each_row(
    ("info", "language"),
    [
        ("py", "python"), ("Python", "python"), (" ts title=a.ts", "typescript"), ("tsx", "tsx"), ("c++", "cpp"),
        ("rust,ignore", "rust"), ("js{1,3}", "javascript"), ("{python}", "python"), ("{.python .lines}", "python"),
        ("{code-block} go", "go"), ("{code-cell} ipython3", "python"), ("json", "json"), ("C#", "csharp"),
        ("bash", "shell"), ("", ""), ("nope", ""), ("text", ""), ("markdown", ""), ("{note}", ""), ("=", ""),
        ("{code-block}", ""), ("../../etc/passwd", ""), ("log", ""), ("pdf", ""),
    ],
)  # fmt: skip
def test_the_words_behind_a_fence_name_a_language_with_code_or_none(info: str, language: str) -> None:
    assert language_of_fence(info) == language


@each_row(
    ("text", "code"),
    [
        ("```py\na = 1\n```\n", [("python", "a = 1\n")]),
        ("~~~py\na = 1\n```\n~~~\nb\n", [("python", "a = 1\n```\n")]),
        ("````py\n```\n````\n", [("python", "```\n")]),
        ("```py\r\na = 1\r\n```\r\n", [("python", "a = 1\r\n")]),
        ("- x\n\n  ```py\n  a = 1\n  ```\n", [("python", "  a = 1\n")]),
        ("- ```py\n  a = 1\n  ```\n", [("python", "  a = 1\n")]),
        ("1. x\n\n    ```py\n    a = 1\n    ```\n", [("python", "    a = 1\n")]),
        ("> ```py\n> a = 1\n>\n> b = 2\n> ```\n> x\n", [("python", "  a = 1\n \n  b = 2\n")]),
        ("```py\na = 1", [("python", "a = 1")]),
        ("```py\n```\n```py\nb\n```", [("python", "b\n")]),
        ("```py", []),
        ("a ```py b\n", []),
        ("``` py ``` and\n```js\nb\n```\n", [("javascript", "b\n")]),
        ("```nope\n```py\n```\na\n", []),
    ],
)
def test_a_fence_reaches_to_its_closing_line(text: str, code: list[tuple[str, str]]) -> None:
    assert found(text) == code


def test_a_fence_in_a_list_or_quotation_that_is_never_closed_ends_with_it() -> None:
    deep = "1. x\n\n     ```py\n     a = 1\n\nText.\n\n```js\nb()\n```\n"
    quoted = "> ```py\n> a = 1\nText.\n\n```js\nb()\n```\n"

    assert found(deep) == [("python", "     a = 1\n\n"), ("javascript", "b()\n")]
    assert found(quoted) == [("python", "  a = 1\n"), ("javascript", "b()\n")]


_LINES = st.sampled_from(
    ["```", "```py", "~~~", "~~~~js", "````ts", "> ```py", "> a", "    ```sh", "- ```go", "x = 1", "", "é漢\r"]
)


@given(st.lists(_LINES, max_size=30))
def test_pieces_of_code_stand_in_order_and_never_overlap(lines: list[str]) -> None:
    source = "\n".join(lines).encode()

    at = 0
    for segment in fenced_code(source):
        assert at <= segment.start <= segment.end <= len(source)
        assert segment.text.count(b"\n") == source.count(b"\n", segment.start, segment.end)
        at = segment.end
