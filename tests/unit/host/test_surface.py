"""The form of what a client sees, in every revision: bounded answers, the host's own tools and resources."""

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.host.bounded_output import OutputBounds, encoded
from holdfast.host.output_store import OutputStore
from holdfast.host.public_side import PublicSide
from holdfast.host.surface import Surface
from holdfast.kernel.catalog import ToolFacts
from holdfast.kernel.commands import ToClient
from holdfast.kernel.inputs import FromClient
from holdfast.present.dialects import Dialect
from holdfast.present.output_cost import Limits, most_of, sum_within
from holdfast.present.profile import HANDSHAKE_REVISIONS, META_CAPABILITIES, META_REVISION, MODERN
from holdfast.settings import Settings, ToolRule
from holdfast.testing.memory import RecordingLog
from holdfast.vocabulary.events import CallEnded, Event, FaultRecorded, RequestEnded
from holdfast.wire.envelope import Request

SCHEMAS = Path(__file__).parents[2] / "contract" / "schemas"
REVISIONS = (*HANDSHAKE_REVISIONS, MODERN)
WITH_LINKS = REVISIONS[2:]
HEALTH = {"state": "ready", "generation": 1, "degraded": False, "restart_count": 0, "pending": 0, "counters": {}}
OURS = ToolFacts(is_ours=True)
BIG = b"x" * 9000


@cache
def validator(revision: str, definition: str) -> Any:
    """The validator of one named definition of the official schema of a revision."""
    schema = json.loads((SCHEMAS / f"{revision}.json").read_text())
    place = "definitions" if "definitions" in schema else "$defs"
    document = {"$schema": schema["$schema"], place: schema[place], "$ref": f"#/{place}/{definition}"}
    is_old = "draft-07" in schema["$schema"]
    return (jsonschema_rs.Draft7Validator if is_old else jsonschema_rs.Draft202012Validator)(document)


class Stage:
    """A surface with everything around it made up."""

    def __init__(
        self,
        place: Path,
        revision: str = "2025-06-18",
        *,
        health: Callable[[], dict[str, Any]] | None = None,
        rules: dict[str, ToolRule] | None = None,
        facts: ToolFacts | None = None,
        **knobs: Any,
    ) -> None:
        self.log = RecordingLog()
        self.tools: dict[str, ToolFacts] = {} if facts is None else {"t": facts}
        self.store = OutputStore(place / "hosts" / "0123456789abcdef.output")
        bounds = OutputBounds(Settings(**knobs), rules or {}, self.store, self.log)
        bounds.facts = self.tools.get
        self.surface = Surface(bounds, self.log, {} if health is None else {"health": health})
        self.surface.revision = lambda: "" if revision == MODERN else revision
        self.surface.has_tool = self.tools.__contains__
        self.revision = revision

    def sent(self, result: Any, method: str = "tools/call", tool: str = "t") -> dict[str, Any]:
        """What the client gets in place of a result."""
        given = {"jsonrpc": "2.0", "id": 1, "result": result}
        return self.shaped(encoded(given), method, tool)

    def shaped(self, payload: bytes, method: str = "tools/call", tool: str = "t") -> dict[str, Any]:
        """What the client gets in place of these bytes."""
        command = ToClient(payload, 1, method=method, tool=tool, is_modern=self.revision == MODERN)
        message: dict[str, Any] = json.loads(self.surface.shaped(command))
        return message

    def asked(self, method: str, **params: Any) -> dict[str, Any] | None:
        """What the host answers by itself."""
        if self.revision == MODERN:
            params["_meta"] = {META_REVISION: MODERN, META_CAPABILITIES: {}}
        answer = self.surface.answer(Request(7, method, params))
        return None if answer is None else json.loads(answer)

    def read(self, uri: str) -> list[dict[str, Any]]:
        """The contents of a resource."""
        answer = self.asked("resources/read", uri=uri)
        assert answer is not None
        self.check("ReadResourceResult", answer["result"])
        contents: list[dict[str, Any]] = answer["result"]["contents"]
        return contents

    def check(self, definition: str, result: Any) -> None:
        """A result is valid in the revision that is spoken."""
        assert [str(error) for error in validator(self.revision, definition).iter_errors(result)] == []


