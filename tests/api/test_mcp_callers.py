"""Who may ask what over HTTP, and how much of it: tokens with tools, limits of each client."""

import hashlib
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.api.client import until
from tests.api.mcp_server import HARBOUR, YOUNGER, McpServer, Session, serving

from holdfast.api.allowance import MOST_LISTENING

WIDE, NARROW = "wide-open-token-0001", "narrow-token-00000002"


def token_file(folder: Path) -> Path:
    file = folder / "tokens.toml"
    file.write_text(
        f'[[token]]\nname = "wide"\nsha256 = "{hashlib.sha256(WIDE.encode()).hexdigest()}"\n\n'
        f'[[token]]\nname = "narrow"\ntoken = "{NARROW}"\ntools = ["count", "open_*"]\n'
    )
    file.chmod(0o600)
    return file


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[McpServer]:
    """A server that knows two tokens."""
    folder = tmp_path_factory.mktemp("guarded")
    before = ["--http-tokens", str(token_file(folder))]
    with serving(folder, HARBOUR, before=before, HOLDFAST_HEALTH_TOOLS="on") as server:
        yield server


def ask(server: McpServer, token: str, method: str, params: dict[str, Any] | None = None) -> Any:
    message = server.message(method, params, 5)
    return server.send(message, {**server.headers(message), "Authorization": f"Bearer {token}"})


def test_without_a_token_nothing_is_told(guarded: McpServer) -> None:
    got = guarded.ask("tools/list")
    assert (got.status, got.json["error"]["data"]["code"]) == (401, "UNAUTHORIZED")
    assert "www-authenticate" in got.headers
    assert ask(guarded, "wrong-token-of-length", "tools/list").status == 401
    until(lambda: guarded.logged("token_refused") != [], "the host has written that down")
    (event,) = guarded.logged("token_refused")
    assert (event["address"], event["count"]) == ("127.0.0.1", 1)
    assert not any("wrong-token" in log.read_text() for log in guarded.logs())


def test_a_token_sees_and_calls_the_tools_that_it_is_for(guarded: McpServer) -> None:
    wide = ask(guarded, WIDE, "tools/list").json["result"]
    narrow = ask(guarded, NARROW, "tools/list").json["result"]
    counted = ask(guarded, NARROW, "tools/call", {"name": "count", "arguments": {"words": []}})
    refused = ask(guarded, NARROW, "tools/call", {"name": "identify", "arguments": {}})

    assert len(wide["tools"]) > 5
    assert [tool["name"] for tool in narrow["tools"]] == ["count", "open_gate"]
    assert (wide["cacheScope"], narrow["cacheScope"]) == ("public", "private")
    assert counted.status == 200
    assert (refused.status, refused.json["id"], refused.json["error"]["code"]) == (403, 5, 1003)
    assert refused.json["error"]["data"]["code"] == "FORBIDDEN"
    assert ask(guarded, WIDE, "tools/call", {"name": "identify", "arguments": {}}).status == 200


@pytest.mark.parametrize("document", ["health", "telemetry"])
def test_what_a_tool_of_the_host_tells_is_no_resource_for_a_token_without_that_tool(
    guarded: McpServer, document: str
) -> None:
    uri = f"holdfast://{document}"
    session = guarded.session(Authorization=f"Bearer {NARROW}")
    refused = ask(guarded, NARROW, "resources/read", {"uri": uri})
    in_session = guarded.send(session.message("resources/read", {"uri": uri}), session.headers)
    listed = [
        *ask(guarded, NARROW, "resources/list").json["result"]["resources"],
        *session.ask("resources/list")["result"]["resources"],
    ]

    assert (refused.status, refused.json["error"]["data"]["code"]) == (403, "FORBIDDEN")
    assert (in_session.status, in_session.json["error"]["data"]["code"]) == (403, "FORBIDDEN")
    assert uri not in [resource["uri"] for resource in listed]
    assert uri in [one["uri"] for one in ask(guarded, WIDE, "resources/list").json["result"]["resources"]]
    assert ask(guarded, WIDE, "resources/read", {"uri": uri}).status == 200


