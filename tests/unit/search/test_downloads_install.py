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
from holdfast.search.downloads.known import DICTIONARIES, MODELS
from holdfast.search.downloads.shelf import Shelf
from holdfast.search.downloads.sources import Source

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
    first, second = (dictionaries(tmp_path, url=url) for url in ([entry], entry))

    assert (first["output"], second["output"]) == ("downloaded=1 skipped=0", "downloaded=0 skipped=1")
    assert second["dictionaries"][0]["status"] == "skipped"
    assert (tmp_path / "dictionaries" / "de.txt").read_bytes() == WORDS + b"\n"
    assert len(web.pages["/de"].headers) == 1
    assert [remark["code"] for remark in first["warnings"]] == ["UNVERIFIED"]


def test_the_manifest_says_where_a_dictionary_is_from(web: Web, tmp_path: Path) -> None:
    url = web.serve("/de", Page(WORDS))
    dictionaries(tmp_path, url=[f"de={url.replace('//', '//ana:secret@')}"], sha256={"de": sha(WORDS)})
    manifest = (tmp_path / "dictionaries" / "dictionaries.json").read_text()
    noted = json.loads(manifest)["entries"]["de"]

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
    [fetched] = dictionaries(tmp_path, lang="de", sources=sources)["dictionaries"]
    Path(fetched["file"]).write_text("mine\n")
    payload = dictionaries(tmp_path, lang="de", sources=sources)

    assert (payload["skipped"], payload["dictionaries"][0]["verified"]) == (1, False)
    assert [remark["code"] for remark in payload["warnings"]] == ["CHANGED"]
    assert Path(fetched["file"]).read_text() == "mine\n"
    assert code_of(dictionaries, tmp_path, lang="de", sources=sources, update=True) == "FORBIDDEN"
    assert dictionaries(tmp_path, lang="de", sources=sources, force=True)["downloaded"] == 1


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
        ({"target": Path("/proc/nowhere")}, "CAPABILITY_MISSING"),
        ({"target": Path("a\0b")}, "INVALID_REQUEST"),
    ],
)
def test_what_cannot_be_done_is_told_as_such(tmp_path: Path, options: dict[str, Any], code: str) -> None:
    assert code_of(dictionaries, tmp_path, **options) == code


