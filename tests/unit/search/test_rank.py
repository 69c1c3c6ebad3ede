from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from holdfast.search.prepared import ChunkWords
from holdfast.search.rank import rank
from holdfast.search.scoring import DEFAULT_WEIGHTS, QueryTerm, Scorer
from holdfast.search.store.reader import ChunkRow
from holdfast.search.tokens import body_streams


def row(number: int, name: str = "f", body: str = "", file: int = 1, identifiers: str = "") -> ChunkRow:
    words = ChunkWords(body_streams(name)[0], "", body, identifiers).packed()
    return ChunkRow(number, file, "code", "function", name, 10 * number, 10 * number + 9, 1, 2, words)


def term(*parts: str, identifier: str = "") -> QueryTerm:
    return QueryTerm(identifier or parts[0], parts, identifier, (2.0,) * len(parts), 3.0)


def order(rows: list[ChunkRow], *terms: QueryTerm, paths: dict[int, str] | None = None) -> list[int]:
    scorer = Scorer(terms, DEFAULT_WEIGHTS)
    return [one.row.id for one in rank(rows, paths or {1: "src/a.py"}, scorer)]


def test_a_word_in_the_name_counts_more_than_in_the_body() -> None:
    assert order([row(1, body="retry"), row(2, "retry", body="retry")], term("retry")) == [2, 1]


def test_more_words_of_the_query_beat_one_word_often() -> None:
    rows = [row(1, body="retry retry retry retry"), row(2, body="retry budget")]
    assert order(rows, term("retry"), term("budget")) == [2, 1]


def test_words_side_by_side_beat_words_far_apart() -> None:
    apart = "retry " + "x " * 30 + "budget"
    together = "x " * 30 + "retry budget"
    assert order([row(1, body=apart), row(2, body=together)], term("retry"), term("budget")) == [2, 1]


def test_a_short_body_beats_a_long_one_with_the_same_words() -> None:
    assert order([row(1, body="retry " + "x " * 400), row(2, body="retry")], term("retry")) == [2, 1]


def test_the_definition_of_the_name_comes_before_its_uses() -> None:
    use = row(1, body="retry budget " * 5, identifiers="retry_budget " * 5)
    definition = row(2, "retry_budget", body="x")
    assert order([use, definition], term("retry", "budget", identifier="retry_budget")) == [2, 1]


def test_tests_come_after_what_they_test_unless_tests_are_asked_for() -> None:
    rows = [row(1, body="retry test", file=1), row(2, body="retry test", file=2)]
    paths = {1: "tests/test_a.py", 2: "src/a.py"}
    assert order(rows, term("retry"), paths=paths) == [2, 1]
    assert order(rows, term("retry"), term("test"), paths=paths)[0] == 1


def test_latest_is_not_a_test() -> None:
    rows = [row(1, body="retry", file=1), row(2, body="retry", file=2)]
    assert order(rows, term("retry"), paths={1: "src/latest.py", 2: "src/z.py"}) == [1, 2]


def test_ties_are_settled_by_path_and_position() -> None:
    rows = [row(3, body="retry", file=2), row(2, body="retry"), row(1, body="retry")]
    assert order(rows, term("retry"), paths={1: "b.py", 2: "a.py"}) == [3, 1, 2]


@given(st.permutations([row(n, body="retry " * n) for n in range(1, 6)]))
def test_the_order_does_not_depend_on_the_order_of_the_candidates(rows: list[Any]) -> None:
    assert order(rows, term("retry")) == order(sorted(rows), term("retry"))


@given(st.lists(st.sampled_from(["retry", "budget", "retri", "a", "x", "y", "z"]), max_size=40))
def test_how_close_words_stand_is_told_as_if_the_body_were_read_word_by_word(body: list[str]) -> None:
    asked = [term("retry"), term("budget"), term("a")]
    (one,) = rank([row(1, body=" ".join(body))], {1: "src/f.py"}, Scorer(asked, DEFAULT_WEIGHTS))

    expected = _closeness_by_reading(body, {"retry", "budget", "a"})
    assert one.parts["proximity"] == DEFAULT_WEIGHTS.proximity * expected


def _closeness_by_reading(body: list[str], wanted: set[str]) -> float:
    """Every window of the body is tried."""
    present = wanted & set(body)
    if len(present) < 2:
        return 0.0
    windows = [
        end - start
        for start in range(len(body))
        for end in range(start + 1, len(body) + 1)
        if present <= set(body[start:end])
    ]
    return len(present) / len(wanted) * len(present) / min(windows)
