"""Which lines of a chunk are shown, what is marked in them, and that they are safe to print."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.search.work import grows_evenly

from holdfast.search.snippet import Snippet, snippet


def marked(found: Snippet) -> list[str]:
    return [
        text[start:end]
        for (_, text), ranges in zip(found.lines, found.highlights, strict=True)
        for start, end in ranges
    ]


def body(count: int, **lines: str) -> str:
    return "\n".join(
        ["def run():", *(lines.get(f"l{number}", f"    x{number} = 0") for number in range(2, count + 1))]
    )


@pytest.mark.parametrize(
    ("text", "terms", "expected"),
    [
        ("retryBudget RETRY_LIMIT noretry retrying", ["retry"], ["retry", "RETRY", "retrying"]),
        ("enforce enforces Enforced reinforce enforcement", ["enforced"], ["enforce", "enforces", "Enforced"]),
        ("retries retried", ["retry"], ["retries", "retried"]),
        ("HTTPSession httpSession http2", ["http"], ["HTTP", "http", "http"]),
        ("HTTPSession mysessions", ["session"], ["Session"]),
        ("retryBudget retry_budget", ["retrybudget", "retry"], ["retryBudget", "retry"]),
        ("retry_budget", ["retry_budget"], ["retry_budget"]),
        ("über Über", ["über"], ["über", "Über"]),
        ("İ İ retry", ["retry"], ["retry"]),
        ("a.b(c)", ["b(c)", ".*", "a"], ["a", "b(c)"]),
        ("anything", ["", " "], []),
        ("indices index", ["indices"], ["indices", "index"]),
    ],
)
def test_words_parts_and_other_forms_of_a_word_are_marked(
    text: str, terms: list[str], expected: list[str]
) -> None:
    assert marked(snippet(text, 1, terms)) == expected


def test_a_short_chunk_is_shown_whole() -> None:
    found = snippet("one\ntwo\r\nthree\n", 10, ["two"])

    assert found.lines == [(10, "one"), (11, "two"), (12, "three")]
    assert (found.highlights, found.truncated) == ([[], [(0, 3)], []], False)


def test_the_window_is_where_most_different_terms_stand() -> None:
    text = body(
        40,
        l5="    alpha alpha alpha",
        l20="    alpha",
        l22="    beta",
        l23="    gamma",
        l35="    alpha beta gamma",
    )

    found = snippet(text, 101, ["alpha", "beta", "gamma"], width_lines=6)

    assert [number for number, _ in found.lines] == [101, 120, 121, 122, 123, 124]
    assert found.truncated


def test_the_signature_below_its_decorators_stays_in_sight() -> None:
    text = "@cache\n@other(1)\n" + body(30, l25="    alpha")

    found = snippet(text, 1, ["alpha"], width_lines=4)

    assert found.lines[0] == (3, "def run():")
    assert len(found.lines) == 4
    assert marked(found) == ["alpha"]


def test_matches_near_the_top_are_shown_from_the_top() -> None:
    assert [number for number, _ in snippet(body(40, l6="alpha"), 1, ["alpha"]).lines] == list(range(1, 9))
    assert [number for number, _ in snippet(body(40), 1, ["alpha"]).lines] == list(range(1, 9))


def test_context_widens_the_window_on_both_sides() -> None:
    found = snippet(body(40, l20="alpha"), 1, ["alpha"], context=2, width_lines=2)

    assert [number for number, _ in found.lines] == [1, 18, 19, 20, 21, 22]
    assert [number for number, _ in snippet(body(40, l20="alpha"), 1, ["alpha"], width_lines=0).lines] == [20]


def test_control_characters_and_escapes_are_written_out_and_tabs_stay() -> None:
    found = snippet("\x1b[31m\tretry\x00 \u202eretry\x9b", 1, ["retry"])

    ((_, text),) = found.lines
    assert text == "\\u001b[31m\tretry\\u0000 \\u202eretry\\u009b"
    assert marked(found) == ["retry", "retry"]


def test_a_very_long_line_is_cut_around_its_match() -> None:
    found = snippet("x, " * 50_000 + "retry" + ", y" * 50_000, 1, ["retry"])

    ((_, text),) = found.lines
    assert len(text) <= 202
    assert text.startswith("…")
    assert text.endswith("…")
    assert (marked(found), found.truncated) == (["retry"], True)


def test_the_work_grows_with_the_lines() -> None:
    line = "    total = self.retry_budget(1) + compute(value)\n"

    assert grows_evenly(lambda count: snippet(line * count, 1, ["retry", "budget", "enforced", "value"]), 20)


TEXT = st.text(st.sampled_from("aAbB_1 \t\r\n\x1bé(İ日")) | st.text()


@given(
    TEXT,
    st.lists(st.text(st.sampled_from("abé_1")) | st.text(), max_size=4),
    st.integers(-1, 9),
    st.integers(-1, 3),
)
def test_whatever_the_text_lines_are_in_order_and_marks_are_inside_and_apart(
    text: str, terms: list[str], width: int, context: int
) -> None:
    found = snippet(text, 5, terms, width_lines=width, context=context)

    numbers = [number for number, _ in found.lines]
    assert 1 <= len(numbers) <= max(width, 1) + 2 * max(context, 0)
    assert numbers == sorted(set(numbers))
    for (_, line), ranges in zip(found.lines, found.highlights, strict=True):
        assert not set(line) & {"\n", "\r", "\x1b", "\x00"}
        assert all(0 <= start < end <= len(line) for start, end in ranges)
        assert all(one[1] <= other[0] for one, other in pairwise(ranges))
