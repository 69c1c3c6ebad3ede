"""Resources, prompts and streams behind the host: reads are repeated, subscriptions outlive a worker."""

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from tests.host.conftest import QUICK

from holdfast.present.profile import MODERN
from holdfast.testing import HostUnderTest

SERVER = Path(__file__).parent / "offering_server.py"
STREAM = "io.modelcontextprotocol/subscriptionId"
Start = Callable[..., HostUnderTest]


@pytest.fixture
def offering(tmp_path: Path) -> Iterator[Start]:
    """Starts a host in front of the server, and shakes hands in this revision."""
    with ExitStack() as stack:

        def start(revision: str, *, dies: bool = False) -> HostUnderTest:
            mark = tmp_path / "mark"
            if not dies:
                mark.write_text("no need to")
            environment = {**QUICK, "OFFERING_MARK": str(mark)}
            host = HostUnderTest.running([sys.executable, str(SERVER)], tmp_path, environment=environment)
            stack.enter_context(host)
            host.handshake(revision)
            return host

        yield start


def told(host: HostUnderTest, method: str) -> list[dict[str, Any]]:
    """The parameters of what the client was told by this method."""
    return [message["params"] for message in host.messages if message.get("method") == method]


@pytest.mark.requirement("MCP-features-reads-are-repeated")
@pytest.mark.parametrize("revision", ["2025-11-25", MODERN])
@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("resources/read", {"uri": "offering://fragile"}),
        ("prompts/get", {"name": "brittle", "arguments": {"word": "said"}}),
        (
            "completion/complete",
            {"ref": {"type": "ref/prompt", "name": "brittle"}, "argument": {"name": "word", "value": "said"}},
        ),
    ],
)
def test_a_read_that_loses_its_worker_is_answered_by_the_next(
    offering: Start, revision: str, method: str, params: dict[str, Any]
) -> None:
    host = offering(revision, dies=True)
    first = host.worker_pid()
    answer = host.answer_of(host.request(method, params))
    assert "result" in answer, answer
    assert f"by {host.worker_pid()}" in str(answer["result"])
    assert host.worker_pid() != first


@pytest.mark.requirement("MCP-features-subscriptions-survive")
def test_a_subscription_outlives_the_worker_that_it_was_made_with(offering: Start) -> None:
    host = offering("2025-11-25")
    assert host.answer_of(host.request("resources/subscribe", {"uri": "offering://fragile"}))["result"] == {}
    host.kill_worker()
    host.call("change")
    host.until(lambda: told(host, "notifications/resources/updated"), what="the update")
    assert told(host, "notifications/resources/updated") == [{"uri": "offering://fragile"}]
    host.until(lambda: told(host, "notifications/prompts/list_changed"), what="the changed list")


@pytest.mark.requirement("MCP-features-subscriptions-survive")
def test_a_stream_outlives_its_worker_and_is_acknowledged_once(offering: Start) -> None:
    host = offering(MODERN)
    wanted = {"promptsListChanged": True, "resourceSubscriptions": ["offering://fragile"]}
    stream = host.request("subscriptions/listen", {"notifications": wanted})
    host.until(lambda: told(host, "notifications/subscriptions/acknowledged"), what="the acknowledgement")
    host.kill_worker()
    host.call("change")
    host.until(lambda: told(host, "notifications/resources/updated"), what="the update")
    host.until(lambda: told(host, "notifications/prompts/list_changed"), what="the changed list")
    acknowledged = told(host, "notifications/subscriptions/acknowledged")
    assert [one["_meta"][STREAM] for one in acknowledged] == [stream]
    assert told(host, "notifications/resources/updated") == [
        {"uri": "offering://fragile", "_meta": {STREAM: stream}}
    ]
