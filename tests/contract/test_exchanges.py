"""Every exchange in every mode, against real server processes over real pipes.

Exchanges that leave a session as it was share one process per scene and mode, because starting one is what costs
most here. Whatever a server says must have been expected by somebody.
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


class Stage:
    """Server processes, started when they are first asked for."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._shared: dict[tuple[str, str], Peer] = {}
        self._started = 0

    def shared(self, mode: str, exchange: Exchange) -> Peer:
        """The process of the exchange's scene; a new one if the last was lost."""
        key = mode, exchange.scene
        if key not in self._shared or self._shared[key].process.poll() is not None:
            self._shared[key] = self.start(mode, exchange)
        return self._shared[key]

    def start(self, mode: str, exchange: Exchange) -> Peer:
        """A process in which the session is open, unless the exchange opens it itself."""
        scene = SCENES[exchange.scene]
        self._started += 1
        state = self.directory / f"{mode}-{self._started}"
        peer = Peer(mode, (scene.dialect,), {**scene.settings, **exchange.settings}, state)
        if exchange.opened:
            for step in scene.opening:
                resolve(step, Run(mode, 0, state)).take(peer, Run(mode, 0, state))
        return peer

    def forget(self, mode: str, exchange: Exchange) -> None:
        """End a process that an exchange has spoiled."""
        peer = self._shared.pop((mode, exchange.scene), None)
        if peer is not None:
            peer.stop()

    def close(self) -> None:
        """End all processes."""
        for peer in self._shared.values():
            peer.stop()


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """All server processes of this module."""
    stage = Stage(tmp_path_factory.mktemp("contract"))
    yield stage
    stage.close()


def _cases() -> Iterator[object]:
    for mode in MODES:
        for number, exchange in enumerate(EXCHANGES, 1):
            group = pytest.mark.xdist_group(f"{mode} {exchange.scene}")
            yield pytest.param(mode, number, exchange, id=f"{mode}-{exchange.name}", marks=group)


@pytest.mark.parametrize(("mode", "number", "exchange"), list(_cases()))
def test_an_exchange_goes_as_the_contract_says(
    stage: Stage, mode: str, number: int, exchange: Exchange, tmp_path: Path
) -> None:
    alone = exchange.alone or not exchange.opened
    peer = stage.start(mode, exchange) if alone else stage.shared(mode, exchange)
    run = Run(mode, number * IDS_PER_EXCHANGE, tmp_path)
    finished = False
    try:
        for step in exchange.steps:
            resolve(step, run).take(peer, run)
        if not any(isinstance(step, Exits) for step in exchange.steps):
            nothing_left(peer)
        finished = True
    finally:
        if alone:
            peer.stop()
        elif not finished:
            stage.forget(mode, exchange)


def test_every_difference_between_modes_is_explained() -> None:
    for exchange in EXCHANGES:
        differing = {mode for part in parts_of(exchange.steps) if isinstance(part, PerMode) for mode in part.modes}
        assert differing == set(exchange.differences), exchange.name


def test_the_names_of_exchanges_are_unique() -> None:
    names = [exchange.name for exchange in EXCHANGES]
    assert len(names) == len(set(names))
