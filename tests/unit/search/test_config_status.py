"""What `config_status` tells, over real files, caches and indexes."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from holdfast.search.answers.config import ConfigStatus
from holdfast.search.capabilities import platform_key
from holdfast.search.config_status import config_status
from holdfast.search.configuration import KEYS
from holdfast.search.repository import find_repository, index_home
from holdfast.settings import Settings

DIGEST = "0" * 64


def status(root: Path, text: str = "", **more: Any) -> dict[str, Any]:
    """The status of a repository in `root/project`, with a cache in `root/cache`."""
    project = root / "project"
    project.mkdir(exist_ok=True)
    if text:
        (project / ".pairofcleats.json").write_text(text)
    payload = config_status(find_repository(project), root / "cache", **more)
    ConfigStatus.model_validate(payload)
    assert ConfigStatus.model_validate(payload).model_dump(by_alias=True) == payload
    return payload


def codes(payload: dict[str, Any]) -> list[str]:
    return [warning["code"] for warning in payload["warnings"]]


def test_a_repository_without_anything_has_defaults_and_nothing_to_warn_about(tmp_path: Path) -> None:
    payload = status(tmp_path)
    root = (tmp_path / "project").resolve()

    assert payload["warnings"] == []
    assert payload["repoPath"] == str(root)
    assert payload["origins"] == {key.path: "default" for key in KEYS}
    assert [entry["exists"] for entry in payload["files"]] == [False, False, False]
    cache = payload["cache"]
    assert (cache["cacheRootExists"], cache["repoCacheExists"], cache["modelAvailable"]) == (False, False, False)
    assert not (tmp_path / "cache").exists()  # looking leaves nothing behind


def test_every_key_is_told_with_its_value_and_where_it_was_said(tmp_path: Path) -> None:
    payload = status(tmp_path, '{"search": {"top": 8}, "mcp": {"toolTimeouts": {"search": 5}}}')

    assert payload["config"]["search"]["top"] == 8
    assert payload["config"]["mcp"]["toolTimeouts"] == {"search": 5}
    assert payload["origins"]["search.top"] == ".pairofcleats.json"
    assert payload["files"][0] == {"file": ".pairofcleats.json", "exists": True, "used": True}
    for key in KEYS:
        value = payload["config"]
        for name in key.path.split("."):
            value = value[name]


def test_what_is_wrong_in_the_configuration_is_listed_and_refuses_nothing(tmp_path: Path) -> None:
    told = status(tmp_path, '{"search": {"top": 0}, "mpc": {}, "quality": "max"}')

    assert codes(told) == ["configuration_invalid_value", "configuration_unknown_key", "configuration_no_effect"]


def test_a_file_that_lost_against_another_is_a_warning(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "holdfast.toml").write_text("[search]\ntop = 2")

    assert codes(status(tmp_path, '{"search": {"top": 8}}')) == ["configuration_overridden"]


def test_what_is_configured_and_not_there_is_a_warning_until_it_is_there(tmp_path: Path) -> None:
    source = f'{{"source": "https://host/x", "sha256": "{DIGEST}"}}'
    text = (
        f'{{"dictionary": {{"sources": {{"en": {source}}}}}, "models": {{"sources": {{"org/mini": {source}}}}}}}'
    )
    assert codes(status(tmp_path, text)) == ["dictionary_missing", "model_missing"]
    for place in ("dictionaries/en.txt", "dictionaries/dictionaries.json", "models/org--mini/model.bin"):
        (tmp_path / "cache" / place).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "cache" / place).write_text("word\n")

    payload = status(tmp_path, text)
    assert codes(payload) == []
    assert payload["cache"]["dictionaries"] == ["en.txt"]
    assert payload["cache"]["modelAvailable"] is True


@pytest.mark.parametrize("backend", ["sqlite", "sqlite-fts", "fts"])
def test_a_backend_without_its_file_is_a_warning_until_it_is_built(tmp_path: Path, backend: str) -> None:
    text = f'{{"search": {{"backend": "{backend}"}}}}'
    assert codes(status(tmp_path, text)) == ["sqlite_missing"]
    portable = index_home(find_repository(tmp_path / "project"), tmp_path / "cache") / "sqlite-fts.db"
    portable.parent.mkdir(parents=True)
    portable.touch()

    payload = status(tmp_path, text)
    assert payload["warnings"] == []
    assert payload["cache"]["sqlite"] == {"path": str(portable), "exists": True}
    assert payload["cache"]["repoCacheExists"] is True


def test_an_extension_that_cannot_be_loaded_is_a_warning(tmp_path: Path) -> None:
    place = tmp_path / "cache" / "extensions" / "sqlite-vec" / platform_key()
    place.mkdir(parents=True)
    (place / "vec0.so").touch()

    payload = status(tmp_path)
    expected = [] if payload["cache"]["vectorExtension"]["enabled"] else ["extension_missing"]
    assert codes(payload) == expected


def test_values_that_the_server_was_started_with_are_the_ones_in_force(tmp_path: Path) -> None:
    text = '{"mcp": {"mode": "sdk", "queueMax": 5}}'
    payload = status(tmp_path, text, server=Settings(mcp_mode="sdk", queue_max=7, max_message_bytes=2048))

    assert payload["config"]["mcp"]["queueMax"] == 7
    assert payload["config"]["mcp"]["maxBufferBytes"] == 2048
    assert payload["origins"]["mcp.mode"] == ".pairofcleats.json"
    assert payload["origins"]["mcp.queueMax"] == payload["origins"]["mcp.maxBufferBytes"] == "server"
    assert [one["message"] for one in payload["warnings"]] == [
        "mcp.queueMax is 5 in .pairofcleats.json; this server runs with 7"
    ]


WITHOUT = """
import json, sys
from pathlib import Path
project, cache, missing, build = sys.argv[1:]
sys.modules.update(dict.fromkeys(missing.split(",")))  # None: as if it were not installed
from holdfast.search.config_status import config_status
from holdfast.search.library import build_index
from holdfast.search.repository import find_repository
if __name__ == "__main__":
    repository = find_repository(project)
    if build:
        build_index(repository, Path(cache))
    print(json.dumps(config_status(repository, Path(cache))))
"""


def status_without(root: Path, missing: str, text: str, *, build: bool = False) -> dict[str, Any]:
    """The status that a Python without these libraries tells."""
    status(root, text)
    script = root / "without.py"
    script.write_text(WITHOUT)
    command = [
        sys.executable,
        str(script),
        *map(str, (root / "project", root / "cache")),
        missing,
        "build" * build,
    ]
    payload: dict[str, Any] = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    return payload


def test_libraries_that_are_missing_and_needed_are_warnings(tmp_path: Path) -> None:
    payload = status_without(tmp_path, "mcp,watchfiles,re2", '{"mcp": {"mode": "sdk"}}')

    assert payload["capabilities"]["mcp"] == {"sdk": False, "native": True, "legacy": True}
    assert codes(payload) == ["mcp_transport_missing", "watcher_backend_missing", "regex_backend_missing"]


def test_what_is_missing_is_no_warning_where_nothing_needs_it(tmp_path: Path) -> None:
    assert codes(status_without(tmp_path, "mcp,pypdf,hnswlib,sqlite_vec", "")) == []


def test_documents_that_cannot_be_read_are_a_warning_where_there_are_some(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "paper.pdf").write_bytes(b"%PDF-1.4\n")

    payload = status_without(tmp_path, "pypdf", "", build=True)
    assert payload["capabilities"]["docs"]["pdfjsDist"] is False
    assert codes(payload) == ["document_extract_missing"]
