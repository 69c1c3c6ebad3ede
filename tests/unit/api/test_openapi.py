"""The description: schemas of tools find their definitions, and only what is true is promised."""

import base64
import hashlib
import re

from holdfast.api.envelope import Reply
from holdfast.api.exchange import Exchange
from holdfast.api.front import Front
from holdfast.api.openapi import document, embedded, json_response
from holdfast.api.page import docs_page
from holdfast.api.route import Route


async def handler(_: Front, __: Exchange) -> Reply:
    raise AssertionError("not called here")


OPERATION = {"operationId": "a", "responses": {"200": json_response("Fine.", {"type": "object"})}}
ROUTES = [Route("GET", "/a", handler, OPERATION), Route("GET", "/hidden", handler)]


def described(*, token: bool = False) -> dict[str, object]:
    return document(ROUTES, title="t", version="1", description="d", schemas={}, token=token)


def test_references_to_own_definitions_are_led_to_where_they_stand_now() -> None:
    schema = {
        "$schema": "x",
        "items": [{"$ref": "#/$defs/A"}],
        "$defs": {"A": {"$ref": "#"}},
        "const": "#/$defs/A",
    }

    assert embedded(schema, "N") == {
        "items": [{"$ref": "#/components/schemas/N/$defs/A"}],
        "$defs": {"A": {"$ref": "#/components/schemas/N"}},
        "const": "#/$defs/A",
    }


def test_routes_without_a_description_are_not_in_it() -> None:
    assert set(described()["paths"]) == {"/a"}  # type: ignore[call-overload]


def test_a_token_is_described_only_where_there_is_one() -> None:
    assert "security" not in described()
    assert described(token=True)["security"] == [{"token": []}]


def test_the_policy_of_the_page_allows_exactly_its_own_script_and_style() -> None:
    page = docs_page()
    policy = dict(page.headers)[b"content-security-policy"].decode()
    for tag in (b"script", b"style"):
        (inside,) = re.findall(rb"<%b>(.*?)</%b>" % (tag, tag), page.body, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(inside).digest()).decode()
        assert f"{tag.decode()}-src 'sha256-{digest}'" in policy
