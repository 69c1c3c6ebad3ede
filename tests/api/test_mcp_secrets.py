"""Arguments that are marked as secrets are written down nowhere."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import pytest
from tests.api.mcp_server import McpServer, serving

from holdfast import Server, marks
from holdfast.errors import ContractError

SECRET = 'opensesame "7\\\n&"'
PIECE = b"opensesame"
KEY = "opensesame" + "-0123456789" * 5 + "-opensesame"  # so long that others quote its two ends alone
VAULT = ["serve", str(Path(__file__).with_name("secretive_server.py"))]


@pytest.fixture(scope="module")
def vault(tmp_path_factory: pytest.TempPathFactory) -> Iterator[McpServer]:
    """A server that has secrets told to it."""
    with serving(tmp_path_factory.mktemp("vault"), VAULT, HOLDFAST_HEALTH_TOOLS="on") as server:
        yield server


def call(vault: McpServer, tool: str, **arguments: Any) -> bytes:
    return vault.ask("tools/call", {"name": tool, "arguments": arguments}).body


def test_the_schema_calls_it_a_password(vault: McpServer) -> None:
    tools = {tool["name"]: tool for tool in vault.ask("tools/list").json["result"]["tools"]}
    password = tools["refuse"]["inputSchema"]["properties"]["password"]
    assert (password["writeOnly"], password["format"]) == (True, "password")


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("refuse", {"password": SECRET}),
        ("stumble", {"password": SECRET}),
        ("stumble_apart", {"password": SECRET}),
        ("stumble_in_pair", {"pair": [SECRET, 1]}),
        ("stumble_elsewhere", {"password": KEY}),
        ("refuse", {"password": SECRET, "more": 1}),
        ("refuse", {"password": [SECRET]}),
        ("refuse", {"password": {SECRET: SECRET}}),
        ("repeat", {"key": "k", "login": {"user": "u", "password": SECRET * 9}}),
        ("repeat", {"key": "k", "login": {"user": 7, "password": SECRET}}),
    ],
)
def test_no_failure_tells_it(vault: McpServer, tool: str, arguments: dict[str, Any]) -> None:
    told = call(vault, tool, **arguments)
    assert b"rror" in told
    assert PIECE not in told


def test_no_file_of_the_state_directory_holds_it(vault: McpServer) -> None:
    login = {"user": "u", "password": SECRET}
    assert PIECE in call(vault, "repeat", key="k1", login=login), "what a tool returns is its own affair"
    again = call(vault, "repeat", key="k1", login=login)
    assert call(vault, "repeat_by_secret", password=SECRET) == call(vault, "repeat_by_secret", password=SECRET)
    call(vault, "read", path=f"/tmp/{SECRET}")
    call(vault, "stumble", password=SECRET)
    call(vault, "stumble_in_pair", pair=[SECRET, 1])
    call(vault, "stumble_elsewhere", password=KEY)
    vault.ask("prompts/get", {"name": "advise", "arguments": {"password": SECRET}})
    vault.ask("prompts/get", {"name": "advise", "arguments": {"password": SECRET, "times": SECRET}})
    assert PIECE not in call(vault, "collapse", password=SECRET)
    told = [call(vault, "holdfast_telemetry"), vault.get("/metrics").body, vault.get("/health").body]

    files = [file for file in (vault.folder / "state").rglob("*") if file.is_file()]
    assert b"[redacted]" in again, "the stored outcome has it no more"
    assert any(file.name.startswith("outcomes-") for file in files)
    assert vault.host["counters"]["deduplicated"] >= 2
    assert any(b"cannot parse" in file.read_bytes() for file in files)
    assert any(b"collapsed over [redacted]" in file.read_bytes() for file in files)
    assert [file for file in files if PIECE in file.read_bytes()] == []
    assert not any(PIECE in one for one in told)


def test_a_stored_outcome_without_a_number_is_still_json(vault: McpServer) -> None:
    first, again = (json.loads(call(vault, "count", key="k", pin=918273645))["result"] for _ in range(2))

    assert first["structuredContent"]["value"] == 918273645
    assert again["structuredContent"]["value"] == "[redacted]"
    assert "918273645" not in json.dumps(again)


def test_an_address_cannot_have_a_secret_in_it() -> None:
    async def read(word: Annotated[str, marks.secret()]) -> str:
        return word

    with pytest.raises(ContractError, match="is a secret, and addresses are told and logged"):
        Server("addresses", version="1.0.0").resource("vault://{word}")(read)
