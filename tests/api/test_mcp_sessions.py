"""MCP over HTTP for clients with a handshake: their sessions live in the front, and outlive workers."""

import json
import os
import signal
import threading
from pathlib import Path
from typing import Any

import pytest
from tests.api.client import Got, until
from tests.api.mcp_server import HARBOUR, McpServer, initialize_params, serving

REVISIONS = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]


@pytest.mark.parametrize("revision", REVISIONS)
def test_a_session_is_introduced_asked_and_ended(harbour: McpServer, revision: str) -> None:
    session = harbour.session(revision)
    result = session.answer["result"]
    tools = session.ask("tools/list")["result"]

    assert result["protocolVersion"] == revision
    assert result["serverInfo"] == {"name": "harbour", "version": "1.2.0"}
    assert result["instructions"] == "Articles and their shelves."
    assert {"resultType", "ttlMs", "cacheScope"}.isdisjoint(tools)
    assert session.ask("ping")["result"] == {}
    assert session.call("count", {"words": ["a"]})["isError"] is False
    assert session.delete().status == 204
    assert harbour.send(session.message("tools/list"), session.headers).status == 404


def test_a_handshake_promises_what_the_host_adds_as_a_request_that_describes_itself_is_told(
    harbour: McpServer, younger: McpServer
) -> None:
    for server in (harbour, younger):
        discovered = server.ask("server/discover").json["result"]["capabilities"]
        introduced = server.session().answer["result"]["capabilities"]

        assert introduced["tools"] == discovered["tools"]
        assert introduced["tools"]["listChanged"] is True  # of a new version every client is told
        assert introduced.get("resources") == discovered.get("resources")


def test_a_missing_resource_has_the_code_of_the_revision(tmp_path: Path) -> None:
    library = str(Path(__file__).parents[2] / "examples" / "library.py")
    with serving(tmp_path, ["serve", library]) as server:
        missing = {"uri": "library://books/99"}
        older, newer = server.session().ask("resources/read", missing), server.ask("resources/read", missing).json
        bad = server.session().ask("resources/read", {"uri": "library://books/none"})

    assert (older["error"]["code"], newer["error"]["code"]) == (-32002, -32602)
    assert older["error"]["data"]["uri"] == missing["uri"]
    assert bad["error"]["code"] == -32602


def test_a_revision_that_nobody_knows_gets_the_latest(harbour: McpServer) -> None:
    assert harbour.session("2030-01-01").answer["result"]["protocolVersion"] == "2025-11-25"


def test_a_session_has_to_be_named_and_known(harbour: McpServer) -> None:
    session = harbour.session()
    unnamed = {key: value for key, value in session.headers.items() if key != "Mcp-Session-Id"}
    unknown = {**session.headers, "Mcp-Session-Id": "nobody"}

    def statuses(headers: dict[str, str]) -> list[int]:
        named = {key.replace("-", "_"): value for key, value in headers.items()}
        posted = harbour.send(session.message("tools/list"), headers).status
        return [posted, harbour.get("/mcp", **named).status, harbour.request("DELETE", "/mcp", **named).status]

    twice = {**session.headers, "mcp-session-id": session.headers["Mcp-Session-Id"]}
    assert "more than once" in harbour.send(session.message("tools/list"), twice).body.decode()
    assert statuses(unnamed) == [400, 400, 400]
    assert statuses(unknown) == [404, 404, 404]
    assert (
        harbour.send(session.message("initialize", initialize_params("2025-11-25")), session.headers).status == 400
    )


@pytest.mark.parametrize("method", ["server/discover", "subscriptions/listen", "holdfast/health", "nothing"])
def test_methods_of_the_other_era_do_not_exist_in_a_session(harbour: McpServer, method: str) -> None:
    assert harbour.session().ask(method)["error"]["code"] == -32601


