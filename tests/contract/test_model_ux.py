"""What a model meets: text that it can read, arguments that it may spell its own way, failures that it can act on.

Everything goes through a session with a real server, or a real host, and is judged by what the client receives.
"""

import asyncio
import json
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field

from holdfast import Porcelain, Presentation, Server, ToolError, effect, normalize
from holdfast.present.paths import PathStyle, render_path
from holdfast.testing import CallResult, Fault, FaultPlan, HostUnderTest, connect, script
from holdfast.vocabulary.events import FaultRecorded
from holdfast.wire.framing import ContentLengthFramer, LineFramer
from holdfast.worker.targets import load_target

LONGEST_LINE, MOST_LINES = 400, 60


class Survey(BaseModel):
    """What was found."""

    count: int
    newest: str
    items: list[dict[str, str]]


class Found(BaseModel):
    """What was asked for, as the tool understood it."""

    path: str
    method: str
    limit: int


def find_shown(payload: dict[str, Any], presentation: Presentation) -> Porcelain:
    where = render_path(payload["path"], "/srv/project")
    shown = Porcelain(f"{payload['limit']} lines of {where}", notes=["lines count from 1"])
    shown.section("as asked").field("method", payload["method"]).items(["first", "second"])
    shown.table(("line", "text"), [(1, "a | b"), (2, None)])
    return shown.note("the index is old").note("lines  count from 1")


def make_server(**options: Any) -> Server:
    server = Server("ux", version="1.0.0", **options)

    @server.tool(effect=effect.replay_safe(), read_only=True)
    def survey(size: int, text: str = "plain", batch: bool = False) -> Survey:
        """Look around; `batch` is this tool's own."""
        items = [{"name": f"item {number}", "text": text} for number in range(size)]
        return Survey(count=size, newest=text, items=items)

    @server.tool(
        effect=effect.replay_safe(),
        read_only=True,
        porcelain=find_shown,
        normalize=normalize.aliases(file="path", max="limit")
        | normalize.integers("limit")
        | normalize.paths("path", style=PathStyle.ABSOLUTE, root="/srv/project")
        | normalize.tokens("method", ("get", "head"), {"fetch": "get"}),
    )
    def find(path: str, method: Literal["get", "head"] = "get", limit: Annotated[int, Field(ge=1)] = 10) -> Found:
        """Find lines."""
        return Found(path=path, method=method, limit=limit)

    @server.tool(effect=effect.replay_safe(), errors=("NOT_FOUND", "QUEUE_OVERLOADED"))
    def fail(how: str) -> str:
        """Fail in one way or another."""
        if how == "raw":
            raise RuntimeError("SELECT * FROM users WHERE token='hunter2'\n" + "x" * 100_000)
        if how == "busy":
            raise ToolError("QUEUE_OVERLOADED", "the backend is busy", hint="Wait a little.")
        output = "\n".join(f"line {number} of the backend" for number in range(1000))
        raise ToolError("NOT_FOUND", "there is no\narticle\tZ-9", details={"stderr": output})

    return server


def call(tool: str, meta: dict[str, Any] | None = None, *, server: Server | None = None, **arguments: Any) -> Any:
    """What a client gets for this call."""

    async def scenario() -> CallResult:
        async with connect(server or make_server()) as client:
            return CallResult(await client.answer_to(client.start_call(tool, arguments, meta)))

    return asyncio.run(scenario())


# --- porcelain -------------------------------------------------------------------------------------------------


@pytest.mark.requirement("S3-porcelain-default")
@pytest.mark.requirement("S3-porcelain-summary")
def test_the_text_is_porcelain_and_its_first_lines_are_what_the_author_put_first() -> None:
    result = call("survey", size=2)
    assert result.text.splitlines()[:2] == ["count: 2", 'newest: "plain"']
    assert result.payload["items"][1]["name"] == "item 1"
    assert call("find", path="a.py").text.startswith("10 lines of a.py\n")


