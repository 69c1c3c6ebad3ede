"""Dictionaries, models and extensions as callers get them: what is fetched, what is kept, and what is refused."""

import errno
import fcntl
import hashlib
import io
import json
import os
import re
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.unit.search.download_server import Page, Web, never, quiet

from holdfast.errors import ToolError
from holdfast.search.answers.downloads import DownloadedDictionaries, DownloadedExtension, DownloadedModel
from holdfast.search.downloads import download_dictionaries, download_extensions, download_models
from holdfast.search.downloads.failures import storing
from holdfast.search.downloads.shelf import Shelf

WORDS = b"alpha\nbeta"


@pytest.fixture
def web(monkeypatch: pytest.MonkeyPatch) -> Iterator[Web]:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    with Web() as server:
        yield server


def sha(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def zipped(**files: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, content in files.items():
            archive.writestr(name.replace("__", "/").replace("_", "."), content)
    return out.getvalue()


def dictionaries(cache: Path, **options: Any) -> dict[str, Any]:
    payload = download_dictionaries(cache, progress=quiet, stop=never, **options)
    DownloadedDictionaries.model_validate(payload)
    return payload


def models(cache: Path, **options: Any) -> dict[str, Any]:
    payload = download_models(cache, progress=quiet, stop=never, **options)
    DownloadedModel.model_validate(payload)
    return payload


def extensions(cache: Path, **options: Any) -> dict[str, Any]:
    payload = download_extensions(cache, progress=quiet, stop=never, **options)
    DownloadedExtension.model_validate(payload)
    return payload


def code_of(call: Any, cache: Path, **options: Any) -> str:
    with pytest.raises(ToolError) as caught:
        call(cache, **options)
    assert str(cache) not in caught.value.message
    return caught.value.code


def test_a_dictionary_is_fetched_once_and_ends_with_a_newline(web: Web, tmp_path: Path) -> None:
    entry = f"de={web.serve('/de', Page(WORDS))}"
    first, second = (dictionaries(tmp_path, url=[entry]) for _ in range(2))

    assert (first["output"], second["output"]) == ("downloaded=1 skipped=0", "downloaded=0 skipped=1")
    assert second["dictionaries"][0]["status"] == "skipped"
    assert (tmp_path / "dictionaries" / "de.txt").read_bytes() == WORDS + b"\n"
    assert len(web.pages["/de"].headers) == 1
    assert [remark["code"] for remark in first["warnings"]] == ["UNVERIFIED"]


def test_the_manifest_says_where_a_dictionary_is_from(web: Web, tmp_path: Path) -> None:
    url = web.serve("/de", Page(WORDS))
    dictionaries(tmp_path, url=[f"de={url.replace('//', '//ana:secret@')}"], sha256={"de": sha(WORDS)})
    manifest = (tmp_path / "dictionaries" / "dictionaries.json").read_text()
    noted = json.loads(manifest)["de"]

    assert "secret" not in manifest
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", noted.pop("downloadedAt"))
    assert noted.pop("content") == {"bytes": 11, "sha256": sha(WORDS + b"\n")}
    assert noted == {
        "source": url, "file": "de.txt", "sha256": sha(WORDS), "verified": True, "etag": '"one"',
        "lastModified": None, "bytes": 11,
    }  # fmt: skip


def test_an_update_asks_whether_it_changed_and_force_does_not(web: Web, tmp_path: Path) -> None:
    page = Page(WORDS)
    entry = [f"de={web.serve('/de', page)}"]
    done = [dictionaries(tmp_path, url=entry)]
    done.append(dictionaries(tmp_path, url=entry, update=True))
    done.append(dictionaries(tmp_path, url=entry, force=True))
    page.content, page.etag = b"gamma\n", '"two"'
    done.append(dictionaries(tmp_path, url=entry, update=True))

    statuses = [payload["dictionaries"][0]["status"] for payload in done]
    assert statuses == ["downloaded", "unchanged", "downloaded", "downloaded"]
    assert [headers["If-None-Match"] for headers in page.headers] == [None, '"one"', None, '"one"']
    assert (tmp_path / "dictionaries" / "de.txt").read_bytes() == b"gamma\n"


def test_another_source_or_hash_than_that_of_what_is_here_is_fetched(web: Web, tmp_path: Path) -> None:
    dictionaries(tmp_path, url=[f"de={web.serve('/old', Page(WORDS))}"])
    web.serve("/new", Page(b"new\n"))
    assert dictionaries(tmp_path, url=[f"de={web.url}/new"])["downloaded"] == 1
    known = {"sources": {"de": {"source": f"{web.url}/old"}}, "lang": "de"}
    assert dictionaries(tmp_path, **known)["downloaded"] == 0
    assert dictionaries(tmp_path, sha256={"de": sha(WORDS)}, **known)["downloaded"] == 1


def test_what_somebody_changed_is_left_alone_and_told(web: Web, tmp_path: Path) -> None:
    sources = {"de": {"source": web.serve("/de", Page(WORDS)), "sha256": sha(WORDS)}}
    dictionaries(tmp_path, lang="de", sources=sources)
    (tmp_path / "dictionaries" / "de.txt").write_text("mine\n")
    payload = dictionaries(tmp_path, lang="de", sources=sources)

    assert (payload["skipped"], payload["dictionaries"][0]["verified"]) == (1, False)
    assert [remark["code"] for remark in payload["warnings"]] == ["CHANGED"]
    assert (tmp_path / "dictionaries" / "de.txt").read_text() == "mine\n"
    assert dictionaries(tmp_path, lang="de", sources=sources, update=True)["downloaded"] == 1


def test_a_file_that_was_put_there_by_hand_is_kept(tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "en.txt").write_text("word\n")
    payload = dictionaries(tmp_path, target=tmp_path / "own")
    assert payload["dictionaries"][0]["sha256"] == sha(b"word\n")
    assert (payload["dir"], payload["output"]) == (str(tmp_path / "own"), "downloaded=0 skipped=1")


def test_a_dictionary_comes_out_of_an_archive(web: Web, tmp_path: Path) -> None:
    url = web.serve("/words.zip", Page(zipped(a__de_txt=WORDS, b_txt=b"other")))
    dictionaries(tmp_path, url=[f"de={url}#a/de.txt"])
    assert (tmp_path / "dictionaries" / "de.txt").read_bytes() == WORDS + b"\n"
    assert code_of(dictionaries, tmp_path, url=[f"x={url}"]) == "INVALID_REQUEST"
    assert code_of(dictionaries, tmp_path, url=[f"x={url}#missing"]) == "NOT_FOUND"
    assert sorted(os.listdir(tmp_path / "dictionaries")) == [".lock", "de.txt", "dictionaries.json"]


@pytest.mark.parametrize("content", [b"a\0b", b"\xff\xfe\x00", bytes(range(256))])
def test_what_is_no_text_becomes_no_dictionary(web: Web, tmp_path: Path, content: bytes) -> None:
    assert code_of(dictionaries, tmp_path, url=[f"x={web.serve('/x', Page(content))}"]) == "INVALID_REQUEST"
    assert sorted(os.listdir(tmp_path / "dictionaries")) == [".lock"]


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"lang": "xx,yy"}, "CAPABILITY_MISSING"),
        ({"lang": "../x"}, "INVALID_REQUEST"),
        ({"lang": " , "}, "INVALID_REQUEST"),
        ({"url": ["https://host/x"]}, "INVALID_REQUEST"),
        ({"url": ["../x=https://host/x"]}, "INVALID_REQUEST"),
        ({"url": ["a=/x", "a=/y"]}, "INVALID_REQUEST"),
        ({"url": ["a=ftp://x"]}, "INVALID_REQUEST"),
        ({"url": ["a=/nowhere/x"]}, "NOT_FOUND"),
        ({"lang": "en", "sha256": {"de": "0" * 64}}, "INVALID_REQUEST"),
        ({"lang": "en", "sha256": {"en": "no"}}, "INVALID_REQUEST"),
        ({"url": ["a=/x"], "require_hash": True}, "INVALID_REQUEST"),
        ({"target": Path("/proc/nowhere")}, "CAPABILITY_MISSING"),
        ({"target": Path("a\0b")}, "INVALID_REQUEST"),
    ],
)
def test_what_cannot_be_done_is_told_as_such(tmp_path: Path, options: dict[str, Any], code: str) -> None:
    assert code_of(dictionaries, tmp_path, **options) == code