def test_a_batch_is_for_one_revision_alone(harbour: McpServer) -> None:
    session, newer = harbour.session("2025-03-26"), harbour.session("2025-06-18")
    note = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 99}}
    batch = [session.message("ping", number=1), note, session.message("tools/list", number="b")]
    got = harbour.send(batch, session.headers)
    answers = got.json if "json" in got.headers["content-type"] else _streamed(got)

    assert {answer["id"] for answer in answers} == {1, "b"}
    assert harbour.send([note], session.headers).status == 202
    for wrong, headers in (([], session.headers), (batch, newer.headers)):
        refused = harbour.send(wrong, headers)
        assert (refused.status, refused.json["error"]["code"]) == (400, -32600)


def _streamed(got: Got) -> list[Any]:
    return [json.loads(line[6:]) for line in got.body.decode().splitlines() if line.startswith("data: ")]


def test_progress_comes_before_the_answer_on_the_stream_of_the_request(harbour: McpServer) -> None:
    one, other = harbour.session(), harbour.session()
    params = {"name": "walk", "arguments": {"steps": 2}, "_meta": {"progressToken": "same"}}
    with one.open("tools/call", params, 5) as first, other.open("tools/call", params, 5) as second:
        began = [stream.message() for stream in (first, second)]
        for step in (1, 2):
            one.call("open_gate", {"name": f"step {step}"}, 6)
        ended = [stream.messages()[-1] for stream in (first, second)]

    assert [note["params"]["progressToken"] for note in began] == ["same", "same"]
    assert [answer["id"] for answer in ended] == [5, 5]
    assert [answer["result"]["structuredContent"]["steps"] for answer in ended] == [2, 2]


@pytest.mark.requirement("S3-topologies-http")
def test_a_worker_that_is_killed_is_not_noticed_by_the_session(harbour: McpServer, tmp_path: Path) -> None:
    session, note = harbour.session(), tmp_path / "note"
    results: list[Any] = []
    caller = threading.Thread(target=lambda: results.append(session.call("attend", {"note": str(note)})))
    caller.start()
    until(lambda: note.exists() and note.read_text().endswith("\n"), "the call is under way")
    os.kill(int(note.read_text()), signal.SIGKILL)
    caller.join(20)

    first, second = note.read_text().split()
    assert first != second
    assert results[0]["structuredContent"]["pid"] == int(second)
    assert session.call("identify", {})["structuredContent"]["pid"] == int(second)


def test_a_cancelled_request_is_not_answered_and_its_work_ends(harbour: McpServer, tmp_path: Path) -> None:
    session, note = harbour.session(), tmp_path / "note"
    params = {"name": "hold", "arguments": {"note": str(note)}, "_meta": {"progressToken": 1}}
    with session.open("tools/call", params, "held") as stream:
        assert stream.message()["method"] == "notifications/progress"
        session.tell({"method": "notifications/cancelled", "params": {"requestId": "held"}})
        assert [one for one in stream.messages() if "id" in one] == []
    until(note.exists, "the work is interrupted")


def test_an_id_in_flight_is_refused_and_the_first_is_untouched(harbour: McpServer) -> None:
    session = harbour.session()
    params = {"name": "walk", "arguments": {"steps": 1}, "_meta": {"progressToken": 1}}
    with session.open("tools/call", params, 1) as stream:
        stream.message()
        again = harbour.send(session.message("tools/list", number=1), session.headers)
        session.call("open_gate", {"name": "step 1"}, 2)
        last = stream.messages()[-1]

    assert (again.status, again.json["error"]["code"]) == (400, -32600)
    assert last["id"] == 1
    assert "result" in last


def test_a_reader_that_comes_back_gets_the_rest(harbour: McpServer) -> None:
    session = harbour.session("2025-11-25")
    params = {"name": "walk", "arguments": {"steps": 1}, "_meta": {"progressToken": 1}}
    stream = session.open("tools/call", params, 9)
    primed, told = stream.next(), stream.next()
    stream.close()
    session.call("open_gate", {"name": "step 1"}, 10)
    with session.listen(last=told["id"]) as again:
        rest = again.messages()

    assert (primed["data"], "retry" in primed) == ("", True)
    assert primed["id"] != told["id"]
    assert [one["id"] for one in rest if "id" in one] == [9]


