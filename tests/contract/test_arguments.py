"""No argument is accepted and ignored: of every tool of the server under test, each one changes what happens.

The two tables name every argument that there is; one that is added to a tool and not to them fails here.
"""

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.contract.server_under_test import build
from tests.contract.steps import wait_until

from holdfast.settings import Settings
from holdfast.testing import CallResult, ScriptedClient, connect

SERVER = build()
SETTINGS = replace(Settings(), event_log=False, kill_grace=0.1)

# Two calls that differ in this argument alone, and so in their outcomes.
CHANGES: dict[tuple[str, str], tuple[dict[str, Any], dict[str, Any]]] = {
    ("echo", "text"): ({"text": "a"}, {"text": "b"}),
    ("echo", "times"): ({"text": "a", "times": 2}, {"text": "a"}),
    ("echo", "future"): ({"text": "a", "future": 1}, {"text": "a"}),  # reserved: refused when it is set
    ("add", "a"): ({"a": 1, "b": 1}, {"a": 2, "b": 1}),
    ("add", "b"): ({"a": 1, "b": 1}, {"a": 1, "b": 2}),
    ("count", "numbers"): ({"numbers": [7]}, {"numbers": [7, 7]}),
    ("refuse", "code"): ({"code": "NOT_FOUND"}, {"code": "FORBIDDEN"}),
    ("wait_for_gate", "name"): ({"name": "one"}, {"name": "two"}),
    ("open_gate", "name"): ({"name": "one"}, {"name": "two"}),
    ("report", "seconds"): ({"seconds": 0.0}, {"seconds": 0.01}),
    ("burst", "reports"): ({"reports": 1, "gate_name": "one"}, {"reports": 2, "gate_name": "one"}),
    ("burst", "gate_name"): ({"reports": 1, "gate_name": "one"}, {"reports": 1, "gate_name": "two"}),
    ("log_lines", "lines"): ({"lines": 1}, {"lines": 2}),
    ("in_thread", "text"): ({"text": "a"}, {"text": "b"}),
    ("isolated", "number"): ({"number": 1}, {"number": 2}),
    ("large", "size"): ({"size": 1}, {"size": 2}),
    ("leave", "how"): ({"how": "generator"}, {"how": "own"}),
    ("leave_thread", "how"): ({"how": "generator"}, {"how": "own"}),
}

# Calls that do not end; the file that the argument names is written.
WRITES: dict[str, tuple[str, ...]] = {
    "hang": ("note",),
    "hang_briefly": ("note",),
    "tree": ("pids", "beats"),
    "tree_briefly": ("pids", "beats"),
}


def _shown(result: CallResult) -> Any:
    """What differs between two outcomes, without times and ids."""
    return (result.code, result.payload["message"]) if result.is_error else result.payload


async def _outcomes(client: ScriptedClient, tool: str, calls: tuple[dict[str, Any], ...]) -> list[Any]:
    ids = [client.start_call(tool, arguments) for arguments in calls]
    for name in ("one", "two"):
        await client.call("open_gate", name=name)
    return [_shown(CallResult(await client.answer_to(request_id))) for request_id in ids]


@pytest.mark.requirement("S0-4.2-no-ignored-field")
def test_the_tables_name_every_argument_of_every_tool() -> None:
    declared = {(tool.name, name) for tool in SERVER.surface.tools for name in tool.input_schema["properties"]}
    assert {*CHANGES, *((tool, name) for tool, names in WRITES.items() for name in names)} == declared


@pytest.mark.requirement("S0-4.2-no-ignored-field")
@pytest.mark.parametrize(("tool", "argument"), list(CHANGES))
def test_an_argument_changes_the_outcome_of_its_call(tool: str, argument: str) -> None:
    first, second = CHANGES[tool, argument]
    assert {key: value for key, value in first.items() if key != argument}.items() <= second.items()

    async def scenario() -> list[Any]:
        async with connect(SERVER, settings=SETTINGS) as client:
            return await _outcomes(client, tool, (first, second))

    one, other = asyncio.run(scenario())
    assert one != other


@pytest.mark.requirement("S0-4.2-no-ignored-field")
@pytest.mark.parametrize("tool", list(WRITES))
def test_an_argument_names_the_file_that_its_call_writes(tool: str, tmp_path: Path) -> None:
    files = {name: tmp_path / name for name in WRITES[tool]}

    def written() -> bool:
        return all(path.exists() for path in files.values())

    async def scenario() -> None:
        async with connect(SERVER, settings=SETTINGS) as client:
            client.start_call(tool, {name: str(path) for name, path in files.items()})
            await asyncio.to_thread(wait_until, written, "not every file is written")

    asyncio.run(scenario())
