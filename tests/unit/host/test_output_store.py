"""The store of what was left out: private, bounded, unguessable, and gone with its host."""

import asyncio
import os
import stat
from pathlib import Path

import pytest

from holdfast.host.output_store import (
    OutputError,
    OutputStore,
    forget_old_outputs,
    outputs_directory,
    remove_outputs,
)
from holdfast.host.private_places import records_directory
from holdfast.host.reaper import reap
from holdfast.host.records import Registration
from holdfast.settings import Settings

TOKEN = "0123456789abcdef"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Where the outputs of a host go."""
    return outputs_directory(tmp_path / "hosts", TOKEN)


def keep(store: OutputStore, data: bytes) -> str:
    """Keep something under a new name."""
    uri = store.new_uri()
    store.keep(uri, data)
    return uri


def test_what_is_kept_is_read_again_byte_for_byte(place: Path) -> None:
    store = OutputStore(place)

    uris = [keep(store, data) for data in (b"", b"\0\xff", b"x" * 100_000)]

    assert [store.read(uri) for uri in uris] == [b"", b"\0\xff", b"x" * 100_000]


def test_nothing_is_on_disk_before_something_is_kept_and_then_it_is_private(place: Path) -> None:
    store = OutputStore(place)
    assert not place.parent.exists()

    keep(store, b"secret")

    [file] = place.iterdir()
    assert [stat.S_IMODE(path.stat().st_mode) for path in (place.parent, place, file)] == [0o700, 0o700, 0o600]
    store.close()
    assert not place.exists()


def test_names_cannot_be_guessed_and_tell_whose_they_are(place: Path) -> None:
    one, other = OutputStore(place), OutputStore(place)

    assert len({one.new_uri() for _ in range(100)}) == 100
    assert one.is_ours(one.new_uri())
    assert not one.is_ours(other.new_uri())  # another host may stand behind this one


@pytest.mark.parametrize(
    "uri",
    ["", "holdfast://output/", "holdfast://output/../../etc/passwd", "holdfast://output/01234567./etc/passwd",
     "holdfast://output/" + "a" * 1_000_000, "holdfast://output/%2e%2e%2f", "holdfast://output/x\0y",
     "holdfast://output/0123456é." + "0" * 32, "file:///etc/passwd", "HOLDFAST://OUTPUT/01234567." + "0" * 32],
    ids=range(10),
)  # fmt: skip
def test_what_is_no_name_is_refused(place: Path, uri: str) -> None:
    store = OutputStore(place)
    keep(store, b"data")

    with pytest.raises(OutputError, match="not the name"):
        store.read(uri)


def test_the_oldest_go_first_when_there_is_too_much_or_there_are_too_many(place: Path) -> None:
    store = OutputStore(place, max_bytes=100, max_count=3)
    first, second = keep(store, b"a" * 40), keep(store, b"b" * 40)

    third = keep(store, b"c" * 40)

    assert [store.read(second), store.read(third)] == [b"b" * 40, b"c" * 40]
    with pytest.raises(OutputError, match="not kept any more"):
        store.read(first)
    for _ in range(5):
        keep(store, b"")
    assert len(list(place.iterdir())) == 3


def test_what_is_old_is_forgotten(place: Path) -> None:
    now = 0.0
    store = OutputStore(place, ttl=60.0, clock=lambda: now)
    uri = keep(store, b"data")
    now = 59.0
    assert store.read(uri) == b"data"

    now = 60.0
    with pytest.raises(OutputError, match="call the tool again"):
        store.read(uri)
    assert list(place.iterdir()) == []


def test_what_is_larger_than_a_message_is_not_kept(place: Path) -> None:
    store = OutputStore(place, max_entry=10)

    with pytest.raises(OutputError, match="too large"):
        keep(store, b"x" * 11)


def test_a_place_that_cannot_be_used_is_told(tmp_path: Path) -> None:
    (tmp_path / "hosts").write_text("a file")
    with pytest.raises(OutputError, match="is not a directory"):
        keep(OutputStore(outputs_directory(tmp_path / "hosts", TOKEN)), b"x")


def test_a_directory_that_others_have_prepared_is_not_used(place: Path, tmp_path: Path) -> None:
    (tmp_path / "trap").mkdir()
    place.parent.mkdir(mode=0o700)
    place.symlink_to(tmp_path / "trap")
    store = OutputStore(place)

    with pytest.raises(OutputError, match="symbolic link"):
        keep(store, b"x")
    store.close()
    assert (tmp_path / "trap").is_dir()


def test_a_full_disk_leaves_nothing_half_behind(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = OutputStore(place)

    def full(*_: object) -> None:
        (place / "half").write_bytes(b"x")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(store, "_write", full)
    with pytest.raises(OutputError, match="No space left"):
        keep(store, b"data")
    (place / "half").unlink()
    assert list(place.iterdir()) == []


def test_a_file_that_was_changed_or_replaced_by_a_link_is_not_shown(place: Path, tmp_path: Path) -> None:
    store = OutputStore(place)
    uri, other = keep(store, b"data"), keep(store, b"other")
    (place / uri[-32:]).write_bytes(b"longer than before")
    (place / other[-32:]).unlink()
    (place / other[-32:]).symlink_to("/etc/passwd")

    with pytest.raises(OutputError, match="changed"):
        store.read(uri)
    with pytest.raises(OutputError, match="cannot be read"):
        store.read(other)


def test_a_directory_that_somebody_removed_is_made_again(place: Path) -> None:
    store = OutputStore(place)
    keep(store, b"data")
    remove_outputs(place)

    assert store.read(keep(store, b"more")) == b"more"


def test_only_directories_of_outputs_are_ever_removed(tmp_path: Path) -> None:
    for name in ("precious", "short.output", "../up.output"):
        (tmp_path / "hosts" / name).mkdir(parents=True, mode=0o700)
        remove_outputs(tmp_path / "hosts" / name)

    assert sorted(os.listdir(tmp_path / "hosts")) == ["precious", "short.output"]


def test_directories_that_nobody_used_for_days_are_removed(place: Path) -> None:
    fresh = outputs_directory(place.parent, "fedcba9876543210")
    for directory in (place, fresh):
        keep(OutputStore(directory), b"x")
    os.utime(place, (0, 0))

    forget_old_outputs(place.parent)

    assert [directory.exists() for directory in (place, fresh)] == [False, True]


def test_a_host_that_died_leaves_none_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = Settings(state_dir=tmp_path, kill_grace=0.0)
    Registration.create(settings, "shop", ["x"], [TOKEN])
    left = outputs_directory(records_directory(settings), TOKEN)
    keep(OutputStore(left), b"x")
    monkeypatch.setattr("holdfast.host.records.is_running", lambda *_: False)

    [reaped] = asyncio.run(reap(settings))

    assert (reaped.left, left.exists()) == ((), False)
