"""Which surfaces may take each other's place in a running session."""

import json
import subprocess
import sys
from typing import Any

import pytest

from holdfast.contract.replacement import problem_with


def tool(name: str = "read", *, required: bool = False, version: str | None = None) -> dict[str, Any]:
    schema = {"type": "object", "properties": {"key": {"type": "string"}}, "required": ["key"] if required else []}
    meta = {"_meta": {"io.holdfast/contract": {"version": version, "schemaVersion": 1}}} if version else {}
    return {"name": name, "description": name, "inputSchema": schema, **meta}


def surface(version: str, *tools: dict[str, Any]) -> dict[str, Any]:
    return {"server": {"name": "s", "version": version} if version else {}, "tools": list(tools)}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (surface("1.0.0", tool()), surface("1.0.0", tool())),
        (surface("1.0.0", tool()), surface("0.9.0", tool())),
        (surface("1.0.0", tool()), surface("1.0.0", tool(), tool("more"))),
        (surface("1.0.0", tool(required=True)), surface("1.0.0", tool())),
        (surface("1.0.0", tool()), surface("2.0.0", tool(required=True))),
        (surface("0.1.0", tool()), surface("0.2.0")),
        (surface("", tool()), surface("", tool(), tool("more"))),
    ],
)
def test_what_breaks_nobody_or_says_so_by_its_version_may(before: dict[str, Any], after: dict[str, Any]) -> None:
    assert problem_with(before, after) == ""


@pytest.mark.parametrize(
    ("before", "after", "remedy"),
    [
        (surface("1.0.0", tool()), surface("1.0.0"), "the version of the server to 2.0.0"),
        (surface("1.0.0", tool()), surface("1.9.9", tool(required=True)), "the version of the server to 2.0.0"),
        (surface("0.1.0", tool()), surface("0.1.1", tool("other")), "the version of the server to 0.2.0"),
        (surface("", tool()), surface(""), "the version of the server to 1.0.0"),
        (
            surface("", tool(version="1.0.0")),
            surface("", tool(required=True, version="1.1.0")),
            "version of read to 2.0.0, schema_version of read to 2, the version of the server to 1.0.0",
        ),
        (
            surface("2.0.0", tool(version="1.0.0")),
            surface("3.0.0", tool(required=True, version="2.0.0")),
            "schema_version of read to 2",
        ),
    ],
)
def test_what_breaks_callers_silently_may_not(before: dict[str, Any], after: dict[str, Any], remedy: str) -> None:
    told = problem_with(before, after)

    assert told.startswith("it breaks callers (read")
    assert told.endswith(f"; to say so it must raise {remedy}")


def test_the_version_of_a_surface_of_ours_is_asked_for_by_its_own_name() -> None:
    meta = {"version": "2.0.0", "schemaVersion": 2, "surfaceVersion": "1.0.0"}
    new = {**tool(required=True), "_meta": {"io.holdfast/contract": meta}}
    old = {**tool(), "_meta": {"io.holdfast/contract": {**meta, "version": "1.0.0", "schemaVersion": 1}}}

    told = problem_with(surface("1.0.0", old), surface("2.0.0", new))

    assert told.endswith("; to say so it must raise surface_version to 2.0.0")


def test_a_tool_that_is_gone_is_named_once() -> None:
    told = problem_with(surface("1.0.0", tool()), surface("1.0.0"))

    assert "(read: the tool is gone: calls to this name fail)" in told


def test_many_changes_are_told_in_one_line() -> None:
    tools = [tool(f"t{number}", version="1.0.0") for number in range(10)]
    changed = [tool(f"t{number}", version="1.0.0", required=True) for number in range(10)]

    assert "and 7 more)" in problem_with(surface("1.0.0", *tools), surface("1.0.0"))
    assert "version of t0, t1, t2 and 7 more to 2.0.0" in problem_with(
        surface("1.0.0", *tools), surface("1.0.0", *changed)
    )


@pytest.mark.parametrize(
    "asked", [b"", b"{", b"[1]", b'{"before":1,"after":2}', b'{"before":{},"after":{}}', b"\xff"]
)
def test_a_question_that_is_none_ends_the_program_with_words(asked: bytes) -> None:
    program = [sys.executable, "-P", "-m", "holdfast.contract.replacement"]
    done = subprocess.run(program, input=asked, capture_output=True, check=False, timeout=30)

    assert done.returncode == 1
    assert done.stdout == b""
    assert done.stderr


def test_the_program_answers_on_stdout() -> None:
    program = [sys.executable, "-P", "-m", "holdfast.contract.replacement"]
    asked = json.dumps({"before": surface("1.0.0", tool()), "after": surface("1.0.0")})
    done = subprocess.run(program, input=asked, capture_output=True, text=True, check=True, timeout=30)

    assert done.stdout == problem_with(surface("1.0.0", tool()), surface("1.0.0"))
    asked = json.dumps({"before": surface("1.0.0"), "after": surface("1.0.0")})
    done = subprocess.run(program, input=asked, capture_output=True, text=True, check=True, timeout=30)
    assert done.stdout == "fine"
