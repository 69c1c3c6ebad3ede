"""Vectors end to end over a real index, with a model that is written down in the test."""

import contextlib
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.search.tiny_model import GROUPS, write_model

from holdfast.errors import ToolError
from holdfast.search.home import IndexHome
from holdfast.search.library import SearchIndex, build_for, build_index, open_index
from holdfast.search.repository import Repository, find_repository, index_home
from holdfast.search.request import SearchRequest
from holdfast.search.vectors.making import embed_index
from holdfast.search.vectors.place import VectorPlace

CODE = '''
def abort_transfer(number):
    """Abort what is under way."""
    return number


def decode_envelope(letter):
    return letter


def sum_of_vat(bill):
    return bill


def unrelated(value):
    return value
'''
NOTES = "# Billing\n\nThe duty is added to every bill.\n\n# Other\n\nNothing to see.\n"


@dataclass
class Place:
    """A repository with an index and a model."""

    repository: Repository
    cache: Path
    model: Path

    def embed(self, **more: Any) -> dict[str, Any]:
        told: dict[str, Any] = {"model": str(self.model), "progress": lambda *_: None, "stop": lambda: False}
        return embed_index(self.repository, self.cache, **(told | more))

    def build(self, *, full: bool = False) -> dict[str, Any]:
        return build_index(self.repository, self.cache, full=full)

    def ask(self, query: str, **arguments: Any) -> dict[str, Any]:
        with open_index(self.repository, self.cache) as index:
            return _ask(index, query, **arguments)

    @property
    def home(self) -> IndexHome:
        return IndexHome(index_home(self.repository, self.cache))


def _ask(index: SearchIndex, query: str, **arguments: Any) -> dict[str, Any]:
    return index.search(SearchRequest.from_arguments({"query": query, "mode": "code", **arguments}))


def _names(answer: dict[str, Any]) -> list[str]:
    return [hit["name"] for hit in answer["code"]]


def _warnings(answer: dict[str, Any]) -> list[str]:
    return [one["message"] for one in answer["warnings"] if one["code"] == "ann"]


def _made(directory: Path, files: dict[str, str] | None = None) -> Place:
    root = directory / "repo"
    for name, text in (files or {"src/jobs.py": CODE, "notes.md": NOTES}).items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    place = Place(find_repository(root), directory / "cache", write_model(directory / "model"))
    place.build()
    return place


@pytest.fixture(scope="module")
def embedded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., dict[str, Any]]]:
    place = _made(tmp_path_factory.mktemp("vectors"))
    place.embed()
    with open_index(place.repository, place.cache) as index:
        yield lambda query, **arguments: _ask(index, query, **arguments)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return _made(tmp_path)


Ask = Callable[..., dict[str, Any]]


def test_what_is_meant_is_found_without_a_word_in_common(embedded: Ask) -> None:
    (first, *_) = embedded("cancel", top=1)["code"]
    assert (first["name"], first["scoreType"], first["annType"]) == ("abort_transfer", "blend", "cosine")
    assert first["annSource"] == "dense"
    assert 0.2 < first["annScore"] <= 1
    assert "means something similar" in first["why"]


def test_without_vectors_the_answer_is_what_it_was_before_there_were_any(tmp_path: Path, embedded: Ask) -> None:
    before = _made(tmp_path)
    for query in ("cancel", "decode letter", "unrelated value", '"abort transfer"', "*"):
        told = before.ask(query, ann=False, explain=True)["code"]
        assert told == embedded(query, ann=False, explain=True)["code"]


def test_vectors_are_used_by_themselves_once_nearly_all_chunks_have_one(embedded: Ask) -> None:
    assert embedded("cancel")["code"] == embedded("cancel", ann=True)["code"]
    assert embedded("cancel")["warnings"] == []
    assert _names(embedded("cancel", ann=False)) == []


def test_an_explained_hit_shows_both_parts_of_its_score(embedded: Ask) -> None:
    (first, *_) = embedded("decode the envelope", explain=True)["code"]
    parts = first["scoreBreakdown"]
    assert first["score"] == pytest.approx(parts["lexical"] + parts["vector"] + parts["share"], abs=1e-3)
    assert first["sparseScore"] > 0


def test_filters_hold_for_what_is_found_by_its_meaning(embedded: Ask) -> None:
    assert _names(embedded("cancel", path="src/"))[0] == "abort_transfer"
    assert _names(embedded("cancel", path="elsewhere/")) == []
    assert _names(embedded("lang:python cancel"))[0] == "abort_transfer"
    assert _names(embedded("cancel", type="class")) == []


