"""Containers found by their label, with a program that plays the engine: there is no real one in these tests."""

import asyncio
import sys
from pathlib import Path

import pytest

from holdfast.process.containers import LABEL, WORKER_LABEL, Removal, container_engine, labelled, remove_labelled

# Keeps containers as lines `ID LABEL` in a file, writes down its calls, and can be told to misbehave.
ENGINE = """#!{python}
import os, sys, time
place = os.path.dirname(os.path.abspath(__file__))
words = sys.argv[1:]
with open(place + "/calls", "a") as file:
    file.write(" ".join(words) + chr(10))
mood = open(place + "/mood").read()
if mood == "hangs":
    time.sleep(600)
if mood == "fails":
    sys.exit("Cannot connect to the daemon")
while words and words[0].startswith("-"):
    del words[:2]
with open(place + "/containers") as file:
    rows = [line.split() for line in file]
if words[0] == "ps":
    wanted = words[words.index("--filter") + 1].removeprefix("label=")
    print("".join(row[0] + chr(10) for row in rows if row[1] == wanted), end="")
elif words[0] == "rm":
    if mood == "keeps":
        sys.exit("device busy")
    with open(place + "/containers", "w") as file:
        file.writelines(" ".join(row) + chr(10) for row in rows if row[0] not in words)
"""


@pytest.fixture
def engine(tmp_path: Path) -> Path:
    program = tmp_path / "docker"
    program.write_text(ENGINE.format(python=sys.executable))
    program.chmod(0o755)
    (tmp_path / "mood").write_text("")
    (tmp_path / "containers").write_text(f"aaa1 {LABEL}=mine\nbbb2 {LABEL}=other\nccc3 {LABEL}=mine\n")
    return program


def removed(engine: tuple[str, ...], timeout: float = 20.0) -> Removal:
    return asyncio.run(remove_labelled(engine, "mine", timeout))


@pytest.mark.parametrize(
    ("command", "at"),
    [
        ("docker run -i --rm image", 2),
        ("/usr/bin/podman run image", 2),
        ("docker container run image", 3),
        ("docker -H tcp://host:1 --debug run image", 5),
        ("docker --host=tcp://host:1 run image", 3),
        ("docker --context run run image", 4),
        ("podman --log-level debug --root /x run image run", 6),
    ],
)
def test_the_label_goes_right_behind_run(command: str, at: int) -> None:
    words = command.split()

    assert labelled(words, "t0ken") == (*words[:at], "--label", "io.holdfast.custody=t0ken", *words[at:])


def test_what_one_command_starts_can_have_a_label_of_its_own(engine: Path) -> None:
    words = labelled(["docker", "run", "image"], "mine", "mine-2")
    own = f"{WORKER_LABEL}=mine-2"
    engine.with_name("containers").write_text(f"aaa1 {LABEL}=mine\nbbb2 {own}\n")
    result = asyncio.run(remove_labelled((str(engine),), "mine-2", 20.0, key=WORKER_LABEL))

    assert words == ("docker", "run", "--label", f"{LABEL}=mine", "--label", own, "image")
    assert result.containers == ["bbb2"]


@pytest.mark.parametrize(
    "command",
    ["", "docker", "docker ps", "docker --debug", "docker exec box run", "docker compose run web", "docker -H run",
     "python run", "dockerd run", "sh -c docker run", "docker container", "docker container ls"],
)  # fmt: skip
def test_any_other_command_is_left_alone(command: str) -> None:
    words = command.split()

    assert labelled(words, "t0ken") == tuple(words)
    assert container_engine(words) is None


def test_the_engine_keeps_its_global_options() -> None:
    assert container_engine(["docker", "-H", "tcp://a", "container", "run", "x"]) == ("docker", "-H", "tcp://a")
    assert container_engine(["podman", "run", "x"]) == ("podman",)


def test_only_containers_with_the_label_are_removed(engine: Path) -> None:
    result = removed((str(engine), "-H", "tcp://a"))

    assert result == Removal(["aaa1", "ccc3"], "")
    assert engine.with_name("containers").read_text() == f"bbb2 {LABEL}=other\n"
    assert engine.with_name("calls").read_text().splitlines() == [
        f"-H tcp://a ps -aq --filter label={LABEL}=mine",
        "-H tcp://a rm -f aaa1 ccc3",
    ]


def test_where_no_container_is_left_nothing_is_removed(engine: Path) -> None:
    engine.with_name("containers").write_text("")

    assert removed((str(engine),)) == Removal([], "")
    assert "rm" not in engine.with_name("calls").read_text()


def test_many_containers_are_removed_in_several_commands(engine: Path) -> None:
    engine.with_name("containers").write_text("".join(f"{n:012x} {LABEL}=mine\n" for n in range(250)))

    assert len(removed((str(engine),)).containers) == 250
    assert engine.with_name("containers").read_text() == ""
    assert len(engine.with_name("calls").read_text().splitlines()) == 4


@pytest.mark.parametrize(("mood", "problem"), [("fails", "Cannot connect"), ("keeps", "device busy")])
def test_an_engine_that_fails_is_a_problem_and_no_exception(engine: Path, mood: str, problem: str) -> None:
    engine.with_name("mood").write_text(mood)
    result = removed((str(engine),))

    assert result.containers == []
    assert problem in result.problem


def test_an_engine_that_hangs_is_given_up_in_time(engine: Path) -> None:
    engine.with_name("mood").write_text("hangs")
    result = removed((str(engine),), timeout=0.5)

    assert result.containers == []
    assert "timeout" in result.problem


def test_an_engine_that_is_not_there_is_a_problem_and_no_exception() -> None:
    assert "there is no program 'docker-that-is-not-there'" in removed(("docker-that-is-not-there",)).problem
