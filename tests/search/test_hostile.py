"""Rubbish as files and as requests: an answer or a typed refusal, and nothing else."""

import os
import random
from pathlib import Path
from typing import Any

import pytest
from benchmarks.search_fuzz import ask, random_arguments, random_file
from tests.search.sample import git

from holdfast.search.library import SearchIndex, build_index, open_index
from holdfast.search.repository import Repository, find_repository
from holdfast.search.request import SearchRequest

ENDS = {"found", "nothing", "INVALID_REQUEST", "NO_INDEX"}


@pytest.fixture(scope="module")
def rubbish(tmp_path_factory: pytest.TempPathFactory) -> Any:
    place = tmp_path_factory.mktemp("rubbish")
    chance = random.Random(11)
    root = place / "repo"
    root.mkdir()
    for number in range(40):
        extension = chance.choice(("py", "js", "ts", "go", "java", "md", "json", "log", "c"))
        (root / f"f{number}.{extension}").write_bytes(random_file(chance))
    build_index(find_repository(root), place / "cache")
    with open_index(find_repository(root), place / "cache") as index:
        yield index


@pytest.mark.parametrize("seed", range(4))
def test_random_requests_end_in_an_answer_or_a_refusal(rubbish: SearchIndex, seed: int) -> None:
    chance = random.Random(seed)
    assert {ask(rubbish, random_arguments(chance)) for _ in range(50)} <= ENDS


def write(root: Path, name: str, data: bytes) -> None:
    (root / name).parent.mkdir(parents=True, exist_ok=True)
    (root / name).write_bytes(data)


HARD_FILES = {
    "empty.py": (b"", ""),
    "utf16.py": ("\ufeffdef wide_text():\n    return 1\n".encode("utf-16-le"), "wide_text"),
    "latin.py": ("def caf\xe9_latin():\n    return 1\n".encode("latin-1"), "latin"),
    "crlf.py": (b"def crlf_lines():\r\n    return 1\r\n", "crlf_lines"),
    "broken.py": (b"def before_error():\n    return (\n\n\ndef after_error():\n    return 1\n", "after_error"),
    "giant_line.py": (b"x = '" + b"a" * 300_000 + b"'\n\n\ndef behind_giant():\n    return 1\n", "behind_giant"),
    "deep.py": (
        b"x = " + b"(" * 3000 + b"1" + b")" * 3000 + b"\n\n\ndef behind_deep():\n    return 1\n",
        "behind_deep",
    ),
    "many.py": (b"".join(b"def many_%d():\n    return 1\n\n\n" % n for n in range(3000)), "many_2999"),
    "bom.js": (b"\xef\xbb\xbffunction bomFunction() { return 1; }\n", "bomFunction"),
    "long.md": (b"# Heading\n\n" + b"filler words\n" * 20_000 + b"needle_in_prose\n", "needle_in_prose"),
}


def test_hard_files_are_indexed_and_found(tmp_path: Path) -> None:
    for name, (data, _) in HARD_FILES.items():
        write(tmp_path / "repo", name, data)
    report = build_index(find_repository(tmp_path / "repo"), tmp_path / "cache")
    assert report["skipped"] == {}
    with open_index(find_repository(tmp_path / "repo"), tmp_path / "cache") as index:
        for name, (_, word) in HARD_FILES.items():
            payload = index.search(SearchRequest(query=word or "*", path=(name,)))
            hits = payload["code"] + payload["prose"]
            assert {hit["file"] for hit in hits} == ({name} if word else set()), name


def test_a_file_that_hangs_or_crashes_its_parser_costs_only_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a.py", "b.py", "crash.py"):
        write(tmp_path / "repo", name, b"def fine():\n    return 1\n")
    (tmp_path / "task.py").write_text(
        "import os\nfrom holdfast.search.prepare import prepare\n\n\n"
        "def run(task):\n    if task.path == 'crash.py':\n        os.abort()\n    return prepare(task)\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setattr("holdfast.search.build.PARSER", "task:run")
    repository = find_repository(tmp_path / "repo")
    assert build_index(repository, tmp_path / "cache")["skipped"] == {"parser-crashed": 1}
    assert build_index(repository, tmp_path / "cache")["action"] == "unchanged"  # not tried again until it changes
    with open_index(repository, tmp_path / "cache") as index:
        assert {hit["file"] for hit in index.search(SearchRequest(query="fine"))["code"]} == {"a.py", "b.py"}
        skipped = index.status()["skippedFiles"]
    assert [(one["path"], one["reason"]) for one in skipped] == [("crash.py", "parser-crashed")]


def test_a_full_disk_leaves_the_old_index_serving(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "repo", "a.py", b"def first():\n    return 1\n")
    repository = find_repository(tmp_path / "repo")
    build_index(repository, tmp_path / "cache")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("holdfast.search.index_writer.TermWriter.commit", full)
    write(tmp_path / "repo", "b.py", b"def second():\n    return 1\n")
    for complete in (True, False):
        with pytest.raises(OSError, match="No space"):
            build_index(repository, tmp_path / "cache", full=complete)
    monkeypatch.undo()
    with open_index(repository, tmp_path / "cache") as index:
        assert index.search(SearchRequest(query="first"))["total"]["code"] == 1
    assert build_index(repository, tmp_path / "cache")["added"] == 1


def test_a_committed_name_that_is_no_utf8_costs_itself_and_not_the_index(
    repository: Repository, cache: Path
) -> None:
    odd = os.fsencode(repository.root) + b"/nonutf\xff\xfe.py"
    with open(odd, "w") as file:
        file.write("def odd(): pass\n")
    git(repository.root, "add", "-A")
    git(repository.root, "commit", "-qm", "odd")

    report = build_index(repository, cache)

    assert report["files"] > 3
    assert sum(report["skipped"].values()) >= 1
