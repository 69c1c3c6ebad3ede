"""Whether the extension works: as an answer where it is not there, with a SQLite that may load it where it is."""

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.unit.search.download_server import never, quiet

from holdfast.errors import ToolError
from holdfast.search.answers.downloads import ExtensionReport
from holdfast.search.downloads import download_extensions, verify_extensions
from holdfast.search.downloads import verify as module
from holdfast.search.downloads.platforms import machine

SOURCE = Path(module.__file__).parents[3]
CHECK = """
import json, sys
from pathlib import Path
from holdfast.search.downloads.verify import _loading_sqlite, verify_extensions
_loading_sqlite()
asked = json.loads(sys.argv[2])
for options in asked:
    options.update({"path": Path(options["path"])} if "path" in options else {})
print(json.dumps([verify_extensions(Path(sys.argv[1]), **options) for options in asked]))
"""


def verified(cache: Path, **options: Any) -> dict[str, Any]:
    payload = verify_extensions(cache, **options)
    ExtensionReport.model_validate(payload)
    return payload


def verified_elsewhere(cache: Path, *options: dict[str, Any]) -> list[dict[str, Any]]:
    """With the first Python whose SQLite may load extensions; those of many builds may not."""
    said = b""
    for program in (sys.executable, "/usr/bin/python3"):
        if not os.path.exists(program):
            continue
        command = [program, "-c", CHECK, str(cache), json.dumps(options)]
        environment = os.environ | {"PYTHONPATH": str(SOURCE), "PYTHONDONTWRITEBYTECODE": "1"}
        done = subprocess.run(command, check=False, timeout=30, capture_output=True, env=environment)
        if done.returncode == 0:
            payloads: list[dict[str, Any]] = json.loads(done.stdout)
            for payload in payloads:
                ExtensionReport.model_validate(payload)
            return payloads
        said = done.stderr
    pytest.skip(f"no Python here may load extensions into SQLite: {said.decode().splitlines()[-1:]}")


def put(cache: Path, content: bytes) -> Path:
    source = cache / "vec0.bin"
    source.write_bytes(content)
    payload = download_extensions(cache, url=str(source), force=True, progress=quiet, stop=never)
    return Path(payload["extensionPath"])


def test_what_is_not_installed_is_an_answer(tmp_path: Path) -> None:
    payload = verified(tmp_path, platform="linux", arch="x64")
    assert payload["exists"] is False
    assert payload["path"] == str(tmp_path / "extensions" / "sqlite-vec" / "linux-x64" / "vec0.so")
    assert payload["load"] == {
        "attempted": False,
        "ok": False,
        "reason": "not installed; call download_extensions",
    }
    assert payload["smoke"] == {"attempted": False, "ok": False, "reason": None}
    assert os.listdir(tmp_path) == []


def test_the_answer_says_what_was_verified(tmp_path: Path) -> None:
    payload = verified(
        tmp_path, table="t", options=" chunk_size = 8 ,x", ann_mode="js", platform="macos", arch="arm64"
    )
    assert payload["config"] == {
        "annMode": "js", "enabled": False, "provider": "sqlite-vec", "module": "vec0", "table": "t",
        "column": "embedding", "encoding": "float32", "options": "chunk_size=8, x", "platform": "darwin",
        "arch": "arm64", "platformKey": "darwin-arm64",
    }  # fmt: skip


@pytest.mark.parametrize(
    "options",
    [
        {"table": 'x"; DROP TABLE y; --'}, {"table": "a b"}, {"table": "1a"}, {"table": "ä"},
        {"module": "vec0(x)"}, {"column": "a, b"}, {"column": "x" * 65}, {"options": "a='b'"},
        {"options": "a) ; b"}, {"options": "a\nb"}, {"encoding": "int8"}, {"ann_mode": "always"},
        {"provider": "other"}, {"platform": "x"}, {"path": Path("a\0")},
    ],
)  # fmt: skip
def test_nothing_but_names_gets_into_the_statements(tmp_path: Path, options: dict[str, Any]) -> None:
    with pytest.raises(ToolError) as caught:
        verify_extensions(tmp_path, **options)
    assert caught.value.code == "INVALID_REQUEST"


def test_all_that_is_wrong_is_told_at_once(tmp_path: Path) -> None:
    with pytest.raises(ToolError) as caught:
        verify_extensions(tmp_path, module="a b", column="c d", encoding="x", ann_mode="y", options="(")
    assert caught.value.details["invalid"] == ["module", "column", "encoding", "annMode", "options"]


