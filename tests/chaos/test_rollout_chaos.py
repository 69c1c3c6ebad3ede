"""A slice of the upgrades under load: each kind of release once."""

from pathlib import Path

import pytest
from tests.chaos.rollout_chaos import STEPS, RolloutChaos


@pytest.mark.requirement("S3-rollout-release")
def test_every_kind_of_release_has_the_outcome_that_it_must_have_and_no_request_is_lost(tmp_path: Path) -> None:
    report = RolloutChaos(len(STEPS), 7, tmp_path).run()

    assert report.rollouts == len(STEPS)
    assert sum(report.answers.values()) > 100
