"""Archives that attack: paths, links, devices, twins, bombs, lies and rubbish. None leaves anything behind."""

import bz2
import gzip
import io
import lzma
import os
import stat
import struct
import tarfile
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.search.download_server import never

from holdfast.errors import ToolError
from holdfast.search.downloads.unpack import PREVIOUS_PREFIX, Limits, is_archive, swap_in, unpack

Maker = Callable[[dict[str, bytes]], bytes]


def zipped(files: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return out.getvalue()


def tarred(files: dict[str, bytes], form: int = tarfile.PAX_FORMAT) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=form) as archive:
        for name, content in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return out.getvalue()


def special(kind: bytes, name: str = "x", target: str = "/etc/passwd") -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        entry = tarfile.TarInfo(name)
        entry.type, entry.linkname = kind, target
        archive.addfile(entry)
    return out.getvalue()


MAKERS: dict[str, Maker] = {
    "zip": zipped,
    "stored zip": lambda files: zipped(files, zipfile.ZIP_STORED),
    "tar": tarred,
    "gnu tar": lambda files: tarred(files, tarfile.GNU_FORMAT),
    "ustar": lambda files: tarred(files, tarfile.USTAR_FORMAT),
    "tar.gz": lambda files: gzip.compress(tarred(files)),
    "tar.bz2": lambda files: bz2.compress(tarred(files)),
    "tar.xz": lambda files: lzma.compress(tarred(files)),
}


def unpacked(content: bytes, directory: Path, limits: Limits | None = None) -> dict[str, bytes]:
    (directory / "archive").write_bytes(content)
    names = unpack(directory / "archive", directory / "out", limits=limits, stop=never)
    return {name: (directory / "out" / name).read_bytes() for name in names}


def refused(content: bytes, directory: Path, limits: Limits | None = None) -> ToolError:
    with pytest.raises(ToolError) as caught:
        unpacked(content, directory, limits)
    assert os.listdir(directory) == ["archive"], "a refusal leaves nothing behind"
    return caught.value


@pytest.mark.parametrize("kind", MAKERS)
def test_every_kind_of_archive_gives_back_its_files(tmp_path: Path, kind: str) -> None:
    long = f"{'d' * 90}/{'f' * 90}.txt"
    files = {"a.txt": b"a", "./b/c.bin": bytes(range(256)) * 700, "b/empty": b"", "ü/ß": b"u", long: b"long"}
    archive = MAKERS[kind](files)

    assert unpacked(archive, tmp_path) == {name.removeprefix("./"): content for name, content in files.items()}
    assert is_archive(tmp_path / "archive")


@pytest.mark.parametrize("kind", MAKERS)
def test_an_archive_without_a_file_is_told_as_that_and_replaces_nothing(tmp_path: Path, kind: str) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "good").touch()
    (tmp_path / "empty").write_bytes(MAKERS[kind]({}))
    with pytest.raises(ToolError) as caught:
        unpack(tmp_path / "empty", tmp_path / "out", stop=never)
    assert (caught.value.code, caught.value.message) == ("INVALID_REQUEST", "there is no file in the archive")
    assert os.listdir(tmp_path / "out") == ["good"]


@pytest.mark.parametrize("kind", ["zip", "tar", "gnu tar"])
@pytest.mark.parametrize(
    "name",
    [
        "/etc/x",
        "../x",
        "a/../../x",
        "a\\..\\x",
        "C:/x",
        "c:x",
        "a\nb",
        "a\x7fb",
        "/".join("a" * 70),
        "b" * 256,
        "..",
    ],
)
def test_a_name_that_leads_elsewhere_is_refused(tmp_path: Path, kind: str, name: str) -> None:
    error = refused(MAKERS[kind]({"fine": b"", name: b"x"}), tmp_path)
    assert (error.code, error.details["entry"]) == ("ARCHIVE_UNSAFE", name[:200])


def test_a_nul_in_a_name_is_refused(tmp_path: Path) -> None:
    assert refused(zipped({"aXb": b""}).replace(b"aXb", b"a\0b"), tmp_path).details["entry"] == "a\0b"
    records = tarred({"p" * 101 + "X.so": b""}).replace(b"X.so", b"\0.so")
    assert refused(records, tmp_path).code == "ARCHIVE_UNSAFE"


