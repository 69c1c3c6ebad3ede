"""Resources: what is read under an address, and every way in which that can fail."""

import asyncio
import base64
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from tests.unit.worker.offering import make_server

from holdfast import ResourceContents, Server
from holdfast.errors import ContractError
from holdfast.present.profile import PROFILES
from holdfast.settings import Settings
from holdfast.testing import connect
from holdfast.vocabulary.events import CallEnded, FaultRecorded

METHODS = ("resources/list", "resources/read", "prompts/list", "prompts/get", "completion/complete",
           "resources/templates/list", "resources/subscribe")  # fmt: skip
REVISIONS = sorted({profile.revision for profile in PROFILES})


async def _read(uri: str, revision: str = "2025-11-25", **settings: Any) -> Any:
    given = replace(Settings(), event_log=False, **settings)
    async with connect(make_server(), revision=revision, settings=given) as client:
        result = await client.read_resource(uri)
        return result, client.events


def test_a_typed_value_is_sent_as_json() -> None:
    result, _ = asyncio.run(_read("notes://all"))
    assert result.contents == [
        {"uri": "notes://all", "mimeType": "application/json", "text": '{"a":"first","b":"second"}'}
    ]


def test_values_of_a_template_arrive_as_their_types() -> None:
    result, _ = asyncio.run(_read("notes://sum/2/40?times=3"))
    assert result.contents == [
        {"uri": "notes://sum/2/40?times=3", "mimeType": "text/x-sum", "text": "42"},
        {
            "uri": "notes://sum/2/40?times=3",
            "mimeType": "application/x-times",
            "blob": base64.b64encode(b"\3").decode(),
        },
    ]


@pytest.mark.parametrize("revision", REVISIONS)
def test_an_unknown_address_is_told_as_the_revision_has_it(revision: str) -> None:
    for uri in ("notes://none", "notes://one/none", "", "x" * 10_000):
        result, events = asyncio.run(_read(uri, revision))
        assert result.error["code"] == (-32602 if revision == "2026-07-28" else -32002)
        assert result.error["data"]["code"] == "NOT_FOUND"
        assert result.error["data"]["uri"] == uri[:400]
        ended = [event for event in events if isinstance(event, CallEnded)]
        assert [event.method for event in ended] == ["resources/read"]


def test_only_a_read_that_may_be_kept_says_for_how_long() -> None:
    result, _ = asyncio.run(_read("notes://all", "2026-07-28"))
    assert (result.message["result"]["ttlMs"], result.message["result"]["cacheScope"]) == (2500, "public")
    result, _ = asyncio.run(_read("notes://one/a", "2026-07-28"))
    assert (result.message["result"]["ttlMs"], result.message["result"]["cacheScope"]) == (0, "private")
    result, _ = asyncio.run(_read("notes://all", "2025-06-18"))
    assert result.message["result"].keys() == {"contents"}


def test_a_value_of_the_wrong_type_is_told_with_its_place() -> None:
    result, _ = asyncio.run(_read("notes://sum/two/40"))
    assert result.error["code"] == -32602
    assert result.error["data"]["details"]["violations"][0]["instancePath"] == "/first"


@pytest.mark.parametrize("name", ["..", "a%2Fb", "%2e%2e%2fetc"])
def test_a_value_that_leads_elsewhere_never_reaches_the_function(name: str) -> None:
    result, _ = asyncio.run(_read(f"notes://one/{name}"))
    assert (result.error["code"], result.error["data"]["code"]) == (-32602, "INVALID_REQUEST")


def test_a_declared_error_keeps_its_code_and_an_undeclared_one_does_not() -> None:
    result, _ = asyncio.run(_read("notes://one/secret"))
    assert (result.error["code"], result.code, result.error["message"]) == (-32603, "FORBIDDEN", "not for you")
    result, events = asyncio.run(_read("notes://one/undeclared"))
    assert result.code == "INTERNAL"
    assert [event.cause_class for event in events if isinstance(event, FaultRecorded)] == ["UndeclaredErrorCode"]


@pytest.mark.parametrize(
    ("uri", "cause"), [("notes://one/broken", "RuntimeError"), ("notes://wrong", "OutputContractViolation")]
)
def test_a_defect_shows_its_class_and_an_id_that_finds_the_trace(uri: str, cause: str) -> None:
    result, events = asyncio.run(_read(uri))
    data = result.error["data"]
    assert data["details"]["cause_class"] == cause
    assert "passwd" not in str(result.message)
    recorded = [event for event in events if isinstance(event, FaultRecorded)]
    assert [event.fault_id for event in recorded] == [data["faultId"]]
    assert recorded[0].traceback


def test_a_read_that_takes_too_long_ends_in_its_timeout() -> None:
    result, events = asyncio.run(_read("notes://slow"))
    assert (result.error["code"], result.code, result.error["data"]["timeoutMs"]) == (-32603, "TOOL_TIMEOUT", 50)
    assert [event.outcome for event in events if isinstance(event, CallEnded)] == ["timeout"]


