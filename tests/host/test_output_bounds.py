"""Bounds on results at a real host: cut, kept, read again, and gone with the host."""

import json
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from tests.host.answers import code_of, eventually
from tests.host.conftest import QUICK, Events

from holdfast.present.profile import MODERN
from holdfast.testing import HostUnderTest
from holdfast.vocabulary.meta import META_PRINCIPAL

Start = Callable[..., HostUnderTest]
HERE = Path(__file__).parent
FOREIGN = [sys.executable, str(HERE / "talkative_server.py")]
OURS = str(HERE / "bounded_server.py")


@pytest.fixture
def talkative(tmp_path: Path) -> Iterator[Start]:
    """Starts a host in front of the talkative server, with these options."""
    with ExitStack() as stack:

        def start(*options: str, revision: str = "2025-06-18", **environment: str) -> HostUnderTest:
            host = HostUnderTest.running(FOREIGN, tmp_path, *options, environment={**QUICK, **environment})
            stack.enter_context(host)
            host.handshake(revision)
            return host

        yield start


def first_text(answer: dict[str, Any]) -> str:
    """The text of a result."""
    text: str = answer["result"]["content"][0]["text"]
    return text


def uri_in(answer: dict[str, Any]) -> str:
    """The name of the whole."""
    return first_text(answer).partition("the whole: ")[2].split("\n")[0]


def read(host: HostUnderTest, uri: str) -> dict[str, Any]:
    """The answer to reading a resource."""
    return host.answer_of(host.request("resources/read", {"uri": uri}))


def kept(folder: Path) -> list[Path]:
    """What is on disk of outputs, directories included."""
    return sorted(folder.glob("state/hosts/*.output")) + sorted(folder.glob("state/hosts/*.output/*"))


@pytest.mark.requirement("OURS-14c-text")
@pytest.mark.parametrize("revision", ["2024-11-05", MODERN])
def test_a_long_text_is_cut_and_its_whole_is_read_from_the_host(talkative: Start, revision: str) -> None:
    host = talkative("--output-bytes", "2048", revision=revision)

    answer = host.call("lines", {"count": 5000})

    assert len(first_text(answer).encode()) <= 2048
    assert first_text(answer).startswith("row 0\nrow 1\n")
    host.kill_worker()
    [content] = read(host, uri_in(answer))["result"]["contents"]
    assert content["text"] == "\n".join(f"row {number}" for number in range(5000))
    links = [item["uri"] for item in answer["result"]["content"][1:]]
    assert links == ([] if revision == "2024-11-05" else [uri_in(answer)])


def test_nothing_is_left_of_outputs_when_the_host_ends_or_is_killed(
    talkative: Start, tmp_path: Path, events: Events
) -> None:
    host = talkative("--output-tokens", "300")
    host.call("lines", {"count": 5000})
    assert [path.stat().st_mode & 0o777 for path in kept(tmp_path)] == [0o700, 0o600]
    host.process.send_signal(signal.SIGKILL)
    host.process.wait(10)
    assert kept(tmp_path)

    other = talkative("--output-bytes", "2048")
    assert eventually(lambda: not kept(tmp_path))
    other.call("lines", {"count": 5000})
    assert other.close() == 0
    assert kept(tmp_path) == []


@pytest.mark.requirement("OURS-14c-json")
def test_what_bounds_do_not_touch_passes_and_what_they_must_not_cut_is_whole(talkative: Start) -> None:
    host = talkative("--output-bytes", "2048")

    assert len(first_text(host.call("document", {"count": 5000}))) > 40_000
    assert len(host.call("structured", {"count": 5000})["result"]["structuredContent"]["rows"]) == 5000
    picture = host.call("picture", {"count": 2000})
    [content] = read(host, uri_in(picture))["result"]["contents"]
    assert content == {"uri": uri_in(picture), "mimeType": "image/png", "blob": "QUJD" * 2000}
    failure = first_text(host.call("failure", {"count": 5000})).split("\n")
    assert (failure[0], failure[-1]) == ("first", "last")


def test_a_limit_for_one_tool_comes_from_the_file(talkative: Start, tmp_path: Path) -> None:
    file = tmp_path / "holdfast.toml"
    file.write_text("[tools.document]\noutput_bytes = 4096\n[tools.lines]\noutput_tokens = 500\n")
    host = talkative(HOLDFAST_CONFIG=str(file))

    answer = host.call("document", {"count": 5000})

    assert code_of(answer) == "RESULT_TOO_LARGE"
    uri = answer["result"]["content"][1]["uri"]
    assert len(json.loads(read(host, uri)["result"]["contents"][0]["text"])) == 5000
    assert "omitted; the whole: " in first_text(host.call("lines", {"count": 5000}))
    assert "result" in host.call("failure", {"count": 5000})


