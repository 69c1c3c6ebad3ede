"""The whole surface as one document."""

import json

import pytest
from tests.unit.contract.shapes import Money

from holdfast.contract.canonical import fingerprint
from holdfast.contract.derive import derive_tool
from holdfast.contract.model import Deprecation
from holdfast.contract.snapshot import snapshot, write_snapshot
from holdfast.contract.surface import Surface
from holdfast.present.normalize import aliases, integers, paths
from holdfast.present.paths import PathStyle
from holdfast.vocabulary.effects import SessionState, replay_safe


def price(sku: str, limit: int = 1) -> Money:
    """Tell the price."""
    return Money(len(sku) + limit)


def open_file(path: str) -> None:
    """Open."""


def shop(*, version: str = "1.0.0", description: str | None = None) -> Surface:
    tools = (
        derive_tool(
            price,
            description=description,
            errors=("NO_INDEX", "NOT_FOUND"),
            effect=replay_safe(),
            session_state=SessionState.GENERATION_PINNED,
            timeout=1.5,
            examples=[{"sku": "a"}],
            output_example={"cents": 1, "currency": "EUR"},
            security="Reads the stock table.",
            deprecated=Deprecation("1.0.0", "", "a"),
            aliases=("z", "cost"),
            normalization=aliases(article="sku") | integers("limit"),
            reserved=("cursor",),
        ).contract,
        derive_tool(price, name="a").contract,
    )
    return Surface(name="shop", version=version, surface_version="1.1.0", protocol_versions=("x",), tools=tools)


def test_a_snapshot_holds_everything_that_a_tool_promises() -> None:
    document = snapshot(shop())
    assert [tool["name"] for tool in document["tools"]] == ["a", "price"]
    tool = document["tools"][1]
    assert (tool["version"], tool["schemaVersion"], tool["timeoutMs"]) == ("1.0.0", 1, 1500)
    assert [error["code"] for error in tool["errors"]] == ["NOT_FOUND", "NO_INDEX"]
    assert all(error["meaning"] and error["remedy"] for error in tool["errors"])
    assert (tool["effect"], tool["sessionState"]) == ({"kind": "replay_safe"}, "generation_pinned")
    assert tool["idempotency"].startswith("Yes.")
    assert tool["aliases"] == ["cost", "z"]
    assert tool["deprecated"] == {"since": "1.0.0", "replacement": "a"}
    assert tool["normalization"]["aliases"] == {"article": "sku"}
    assert tool["normalization"]["rules"] == {"limit": {"keyword": "integerText"}}
    assert tool["payloadSchema"]["properties"].keys() == {"cents", "currency"}
    assert tool["outputSchema"]["properties"]["status"] == {"const": "success"}


@pytest.mark.requirement("S2-6-protocol")
def test_the_head_of_a_snapshot_names_the_surface() -> None:
    document = snapshot(shop())
    assert document["snapshotVersion"] == 1
    assert document["schemaVersion"] == "1.1.0"
    assert (document["server"]["name"], document["server"]["version"]) == ("shop", "1.0.0")
    assert (document["dialect"], document["protocolVersions"]) == ("status", ["x"])
    assert (document["prompts"], document["resources"]) == ([], [])


def test_a_snapshot_is_byte_identical_on_repeat() -> None:
    assert write_snapshot(shop()) == write_snapshot(shop())
    assert json.loads(write_snapshot(shop())) == snapshot(shop())


def test_the_fingerprint_covers_everything_else() -> None:
    document = snapshot(shop())
    claimed = document.pop("fingerprint")
    assert claimed == fingerprint(document)
    assert claimed != snapshot(shop(description="Other words."))["fingerprint"]


def test_the_place_where_a_server_runs_is_not_in_its_snapshot() -> None:
    spelling = paths("path", style=PathStyle.RELATIVE, root="/srv/here")
    tool = derive_tool(open_file, normalization=spelling).contract
    assert b"/srv/here" not in write_snapshot(Surface(name="files", version="1.0.0", tools=(tool,)))
