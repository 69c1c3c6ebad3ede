"""Extraction is as true as its labelled samples say, in every language that has some."""

import pytest
from tests.labelled.scoring import labelled_languages, score_language

from holdfast.search.languages import LANGUAGES, fields_of

LEAST_DEFINITIONS = 30
LEAST_FACTS = 100


def test_every_language_with_full_metadata_has_labelled_samples() -> None:
    assert labelled_languages() == sorted(language for language in LANGUAGES if "calls" in fields_of(language))


@pytest.mark.parametrize("language", labelled_languages())
def test_what_is_extracted_from_labelled_samples_is_found_and_right(language: str) -> None:
    definitions, facts = score_language(language)

    assert len(definitions.wanted) >= LEAST_DEFINITIONS
    assert len(facts.wanted) >= LEAST_FACTS
    assert definitions.recall >= 0.97, definitions.missing()
    assert definitions.precision >= 0.97, definitions.wrong()
    assert facts.recall >= 0.95, facts.missing()
    assert facts.precision >= 0.95, facts.wrong()
