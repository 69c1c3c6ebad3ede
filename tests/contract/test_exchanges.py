"""Every exchange in every mode alone, and behind the host, against real server processes over real pipes.

The exchanges of a scene share one process of each kind, because starting one is what costs most here; the one that
ends it comes last. Whatever a server says must have been expected by somebody.

Every exchange goes in native mode, alone and behind the host, and in SDK mode alone. Legacy mode is native mode in
another framing: it is spared the scenes that are about time, order and processes. Behind the host these two modes
have the scene that most of the exchanges are in, the one that settles on the oldest revision, and the one in which
the client is asked, because questions pass the host: further scenes are other settings of the server, which a host
does not know.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from tests.contract.exchange import MODES, TOPOLOGIES, Exchange, parts_of
from tests.contract.exchanges import EXCHANGES, SCENES
from tests.contract.patterns import PerMode, PerTopology, Run, resolve
from tests.contract.peer import Kind, Peer
from tests.contract.steps import Exits, nothing_left, now

IDS_PER_EXCHANGE = 1000
PREPARED = 12  # so many exchanges ahead, processes are started: an SDK needs a second to load, and some steps wait

EVERY_SCENE = tuple(SCENES)
FEW_SCENES = {
    Kind("legacy", "standalone"): ("latest", "2025-06-18", "2024-11-05", "pinned", "asking"),
    Kind("legacy", "hosted"): ("latest", "pinned", "asking"),
    Kind("sdk", "hosted"): ("latest", "pinned", "asking"),
}
KINDS = [Kind(mode, topology) for topology in TOPOLOGIES for mode in MODES]
CASES: list[tuple[Kind, Exchange]] = [
    (kind, exchange)
    for kind in KINDS
    for exchange in EXCHANGES
    if exchange.scene in FEW_SCENES.get(kind, EVERY_SCENE)
]


class Stage:
    """The server processes, one per scene and kind."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._peers: dict[tuple[Kind, str], Peer] = {}
        self._opened: set[Peer] = set()
        self._count = 0

    def peer(self, kind: Kind, exchange: Exchange) -> Peer:
        """The process for the exchange, its session open."""
        peer = self._started(kind, exchange)
        if peer not in self._opened:
            self._opened.add(peer)
            run = Run(*kind, 0, peer.state)
            for step in SCENES[exchange.scene].opening:
                step.take(peer, run)
        return peer

    def prepare(self, position: int) -> None:
        """Start what the next exchanges of the same kind will need; another kind may run elsewhere."""
        for kind, exchange in CASES[position + 1 : position + 1 + PREPARED]:
            if kind == CASES[position][0]:
                self._started(kind, exchange)

    def end(self, kind: Kind, exchange: Exchange) -> None:
        """End the process of the exchange."""
        peer = self._peers.pop((kind, exchange.scene), None)
        if peer is not None:
            peer.stop()

    def close(self) -> None:
        """End all processes."""
        for peer in self._peers.values():
            peer.stop()

    def _started(self, kind: Kind, exchange: Exchange) -> Peer:
        key = (kind, exchange.scene)
        if key not in self._peers:
            scene = SCENES[exchange.scene]
            self._count += 1
            state = self.directory / f"{kind.name}-{self._count}"
            self._peers[key] = Peer(kind, (scene.dialect,), scene.settings, state)
        return self._peers[key]


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """All server processes of this module."""
    stage = Stage(tmp_path_factory.mktemp("contract"))
    yield stage
    stage.close()


def _parameters() -> Iterator[object]:
    for position, (kind, exchange) in enumerate(CASES):
        # Should the tests ever be spread over processes, one of them keeps all of a kind.
        yield pytest.param(position, id=f"{kind.name}-{exchange.name}", marks=pytest.mark.xdist_group(kind.name))


@pytest.mark.requirement("OURS-6-same-answers")
@pytest.mark.requirement("S3-topologies-invariants")
@pytest.mark.requirement("S3-topologies-no-transport")
@pytest.mark.parametrize("position", list(_parameters()))
def test_an_exchange_goes_as_the_contract_says(stage: Stage, position: int, tmp_path: Path) -> None:
    kind, exchange = CASES[position]
    run = Run(*kind, (EXCHANGES.index(exchange) + 1) * IDS_PER_EXCHANGE, tmp_path, since=now())
    stage.prepare(position)
    finished = False
    try:
        peer = stage.peer(kind, exchange)
        for step in exchange.steps:
            resolve(step, run).take(peer, run)
        if not exchange.ends:
            nothing_left(peer)
        finished = True
    finally:
        if exchange.ends or not finished:
            stage.end(kind, exchange)


def test_every_difference_between_modes_and_topologies_is_explained() -> None:
    told: list[tuple[str, object, Mapping[str, str]]]
    told = [(scene, SCENES[scene].opening, SCENES[scene].differences) for scene in SCENES]
    told += [(exchange.name, exchange.steps, exchange.differences) for exchange in EXCHANGES]
    for name, steps, differences in told:
        parts = parts_of(steps)
        differing = {mode for part in parts if isinstance(part, PerMode) for mode in part.modes}
        differing |= {"hosted" for part in parts if isinstance(part, PerTopology)}
        assert differing == set(differences), name


def test_an_exchange_that_ends_its_server_is_the_last_of_its_scene() -> None:
    for scene in SCENES:
        own = [exchange for exchange in EXCHANGES if exchange.scene == scene]
        assert [exchange.ends for exchange in own] == [False] * (len(own) - 1) + [True], scene
    for exchange in EXCHANGES:
        assert exchange.ends == any(isinstance(step, Exits) for step in exchange.steps), exchange.name


def test_the_names_of_exchanges_are_unique() -> None:
    names = [exchange.name for exchange in EXCHANGES]
    assert len(names) == len(set(names))
