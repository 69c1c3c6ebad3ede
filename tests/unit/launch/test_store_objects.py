"""Objects: contents by their digest, written once, whole or not at all."""

import hashlib
import os
import threading
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from holdfast.errors import UsageError
from holdfast.launch.store.objects import ObjectStore, address_of
from holdfast.launch.store.refusals import ObjectLost


@pytest.fixture
def objects(tmp_path: Path) -> ObjectStore:
    return ObjectStore(tmp_path / "objects")


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(content=st.binary(max_size=3000))
def test_whatever_is_put_is_read_back(objects: ObjectStore, content: bytes) -> None:
    digest = objects.put(content)
    assert digest == hashlib.sha256(content).hexdigest()
    assert objects.read(digest) == objects.path_of(digest).read_bytes() == content
    assert objects.has(digest)


def test_a_file_and_its_bytes_are_the_same_object_kept_once(objects: ObjectStore, tmp_path: Path) -> None:
    content = os.urandom(3_000_000)
    (tmp_path / "file").write_bytes(content)
    digest = objects.put(tmp_path / "file")
    before = objects.path_of(digest).stat()

    assert objects.put(content) == objects.put(tmp_path / "file") == digest
    after = objects.path_of(digest).stat()  # reading it may move the time of its last access
    assert (after.st_ino, after.st_mtime_ns, after.st_size) == (before.st_ino, before.st_mtime_ns, before.st_size)
    assert [path.name for path in (tmp_path / "objects").rglob("*") if path.is_file()] == [digest]
    assert (tmp_path / address_of(digest)).read_bytes() == content


def test_an_object_is_not_written_to_by_accident(objects: ObjectStore) -> None:
    assert objects.path_of(objects.put(b"x")).stat().st_mode & 0o777 == 0o400


def test_an_object_that_is_gone_or_changed_is_not_believed(objects: ObjectStore) -> None:
    digest = objects.put(b"content")
    path = objects.path_of(digest)
    path.chmod(0o644)
    path.write_bytes(b"contend")
    with pytest.raises(ObjectLost, match="not what was kept"):
        objects.read(digest)
    path.unlink()
    with pytest.raises(ObjectLost, match="not there"):
        objects.read(digest)
    assert not objects.has(digest)


def test_a_damaged_object_is_mended_by_putting_it_again(objects: ObjectStore) -> None:
    path = objects.path_of(objects.put(b"content"))
    path.chmod(0o644)
    path.write_bytes(b"")
    assert objects.read(objects.put(b"content")) == b"content"


@pytest.mark.parametrize("digest", ["", "a", "../" * 10 + "etc/passwd", "A" * 64, "a" * 63 + "\n", "/" + "a" * 63])
def test_only_digests_lead_to_files(objects: ObjectStore, digest: str) -> None:
    for ask in (objects.has, objects.read, objects.path_of, address_of):
        with pytest.raises(UsageError):
            ask(digest)


def test_the_same_content_from_many_at_once_is_one_object(objects: ObjectStore, tmp_path: Path) -> None:
    barrier, digests = threading.Barrier(8), []

    def put() -> None:
        barrier.wait(20)
        digests.append(objects.put(b"x" * 100_000))

    threads = [threading.Thread(target=put) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert len(digests) == 8
    assert [path.name for path in (tmp_path / "objects").rglob("*") if path.is_file()] == digests[:1]


def test_what_the_dead_have_left_is_swept_and_what_the_living_write_is_not(objects: ObjectStore) -> None:
    folder = objects.path_of(objects.put(b"x")).parent
    old, young = folder / "0123.draft", folder / "4567.draft"
    for draft in (old, young):
        draft.write_bytes(b"half")
    os.utime(old, (time.time() - 7200, time.time() - 7200))

    assert objects.sweep() == 1
    assert (old.exists(), young.exists()) == (False, True)
    assert objects.sweep(older_than_s=0) == 1
    assert ObjectStore(folder / "nowhere").sweep() == 0


def test_a_failing_source_leaves_nothing_behind(objects: ObjectStore, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        objects.put(tmp_path / "nothing")
    with pytest.raises(IsADirectoryError):
        objects.put(tmp_path)
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]
