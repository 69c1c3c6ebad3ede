"""The launch tools that are announced as read-only, under a tracer: they write into the workspace alone."""

import os

import pytest
from tests.launch.runs import READING, Place
from tests.tracer import Grounds, traced

from holdfast.launch.tools import server

pytestmark = [pytest.mark.xdist_group("launch-tools"), pytest.mark.timeout(240)]


def test_tools_that_only_read_start_nothing_connect_nowhere_and_write_nothing_else(place: Place) -> None:
    place.stop()
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    module = ("-m", "tests.launch.traced_calls")
    acts, printed = traced(place.root.parent, environment, *module, str(place.root), place.run_id)
    grounds = Grounds((place.root,))
    found: dict[str, set[str]] = {tool: set() for tool in printed["answers"]}
    for act in acts:
        found[act[0]].add(grounds.describe(act))

    assert set(printed["answers"].values()) == {True}
    assert found.keys() == set(READING)
    assert set.union(*found.values()) == {""}, "telemetry is written into the workspace, and nothing else is done"


def test_no_launch_tool_but_those_is_announced_as_read_only() -> None:
    definitions = server.tool_definitions()
    assert {one["name"] for one in definitions if one["annotations"]["readOnlyHint"]} == set(READING)
