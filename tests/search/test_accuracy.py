"""Extraction is as true as its labelled samples say, in every language that has some."""

import subprocess
import sys

import pytest
from tests.labelled.scoring import SAMPLES, labelled_languages, score_language

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


def accuracy(*languages: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "benchmarks.search_accuracy", *languages]
    return subprocess.run(command, cwd=SAMPLES.parents[2], capture_output=True, text=True, timeout=60, check=False)


def test_the_accuracy_of_a_language_with_definitions_alone_is_told_by_its_name() -> None:
    pytest.importorskip("tree_sitter_language_pack")
    asked = accuracy("dart")

    assert asked.returncode == 0, asked.stderr
    name, definitions, precision, recall, *_ = asked.stdout.splitlines()[1].split()
    assert (name, precision, recall) == ("dart", "1.000", "1.000")
    assert int(definitions) >= 12


def test_a_language_without_samples_has_no_accuracy() -> None:
    asked = accuracy("klingon")

    assert (asked.returncode, asked.stdout) == (2, "")
    assert "no labelled samples of klingon" in asked.stderr