def test_a_configured_source_counts_only_for_a_language_that_is_spelled_out(
    web: Web, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    sources = {"fr": {"source": web.serve("/fr", Page(WORDS))}}

    assert code_of(dictionaries, tmp_path, sources=sources) == "NOT_FOUND"  # by pip, from the built-in source
    assert not (tmp_path / "dictionaries" / "fr.txt").exists()
    assert dictionaries(tmp_path, lang="fr", sources=sources)["downloaded"] == 1


@pytest.fixture
def pinned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> bytes:
    """The content of the built-in list `en` and model `base`, which are files here."""
    file = tmp_path / "pinned"
    file.write_bytes(WORDS)
    pin = (Source("file", str(file)), sha(WORDS))
    monkeypatch.setitem(DICTIONARIES, "en", pin)
    monkeypatch.setitem(MODELS, "base", pin)
    return WORDS


def configured_with(tmp_path: Path, name: str, content: bytes) -> dict[str, Any]:
    """The sources of a repository that has this content for a name."""
    file = tmp_path / f"{name}-{sha(content)[:8]}"
    file.write_bytes(content)
    return {name: {"source": str(file), "sha256": sha(content)}}


def test_a_repository_does_not_change_what_a_built_in_name_means_for_others(pinned: bytes, tmp_path: Path) -> None:
    hostile = configured_with(tmp_path, "en", b"poison\n") | configured_with(tmp_path, "base", b"poison\n")
    for sources in (hostile, {}):
        model = models(tmp_path, model="base", sources=sources)
        words = dictionaries(tmp_path, lang="en", sources=sources)
        assert [one["sha256"] for one in (model, *words["dictionaries"])] == [sha(pinned), sha(pinned)]
        codes = [remark["code"] for remark in model["warnings"] + words["warnings"]]
        assert codes == (["PINNED", "PINNED"] if sources else [])
    assert (tmp_path / "dictionaries" / "en.txt").read_bytes() == pinned + b"\n"


def test_two_repositories_that_mean_different_things_by_a_name_each_get_their_own(tmp_path: Path) -> None:
    first, second = (configured_with(tmp_path, "m", content) for content in (b"one\n", b"two\n"))
    for sources, content in ((first, b"one\n"), (second, b"two\n"), (first, b"one\n")):
        model = models(tmp_path, model="m", sources=sources)
        [words] = dictionaries(tmp_path, lang="m", sources=sources)["dictionaries"]
        assert (model["sha256"], model["verified"]) == (words["sha256"], words["verified"]) == (sha(content), True)
        assert Path(words["file"]).read_bytes() == content
        assert (model["model"], words["name"]) == ("m", "m")


def test_what_is_kept_under_a_built_in_name_has_its_digest(pinned: bytes, tmp_path: Path) -> None:
    shelf = Shelf(tmp_path / "dictionaries", "dictionaries.json", is_own=True)
    other = tmp_path / "other.txt"
    other.write_bytes(b"poison\n")
    dictionaries(tmp_path, url=[f"x={other}"])
    # As an earlier version left it: the source of some repository under the built-in name, verified by its digest.
    (tmp_path / "dictionaries" / "x.txt").rename(tmp_path / "dictionaries" / "en.txt")
    with shelf.locked(never):
        shelf.note("en", shelf.entries()["x"] | {"verified": True})

    [found] = dictionaries(tmp_path)["dictionaries"]
    assert (found["status"], found["sha256"], found["verified"]) == ("downloaded", sha(pinned), True)


def test_a_source_that_a_caller_names_takes_the_place_of_nothing_built_in(pinned: bytes, tmp_path: Path) -> None:
    other = tmp_path / "other.txt"
    other.write_bytes(b"mine\n")
    [mine] = dictionaries(tmp_path, url=[f"en={other}"])["dictionaries"]
    [builtin] = dictionaries(tmp_path, lang="en")["dictionaries"]
    assert (mine["sha256"], builtin["sha256"]) == (sha(b"mine\n"), sha(pinned))
    assert Path(mine["file"]).read_bytes() == b"mine\n"


def test_a_second_download_waits_and_gives_up_in_the_end(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path, "x.json")
    with (tmp_path / ".lock").open("a") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        with pytest.raises(ToolError) as caught, shelf.locked(never, patience=0.1):
            pytest.fail("it has the lock")
        with pytest.raises(ToolError) as stopped, shelf.locked(lambda: True):
            pytest.fail("it has the lock")
    assert (caught.value.code, stopped.value.code) == ("QUEUE_OVERLOADED", "CANCELLED")


MANIFESTS = ["", "[]", "nonsense", "[" * 100_000, '{"de": 3}', '{"de": {}}', '{"holdfast": {}}']


@pytest.mark.parametrize("manifest", MANIFESTS, ids=range(len(MANIFESTS)))
def test_a_manifest_without_our_mark_is_refused_and_nothing_is_removed(tmp_path: Path, manifest: str) -> None:
    for name in ("dictionaries.json", "models.json", "extensions.json", ".holdfast-draft-1"):
        (tmp_path / name).write_text(manifest)
    before = sorted(os.listdir(tmp_path))
    options: dict[str, Any] = {"target": tmp_path, "force": True}
    assert code_of(dictionaries, tmp_path, url=["de=/x"], **options) == "FORBIDDEN"
    assert code_of(models, tmp_path, model="m", source="/x", **options) == "FORBIDDEN"
    assert code_of(extensions, tmp_path, url="/x", **options) == "FORBIDDEN"
    assert sorted(os.listdir(tmp_path)) == before
    assert {path.read_text() for path in tmp_path.iterdir()} == {manifest}


@pytest.mark.parametrize("manifest", MANIFESTS, ids=range(len(MANIFESTS)))
def test_a_manifest_without_our_mark_is_written_anew_in_our_own_place(tmp_path: Path, manifest: str) -> None:
    (tmp_path / "x.json").write_text(manifest)
    shelf = Shelf(tmp_path, "x.json", is_own=True)
    with shelf.locked(never):
        shelf.note("m", {"bytes": 1})
    assert Shelf(tmp_path, "x.json").entries()["m"] == {"bytes": 1}
    assert json.loads((tmp_path / "x.json").read_text())["holdfast"] == "downloads"


def test_an_old_manifest_is_believed_in_our_own_place_alone(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text('{"m": {"bytes": 1}, "holdfast": {"bytes": 2}}')
    assert Shelf(tmp_path, "x.json").entries() == {}
    assert Shelf(tmp_path, "x.json", is_own=True).entries() == {"m": {"bytes": 1}, "holdfast": {"bytes": 2}}


@pytest.mark.parametrize("is_own", [True, False])
def test_a_link_in_the_place_of_the_manifest_is_refused(tmp_path: Path, is_own: bool) -> None:
    (tmp_path / "mine").write_text('{"holdfast": "downloads"}')
    (tmp_path / "x.json").symlink_to("mine")
    with pytest.raises(ToolError) as caught, Shelf(tmp_path, "x.json", is_own=is_own).locked(never):
        pytest.fail("it has the lock")
    assert caught.value.code == "FORBIDDEN"
    assert (tmp_path / "x.json").is_symlink()


MODES: list[dict[str, bool]] = [{}, {"update": True}, {"force": True}]


@pytest.mark.parametrize("mode", MODES)
def test_a_directory_that_is_not_ours_is_never_replaced_by_a_model(tmp_path: Path, mode: dict[str, bool]) -> None:
    hooks, source = tmp_path / ".git" / "hooks", tmp_path / "m.onnx"
    source.write_bytes(b"weights")
    hooks.mkdir(parents=True)
    (hooks / "pre-commit").write_text("mine")
    options = {"model": "hooks", "target": tmp_path / ".git", "source": str(source)}

    assert code_of(models, tmp_path, **options, **mode) == "FORBIDDEN"
    assert (hooks / "pre-commit").read_text() == "mine"
    assert sorted(os.listdir(hooks.parent)) == [".lock", "hooks"]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("is_noted", [True, False])
@pytest.mark.parametrize("target", ["mine", "nowhere", "file"])
def test_a_link_or_a_file_in_the_place_of_a_model_is_refused(
    tmp_path: Path, mode: dict[str, bool], is_noted: bool, target: str
) -> None:  # fmt: skip
    place, mine, source = tmp_path / "models" / "m", tmp_path / "mine", tmp_path / "m.onnx"
    source.write_bytes(b"weights")
    sources = {"m": {"source": str(source)}}
    if is_noted:
        models(tmp_path, model="m", sources=sources)
        (place / "m.onnx").unlink()
        place.rmdir()
    for directory in (mine, place.parent):
        directory.mkdir(exist_ok=True)
    place.touch() if target == "file" else place.symlink_to(tmp_path / target)
    before = sorted(os.listdir(place.parent) + ([] if is_noted else [".lock"]))

    assert code_of(models, tmp_path, model="m", sources=sources, **mode) == "FORBIDDEN"
    assert sorted(os.listdir(place.parent)) == before
    assert (place.is_symlink(), os.listdir(mine)) == (target != "file", [])


def test_a_link_that_somebody_put_into_a_model_is_a_change(tmp_path: Path) -> None:
    (tmp_path / "m.onnx").write_bytes(b"weights")
    options = {"model": "m", "source": str(tmp_path / "m.onnx")}
    link = Path(models(tmp_path, **options)["dir"], "mine")
    link.symlink_to(tmp_path)
    assert code_of(models, tmp_path, update=True, **options) == "FORBIDDEN"
    assert link.is_symlink()
    assert models(tmp_path, force=True, **options)["files"] == [{"path": "m.onnx", "bytes": 7}]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("is_link", [True, False])
def test_a_file_that_is_not_ours_is_never_overwritten(
    tmp_path: Path, mode: dict[str, bool], is_link: bool
) -> None:  # fmt: skip
    (tmp_path / "source").write_text("theirs\n")
    (tmp_path / "mine").write_text("mine\n")
    for name in ("notes.txt", "lib.so"):
        (tmp_path / name).symlink_to("mine") if is_link else (tmp_path / name).write_text("mine\n")
    source = str(tmp_path / "source")

    assert code_of(dictionaries, tmp_path, target=tmp_path, url=[f"notes={source}"], **mode) == "FORBIDDEN"
    assert code_of(extensions, tmp_path, out=tmp_path / "lib.so", url=source, **mode) == "FORBIDDEN"
    for name in ("notes.txt", "lib.so"):
        assert ((tmp_path / name).read_text(), (tmp_path / name).is_symlink()) == ("mine\n", is_link)


def test_what_appears_in_the_place_during_a_download_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "source").write_text("theirs\n")

    def progress(*_: object) -> None:
        (tmp_path / "notes.txt").write_text("mine\n")

    url = [f"notes={tmp_path / 'source'}"]
    with pytest.raises(ToolError) as caught:
        download_dictionaries(tmp_path, target=tmp_path, url=url, progress=progress, stop=never)
    assert (caught.value.code, (tmp_path / "notes.txt").read_text()) == ("FORBIDDEN", "mine\n")


def test_what_killed_calls_left_is_removed_and_what_they_put_aside_comes_back(tmp_path: Path) -> None:
    for name in (".holdfast-wheel-1", ".holdfast-unpack-1", ".holdfast-previous-m", ".holdfast-previous-n", "n"):
        (tmp_path / name).mkdir()
    for name in (".holdfast-draft-1", ".holdfast-fetched-x", ".mine.draft"):
        (tmp_path / name).touch()
    with Shelf(tmp_path, "x.json").locked(never):
        assert sorted(os.listdir(tmp_path)) == [".lock", ".mine.draft", "m", "n"]


def test_half_a_download_stays_for_a_week_if_it_can_be_gone_on_with_and_not_at_all_otherwise(
    tmp_path: Path,
) -> None:
    for name in ("old", "new", "useless"):
        (tmp_path / f"..holdfast-fetched-{name}.part").touch()
    for name in ("old", "new"):
        (tmp_path / f"..holdfast-fetched-{name}.part.json").touch()
    for name in ("old.part", "old.part.json"):
        os.utime(tmp_path / f"..holdfast-fetched-{name}", (0, 0))
    with Shelf(tmp_path, "x.json").locked(never):
        left = ["..holdfast-fetched-new.part", "..holdfast-fetched-new.part.json", ".lock"]
        assert sorted(os.listdir(tmp_path)) == left


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
    assert Shelf(tmp_path / "models", "models.json").entries().keys() == {"Xenova/all-MiniLM-L12-v2"}


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
    ],
)
def test_a_model_without_a_name_or_source_is_told_how_to_get_one(
    tmp_path: Path, options: dict[str, Any], code: str
) -> None:
    assert code_of(models, tmp_path, **options) == code


