"""Releases on disk: what is packed is what runs, and whatever is not as its manifest says is refused."""

import json
import os
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from holdfast.errors import UsageError
from holdfast.host.release_directory import PackedRelease, ReleaseDirectory

COMMAND = ["python", "{release}/server.py", "--root={release}"]


@pytest.fixture
def source(tmp_path: Path) -> Path:
    place = tmp_path / "source"
    (place / "package" / "__pycache__").mkdir(parents=True)
    (place / "server.py").write_text("print()\n")
    (place / "package" / "a.bin").write_bytes(bytes(range(256)))
    (place / "package" / "__pycache__" / "a.pyc").write_bytes(b"left out")
    (place / "empty").mkdir()
    (place / "run.sh").write_text("#!/bin/sh\n")
    (place / "run.sh").chmod(0o700)
    return place


@pytest.fixture
def releases(tmp_path: Path) -> ReleaseDirectory:
    return ReleaseDirectory(tmp_path / "releases")


def test_a_release_has_the_files_and_the_command_with_their_place(
    releases: ReleaseDirectory, source: Path
) -> None:
    packed = releases.pack(source, COMMAND)
    files = releases.root / "releases" / packed.id / "files"

    assert packed.command == ("python", f"{files}/server.py", f"--root={files}")
    assert packed.files == 3
    assert (files / "package" / "a.bin").read_bytes() == bytes(range(256))


def test_the_same_files_and_command_are_the_same_release(releases: ReleaseDirectory, source: Path) -> None:
    first, again = releases.pack(source, COMMAND), releases.pack(source, COMMAND)
    other = releases.pack(source, [*COMMAND, "--more"])

    assert first == again
    assert other.id != first.id
    assert sorted(path.name for path in (releases.root / "releases").iterdir()) == sorted([first.id, other.id])


def test_what_is_activated_is_current_and_found_by_its_beginning(releases: ReleaseDirectory, source: Path) -> None:
    first, second = releases.pack(source, COMMAND), releases.pack(source, ["other"])
    releases.activate(second.id[:10])
    assert releases.current() == second.id
    releases.activate(first.id)

    assert releases.current() == first.id
    assert set(releases.names()) == {first.id, second.id}


def rewrite(path: Path, text: str) -> None:
    """Change a file and nothing else about it."""
    mode = path.stat().st_mode
    path.chmod(0o600)
    path.write_text(text)
    path.chmod(mode)


def add(path: Path, text: str = "") -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)


def link_away(path: Path, name: str) -> None:
    """Have a link to the same content stand in the place of a file or directory."""
    path.rename(path.parents[3] / name)
    path.symlink_to(path.parents[3] / name)


def open_cache(place: Path) -> None:
    (place / "open").mkdir()
    (place / "open").chmod(0o777)
    (place / "files" / "__pycache__").symlink_to(place / "open")
    (place / "open").rename(place.parents[2] / "open")


Harm = Callable[[Path], object]

HARMS: dict[str, tuple[Harm, str]] = {
    "changed": (lambda place: rewrite(place / "files" / "server.py", "print(1)\n"), "server.py was changed"),
    "executable": (lambda place: (place / "files" / "server.py").chmod(0o755), "server.py was changed"),
    "writable by us": (lambda place: (place / "files" / "server.py").chmod(0o644), "server.py was changed"),
    "unreadable": (lambda place: (place / "files" / "server.py").chmod(0), "refused: .*server.py"),
    "added": (lambda place: add(place / "files" / "more.py"), "more.py was added"),
    "added directory": (lambda place: (place / "files" / "more").mkdir(), "more was added"),
    "added beside": (lambda place: add(place / "more.py"), "more.py was added beside"),
    "no text": (lambda place: add(place / "files" / "\udcff"), "dcff was added"),
    "cache": (lambda place: add(place / "files" / "__pycache__" / "a.pyc"), "__pycache__ was added.*-B"),
    "cache below": (lambda place: (place / "files/package/__pycache__").mkdir(), "package/__pycache__ was added"),
    "link to a cache": (open_cache, "__pycache__ is no plain file"),
    "removed": (lambda place: (place / "files" / "server.py").unlink(), "server.py was removed"),
    "removed directory": (lambda place: (place / "files" / "empty").rmdir(), "empty was removed"),
    "link": (lambda place: (place / "files" / "link").symlink_to("/etc/passwd"), "link is no plain file"),
    "pipe": (lambda place: os.mkfifo(place / "files" / "pipe"), "pipe is no plain file"),
    "writable": (lambda place: (place / "files" / "server.py").chmod(0o666), "server.py can be changed by others"),
    "writable directory": (
        lambda place: (place / "files" / "package").chmod(0o775),
        "package can be changed by others",
    ),
    "writable files": (lambda place: (place / "files").chmod(0o777), "files can be changed by others"),
    "writable manifest": (lambda place: (place / "manifest.json").chmod(0o664), "json can be changed by others"),
    "writable release": (lambda place: place.chmod(0o777), "can be changed by others"),
    "writable releases": (lambda place: place.parent.chmod(0o777), "releases can be changed by others"),
    "writable root": (lambda place: place.parent.parent.chmod(0o1777), "can be changed by others"),
    "linked files": (lambda place: link_away(place / "files", "away"), "files is a link"),
    "linked manifest": (lambda place: link_away(place / "manifest.json", "away"), "manifest.json is a link"),
    "manifest": (lambda place: rewrite(place / "manifest.json", "{}"), "not the one that it was named after"),
    "no manifest": (lambda place: (place / "manifest.json").unlink(), "No such file"),
    "binary": (lambda place: rewrite(place / "manifest.json", "\0"), "manifest.json"),
    "list": (lambda place: rewrite(place / "manifest.json", "[]"), "no JSON object"),
    "file for files": (lambda place: (place / "files").rename(place / "manifest.json.d"), "No such file"),
}