@pytest.mark.parametrize(
    ("query", "name"),
    [('cancel "decode envelope"', "decode_envelope"), ("cancel /sum_of_\\w+/", "sum_of_vat"),
     ("cancel AND unrelated", ""), ("read -letter", "not decode_envelope"), ("abort_nothing", "")],
)  # fmt: skip
def test_what_a_query_requires_is_required_of_meaning_too(embedded: Ask, query: str, name: str) -> None:
    found = _names(embedded(query, ann=True))
    if name.startswith("not "):
        assert name.removeprefix("not ") not in found
    else:
        assert found == [name] * bool(name)


def test_a_filter_or_an_expression_alone_has_no_meaning(embedded: Ask) -> None:
    for query in ("*", "/def \\w+/", "lang:python"):
        assert embedded(query, ann=True)["code"] == embedded(query, ann=False)["code"]


def test_what_means_nothing_known_finds_nothing(embedded: Ask) -> None:
    answer = embedded("zyxwv", ann=True)
    assert answer["total"]["code"] == len(answer["code"])
    assert all(hit["annScore"] >= 0.2 for hit in answer["code"])


def test_prose_is_found_by_its_meaning_too(embedded: Ask) -> None:
    (first, *_) = embedded("invoice tax", mode="prose")["prose"]
    assert first["name"] == "Billing"


def test_the_total_counts_every_hit_once(embedded: Ask) -> None:
    answer = embedded("abort transfer stop", top=50)
    assert answer["total"]["code"] == len(answer["code"])
    assert answer["truncated"] is False


def test_vectors_work_above_any_engine(place: Place) -> None:
    place.embed()
    build_for("sqlite", place.repository, place.cache, full=False, progress=lambda *_: None, stop=lambda: False)
    expected = place.ask("cancel the letter")["code"]
    assert expected[0]["annScore"] is not None
    for backend in ("memory", "sqlite", "sqlite-fts", "tantivy"):
        assert place.ask("cancel the letter", backend=backend)["code"] == expected, backend


def test_without_vectors_insisting_says_what_makes_them(place: Place) -> None:
    (said,) = _warnings(place.ask("cancel", ann=True))
    assert "no vectors in this index" in said
    assert "holdfast index embed" in said
    assert _warnings(place.ask("cancel")) == []


