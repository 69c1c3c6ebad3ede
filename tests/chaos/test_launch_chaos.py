"""A slice of the kill matrix: `make chaos-launch` kills every victim at every event.

Here an engine and a server die once each; workers of a run are killed in `unit/launch/test_engine_labour.py`.
"""

from pathlib import Path

import pytest
from tests.chaos.launch_chaos import Reference, Scene, make_reference, make_scene, trial

pytestmark = [pytest.mark.xdist_group("launch-chaos"), pytest.mark.timeout(240)]


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> tuple[Scene, Reference]:
    folder: Path = tmp_path_factory.mktemp("launch-chaos")
    made = make_scene(folder, required_sections=["kb"], launch_tier="minimal")
    return made, make_reference(made)


@pytest.mark.parametrize(
    ("point", "victim"),
    [("PATCHES_APPLIED", "engine"), ("SECTION_DRAFTED", "server")],
)
def test_a_run_whose_process_is_killed_ends_as_if_nothing_had_happened(
    scene: tuple[Scene, Reference], point: str, victim: str
) -> None:
    assert trial(*scene, point, victim) == "killed"
