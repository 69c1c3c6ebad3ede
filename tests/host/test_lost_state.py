"""State that a worker kept in memory and that is lost with it: what clients see of it, on stdio and over HTTP."""

import os
import signal
import sys
from pathlib import Path
from typing import Any

from tests.api.mcp_server import Session, serving
from tests.host.answers import error_of, payload_of
from tests.host.conftest import QUICK
from tests.host.test_restarts import control

from holdfast.testing import HostUnderTest

NOTES = [sys.executable, str(Path(__file__).with_name("notes_server.py"))]
NOTE = {"name": "a", "text": "kept"}
GENERATION, RESTARTED = "io.holdfast/generation", "io.holdfast/restarted"


def meta_of(answer: dict[str, Any]) -> dict[str, Any]:
    found = answer["result"].get("_meta", {})
    return {name: found[name] for name in found if name in {GENERATION, RESTARTED}}


def test_a_client_learns_that_the_dict_of_its_server_is_empty_again(tmp_path: Path) -> None:
    with HostUnderTest.running(NOTES, tmp_path, environment=QUICK) as client:
        client.handshake()
        put = client.call("put", NOTE)
        os.kill(payload_of(put)["pid"], signal.SIGKILL)
        lost, later = client.call("get", {"name": "a"}), client.call("get", {"name": "a"})
        warnings = [one["params"] for one in client.messages if one.get("method") == "notifications/message"]

    assert (meta_of(put), payload_of(lost)["text"]) == ({}, None)
    restarted = meta_of(lost)[RESTARTED]
    assert (restarted["from"], restarted["to"], "SIGKILL" in restarted["reason"]) == (1, 2, True)
    assert meta_of(later) == {GENERATION: 2}
    assert [(one["level"], one["data"][RESTARTED]) for one in warnings] == [("warning", restarted)]


def test_a_stateful_server_refuses_the_first_call_after_a_restart(tmp_path: Path) -> None:
    with HostUnderTest.running(NOTES, tmp_path, "--stateful", environment=QUICK) as client:
        client.handshake()
        client.call("put", NOTE)
        control(client, "restart")
        refused, again = client.call("get", {"name": "a"}), client.call("put", NOTE)

    told = error_of(refused)
    assert (refused["error"]["code"], told["code"], told["retryable"]) == (-32015, "STATE_LOST", True)
    assert payload_of(again)["text"] == "kept"


def test_each_client_over_http_learns_of_it_once(tmp_path: Path) -> None:
    get = {"name": "get", "arguments": {"name": "a"}}
    with serving(tmp_path, ["run", "--", *NOTES], before=["--stateful"], **QUICK) as server:
        first, second = server.session(), server.session()
        first.ask("logging/setLevel", {"level": "info"})
        pid = first.call("put", NOTE)["structuredContent"]["pid"]
        second.call("get", {"name": "a"})
        server.call("get", {"name": "a"})
        os.kill(pid, signal.SIGKILL)

        def learned(session: Session) -> list[str]:
            """What three calls of a client tell."""
            answers = [session.ask("tools/call", get) for _ in range(3)]
            return [error_of(one)["code"] if "error" in one else " ".join(sorted(meta_of(one))) for one in answers]

        once = ["STATE_LOST", f"{GENERATION} {RESTARTED}", GENERATION]
        assert learned(second) == once
        assert first.ask("tools/call", get)["error"]["data"]["code"] == "STATE_LOST"
        with first.open("tools/call", get) as stream:
            warning, answer = stream.messages()
        assert (warning["params"]["level"], meta_of(answer)[RESTARTED]["from"]) == ("warning", 1)
        assert learned(first) == [GENERATION] * 3
        assert server.ask("tools/call", get).json["error"]["data"]["code"] == "STATE_LOST"
        assert learned(server.session()) == [GENERATION] * 3
