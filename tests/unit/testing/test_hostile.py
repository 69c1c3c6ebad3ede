"""Scripts are checked when they are written, not when a worker fails over them."""

import json
from pathlib import Path

import pytest

from holdfast.testing import Fault, Traces, script


def test_a_fault_that_does_not_exist_is_refused_with_those_that_do() -> None:
    with pytest.raises(ValueError, match=r"no fault 'explode'; there are kill, "):
        Fault.on_tool("read", "explode")


def test_a_moment_that_does_not_exist_is_refused() -> None:
    with pytest.raises(ValueError, match="no moment 'noon'"):
        Fault("kill", at="noon")


@pytest.mark.parametrize("do", ["kill_before_read", "no_tools"])
def test_a_fault_that_could_never_fire_is_refused(do: str) -> None:
    with pytest.raises(ValueError, match="before anything is read"):
        Fault.on_tool("read", do)


def test_an_argument_that_a_fault_does_not_take_is_refused() -> None:
    with pytest.raises(TypeError, match="bites"):
        Fault.on_tool("read", "kill_mid_answer", bites=3)


def test_a_command_names_a_script_that_a_worker_can_read(tmp_path: Path) -> None:
    command = script(Fault.on_start("delay", seconds=1.5), seed=4, record=True).command(
        tmp_path / "new" / "folder"
    )
    written = json.loads(Path(command[-1]).read_text())

    assert written["state"] == str(tmp_path / "new" / "folder")
    assert (written["seed"], written["record"]) == (4, True)
    assert written["faults"][0]["arguments"] == {"seconds": 1.5}


def test_a_directory_without_a_worker_has_no_traces(tmp_path: Path) -> None:
    traces = Traces(tmp_path / "nothing")

    assert traces.generations() == 0
    assert traces.effects() == traces.fired() == []
    assert (traces.grandchildren(), traces.received()) == ([], [])
