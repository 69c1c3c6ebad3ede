"""MCP over HTTP for clients that describe themselves: what is passed on, what is refused, and how it ends."""

import json
import os
import signal
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from tests.api.client import read_to_end, until
from tests.api.mcp_server import KEY, McpServer, meta, serving

TAG = f"{KEY}subscriptionId"


def test_the_server_is_discovered_its_tools_are_listed_and_called(harbour: McpServer) -> None:
    told = harbour.ask("server/discover").json["result"]
    tools = harbour.ask("tools/list", number="two")
    result = harbour.call("count", {"words": ["a", "b"]})

    assert told["supportedVersions"] == ["2026-07-28"]
    assert told["_meta"][f"{KEY}serverInfo"]["name"] == "harbour"
    assert tools.json["id"] == "two"
    assert tools.json["result"]["resultType"] == "complete"
    assert [tool["name"] for tool in tools.json["result"]["tools"]][:2] == ["describe", "restock"]
    assert tools.headers["content-type"] == "application/json"
    assert result["structuredContent"]["result"] == 2


def test_two_clients_may_use_the_same_id_and_the_same_token(harbour: McpServer) -> None:
    answers: dict[str, list[Any]] = {}

    def walk(name: str, steps: int) -> None:
        params = {"name": "walk", "arguments": {"steps": steps}}
        with harbour.open(harbour.message("tools/call", params, 7, progressToken="same")) as stream:
            answers[name] = stream.messages()

    walkers = [threading.Thread(target=walk, args=(name, steps)) for name, steps in (("a", 2), ("b", 3))]
    for walker in walkers:
        walker.start()
    until(lambda: harbour.host["pending"] == 2, "both walk")
    for step in (1, 2, 3):
        harbour.call("open_gate", {"name": f"step {step}"})
    for walker in walkers:
        walker.join(20)

    for name, steps in (("a", 2), ("b", 3)):
        *notices, last = answers[name]
        assert {note["params"]["progressToken"] for note in notices} == {"same"}
        assert [note["params"]["total"] for note in notices] == [steps] * len(notices)
        assert (last["id"], last["result"]["structuredContent"]["steps"]) == (7, steps)


def test_a_client_that_closes_its_stream_ends_the_call(harbour: McpServer, tmp_path: Path) -> None:
    note = tmp_path / "note"
    params = {"name": "hold", "arguments": {"note": str(note)}}
    stream = harbour.open(harbour.message("tools/call", params, progressToken=1))
    assert stream.message()["method"] == "notifications/progress"
    stream.close()

    until(note.exists, "the work is interrupted")
    until(lambda: harbour.host["pending"] == 0, "nothing is left of the call")


@pytest.mark.requirement("S3-topologies-http")
def test_a_call_survives_the_loss_of_its_worker(harbour: McpServer, tmp_path: Path) -> None:
    note = tmp_path / "note"
    results: list[Any] = []
    caller = threading.Thread(target=lambda: results.append(harbour.call("attend", {"note": str(note)})))
    caller.start()
    until(lambda: note.exists() and note.read_text().endswith("\n"), "the call is under way")
    os.kill(int(note.read_text()), signal.SIGKILL)
    caller.join(20)

    first, second = note.read_text().split()
    assert first != second
    assert results[0]["structuredContent"]["pid"] == int(second)


WRONG: list[tuple[str, Any, dict[str, str], int, int]] = [
    ("no _meta", {"_meta": None}, {}, 400, -32602),
    ("no revision", {"_meta": {f"{KEY}clientCapabilities": {}}}, {}, 400, -32602),
    ("no capabilities", {"_meta": {f"{KEY}protocolVersion": "2026-07-28"}}, {}, 400, -32602),
    ("an unknown revision in the header alone", {"_meta": None}, {"MCP-Protocol-Version": "1999"}, 400, -32022),
    ("another revision in the header", {}, {"MCP-Protocol-Version": "2026-07-29"}, 400, -32020),
    ("another method in the header", {}, {"Mcp-Method": "tools/call"}, 400, -32020),
    ("a method in capitals", {}, {"Mcp-Method": "TOOLS/LIST"}, 400, -32020),
]


