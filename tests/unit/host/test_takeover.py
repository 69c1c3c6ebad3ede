"""The capsule by which a host goes on as another version of itself: whole, private, and used once."""

import json
import os
import stat
from collections.abc import Callable
from typing import Any

import pytest
from tests.unit.kernel.driver import World

from holdfast.host.takeover import FORMAT, VARIABLE, Capsule, inherited, opened, sealed
from holdfast.kernel.capsule import CapsuleError
from holdfast.kernel.policy import Policy
from holdfast.observe.ledger import Ledger


def busy() -> World:
    world = World.live()
    world.calls(1, "read", {"n": 1})
    world.calls(2, "log in", {"n": 2})
    world.worker_answers(2, {})
    return world


def capsule_of(world: World, unread: bytes = b'{"half') -> int:
    return sealed(world.state, world.now, unread, ["python", "server.py"], Ledger().to_json(), 9464)


def content(descriptor: int) -> bytes:
    os.lseek(descriptor, 0, os.SEEK_SET)
    return os.read(descriptor, 1 << 20)


def test_everything_goes_along(monkeypatch: pytest.MonkeyPatch) -> None:
    world = busy()
    monkeypatch.setenv(VARIABLE, str(capsule_of(world)))
    capsule = inherited()
    assert isinstance(capsule, Capsule)
    state = capsule.state(Policy(), 5.0)

    assert (capsule.unread, capsule.command) == (b'{"half', ("python", "server.py"))
    assert list(state.pending) == [1]
    assert state.facts == world.state.facts
    assert state.session == world.state.session
    assert state.counts == world.state.counts
    assert capsule.metrics_port == 9464


def test_it_can_be_used_once(monkeypatch: pytest.MonkeyPatch) -> None:
    descriptor = capsule_of(busy())
    monkeypatch.setenv(VARIABLE, str(descriptor))

    assert inherited() is not None
    assert inherited() is None
    assert VARIABLE not in os.environ
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(descriptor)


def test_nobody_else_can_find_or_read_it() -> None:
    descriptor = capsule_of(busy())
    told = os.fstat(descriptor)
    os.close(descriptor)

    assert told.st_nlink == 0
    assert stat.S_IMODE(told.st_mode) & 0o077 == 0


@pytest.mark.parametrize("told", ["x", "-1", "1_0", "99999", "\u0663"])
def test_a_descriptor_that_is_none_is_refused(monkeypatch: pytest.MonkeyPatch, told: str) -> None:
    monkeypatch.setenv(VARIABLE, told)

    with pytest.raises(CapsuleError):
        inherited()


HARMS: dict[str, Callable[[dict[str, Any]], object]] = {
    "older format": lambda told: told.update(format=FORMAT - 1),
    "newer format": lambda told: told.update(format=FORMAT + 1),
    "format true": lambda told: told.update(format=True),
    "no command": lambda told: told.update(command=[]),
    "command of numbers": lambda told: told.update(command=[1]),
    "counts": lambda told: told.update(counts={"requests": "many"}),
    "figures": lambda told: told.update(figures={"version": 99}),
    "restarts": lambda told: told.update(restarts=-1),
    "port": lambda told: told.update(metrics_port=65536),
    "no kernel": lambda told: told.pop("kernel"),
    "kernel": lambda told: told.update(kernel="e30="),
    "no base64": lambda told: told.update(unread="\u00e9"),
}


@pytest.mark.parametrize("harm", HARMS)
def test_a_capsule_that_is_not_whole_is_refused(harm: str) -> None:
    told = json.loads(content(capsule_of(busy())))
    HARMS[harm](told)

    with pytest.raises(CapsuleError):
        opened(json.dumps(told).encode())


@pytest.mark.parametrize("keep", [0, 1, 100, -1])
def test_half_a_capsule_is_refused(keep: int) -> None:
    with pytest.raises(CapsuleError):
        opened(content(capsule_of(busy()))[:keep])