@pytest.mark.parametrize("harm", HARMS)
def test_a_release_that_is_not_what_it_was_is_refused(releases: ReleaseDirectory, source: Path, harm: str) -> None:
    packed = releases.pack(source, COMMAND)
    place = releases.root / "releases" / packed.id
    for directory, _, _ in os.walk(place):
        os.chmod(directory, 0o755)
    do, words = HARMS[harm]
    do(place)

    with pytest.raises(UsageError, match=words):
        releases.verified(packed.id)
    with pytest.raises(UsageError, match=words):
        releases.activate(packed.id)


@pytest.mark.parametrize(
    "pointer", ["", "{", "[]", '{"format":1}', '{"format":2,"release":"x"}', '{"format":1,"release":"../../x"}']
)
def test_a_pointer_that_names_no_release_is_refused(
    releases: ReleaseDirectory, source: Path, pointer: str
) -> None:
    releases.activate(releases.pack(source, COMMAND).id)
    (releases.root / "current.json").write_text(pointer)

    with pytest.raises(UsageError):
        releases.current()


@pytest.mark.parametrize(("name", "mode"), [("current.json", 0o666), ("current.json", 0o620), (".", 0o777)])
def test_a_pointer_that_others_can_change_is_refused(
    releases: ReleaseDirectory, source: Path, name: str, mode: int
) -> None:
    releases.activate(releases.pack(source, COMMAND).id)
    (releases.root / name).chmod(mode)

    with pytest.raises(UsageError, match="can be changed by others"):
        releases.current()


@pytest.mark.parametrize("kind", ["pipe", "directory"])
def test_a_pointer_that_is_no_file_is_refused_and_not_waited_for(releases: ReleaseDirectory, kind: str) -> None:
    releases.root.mkdir(mode=0o755)
    if kind == "pipe":
        os.mkfifo(releases.root / "current.json", 0o600)
    else:
        (releases.root / "current.json").mkdir(mode=0o700)

    with pytest.raises(UsageError, match=r"current\.json"):
        releases.current()


@pytest.mark.skipif(not hasattr(os, "getuid") or os.getuid() != 0, reason="only root can give files away")
@pytest.mark.parametrize(
    "name",
    [".", "releases", "releases/ID", "releases/ID/files", "releases/ID/manifest.json", "releases/ID/files/empty"],
)
def test_what_belongs_to_somebody_else_is_refused(releases: ReleaseDirectory, source: Path, name: str) -> None:
    packed = releases.pack(source, COMMAND)
    os.chown(releases.root / name.replace("ID", packed.id), 12345, -1)

    with pytest.raises(UsageError, match="belongs to somebody else"):
        releases.verified(packed.id)


def test_a_root_that_is_a_link_is_refused(releases: ReleaseDirectory, source: Path, tmp_path: Path) -> None:
    packed = releases.activate(releases.pack(source, COMMAND).id)
    (tmp_path / "linked").symlink_to(releases.root)
    linked = ReleaseDirectory(tmp_path / "linked")

    for act in (linked.current, lambda: linked.verified(packed.id), lambda: linked.pack(source, COMMAND)):
        with pytest.raises(UsageError, match="linked is a link"):
            act()