def result_of(*texts: str, modern: bool = False, **more: Any) -> dict[str, Any]:
    """A result of these texts."""
    content = [{"type": "text", "text": text} for text in texts]
    return {**({"resultType": "complete"} if modern else {}), "content": content, **more}


def is_within(content: list[Any], limits: Limits) -> bool:
    """Whether these items cost no more than they may."""
    return sum_within(content, limits, most_of(limits)) is not None


def uri_in(text: str) -> str:
    """The name of the whole, as a marker or a hint says it."""
    return text.partition("the whole: ")[2].split("\n")[0].rstrip('"}')


# --- bounds ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("revision", REVISIONS)
def test_a_text_is_cut_and_its_whole_can_be_read_in_every_revision(tmp_path: Path, revision: str) -> None:
    stage = Stage(tmp_path, revision, output_bytes=1024)
    text = "\n".join(f"line {number}" for number in range(1000))

    result = stage.sent(result_of(text, modern=revision == MODERN, isError=False))["result"]

    stage.check("CallToolResult", result)
    assert is_within(result["content"], Limits(1024))
    assert [item["type"] for item in result["content"]] == ["text", "resource_link"][
        : 1 + (revision in WITH_LINKS)
    ]
    shown = result["content"][0]["text"]
    assert all(item["uri"] == uri_in(shown) for item in result["content"][1:])
    assert [content["text"] for content in stage.read(uri_in(shown))] == [text]


@pytest.mark.parametrize("revision", REVISIONS)
def test_json_of_our_own_tools_ends_in_a_typed_fault_with_the_whole(tmp_path: Path, revision: str) -> None:
    stage = Stage(tmp_path, revision, facts=OURS, output_bytes=1024)
    document = {"rows": list(range(1000)), "exact": 1e2}
    given = result_of(json.dumps(document), modern=revision == MODERN, structuredContent=document, isError=False)

    result = stage.sent(given)["result"]

    stage.check("CallToolResult", result)
    assert result["isError"] is True
    assert "structuredContent" not in result
    assert result["_meta"]["io.holdfast/error"] == {
        "code": "RESULT_TOO_LARGE", "category": "resource", "retryable": False,
    }  # fmt: skip
    [content] = stage.read(uri_in(result["content"][0]["text"]))
    assert (content["mimeType"], json.loads(content["text"])) == ("application/json", document)
    assert len(result["content"]) == 1 + (revision in WITH_LINKS)


@pytest.mark.parametrize("dialect", list(Dialect))
@pytest.mark.parametrize("limit", [{"output_bytes": 1024}, {"output_tokens": 256}], ids=str)
def test_the_fault_itself_is_within_the_limits(tmp_path: Path, dialect: Dialect, limit: dict[str, Any]) -> None:
    stage = Stage(tmp_path, facts=ToolFacts(is_ours=True, dialect=dialect), **limit)

    content = stage.sent(result_of(json.dumps(list(range(9000)))))["result"]["content"]

    limits = Limits(limit.get("output_bytes", 0), limit.get("output_tokens", 0))
    assert is_within(content, limits)


TEXTS = st.one_of(st.text(max_size=3000), st.text(max_size=20).map(lambda part: part * 300))
ITEMS = st.one_of(
    TEXTS.map(lambda text: {"type": "text", "text": text}),
    st.integers(0, 3000).map(lambda size: {"type": "image", "data": "QUJD" * size, "mimeType": "image/png"}),
    TEXTS.map(lambda text: {"type": "resource", "resource": {"uri": "x:y", "mimeType": "text/x", "text": text}}),
    st.lists(st.integers(), max_size=400).map(lambda row: {"type": "text", "text": json.dumps({"row": row})}),
)


