"""A bit that flipped in a file of an index never changes an answer: it is noticed, said, and built anew."""

import contextlib
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from holdfast.errors import ToolError
from holdfast.search.answering import answer
from holdfast.search.home import Build, IndexHome
from holdfast.search.library import SearchIndex, build_for, build_index, compact_index, ensure_index, open_index
from holdfast.search.linting.findings import FindingsFile
from holdfast.search.repository import Repository, index_home
from holdfast.search.request import SearchRequest
from holdfast.search.seals import Seal
from holdfast.search.served import Served

QUESTIONS: tuple[dict[str, Any], ...] = ({"query": "retry budget"}, {"query": "*", "mode": "code", "top": 50})
RUN = "import sys; sys.dont_write_bytecode = True; from holdfast.cli.app import main; sys.exit(main("
BESIDE: dict[str, Any] = {"query": "budget", "backend": "sqlite"}


def home_of(repository: Repository, cache: Path) -> IndexHome:
    return IndexHome(index_home(repository, cache))


def build_of(repository: Repository, cache: Path) -> Build:
    build = home_of(repository, cache).current()
    assert build is not None
    return build


def hits(index: SearchIndex, **question: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = index.search(SearchRequest.from_arguments(question))["code"]
    return found


def answers(repository: Repository, cache: Path, *more: dict[str, Any]) -> list[list[dict[str, Any]]]:
    with open_index(repository, cache) as index:
        return [hits(index, **question) for question in (*QUESTIONS, *more)]


def answers_or_refusal(repository: Repository, cache: Path) -> object:
    try:
        return answers(repository, cache, BESIDE)
    except ToolError as error:
        return error.code


@contextlib.contextmanager
def flipped(path: Path, place: int) -> Iterator[None]:
    before = path.read_bytes()
    with path.open("r+b") as file:  # in place: whoever has mapped the file sees it
        file.seek(place)
        file.write(bytes([before[place] ^ 1 << place % 8]))
    try:
        yield
    finally:
        if path.exists():
            with path.open("r+b") as file:
                file.write(before)


def test_a_flipped_bit_in_any_file_is_refused_or_changes_nothing(repository: Repository, cache: Path) -> None:
    build_for("sqlite-fts", repository, cache, full=True, progress=lambda *_: None, stop=lambda: False)
    before, chance = answers(repository, cache, BESIDE), random.Random(15)
    files = [path for path in home_of(repository, cache).directory.rglob("*") if path.is_file()]
    flips = 0
    for path in sorted(file for file in files if file.stat().st_size and file.suffix != ".lock"):
        for _ in range(2):
            flips += 1
            with flipped(path, place := chance.randrange(path.stat().st_size)):
                assert answers_or_refusal(repository, cache) in (before, "NO_INDEX"), (path, place)
    assert flips >= 24
    assert answers(repository, cache, BESIDE) == before


@pytest.mark.parametrize("half", ["store.db", "terms"])
def test_a_damaged_index_is_built_anew_by_the_next_search_of_a_person(
    repository: Repository, cache: Path, half: str
) -> None:
    build_index(repository, cache)
    before = answers(repository, cache)
    build = build_of(repository, cache)
    path = build.store if half == "store.db" else next(build.terms.glob("*.idx"))
    with flipped(path, path.stat().st_size // 2), ensure_index(repository, cache) as index:
        assert [hits(index, **question) for question in QUESTIONS] == before
    assert build_of(repository, cache) != build


def test_damage_below_an_open_index_is_refused_in_the_next_answer(repository: Repository, cache: Path) -> None:
    build_index(repository, cache)
    served, question = Served({"repo": repository.root}, cache), {"query": "retry budget", "repoPath": "repo"}
    before = answer(served, question)["code"]
    with (
        flipped(build_of(repository, cache).store, 5000),
        pytest.raises(ToolError, match="its index is damaged") as told,
    ):
        answer(served, question | {"top": 3})  # another question: a remembered answer needs no file
    assert told.value.code == "NO_INDEX"
    assert answer(served, question)["code"] == before
    served.release()


def test_an_update_does_not_seal_damage_that_was_there_before(repository: Repository, cache: Path) -> None:
    build_index(repository, cache)
    (repository.root / "more.py").write_text("def more():\n    return 1\n")
    build = build_of(repository, cache)
    with flipped(build.store, build.store.stat().st_size - 100):
        assert build_index(repository, cache)["action"] == "built"


def test_updates_and_compaction_leave_a_seal_that_fits(repository: Repository, cache: Path) -> None:
    build_index(repository, cache)
    for text in ("def more():\n    return 1\n", "def other():\n    return 2\n"):
        (repository.root / "more.py").write_text(text)
        assert build_index(repository, cache)["action"] == "updated"
        assert "terms/meta.json" in build_of(repository, cache).seal.entries()
    compact_index(repository, cache)
    assert build_of(repository, cache).seal.entries()
    assert answers(repository, cache)[0]


def test_an_index_without_a_seal_is_searched_and_gets_one_with_the_next_update(
    repository: Repository, cache: Path
) -> None:
    build_index(repository, cache)
    before, build = answers(repository, cache)[0], build_of(repository, cache)
    build.seal.remove()  # as of an earlier version, or of a writer that was killed
    assert answers(repository, cache)[0] == before
    ensure_index(repository, cache).close()
    assert build_of(repository, cache) == build
    assert build.seal.entries()


def test_damaged_findings_of_linters_are_left_out_with_a_warning(repository: Repository, cache: Path) -> None:
    build_index(repository, cache)
    path = build_of(repository, cache).lint
    with FindingsFile(path) as kept:
        kept.note("ruff", "1", b"")
    with flipped(path, 5000), open_index(repository, cache) as index:
        warnings = index.search(SearchRequest.from_arguments({"query": "budget"}))["warnings"]
        assert "what linters found is damaged" in warnings[0]["message"]
        with FindingsFile(path) as kept:
            assert kept.known("ruff", b"") == {}


def test_a_mended_seal_of_findings_ends_the_warning_of_an_open_index(repository: Repository, cache: Path) -> None:
    build_index(repository, cache)
    path = build_of(repository, cache).lint
    with FindingsFile(path) as kept:
        kept.note("ruff", "1", b"")
    request = SearchRequest.from_arguments({"query": "budget"})
    with open_index(repository, cache) as index:
        with flipped(path.with_name(f"{path.name}.seal"), 3):
            assert "is damaged" in index.search(request)["warnings"][0]["message"]
        assert index.search(request)["warnings"] == []


def test_a_seal_that_is_taken_off_during_the_look_accuses_no_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"before")
    seal = Seal(tmp_path / "seal.json")
    seal.write([tmp_path / "file"])
    (tmp_path / "file").write_bytes(b"behind")
    assert seal.damage() == "file"
    seal.remove()
    assert seal.damage() is None


def test_a_file_that_may_not_grow_is_a_full_disk_and_the_old_index_stays(
    repository: Repository, cache: Path
) -> None:
    build_index(repository, cache)
    before = answers(repository, cache)
    words = ["index", "build", "--full", "--quiet", "--cache-dir", str(cache)]
    limit = f"import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (40_000, 40_000)); {RUN}{words!r}))"
    done = subprocess.run(
        [sys.executable, "-P", "-c", limit],
        check=False,
        cwd=repository.root,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 2
    assert done.stderr.startswith("holdfast: no space left in")
    assert answers(repository, cache) == before
