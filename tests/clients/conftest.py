"""Takes every journey once and hands what was seen of it to the tests."""

from pathlib import Path

import pytest
from tests.clients.journeys import JOURNEYS, Journey, Seen, take

Album = dict[Journey, Seen]


@pytest.fixture(scope="session")
def album() -> Album:
    """What was seen of the journeys taken so far."""
    return {}


@pytest.fixture(
    scope="session",
    params=[
        pytest.param(journey, id=journey.name, marks=pytest.mark.xdist_group(journey.company))
        for journey in JOURNEYS
    ],
)
def seen(request: pytest.FixtureRequest, album: Album, tmp_path_factory: pytest.TempPathFactory) -> Seen:
    """One journey, taken together with the others of its company."""
    journey: Journey = request.param
    if journey not in album:
        parent: Path = tmp_path_factory.mktemp("journeys")
        album.update(take([other for other in JOURNEYS if other.company == journey.company], parent))
    return album[journey]