@settings(max_examples=50, deadline=None)
@given(
    st.lists(ITEMS, max_size=5),
    st.sampled_from(REVISIONS),
    st.integers(1024, 6000),
    st.sampled_from([0, 0, 256, 1500]),
    st.booleans(),
    st.booleans(),
)
def test_whatever_a_result_is_it_stays_valid_within_its_limits_and_its_whole_is_the_same(
    tmp_path_factory: pytest.TempPathFactory,
    content: list[dict[str, Any]],
    revision: str,
    size: int,
    tokens: int,
    is_ours: bool,
    is_error: bool,
) -> None:
    place = tmp_path_factory.getbasetemp() / "outputs"
    stage = Stage(place, revision, facts=ToolFacts(is_ours=is_ours), output_bytes=size, output_tokens=tokens)
    given_result = {**result_of(modern=revision == MODERN), "content": content, "isError": is_error}
    payload = encoded({"jsonrpc": "2.0", "id": 1, "result": given_result})
    result = stage.shaped(payload)["result"]

    stage.check("CallToolResult", result)
    limits = Limits(size, tokens)
    texts = [item["text"] for item in content if item["type"] == "text"]
    if result == given_result:
        within = is_within(content, limits)
        assert within or (not is_ours and any(text.startswith('{"row"') for text in texts))
        return
    assert is_within(result["content"], limits)
    name = next(uri_in(item["text"]) for item in result["content"] if "the whole: " in str(item.get("text")))
    contents = stage.read(name)
    assert [one["text"] for one in contents if one.get("mimeType") in {"text/plain", "application/json"}] == texts
    shown = [item["text"] for item in result["content"] if item["type"] == "text"]
    assert all(text in texts for text in shown if text.startswith('{"row"'))
    stage.surface.close()


@pytest.mark.parametrize(
    ("payload", "knobs"),
    [
        (b'{"jsonrpc":"2.0", "id":1 ,"result":{"content":[{"type":"text","text":"%s"}]}}' % (b"x" * 900),
         {"output_bytes": 1024}),
        (b'{"id":1,"jsonrpc":"2.0","result":{"content":[{"type":"text","text":"%s"}]}}' % BIG, {}),
        (b'{"id":1,"result":{"structuredContent":{"a":1e2},"content":[{"type":"text","text":"%s"}]}}' % BIG,
         {"output_bytes": 1024}),
        (b'{"id":1,"error":{"code":1,"message":"%s"}}' % BIG, {"output_bytes": 1024}),
        (b'{"id":1,"result":{"resultType":"task","content":[{"type":"text","text":"%s"}]}}' % BIG,
         {"output_bytes": 1024}),
        (b'{"id":1,"result":{"content":"%s"}}' % BIG, {"output_bytes": 1024}),
        (b'{"id":1,"result":"%s"}' % BIG, {"output_bytes": 1024}),
        (b'{"id":1,"result":{"content":[{"type":"text","text":"[\\"%s\\"]"}]}}' % BIG,
         {"output_bytes": 1024}),
    ],
    ids=["small", "off", "structured", "an error", "no result yet", "nonsense", "text", "foreign JSON"],
)  # fmt: skip
def test_what_needs_no_change_passes_as_the_same_bytes(tmp_path: Path, payload: bytes, knobs: Any) -> None:
    stage = Stage(tmp_path, **knobs)

    assert stage.surface.shaped(ToClient(payload, 1, method="tools/call", tool="t")) is payload
    assert list(tmp_path.iterdir()) == []


def test_a_limit_for_this_very_tool_holds_for_foreign_json_too(tmp_path: Path) -> None:
    stage = Stage(tmp_path, rules={"t": ToolRule(output_bytes=1024)})
    text = json.dumps(["x" * 5000])

    result = stage.sent(result_of(text))["result"]

    assert result["_meta"]["io.holdfast/error"]["code"] == "RESULT_TOO_LARGE"
    assert [content["text"] for content in stage.read(uri_in(result["content"][0]["text"]))] == [text]
    assert stage.sent(result_of(text), tool="other")["result"] == result_of(text)