def test_the_configured_source_of_a_model_is_used(web: Web, tmp_path: Path) -> None:
    sources = {"m": {"source": web.serve("/m.bin", Page(b"weights")), "sha256": sha(b"weights")}}
    assert code_of(models, tmp_path, sources=sources) == "CAPABILITY_MISSING"  # it has to be named
    assert models(tmp_path, model="m", sources=sources)["verified"] is True


LIBRARY = b"\x7fELF and so on"


def test_an_extension_is_found_in_an_archive_and_made_executable(web: Web, tmp_path: Path) -> None:
    url = web.serve("/vec.zip", Page(zipped(lib__vec0_so=LIBRARY, readme_md=b"")))
    payload = extensions(tmp_path, url=url, platform="linux", arch="x86_64")
    path = tmp_path / "extensions" / "sqlite-vec" / "linux-x64" / "vec0.so"

    assert (payload["extensionPath"], payload["arch"], payload["verified"]) == (str(path), "x64", False)
    assert path.read_bytes() == LIBRARY
    assert path.stat().st_mode & 0o777 == 0o700


def test_out_chooses_the_file_and_only_a_library(web: Web, tmp_path: Path) -> None:
    url = web.serve("/vec", Page(LIBRARY))
    payload = extensions(tmp_path, url=url, out=tmp_path / "mine.so")
    assert payload["extensionPath"] == str(tmp_path / "mine.so")
    assert payload["warnings"][0]["message"].endswith("not verified: mine.so")
    assert extensions(tmp_path, url=url, out=tmp_path / "mine.so")["status"] == "skipped"
    assert code_of(extensions, tmp_path, url=url, out=tmp_path / ".bashrc") == "INVALID_REQUEST"


