"""Prompts and resources in the snapshot of a server: what is told, what a change of them asks for."""

from collections.abc import Callable
from typing import Any, Literal

import pytest

from holdfast import Server
from holdfast.contract.compare.diff import diff_surfaces
from holdfast.contract.compare.view import read_surface
from holdfast.contract.snapshot import snapshot

KINDS = {"prompt", "resource", "template"}


async def _greet(name: str, mood: Literal["merry", "grave"] = "merry") -> str:
    """Greet somebody."""
    return f"{name} {mood}"


async def _greet_merrily(name: str, mood: Literal["merry"] = "merry") -> str:
    """Greet somebody."""
    return f"{name} {mood}"


async def _greet_often(name: str, times: int, mood: Literal["merry", "grave"] = "merry") -> str:
    """Greet somebody."""
    return f"{name} {mood} {times}"


async def _page(number: int) -> str:
    """A page."""
    return str(number)


async def _notice() -> str:
    """A notice."""
    return ""


def _server(
    greet: Callable[..., Any] | None = _greet, page: Callable[..., Any] = _page, **notice: Any
) -> dict[str, Any]:
    server = Server("s", version="1.0.0")
    if greet is not None:
        server.prompt(name="greet")(greet)
    server.resource("s://pages/{number}", name="page")(page)
    server.resource("s://notice", name="notice", **notice)(_notice)
    return snapshot(server.surface)


def test_a_server_of_tools_alone_has_the_snapshot_that_it_had() -> None:
    document = snapshot(Server("s", version="1.0.0").surface)
    assert (document["prompts"], document["resources"]) == ([], [])
    assert "resourceTemplates" not in document
    assert document["server"] == {"name": "s", "version": "1.0.0", "instructions": ""}


def test_a_snapshot_holds_prompts_resources_and_templates() -> None:
    document = _server()
    assert [one["name"] for one in document["prompts"]] == ["greet"]
    assert document["prompts"][0]["arguments"][1]["schema"] == {"enum": ["merry", "grave"], "type": "string"}
    assert [one["uri"] for one in document["resources"]] == ["s://notice"]
    assert document["resourceTemplates"][0]["values"] == {"number": {"type": "integer"}}


def test_what_is_on_the_wire_is_what_the_code_says() -> None:
    document = _server(subscribable=True, size=3, timeout=1.0, title="Notice")
    wire = {
        "snapshotVersion": 1,
        "source": "wire",
        "tools": [],
        "prompts": [{"name": "greet", "description": "Greet somebody.", "arguments": [
            {"name": "name", "required": True}, {"name": "mood", "required": False}]}],
        "resources": [{"uri": "s://notice", "name": "notice", "title": "Notice", "description": "A notice."}],
        "resourceTemplates": [{"uriTemplate": "s://pages/{number}", "name": "page", "description": "A page."}],
    }  # fmt: skip
    told = diff_surfaces(read_surface(document), read_surface(wire)).changes
    assert [change.rule for change in told if change.rule.split(".")[0] in KINDS] == []
    wire["prompts"] = []
    gone = diff_surfaces(read_surface(document), read_surface(wire)).changes
    assert [change.rule for change in gone if change.rule.split(".")[0] in KINDS] == ["prompt.removed"]


@pytest.mark.parametrize(
    ("after", "rule", "bump"),
    [
        (lambda: _server(None), "prompt.removed", "major"),
        (lambda: _server(_greet_often), "prompt.required_argument_added", "major"),
        (lambda: _server(_greet_merrily), "prompt.argument_narrowed", "major"),
        (lambda: _server(subscribable=True), "resource.subscription_added", "minor"),
        (lambda: _server(mime_type="text/html"), "resource.mime_changed", "major"),
        (lambda: _server(description="Another."), "resource.text_changed", "patch"),
    ],
)
def test_a_change_asks_for_its_version(after: Callable[[], dict[str, Any]], rule: str, bump: str) -> None:
    diff = diff_surfaces(read_surface(_server()), read_surface(after()))
    found = {change.rule: change for change in diff.changes}
    assert rule in found
    assert found[rule].bump.value == bump