def test_a_second_download_waits_and_gives_up_in_the_end(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path, "x.json")
    with (tmp_path / ".lock").open("a") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        with pytest.raises(ToolError) as caught, shelf.locked(never, patience=0.1):
            pytest.fail("it has the lock")
        with pytest.raises(ToolError) as stopped, shelf.locked(lambda: True):
            pytest.fail("it has the lock")
    assert (caught.value.code, stopped.value.code) == ("QUEUE_OVERLOADED", "CANCELLED")


@pytest.mark.parametrize("manifest", ["", "[]", "nonsense", "[" * 100_000, '{"de": 3}'])
def test_a_damaged_manifest_is_written_anew(web: Web, tmp_path: Path, manifest: str) -> None:
    (tmp_path / "dictionaries.json").write_text(manifest)
    dictionaries(tmp_path, target=tmp_path, url=[f"de={web.serve('/de', Page(WORDS))}"])
    assert json.loads((tmp_path / "dictionaries.json").read_text())["de"]["sha256"] == sha(WORDS)


def test_what_killed_calls_left_is_removed_and_what_they_put_aside_comes_back(tmp_path: Path) -> None:
    for name in (".holdfast-wheel-1", ".holdfast-unpack-1", ".holdfast-previous-m", ".holdfast-previous-n", "n"):
        (tmp_path / name).mkdir()
    for name in (".holdfast-draft-1", ".holdfast-fetched-x", "..holdfast-fetched-x.part", ".mine.draft"):
        (tmp_path / name).touch()
    os.utime(tmp_path / "..holdfast-fetched-x.part", (0, 0))
    with Shelf(tmp_path, "x.json").locked(never):
        assert sorted(os.listdir(tmp_path)) == [".lock", ".mine.draft", "m", "n"]


