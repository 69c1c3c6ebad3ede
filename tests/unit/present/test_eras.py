"""The tables between the eras, against the official schemas of all five revisions."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.contract.official_schemas import assert_valid

from holdfast.present import eras
from holdfast.present.profile import (
    HANDSHAKE_REVISIONS,
    META_CAPABILITIES,
    META_REVISION,
    META_SERVER_INFO,
    MODERN,
)

INFO = {"name": "server", "version": "1"}
DEFINITIONS = {
    "tools/list": "ListToolsResult",
    "tools/call": "CallToolResult",
    "prompts/list": "ListPromptsResult",
    "prompts/get": "GetPromptResult",
    "resources/list": "ListResourcesResult",
    "resources/templates/list": "ListResourceTemplatesResult",
    "resources/read": "ReadResourceResult",
    "completion/complete": "CompleteResult",
}
REQUESTS: dict[str, tuple[str, dict[str, Any]]] = {
    "tools/list": ("ListToolsRequest", {"cursor": "c"}),
    "tools/call": ("CallToolRequest", {"name": "t", "arguments": {"a": 1}}),
    "prompts/list": ("ListPromptsRequest", {}),
    "prompts/get": ("GetPromptRequest", {"name": "p", "arguments": {"a": "b"}}),
    "resources/list": ("ListResourcesRequest", {}),
    "resources/templates/list": ("ListResourceTemplatesRequest", {}),
    "resources/read": ("ReadResourceRequest", {"uri": "memo://a"}),
    "completion/complete": (
        "CompleteRequest",
        {"ref": {"type": "ref/prompt", "name": "p"}, "argument": {"name": "a", "value": "v"}},
    ),
}
each_revision = pytest.mark.parametrize("revision", HANDSHAKE_REVISIONS)
each_method = pytest.mark.parametrize("method", DEFINITIONS)

texts = st.text(max_size=6)
anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)
metas = st.dictionaries(st.sampled_from(["example.com/x", "note"]), anything, max_size=2)
uris = st.sampled_from(["memo://a", "file:///b"])


def shape(required: dict[str, Any], optional: dict[str, Any] | None = None) -> st.SearchStrategy[dict[str, Any]]:
    """Objects with these members."""
    return st.fixed_dictionaries(required, optional=optional or {})


def contents(revision: str) -> st.SearchStrategy[dict[str, Any]]:
    """Content of every kind that a revision knows."""
    whole = {"uri": uris, "text": texts}
    kinds = [
        shape({"type": st.just("text"), "text": texts}),
        shape({"type": st.just("image"), "data": st.just("QQ=="), "mimeType": st.just("image/png")}),
        shape({"type": st.just("resource"), "resource": shape(whole)}),
    ]
    if revision >= "2025-03-26":
        kinds.append(shape({"type": st.just("audio"), "data": st.just("QQ=="), "mimeType": texts}))
    if revision >= "2025-06-18":
        optional = {"title": texts, "description": texts}
        kinds.append(shape({"type": st.just("resource_link"), "name": texts, "uri": uris}, optional))
    return st.one_of(kinds)


def tools(revision: str) -> st.SearchStrategy[dict[str, Any]]:
    """Definitions of tools, with every field that a revision knows."""
    inner: st.SearchStrategy[Any] = st.sampled_from(
        [{}, {"type": "string"}, *([True, False] * (revision == MODERN))]
    )
    schema = shape({"type": st.just("object")}, {"properties": st.dictionaries(texts, inner, max_size=2)})
    optional: dict[str, Any] = {"description": texts}
    if revision >= "2025-03-26":
        optional["annotations"] = shape({}, {"readOnlyHint": st.booleans()})
    if revision >= "2025-06-18":
        other = st.just({"type": "array"}) if revision == MODERN else schema
        optional |= {"title": texts, "_meta": metas, "outputSchema": schema | other}
    if revision == "2025-11-25":
        optional["execution"] = shape({"taskSupport": st.sampled_from(["forbidden", "optional"])})
    return shape({"name": texts, "inputSchema": schema}, optional)


def results(method: str, revision: str) -> st.SearchStrategy[dict[str, Any]]:
    """Results that a server of this revision gives."""
    required: dict[str, dict[str, Any]] = {
        "tools/list": {"tools": st.lists(tools(revision), max_size=2)},
        "tools/call": {"content": st.lists(contents(revision), max_size=2)},
        "prompts/list": {"prompts": st.lists(shape({"name": texts}), max_size=2)},
        "prompts/get": {
            "messages": st.lists(shape({"role": st.just("user"), "content": contents(revision)}), max_size=2)
        },
        "resources/list": {"resources": st.lists(shape({"name": texts, "uri": uris}), max_size=2)},
        "resources/templates/list": {"resourceTemplates": st.just([{"name": "t", "uriTemplate": "memo://{x}"}])},
        "resources/read": {"contents": st.lists(shape({"uri": uris, "text": texts}), max_size=2)},
        "completion/complete": {"completion": shape({"values": st.lists(texts, max_size=2)})},
    }
    optional: dict[str, Any] = {"_meta": metas}
    if method.endswith("/list"):
        optional["nextCursor"] = texts
    if method == "tools/call":
        optional["isError"] = st.booleans()
        if revision >= "2025-06-18":
            structured = st.dictionaries(texts, anything, max_size=2)
            optional["structuredContent"] = anything if revision == MODERN else structured
    modern: dict[str, Any] = {"resultType": st.just("complete")}
    if method in eras.CACHEABLE:
        modern |= {"ttlMs": st.integers(0, 10**6), "cacheScope": st.sampled_from(["public", "private"])}
    if revision == MODERN:
        optional["_meta"] = st.builds(lambda meta: {**meta, META_SERVER_INFO: INFO}, metas)
    return shape(required[method] | (modern if revision == MODERN else {}), optional)


# --- results -----------------------------------------------------------------------------------------------------


@each_revision
@each_method
@settings(max_examples=5, deadline=None)
@given(data=st.data())
def test_a_result_with_a_handshake_becomes_a_valid_result_without(
    data: st.DataObject, method: str, revision: str
) -> None:
    result = data.draw(results(method, revision))
    assert_valid(revision, DEFINITIONS[method], result)

    told = eras.result_for_modern(method, result, INFO)

    assert_valid(MODERN, DEFINITIONS[method], told)
    assert (told["resultType"], told["_meta"][META_SERVER_INFO]) == ("complete", INFO)
    assert told.get("structuredContent") == result.get("structuredContent")


@each_revision
@each_method
@settings(max_examples=5, deadline=None)
@given(data=st.data())
def test_a_result_without_a_handshake_becomes_a_valid_result_with(
    data: st.DataObject, method: str, revision: str
) -> None:
    result = data.draw(results(method, MODERN))
    assert_valid(MODERN, DEFINITIONS[method], result)

    told = eras.result_for_handshake(method, result, revision)

    assert_valid(revision, DEFINITIONS[method], told)
    assert not {"resultType", "ttlMs", "cacheScope"} & set(told)
    assert META_SERVER_INFO not in told.get("_meta", {})


def test_a_tool_whose_output_is_no_object_loses_its_schema_and_tells_in_text() -> None:
    listed = eras.result_for_handshake(
        "tools/list", {"tools": [{"name": "n", "outputSchema": {"type": "integer"}}]}, "2025-11-25"
    )
    told = eras.result_for_handshake("tools/call", {"content": [], "structuredContent": [1, "ä"]}, "2025-11-25")

    assert listed == {"tools": [{"name": "n"}]}
    assert told == {"content": [{"type": "text", "text": '[1, "ä"]'}]}


def test_a_link_is_told_in_words_where_links_are_unknown() -> None:
    link = {"type": "resource_link", "name": "a", "uri": "memo://a", "description": "the first"}

    told = eras.result_for_handshake("tools/call", {"content": [link]}, "2024-11-05")
    kept = eras.result_for_handshake("tools/call", {"content": [link]}, "2025-06-18")

    assert told["content"] == [{"type": "text", "text": "memo://a the first"}]
    assert kept["content"] == [link]


def test_hints_of_a_server_of_the_older_era_are_kept_only_if_they_are_hints() -> None:
    told = eras.result_for_modern("tools/list", {"tools": [], "ttlMs": 5, "cacheScope": "everybody"}, INFO)

    assert (told["ttlMs"], told["cacheScope"]) == (5, "private")


def test_a_missing_resource_has_the_code_of_its_revision() -> None:
    gone = {"code": -32002, "message": "gone", "data": {"uri": "x"}}

    assert eras.error_for_modern(gone) == {**gone, "code": -32602}
    assert eras.error_for_modern({"code": 17, "message": "own"}) == {"code": 17, "message": "own"}
    assert eras.error_for_handshake("resources/read", {**gone, "code": -32602}) == gone


@pytest.mark.parametrize(
    ("method", "data"),
    [
        ("resources/read", {"uri": "x", "code": "INVALID_REQUEST"}),
        ("resources/read", {}),
        ("tools/call", {"code": "NOT_FOUND"}),
    ],
)
def test_another_refusal_keeps_its_code(method: str, data: dict[str, Any]) -> None:
    error = {"code": -32602, "message": "no", "data": data}

    assert eras.error_for_handshake(method, error) == error


# --- introductions -----------------------------------------------------------------------------------------------


@settings(max_examples=25, deadline=None)
@given(told=st.dictionaries(st.sampled_from(["capabilities", "serverInfo", "instructions", "_meta"]), anything))
def test_whatever_a_server_says_of_itself_it_is_introduced_validly(told: dict[str, Any]) -> None:
    assert_valid(MODERN, "DiscoverResult", eras.discover_from_initialize(told))
    for revision in HANDSHAKE_REVISIONS:
        introduced = eras.initialize_from_discover(told, revision)
        assert_valid(revision, "InitializeResult", introduced)
        assert introduced["protocolVersion"] == revision


def test_capabilities_that_both_eras_know_are_kept() -> None:
    can = {"tools": {"listChanged": True}, "experimental": {"x": {"y": 1}}, "tasks": {}, "extensions": {}}

    kept = {"tools": {"listChanged": True}, "experimental": {"x": {"y": 1}}}
    assert eras.discover_from_initialize({"capabilities": can})["capabilities"] == kept
    assert eras.initialize_from_discover({"capabilities": can}, "?")["capabilities"] == kept
    assert eras.initialize_from_discover({}, "2026-07-28")["protocolVersion"] == "2025-11-25"


@each_revision
def test_the_handshake_in_the_name_of_a_client_is_valid(revision: str) -> None:
    for meta in ({}, {eras.META_CLIENT_INFO: INFO}, {eras.META_CLIENT_INFO: {"name": 7}}):
        params = eras.initialize_params(meta, revision, {"name": "holdfast", "version": "1"})
        message = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}
        assert_valid(revision, "InitializeRequest", message)


# --- requests ----------------------------------------------------------------------------------------------------


@each_method
def test_requests_are_valid_in_both_eras(method: str) -> None:
    definition, plain = REQUESTS[method]
    introduced = {"capabilities": {"roots": {"listChanged": True}, "sampling": {}}, "clientInfo": INFO}
    params = {**plain, "_meta": {"progressToken": "p", "traceparent": "00-1-2-01"}}

    described = eras.params_for_modern(params, eras.client_description(introduced), "info")
    message = {"jsonrpc": "2.0", "id": 1, "method": method}
    assert_valid(MODERN, definition, {**message, "params": described})
    assert described["_meta"][META_CAPABILITIES] == {"roots": {}, "sampling": {}}
    assert eras.params_for_handshake(described) == params
    for revision in HANDSHAKE_REVISIONS:
        assert_valid(revision, definition, {**message, "params": eras.params_for_handshake(described)})


def test_a_request_must_describe_itself_as_the_revision_wants() -> None:
    good = {META_REVISION: MODERN, META_CAPABILITIES: {}}
    newer = eras.modern_problem({"_meta": {**good, META_REVISION: "2099-01-01"}})
    bare = eras.modern_problem({"_meta": {META_REVISION: MODERN}})

    assert eras.modern_problem({"_meta": good}) is None
    assert_valid(MODERN, "UnsupportedProtocolVersionError", {"jsonrpc": "2.0", "id": 1, "error": newer})
    assert bare is not None
    assert bare["code"] == -32602


@settings(max_examples=25, deadline=None)
@given(value=anything, other=anything)
def test_no_value_is_too_strange_for_the_tables(value: Any, other: Any) -> None:
    assert_valid(MODERN, "SubscriptionFilter", eras.acknowledged_filter(value, other))
    for method in DEFINITIONS:
        assert eras.result_for_modern(method, value, other)["resultType"] == "complete"
        eras.result_for_handshake(method, value, "2024-11-05")
        eras.result_for_handshake(method, {"tools": [value], "content": [value], "messages": [value]}, "x")
    assert isinstance(eras.unanswerable(value, {"x": other}, "2024-11-05"), str)
    assert not eras.is_discovery(value)
    assert not eras.is_handshake(value)


def test_a_client_is_asked_only_what_it_can_answer() -> None:
    asked = {"k": {"method": "elicitation/create", "params": {}}}
    able: dict[str, Any] = {META_CAPABILITIES: {"elicitation": {}}}

    assert eras.unanswerable(asked, able, "2025-06-18") == ""
    assert "revision 2024-11-05" in eras.unanswerable(asked, able, "2024-11-05")
    assert "'elicitation'" in eras.unanswerable(asked, {META_CAPABILITIES: {}}, "2025-06-18")
    assert "no client knows" in eras.unanswerable({"k": {"method": "x/y"}}, able, "2025-06-18")


def test_every_translation_is_told_for_both_directions() -> None:
    assert all(all(row) and len(row) == 3 for row in eras.TRANSLATIONS)