def test_missing_libraries_are_told_with_what_to_install(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    place.embed()
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    (said,) = _warnings(place.ask("cancel", ann=True))
    assert "pip install 'holdfast[vector]'" in said
    assert _warnings(place.ask("cancel")) == []
    with pytest.raises(ToolError, match="onnxruntime") as refusal:
        place.embed()
    assert refusal.value.code == "CAPABILITY_MISSING"


def test_a_model_that_is_gone_is_told_and_words_answer(place: Place) -> None:
    place.embed()
    (directory,) = (place.cache / "vector-models").iterdir()
    directory.rename(place.cache / "elsewhere")
    (said,) = _warnings(place.ask("abort transfer", ann=True))
    assert "is not here" in said
    assert _names(place.ask("abort transfer"))[0] == "abort_transfer"


def test_a_damaged_model_is_told_and_words_answer(place: Place) -> None:
    place.embed()
    (file,) = (place.cache / "vector-models").glob("*/model.onnx")
    file.write_bytes(file.read_bytes()[:40])
    answer = place.ask("abort transfer")
    assert "words alone" in _warnings(answer)[0]
    assert _names(answer)[0] == "abort_transfer"


def test_new_chunks_wait_for_their_vectors_and_the_others_keep_theirs(place: Place) -> None:
    first = place.embed()
    (place.repository.root / "src/jobs.py").write_text(CODE + "\n\ndef repeat(job):\n    return job\n")
    place.build()
    (said,) = _warnings(place.ask("again", ann=True))
    assert "have no vector yet" in said
    again = place.embed(model=None)
    assert 0 < again["embedded"] < first["embedded"]
    assert _names(place.ask("again"))[0] == "repeat"


def test_too_few_vectors_are_not_used_unless_they_are_insisted_on(place: Place) -> None:
    place.embed()
    more = "".join(f"\n\ndef job{n}(job):\n    return {n}\n" for n in range(8))
    (place.repository.root / "src/more.py").write_text(more)
    place.build()
    assert _names(place.ask("cancel")) == []
    assert _names(place.ask("cancel", ann=True))[0] == "abort_transfer"


def test_a_full_rebuild_embeds_nothing_again(place: Place) -> None:
    place.embed()
    place.build(full=True)
    assert _names(place.ask("cancel"))[0] == "abort_transfer"
    again = place.embed(model=None)
    assert (again["embedded"], again["vectors"]) == (0, again["chunks"])


def test_going_back_to_what_was_there_before_embeds_nothing(place: Place) -> None:
    file = place.repository.root / "src/jobs.py"
    place.embed()
    for text in ("def other():\n    return 1\n", CODE):
        file.write_text(text)
        place.build()
        last = place.embed(model=None)
    assert last["embedded"] == 0
    assert _names(place.ask("cancel"))[0] == "abort_transfer"


def test_another_model_with_other_dimensions_takes_over(place: Place, tmp_path: Path) -> None:
    place.embed()
    groups = [*GROUPS, ("unrelated", "whatever")]
    other = write_model(tmp_path / "other", groups, output="sentence_embedding", dimensions=12)
    told = place.embed(model=str(other))
    assert (told["dimensions"], told["vectors"]) == (12, told["chunks"])
    assert _names(place.ask("whatever"))[0] == "unrelated"
    assert place.embed()["embedded"] == 0  # the first one again, which is still known


def test_a_damaged_cache_is_made_anew(place: Place) -> None:
    first = place.embed()
    place.build(full=True)
    for path in place.home.directory.glob("vectors.db*"):
        path.write_bytes(b"not a database, whatever its name says" * 200)
    place.build(full=True)
    assert place.embed(model=None)["embedded"] == first["embedded"]
    assert _names(place.ask("cancel"))[0] == "abort_transfer"


def test_a_damaged_note_of_the_model_means_words_alone_until_the_next_call(place: Place) -> None:
    place.embed()
    (place.home.directory / "vectors.json").write_text('{"format": 1, "digest": "../..", "name": "x"')
    assert _names(place.ask("cancel")) == []
    assert place.embed()["embedded"] == 0
    assert _names(place.ask("cancel"))[0] == "abort_transfer"


def test_a_flipped_bit_in_what_is_kept_of_vectors_changes_no_answer_without_a_word(place: Place) -> None:
    place.embed()
    before, chance = place.ask("cancel")["code"], random.Random(15)
    kept = [*place.home.directory.glob("vectors.json"), *place.home.directory.glob("builds/*/vectors/*/*/*")]
    kept += place.cache.glob("vector-models/*/*")
    files = [path for path in kept if path.stat().st_size]
    assert {path.name for path in files} >= {"vectors.json", "rows", "vectors", "seal.json", "model.onnx"}
    for path in files * 3:
        bytes_before = path.read_bytes()
        at = chance.randrange(len(bytes_before))
        with path.open("r+b") as file:
            file.seek(at)
            file.write(bytes([bytes_before[at] ^ 1 << chance.randrange(8)]))
        answer = place.ask("cancel")
        assert answer["code"] == before or any("is damaged" in one for one in _warnings(answer)), (path, at)
        with path.open("r+b") as file:
            file.write(bytes_before)
    assert place.ask("cancel")["code"] == before


def test_damaged_vectors_are_taken_from_the_cache_and_damaged_rows_of_the_cache_are_made_again(
    place: Place,
) -> None:
    place.embed()
    before = place.ask("cancel")["code"]
    (table,) = place.home.directory.glob("builds/*/vectors/*/code/vectors")
    table.write_bytes(bytes(table.stat().st_size))
    assert _warnings(place.ask("cancel"))
    assert place.embed(model=None)["embedded"] == 0
    assert place.ask("cancel")["code"] == before
    with contextlib.closing(sqlite3.connect(place.home.directory / "vectors.db")) as database, database:
        (codes,) = database.execute("SELECT codes FROM vectors LIMIT 1").fetchone()
        other = bytes([codes[0] ^ 64]) + codes[1:]
        database.execute("UPDATE vectors SET codes = ? WHERE codes = ?", (other, codes))
    place.build(full=True)
    assert place.embed(model=None)["embedded"] >= 1
    assert place.ask("cancel")["code"] == before


MANY = "".join(f"def job_{n}(value):\n    return value + {n}\n\n\n" for n in range(150))
KILLED = """
import os, signal, sys
from pathlib import Path
from holdfast.search.repository import find_repository
from holdfast.search.vectors.making import embed_index
calls = []
def progress(stage, done, total, detail):
    calls.append(stage == "embed")
    if sum(calls) == 3:
        os.kill(os.getpid(), signal.SIGKILL)
root, cache, model = sys.argv[1:]
embed_index(find_repository(root), Path(cache), model=model, progress=progress, stop=lambda: False)
"""


def _run(place: Place, code: str) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, "-c", code, str(place.repository.root), str(place.cache), str(place.model)]
    return subprocess.run(words, capture_output=True, text=True, timeout=50, check=False)