@pytest.mark.parametrize(
    ("params", "headers", "status", "code"), [row[1:] for row in WRONG], ids=[r[0] for r in WRONG]
)
def test_a_request_that_does_not_describe_itself_well_is_told_so(
    harbour: McpServer, params: Any, headers: dict[str, str], status: int, code: int
) -> None:
    message = harbour.message("tools/list", number=41)
    message["params"] = {key: value for key, value in {**message["params"], **params}.items() if value is not None}
    got = harbour.send(message, {**harbour.headers(message), **headers})

    assert (got.status, got.json["error"]["code"], got.json["id"]) == (status, code, 41)


def test_a_revision_that_nobody_knows_is_answered_with_those_that_are(harbour: McpServer) -> None:
    message = harbour.message("server/discover")
    message["params"]["_meta"][f"{KEY}protocolVersion"] = "v999.0.0"
    got = harbour.send(message, {**harbour.headers(message), "MCP-Protocol-Version": "v999.0.0"})

    assert (got.status, got.json["error"]["code"]) == (400, -32022)
    assert got.json["error"]["data"]["supported"] == ["2026-07-28"]
    assert got.json["error"]["data"]["requested"] == "v999.0.0"


@pytest.mark.parametrize(
    "method",
    ["initialize", "ping", "logging/setLevel", "resources/subscribe", "unknown/method", "holdfast/health"],
)
def test_a_method_that_is_none_is_not_found(harbour: McpServer, method: str) -> None:
    got = harbour.ask(method, number="m")
    assert (got.status, got.json["error"]["code"], got.json["id"]) == (404, -32601, "m")


def test_the_name_of_a_tool_stands_in_a_header_too(harbour: McpServer) -> None:
    message = harbour.message("tools/call", {"name": "count", "arguments": {"words": []}})
    right = harbour.headers(message)
    none = {key: value for key, value in right.items() if key != "Mcp-Name"}

    assert harbour.send(message, none).json["error"]["code"] == -32020
    assert harbour.send(message, {**right, "Mcp-Name": "Count"}).json["error"]["code"] == -32020
    assert harbour.send(message, {**right, "Mcp-Name": "  count "}).status == 200
    assert harbour.send(message, {**right, "Mcp-Name": "=?base64?Y291bnQ=?="}).status == 200
    assert harbour.send(message, {**right, "Mcp-Name": "=?base64?Y291bnQ?="}).status == 400


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        (b"", 400, -32700),
        (b"{", 400, -32700),
        (b"\xff\xfe", 400, -32700),
        (b"[]", 400, -32600),
        (b"7", 400, -32600),
        (b'{"jsonrpc":"2.0","id":null,"method":"tools/list"}', 400, -32600),
        (b'{"jsonrpc":"2.0","id":1,"result":{}}', 400, -32600),
        (b"[" * 100_000 + b"]" * 100_000, 400, -32600),
    ],
    ids=["nothing", "half", "no text", "batch", "number", "no id", "answer", "deep"],
)
def test_what_is_no_message_is_refused_and_harms_nobody(
    harbour: McpServer, body: bytes, status: int, code: int
) -> None:
    message = harbour.message("tools/list")
    got = harbour.send(body, harbour.headers(message))

    assert (got.status, got.json["error"]["code"]) == (status, code)
    assert harbour.ask("tools/list").status == 200


def test_half_a_body_ends_with_its_connection(harbour: McpServer) -> None:
    head = f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{harbour.port}\r\nContent-Type: application/json\r\n"
    with harbour.connect() as connection:
        connection.sendall(head.encode() + b'Content-Length: 500\r\n\r\n{"jsonrpc": "2.0", "id": 1')
    assert harbour.ask("tools/list").status == 200


def test_a_body_that_is_too_large_is_refused_with_the_limit(harbour: McpServer) -> None:
    message = harbour.message("tools/call", {"name": "count", "arguments": {"words": ["x" * 2_000_000]}})
    raw = json.dumps(message).encode()
    head = "".join(f"{key}: {value}\r\n" for key, value in harbour.headers(message).items())
    request = f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{harbour.port}\r\nConnection: close\r\n{head}"
    with harbour.connect() as connection:
        connection.sendall(f"{request}Content-Length: {len(raw)}\r\n\r\n".encode())
        answer = read_to_end(connection)

    assert answer.startswith(b"HTTP/1.1 413 ")
    assert json.loads(answer.partition(b"\r\n\r\n")[2])["error"]["data"]["limitBytes"] == 1_000_000


