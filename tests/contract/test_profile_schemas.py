"""Every row of the table of profiles against the official schema of its revision.

A session in memory says everything that a server can say at one row; each message must be valid there. Schemas
are open, so this also proves that fields of our own stand only where the revision allows other fields.
"""

import asyncio
import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from tests.contract.exchange import ENVELOPE, call, initialize, modern, note, request
from tests.contract.patterns import Run, resolve
from tests.contract.server_under_test import build

from holdfast.present.profile import PROFILES, Profile
from holdfast.settings import Settings
from holdfast.testing.memory import RecordingLog
from holdfast.worker.server import Server
from holdfast.worker.session import DirectOutlet, Session

SCHEMAS = Path(__file__).parent / "schemas"
DIALECTS = ("poc", "status", "launch")


@cache
def _schema(revision: str) -> dict[str, Any]:
    schema: dict[str, Any] = json.loads((SCHEMAS / f"{revision}.json").read_text())
    return schema


@cache
def _validator(revision: str, definition: str) -> Any:
    """The validator of one named definition of a revision."""
    schema = _schema(revision)
    place = "definitions" if "definitions" in schema else "$defs"
    document = {"$schema": schema["$schema"], place: schema[place], "$ref": f"#/{place}/{definition}"}
    draft = (
        jsonschema_rs.Draft7Validator if "draft-07" in schema["$schema"] else jsonschema_rs.Draft202012Validator
    )
    return draft(document)


@cache
def _server(dialect: str) -> Server:
    return build(dialect)


@dataclass
class Dialogue:
    """A session of one row, and what it says."""

    profile: Profile
    session: Session
    said: list[Any]
    news: asyncio.Event

    def ask(self, message: Any) -> None:
        """Send one message, in the manner of the row's era."""
        filled = resolve(message, Run("native", "standalone", 0, SCHEMAS))
        if self.profile.self_describing and "id" in filled and filled["method"] != "initialize":
            params = filled.get("params", {})
            filled["params"] = {**params, "_meta": {**params.get("_meta", {}), **ENVELOPE}}
        self.session.receive(json.dumps(filled).encode())

    async def answer_to(self, request_id: int | str) -> Any:
        """The answer to a request, once it is there."""
        async with asyncio.timeout(20):
            while not (found := [item for item in self.said if item.get("id") == request_id]):
                self.news.clear()
                await self.news.wait()
        return found[0]


def _open(profile: Profile, dialect: str) -> Dialogue:
    settings = replace(
        Settings(),
        event_log=False,
        protocol="pinned" if profile.pinned else "negotiate",
        concurrency=1,
        queue_max=0,
    )
    said: list[Any] = []
    news = asyncio.Event()

    def hear(message: Any) -> None:
        said.append(message)
        news.set()

    log = RecordingLog()
    outlet = DirectOutlet(log, hear)
    session = Session(_server(dialect), settings, log, outlet, legacy_framing=profile.legacy_framing)
    dialogue = Dialogue(profile, session, said, news)
    if not profile.self_describing:
        dialogue.ask(initialize(0, profile.revision))
    return dialogue


def _check(profile: Profile, definition: str, value: Any) -> None:
    problems = [error.message for error in _validator(profile.revision, definition).iter_errors(value)]
    assert not problems, (definition, problems, value)


def _check_error(profile: Profile, message: Any) -> None:
    _check(profile, "JSONRPCErrorResponse" if profile.revision >= "2025-11-25" else "JSONRPCError", message)
    assert isinstance(message["error"]["data"]["code"], str)


def _rows() -> Iterator[Any]:
    for profile in PROFILES:
        for dialect in DIALECTS:
            yield pytest.param(profile, dialect, id=f"{profile.name}-{dialect}")


rows = pytest.mark.parametrize(("profile", "dialect"), list(_rows()))


@rows
def test_a_server_introduces_itself_as_the_revision_wants(profile: Profile, dialect: str) -> None:
    async def scenario() -> None:
        dialogue = _open(profile, dialect)
        if profile.self_describing:
            dialogue.ask(modern(0, "server/discover"))
        answer = await dialogue.answer_to(0)
        _check(profile, "DiscoverResult" if profile.self_describing else "InitializeResult", answer["result"])

    asyncio.run(scenario())