def test_a_pointer_that_is_a_link_is_not_followed(
    releases: ReleaseDirectory, source: Path, tmp_path: Path
) -> None:
    packed = releases.pack(source, COMMAND)
    (tmp_path / "elsewhere").write_text(json.dumps({"format": 1, "release": packed.id}))
    (releases.root / "current.json").symlink_to(tmp_path / "elsewhere")

    with pytest.raises(UsageError):
        releases.current()


def test_a_release_is_read_only_and_its_owner_can_remove_it(releases: ReleaseDirectory, source: Path) -> None:
    place = releases.root / "releases" / releases.pack(source, COMMAND).id
    modes = {str(path.relative_to(place)): path.stat().st_mode & 0o777 for path in (place, *place.rglob("*"))}
    subprocess.run(f"chmod -R u+w '{place}' && rm -r '{place}'", shell=True, check=True, timeout=30)

    assert {name for name, mode in modes.items() if mode == 0o444} == {
        "manifest.json",
        "files/server.py",
        "files/package/a.bin",
    }
    assert set(modes.values()) == {0o444, 0o555}
    assert releases.names() == []


@pytest.mark.parametrize("umask", [0o000, 0o002, 0o077])
def test_what_was_packed_is_not_refused_whatever_the_umask(
    releases: ReleaseDirectory, source: Path, umask: int
) -> None:
    before = os.umask(umask)
    try:
        packed = releases.activate(releases.pack(source, COMMAND).id)
    finally:
        os.umask(before)

    assert releases.verified(releases.current()) == packed


