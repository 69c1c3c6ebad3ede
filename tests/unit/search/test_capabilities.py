"""What this installation can do: each word is compared with the thing itself."""

import importlib.util
import json
import re
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from holdfast.search.answers.config import Capabilities
from holdfast.search.capabilities import announced_capabilities, capabilities, platform_key, vector_extension
from holdfast.search.documents import extract_document


def test_the_block_is_plain_json_of_its_published_form(tmp_path: Path) -> None:
    found = capabilities(tmp_path)

    assert json.loads(json.dumps(found)) == found
    Capabilities.model_validate(found)
    seed = {"docs": {"pdfjsDist", "mammoth"}, "vector": {"sqliteVec", "hnsw"}, "mcp": {"sdk"}}
    for group, names in seed.items():
        assert names <= found[group].keys()
        assert all(isinstance(found[group][name], bool) for name in names)


@pytest.mark.parametrize(
    ("group", "name", "module"),
    [
        ("docs", "pdfjsDist", "pypdf"),
        ("vector", "hnsw", "usearch"),
        ("mcp", "sdk", "mcp"),
        ("search", "tantivy", "tantivy"),
        ("search", "regex", "re2"),
        ("watcher", "watchfiles", "watchfiles"),
    ],
)
def test_a_library_counts_where_it_is_installed(tmp_path: Path, group: str, name: str, module: str) -> None:
    assert capabilities(tmp_path)[group][name] is (importlib.util.find_spec(module) is not None)


def test_docx_is_said_to_be_readable_and_the_reader_knows_it(tmp_path: Path) -> None:
    assert capabilities(tmp_path)["docs"]["mammoth"] is True

    with pytest.raises(Exception, match=r"(?i)docx|zip|archive"):
        extract_document("a.docx", b"no document")


def test_full_text_is_said_to_be_there_where_sqlite_can_make_such_a_table(tmp_path: Path) -> None:
    database = sqlite3.connect(":memory:")
    try:
        database.execute("CREATE VIRTUAL TABLE t USING fts5(x)")
        works = True
    except sqlite3.OperationalError:
        works = False
    finally:
        database.close()

    assert capabilities(tmp_path)["search"]["sqliteFts"] is works


def test_git_and_the_languages_are_counted_for_real(tmp_path: Path) -> None:
    found = capabilities(tmp_path)

    said = subprocess.run(["git", "--version"], capture_output=True, text=True, check=True).stdout
    assert found["git"]
    assert re.match(rf"git version {re.escape(found['git'])}\b", said)
    assert found["languages"] >= 15


def test_a_machine_without_git_says_so(tmp_path: Path) -> None:
    script = "import holdfast.search.capabilities as c, pathlib; print(c.capabilities(pathlib.Path())['git'])"
    done = subprocess.run(
        [sys.executable, "-c", script], env={"PATH": str(tmp_path)}, capture_output=True, text=True, check=True
    )

    assert done.stdout.strip() == "None"


def test_the_extension_for_vectors_is_found_where_downloads_put_it(tmp_path: Path) -> None:
    assert vector_extension(tmp_path)["path"] is None
    place = tmp_path / "extensions" / "sqlite-vec" / platform_key()
    place.mkdir(parents=True)
    (place / "vec0.so").write_bytes(b"")

    loadable = hasattr(sqlite3.Connection, "enable_load_extension")
    found = {"enabled": loadable, "path": str(place / "vec0.so"), "available": loadable}
    assert vector_extension(tmp_path) == found
    assert capabilities(tmp_path)["vector"]["sqliteVec"] is loadable


def test_an_extension_for_another_machine_does_not_count(tmp_path: Path) -> None:
    place = tmp_path / "extensions" / "sqlite-vec" / "plan9-pdp11"
    place.mkdir(parents=True)
    (place / "vec0.so").write_bytes(b"")

    assert vector_extension(tmp_path)["path"] is None


def test_the_handshake_loads_no_engine_and_starts_no_program() -> None:
    script = (
        "import sys; from pathlib import Path; from holdfast.search.capabilities import announced_capabilities;"
        "announced_capabilities(Path('/nonexistent'));"
        "print(sorted(set(sys.argv[1:]) & sys.modules.keys()))"
    )
    heavy = ["pypdf", "mcp", "tantivy", "re2", "watchfiles", "tree_sitter", "subprocess", "pydantic"]
    done = subprocess.run([sys.executable, "-c", script, *heavy], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "[]"
    assert announced_capabilities(Path("/nonexistent")).items() <= capabilities(Path("/nonexistent")).items()
