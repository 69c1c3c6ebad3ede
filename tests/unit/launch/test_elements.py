"""Elements between an opening and its closing are those that an expression finds, and in linear time."""

import itertools
import re

import pytest

from holdfast.launch.elements import sub_elements

_CASES = (
    (
        re.compile(r"<(?P<name>table|dl)\b"),
        re.compile(r"</(?P<name>table|dl)\s*>"),
        re.compile(r"<(table|dl)\b.*?</\1\s*>", re.DOTALL),
        ("<table>", "</table >", "<dl>", "</dl>", "a"),
    ),
    (
        re.compile(r"/\*|(?P<empty>//[^\n]*)"),
        re.compile(r"\*/"),
        re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL),
        ("/*", "*/", "//", "\n", "a"),
    ),
)


@pytest.mark.parametrize("case", _CASES, ids=["names", "comments"])
def test_the_same_is_left_out_as_by_an_expression(
    case: tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str], tuple[str, ...]],
) -> None:
    opening, closing, expression, parts = case

    for pieces in itertools.product(parts, repeat=5):
        text = "".join(pieces)
        assert sub_elements(text, opening, closing) == expression.sub("", text), text


def test_openings_without_a_closing_are_kept_and_read_once() -> None:
    text = "<!--</b>" * 200_000  # the square of it would take longer than the time limit of a test

    assert sub_elements(text, re.compile("<!--"), re.compile("-->")) == text
    assert sub_elements(text, re.compile(r"<!--|<(?P<name>b)"), re.compile(r"</(?P<name>b)>")) == text
