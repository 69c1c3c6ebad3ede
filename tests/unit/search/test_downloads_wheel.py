"""Wheels through pip: from an index on this machine, from none, from one that hangs; and what pip says then."""

import hashlib
import os
import subprocess
import threading
import zipfile
from collections.abc import Iterator
from pathlib import Path
from time import monotonic

import pytest
from tests.unit.search.download_server import Page, Web, never, quiet

from holdfast.errors import ToolError
from holdfast.search.downloads import download_dictionaries
from holdfast.search.downloads.fetch import Fetched, fetch


@pytest.fixture
def links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory with one wheel, which is all that pip knows of."""
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    directory = tmp_path / "links"
    directory.mkdir()
    with zipfile.ZipFile(directory / "small_words-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr("small_words/words.txt", "alpha\nbeta\n")
        wheel.writestr(
            "small_words-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: small-words\nVersion: 1.0\n"
        )
        wheel.writestr("small_words-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        wheel.writestr("small_words-1.0.dist-info/RECORD", "")
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(directory))
    return directory


def wheel(requirement: str, target: Path, sha256: str | None = None) -> Fetched | None:
    return fetch(f"pypi:{requirement}", sha256, target, progress=quiet, stop=never)


def test_a_wheel_comes_from_the_index_that_pip_is_set_up_for(links: Path, tmp_path: Path) -> None:
    (links / "pip.py").write_text("raise SystemExit('a file of the current directory was run')")
    digest = hashlib.sha256(next(links.glob("*.whl")).read_bytes()).hexdigest()
    before = os.getcwd()
    os.chdir(links)
    try:
        payload = download_dictionaries(
            tmp_path, url=["small=pypi:small-words==1.0#small_words/words.txt"], sha256={"small": digest},
            progress=quiet, stop=never,
        )  # fmt: skip
    finally:
        os.chdir(before)

    assert (payload["output"], payload["dictionaries"][0]["verified"]) == ("downloaded=1 skipped=0", True)
    assert (tmp_path / "dictionaries" / "small.txt").read_text() == "alpha\nbeta\n"
    assert sorted(os.listdir(tmp_path / "dictionaries")) == [".lock", "dictionaries.json", "small.txt"]


def test_another_wheel_than_promised_is_refused(links: Path, tmp_path: Path) -> None:
    with pytest.raises(ToolError) as caught:
        wheel("small-words==1.0", tmp_path / "out", "0" * 64)
    assert caught.value.code == "DOWNLOAD_VERIFY_FAILED"
    assert os.listdir(tmp_path) == ["links"]


def test_a_wheel_that_no_index_has_is_not_found(links: Path, tmp_path: Path) -> None:
    with pytest.raises(ToolError) as caught:
        wheel("small-words==2.0", tmp_path / "out")
    assert caught.value.code == "NOT_FOUND"
    assert os.listdir(tmp_path) == ["links"]


def test_an_index_that_cannot_be_reached_is_a_missing_capability(
    links: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Web() as gone:
        url = gone.url
    monkeypatch.delenv("PIP_NO_INDEX")
    monkeypatch.setenv("PIP_INDEX_URL", url.replace("//", "//ana:secret@"))
    monkeypatch.setenv("PIP_RETRIES", "1")
    with pytest.raises(ToolError) as caught:
        wheel("small-words==2.0", tmp_path / "out")
    assert caught.value.code == "CAPABILITY_MISSING"
    assert "secret" not in str(caught.value.details)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk that nothing fits on; skipped where mounting is not permitted."""
    place = tmp_path / "disk"
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=200k", "tmpfs", str(place)]
    if subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("mounting is not permitted here")
    yield place
    subprocess.run(["umount", "--lazy", str(place)], check=True)


def test_a_full_disk_is_no_trouble_of_the_network(links: Path, small_disk: Path) -> None:
    with zipfile.ZipFile(links / "large_words-1.0-py3-none-any.whl", "w") as wheel_file:
        wheel_file.writestr("large_words/words.bin", os.urandom(1_000_000))
        wheel_file.writestr(
            "large_words-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: large-words\nVersion: 1.0\n"
        )
        wheel_file.writestr("large_words-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        wheel_file.writestr("large_words-1.0.dist-info/RECORD", "")
    with pytest.raises(ToolError, match="No space left on device") as caught:
        wheel("large-words==1.0", small_disk / "out")
    assert (caught.value.code, caught.value.hint) == (
        "CAPABILITY_MISSING",
        "make room or choose another directory",
    )
    assert os.listdir(small_disk) == []


def test_what_is_fetched_is_told_by_its_name(links: Path, tmp_path: Path) -> None:
    told: list[tuple[str, str]] = []

    def note(stage: str, _done: int, _total: int | None, detail: str = "") -> None:
        told.append((stage, detail))

    fetch("pypi:small-words==1.0", None, tmp_path / "out", progress=note, stop=never)

    named = [detail for stage, detail in told if stage == "download"]
    assert len(named) > 1
    assert {detail.removeprefix("pypi:") for detail in named} == {"small-words==1.0"}


def test_pip_ends_when_the_caller_stops(links: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Web() as slow:
        page = Page(b"<html></html>", waits=threading.Event())
        slow.serve("/small-words/", page)
        monkeypatch.delenv("PIP_NO_INDEX")
        monkeypatch.setenv("PIP_INDEX_URL", slow.url)
        asked: list[float] = []

        def stop() -> bool:
            if page.headers:
                asked.append(monotonic())
            return bool(asked)

        with pytest.raises(ToolError) as caught:
            fetch("pypi:small-words==2.0", None, tmp_path / "out", progress=quiet, stop=stop)
    assert caught.value.code == "CANCELLED"
    assert monotonic() - asked[0] < 10  # pip itself would wait longer than that for its first try alone
    assert os.listdir(tmp_path) == ["links"]
