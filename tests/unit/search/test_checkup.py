"""`check_status` finds what is broken, says what to do about it, and breaks at nothing."""

import os
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.unit.search.indexed import Indexed, make_indexed

from holdfast.errors import ToolError
from holdfast.search.answers.status import Checkup
from holdfast.search.checkup import check_status, disk_findings
from holdfast.search.integrity import damage_of
from holdfast.search.library import open_index
from holdfast.search.repository import find_repository

GIB = 1024**3


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> Indexed:
    return make_indexed(tmp_path_factory.mktemp("checkup"))


@pytest.fixture
def broken(indexed: Indexed, tmp_path: Path) -> Indexed:
    return indexed.copied(tmp_path / "cache")


def checked(indexed: Indexed, **arguments: Any) -> dict[str, Any]:
    given = {"capabilities": {}, "warnings": (), **arguments}
    payload = check_status(indexed.repository, indexed.cache, **given)
    Checkup.model_validate(payload)
    # How full the disk of this machine is, is not the business of a test.
    return {**payload, "codes": [one["code"] for one in payload["findings"] if one["code"] != "disk-nearly-full"]}


def test_where_all_is_well_there_is_nothing_to_tell(indexed: Indexed) -> None:
    payload = checked(indexed, capabilities={"mcp": {"sdk": True}})

    assert payload["codes"] == []
    assert (payload["index"]["exists"], payload["index"]["changedFiles"]) == (True, 0)
    assert payload["index"]["build"] == indexed.build.name


@pytest.mark.requirement("OURS-3-check-status")
def test_no_index_is_a_warning_with_its_remedy(indexed: Indexed, tmp_path: Path) -> None:
    payload = checked(Indexed(indexed.repository, tmp_path / "none"))

    assert (payload["status"], payload["codes"]) == ("warning", ["no-index"])
    assert "build_index" in payload["findings"][0]["remedy"]
    assert payload["index"] == {
        "exists": False, "build": None, "generation": None, "builtAt": None, "changedFiles": None,
    }  # fmt: skip


def test_files_that_changed_make_it_stale(tmp_path: Path) -> None:
    stale = make_indexed(tmp_path)
    (stale.repository.root / "work.py").write_text("def other():\n    return 22\n")

    payload = checked(stale)
    assert (payload["status"], payload["codes"]) == ("warning", ["index-stale"])


def test_an_index_that_may_not_be_locked_is_not_called_damaged(broken: Indexed) -> None:
    lock = broken.build.terms / ".tantivy-meta.lock"
    lock.unlink()
    lock.mkdir()  # what nobody can open, not even root

    (finding,) = (one for one in checked(broken)["findings"] if one["area"] == "index")
    assert (finding["code"], finding["message"]) == (
        "index-unreadable", "the index cannot be read: is a directory",
    )  # fmt: skip
    with pytest.raises(ToolError) as raised:
        open_index(broken.repository, broken.cache)
    assert raised.value.code == "NO_INDEX"
    assert raised.value.message.endswith("its index cannot be read: is a directory")
    assert "cache directory" in str(raised.value.hint)


def test_an_update_that_did_not_finish_is_told(broken: Indexed) -> None:
    broken.build.seal.remove()  # as a writer does before it begins
    with closing(sqlite3.connect(broken.build.store, isolation_level=None)) as store:
        store.execute("INSERT OR REPLACE INTO facts_of_index VALUES ('pending', 2)")

    assert checked(broken)["codes"] == ["index-half-written"]


def test_a_store_with_damaged_pages_is_found(broken: Indexed) -> None:
    with closing(sqlite3.connect(broken.build.store)) as store:
        page = store.execute("SELECT rootpage FROM sqlite_master WHERE name = 'chunks'").fetchone()[0]
    with broken.build.store.open("r+b") as file:
        file.seek((page - 1) * 8192)
        file.write(b"\xff" * 8192)

    payload = checked(broken)
    assert (payload["status"], set(payload["codes"])) == ("error", {"index-damaged"})


@pytest.mark.parametrize("extension", ["idx", "term", "pos", "store", "fieldnorm", "fast"])
def test_one_changed_bit_in_the_terms_is_found(broken: Indexed, extension: str) -> None:
    file = next(broken.build.terms.glob(f"*.{extension}"))
    content = bytearray(file.read_bytes())
    content[10] ^= 1
    file.write_bytes(content)

    assert checked(broken)["codes"] == ["index-damaged"]


@pytest.mark.parametrize("content", [b"", b"x", b"\0" * 100, b"{}" + b"\x02\0\0\0\x39\x05\0\0", b"\xff" * 5000])
def test_a_file_of_the_terms_that_is_rubbish_is_found(broken: Indexed, content: bytes) -> None:
    next(broken.build.terms.glob("*.pos")).write_bytes(content)

    assert checked(broken)["status"] == "error"


