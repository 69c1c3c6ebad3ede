"""The surface of any server as it is on the wire, however it behaves."""

import asyncio
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.unit.inspect.answering import Answers, RefusedError, asked

from holdfast.client.session import ClientSession
from holdfast.client.transports import ProcessTransport
from holdfast.contract.canonical import canonical_json, fingerprint
from holdfast.contract.compare.view import read_surface
from holdfast.errors import SessionError
from holdfast.inspect.live import live_snapshot
from holdfast.testing.hostile import script

FOREIGN = Path(__file__).parents[2] / "cli" / "foreign_server.py"


def paged(key: str, count: int, **item: Any) -> Any:
    def answer(params: dict[str, Any]) -> dict[str, Any]:
        page = int(params.get("cursor", "0"))
        more = {"nextCursor": str(page + 1)} if page + 1 < count else {}
        return {key: [{**item, "name": f"n{page}", "uri": f"u://{page}", "uriTemplate": f"t://{page}"}], **more}

    return answer


def test_everything_that_a_server_offers_is_in_the_snapshot() -> None:
    answers: Answers = {
        "tools/list": paged("tools", 3, inputSchema={}),
        "prompts/list": paged("prompts", 2),
        "resources/list": paged("resources", 2, mimeType="text/plain"),
        "resources/templates/list": paged("resourceTemplates", 1),
    }
    document = asked(answers, live_snapshot)
    stated = document.pop("fingerprint")

    assert [tool["name"] for tool in document["tools"]] == ["n0", "n1", "n2"]
    assert [len(document[key]) for key in ("prompts", "resources", "resourceTemplates")] == [2, 2, 1]
    assert document["server"] == {"name": "table", "version": "1.0.0", "instructions": ""}
    assert document["capabilities"] == {"tools": [], "prompts": ["listChanged"], "resources": []}
    assert (document["protocolVersions"], document["protocolVersionsComplete"]) == (["2025-11-25"], False)
    assert stated == fingerprint(document)


def test_the_order_in_which_a_server_lists_is_no_part_of_its_surface() -> None:
    def listed(*names: str) -> bytes:
        tools = {"tools": [{"name": name, "inputSchema": {}} for name in names]}
        return canonical_json(asked({"tools/list": tools}, live_snapshot))

    assert listed("a", "b", "c") == listed("c", "a", "b")


def test_what_is_offered_but_not_there_is_an_empty_list() -> None:
    methods = ("tools/list", "prompts/list", "resources/templates/list")
    document = asked({method: RefusedError(-32601) for method in methods}, live_snapshot)

    assert (document["prompts"], document["resourceTemplates"]) == ([], [])


def test_what_is_not_offered_is_not_asked_for() -> None:
    hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": {}}
    answers = {"initialize": hello, "prompts/list": RefusedError(-32000), "resources/list": RefusedError(-32000)}

    assert asked(answers, live_snapshot)["prompts"] == []


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        ({"prompts/list": RefusedError(-32603, "broken")}, "broken"),
        ({"prompts/list": {}}, "without a list of prompts"),
        ({"prompts/list": {"prompts": [7]}}, "one of its prompts without name"),
        ({"resources/list": {"resources": [{"name": "x"}]}}, "one of its resources without uri"),
        ({"prompts/list": {"prompts": [], "nextCursor": "again"}}, "prompts/list has no end"),
        ({"prompts/list": {"prompts": [], "nextCursor": 7}}, "prompts/list has no end"),
        ({"tools/list": {"tools": [], "nextCursor": "again"}}, "list of tools has no end"),
    ],
)
def test_a_list_that_is_none_or_has_no_end_is_an_error(answers: Answers, message: str) -> None:
    with pytest.raises(SessionError, match=message):
        asked(answers, live_snapshot)


def test_the_version_of_a_surface_of_ours_is_found_on_the_wire() -> None:
    meta = {"io.holdfast/contract": {"version": "1.0.0", "schemaVersion": 1, "surfaceVersion": "3.2.1"}}
    answers = {"tools/list": {"tools": [{"name": "a", "inputSchema": {}, "_meta": meta}]}}

    assert asked(answers, live_snapshot)["schemaVersion"] == "3.2.1"


def _run(command: list[str]) -> dict[str, Any]:
    async def main() -> dict[str, Any]:
        async with ClientSession(ProcessTransport(command, grace=0.3), request_timeout=20) as session:
            await session.connect()
            return await live_snapshot(session)

    return asyncio.run(main())


def test_a_server_without_a_handshake_tells_every_revision() -> None:
    document = _run([sys.executable, str(FOREIGN), "modern"])

    assert (document["protocolVersions"], document["protocolVersionsComplete"]) == (["2026-07-28"], True)


def test_the_scripted_server_gives_the_same_surface_page_by_page(tmp_path: Path) -> None:
    whole, pages = (_run(script(page_size=size).command(tmp_path / str(size))) for size in (0, 1))

    assert canonical_json(whole) == canonical_json(pages)
    assert len(read_surface(whole).tools) > 1