def test_the_handshake_and_the_lists_say_that_there_are_resources(talkative: Start) -> None:
    host = talkative("--output-bytes", "2048")

    told = host.messages[0]["result"]["capabilities"]
    templates = host.answer_of(host.request("resources/templates/list"))["result"]["resourceTemplates"]

    assert told == {"tools": {"listChanged": True}, "resources": {}}
    assert host.answer_of(host.request("resources/list"))["result"] == {"resources": []}
    assert [one["uriTemplate"] for one in templates] == ["holdfast://output/{id}"]
    assert read(host, "file:///etc/passwd")["error"]["code"] == -32002
    assert read(host, "holdfast://output/../../../etc/passwd")["error"]["data"]["code"] == "NOT_FOUND"


def test_a_batch_is_bounded_answer_by_answer(talkative: Start) -> None:
    host = talkative("--output-bytes", "1024", revision="2025-03-26")
    params = {"name": "lines", "arguments": {"count": 1000}}
    calls = [{"jsonrpc": "2.0", "id": f"b{number}", "method": "tools/call", "params": params} for number in (1, 2)]

    host.send_raw(json.dumps(calls).encode() + b"\n")
    host.until(lambda: any(isinstance(message, list) for message in host.messages))

    [batch] = [message for message in host.messages if isinstance(message, list)]
    assert sorted(answer["id"] for answer in batch) == ["b1", "b2"]
    assert all("omitted; the whole: " in first_text(answer) for answer in batch)


def test_a_disk_that_takes_nothing_costs_only_the_whole(talkative: Start, tmp_path: Path, events: Events) -> None:
    host = talkative("--output-bytes", "2048")
    host.call("lines", {"count": 5000})
    (directory,) = tmp_path.glob("state/hosts/*.output")
    directory.chmod(0o755)  # open to others, so it is not used any more

    answer = host.call("lines", {"count": 5000})

    assert first_text(answer).endswith("omitted; the whole could not be kept")
    assert len(answer["result"]["content"]) == 1
    host.close()
    assert "was not kept" in events("fault")[0]["message"]


def test_the_front_is_answered_in_full_while_clients_are_bounded(tmp_path: Path) -> None:
    command = [sys.executable, str(HERE / "front_host.py"), str(tmp_path / "port"), *FOREIGN]
    environment = {**QUICK, "HOLDFAST_OUTPUT_BYTES": "1024"}
    params = {"name": "lines", "arguments": {"count": 1000}}
    with HostUnderTest(command, tmp_path, worker=FOREIGN, environment=environment) as host:
        host.handshake()
        port = tmp_path / "port"
        with socket.create_connection(("127.0.0.1", int(port.read_text())), timeout=20) as connection:
            answers = connection.makefile("rb")
            connection.sendall(json.dumps({"method": "tools/call", "params": params}).encode() + b"\n")
            own = json.loads(answers.readline())
            passed_on = {**params, "_meta": {META_PRINCIPAL: ""}}
            connection.sendall(json.dumps({"method": "tools/call", "params": passed_on}).encode() + b"\n")
            of_client = json.loads(answers.readline())

        assert first_text(own).endswith("row 999")
        assert "omitted; the whole: " in first_text(of_client)
        assert "omitted; the whole: " in first_text(host.call("lines", {"count": 1000}))


async def use_official_client(parameters: StdioServerParameters, mode: str) -> dict[str, Any]:
    """What the official client makes of our own bounded tools."""
    async with Client(stdio_client(parameters), mode=mode, read_timeout_seconds=20) as client:
        shortened = await client.call_tool("shortened", {"count": 5000})
        refused = await client.call_tool("whole", {"count": 5000})
        free = await client.call_tool("free", {"count": 5000})
        link: Any = refused.content[1]
        resource: Any = (await client.read_resource(link.uri)).contents[0]
    return {"shortened": shortened, "refused": refused, "free": free, "whole": json.loads(resource.text)}


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_the_official_client_reads_what_our_own_tools_leave_out(tmp_path: Path, mode: str) -> None:
    words = ["-m", "holdfast", "serve", "--state-dir", str(tmp_path / "state"), OURS]
    environment = {"HOLDFAST_CONFIG": "none", **QUICK}
    parameters = StdioServerParameters(command=sys.executable, args=words, env=environment)

    told = anyio.run(use_official_client, parameters, mode)

    rows = told["shortened"].structured_content
    assert rows["omitted"] == 5000 - len(rows["rows"]) > 0
    assert told["refused"].is_error
    assert len(told["whole"]["rows"]) == 5000
    assert len(told["free"].structured_content["rows"]) == 5000
