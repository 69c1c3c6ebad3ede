"""What the client is told of its streams, through the stage that every message to it passes."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.contract.official_schemas import assert_valid

from holdfast.host.bounded_output import OutputBounds, encoded
from holdfast.host.output_store import OutputStore
from holdfast.host.surface import Surface
from holdfast.kernel.commands import ToClient
from holdfast.present.profile import META_SUBSCRIPTION, MODERN
from holdfast.settings import Settings
from holdfast.testing.memory import RecordingLog
from holdfast.wire.envelope import Request

LISTEN = "subscriptions/listen"
TOOLS = {"toolsListChanged": True}


@pytest.fixture
def surface(tmp_path: Path) -> Surface:
    """A stage with nothing around it."""
    log = RecordingLog()
    return Surface(OutputBounds(Settings(), {}, OutputStore(tmp_path / "output"), log), log)


def listen(surface: Surface, wanted: Any, number: int = 7) -> None:
    """The client begins to listen."""
    assert surface.answer(Request(number, LISTEN, {"notifications": wanted})) is None


def acknowledged(number: object = 7, **kept: Any) -> bytes:
    """What a worker says that keeps a stream open."""
    params = {"notifications": kept, "_meta": {META_SUBSCRIPTION: number}}
    return encoded({"jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged", "params": params})


def test_the_acknowledgement_of_a_stream_says_what_the_host_will_tell(surface: Surface) -> None:
    listen(surface, TOOLS)

    told = json.loads(surface.shaped(ToClient(acknowledged(resourceSubscriptions=["a:b"]))))

    assert_valid(MODERN, "SubscriptionsAcknowledgedNotification", told)
    assert told["params"] == {
        "notifications": {"resourceSubscriptions": ["a:b"], "toolsListChanged": True},
        "_meta": {META_SUBSCRIPTION: 7},
    }


@pytest.mark.parametrize(
    ("wanted", "payload"),
    [
        ({"promptsListChanged": True}, acknowledged()),
        ({"toolsListChanged": "yes"}, acknowledged()),
        ("everything", acknowledged()),
        (TOOLS, acknowledged(toolsListChanged=True)),
        (TOOLS, acknowledged("7")),
        (TOOLS, acknowledged([7])),
        (TOOLS, b'["notifications/subscriptions/acknowledged"]'),
        (TOOLS, b'{"method":"notifications/subscriptions/acknowledged","params":[7]}'),
        (TOOLS, b'{"params":"notifications/subscriptions/acknowledged"'),
        (TOOLS, acknowledged().replace(b'"notifications":{}', b'"notifications":null')),
        (TOOLS, acknowledged().replace(b"acknowledged", b"else")),
    ],
)
def test_what_needs_no_change_passes_as_it_is(surface: Surface, wanted: Any, payload: bytes) -> None:
    listen(surface, wanted)

    assert surface.shaped(ToClient(payload)) is payload


def test_a_stream_that_was_moved_is_acknowledged_to_the_client_once(surface: Surface) -> None:
    end = ToClient(b'{"jsonrpc":"2.0","id":7,"result":{}}', 7, method=LISTEN, is_modern=True)
    for _ in range(2):  # an id may be used again, once its request is answered
        listen(surface, {})
        heard = [surface.shaped(ToClient(acknowledged())) for _ in range(3)]
        assert heard == [acknowledged(), b"", b""]
        assert surface.shaped(end) == end.payload

    assert surface.shaped(ToClient(acknowledged())) == acknowledged()


def test_an_id_that_was_cancelled_and_is_used_again_is_acknowledged_again(surface: Surface) -> None:
    for wanted, told in (({}, False), (TOOLS, True)):
        listen(surface, wanted)
        assert (b"toolsListChanged" in surface.shaped(ToClient(acknowledged()))) is told


def test_streams_that_are_cancelled_are_not_remembered_for_ever(surface: Surface) -> None:
    for number in range(3000):
        listen(surface, TOOLS, number)
        assert b"toolsListChanged" in surface.shaped(ToClient(acknowledged(number)))

    assert surface.shaped(ToClient(acknowledged(2999))) == b""
    assert surface.shaped(ToClient(acknowledged(0))) == acknowledged(0)