@pytest.mark.parametrize(
    "kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.BLKTYPE, tarfile.FIFOTYPE, b"S", b"?"]
)
def test_links_devices_and_what_is_unknown_in_a_tar_are_refused(tmp_path: Path, kind: bytes) -> None:
    error = refused(special(kind), tmp_path)
    assert (error.code, error.details["entry"]) == ("ARCHIVE_UNSAFE", "x")


@pytest.mark.parametrize("mode", [stat.S_IFLNK, stat.S_IFIFO, stat.S_IFCHR, stat.S_IFSOCK])
def test_links_and_devices_in_a_zip_are_refused(tmp_path: Path, mode: int) -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        entry = zipfile.ZipInfo("x")
        entry.external_attr = (mode | 0o777) << 16
        archive.writestr(entry, "/etc/passwd")
    assert refused(out.getvalue(), tmp_path).details["entry"] == "x"


@pytest.mark.parametrize("twin", ["a", "A", "./a", "a/b", "ä", "a\u0308"])
def test_names_that_some_disks_hold_for_the_same_are_refused(tmp_path: Path, twin: str) -> None:
    first = "ä" if twin in ("ä", "a\u0308") else "a"
    out = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(out, "w") as archive:
        warnings.simplefilter("ignore")
        archive.writestr(first, "1")
        archive.writestr(twin, "2")
    error = refused(out.getvalue(), tmp_path)
    assert (error.code, error.details["entry"]) == ("ARCHIVE_UNSAFE", twin)


def test_rights_of_an_archive_do_not_count(tmp_path: Path) -> None:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        entry = tarfile.TarInfo("x")
        entry.mode = 0o6777
        archive.addfile(entry)
    unpacked(out.getvalue(), tmp_path)
    assert (tmp_path / "out" / "x").stat().st_mode & 0o7133 == 0


@pytest.mark.parametrize("kind", ["zip", "tar.gz", "tar.bz2", "tar.xz"])
def test_a_bomb_is_stopped_by_what_really_comes_out(tmp_path: Path, kind: str) -> None:
    error = refused(MAKERS[kind]({"zeros": bytes(8 << 20)}), tmp_path)
    assert error.code == "ARCHIVE_TOO_LARGE"


@pytest.mark.parametrize("kind", ["zip", "stored zip", "tar"])
@pytest.mark.parametrize("limits", [Limits(total=5000), Limits(entry=900), Limits(entries=9)])
def test_totals_entries_and_their_sizes_are_limited(tmp_path: Path, kind: str, limits: Limits) -> None:
    archive = MAKERS[kind]({f"f{number}": os.urandom(1000) for number in range(10)})
    assert refused(archive, tmp_path, limits).code == "ARCHIVE_TOO_LARGE"


def test_a_size_in_a_header_is_not_believed(tmp_path: Path) -> None:
    content = bytearray(zipped({"x": bytes(3 << 20)}))
    directory = content.index(b"PK\x01\x02")
    struct.pack_into("<I", content, 22, 10)  # says that ten bytes come out, in both of its headers
    struct.pack_into("<I", content, directory + 24, 10)
    assert refused(bytes(content), tmp_path).code in ("ARCHIVE_UNSAFE", "ARCHIVE_TOO_LARGE")


def test_a_huge_list_of_entries_is_not_read(tmp_path: Path) -> None:
    one = zipped({"x": b""})
    listed = one[one.index(b"PK\x01\x02") : one.index(b"PK\x05\x06")] * 100_000
    end = struct.pack("<4s4H2IH", b"PK\x05\x06", 0, 0, 0xFFFF, 0xFFFF, len(listed), 4, 0)
    assert refused(b"PK\x03\x04" + listed + end, tmp_path).code == "ARCHIVE_TOO_LARGE"


