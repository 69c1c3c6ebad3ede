"""A worker that is a container: the engine's service runs it, so it outlives the command that started it.

A program plays the engine. Its containers are lines in a file, and the server of one runs inside of `docker run`.
"""

import sys
from pathlib import Path

import pytest
from tests.host.answers import payload_of
from tests.host.conftest import QUICK, Events

from holdfast.testing import Fault, HostUnderTest, script

ENGINE = """#!{python} -S
import os, sys
place = os.path.dirname(os.path.abspath(__file__))
words = sys.argv[1:]
def note(name, line):
    with open(os.path.join(place, name), "a") as file:
        file.write(line + chr(10))
labels = [words[at + 1] for at, word in enumerate(words) if word == "--label"]
generation = labels[-1].rpartition("-")[2] if labels else ""
note("calls", words[0] + " " + generation)
if words[0] == "run":
    note("running", "c" + generation + " " + " ".join(labels))
    command = words[words.index("image") + 1:]
    os.execv(command[0], command)
if os.path.exists(os.path.join(place, "broken")):
    sys.exit("Cannot connect to the daemon")
rows = open(os.path.join(place, "running")).read().splitlines()
if words[0] == "ps":
    wanted = words[-1].removeprefix("label=")
    print(*(row.split()[0] for row in rows if wanted in row.split()[1:]), sep=chr(10))
else:
    with open(os.path.join(place, "running"), "w") as file:
        file.writelines(row + chr(10) for row in rows if row.split()[0] not in words)
"""


@pytest.fixture
def engine(tmp_path: Path) -> Path:
    program = tmp_path / "docker"
    program.write_text(ENGINE.format(python=sys.executable))
    program.chmod(0o755)
    return program


def running(engine: Path, *faults: Fault) -> HostUnderTest:
    worker = script(*faults).command(engine.parent / "worker")
    command = [str(engine), "run", "-i", "--rm", "image", *worker]
    return HostUnderTest.running(command, engine.parent, environment=QUICK)


def test_the_container_of_a_lost_worker_is_gone_before_its_call_is_sent_to_the_next(engine: Path) -> None:
    with running(engine, Fault.on_tool("read", "kill", generations=(1, 1))) as client:
        client.handshake()
        assert payload_of(client.call("read"))["generation"] == 2
        calls = (engine.parent / "calls").read_text().splitlines()
        assert [row.split()[0] for row in (engine.parent / "running").read_text().splitlines()] == ["c2"]
        client.assert_nothing_left()

    assert [call.strip() for call in calls] == ["run 1", "ps", "rm", "run 2"]
    assert (engine.parent / "running").read_text() == ""


def test_an_engine_that_removes_nothing_is_told_of_and_costs_no_call(engine: Path, events: Events) -> None:
    (engine.parent / "broken").touch()
    with running(engine, Fault.on_tool("read", "kill", generations=(1, 1))) as client:
        client.handshake()
        assert payload_of(client.call("read"))["generation"] == 2
        client.assert_nothing_left()

    told = [event["message"] for event in events("fault")]
    assert "the container of worker 1" in told[0]
    assert "containers may be left" in told[-1]
    assert all("Cannot connect to the daemon" in message for message in told)
