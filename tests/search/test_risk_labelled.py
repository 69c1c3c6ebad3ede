"""Flows are as true as the labelled functions say, in every language that has rules."""

import shutil
from collections.abc import Iterator

import pytest
from tests.labelled.risk_scoring import SAMPLES, count_labels, labelled_languages, score_risk

from holdfast.search.library import SearchIndex, build_index, open_index
from holdfast.search.repository import find_repository
from holdfast.search.risk.loading import load_rules

pytestmark = pytest.mark.xdist_group("risk-labelled")  # one index for all

MANY = {"python", "javascript", "go", "java", "php", "ruby", "csharp"}
FEW = {"typescript"}


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SearchIndex]:
    place = tmp_path_factory.mktemp("labelled")
    shutil.copytree(SAMPLES, place / "samples")
    repository = find_repository(place / "samples")
    build_index(repository, place / "cache")
    with open_index(repository, place / "cache") as opened:
        yield opened


@pytest.mark.parametrize("language", labelled_languages())
def test_the_flows_of_labelled_functions_are_found_and_right(index: SearchIndex, language: str) -> None:
    score = score_risk(index, language)

    assert score.precision >= 0.9, score.wrong()
    assert score.recall >= 0.8, score.missing()
    least = 12 if language in MANY else 3 if language in FEW else 6
    assert min(count_labels(language)) >= least


def test_every_language_with_rules_has_labelled_functions() -> None:
    rules = load_rules()
    languages = [rule.languages for rule in rules.sources] + [rule.languages for rule in rules.sinks]
    assert frozenset().union(*languages) <= set(labelled_languages())
