"""Ends in words."""

import pytest

from holdfast.process import Outcome


@pytest.mark.parametrize(
    ("outcome", "words", "ok"),
    [
        (Outcome(1, returncode=0), "exit code 0", True),
        (Outcome(1, signal=9), "ended by SIGKILL", False),
        (Outcome(1, signal=63), "ended by signal 63", False),
        (Outcome(1, lost=True), "its end was not seen", False),
        (Outcome(1, returncode=0, survivors=(2, 3)), "exit code 0, still alive: 2, 3", False),
    ],
)
def test_an_outcome_is_described_in_words(outcome: Outcome, words: str, ok: bool) -> None:
    assert outcome.describe() == words
    assert outcome.ok is ok