def test_reasons_not_to_load_it_are_told(tmp_path: Path) -> None:
    path = put(tmp_path, b"\x7fELF")
    other = "arm64" if machine().arch == "x64" else "x64"
    assert verified(tmp_path, load=False)["load"]["reason"] == "not asked for"
    assert verified(tmp_path, ann_mode="js")["load"]["reason"] == "annMode js uses no extension"
    assert "which this machine is not" in verified(tmp_path, path=path, arch=other)["load"]["reason"]
    path.write_bytes(b"something else")
    assert "changed since" in verified(tmp_path)["load"]["reason"]


def test_native_code_of_an_unknown_digest_is_not_loaded(tmp_path: Path) -> None:
    installed = put(tmp_path, b"\x7fELF of a download")
    stranger, copy = tmp_path / "stranger.so", tmp_path / "copy.so"
    stranger.write_bytes(b"\x7fELF of a stranger")
    copy.write_bytes(installed.read_bytes())
    digest = hashlib.sha256(stranger.read_bytes()).hexdigest()
    for refused in (
        verified(tmp_path, path=stranger),
        verified(tmp_path, path=stranger, target=tmp_path),
        verified(tmp_path, path=copy, sha256=digest),
    ):
        assert (refused["exists"], refused["load"]["attempted"]) == (True, False)
        assert "SHA-256" in refused["load"]["reason"]
    loaded = verified_elsewhere(tmp_path, {"path": str(copy)}, {"path": str(stranger), "sha256": digest})
    assert [one["load"]["attempted"] for one in loaded] == [True, True]


def test_a_library_in_the_place_of_a_download_is_not_loaded(tmp_path: Path) -> None:
    (tmp_path / "extensions").mkdir()
    place = Path(verified(tmp_path)["path"])
    place.parent.mkdir(parents=True)
    place.write_bytes(b"\x7fELF that somebody put there")
    assert verified(tmp_path)["load"] == {
        "attempted": False, "ok": False,
        "reason": "its SHA-256 is not that of a download; fetch it with download_extensions",
    }  # fmt: skip


def test_what_cannot_be_read_is_told_as_such(tmp_path: Path) -> None:
    with pytest.raises(ToolError) as caught:
        verify_extensions(tmp_path, path=Path("/proc/self/mem"))
    assert (caught.value.code, "mem cannot be read: " in caught.value.message) == ("INVALID_REQUEST", True)
    assert "room" not in str(caught.value.hint)


def test_a_sqlite_that_may_not_load_extensions_is_a_missing_capability(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(tmp_path, b"\x7fELF")
    monkeypatch.setattr(module, "_SQLITES", ("json", "holdfast.no_such_module"))
    with pytest.raises(ToolError) as caught:
        verify_extensions(tmp_path)
    assert (caught.value.code, "pip install" in str(caught.value.hint)) == ("CAPABILITY_MISSING", True)


def test_a_file_that_is_no_library_does_not_load(tmp_path: Path) -> None:
    put(tmp_path, b"\x7fELF, and nothing behind it")
    [payload] = verified_elsewhere(tmp_path, {})
    assert (payload["exists"], payload["load"]["attempted"], payload["load"]["ok"]) == (True, True, False)
    assert payload["load"]["reason"]
    assert payload["smoke"]["attempted"] is False


def test_the_real_extension_is_the_pinned_one_and_finds_the_nearest_vector(tmp_path: Path) -> None:
    try:
        payload = download_extensions(tmp_path, progress=quiet, stop=never)
    except ToolError as error:
        if error.code in ("CAPABILITY_MISSING", "NOT_FOUND"):
            pytest.skip(f"pip reaches no index with it: {error.details}")
        raise
    assert payload["verified"] is True
    assert download_extensions(tmp_path, update=True, progress=quiet, stop=never)["status"] == "unchanged"
    path = Path(payload["extensionPath"])
    download_extensions(tmp_path, url=str(path), out=tmp_path / "renamed.so", progress=quiet, stop=never)
    plain, spoken, renamed, odd = verified_elsewhere(
        tmp_path, {}, {"encoding": "json", "options": "chunk_size=8", "table": "select"},
        {"path": str(tmp_path / "renamed.so")}, {"module": "no_such_module"},
    )  # fmt: skip
    assert plain["load"] == plain["smoke"] == {"attempted": True, "ok": True, "reason": None}
    assert spoken["smoke"]["ok"]
    assert renamed["smoke"]["ok"]
    assert (odd["smoke"]["ok"], odd["smoke"]["reason"]) == (False, "no such module: no_such_module")