def test_a_path_that_is_none_is_answered_with_those_that_are(harbour: McpServer) -> None:
    got = harbour.get("/nowhere")
    assert (got.status, got.json["hint"]) == (404, "There is /mcp, /health, /ready, /metrics.")


def test_there_is_nothing_to_get_or_delete_without_a_session(harbour: McpServer) -> None:
    for method in ("GET", "DELETE"):
        got = harbour.request(method, "/mcp", MCP_Protocol_Version="2026-07-28", Accept="text/event-stream")
        assert (got.status, got.headers["allow"]) == (405, "POST, OPTIONS")


def test_a_client_that_takes_no_stream_gets_the_answer_alone(harbour: McpServer) -> None:
    for step in (1, 2):
        harbour.call("open_gate", {"name": f"step {step}"})
    message = harbour.message("tools/call", {"name": "walk", "arguments": {"steps": 1}}, progressToken=1)
    only = harbour.send(message, {**harbour.headers(message), "Accept": "application/json"})
    streamed = harbour.send(message, {**harbour.headers(message), "Accept": "text/event-stream"})
    neither = harbour.send(message, {**harbour.headers(message), "Accept": "text/html"})

    assert only.json["result"]["structuredContent"]["steps"] == 1
    assert streamed.headers["content-type"].startswith("text/event-stream")
    assert streamed.headers["x-accel-buffering"] == "no"
    assert neither.status == 406


def test_half_a_character_in_an_answer_costs_that_character_alone(tmp_path: Path) -> None:
    foreign = Path(__file__).parents[1] / "cli" / "foreign_server.py"
    with serving(tmp_path, ["run", "--", sys.executable, str(foreign), "halves"]) as server:
        said = server.call("echo", {"text": "hi"})

    assert said["content"][0]["text"] == "hi\ufffd"


def test_a_notification_is_taken_without_an_answer(harbour: McpServer) -> None:
    note = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1, "_meta": meta()}}
    got = harbour.send(note, harbour.headers(note))
    assert (got.status, got.body) == (202, b"")


def test_a_server_asks_for_input_and_the_call_is_repeated_with_it(younger: McpServer) -> None:
    can: dict[str, Any] = {"elicitation": {}}
    asked = younger.call("ask", {}, capabilities=can)
    params = {"name": "ask", "arguments": {}, "inputResponses": {"k": {"action": "accept"}}}
    answered = younger.ask("tools/call", {**params, "requestState": asked["requestState"]}, 2, capabilities=can)

    assert asked["resultType"] == "input_required"
    assert asked["inputRequests"]["k"]["method"] == "elicitation/create"
    assert json.loads(answered.json["result"]["content"][0]["text"]) == {"action": "accept"}


def test_changes_are_told_on_the_stream_that_listens_and_on_no_other(younger: McpServer) -> None:
    def listening(number: Any, **wanted: Any) -> Any:
        return younger.open(younger.message("subscriptions/listen", {"notifications": wanted}, number))

    with (
        listening("lists", toolsListChanged=True) as lists,
        listening(7, resourceSubscriptions=["memo://a"]) as memos,
    ):
        acknowledged = [stream.message() for stream in (lists, memos)]
        younger.call("touch", {})
        younger.call("grow", {})
        changed, touched = lists.message(), memos.message()

    assert [one["method"] for one in acknowledged] == ["notifications/subscriptions/acknowledged"] * 2
    assert [one["params"]["_meta"][TAG] for one in acknowledged] == ["lists", 7]
    assert (changed["method"], changed["params"]["_meta"][TAG]) == ("notifications/tools/list_changed", "lists")
    assert (touched["params"]["uri"], touched["params"]["_meta"][TAG]) == ("memo://a", 7)
    until((younger.folder.parent / "record.cancelled").exists, "the server hears that nobody listens")


def test_a_line_of_the_log_is_told_to_the_one_that_asked_for_it(younger: McpServer) -> None:
    loud = younger.message("tools/call", {"name": "log", "arguments": {}}, **{f"{KEY}logLevel": "info"})
    with younger.open(loud) as stream:
        first, last = stream.messages()
    quiet = younger.ask("tools/call", {"name": "log", "arguments": {}})

    assert (first["method"], first["params"]["data"]) == ("notifications/message", "info")
    assert last["id"] == 1
    assert quiet.headers["content-type"] == "application/json"
