"""A grammar that hangs or crashes costs one file its structure, and nothing else.

The grammar for COBOL never comes back from a file with one short line; the language leaves such lines out, so here
it is asked without that care, in real parser processes.
"""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from holdfast.errors import ToolError
from holdfast.search import index_writer, parsing_time
from holdfast.search.library import build_index, open_index
from holdfast.search.parsing_time import EXCESS_USED, excess_of, most_excess, seconds_for
from holdfast.search.pool import _SILENCE
from holdfast.search.repository import Repository, find_repository
from holdfast.search.request import SearchRequest

pytest.importorskip("tree_sitter_language_pack")

# What a parser process runs: COBOL without the rule that keeps it from hanging, and little time for each file.
CARELESS = """\
import os
from dataclasses import replace

from holdfast.search import documents, languages, parsing_time

known = languages.available
careless = replace(known("cobol"), misleading=None)
languages.available = lambda language: careless if language == "cobol" else known(language)
parsing_time._LEAST = parsing_time._LEAST_OF_A_DOCUMENT = {seconds}


def run(task):
    with open({log!r}, "a") as log:
        log.write(task.path + (" as text" if task.plain else "") + "\\n")
    return parsing_time.prepare_in_time(task)


def dwell(task):
    documents.extract_document = read_for_ever
    return run(task)


def read_for_ever(path, data):
    while True:
        pass


def crash(task):
    if task.language == "cobol" and not task.plain:
        os.abort()
    return run(task)
"""
HANGING = b"word = 1\nx"


Use = Callable[..., None]


def written(root: Path) -> Repository:
    root.mkdir()
    for name in ("a", "b"):
        (root / f"{name}.py").write_text(f"def in_{name}():\n    return 1\n")
    (root / "bad.cob").write_bytes(HANGING)
    return find_repository(root)


def use_careless(place: Path, patch: pytest.MonkeyPatch, task: str, seconds: float) -> None:
    (place / "careless.py").write_text(CARELESS.format(seconds=seconds, log=str(place / "log")))
    patch.setenv("PYTHONPATH", str(place))
    patch.setattr("holdfast.search.build.PARSER", f"careless:{task}")


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return written(tmp_path / "repo")