def test_where_there_are_no_owners_and_no_such_flag_it_works_all_the_same(
    releases: ReleaseDirectory, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(os, "getuid")
    monkeypatch.delattr(os, "O_NOFOLLOW")
    monkeypatch.delattr(os, "O_DIRECTORY")
    packed = releases.activate(releases.pack(source, COMMAND).id)

    assert releases.current() == packed.id


def test_a_release_that_somebody_else_packs_at_the_last_moment_is_the_same_one(
    releases: ReleaseDirectory, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rename, others = Path.rename, []

    def overtaken(fresh: Path, target: Path) -> Path:
        monkeypatch.setattr(Path, "rename", rename)
        others.append(releases.pack(source, COMMAND))
        return rename(fresh, target)

    monkeypatch.setattr(Path, "rename", overtaken)
    packed = releases.pack(source, COMMAND)

    assert others == [packed]
    assert [path.name for path in (releases.root / "releases").iterdir()] == [packed.id]


def test_many_may_pack_the_same_at_once(releases: ReleaseDirectory, source: Path) -> None:
    barrier = threading.Barrier(8)

    def pack(number: int) -> PackedRelease:
        barrier.wait(10)
        return releases.pack(source, [*COMMAND, str(number // 8)])

    with ThreadPoolExecutor(8) as pool:
        packed = set(pool.map(pack, range(80)))

    assert sorted(path.name for path in (releases.root / "releases").iterdir()) == sorted(one.id for one in packed)
    assert len(packed) == 10


def test_a_link_in_the_place_of_a_release_is_refused_and_nothing_is_left_of_packing(
    releases: ReleaseDirectory, source: Path, tmp_path: Path
) -> None:
    place = releases.root / "releases" / releases.pack(source, COMMAND).id
    place.chmod(0o755)
    place.rename(tmp_path / "away")
    place.symlink_to(tmp_path / "nowhere")

    with pytest.raises(UsageError, match="is a link"):
        releases.pack(source, COMMAND)

    assert list(place.parent.iterdir()) == [place]
    assert releases.names() == [place.name]


def test_releases_that_vanish_meanwhile_do_not_end_the_listing(releases: ReleaseDirectory, source: Path) -> None:
    packed = releases.pack(source, COMMAND)
    vanishing = [releases.root / "releases" / f"{number:064x}" for number in range(3000)]
    for path in vanishing:
        path.mkdir()

    with ThreadPoolExecutor(1) as pool:
        done = pool.submit(lambda: deque(map(Path.rmdir, vanishing), 0))
        while not done.done():
            assert packed.id in releases.names()

    assert releases.names() == [packed.id]


def test_activating_writes_through_no_link_and_leaves_nothing_beside_it(
    releases: ReleaseDirectory, source: Path, tmp_path: Path
) -> None:
    packed = releases.pack(source, COMMAND)
    (tmp_path / "victim").write_text("mine")
    for name in ("current.json", f".current-{os.getpid()}.json"):
        (releases.root / name).symlink_to(tmp_path / "victim")
    releases.activate(packed.id)

    assert (tmp_path / "victim").read_text() == "mine"
    assert releases.current() == packed.id
    assert len(list(releases.root.iterdir())) == 3


def test_choosing_the_same_release_again_is_another_activation(releases: ReleaseDirectory, source: Path) -> None:
    packed = releases.pack(source, COMMAND)
    releases.activate(packed.id)
    first = releases.activation()
    os.link(releases.root / "current.json", releases.root / "kept")  # so that its number is not given out again
    releases.activate(packed.id)

    assert releases.activation().release == first.release
    assert releases.activation() != first


@pytest.mark.parametrize("what", ["link", "linked directory", "no text", "pipe", "file", "nothing"])
def test_what_cannot_be_packed_leaves_nothing_behind(releases: ReleaseDirectory, source: Path, what: str) -> None:
    place = source
    if what == "link":
        (source / "link").symlink_to("server.py")
    elif what == "linked directory":
        (source / "link").symlink_to("package")
    elif what == "no text":
        (source / "\udcff.py").write_text("")
    elif what == "pipe":
        os.mkfifo(source / "pipe")
    else:
        place = source / ("server.py" if what == "file" else "nowhere")

    with pytest.raises(UsageError):
        releases.pack(place, COMMAND)

    assert releases.names() == []
    assert not (releases.root / "releases").exists() or not list((releases.root / "releases").iterdir())


@pytest.mark.parametrize("inside", [".", "releases", "deep/er"])
def test_releases_are_not_kept_inside_of_what_is_packed(source: Path, inside: str) -> None:
    directory = ReleaseDirectory(source / inside)
    before = sorted(source.iterdir())

    with pytest.raises(UsageError, match="is inside"):
        directory.pack(source, COMMAND)

    assert sorted(source.iterdir()) == before


def test_a_damaged_release_is_mended_by_packing_it_again(releases: ReleaseDirectory, source: Path) -> None:
    packed = releases.pack(source, COMMAND)
    harmed = releases.root / "releases" / packed.id / "files" / "server.py"
    harmed.chmod(0o644)
    harmed.write_text("harmed")

    assert releases.pack(source, COMMAND) == packed
    assert harmed.read_text() == "print()\n"
    assert releases.names() == [packed.id]


def test_what_a_server_needs_to_run_is_packed_with_it(releases: ReleaseDirectory, source: Path) -> None:
    before = releases.pack(source, COMMAND).files
    (source / "node_modules" / "left-pad").mkdir(parents=True)
    (source / "node_modules" / "left-pad" / "index.js").write_text("")

    assert releases.pack(source, COMMAND).files == before + 1


def test_a_full_disk_is_told_as_that_of_the_releases_and_nothing_is_left_there(
    tmp_path: Path, source: Path
) -> None:
    root = tmp_path / "full"
    program = (
        "import resource, sys; sys.dont_write_bytecode = True\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))\n"
        "from holdfast.cli.app import main\n"
        "sys.exit(main(['release', 'pack', *sys.argv[1:]]))\n"
    )
    command = [sys.executable, "-c", program, str(root), str(source), "--", *COMMAND]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=30)

    assert done.returncode == 2
    told, remedy = done.stderr.splitlines()
    assert (str(root) in told, str(source) in told, "make room" in remedy) == (True, False, True)
    assert list((root / "releases").iterdir()) == []


def test_it_can_be_typed(tmp_path: Path, source: Path) -> None:
    root = tmp_path / "typed"

    def typed(*words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "holdfast", "release", *words]
        return subprocess.run(command, check=False, capture_output=True, text=True, timeout=30)

    packed = typed("pack", str(root), str(source), "--json", "--activate", "--", *COMMAND)
    found: PackedRelease = PackedRelease(**json.loads(packed.stdout))
    listed = typed("list", str(root))

    assert listed.stdout.startswith(f"* {found.id[:12]}  3 files, python ")
    assert typed("activate", str(root), found.id[:8]).returncode == 0
    assert typed("activate", str(root), "ffff").returncode == 2
    assert "nowhere is no directory" in typed("list", str(tmp_path / "nowhere")).stderr
    assert "try: holdfast release list" in typed("activate", str(root), "ffff").stderr
    (root / "releases" / found.id / "files").chmod(0o755)
    (root / "releases" / found.id / "files" / "server.py").unlink()
    assert typed("list", str(root)).returncode == 1


def test_the_listing_says_when_the_pointer_is_refused(releases: ReleaseDirectory, source: Path) -> None:
    releases.activate(releases.pack(source, COMMAND).id)
    (releases.root / "current.json").chmod(0o666)
    command = [sys.executable, "-m", "holdfast", "release", "list", str(releases.root)]
    listed = subprocess.run(command, check=False, capture_output=True, text=True, timeout=30)

    assert listed.returncode == 1
    assert "current.json can be changed by others" in listed.stderr
