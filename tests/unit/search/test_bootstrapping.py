"""Setting a repository up with the real steps: neither what lies in it nor a missing network decides."""

import hashlib
import json
import socket
from pathlib import Path
from typing import Any

import pytest
from tests.unit.search.indexed import Indexed, make_indexed

from holdfast.errors import ToolError
from holdfast.search.answers.bootstrap import BootstrapAnswer
from holdfast.search.bootstrapping import set_up
from holdfast.search.exported import DIRECTORY, export_index
from holdfast.search.library import open_index


@pytest.fixture
def indexed(tmp_path: Path) -> Indexed:
    return make_indexed(tmp_path)


@pytest.fixture
def unreachable(monkeypatch: pytest.MonkeyPatch) -> str:
    """Where pip looks: a port of this machine that nobody listens to."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{one.getsockname()[1]}/simple"
    for name in ("PIP_EXTRA_INDEX_URL", "PIP_FIND_LINKS", "http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_INDEX_URL", url)
    monkeypatch.setenv("PIP_RETRIES", "1")
    return url


def booted(indexed: Indexed, cache: Path, **wanted: Any) -> dict[str, dict[str, Any]]:
    given = {"progress": lambda *_: None, "stop": lambda: False, **wanted}
    payload = set_up(indexed.repository, cache, **given)
    BootstrapAnswer.model_validate(payload)
    return {step["name"]: step for step in payload["steps"]}


def test_an_index_is_built_where_no_word_list_can_be_fetched(
    indexed: Indexed, tmp_path: Path, unreachable: str
) -> None:
    steps = booted(indexed, tmp_path / "other", with_sqlite=True)

    assert steps["dictionaries"]["status"] == "failed"
    assert "pip could not fetch" in steps["dictionaries"]["detail"]
    assert (steps["index"]["status"], steps["sqlite"]["status"]) == ("done", "done")
    with open_index(indexed.repository, tmp_path / "other") as index:
        assert index.status()["files"] == 2


def test_a_repository_does_not_choose_what_is_reached(indexed: Indexed, tmp_path: Path, unreachable: str) -> None:
    (indexed.repository.root / "chosen.txt").write_text("word\n")
    sources = {"en": {"source": "chosen.txt", "sha256": hashlib.sha256(b"word\n").hexdigest()}}
    (indexed.repository.root / ".pairofcleats.json").write_text(json.dumps({"dictionary": {"sources": sources}}))

    steps = booted(indexed, tmp_path / "other", skip_index=True)
    assert steps["dictionaries"]["status"] == "failed"
    assert not (tmp_path / "other" / "dictionaries" / "en.txt").exists()


def test_an_exported_index_is_taken_up_only_where_that_is_asked_for(indexed: Indexed, tmp_path: Path) -> None:
    export_index(indexed.repository, indexed.cache, indexed.repository.root / DIRECTORY)

    unasked = booted(indexed, tmp_path / "one", skip_dicts=True)
    asked = booted(indexed, tmp_path / "two", skip_dicts=True, skip_artifacts=False)
    assert (unasked["artifacts"]["status"], asked["artifacts"]["status"]) == ("skipped", "done")
    assert Indexed(indexed.repository, tmp_path / "one").build.name != indexed.build.name
    assert Indexed(indexed.repository, tmp_path / "two").build.name == indexed.build.name


def test_another_writer_is_waited_for(indexed: Indexed, tmp_path: Path) -> None:
    export_index(indexed.repository, indexed.cache, indexed.repository.root / DIRECTORY)
    other = Indexed(indexed.repository, tmp_path / "other")
    with pytest.raises(ToolError, match="CANCELLED"), other.home.writing():
        # Asked once before each step, and then again and again while it waits.
        booted(other, other.cache, skip_dicts=True, skip_tooling=True, skip_artifacts=False, stop=_after(5))


def _after(times: int) -> Any:
    """A stop that comes when it was asked so many times."""
    left = iter(range(times))
    return lambda: next(left, None) is None