def test_a_session_belongs_to_the_token_that_began_it(guarded: McpServer) -> None:
    session = guarded.session(Authorization=f"Bearer {NARROW}")
    listed = session.ask("tools/list")["result"]["tools"]
    refused = guarded.send(session.message("tools/call", {"name": "identify", "arguments": {}}), session.headers)
    stolen = guarded.send(session.message("ping"), {**session.headers, "Authorization": f"Bearer {WIDE}"})

    assert [tool["name"] for tool in listed] == ["count", "open_gate"]
    assert (refused.status, refused.json["error"]["code"]) == (403, -32003)
    assert stolen.status == 404


def test_no_token_is_written_anywhere(guarded: McpServer) -> None:
    ask(guarded, NARROW, "tools/list")
    files = [file for file in guarded.folder.rglob("*") if file.is_file() and file.name != "tokens.toml"]
    assert files
    assert not any(token.encode() in file.read_bytes() for file in files for token in (WIDE, NARROW))


def test_a_client_that_asks_too_often_is_told_when_to_come_back(tmp_path: Path) -> None:
    with serving(tmp_path, HARBOUR, before=["--http-client-rate", "0.01"]) as server:
        statuses = [server.ask("server/discover", number=n) for n in range(4)]
        refused = [got for got in statuses if got.status == 429]

        assert refused
        assert (refused[0].json["error"]["code"], refused[0].json["error"]["data"]["code"]) == (
            1004,
            "RATE_LIMITED",
        )
        assert int(refused[0].headers["retry-after"]) >= 1


def test_a_client_may_only_have_so_much_at_once(tmp_path: Path) -> None:
    limits = {"HOLDFAST_HTTP_CLIENT_CONCURRENCY": "1", "HOLDFAST_HTTP_CLIENT_STREAMS": "1"}
    with serving(tmp_path, HARBOUR, **limits) as server:
        session = server.session()
        params = {"name": "walk", "arguments": {"steps": 1}, "_meta": {"progressToken": 1}}
        with session.open("tools/call", params) as stream:
            stream.message()
            refused = server.ask("tools/list", number=3)
        until(lambda: server.get("/metrics").body.count(b"holdfast_http_sse_streams 0") == 1, "nobody reads")
        left_behind = server.ask("tools/list", number=4)
        session.tell({"method": "notifications/cancelled", "params": {"requestId": 1}})
        until(lambda: server.ask("tools/list").status == 200, "the place is free again")
        with session.listen():
            second = server.session().listen()
            assert second.status == 429
            second.close()

    assert (refused.status, refused.json["id"], refused.json["error"]["code"]) == (429, 3, 1004)
    assert left_behind.status == 429, "the call that may be read on is still at work"


def test_many_clients_are_served_at_once(guarded: McpServer) -> None:
    answers: list[Any] = []

    def visit(number: int) -> None:
        session = guarded.session(Authorization=f"Bearer {WIDE}")
        answers.append(session.call("count", {"words": ["w"] * number})["structuredContent"]["result"])
        assert session.delete().status == 204

    visitors = [threading.Thread(target=visit, args=(number,)) for number in range(20)]
    for visitor in visitors:
        visitor.start()
    for visitor in visitors:
        visitor.join(60)
    assert sorted(answers) == list(range(20))


def test_subscriptions_of_sessions_count_as_streams_that_listen(tmp_path: Path) -> None:
    def subscribe(session: Session, number: int) -> Any:
        return session.ask("resources/subscribe", {"uri": f"memo://{number}"})

    words = ["run", "--", sys.executable, YOUNGER, str(tmp_path / "record")]
    with serving(tmp_path / "served", words, before=["--http-tokens", str(token_file(tmp_path))]) as server:
        wide, again = (server.session(Authorization=f"Bearer {WIDE}") for _ in range(2))
        narrow = server.session(Authorization=f"Bearer {NARROW}")
        most = MOST_LISTENING // 2
        taken = [subscribe(wide, number) for number in range(most)]
        refused = subscribe(again, most)
        shared = subscribe(again, 0)
        others = [subscribe(narrow, number) for number in (0, most)]
        wide.ask("resources/unsubscribe", {"uri": "memo://1"})
        freed = subscribe(again, most)
        wide.delete()
        left = [subscribe(again, number) for number in range(most + 1, 2 * most - 1)]

    assert all(answer["result"] == {} for answer in [*taken, shared, *others, freed, *left])
    assert refused["error"]["data"]["code"] == "RATE_LIMITED"
