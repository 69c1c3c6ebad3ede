"""The skill in its place: linked, copied, taken out; and everything that may already be there, left alone."""

import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from holdfast.errors import UsageError
from holdfast.setup import skill
from holdfast.setup.skill import NAME, default_directories, install_skill, remove_skill, skill_source

ROOT = Path(__file__).parents[3]


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Where the skill belongs, in a directory that is there."""
    (tmp_path / "skills").mkdir()
    return tmp_path / "skills" / NAME


def install(place: Path, *, copy: bool = False, force: bool = False) -> str:
    (placed,) = install_skill([place.parent], copy=copy, force=force)
    assert placed.path == place
    return placed.change


def remove(place: Path, *, force: bool = False) -> str:
    (placed,) = remove_skill([place.parent], force=force)
    return placed.change


def tree(directory: Path) -> dict[str, bytes | str]:
    return {
        str(path.relative_to(directory)): os.readlink(path) if path.is_symlink() else path.read_bytes()
        for path in sorted(directory.rglob("*"))
        if path.is_symlink() or path.is_file()
    }


def test_the_skill_of_a_checkout_is_the_one_of_the_repository() -> None:
    assert skill_source() == ROOT / "skills" / NAME


@pytest.mark.requirement("S3-skill-shipped")
def test_an_installed_package_finds_the_skill_inside_itself(tmp_path: Path) -> None:
    package = tmp_path / "site" / "holdfast"
    for file in ("__init__.py", "errors.py", "version.py", "setup/__init__.py", "setup/skill.py"):
        (package / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / "src" / "holdfast" / file, package / file)
    program = "from holdfast.setup.skill import skill_source; print(skill_source())"
    command = [sys.executable, "-S", "-c", program]

    def run() -> "subprocess.CompletedProcess[str]":
        environ = {"PYTHONPATH": str(package.parent), "PATH": os.environ["PATH"]}
        return subprocess.run(
            command, env=environ, cwd=tmp_path, capture_output=True, text=True, timeout=20, check=False
        )

    assert "this installation has no skill mcp-bootstrap" in run().stderr
    shutil.copytree(ROOT / "skills", package / "skills")
    assert run().stdout == f"{package / 'skills' / NAME}\n"


@pytest.mark.requirement("S3-skill-shipped")
def test_the_wheel_carries_the_skill_where_an_installed_package_looks() -> None:
    build = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"]
    assert build["wheel"]["force-include"]["skills"] == "holdfast/skills"
    assert "skills" in build["sdist"]["include"]


def test_it_is_linked_and_doing_it_again_changes_nothing(place: Path) -> None:
    assert [install(place), install(place)] == ["created", "unchanged"]
    assert place.is_symlink()
    assert (place / "SKILL.md").read_bytes() == (skill_source() / "SKILL.md").read_bytes()
    assert [remove(place), remove(place)] == ["removed", "absent"]
    assert (skill_source() / "SKILL.md").is_file()
    assert list(place.parent.iterdir()) == []


def test_a_directory_that_is_not_there_is_made(tmp_path: Path) -> None:
    place = tmp_path / "deep" / "er" / NAME
    assert install(place) == "created"


def test_a_copy_has_every_page_and_doing_it_again_changes_nothing(place: Path) -> None:
    assert [install(place, copy=True), install(place, copy=True)] == ["created", "unchanged"]
    copied = tree(place)
    assert copied.pop(".holdfast-skill.json")
    assert copied == tree(skill_source())
    assert remove(place) == "removed"
    assert list(place.parent.iterdir()) == []


def test_a_link_becomes_a_copy_and_a_copy_a_link(place: Path) -> None:
    changes = [install(place), install(place, copy=True), install(place)]
    assert changes == ["created", "replaced", "replaced"]
    assert place.is_symlink()
    assert [path.name for path in place.parent.iterdir()] == [NAME]


def test_a_copy_of_an_older_skill_is_replaced(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    older = tmp_path / "older" / NAME
    older.mkdir(parents=True)
    (older / "SKILL.md").write_text("as it was\n")
    monkeypatch.setattr(skill, "skill_source", lambda: older)
    install(place, copy=True)
    monkeypatch.undo()
    assert install(place, copy=True) == "replaced"
    assert (place / "references" / "checklist.md").is_file()


def make_directory(place: Path) -> None:
    place.mkdir()
    (place / "SKILL.md").write_text("mine\n")


def make_fake_note(place: Path) -> None:
    place.mkdir()
    (place / ".holdfast-skill.json").write_text("[" * 100_000)


NOT_OURS: dict[str, Callable[[Path], object]] = {
    "directory": make_directory,
    "empty directory": Path.mkdir,
    "file": lambda place: place.write_text("mine"),
    "pipe": os.mkfifo,
    "rubbish note": make_fake_note,
}


@pytest.mark.parametrize("make", NOT_OURS.values(), ids=NOT_OURS)
@pytest.mark.parametrize("force", [False, True])
def test_what_somebody_else_put_there_is_never_touched(
    place: Path, make: Callable[[Path], object], force: bool
) -> None:
    make(place)
    before = place.lstat()
    for action in (install, remove):
        with pytest.raises(UsageError, match="was not put there by holdfast") as refused:
            action(place, force=force)
        assert refused.value.remedy == f"move it away: {place}"
    assert place.lstat() == before


@pytest.mark.parametrize("leads_to", ["elsewhere", "nowhere", "."])
def test_another_link_goes_only_by_force(place: Path, tmp_path: Path, leads_to: str) -> None:
    (tmp_path / "elsewhere").mkdir()
    place.symlink_to(place if leads_to == "." else tmp_path / leads_to)
    for action in (install, remove):
        with pytest.raises(UsageError, match="is a link to") as refused:
            action(place)
        assert "--force" in refused.value.remedy
    assert install(place, force=True) == "replaced"
    assert place.resolve() == skill_source()
    assert (tmp_path / "elsewhere").is_dir()


@pytest.mark.parametrize("edit", ["text", "more", "pipe"])
def test_a_copy_that_was_edited_goes_only_by_force(place: Path, edit: str) -> None:
    install(place, copy=True)
    if edit == "pipe":
        os.mkfifo(place / "pipe")
    else:
        (place / ("SKILL.md" if edit == "text" else "mine.md")).write_text("mine\n")
    for action in (install, remove):
        with pytest.raises(UsageError, match="was edited"):
            action(place)
    assert remove(place, force=True) == "removed"


BAD: dict[str, Callable[[Path], Path]] = {
    "a file": lambda folder: folder / "file",
    "inside a file": lambda folder: folder / "file" / "skills",
    "a link to nowhere": lambda folder: folder / "dangling",
    "a link to itself": lambda folder: folder / "loop",
    "a name with NUL": lambda folder: folder / "a\0b",
    "a name that is too long": lambda folder: folder / ("x" * 300),
    "the source itself": lambda _: skill_source(),
    "around the source": lambda _: skill_source().parent,
    "inside the source": lambda _: skill_source() / "references",
    "a place that takes no files": lambda _: Path("/proc/1/skills"),
}


@pytest.mark.parametrize("name", BAD)
@pytest.mark.parametrize("copy", [False, True])
def test_a_bad_place_is_told_in_one_line_and_nothing_is_changed(tmp_path: Path, name: str, copy: bool) -> None:
    (tmp_path / "file").write_text("mine")
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    before, source = tree(tmp_path), tree(ROOT / "skills")
    with pytest.raises(UsageError) as refused:
        install_skill([BAD[name](tmp_path)], copy=copy)
    assert refused.value.remedy
    assert (tree(tmp_path), tree(ROOT / "skills")) == (before, source)


def test_where_the_second_place_fails_the_first_one_is_undone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(self: Path, target: Path, target_is_directory: bool = False) -> None:
        if "full" in self.parts:
            raise OSError(28, "No space left on device")
        os.symlink(target, self, target_is_directory)

    monkeypatch.setattr(Path, "symlink_to", full)
    with pytest.raises(UsageError, match="full: No space left on device"):
        install_skill([tmp_path / "first", tmp_path / "full"])
    assert tree(tmp_path) == {}
    assert not (tmp_path / "full").exists()


def test_a_file_system_without_links_asks_for_a_copy(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(Path, "symlink_to", refuse)
    with pytest.raises(UsageError, match="no link can be made") as refused:
        install(place)
    assert "--copy" in refused.value.remedy
    assert install(place, copy=True) == "created"


def test_a_copy_that_fails_half_way_leaves_the_old_one(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(place)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(shutil, "copytree", full)
    with pytest.raises(UsageError, match="No space left"):
        install(place, copy=True)
    assert place.is_symlink()
    assert [path.name for path in place.parent.iterdir()] == [NAME]


@pytest.mark.parametrize("clients", [(".claude",), (".codex",), (".claude", ".codex")])
def test_the_clients_that_are_there_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, clients: tuple[str, ...]
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    for client in clients:
        (tmp_path / client).mkdir()
    assert default_directories() == [tmp_path / client / "skills" for client in clients]


def test_without_a_client_it_asks_for_a_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".claude").write_text("not a directory")
    with pytest.raises(UsageError, match=r"neither ~/\.claude nor ~/\.codex") as refused:
        default_directories()
    assert refused.value.remedy == "holdfast skill install --dir DIR"


def test_many_at_once_leave_one_link(place: Path) -> None:
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(16) as pool:
        changes = set(pool.map(lambda _: install(place), range(64)))
    assert changes <= {"created", "unchanged"}
    assert place.resolve() == skill_source()
    assert [path.name for path in place.parent.iterdir()] == [NAME]