def test_killed_in_the_middle_it_loses_at_most_one_batch(tmp_path: Path) -> None:
    place = _made(tmp_path, {"many.py": MANY})
    assert _run(place, KILLED).returncode == -signal.SIGKILL
    (rows,) = (place.home.directory / "builds").glob("*/vectors/*/code/rows")
    with rows.open("ab") as file:
        file.write(b"half of a row")  # as a kill in the middle of a write leaves it
    told = place.embed()
    assert told["vectors"] == told["chunks"] >= 150
    assert told["embedded"] <= told["chunks"] - 2 * 32


def test_stopped_it_keeps_what_is_done(tmp_path: Path) -> None:
    place = _made(tmp_path, {"many.py": MANY})
    done: list[int] = []
    with pytest.raises(ToolError) as refusal:
        place.embed(
            progress=lambda stage, n, *_: done.append(n) if stage == "embed" else None, stop=lambda: bool(done)
        )
    assert refusal.value.code == "CANCELLED"
    assert place.embed()["embedded"] == place.embed()["chunks"] - done[-1]


def test_a_second_process_is_told_that_one_is_at_work(place: Place) -> None:
    with VectorPlace.of(place.home).making(), pytest.raises(ToolError) as refusal:
        place.embed()
    assert refusal.value.code == "QUEUE_OVERLOADED"
    assert str(os.getpid()) in refusal.value.message


def test_an_update_meanwhile_is_not_held_up(place: Place) -> None:
    place.embed()
    with VectorPlace.of(place.home).making():
        (place.repository.root / "src/new.py").write_text("def repeat():\n    return 1\n")
        assert place.build()["action"] == "updated"
    assert place.embed(model=None)["embedded"] >= 1


FULL = """
import os, resource, runpy, signal, sys
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
sys.dont_write_bytecode = True
os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
root, cache, model = sys.argv[1:]
sys.argv = ["holdfast", "index", "embed", "--repo", root, "--cache-dir", cache, "--model", model]
runpy.run_module("holdfast", run_name="__main__")
"""


def test_a_full_disk_is_told_in_words_and_nothing_is_lost(place: Place) -> None:
    done = _run(place, FULL)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert place.embed()["vectors"] == place.embed()["chunks"]


def test_without_an_index_the_remedy_is_told(tmp_path: Path) -> None:
    (tmp_path / "repo").mkdir()
    place = Place(find_repository(tmp_path / "repo"), tmp_path / "cache", write_model(tmp_path / "model"))
    with pytest.raises(ToolError) as refusal:
        place.embed()
    assert refusal.value.code == "NO_INDEX"


def test_the_status_tells_the_model_and_how_many_chunks_have_vectors(place: Place) -> None:
    with open_index(place.repository, place.cache) as index:
        assert index.status()["vectors"] is None
        told = place.embed()
        status = index.status()["vectors"]
    assert (status["model"], status["vectors"], status["chunks"]) == ("model", told["vectors"], told["chunks"])
    assert status["bytes"] > 0


def test_an_open_index_uses_vectors_as_soon_as_they_are_there(place: Place) -> None:
    with open_index(place.repository, place.cache) as index:
        assert _names(_ask(index, "cancel")) == []
        place.embed()
        assert _names(_ask(index, "cancel"))[0] == "abort_transfer"


def test_the_background_program_makes_what_is_missing_and_ends(place: Place) -> None:
    place.embed()
    (place.repository.root / "src/new.py").write_text("def repeat():\n    return 1\n")
    place.build()
    words = [sys.executable, "-m", "holdfast.search.vectors.working", str(place.repository.root), str(place.cache)]
    assert subprocess.run(words, timeout=50, check=False).returncode == 0
    assert place.embed(model=None)["embedded"] == 0


def test_the_command_prints_figures_for_people_and_for_programs(place: Place) -> None:
    words = [sys.executable, "-m", "holdfast", "index", "embed", "--repo", str(place.repository.root)]
    words += ["--cache-dir", str(place.cache), "--model", str(place.model)]
    first = subprocess.run(words, capture_output=True, text=True, timeout=50, check=True)
    assert "chunks have vectors" in first.stdout
    assert "CPU seconds per 1,000 chunks" in first.stdout
    second = subprocess.run([*words, "--json"], capture_output=True, text=True, timeout=50, check=True)
    assert json.loads(second.stdout)["embedded"] == 0


def test_removing_the_index_removes_its_vectors(place: Place) -> None:
    place.embed()
    with place.home.writing():
        assert place.home.remove()
    assert not place.home.directory.exists()


def test_the_runtime_of_vectors_reports_to_nobody(tmp_path: Path) -> None:
    environment = {"HOME": str(tmp_path), "PATH": os.environ["PATH"], "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-P", "-c", "import holdfast.search.vectors.model"]
    subprocess.run(command, check=True, env=environment, timeout=50)
    assert list(tmp_path.iterdir()) == [], "neither a device id nor a queue of events"