@pytest.mark.parametrize(
    ("platform", "library"),
    [("linux", LIBRARY), ("darwin", b"\xcf\xfa\xed\xfe"), ("darwin", b"\xca\xfe\xba\xbe"), ("win32", b"MZ")],
)
@pytest.mark.parametrize("page", [b"<!doctype html>", b"#!/bin/sh", b""])
def test_what_is_no_library_takes_the_place_of_none(
    web: Web, tmp_path: Path, platform: str, library: bytes, page: bytes
) -> None:
    url = web.serve("/vec", Page(library))
    path = Path(extensions(tmp_path, url=url, platform=platform, arch="x64")["extensionPath"])

    wrong = web.serve("/login", Page(page))
    refused = code_of(extensions, tmp_path, url=wrong, platform=platform, arch="x64")
    assert (refused, path.read_bytes()) == ("DOWNLOAD_VERIFY_FAILED", library)


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"provider": "other"}, "INVALID_REQUEST"),
        ({"platform": "../x"}, "INVALID_REQUEST"),
        ({"arch": "mips"}, "INVALID_REQUEST"),
        ({"platform": "win32", "arch": "arm64"}, "CAPABILITY_MISSING"),
        ({"url": "http://host.example/vec0.so"}, "INVALID_REQUEST"),
        ({"url": "/nowhere/vec0.so"}, "NOT_FOUND"),
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


@pytest.mark.parametrize("moment", [1, 2, 3, 4])
def test_a_first_download_that_was_killed_is_still_known_as_ours(tmp_path: Path, moment: int) -> None:
    source = tmp_path / "source.txt"
    source.write_text("new\n")
    command = [sys.executable, "-c", KILLED, str(tmp_path), str(source), str(moment)]
    assert subprocess.run(command, check=False, timeout=20).returncode == 9

    assert dictionaries(tmp_path, url=[f"de={source}"], force=True)["downloaded"] == 1
    assert sorted(os.listdir(tmp_path / "dictionaries")) == [".lock", "de.txt", "dictionaries.json"]