@pytest.mark.parametrize(
    ("facts", "rules", "knobs", "size"),
    [
        (ToolFacts(), {}, {"output_bytes": 2048}, 2048),
        (ToolFacts(is_ours=True, output_bytes=4096), {}, {"output_bytes": 2048}, 4096),
        (
            ToolFacts(is_ours=True, output_bytes=4096),
            {"t": ToolRule(output_bytes=1024)},
            {"output_bytes": 2048},
            1024,
        ),
        (
            ToolFacts(is_ours=True, output_bytes=4096),
            {"t": ToolRule(output_bytes=0)},
            {"output_bytes": 2048},
            20_000,
        ),
        (ToolFacts(is_ours=True, output_bytes=4096), {}, {}, 4096),
    ],
)
def test_whose_word_about_the_limit_counts(
    tmp_path: Path, facts: ToolFacts, rules: Any, knobs: Any, size: int
) -> None:
    stage = Stage(tmp_path, "2024-11-05", facts=facts, rules=rules, **knobs)

    told = stage.sent(result_of("x" * 20_000))["result"]["content"][0]["text"]

    assert size - 100 <= len(told.encode()) <= size


def test_a_failure_told_as_json_keeps_its_code(tmp_path: Path) -> None:
    stage = Stage(tmp_path, facts=ToolFacts(is_ours=True, dialect=Dialect.POC), output_bytes=1024)
    meta = {"io.holdfast/error": {"code": "NO_INDEX", "category": "downstream", "retryable": False}}

    result = stage.sent(result_of(json.dumps({"ok": False, "x": "y" * 5000}), isError=True, _meta=meta))["result"]

    assert result["_meta"] == meta
    assert json.loads(result["content"][0]["text"])["code"] == "RESULT_TOO_LARGE"


def test_half_a_character_in_a_text_is_no_way_around(tmp_path: Path) -> None:
    stage = Stage(tmp_path, output_bytes=1024)
    text = "\ud83d line\n" * 2000

    result = stage.sent(result_of(text))["result"]

    assert is_within(result["content"], Limits(1024))
    assert [content["text"] for content in stage.read(uri_in(result["content"][0]["text"]))] == [text]


def test_a_place_that_cannot_be_written_costs_the_whole_and_not_the_answer(tmp_path: Path) -> None:
    (tmp_path / "hosts").write_text("in the way")
    stage = Stage(tmp_path, output_bytes=1024)

    content = stage.sent(result_of("line\n" * 2000))["result"]["content"]

    assert len(content) == 1
    assert content[0]["text"].endswith("omitted; the whole could not be kept")
    [problem] = [event for event in stage.log.events if isinstance(event, FaultRecorded)]
    assert "was not kept" in problem.message


@pytest.mark.parametrize(("revision", "code"), [("2025-11-25", -32002), (MODERN, -32602)])
@pytest.mark.parametrize(
    "uri",
    ["holdfast://output/../../etc/passwd", "holdfast://output/" + "x" * 10**6, "gone"],
    ids=["traversal", "huge", "gone"],
)
def test_an_output_that_is_not_there_is_not_found_in_words(
    tmp_path: Path, revision: str, code: int, uri: str
) -> None:
    stage = Stage(tmp_path, revision, output_bytes=1024)

    answer = stage.asked("resources/read", uri=stage.store.new_uri() if uri == "gone" else uri)

    assert answer is not None
    assert (answer["id"], answer["error"]["code"]) == (7, code)
    assert answer["error"]["data"]["code"] == "NOT_FOUND"
    assert len(json.dumps(answer)) < 1000


def test_an_output_of_the_host_before_this_one_is_told_to_be_gone_where_the_worker_cannot_have_it(
    tmp_path: Path,
) -> None:
    stage = Stage(tmp_path, output_bytes=1024)
    stage.surface.lacks = {"resources"}.__contains__

    answer = stage.asked("resources/read", uri=OutputStore(tmp_path).new_uri())

    assert answer is not None
    assert answer["error"]["message"] == "this output is not kept any more; call the tool again"


