"""A slice of the long maltreatment of the host, short enough for every run of the suite."""

from pathlib import Path

import pytest
from tests.chaos.host_chaos import Chaos, LawBrokenError, Options, Report

from holdfast.present.profile import LATEST_HANDSHAKE, MODERN
from holdfast.testing import Fault, script


# Ten seconds of it in all, longer where it takes more to see enough; `make chaos` has ten minutes.
@pytest.mark.timeout(120)
@pytest.mark.parametrize(
    ("spare", "revision", "seconds"), [(0, LATEST_HANDSHAKE, 4), (1, LATEST_HANDSHAKE, 3), (0, MODERN, 3)]
)
def test_no_law_is_broken_while_workers_are_killed_hung_and_garbled(
    tmp_path: Path, spare: int, revision: str, seconds: int
) -> None:
    options = Options(
        seconds, faults=30, kills=12, generations=11, seed=seconds, blow_every=0.3, spare=spare, revision=revision
    )
    report = Chaos(options, tmp_path).run()

    assert report.generations > 10
    assert report.sent > 100


@pytest.mark.timeout(120)
@pytest.mark.parametrize("reads", [False, True])
def test_nothing_that_may_be_repeated_is_lost_while_workers_are_blocked_and_let_go_on(
    tmp_path: Path, reads: bool
) -> None:
    report = Chaos(Options(3, blocks=5, seed=3, blow_every=0.4, reads=reads), tmp_path).run()

    assert report.blocks >= 5


def test_only_what_could_cost_an_answer_counts_as_a_fault() -> None:
    report = Report(Options(1))
    report.fired.update({"kill_mid_answer": 1, "noise": 2, "mute": 4, "delay": 100, "shuffle_tools": 100})
    report.fired.update({"ignore_cancel": 100, "list_changed": 100, "answer_cancelled": 100, "split_writes": 100})
    report.blows.update({"SIGKILL": 8, "SIGSTOP": 16, "SIGCONT": 100})

    assert (report.faults, report.kills) == (31, 9)


def test_a_host_that_repeats_what_it_must_not_is_found_out(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.toml"
    wrong.write_text('[tools.write]\neffect = "replay_safe"\n')
    # Nothing is left to chance: whoever has the call dies as soon as it took effect.
    worker = script(Fault.on_tool("write", "kill_after_effect", nth=1))

    with pytest.raises(LawBrokenError, match="law 5: write took effect"):
        Chaos(Options(1, kills=2), tmp_path / "run", {"HOLDFAST_CONFIG": str(wrong)}, worker).run()