@pytest.fixture
def careless(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Use:
    def use(task: str = "run", seconds: float = 0.6) -> None:
        use_careless(tmp_path, monkeypatch, task, seconds)

    return use


@pytest.fixture(scope="module")
def hung(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A place with a repository and its index, built and brought up to date while one of its files hangs."""
    place = tmp_path_factory.mktemp("hung")
    with pytest.MonkeyPatch.context() as patch:
        use_careless(place, patch, "run", 0.6)
        assert build_index(written(place / "repo"), place / "cache")["skipped"] == {}
        yield place


def attempts(tmp_path: Path) -> list[str]:
    return (tmp_path / "log").read_text().splitlines()


def found(repository: Repository, cache: Path, query: str) -> set[str]:
    with open_index(repository, cache) as index:
        return {hit["file"] for hit in index.search(SearchRequest(query=query))["code"]}


def status(repository: Repository, cache: Path) -> dict[str, Any]:
    with open_index(repository, cache) as index:
        return index.status()


def test_a_file_whose_grammar_hangs_is_indexed_as_text_and_said_so(hung: Path) -> None:
    repository, cache = find_repository(hung / "repo"), hung / "cache"

    assert found(repository, cache, "in_a OR in_b") == {"a.py", "b.py"}
    assert found(repository, cache, "word") == {"bad.cob"}
    (remark,) = status(repository, cache)["remarks"]
    assert remark["path"] == "bad.cob"
    assert "plain text: parser-timeout" in str(remark)


def test_an_update_does_not_ask_the_grammar_again_about_the_same_content(hung: Path) -> None:
    repository, cache = find_repository(hung / "repo"), hung / "cache"
    (repository.root / "c.py").write_text("def in_c():\n    return 1\n")
    os.utime(repository.root / "bad.cob")  # it is looked at again, and known by its content

    assert build_index(repository, cache)["added"] == 1
    assert attempts(hung).count("bad.cob") == 2
    assert attempts(hung).count("bad.cob as text") == 1
    assert found(repository, cache, "word") == {"bad.cob"}


def test_a_file_that_crashes_its_grammar_is_indexed_as_text_too(
    repository: Repository, tmp_path: Path, careless: Use
) -> None:
    careless("crash")
    assert build_index(repository, tmp_path / "cache")["skipped"] == {}
    assert found(repository, tmp_path / "cache", "word") == {"bad.cob"}
    assert "parser-crashed, killed by SIGABRT" in str(status(repository, tmp_path / "cache")["remarks"])


def test_a_document_that_is_read_for_ever_is_left_out_by_its_computing_time(
    repository: Repository, tmp_path: Path, careless: Use
) -> None:
    (repository.root / "bad.cob").unlink()
    (repository.root / "slow.docx").write_bytes(b"PK")
    careless("dwell", seconds=1.0)

    assert build_index(repository, tmp_path / "cache")["skipped"] == {"parser-timeout": 1}
    (left_out,) = status(repository, tmp_path / "cache")["skippedFiles"]
    assert (left_out["path"], left_out["detail"]) == ("slow.docx", "no result within its computing time")


def test_a_grammar_that_hangs_again_and_again_is_not_asked_for_ever(
    repository: Repository, tmp_path: Path, careless: Use, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("holdfast.search.index_writer._PATIENCE", 1)
    monkeypatch.setattr("holdfast.search.pool._AHEAD", 1)
    monkeypatch.setattr(parsing_time, "_EXCESS", 600.0)  # the budget of the whole build is not what ends it
    for number in range(6):
        (repository.root / f"bad{number}.cob").write_bytes(HANGING)
    careless()

    assert build_index(repository, tmp_path / "cache")["skipped"] == {}
    assert sum(line.endswith(".cob") for line in attempts(tmp_path)) < 7
    assert "other files of this language" in str(status(repository, tmp_path / "cache")["remarks"])


def test_indexing_is_stopped_while_a_grammar_hangs(repository: Repository, tmp_path: Path, careless: Use) -> None:
    careless(seconds=600.0)
    log = tmp_path / "log"

    with pytest.raises(ToolError) as stopped:
        build_index(repository, tmp_path / "cache", stop=lambda: log.exists() and "bad.cob" in log.read_text())
    assert stopped.value.code == "CANCELLED"
    assert not [process for process in psutil.Process().children(recursive=True) if "careless" in str(process)]


def test_an_interrupt_during_the_hang_ends_the_command_at_once(
    repository: Repository, tmp_path: Path, careless: Use
) -> None:
    careless(seconds=600.0)
    program = (
        "import sys\nfrom pathlib import Path\nimport holdfast.search.build as build\n"
        "from holdfast.search.library import build_index\nfrom holdfast.search.repository import find_repository\n"
        "build.PARSER = 'careless:run'\nbuild_index(find_repository(Path(sys.argv[1])), Path(sys.argv[2]))\n"
    )
    command = [sys.executable, "-c", program, str(repository.root), str(tmp_path / "cache")]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as running:
        log, deadline = tmp_path / "log", time.monotonic() + 50
        while not (log.exists() and "bad.cob" in log.read_text()):
            assert time.monotonic() < deadline
            threading.Event().wait(0.02)
        parsers = psutil.Process(running.pid).children(recursive=True)
        running.send_signal(signal.SIGINT)
        assert running.wait(20) != 0
    psutil.wait_procs(parsers, timeout=20)
    assert not [parser for parser in parsers if parser.is_running()]


def test_large_files_and_documents_get_more_time() -> None:
    assert seconds_for(10) < 4
    assert seconds_for(1_000_000) > 10
    assert seconds_for(10, is_code=False) > 10


def test_a_parser_that_waits_on_a_busy_machine_is_given_longer_than_one_that_computes() -> None:
    """What is given up stays plain text until it changes, so being slow must not be taken for hanging."""
    assert 3 * max(seconds_for(0), seconds_for(0, is_code=False)) < _SILENCE


def test_files_past_the_computing_time_of_the_build_are_plain_text_with_a_remark(
    repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (repository.root / "budget.py").write_text("def retry_budget():\n    return 1\n")
    monkeypatch.setattr(index_writer, "most_excess", lambda files, size: -1.0)
    build_index(repository, tmp_path / "cache")
    with open_index(repository, tmp_path / "cache") as index:
        rows = index._opened.store
        remarks = [remark for one in rows.summaries(rows.files()).values() for remark in one["remarks"]]
    assert "budget.py" in found(repository, tmp_path / "cache", "retry budget")
    assert f"indexed as plain text: {EXCESS_USED}" in remarks


def test_a_build_may_be_slow_in_proportion_to_its_files_and_bytes() -> None:
    assert excess_of(0.2, 200_000) == 0.0  # an honest file of this size takes about this long
    assert excess_of(5.0, 200_000) > 4.0
    assert most_excess(70, 14_000_000) < 6  # two of them that hang their parser use it up
    assert 2 * excess_of(seconds_for(200_000), 200_000) > most_excess(70, 14_000_000)
    assert excess_of(seconds_for(0), 0) < most_excess(1, 0)  # one that hangs leaves the others their grammars
    assert most_excess(1, 0) > 10 * 0.2  # a repository with no slow file has at most 0.17: click, ripgrep, Django
    assert most_excess(6000, 40_000_000) > most_excess(70, 14_000_000)