def test_contents_that_no_message_can_hold_are_a_typed_failure() -> None:
    result, _ = asyncio.run(_read("notes://large/70000", max_message_bytes=65536))
    assert result.code == "RESULT_TOO_LARGE"
    result, _ = asyncio.run(_read("notes://large/40000", max_message_bytes=65536))
    assert len(result.contents[0]["blob"]) == 53336


@pytest.mark.parametrize("params", [{}, {"uri": 7}, {"uri": None}, {"uri": ["notes://all"]}])
def test_a_read_without_an_address_is_an_invalid_request(params: dict[str, Any]) -> None:
    async def scenario() -> None:
        async with connect(make_server()) as client:
            answer = await client.request("resources/read", params)
            assert (answer["error"]["code"], answer["error"]["data"]["code"]) == (-32602, "INVALID_REQUEST")

    asyncio.run(scenario())


def test_a_cancelled_read_is_stopped_and_answered_as_it_was_cancelled() -> None:
    async def scenario() -> None:
        async with connect(make_server()) as client:
            silent = client.start("resources/read", {"uri": "notes://waiting"})
            spoken = client.start("resources/read", {"uri": "notes://waiting"})
            client.notify("notifications/cancelled", requestId=silent)
            client.notify("$/cancelRequest", id=spoken)
            answer = await client.answer_to(spoken)
            assert answer["error"]["data"]["code"] == "CANCELLED"
            assert (await client.read_resource("notes://all")).error is None
            assert not [message for message in client.messages if message.get("id") == silent]

    asyncio.run(scenario())


def test_reads_wait_for_a_slot_like_calls_and_one_too_many_is_refused() -> None:
    async def scenario() -> None:
        settings = replace(Settings(), event_log=False, concurrency=1, queue_max=0)
        async with connect(make_server(), settings=settings, revision="2026-07-28") as client:
            waiting = client.start("resources/read", {"uri": "notes://waiting"})
            refused = await client.read_resource("notes://all")
            assert (refused.error or {})["code"] == 1001
            again = await client.request("resources/read", {"uri": "notes://all"})
            assert again["error"]["data"]["code"] == "QUEUE_OVERLOADED"
            client.notify("$/cancelRequest", id=waiting)
            await client.answer_to(waiting)

    asyncio.run(scenario())


def _text() -> str:
    """A text."""
    return ""


def _value(name: str) -> str:
    """A text."""
    return name


def _values(names: list[str]) -> str:
    """A text."""
    return str(names)


def _untold() -> str:
    return ""


def _contents() -> ResourceContents:
    """Contents."""
    return ResourceContents("")


@pytest.mark.parametrize(
    ("uri", "function", "options", "words"),
    [
        ("books", _text, {}, "no address"),
        ("app://{name}", _text, {}, "no parameter"),
        ("app://x", _value, {}, "no value of its address"),
        ("app://x{?name}", _value, {}, "default"),
        ("app://x/{names}", _values, {}, "one text cannot say"),
        ("app://x", _untold, {}, "no description"),
        ("app://x", _text, {"mime_type": "markdown"}, "mime_type"),
        ("app://x", _text, {"ttl": -1}, "ttl"),
        ("app://x", _text, {"cache_scope": "mine"}, "cache_scope"),
        ("app://x", _text, {"timeout": "soon"}, "timeout"),
        ("app://x/{name}", _value, {"size": 3}, "size"),
        ("app://x", _text, {"errors": ("NO_SUCH_CODE",)}, "NO_SUCH_CODE"),
        ("app://x", _text, {"icons": "https://example.org/a.png"}, "icons"),
        ("app://x", _text, {"name": ""}, "name"),
    ],
)
def test_a_declaration_that_cannot_work_is_refused_with_its_name(
    uri: str, function: Callable[..., Any], options: dict[str, Any], words: str
) -> None:
    server = Server("s", version="1.0.0")
    with pytest.raises(ContractError) as refused:
        server.resource(uri, **options)(function)
    assert words in str(refused.value)
    assert "resource" in str(refused.value) or "icons" in str(refused.value) or "name" in str(refused.value)
    assert refused.value.remedy


def test_an_address_is_declared_once() -> None:
    server = Server("s", version="1.0.0")
    server.resource("app://x")(_contents)
    with pytest.raises(ContractError, match="two resources"):
        server.resource("app://x")(_text)


def test_a_server_without_resources_does_not_know_the_methods() -> None:
    async def scenario() -> None:
        async with connect(Server("s", version="1.0.0")) as client:
            for method in METHODS:
                assert (await client.request(method, {"uri": "x"}))["error"]["code"] == -32601

    asyncio.run(scenario())
