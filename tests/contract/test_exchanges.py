"""Every exchange in every mode, against real server processes over real pipes.

The exchanges of a scene share one process in each mode, because starting one is what costs most here; the one that
ends it comes last. Whatever a server says must have been expected by somebody.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.contract.exchange import MODES, Exchange, parts_of
from tests.contract.exchanges import EXCHANGES, SCENES
from tests.contract.patterns import PerMode, Run, resolve
from tests.contract.peer import Peer
from tests.contract.steps import Exits, nothing_left

IDS_PER_EXCHANGE = 1000
PREPARED = 12  # so many exchanges ahead, processes are started: an SDK needs a second to load, and some steps wait

CASES: list[tuple[str, Exchange]] = [(mode, exchange) for mode in MODES for exchange in EXCHANGES]


class Stage:
    """The server processes, one per scene and mode."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._peers: dict[tuple[str, str], Peer] = {}
        self._opened: set[Peer] = set()
        self._count = 0

    def peer(self, mode: str, exchange: Exchange) -> Peer:
        """The process for the exchange, its session open."""
        peer = self._started(mode, exchange)
        if peer not in self._opened:
            self._opened.add(peer)
            run = Run(mode, 0, peer.state)
            for step in SCENES[exchange.scene].opening:
                step.take(peer, run)
        return peer

    def prepare(self, position: int) -> None:
        """Start what the next exchanges will need."""
        for mode, exchange in CASES[position + 1 : position + 1 + PREPARED]:
            self._started(mode, exchange)

    def end(self, mode: str, exchange: Exchange) -> None:
        """End the process of the exchange."""
        peer = self._peers.pop((mode, exchange.scene), None)
        if peer is not None:
            peer.stop()

    def close(self) -> None:
        """End all processes."""
        for peer in self._peers.values():
            peer.stop()

    def _started(self, mode: str, exchange: Exchange) -> Peer:
        key = (mode, exchange.scene)
        if key not in self._peers:
            scene = SCENES[exchange.scene]
            self._count += 1
            state = self.directory / f"{mode}-{self._count}"
            self._peers[key] = Peer(mode, (scene.dialect,), scene.settings, state)
        return self._peers[key]


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """All server processes of this module."""
    stage = Stage(tmp_path_factory.mktemp("contract"))
    yield stage
    stage.close()


def _parameters() -> Iterator[object]:
    for position, (mode, exchange) in enumerate(CASES):
        # Should the tests ever be spread over processes, one of them keeps all of a mode.
        yield pytest.param(position, id=f"{mode}-{exchange.name}", marks=pytest.mark.xdist_group(mode))


@pytest.mark.parametrize("position", list(_parameters()))
def test_an_exchange_goes_as_the_contract_says(stage: Stage, position: int, tmp_path: Path) -> None:
    mode, exchange = CASES[position]
    run = Run(mode, (EXCHANGES.index(exchange) + 1) * IDS_PER_EXCHANGE, tmp_path)
    stage.prepare(position)
    finished = False
    try:
        peer = stage.peer(mode, exchange)
        for step in exchange.steps:
            resolve(step, run).take(peer, run)
        if not exchange.ends:
            nothing_left(peer)
        finished = True
    finally:
        if exchange.ends or not finished:
            stage.end(mode, exchange)


def test_every_difference_between_modes_is_explained() -> None:
    for exchange in EXCHANGES:
        differing = {mode for part in parts_of(exchange.steps) if isinstance(part, PerMode) for mode in part.modes}
        assert differing == set(exchange.differences), exchange.name


def test_an_exchange_that_ends_its_server_is_the_last_of_its_scene() -> None:
    for scene in SCENES:
        own = [exchange for exchange in EXCHANGES if exchange.scene == scene]
        assert [exchange.ends for exchange in own] == [False] * (len(own) - 1) + [True], scene
    for exchange in EXCHANGES:
        assert exchange.ends == any(isinstance(step, Exits) for step in exchange.steps), exchange.name


def test_the_names_of_exchanges_are_unique() -> None:
    names = [exchange.name for exchange in EXCHANGES]
    assert len(names) == len(set(names))