@pytest.mark.parametrize(
    ("number", "code"),
    [(errno.EACCES, "FORBIDDEN"), (errno.EROFS, "FORBIDDEN"), (errno.ENOSPC, "CAPABILITY_MISSING")],
)
def test_a_disk_that_does_not_take_it_is_told_as_such(number: int, code: str) -> None:
    with pytest.raises(ToolError) as caught, storing("the model"):
        raise OSError(number, os.strerror(number), "/some/place")
    assert (caught.value.code, caught.value.details) == (code, {"path": "/some/place"})
    assert "/some/place" not in caught.value.message


def test_what_is_here_counts_as_verified_once_its_hash_is_known(web: Web, tmp_path: Path) -> None:
    entry = [f"de={web.serve('/de', Page(WORDS))}"]
    dictionaries(tmp_path, url=entry)
    assert dictionaries(tmp_path, url=entry, sha256={"de": sha(WORDS)})["dictionaries"][0]["verified"] is True
    assert dictionaries(tmp_path, url=entry)["dictionaries"][0]["verified"] is True
    assert len(web.pages["/de"].headers) == 1


def test_a_model_is_a_directory_of_files(web: Web, tmp_path: Path) -> None:
    archive = zipped(model_onnx=b"weights", onnx__config_json=b"{}")
    options = {"model": "Xenova/all-MiniLM-L12-v2", "source": web.serve("/m.zip", Page(archive))}
    first = models(tmp_path, sha256=sha(archive), **options)
    second = models(tmp_path, **options)

    assert first["dir"] == str(tmp_path / "models" / "Xenova--all-MiniLM-L12-v2")
    assert first["files"] == [{"path": "model.onnx", "bytes": 7}, {"path": "onnx/config.json", "bytes": 2}]
    assert (first["verified"], first["output"]) == (True, "downloaded=1 skipped=0")
    assert (second["status"], second["verified"]) == ("skipped", True)
    assert json.loads((tmp_path / "models" / "models.json").read_text()).keys() == {"Xenova/all-MiniLM-L12-v2"}


def test_a_model_of_one_file_is_named_after_its_source(tmp_path: Path) -> None:
    (tmp_path / "tiny.onnx").write_bytes(b"weights")
    payload = models(tmp_path, source=str(tmp_path / "tiny.onnx"))
    assert (payload["model"], payload["files"]) == ("tiny", [{"path": "tiny.onnx", "bytes": 7}])


def test_a_refused_model_leaves_the_old_one(web: Web, tmp_path: Path) -> None:
    page = Page(zipped(a_txt=b"old"))
    options = {"model": "m", "source": web.serve("/m", page)}
    models(tmp_path, **options)
    page.content, page.etag = zipped(a_txt=b"new", ____x=b"evil"), '"two"'

    assert code_of(models, tmp_path, update=True, **options) == "ARCHIVE_UNSAFE"
    assert (tmp_path / "models" / "m" / "a.txt").read_bytes() == b"old"
    assert models(tmp_path, **options)["status"] == "skipped"


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({}, "CAPABILITY_MISSING"),
        ({"model": "Xenova/all-MiniLM-L12-v2"}, "CAPABILITY_MISSING"),
        ({"model": "../x", "source": "/x"}, "INVALID_REQUEST"),
        ({"model": "a--b", "source": "/x"}, "INVALID_REQUEST"),
        ({"model": "a/b/c", "source": "/x"}, "INVALID_REQUEST"),
        ({"source": "https://host/"}, "INVALID_REQUEST"),
        ({"model": "m", "source": "/x", "require_hash": True}, "INVALID_REQUEST"),
    ],
)
def test_a_model_without_a_name_or_source_is_told_how_to_get_one(
    tmp_path: Path, options: dict[str, Any], code: str
) -> None:
    assert code_of(models, tmp_path, **options) == code


