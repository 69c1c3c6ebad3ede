"""A slice of the long day of the search server, short enough for every run of the suite."""

from pathlib import Path

import pytest
from tests.chaos.search_soak import Soak


@pytest.mark.timeout(150)
def test_no_search_fails_and_nothing_leaks_while_indexes_are_built_and_processes_killed(tmp_path: Path) -> None:
    figures = Soak(60, 11, tmp_path).run()

    print(figures.line())
    assert figures.done["searches"] > 300
    assert figures.done["HTTP searches"] > 100
    assert figures.done["killed workers"] > 2
    assert figures.done["builds"] > 3