def test_what_is_not_the_hosts_goes_to_the_worker(tmp_path: Path) -> None:
    stage = Stage(tmp_path, output_bytes=1024)
    other = OutputStore(tmp_path)

    for uri in ("file:///x", "holdfast://health", other.new_uri(), 5, None, ["holdfast://output/"]):
        assert stage.asked("resources/read", uri=uri) is None
    assert Stage(tmp_path).asked("resources/read", uri="holdfast://output/x") is None
    assert Stage(tmp_path, "", output_bytes=1024).asked("resources/read", uri="holdfast://output/x") is None


def test_lists_of_a_server_without_resources_are_the_hosts_and_count_as_answered(tmp_path: Path) -> None:
    stage = Stage(tmp_path, health=lambda: {"state": "ready"}, output_bytes=1024)
    assert stage.asked("resources/list") is None
    stage.surface.lacks = {"resources"}.__contains__

    listed, templates = stage.asked("resources/list"), stage.asked("resources/templates/list")
    assert listed is not None
    assert templates is not None
    stage.check("ListResourcesResult", listed["result"])
    stage.check("ListResourceTemplatesResult", templates["result"])
    assert [entry["uri"] for entry in listed["result"]["resources"]] == ["holdfast://health"]
    assert stage.asked("tools/list") is None
    stage.read("holdfast://health")
    stage.asked("resources/read", uri=stage.store.new_uri())
    ended = [event for event in stage.log.events if isinstance(event, RequestEnded)]
    assert [(event.method, event.outcome, event.code) for event in ended] == [
        ("resources/list", "ok", None),
        ("resources/templates/list", "ok", None),
        ("resources/read", "ok", None),
        ("resources/read", "error", "NOT_FOUND"),
    ]


# --- the host's own tools ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("revision", REVISIONS)
def test_health_is_a_tool_and_a_resource_in_every_revision(tmp_path: Path, revision: str) -> None:
    stage = Stage(tmp_path, revision, health=lambda: HEALTH)

    answer = stage.asked("tools/call", name="holdfast_health")

    assert answer is not None
    stage.check("CallToolResult", answer["result"])
    assert json.loads(answer["result"]["content"][0]["text"]) == HEALTH
    assert ("structuredContent" in answer["result"]) is (revision in WITH_LINKS)
    assert json.loads(stage.read("holdfast://health")[0]["text"]) == HEALTH
    ended = [event.tool for event in stage.log.events if isinstance(event, CallEnded)]
    assert ended == ["holdfast_health", "resources/read"]


@pytest.mark.parametrize("revision", REVISIONS)
@pytest.mark.parametrize(
    ("method", "member", "definition", "name"),
    [
        ("tools/list", "tools", "ListToolsResult", "holdfast_health"),
        ("resources/list", "resources", "ListResourcesResult", "holdfast_health"),
        ("resources/templates/list", "resourceTemplates", "ListResourceTemplatesResult", "holdfast-output"),
    ],
)
def test_lists_end_with_the_hosts_own(
    tmp_path: Path, revision: str, method: str, member: str, definition: str, name: str
) -> None:
    stage = Stage(tmp_path, revision, health=lambda: HEALTH, output_bytes=1024)
    hints = {"resultType": "complete", "ttlMs": 5, "cacheScope": "public"} if revision == MODERN else {}
    theirs = {"name": "a", "uri": "x:a", "uriTemplate": "x:{a}", "inputSchema": {"type": "object"}}

    whole = stage.sent({**hints, member: [theirs]}, method)["result"]
    page = stage.sent({**hints, member: [theirs], "nextCursor": "2"}, method)["result"]
    unknown = stage.shaped(b'{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no"}}', method)

    for result in (whole, page, unknown["result"]):
        stage.check(definition, result)
    assert [one["name"] for one in whole[member]] == ["a", name]
    assert [one["name"] for one in page[member]] == ["a"]
    assert [one["name"] for one in unknown["result"][member]] == [name]