def test_a_server_asks_the_client_on_the_stream_of_the_call(younger: McpServer) -> None:
    session = younger.session("2025-06-18", capabilities={"elicitation": {}})
    with session.open("tools/call", {"name": "ask", "arguments": {}}, 3) as stream:
        question = stream.message()
        answered = session.tell({"id": question["id"], "result": {"action": "accept", "content": {"a": "b"}}})
        last = stream.messages()[-1]

    assert (question["method"], question["params"]["message"]) == ("elicitation/create", "which?")
    assert answered.status == 202
    assert last["id"] == 3
    assert '"b"' in last["result"]["content"][0]["text"]


def test_what_a_client_cannot_be_asked_is_an_error_of_the_call(younger: McpServer) -> None:
    answer = younger.session("2025-06-18").ask("tools/call", {"name": "ask", "arguments": {}})
    assert answer["error"]["data"]["code"] == "CAPABILITY_MISSING"


def test_changes_are_told_on_the_stream_of_the_session(younger: McpServer) -> None:
    session, other = younger.session(), younger.session()
    assert session.ask("resources/subscribe", {"uri": "memo://a"})["result"] == {}
    with session.listen() as stream, other.listen() as quiet:
        other.call("touch", {})
        other.call("grow", {})
        told = [stream.message()["method"] for _ in range(2)]
        heard = quiet.message()["method"]
    assert session.ask("resources/unsubscribe", {"uri": "memo://a"})["result"] == {}

    assert sorted(told) == ["notifications/resources/updated", "notifications/tools/list_changed"]
    assert heard == "notifications/tools/list_changed"


def test_what_is_told_while_nobody_reads_is_there_for_the_next_reader(younger: McpServer) -> None:
    session = younger.session()
    session.ask("resources/subscribe", {"uri": "memo://a"})
    session.call("touch", {})
    with session.listen() as stream:
        first = stream.message()
    session.call("touch", {})
    with session.listen() as stream:
        second = stream.next()

    assert first["params"]["uri"] == "memo://a"
    assert second["id"].rpartition("-")[2] == "2", "the first is not told again"


def test_a_second_reader_takes_the_place_of_the_first(harbour: McpServer) -> None:
    session = harbour.session()
    with session.listen() as first, session.listen():
        assert first.message() is None


def test_the_level_of_the_log_is_remembered(younger: McpServer) -> None:
    session = younger.session()
    with session.open("tools/call", {"name": "log", "arguments": {}}, 1) as quiet:
        assert "json" in (quiet.response.getheader("content-type") or "")
    assert session.ask("logging/setLevel", {"level": "warning"})["result"] == {}
    with session.open("tools/call", {"name": "log", "arguments": {}}, 2) as stream:
        told = stream.message()

    assert (told["method"], told["params"]["data"]) == ("notifications/message", "warning")
    assert session.ask("logging/setLevel", {"level": "loud"})["error"]["code"] == -32602


def test_only_so_many_sessions_of_one_client_are_taken(tmp_path: Path) -> None:
    with serving(tmp_path, HARBOUR, HOLDFAST_HTTP_CLIENT_SESSIONS="2") as server:
        kept = [server.session(), server.session()]
        refused = server.send(
            kept[0].message("initialize", initialize_params("2025-11-25"), 4), {"Content-Type": "application/json"}
        )
        assert (refused.status, refused.json["id"]) == (429, 4)
        assert refused.json["error"]["data"]["code"] == "RATE_LIMITED"
        assert int(refused.headers["retry-after"]) >= 1
        assert kept[0].delete().status == 204
        server.session()


def test_a_quiet_session_is_over_after_its_time(tmp_path: Path) -> None:
    with serving(tmp_path, HARBOUR, HOLDFAST_HTTP_SESSION_IDLE="0.5") as server:
        session, kept = server.session(), server.session()
        with kept.listen() as stream:
            until(
                lambda: server.send(session.message("ping"), session.headers).status == 404 or _rest(),
                "it is over",
            )
            assert kept.ask("ping")["result"] == {}
            stream.close()


def _rest() -> bool:
    """Leave the session alone for longer than its time: looking at it keeps it alive."""
    threading.Event().wait(1.0)
    return False