@pytest.mark.requirement("OURS-6b-table")
@rows
def test_the_list_of_tools_is_valid(profile: Profile, dialect: str) -> None:
    async def scenario() -> None:
        dialogue = _open(profile, dialect)
        dialogue.ask(request(1, "tools/list"))
        result = (await dialogue.answer_to(1))["result"]
        _check(profile, "ListToolsResult", result)
        assert all(set(tool) <= profile.tool_fields for tool in result["tools"])

    asyncio.run(scenario())


@pytest.mark.requirement("OURS-6b-table")
@rows
def test_results_and_tool_errors_are_valid_and_fit_the_published_schema(profile: Profile, dialect: str) -> None:
    async def scenario() -> None:
        dialogue = _open(profile, dialect)
        dialogue.ask(call(1, "add", {"a": 1, "b": 2}))
        success = (await dialogue.answer_to(1))["result"]
        dialogue.ask(call(2, "refuse", {"code": "NOT_FOUND"}))
        failure = (await dialogue.answer_to(2))["result"]
        for result in (success, failure):
            _check(profile, "CallToolResult", result)
        assert ("structuredContent" in success) == profile.structured_content
        if profile.structured_content:
            _assert_fits_output_schema(dialogue, "add", success["structuredContent"])

    asyncio.run(scenario())


def _assert_fits_output_schema(dialogue: Dialogue, tool: str, content: Any) -> None:
    definitions = {item["name"]: item for item in dialogue.session.server.tool_definitions()}
    schema = jsonschema_rs.Draft202012Validator(definitions[tool]["outputSchema"])
    assert schema.is_valid(content), content


@pytest.mark.requirement("OURS-6b-table")
@rows
def test_protocol_errors_are_valid(profile: Profile, dialect: str) -> None:
    async def scenario() -> None:
        dialogue = _open(profile, dialect)
        dialogue.ask(call(1, "hang"))
        dialogue.ask(call(2, "echo", {"text": "no room"}))
        dialogue.ask(request(3, "no/such/method"))
        dialogue.ask(call(4, "no_such_tool"))
        await asyncio.sleep(0)  # the call begins
        dialogue.ask(note("$/cancelRequest", {"id": 1}))
        for number in (2, 3, 4):
            _check_error(profile, await dialogue.answer_to(number))
        assert (await dialogue.answer_to(2))["error"]["code"] == profile.overload_code
        _check(profile, "CallToolResult", (await dialogue.answer_to(1))["result"])

    asyncio.run(scenario())


@rows
def test_invalid_arguments_are_told_in_the_form_of_the_row(profile: Profile, dialect: str) -> None:
    async def scenario() -> None:
        dialogue = _open(profile, dialect)
        dialogue.ask(call(1, "add", {"a": "one"}))
        answer = await dialogue.answer_to(1)
        if profile.invalid_arguments_are_tool_errors or dialect == "launch":
            _check(profile, "CallToolResult", answer["result"])
            assert answer["result"]["isError"] is True
        else:
            _check_error(profile, answer)

    asyncio.run(scenario())


@rows
def test_progress_is_valid_where_the_client_gave_a_token(profile: Profile, dialect: str) -> None:
    async def scenario() -> None:
        dialogue = _open(profile, dialect)
        dialogue.ask(call(1, "report", {"seconds": 0.001}, progressToken="token"))
        await dialogue.answer_to(1)
        notices = [item for item in dialogue.said if item.get("method") == "notifications/progress"]
        assert notices
        for notice in notices:
            _check(profile, "ProgressNotification", notice)
            assert ("id" in notice["params"]) == profile.legacy_framing

    asyncio.run(scenario())


def test_an_unsupported_revision_is_told_as_the_protocol_wants() -> None:
    async def scenario() -> None:
        profile = PROFILES[-1]
        dialogue = _open(profile, "poc")
        wrong = {**ENVELOPE, "io.modelcontextprotocol/protocolVersion": "1999-01-01"}
        dialogue.session.receive(json.dumps(request(1, "tools/list", {"_meta": wrong})).encode())
        _check(profile, "UnsupportedProtocolVersionError", await dialogue.answer_to(1))

    asyncio.run(scenario())