def test_health_fits_the_schema_that_is_published_for_it(tmp_path: Path) -> None:
    stage = Stage(tmp_path, health=lambda: HEALTH)
    [tool] = stage.sent({"tools": []}, "tools/list")["result"]["tools"]

    assert jsonschema_rs.is_valid(tool["outputSchema"], HEALTH)
    assert tool["annotations"]["readOnlyHint"] is True


def test_a_tool_of_the_worker_with_the_same_name_wins_and_that_is_told_once(tmp_path: Path) -> None:
    stage = Stage(tmp_path, health=lambda: HEALTH)
    stage.tools["holdfast_health"] = ToolFacts()
    listed = {"tools": [{"name": "holdfast_health", "inputSchema": {"type": "object"}}]}

    assert stage.sent(listed, "tools/list")["result"] == listed
    assert stage.asked("tools/call", name="holdfast_health") is None
    assert len([event for event in stage.log.events if isinstance(event, FaultRecorded)]) == 1


@pytest.mark.parametrize("arguments", [{"a": 1}, [], "x", 5, None])
def test_arguments_are_refused_as_the_revision_wants_it(tmp_path: Path, arguments: Any) -> None:
    def ask(revision: str) -> dict[str, Any]:
        stage = Stage(tmp_path, revision, health=lambda: HEALTH)
        answer = stage.asked("tools/call", name="holdfast_health", arguments=arguments)
        assert answer is not None
        return answer

    assert ask("2025-06-18")["error"]["code"] == -32602
    assert ask("2025-11-25")["result"]["isError"] is True


def test_a_question_that_the_host_fails_at_is_answered_and_recorded(tmp_path: Path) -> None:
    def broken() -> dict[str, Any]:
        raise RuntimeError("a secret")

    stage = Stage(tmp_path, health=broken)

    answer = stage.asked("tools/call", name="holdfast_health")

    assert answer is not None
    assert answer["error"]["code"] == -32603
    assert "secret" not in json.dumps(answer)
    assert [event.cause_class for event in stage.log.events if isinstance(event, FaultRecorded)] == [
        "RuntimeError"
    ]


@pytest.mark.parametrize("params", [{}, {"name": 5}, {"name": ["holdfast_health"]}, {"name": "other"}])
def test_other_calls_are_not_the_hosts(tmp_path: Path, params: dict[str, Any]) -> None:
    assert Stage(tmp_path, health=lambda: HEALTH).asked("tools/call", **params) is None


def test_what_becomes_of_the_hosts_own_tools_can_be_counted(tmp_path: Path) -> None:
    stage, told = Stage(tmp_path, health=lambda: HEALTH), list[Event]()
    stage.surface.emit = told.append

    stage.asked("tools/call", name="holdfast_health")
    stage.asked("tools/call", name="holdfast_health", arguments={"a": 1})

    ended = [event for event in told if isinstance(event, CallEnded)]
    assert [(event.tool, event.outcome, event.ended_by) for event in ended] == [
        ("holdfast_health", "ok", "host"),
        ("holdfast_health", "rejected", "host"),
    ]
    assert stage.log.events == []


def test_a_call_of_the_hosts_own_belongs_to_the_trace_of_its_client(tmp_path: Path) -> None:
    stage, told = Stage(tmp_path, health=lambda: HEALTH), list[Event]()
    stage.surface.emit = told.append

    stage.asked("tools/call", name="holdfast_health", _meta={"traceparent": "00-a-b-01", "tracestate": "c=1"})

    (ended,) = [event for event in told if isinstance(event, CallEnded)]
    assert (ended.trace, ended.trace_state) == ("00-a-b-01", "c=1")


