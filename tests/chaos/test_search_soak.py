"""A slice of the long day of the search server, short enough for every run of the suite."""

from pathlib import Path

import pytest
from tests.chaos.search_soak import Soak


# A minute; `make soak` has half an hour of it.
@pytest.mark.timeout(240)
def test_no_search_fails_and_nothing_leaks_while_indexes_are_built_and_processes_killed(tmp_path: Path) -> None:
    figures = Soak(60, 11, tmp_path, pace=0.5, blow_every=5.0, crowd=8).run()

    print(figures.line())
    assert figures.done["searches"] > 50
    assert figures.done["HTTP searches"] > 50
    assert figures.done["MCP calls over HTTP"] > 10
    assert figures.done["killed workers"] > 1
    assert figures.done["builds"] > 0