@pytest.mark.parametrize("extension", ["idx", "term", "pos", "fast"])
def test_a_file_of_the_terms_that_is_gone_is_found(broken: Indexed, extension: str) -> None:
    next(broken.build.terms.glob(f"*.{extension}")).unlink()

    assert checked(broken)["status"] == "error"


def test_halves_that_do_not_belong_together_are_found(broken: Indexed) -> None:
    with closing(sqlite3.connect(broken.build.store)) as store, store:
        store.execute("DELETE FROM chunks WHERE id = 1")

    assert checked(broken)["codes"] == ["index-damaged"]


@pytest.mark.parametrize("content", ["{", "[]", '{"segments": [{}]}'])
def test_a_check_does_not_break_at_what_it_checks(broken: Indexed, content: str) -> None:
    (broken.build.terms / "meta.json").write_text(content)

    damage, is_complete = damage_of(broken.home, broken.build)
    assert (len(damage), is_complete) == (1, True)


def test_a_check_without_time_says_that_it_is_incomplete(broken: Indexed) -> None:
    assert damage_of(broken.home, broken.build, seconds=0.0) == ([], False)


def test_a_build_that_a_killed_process_left_is_told(broken: Indexed) -> None:
    killed = subprocess.run(
        [sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, check=True
    )
    (broken.home.directory / "writer.lock").write_bytes(killed.stdout.strip())
    (broken.home.builds / "20200101T000000Z-00000000").mkdir()

    payload = checked(broken)
    assert (payload["status"], payload["codes"]) == ("ok", ["build-left-over"])


def test_a_build_that_is_being_made_or_read_is_not_left_over(broken: Indexed) -> None:
    with broken.home.writing():
        made = broken.home.new_build()
        assert checked(broken)["codes"] == []
    for path in (made.directory, *made.directory.iterdir()):
        os.utime(path, (time.time() - 3600,) * 2)
    with broken.home.reading(made):
        assert checked(broken)["codes"] == []
    assert checked(broken)["codes"] == ["build-left-over"]


@pytest.mark.parametrize("pid", ["", "rubbish", "-1", "0", "9" * 30])
def test_whatever_stands_in_a_lock_breaks_nothing(broken: Indexed, pid: str) -> None:
    (broken.home.directory / "writer.lock").write_text(pid)
    (broken.home.builds / "20200101T000000Z-00000000").mkdir()

    assert checked(broken)["codes"] in ([], ["build-left-over"])


@pytest.mark.requirement("OURS-3-check-status")
def test_what_the_configuration_warns_about_is_a_finding(indexed: Indexed) -> None:
    warnings = [{"code": "dictionary_missing", "message": "the dictionary de is configured and not there"}]

    payload = checked(indexed, warnings=warnings)
    assert (payload["status"], payload["codes"]) == ("warning", ["dictionary_missing"])
    finding = payload["findings"][-1]
    assert (finding["area"], finding["severity"]) == ("configuration", "warning")
    assert finding["message"] == warnings[0]["message"]


def test_what_is_not_installed_is_good_to_know_and_nothing_worse(indexed: Indexed) -> None:
    given = {"vector": {"hnsw": False}, "docs": {"pdf": {"available": False, "hint": "install it"}}, "git": True}

    payload = checked(indexed, capabilities=given)
    told = [(one["message"], one["remedy"]) for one in payload["findings"] if one["area"] == "capabilities"]
    assert payload["codes"] == ["capability-missing"] * 2
    assert ("docs.pdf" in told[0][0], told[0][1], "vector.hnsw" in told[1][0]) == (True, "install it", True)


def test_a_cache_that_is_a_file_is_an_error(indexed: Indexed, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")

    payload = checked(Indexed(indexed.repository, tmp_path / "file" / "cache"))
    assert (payload["status"], "cache-not-a-directory" in payload["codes"]) == ("error", True)


def test_git_that_is_not_there_is_told(indexed: Indexed, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")

    assert checked(indexed)["codes"] == ["git-missing"]


def test_git_that_refuses_is_told_with_its_words(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "HEAD").write_text("rubbish")
    repository = find_repository(tmp_path)

    payload = check_status(repository, tmp_path / "cache", capabilities={}, warnings=())
    refusal = next(one for one in payload["findings"] if one["code"] == "git-refuses")
    assert "not a git repository" in refusal["remedy"]


@pytest.mark.parametrize(
    ("free", "total", "is_told"),
    [
        (GIB - 1, 10 * GIB, True),
        (GIB, 10 * GIB, False),
        (4 * GIB, 100 * GIB, True),
        (0, 0, True),
        (6 * GIB, 100 * GIB, False),
    ],
)
def test_a_disk_that_is_nearly_full_is_told(free: int, total: int, is_told: bool) -> None:
    assert bool(disk_findings(free, total)) == is_told
