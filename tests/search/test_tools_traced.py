"""What the tools may do is what they do: every one of them runs under a tracer, in a hostile repository.

A tool that starts a program, loads code, connects, or writes outside of the cache and the state directory is not
announced as read-only.
"""

import json
import shutil
from pathlib import Path

import orjson
import pytest
from tests.mcp.search_place import SearchPlace, make_place
from tests.search.sample import git
from tests.search.tiny_model import write_model
from tests.search.traced_calls import CALLS
from tests.tracer import Grounds, strace_refusal, traced

from holdfast.search.repository import find_repository
from holdfast.search.tools import server
from holdfast.search.vectors.making import embed_index

# All that a tool may do beside reading, loading our own libraries, and writing into our cache and state. Git is
# started with everything switched off by which a repository could name a program.
NOTHING: frozenset[str] = frozenset()
GIT = frozenset({"exec git"})
PARSERS = GIT | {"exec python"}
NAMED = frozenset({"write named"})
FETCHES = frozenset({"exec python", "connect"})
MAY: dict[str, frozenset[str]] = {
    **dict.fromkeys(CALLS, NOTHING),
    **dict.fromkeys(("show_file", "index_status", "config_status", "check_status"), GIT),
    **dict.fromkeys(("index_build", "bootstrap"), PARSERS),
    "build_index": PARSERS | {"exec ruff"},
    **dict.fromkeys(("build_sqlite_index", "triage_context_pack"), NAMED),
    **dict.fromkeys(("download_models", "download_dictionaries", "download_extensions"), FETCHES),
    "verify_extensions": frozenset({"load"}),
}
FOREIGN = """
import ctypes, os, socket, subprocess, sys
from tests.tracer import mark, record_here
import json
acts = record_here()
mark("hostile")
subprocess.run(["/bin/true"])
open(sys.argv[1] + "/written", "w").close()
os.mkdir(sys.argv[1] + "/made")
with socket.socket() as one:
    one.connect_ex(("127.0.0.1", 9))
ctypes.CDLL(sys.argv[1] + "/lib.so")
mark("")
print(json.dumps({"acts": acts}))
"""


def hostile_place(directory: Path) -> SearchPlace:
    """A repository that tries to have its programs run, each of which would leave a file behind."""
    place = make_place(directory)
    place.add_inputs()
    model = str(write_model(directory / "model"))
    embed_index(
        find_repository(place.repo), place.cache, model=model, progress=lambda *_: None, stop=lambda: False
    )
    for name in ("named", "home", "tmp"):
        (directory / name).mkdir()
    mine = place.repo / "mine.sh"
    mine.write_text(f"#!/bin/sh\ntouch {directory}/executed\ncat\n")
    mine.chmod(0o755)
    for key in ("core.fsmonitor", "filter.mine.clean", "diff.external", "core.sshCommand", "core.pager"):
        git(place.repo, "config", key, str(mine))
    (place.repo / ".gitattributes").write_text("* filter=mine\n")
    programs = place.repo / "node_modules" / ".bin"
    programs.mkdir(parents=True)
    for name in ("git", "eslint", "ruff", "python3"):
        (programs / name).symlink_to(mine)
    for name in ("orjson", "click", "pydantic", "sitecustomize"):
        (place.repo / f"{name}.py").write_text(f"open({str(directory / 'executed')!r}, 'w')\n")
    sources = {"configured": {"source": "pypi:no-such-package==1.0", "sha256": "0" * 64}}
    configuration = {"models": {"sources": sources}, "dictionary": {"sources": sources}}
    (place.repo / ".pairofcleats.json").write_text(json.dumps(configuration))
    return place


@pytest.mark.timeout(200)
def test_no_tool_does_more_than_is_listed_and_read_only_ones_only_read(tmp_path: Path) -> None:
    place = hostile_place(tmp_path)
    grounds = Grounds((place.cache, tmp_path / "state", tmp_path / "tmp"))
    environment = place.environment() | {
        "HOME": str(tmp_path / "home"), "TMPDIR": str(tmp_path / "tmp"),
        "PYTHONDONTWRITEBYTECODE": "1",
    }  # fmt: skip
    acts, printed = traced(tmp_path, environment, "-m", "tests.search.traced_calls", str(tmp_path))
    found: dict[str, set[str]] = {tool: set() for tool in CALLS}
    for act in acts:
        found[act[0]].add(grounds.describe(act).replace(f"write {tmp_path}/named/", "write named/"))

    beyond = {
        (tool, one) for tool, seen in found.items() for one in seen if one and not one.startswith(tuple(MAY[tool]))
    }
    assert beyond == set()
    assert not (tmp_path / "executed").exists()
    assert found["build_index"] >= PARSERS
    assert [one.partition(":")[0] for one in printed["answers"]["build_index"]] == [
        "ok", "FORBIDDEN", "ok",
    ]  # fmt: skip
    for tool, answers in printed["answers"].items():
        assert answers[0] == "ok", (tool, answers)
    assert all(one.startswith("FORBIDDEN") for one in printed["answers"]["verify_extensions"][1:])


def test_what_does_more_than_read_is_not_announced_as_read_only() -> None:
    hints = {tool["name"]: tool["annotations"]["readOnlyHint"] for tool in server.tool_definitions()}
    assert hints.keys() == MAY.keys()
    assert {tool for tool, is_read_only in hints.items() if is_read_only and not MAY[tool] <= GIT} == set()


def test_the_tracer_notices_programs_connections_writes_and_native_code(tmp_path: Path) -> None:
    [library] = Path(orjson.__file__).parent.glob("orjson*.so")
    shutil.copy(library, tmp_path / "lib.so")
    environment = {"PYTHONPATH": str(Path(__file__).parents[2])}
    acts, printed = traced(tmp_path, environment, "-c", FOREIGN, str(tmp_path))
    described = sorted(Grounds(()).describe(act).replace(str(tmp_path), "") for act in printed["acts"])
    assert [one.split(" ")[0] + " " + one.split(" ")[1].strip("'(,") for one in described] == [
        "connect 127.0.0.1", "exec true", "load /lib.so", "write /made", "write /written",
    ]  # fmt: skip
    if not strace_refusal():
        seen = {Grounds(()).describe(act).replace(str(tmp_path), "") for act in acts[len(printed["acts"]) :]}
        assert {"exec true", "load /lib.so", "write /made", "write /written"} <= seen
        assert any("127.0.0.1" in one for one in seen)