@pytest.mark.parametrize("kind", MAKERS)
def test_a_damaged_archive_is_refused_wherever_it_is_cut(tmp_path: Path, kind: str) -> None:
    whole = MAKERS[kind]({"a": os.urandom(3000), "b": b"text" * 100})
    needed = len(whole.rstrip(b"\0")) if kind.endswith("tar") else len(whole)
    for length in sorted({0, 1, 10, 300, 600, needed // 2, needed - 30}):
        assert refused(whole[:length], tmp_path).code == "ARCHIVE_UNSAFE"


def test_an_encrypted_entry_is_refused(tmp_path: Path) -> None:
    content = bytearray(zipped({"x": b"x"}))
    content[6] |= 1
    content[content.index(b"PK\x01\x02") + 8] |= 1
    assert refused(bytes(content), tmp_path).code == "ARCHIVE_UNSAFE"


@pytest.mark.parametrize("size", [b"\xff" * 12, b"99999999999\0", b"-0000000001\0", b"\x80" + b"\x7f" * 11])
def test_a_size_that_is_none_ends_the_reading_of_a_tar(tmp_path: Path, size: bytes) -> None:
    block = bytearray(tarred({"x": b""})[:512])
    block[124:136] = size
    block[148:156] = b" " * 8
    block[148:156] = b"%06o\0 " % sum(block)
    assert refused(bytes(block) + bytes(1024), tmp_path).code == "ARCHIVE_UNSAFE"


def header(name: str, kind: bytes, content: bytes, size: int | None = None) -> bytes:
    entry = tarfile.TarInfo(name)
    entry.type, entry.size = kind, len(content) if size is None else size
    return entry.tobuf() + content + bytes(-len(content) % 512)


@pytest.mark.parametrize(
    "extra",
    [
        header("g", b"g", b"10 path=x\n"),
        header("x", b"x", b"22 GNU.sparse.major=1\n"),
        header("x", b"x", b"99 path=x\n"),
        header("x", b"x", b"10 path=xx"),
        header("x", b"x", b"2 path=x\n"),
        header("x", b"x", b"9 size=a\n"),
        header("x", b"x", b"10 size=-1\n"),
        header("L", b"L", b"", 900 << 20),
        header("L", b"L", b"long\0") * 9,
    ],
)
def test_unusual_or_damaged_headers_before_an_entry_are_refused(tmp_path: Path, extra: bytes) -> None:
    assert refused(extra + tarred({"a": b"content"}), tmp_path).code == "ARCHIVE_UNSAFE"


def test_a_stop_ends_it_with_nothing_left(tmp_path: Path) -> None:
    (tmp_path / "archive").write_bytes(tarred({"x": bytes(100_000)}))
    with pytest.raises(ToolError) as caught:
        unpack(tmp_path / "archive", tmp_path / "out", stop=lambda: True)
    assert caught.value.code == "CANCELLED"
    assert os.listdir(tmp_path) == ["archive"]


def test_what_was_there_before_stays_on_failure_and_goes_on_success(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "old").write_text("old")
    (tmp_path / "archive").write_bytes(special(tarfile.SYMTYPE))
    with pytest.raises(ToolError):
        unpack(tmp_path / "archive", tmp_path / "out", stop=never)
    assert os.listdir(tmp_path / "out") == ["old"]

    assert unpacked(tarred({"new": b""}), tmp_path) == {"new": b""}
    assert sorted(os.listdir(tmp_path)) == ["archive", "out"]
    assert os.listdir(tmp_path / "out") == ["new"]


pieces = st.sampled_from(["a", "A", "b", "..", ".", "", "C:", "x\\y", "é", "\x00", "~", "con", " ", "a" * 200])
names = st.lists(pieces, min_size=1, max_size=5).map("/".join)
kinds = st.sampled_from([b"0", b"0", b"0", b"1", b"2", b"3", b"5", b"6", b"7", b"S", b"x", b"g", b"L"])
entries = st.lists(st.tuples(names, kinds, st.binary(max_size=700)), max_size=5)


@settings(max_examples=60, deadline=None)
@given(entries, st.lists(st.tuples(st.integers(0, 20_000), st.integers(0, 255)), max_size=4), st.booleans())
def test_no_tar_writes_outside_or_fails_in_another_way(
    listed: list[tuple[str, bytes, bytes]], damage: list[tuple[int, int]], is_packed: bool
) -> None:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.GNU_FORMAT) as archive:
        for name, kind, content in listed:
            entry = tarfile.TarInfo(name)
            entry.type, entry.size, entry.linkname = kind, len(content), "../../target"
            archive.addfile(entry, io.BytesIO(content))
    _survives(out.getvalue(), damage, gzip.compress if is_packed else bytes)


@settings(max_examples=60, deadline=None)
@given(entries, st.lists(st.tuples(st.integers(0, 5000), st.integers(0, 255)), max_size=4))
def test_no_zip_writes_outside_or_fails_in_another_way(
    listed: list[tuple[str, bytes, bytes]], damage: list[tuple[int, int]]
) -> None:
    out = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        warnings.simplefilter("ignore")
        for name, kind, content in listed:
            entry = zipfile.ZipInfo()
            entry.filename = name
            entry.external_attr = (stat.S_IFLNK if kind == b"2" else stat.S_IFREG) << 16
            archive.writestr(entry, content)
    _survives(out.getvalue(), damage, bytes)


@settings(max_examples=40, deadline=None)
@given(st.sampled_from([b"", b"PK\x03\x04", b"PK\x05\x06", b"\x1f\x8b\x08", b"BZh9", b"\xfd7zXZ\0"]), st.binary())
def test_rubbish_is_refused(start: bytes, rubbish: bytes) -> None:
    _survives(start + rubbish, [], bytes)


def _survives(content: bytes, damage: list[tuple[int, int]], packed: Callable[[bytes], bytes]) -> None:
    damaged = bytearray(content)
    for place, value in damage:
        if place < len(damaged):
            damaged[place] = value
    with TemporaryDirectory() as top:
        inner = Path(top, "inner")
        inner.mkdir()
        (inner / "archive").write_bytes(packed(bytes(damaged)))
        made = ["archive", "out"]
        try:
            unpack(inner / "archive", inner / "out", stop=never)
        except ToolError as error:
            left = ["archive"]
            made = {"ARCHIVE_UNSAFE": left, "ARCHIVE_TOO_LARGE": left, "INVALID_REQUEST": left}[error.code]
        assert sorted(os.listdir(inner)) == made
        assert os.listdir(top) == ["inner"]
        assert not any(path.is_symlink() for path in inner.rglob("*"))


@pytest.mark.parametrize(
    ("pack", "kind"), [(gzip.compress, "gzip"), (bz2.compress, "bzip2"), (lzma.compress, "xz")]
)
@pytest.mark.parametrize("content", [b"alpha\nbeta\n", b"alpha\n" * 1000], ids=["short", "long"])
def test_a_single_compressed_file_is_told_from_a_damaged_archive(
    tmp_path: Path, pack: Callable[[bytes], bytes], kind: str, content: bytes
) -> None:
    (tmp_path / "words.txt.gz").write_bytes(pack(content))
    with pytest.raises(ToolError) as caught:
        unpack(tmp_path / "words.txt.gz", tmp_path / "out", stop=never)
    assert (caught.value.code, f"single file compressed with {kind}" in caught.value.message) == (
        "INVALID_REQUEST",
        True,
    )
    assert os.listdir(tmp_path) == ["words.txt.gz"]


def test_an_archive_with_a_damaged_header_is_still_a_damaged_archive(tmp_path: Path) -> None:
    (tmp_path / "archive").write_bytes(gzip.compress(b"x" + tarred({"a": b"1"}, tarfile.USTAR_FORMAT)[1:]))
    with pytest.raises(ToolError, match="the archive is damaged") as caught:
        unpack(tmp_path / "archive", tmp_path / "out", stop=never)
    assert caught.value.code == "ARCHIVE_UNSAFE"


@pytest.mark.parametrize("target", ["mine", "nowhere", "file"])
def test_a_link_or_a_file_in_the_place_of_a_directory_is_not_swapped_out(tmp_path: Path, target: str) -> None:
    for name in ("made", "mine"):
        (tmp_path / name).mkdir()
    place = tmp_path / "place"
    place.touch() if target == "file" else place.symlink_to(tmp_path / target)
    with pytest.raises(ToolError) as caught:
        swap_in(tmp_path / "made", place)
    assert caught.value.code == "FORBIDDEN"
    assert (place.is_symlink(), sorted(os.listdir(tmp_path))) == (target != "file", ["made", "mine", "place"])


def test_a_directory_comes_back_when_the_new_one_cannot_take_its_place(tmp_path: Path) -> None:
    (tmp_path / "place").mkdir()
    (tmp_path / "place" / "old").touch()
    with pytest.raises(FileNotFoundError):
        swap_in(tmp_path / "nothing", tmp_path / "place")
    assert (os.listdir(tmp_path), os.listdir(tmp_path / "place")) == (["place"], ["old"])


def test_nothing_stays_of_what_made_way(tmp_path: Path) -> None:
    for name in ("made", "place", "place/closed", "place/closed/deeper", "mine"):
        (tmp_path / name).mkdir()
    (tmp_path / f"{PREVIOUS_PREFIX}place").symlink_to(tmp_path / "mine")
    (tmp_path / "place" / "closed").chmod(0o500)
    swap_in(tmp_path / "made", tmp_path / "place")
    assert sorted(os.listdir(tmp_path)) == ["mine", "place"]
