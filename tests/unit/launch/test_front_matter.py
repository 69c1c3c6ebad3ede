"""Front matter in three formats: what is written is read back, and what is broken is told with its line."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.launch.front_matter import FrontMatter, FrontMatterError, render, split, type_of

TEXT = st.text(st.characters(codec="utf-8"), max_size=30)
SCALARS = TEXT | st.booleans() | st.integers(-(2**62), 2**62) | st.floats(allow_nan=False, allow_infinity=False)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3), max_leaves=8
)
PAGES = st.dictionaries(TEXT, VALUES, max_size=5)


@given(PAGES, TEXT, st.sampled_from(["yaml", "toml", "json"]))
def test_what_is_rendered_is_split_into_the_same_values(data: dict[str, Any], body: str, form: str) -> None:
    page = split(render(data, body, form))

    assert page.data == data
    assert list(page.data) == list(data)
    assert (page.format, page.body) == (form, body)


@given(st.dictionaries(TEXT, st.none() | SCALARS, max_size=5))
def test_yaml_that_is_written_is_the_same_for_readers_of_old_yaml(data: dict[str, Any]) -> None:
    import yaml

    resolvers = {
        first: [pair for pair in pairs if not pair[0].endswith("timestamp")]
        for first, pairs in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }
    loader = type("NoDates", (yaml.SafeLoader,), {"yaml_implicit_resolvers": resolvers})
    text = render(data, "").removeprefix("---\n").removesuffix("---\n")
    read = yaml.load(text, Loader=loader) or {}

    # The old form wants a dot in a number with an exponent; it is text there, and a number for Hugo.
    assert {key: float(value) if isinstance(data[key], float) else value for key, value in read.items()} == data


@given(st.text(max_size=200) | st.text('-+{}[]"a:=\n ', max_size=60))
def test_any_text_is_split_or_refused_with_a_line(text: str) -> None:
    page, line = FrontMatter("none", {}, "", text.count("\n") + 1), 1
    try:
        page = split(text)
    except FrontMatterError as error:
        line = error.line

    assert 1 <= line <= text.count("\n") + 2
    assert text.endswith(page.body)
    assert page.body_line == text[: len(text) - len(page.body)].count("\n") + 1


def test_the_body_keeps_its_lines_and_knows_where_it_begins() -> None:
    assert split("---\ntitle: A\n---\n\nHello\n") == FrontMatter("yaml", {"title": "A"}, "\nHello\n", 4)
    assert split("+++\ntitle = 'A'\n+++\nx") == FrontMatter("toml", {"title": "A"}, "x", 4)
    assert split('{\n "title": "A"\n}\nx') == FrontMatter("json", {"title": "A"}, "x", 4)
    assert split("plain\n") == FrontMatter("none", {}, "plain\n", 1)
    assert split("---\n---\n") == FrontMatter("yaml", {}, "", 3)


@pytest.mark.parametrize("text", ["\ufeff---\r\ntitle: A\r\n---\r\nx\r\n", "\n \n---\ntitle: A\n--- \t\nx\r\n"])
def test_marks_of_other_editors_are_no_hindrance(text: str) -> None:
    page = split(text)

    assert page.data == {"title": "A"}
    assert page.body == "x\r\n"


@pytest.mark.parametrize(
    "text", ["", "- item\n", "----\n", "{{< hello >}}\n", "--- a\n", "text\n---\nmore\n---\n"]
)
def test_a_page_without_front_matter_is_all_body(text: str) -> None:
    assert split(text) == FrontMatter("none", {}, text, 1)


def test_dates_are_text_and_are_written_without_quotes() -> None:
    page = split("---\ndate: 2024-05-01\nat: 2024-05-01T10:00:00Z\n---\n")
    toml = split("+++\ndate = 2024-05-01\nat = 2024-05-01T10:00:00Z\n+++\n")

    assert page.data == toml.data == {"date": "2024-05-01", "at": "2024-05-01T10:00:00Z"}
    assert render(page.data, "") == "---\ndate: 2024-05-01\nat: 2024-05-01T10:00:00Z\n---\n"
    assert render(page.data, "", "toml") == "+++\ndate = 2024-05-01\nat = 2024-05-01T10:00:00Z\n+++\n"


def test_values_are_those_of_hugo() -> None:
    page = split("---\na: yes\nb: true\nc: 0x1f\nd: ~\ne: 1.5\nf: 1:30\ng: .inf\nh: '1'\n1: k\n---\n")

    expected = {"a": "yes", "b": True, "c": 31, "d": None, "e": 1.5, "f": "1:30", "g": ".inf", "h": "1", "1": "k"}
    assert page.data == expected


def test_lists_and_objects_are_written_one_line_each() -> None:
    data = {"tags": ["a", "no"], "menu": {"main": {"weight": 1}}, "all": [{"x": 1, "y": []}, [2], {}]}

    assert render(data, "Body\n") == (
        '---\ntags:\n  - a\n  - "no"\nmenu:\n  main:\n    weight: 1\nall:\n  - x: 1\n    "y": []\n'
        "  -\n    - 2\n  - {}\n---\nBody\n"
    )


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("---\ntitle: A\n", 1),
        ("\n\n---\ntitle: [\n---\n", 5),
        ("---\na: 1\nb: 2\na: 3\n---\n", 4),
        ("---\n- a\n---\n", 1),
        ("---\na: *nothing\n---\n", 2),
        ("---\na: &x [*x]\n---\n", 2),
        ("---\na: !!python/object:os.system x\n---\n", 2),
        ("---\n? [a]\n: 1\n---\n", 2),
        ("---\na: \x00\n---\n", 1),
        ("---\na: 1\n...\nb: 2\n---\n", 4),
        ("+++\na = \n+++\n", 2),
        ("+++\na = nan\n+++\n", 2),
        ('{"a": }', 1),
        ('{\n"a": NaN}', 1),
        ("{}trailing", 1),
    ],
)
def test_broken_front_matter_is_refused_with_its_line(text: str, line: int) -> None:
    with pytest.raises(FrontMatterError) as caught:
        split(text)

    assert abs(caught.value.line - line) <= 1


def test_a_bomb_of_aliases_is_refused_before_it_goes_off() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 12)]

    with pytest.raises(FrontMatterError, match="stands for more than"):
        split("---\n" + "\n".join(lines) + "\n---\n")


@pytest.mark.parametrize(
    "inside",
    ["a: " + "[" * 100_000, "- " * 100_000, '{"a":' * 100_000, "x" * 2_000_000],
    ids=["brackets", "dashes", "objects", "long"],
)
@pytest.mark.parametrize(
    "fences", [("---\n", "\n---\n"), ("+++\na = ", "\n+++\n"), ('{"a": ', "}")], ids=["yaml", "toml", "json"]
)
def test_depth_and_size_have_limits(inside: str, fences: tuple[str, str]) -> None:
    with pytest.raises(FrontMatterError):
        split(fences[0] + inside + fences[1])


def test_merged_objects_are_merged() -> None:
    page = split("---\nbase: &b {x: 1, y: 2}\nmine:\n  <<: *b\n  y: 3\n---\n")

    assert page.data["mine"] == {"x": 1, "y": 3}


@pytest.mark.parametrize("value", [float("nan"), float("inf"), object(), "\ud800", {1: 2}, b"x"])
@pytest.mark.parametrize("form", ["yaml", "toml", "json"])
def test_what_cannot_be_written_is_refused(value: Any, form: str) -> None:
    if isinstance(value, dict) and form == "json":
        return  # keys of JSON are made text

    with pytest.raises(FrontMatterError):
        render({"a": value}, "", form)


def test_kinds_of_values_have_the_words_of_the_contract() -> None:
    values = ["a", "2024-05-01", True, 1, 1.5, [], {}, None]

    words = ["string", "date", "boolean", "integer", "number", "array", "object", "null"]
    assert [type_of(value) for value in values] == words