@pytest.mark.requirement("S3-porcelain-json")
@pytest.mark.requirement("S3-porcelain-mode")
@pytest.mark.parametrize(
    ("options", "arguments", "meta", "is_json"),
    [
        ({}, {"render": "json"}, None, True),
        ({"presentation": "meta"}, {}, {"io.holdfast/render": "json"}, True),
        ({"render": "json"}, {}, None, True),
        ({"render": "json"}, {"render": "porcelain"}, None, False),
        ({}, {}, None, False),
    ],
)
def test_json_is_given_to_whoever_asks_for_it(
    options: dict[str, Any], arguments: dict[str, Any], meta: dict[str, Any] | None, is_json: bool
) -> None:
    text = call("survey", meta, server=make_server(**options), size=1, **arguments).text
    assert text.startswith("{") is is_json
    if is_json:
        assert json.loads(text)["count"] == 1


@pytest.mark.requirement("S3-porcelain-mode")
def test_a_form_that_does_not_exist_is_refused_and_not_ignored() -> None:
    result = call("survey", size=1, render="yaml")
    assert result.code == "INVALID_REQUEST"
    assert "violations: 1 item(s)\n- /render: " in result.text


@pytest.mark.requirement("S3-porcelain-lines")
@pytest.mark.parametrize("text", ["a\nb", "a\r\nb", "\x1b[2Jgone", "\u2028next", "\u202eright to left", "\x00"])
def test_no_value_breaks_or_disguises_a_line(text: str) -> None:
    plain, hostile = (call("survey", size=2, text=value).text.splitlines() for value in ("plain", text))
    assert len(hostile) == len(plain)
    assert all(line.isprintable() for line in hostile)


@pytest.mark.requirement("S3-porcelain-deterministic")
@pytest.mark.requirement("S3-porcelain-loops")
def test_a_long_loop_of_the_same_call_reads_the_same_text_every_time() -> None:
    async def scenario() -> set[str]:
        async with connect(make_server()) as client:
            return {(await client.call("survey", size=50)).text for _ in range(60)}

    (text,) = asyncio.run(scenario())
    assert len(text) < 4000


@pytest.mark.requirement("S3-porcelain-bounded")
@pytest.mark.requirement("S3-porcelain-truncation")
@pytest.mark.parametrize("detail", ["concise", "full"])
def test_porcelain_is_bounded_and_counts_what_was_cut_while_json_is_whole(detail: str) -> None:
    arguments: dict[str, Any] = {"size": 5000, "text": "word " * 100}
    lines = call("survey", detail=detail, **arguments).text.splitlines()
    assert len(lines) <= MOST_LINES
    assert max(map(len, lines)) <= LONGEST_LINE
    assert "omitted" in lines[-1]
    whole = json.loads(call("survey", render="json", **arguments).text)
    assert len(whole["items"]) == 5000


@pytest.mark.requirement("S3-porcelain-notes")
@pytest.mark.requirement("S3-porcelain-paths")
@pytest.mark.requirement("S3-porcelain-patterns")
def test_the_parts_of_porcelain_have_one_form() -> None:
    text = call("find", path="src/a.py", method="head", limit=3).text
    assert text.splitlines() == [
        "3 lines of src/a.py",
        "as asked:",
        "method: head",
        "- first",
        "- second",
        "line | text",
        *[line for line in text.splitlines() if set(line) <= set("-| +")],
        "1    | a \\| b",
        "2    | -",
        "note: lines count from 1",
        "note: the index is old",
    ]


@pytest.mark.requirement("S3-porcelain-no-taxonomy")
@pytest.mark.requirement("S3-scope-no-obligation")
def test_a_server_without_levels_of_detail_has_the_arguments_of_its_author_and_no_others() -> None:
    (survey, *_) = make_server(presentation="meta").tool_definitions()
    assert set(survey["inputSchema"]["properties"]) == {"size", "text", "batch"}
    assert survey["inputSchema"]["required"] == ["size"]