def test_the_configured_source_of_a_model_is_used(web: Web, tmp_path: Path) -> None:
    sources = {"m": {"source": web.serve("/m.bin", Page(b"weights")), "sha256": sha(b"weights")}}
    assert models(tmp_path, sources=sources, require_hash=True)["verified"] is True


def test_an_extension_is_found_in_an_archive_and_made_executable(web: Web, tmp_path: Path) -> None:
    url = web.serve("/vec.zip", Page(zipped(lib__vec0_so=b"native", readme_md=b"")))
    payload = extensions(tmp_path, url=url, platform="linux", arch="x86_64")
    path = tmp_path / "extensions" / "sqlite-vec" / "linux-x64" / "vec0.so"

    assert (payload["extensionPath"], payload["arch"], payload["verified"]) == (str(path), "x64", False)
    assert path.read_bytes() == b"native"
    assert path.stat().st_mode & 0o777 == 0o755


def test_out_chooses_the_file_and_only_a_library(web: Web, tmp_path: Path) -> None:
    url = web.serve("/vec", Page(b"native"))
    payload = extensions(tmp_path, url=url, out=tmp_path / "mine.so")
    assert payload["extensionPath"] == str(tmp_path / "mine.so")
    assert payload["warnings"][0]["message"].endswith("not verified: mine.so")
    assert extensions(tmp_path, url=url, out=tmp_path / "mine.so")["status"] == "skipped"
    assert code_of(extensions, tmp_path, url=url, out=tmp_path / ".bashrc") == "INVALID_REQUEST"


def test_the_operators_source_for_a_platform_comes_before_the_general_one(web: Web, tmp_path: Path) -> None:
    sources = {
        "sqlite-vec": {"source": f"{web.url}/missing"},
        "sqlite-vec/win32-x64": {"source": web.serve("/vec", Page(b"native")), "sha256": sha(b"native")},
    }
    payload = extensions(tmp_path, platform="windows", arch="amd64", sources=sources, require_hash=True)
    assert payload["extensionPath"].endswith("/sqlite-vec/win32-x64/vec0.dll")
    assert code_of(extensions, tmp_path, platform="linux", sources=sources) == "NOT_FOUND"


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"provider": "other"}, "INVALID_REQUEST"),
        ({"platform": "../x"}, "INVALID_REQUEST"),
        ({"arch": "mips"}, "INVALID_REQUEST"),
        ({"platform": "win32", "arch": "arm64"}, "CAPABILITY_MISSING"),
        ({"url": "http://host.example/vec0.so"}, "INVALID_REQUEST"),
        ({"url": "/nowhere/vec0.so"}, "NOT_FOUND"),
        ({"url": "/nowhere/vec0.so", "require_hash": True}, "INVALID_REQUEST"),
    ],
)
def test_an_extension_that_cannot_be_had_is_told_as_such(
    tmp_path: Path, options: dict[str, Any], code: str
) -> None:
    assert code_of(extensions, tmp_path, **options) == code


KILLED = """
import os, sys
from pathlib import Path
from holdfast.search.downloads import download_dictionaries

count = 0
real = os.fsync
def fsync(descriptor):
    global count
    count += 1
    if count == int(sys.argv[3]):
        os._exit(9)
    real(descriptor)
os.fsync = fsync
url = ["de=" + sys.argv[2]]
download_dictionaries(Path(sys.argv[1]), url=url, force=True, progress=lambda *_: None, stop=bool)
"""


@pytest.mark.parametrize("moment", [1, 2, 3])
def test_a_kill_at_any_step_leaves_the_old_or_the_new_and_the_next_call_works(tmp_path: Path, moment: int) -> None:
    source = tmp_path / "source.txt"
    source.write_text("old\n")
    dictionaries(tmp_path, url=[f"de={source}"])
    source.write_text("new\n")
    command = [sys.executable, "-c", KILLED, str(tmp_path), str(source), str(moment)]
    assert subprocess.run(command, check=False, timeout=20).returncode == 9

    assert (tmp_path / "dictionaries" / "de.txt").read_text() in ("old\n", "new\n")
    dictionaries(tmp_path, url=[f"de={source}"], force=True)
    assert (tmp_path / "dictionaries" / "de.txt").read_text() == "new\n"
    assert sorted(os.listdir(tmp_path / "dictionaries")) == [".lock", "de.txt", "dictionaries.json"]
