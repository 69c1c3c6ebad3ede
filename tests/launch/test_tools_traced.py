"""The launch tools under a tracer: those announced as read-only write into the workspace alone.

The others start git and Hugo too, and write what they push into the repository of the site.
"""

import json
import os
import re
from pathlib import Path

import pytest
from tests.launch.runs import PAGE, READING, TOOLS, Place
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


@pytest.mark.skipif(os.environ.get("HOLDFAST_HOSTILE") != "full", reason="runs with `make hostile`")
def test_no_launch_tool_does_more_than_start_git_and_hugo_and_write_to_workspace_and_site(place: Place) -> None:
    remote = Path(place.bare_site())
    place.reconfigure(allow_manual_edits=True)
    place.edit_by_hand(PAGE, "\nSee [the guide](/nowhere/at/all/).\n")
    place.stop()
    scratch = place.root.parent / "scratch"
    scratch.mkdir()
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "TMPDIR": str(scratch)}
    module = ("-m", "tests.launch.traced_calls")
    configuration = json.dumps(place.origin.config)
    acts, printed = traced(place.root.parent, environment, *module, str(place.root), place.run_id, configuration)
    grounds = Grounds((place.root, remote, scratch))
    found = {grounds.describe(act) for act in acts}
    # Git writes relative to directories that the tracer does not follow; the C library asks who the user is.
    known = {one for one in found if re.match(r"write [^/]|connect .*nscd/socket", one)}

    assert printed["answers"] == dict.fromkeys(TOOLS, True)
    assert "exec git" in found
    transport = {
        "exec sh",
        "exec git-upload-pack",
        "exec git-receive-pack",
    }  # of git, to a repository on this disk
    assert found - known - transport <= {"", "exec git", "exec hugo", "exec python"}
