"""The map is true: every room and every module has a place in it, and what it names is there."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "holdfast"
MAP = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
ROOMS = MAP.partition("## Rooms")[2].partition("## Direction of imports")[0]
FLOWS = MAP.partition("## Follow one request")[2].partition("## Decisions worth knowing")[0]

# Told as a whole: a file per command, per kind of check, per place of other programs, per tool of the kit.
AS_A_WHOLE = {"cli", "probe", "setup", "testing"}


def modules(folder: Path) -> list[str]:
    return sorted(path.stem for path in folder.glob("*.py") if not path.stem.startswith("__"))


def folders() -> list[Path]:
    """All that hold code; those of single ecosystems are told by their interface."""
    with_code = {path.parent for path in SOURCE.rglob("*.py")} - {SOURCE}
    return sorted(
        folder for folder in with_code if folder.name != "templates" and folder.parent.name != "ecosystems"
    )


@pytest.mark.parametrize("folder", folders(), ids=lambda folder: str(folder.relative_to(SOURCE)))
def test_every_folder_has_a_place(folder: Path) -> None:
    assert re.search(rf"\b{folder.name}/", ROOMS), folder


@pytest.mark.parametrize("room", sorted(path.name for path in SOURCE.iterdir() if path.is_dir() and modules(path)))
def test_every_module_of_a_room_has_a_place(room: str) -> None:
    names = set(re.findall(r"\w+", ROOMS))
    beginnings = tuple(name.removesuffix("*") for name in re.findall(r"\b\w+\*", ROOMS))
    lost = [name for name in modules(SOURCE / room) if name not in names and not name.startswith(beginnings)]

    assert room in AS_A_WHOLE or lost == []


def test_whatever_the_flows_lead_through_is_there() -> None:
    rooms = {folder.name for folder in folders()}
    steps = {(room, name) for room, name in re.findall(r"\b([a-z]+)\.([a-z_]+)\b", FLOWS) if room in rooms}
    there = {(path.parent.name, path.stem) for path in [*SOURCE.rglob("*.py"), *folders()]}
    gone = sorted(steps - there)

    assert len(steps) > 40
    assert gone == []