# --- normalization ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "meant"),
    [
        pytest.param({"file": "a.py"}, {"path": "/srv/project/a.py"},
                     marks=pytest.mark.requirement("S3-normalization-aliases")),
        pytest.param({"path": "a", "max": "3"}, {"limit": 3},
                     marks=pytest.mark.requirement("S3-normalization-integers")),
        pytest.param({"path": "a", "limit": "12.0"}, {"limit": 12},
                     marks=pytest.mark.requirement("S3-normalization-integers")),
        pytest.param({"path": "file:///srv/my%20file"}, {"path": "/srv/my file"},
                     marks=pytest.mark.requirement("S3-normalization-uris")),
        pytest.param({"path": "./src//a.py"}, {"path": "/srv/project/src/a.py"},
                     marks=pytest.mark.requirement("S3-normalization-paths")),
        pytest.param({"path": "a", "method": "GET"}, {"method": "get"},
                     marks=pytest.mark.requirement("S3-normalization-tokens")),
        pytest.param({"path": "a", "method": "Fetch"}, {"method": "get"},
                     marks=pytest.mark.requirement("S3-normalization-tokens")),
    ],
)  # fmt: skip
def test_another_spelling_is_taken_for_what_it_means(arguments: dict[str, Any], meant: dict[str, Any]) -> None:
    payload = call("find", **arguments).payload
    assert {key: payload[key] for key in meant} == meant


@pytest.mark.requirement("S3-normalization-unambiguous")
@pytest.mark.parametrize(
    ("tool", "arguments", "culprit"),
    [
        ("find", {"path": "a", "file": "b"}, "path"),
        ("find", {"path": "a", "limit": "3.5"}, "limit"),
        ("find", {"path": "a", "limit": "many"}, "limit"),
        ("find", {"path": "file://other-host/a"}, "path"),
        ("find", {"path": "a", "method": "post"}, "method"),
        ("survey", {"size": "3"}, "size"),  # nothing was declared for it
        ("survey", {"size": 3, "count": 3}, "count"),
    ],
)
def test_what_is_not_beyond_doubt_is_refused_by_name(tool: str, arguments: dict[str, Any], culprit: str) -> None:
    result = call(tool, **arguments)
    assert result.code == "INVALID_REQUEST"
    assert culprit in result.text


# --- failures --------------------------------------------------------------------------------------------------


@pytest.mark.requirement("S3-shaping-concise")
@pytest.mark.requirement("S3-shaping-category")
@pytest.mark.requirement("S3-shaping-retry")
@pytest.mark.parametrize(
    ("how", "first", "category", "retry"),
    [
        ("missing", "error NOT_FOUND: there is no article Z-9", "downstream", False),
        ("busy", "error QUEUE_OVERLOADED: the backend is busy", "resource", True),
    ],
)
def test_a_failure_is_one_line_a_category_and_a_word_on_retrying(
    how: str, first: str, category: str, retry: bool
) -> None:
    result = call("fail", how=how)
    told = result.message["result"]["_meta"]["io.holdfast/error"]
    lines = result.text.splitlines()
    assert lines[:2] == [first, f"category: {category}"]
    assert lines[2].startswith("retry: yes" if retry else "retry: no")
    assert (told["category"], told["retryable"]) == (category, retry)
    assert ("hint: Wait a little." in lines) is (how == "busy")


@pytest.mark.requirement("S3-shaping-no-spew")
def test_what_a_backend_spews_is_cut_and_what_nobody_declared_is_only_in_the_log() -> None:
    async def scenario() -> tuple[str, str, list[Any]]:
        async with connect(make_server()) as client:
            raw, missing = await client.call("fail", how="raw"), await client.call("fail", how="missing")
            return raw.text, missing.text, client.events

    raw, missing, events = asyncio.run(scenario())
    assert "hunter2" not in raw
    assert "Traceback" not in raw
    assert len(raw) < 500
    assert (missing.count("of the backend"), "line 999" in missing) == (3, True)
    (recorded,) = [event for event in events if isinstance(event, FaultRecorded)]
    assert "hunter2" in recorded.message
    assert recorded.fault_id in raw


