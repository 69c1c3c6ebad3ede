"""Regular expressions in files: every chunk that one matches in is found, and nothing is done twice for it."""

from bisect import bisect_right
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.search.indexed import git
from tests.unit.search.work import calls_made

from holdfast.search.library import build_index, open_index
from holdfast.search.regex import compiled
from holdfast.search.regex_lines import Reach, reach_of
from holdfast.search.regex_match import beginnings
from holdfast.search.repository import find_repository
from holdfast.search.request import SearchRequest

_FUNCTIONS = 120


@pytest.mark.parametrize(
    ("pattern", "flags", "reach"),
    [
        (".", "", Reach.CHARACTER),
        (".", "s", Reach.CHARACTER),
        (r"\s", "", Reach.CHARACTER),
        (r"a|b|[^c]", "", Reach.CHARACTER),
        (r"\p{L}+", "", Reach.LINE),
        (r"[[:alpha:]_]+\(", "", Reach.LINE),
        (r"^def \w+", "", Reach.LINE),
        (r"[^\n]+x?", "", Reach.LINE),
        (r"[^\s]+", "", Reach.LINE),
        (r"a.*b", "", Reach.LINE),
        (r"a.*b", "s", Reach.TEXT),
        (r"(?s)a.*b", "", Reach.TEXT),
        (r"(?i:a)(?-i:b)\W", "", Reach.TEXT),
        (r"a\sb", "", Reach.TEXT),
        (r"[^x]+", "", Reach.TEXT),
        (r"[\t-\r]+", "", Reach.TEXT),
        (r"a\nb", "", Reach.TEXT),
        (r"[^\D]+", "", Reach.TEXT),
        (r"\PL+", "", Reach.TEXT),
        (r"\p{Cc}a", "", Reach.TEXT),
        (r"\p{Common}+", "", Reach.TEXT),
        (r"[[:^alpha:]]+", "", Reach.TEXT),
        (r"[^[:alpha:]]+", "", Reach.TEXT),
    ],
)
def test_how_far_a_match_reaches_is_known(pattern: str, flags: str, reach: Reach) -> None:
    assert reach_of(pattern, flags) is reach


@given(
    st.text("ab x_1\n\t", max_size=60),
    st.lists(st.integers(0, 60), min_size=1, max_size=8),
    st.sampled_from(
        [".", r"\w+", "a*", ".*", "a|b", r"[^x]", r"\bab", "b$", r"^ *\w", "ab?.a", r"a\s+b", r"(?:)"]
    ),
)
def test_the_stretches_with_a_match_are_those_of_all_matches_one_by_one(
    text: str, places: list[int], pattern: str
) -> None:
    source, expression = text.encode(), compiled(pattern)
    edges = sorted({min(place, len(source)) for place in places})

    def stretches(starts: Any) -> set[int]:
        return {bisect_right(edges, start) for start in starts}

    one_by_one = stretches(match.start() for match in expression.finditer(source))
    assert stretches(beginnings(expression, source, edges, reach_of(pattern))) - {len(edges)} == one_by_one - {
        len(edges)
    }


@pytest.mark.parametrize("query", ["/./", r"/\p{L}+/", "/e|f|g/", r"/\s/"])
def test_every_chunk_of_a_long_file_is_found_and_looked_at_a_few_times_only(query: str, tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "--template=")
    body = "".join(f"    value_{line} = measure({line})\n" for line in range(20))
    source = "\n\n".join(f"def function_{number}():\n{body}" for number in range(_FUNCTIONS))
    (tmp_path / "long.py").write_text(source)
    repository = find_repository(tmp_path)
    build_index(repository, tmp_path / ".cache")
    index = open_index(repository, tmp_path / ".cache")
    request = SearchRequest.from_arguments({"query": query, "mode": "code"})
    answers: list[dict[str, Any]] = []
    made = calls_made(lambda: answers.append(index.search(request)))
    index.close()
    assert answers[0]["total"]["code"] == _FUNCTIONS
    assert made < 300 * _FUNCTIONS