# --- the handshake -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("able", "health", "size", "expected"),
    [
        ({"tools": {}}, False, 0, {"tools": {"listChanged": True}}),
        ({"tools": {"listChanged": False, "x": 1}}, False, 0, {"tools": {"listChanged": True, "x": 1}}),
        ({}, False, 0, {}),
        ({"prompts": {}}, True, 0, {"prompts": {}, "tools": {"listChanged": True}, "resources": {}}),
        ({"tools": {}}, False, 1024, {"tools": {"listChanged": True}, "resources": {}}),
        ({"resources": {"subscribe": True}}, True, 0,
         {"resources": {"subscribe": True}, "tools": {"listChanged": True}}),
    ],
)  # fmt: skip
@pytest.mark.parametrize("method", ["initialize", "server/discover"])
def test_what_the_host_can_do_is_told_in_the_handshake(
    tmp_path: Path, able: Any, health: bool, size: int, expected: Any, method: str
) -> None:
    stage = Stage(tmp_path, health=(lambda: HEALTH) if health else None, output_bytes=size)

    told = stage.sent({"capabilities": able, "serverInfo": {"name": "x"}}, method)["result"]

    assert told == {"capabilities": expected, "serverInfo": {"name": "x"}}


@pytest.mark.parametrize("result", [5, None, {}, {"capabilities": []}, {"capabilities": {"tools": []}}])
def test_a_handshake_that_makes_no_sense_passes_as_it_is(tmp_path: Path, result: Any) -> None:
    assert Stage(tmp_path).sent(result, "initialize")["result"] == result


def test_a_worker_that_declares_limits_turns_the_resources_on(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    experimental = {"io.holdfast/supervision": {"outputBounds": True}}

    told = stage.sent({"capabilities": {"experimental": experimental}}, "initialize")["result"]["capabilities"]

    assert told["resources"] == {}
    assert stage.asked("resources/read", uri="holdfast://output/x") is not None


def test_reading_from_a_worker_without_resources_finds_nothing(tmp_path: Path) -> None:
    stage = Stage(tmp_path, health=lambda: HEALTH)

    answer = stage.shaped(b'{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no"}}', "resources/read")

    assert answer["error"]["code"] == -32002


def test_an_answer_that_cannot_be_shaped_passes_as_it_is_and_is_on_record(tmp_path: Path) -> None:
    stage = Stage(tmp_path, health=lambda: HEALTH)

    payload = b"not JSON"
    assert stage.surface.shaped(ToClient(payload, 1, method="tools/list")) == payload
    assert len([event for event in stage.log.events if isinstance(event, FaultRecorded)]) == 1


# --- on the client's side ----------------------------------------------------------------------------------------


class Sent:
    """What would leave for the client."""

    def __init__(self) -> None:
        self.payloads: list[bytes] = []

    def send_bytes(self, payload: bytes) -> None:
        """Keep it."""
        self.payloads.append(payload)


def test_a_batch_mixes_the_hosts_own_answers_with_those_of_the_worker(tmp_path: Path) -> None:
    stage, sent, taken = Stage(tmp_path, "2025-03-26", health=lambda: HEALTH), Sent(), list[FromClient]()
    public = PublicSide(sent, stage.log, max_bytes=10**6, surface=stage.surface)  # type: ignore[arg-type]
    public.take, public.revision = taken.append, lambda: "2025-03-26"
    own = b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"holdfast_health"}}'
    other = b'{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"t"}}'

    public.receive(b"[" + own + b"," + other + b"]")
    assert (sent.payloads, len(taken)) == ([], 1)
    public.send(ToClient(b'{"jsonrpc":"2.0","id":2,"result":{}}', 2, method="tools/call", tool="t"))

    [batch] = sent.payloads
    assert [answer["id"] for answer in json.loads(batch)] == [1, 2]


def test_an_id_that_is_in_flight_is_left_to_the_kernel_to_refuse(tmp_path: Path) -> None:
    stage, sent, taken = Stage(tmp_path, health=lambda: HEALTH), Sent(), list[FromClient]()
    public = PublicSide(sent, stage.log, max_bytes=10**6, surface=stage.surface)  # type: ignore[arg-type]
    public.take, public.is_pending = taken.append, lambda number: number == 1
    own = b'{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"holdfast_health"}}'

    public.receive(own % 1)
    public.receive(own % 2)

    assert (len(taken), [json.loads(one)["id"] for one in sent.payloads]) == (1, [2])