# --- what it is, and what it is not ------------------------------------------------------------------------------


@pytest.mark.requirement("S3-scope-identity")
def test_the_number_one_and_the_text_one_are_two_requests() -> None:
    async def scenario() -> list[Any]:
        async with connect(make_server()) as client:
            for identity in (1001, "1001", "1001.0"):
                client.send({"jsonrpc": "2.0", "id": identity, "method": "ping"})
            return [(await client.answer_to(identity))["id"] for identity in (1001, "1001", "1001.0")]

    assert [(type(one), one) for one in asyncio.run(scenario())] == [(int, 1001), (str, "1001"), (str, "1001.0")]


@pytest.mark.requirement("S3-scope-frames")
@pytest.mark.parametrize("make", [lambda: LineFramer(4096), lambda: ContentLengthFramer(4096, 1024)])
def test_a_frame_is_read_as_it_was_written_however_it_arrives(make: Any) -> None:
    messages = [b'{"id":1}', '{"text":"ä\\n"}'.encode()]
    written = b"".join(make().wrap(message) for message in messages)
    reader = make()
    assert [frame for byte in written for frame in reader.feed(bytes([byte]))] == messages


@pytest.mark.requirement("S3-scope-kit")
def test_the_kit_cuts_a_message_in_pieces_and_the_server_answers_all_the_same() -> None:
    async def scenario() -> CallResult:
        async with connect(make_server(), plan=FaultPlan(split_every=3, garbage={0: b"rubbish\n"})) as client:
            return await client.call("survey", size=1)

    assert asyncio.run(scenario()).payload["count"] == 1


@pytest.fixture
def host(tmp_path: Path) -> Iterator[HostUnderTest]:
    worker = script(Fault.on_tool("read", "kill_before_answer", generations=(1, 1)))
    with HostUnderTest.running(worker.command(tmp_path / "worker"), tmp_path) as running:
        running.handshake()
        yield running


@pytest.mark.requirement("S3-scope-kit")
@pytest.mark.requirement("S3-scope-no-routing")
def test_the_host_passes_on_what_it_knows_nothing_of_and_the_kit_kills_behind_it(host: HostUnderTest) -> None:
    assert "result" in host.call("read")
    unknown = host.answer_of(host.request("acme/launch", {"rocket": {"stage": 2}}))
    assert unknown["error"]["code"] == -32601  # in the words of the worker, which was asked
    assert [event for event in (host.folder / "state").rglob("events.jsonl") if "worker_lost" in event.read_text()]


@pytest.mark.requirement("S3-scope-no-domain")
def test_a_server_offers_the_tools_of_its_author_and_no_others() -> None:
    async def scenario() -> list[str]:
        async with connect(make_server()) as client:
            return [tool["name"] for tool in (await client.request("tools/list"))["result"]["tools"]]

    assert asyncio.run(scenario()) == ["survey", "find", "fail"]


@pytest.mark.requirement("S3-versioning-public")
@pytest.mark.parametrize("module", ["holdfast", "holdfast.testing", "holdfast.dedup"])
def test_every_public_name_is_declared_and_there(module: str) -> None:
    public = import_module(module)
    assert public.__all__
    assert [name for name in public.__all__ if getattr(public, name, None) is None] == []


@pytest.mark.requirement("S3-versioning-consumers")
@pytest.mark.parametrize("target", ["search", "launch"])
def test_the_servers_of_this_project_stand_on_the_parts_that_authors_are_given(target: str) -> None:
    server = load_target(target)
    assert isinstance(server, Server)
    assert len(server.surface.tools) >= 9
    assert all(tool.security for tool in server.surface.tools)
