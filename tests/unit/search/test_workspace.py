"""Workspaces: hostile files first, then what is told of repositories that are well, old, broken and gone."""

import json
import os
import shutil
import subprocess
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.errors import ToolError
from holdfast.search.answers.workspace import WorkspaceStatus
from holdfast.search.configuration.values import Place
from holdfast.search.configuration.workspace_shape import workspace_violations
from holdfast.search.library import build_index
from holdfast.search.repository import find_repository, index_home
from holdfast.search.workspace import (
    WORKSPACE_FILE,
    Workspace,
    find_workspace,
    read_workspace,
    workspace_status,
)


def write(root: Path, document: Any) -> Path:
    path = root / WORKSPACE_FILE
    path.write_text(document if isinstance(document, str) else json.dumps(document))
    return path


def read(root: Path, *repos: dict[str, Any], **more: Any) -> Workspace:
    return read_workspace(write(root, {"schemaVersion": 1, "repos": list(repos), **more}))


def faults(path: Path) -> list[tuple[str, str]]:
    """Place and code of everything that is wrong, without the beginning that all codes have."""
    with pytest.raises(ToolError) as found:
        read_workspace(path)
    assert found.value.code == "INVALID_REQUEST"
    assert found.value.message.startswith(f"{WORKSPACE_FILE}: ")
    assert str(path.parent) not in found.value.message
    violations = found.value.details["violations"]
    return [(one["instancePath"], one["params"]["code"].removeprefix("ERR_WORKSPACE_")) for one in violations]


def project(root: Path, name: str, *, git: bool = False) -> Path:
    place = root / name
    place.mkdir(parents=True)
    (place / "app.py").write_text("def answer():\n    return 42\n")
    if git:
        subprocess.run(["git", "init", "-q", place], check=True)
    return place


def test_a_file_that_is_not_there_is_not_found(tmp_path: Path) -> None:
    with pytest.raises(ToolError) as found:
        read_workspace(tmp_path / WORKSPACE_FILE)

    assert found.value.code == "NOT_FOUND"
    assert str(tmp_path) not in found.value.message
    assert found.value.details["violations"][0]["params"]["code"] == "ERR_WORKSPACE_FILE_NOT_FOUND"


REPO = {"root": "."}
WRONG: list[tuple[Any, list[tuple[str, str]]]] = [
    ("", [("", "PARSE_FAILED")]),
    ("{,}", [("", "PARSE_FAILED")]),
    ("[" * 10_000, [("", "PARSE_FAILED")]),
    ("/" * 300_000, [("", "PARSE_FAILED")]),
    ('{"repos": 1, "repos": 2}', [("", "PARSE_FAILED")]),
    ([], [("", "ROOT_NOT_OBJECT")]),
    ({}, [("/schemaVersion", "SCHEMA_VERSION"), ("/repos", "REPOS_EMPTY")]),
    ({"schemaVersion": True, "repos": [REPO]}, [("/schemaVersion", "SCHEMA_VERSION")]),
    ({"schemaVersion": "1", "repos": [REPO]}, [("/schemaVersion", "SCHEMA_VERSION")]),
    ({"schemaVersion": 2, "repos": []}, [("/schemaVersion", "SCHEMA_VERSION"), ("/repos", "REPOS_EMPTY")]),
    ({"schemaVersion": 1, "repos": {}}, [("/repos", "INVALID_SHAPE")]),
    ({"schemaVersion": 1, "repos": [REPO] * 257}, [("/repos", "INVALID_SHAPE")]),
    ({"schemaVersion": 1, "repos": ["a", 1]}, [("/repos/0", "INVALID_SHAPE"), ("/repos/1", "INVALID_SHAPE")]),
    ({"schemaVersion": 1, "repos": [{}]}, [("/repos/0", "INVALID_SHAPE")]),
    ({"schemaVersion": 1, "repos": [{"root": ""}]}, [("/repos/0/root", "INVALID_SHAPE")]),
    ({"schemaVersion": 1, "repos": [{"root": "a\0b"}]}, [("/repos/0/root", "INVALID_SHAPE")]),
    ({"schemaVersion": 1, "repos": [{**REPO, "alias": "a/b"}]}, [("/repos/0/alias", "INVALID_SHAPE")]),
    ({"schemaVersion": 1, "repos": [{**REPO, "enabled": 1}]}, [("/repos/0/enabled", "INVALID_SHAPE")]),
    ({"schemaVersion": 1, "repos": [{**REPO, "priority": 1.5}]}, [("/repos/0/priority", "INVALID_SHAPE")]),
    ({"schemaVersion": 1, "repos": [{**REPO, "priority": True}]}, [("/repos/0/priority", "INVALID_SHAPE")]),
    ({"schemaVersion": 1, "repos": [{**REPO, "tags": "a"}]}, [("/repos/0/tags", "INVALID_SHAPE")]),
    ({"schemaVersion": 1, "repos": [{**REPO, "tags": [""]}]}, [("/repos/0/tags", "INVALID_SHAPE")]),
    ({"schemaVersion": 1, "repos": [{**REPO, "path": "x"}]}, [("/repos/0", "UNKNOWN_KEY")]),
    ({"schemaVersion": 1, "repos": [REPO], "name": " "}, [("/name", "INVALID_SHAPE")]),
    ({"schemaVersion": 1, "repos": [REPO], "defaults": []}, [("/defaults", "INVALID_SHAPE")]),
    ({"schemaVersion": 1, "repos": [REPO], "defaults": {"root": "x"}}, [("/defaults", "UNKNOWN_KEY")]),
    ({"schemaVersion": 1, "repos": [REPO], "cacheRoot": "/tmp"}, [("/cacheRoot", "UNKNOWN_KEY")]),
    ({"schemaVersion": 1, "repos": [REPO, {"root": "./"}]}, [("/repos/1/root", "DUPLICATE_REPO_ROOT")]),
    ({"schemaVersion": 1, "repos": [{"root": "x"}, {"root": "./x"}]}, [("/repos/1/root", "DUPLICATE_REPO_ROOT")]),
]


@pytest.mark.parametrize(("document", "expected"), WRONG, ids=range(len(WRONG)))
def test_what_is_wrong_is_told_with_place_and_code(
    tmp_path: Path, document: Any, expected: list[tuple[str, str]]
) -> None:
    assert faults(write(tmp_path, document)) == expected


JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["schemaVersion", "name", "defaults", "repos", "root", "alias", "enabled", "priority", "tags"]
            ),
            inner,
            max_size=5,
        )
    ),
    max_leaves=15,
)


@given(JSON)
def test_any_document_is_in_order_or_has_violations(document: Any) -> None:
    for item in workspace_violations(document, Place("w")):
        assert item["params"]["code"].startswith("ERR_WORKSPACE_")
        assert item["message"]


@pytest.mark.parametrize("kind", ["fifo", "directory", "binary"])
def test_something_that_is_no_text_is_refused_at_once(tmp_path: Path, kind: str) -> None:
    path = tmp_path / WORKSPACE_FILE
    if kind == "fifo":
        os.mkfifo(path)
    elif kind == "directory":
        path.mkdir()
    else:
        path.write_bytes(b"\xff\0" * 100)
    found: list[list[tuple[str, str]]] = []
    asking = threading.Thread(target=lambda: found.append(faults(path)), daemon=True)
    asking.start()
    asking.join(10)

    assert found == [[("", "PARSE_FAILED")]]


def test_two_directories_of_one_repository_and_one_alias_for_two_are_mistakes(tmp_path: Path) -> None:
    for name in ("a/sub", "b"):
        project(tmp_path, name)
    subprocess.run(["git", "init", "-q", tmp_path / "a"], check=True)
    repos = [{"root": "a", "alias": "One"}, {"root": "a/sub"}, {"root": "b", "alias": "one"}]

    assert faults(write(tmp_path, {"schemaVersion": 1, "repos": repos})) == [
        ("/repos/1/root", "DUPLICATE_REPO_ID"),
        ("/repos/2/alias", "DUPLICATE_ALIAS"),
    ]


def test_a_link_to_a_repository_is_that_repository(tmp_path: Path) -> None:
    project(tmp_path, "a")
    (tmp_path / "link").symlink_to("a")

    path = write(tmp_path, {"schemaVersion": 1, "repos": [{"root": "a"}, {"root": "link"}]})
    assert faults(path) == [("/repos/1/root", "DUPLICATE_REPO_ROOT")]


def test_repositories_have_what_they_say_or_the_defaults_and_the_first_are_the_most_important(
    tmp_path: Path,
) -> None:
    for name in ("a", "b", "c"):
        project(tmp_path, name)
    workspace = read_workspace(
        write(
            tmp_path,
            """{ // ours
              "schemaVersion": 1, "name": "all of it",
              "defaults": {"enabled": false, "tags": ["x", "x"]},
              "repos": [{"root": "a"}, {"root": "b", "alias": "B", "enabled": true, "priority": 3, "tags": []},
                        {"root": "%s", "priority": 3},],
            }"""
            % (tmp_path / "c"),
        )
    )

    told = [(one.root.name, one.alias, one.enabled, one.priority, one.tags) for one in workspace.repos]
    assert told == [("b", "B", True, 3, ()), ("c", None, False, 3, ("x",)), ("a", None, False, 0, ("x",))]
    assert workspace.name == "all of it"


def test_the_file_is_the_one_that_is_named_or_served_or_at_the_root(tmp_path: Path) -> None:
    for name in ("root", "named", "served"):
        write(project(tmp_path, name), {"schemaVersion": 1, "name": name, "repos": [{"root": "."}]})
    root, served = tmp_path / "root", tmp_path / "served" / WORKSPACE_FILE

    assert find_workspace(None, None, root).name == "root"
    assert find_workspace(None, served, root).name == "served"
    for named in (f"../named/{WORKSPACE_FILE}", "../named", str(tmp_path / "named" / WORKSPACE_FILE)):
        assert find_workspace(named, served, root).name == "named"
    for named in ("gone", "a\0b", "x" * 5000):
        with pytest.raises(ToolError, match="NOT_FOUND: there is no workspace file"):
            find_workspace(named, served, root)


def test_the_ids_depend_on_what_is_said_and_not_on_how(tmp_path: Path) -> None:
    for name in ("a", "b"):
        project(tmp_path, name)
    first = read(tmp_path, {"root": "a"}, {"root": "b", "priority": 1})
    same = read(tmp_path, {"priority": 1, "root": "./b/"}, {"root": "b/../a", "enabled": True})
    other = read(tmp_path, {"root": "a"}, {"root": "b"})

    assert (same.repo_set_id, same.manifest_hash) == (first.repo_set_id, first.manifest_hash)
    assert other.repo_set_id == first.repo_set_id
    assert other.manifest_hash != first.manifest_hash
    assert read(tmp_path, {"root": "a"}).repo_set_id != first.repo_set_id


# --- the state of the repositories ----------------------------------------------------------------------------


def told(workspace: Workspace, cache: Path) -> dict[str, Any]:
    payload = workspace_status(workspace, cache)
    assert WorkspaceStatus.model_validate(payload).model_dump(by_alias=True) == payload
    return payload


def test_one_repository_in_trouble_harms_no_other(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    for name in ("well", "new", "gone", "damaged", "misconfigured"):
        project(tmp_path, name)
    for name in ("well", "misconfigured"):
        build_index(find_repository(tmp_path / name), cache)
    workspace = read(tmp_path, *({"root": name} for name in ("well", "new", "gone", "damaged", "misconfigured")))
    shutil.rmtree(tmp_path / "gone")
    damaged = index_home(find_repository(tmp_path / "damaged"), cache)
    shutil.copytree(index_home(find_repository(tmp_path / "well"), cache), damaged)
    (store,) = damaged.glob("builds/*/store.db")
    store.write_bytes(b"no database" * 1000)
    (tmp_path / "misconfigured" / "holdfast.toml").write_text("[search]\ntop = 0")

    payload = told(workspace, cache)
    entries = {Path(entry["root"]).name: entry for entry in payload["repos"]}
    problems = {name: entry["problem"] and entry["problem"]["code"] for name, entry in entries.items()}
    assert problems == {
        "well": None, "new": "NO_INDEX", "gone": "NOT_FOUND", "damaged": "NO_INDEX",
        "misconfigured": "INVALID_REQUEST",
    }  # fmt: skip
    assert [name for name, entry in entries.items() if entry["index"]["exists"]] == ["well", "misconfigured"]
    assert not any(str(tmp_path) in entry["problem"]["message"] for entry in entries.values() if entry["problem"])
    assert (payload["totals"]["indexed"], payload["totals"]["problems"]) == (2, 4)
    assert not index_home(find_repository(tmp_path / "new"), cache).exists()  # looking leaves nothing behind


def test_an_index_is_told_with_its_state_and_what_changed_since(tmp_path: Path) -> None:
    place = project(tmp_path, "a", git=True)
    build_index(find_repository(place), tmp_path / "cache")
    workspace = read(tmp_path, {"root": "a", "alias": "main"}, name="mine")
    fresh = told(workspace, tmp_path / "cache")
    (place / "app.py").write_text("def other():\n    return 'something longer'\n")

    (entry,) = fresh["repos"]
    assert (fresh["name"], entry["alias"]) == ("mine", "main")
    assert entry["index"]["changedFiles"] == 0
    assert entry["index"]["generation"] == 1
    assert entry["index"]["chunks"]["code"] == fresh["totals"]["chunks"] > 0
    assert entry["index"]["bytes"] == fresh["totals"]["bytes"] > 0
    assert told(workspace, tmp_path / "cache")["repos"][0]["index"]["changedFiles"] >= 1


def test_the_look_ends_when_the_caller_stops(tmp_path: Path) -> None:
    project(tmp_path, "a")
    workspace = read(tmp_path, {"root": "a"})

    with pytest.raises(ToolError) as found:
        workspace_status(workspace, tmp_path / "cache", stop=lambda: True)
    assert found.value.code == "CANCELLED"


def test_a_directory_that_is_not_there_is_told_in_its_entry_and_harms_no_other(tmp_path: Path) -> None:
    (tmp_path / "here").mkdir()
    (tmp_path / "file").touch()
    places = ["here", "gone", "file", "x" * 5000]
    status = workspace_status(read(tmp_path, *({"root": place} for place in places)), tmp_path / "cache")

    problems = [
        entry["problem"] and (entry["problem"]["code"], entry["problem"]["message"]) for entry in status["repos"]
    ]
    assert problems[0][0] == "NO_INDEX"
    assert problems[1:3] == [
        ("NOT_FOUND", "the directory gone does not exist"),
        ("NOT_FOUND", "file is not a directory"),
    ]
    assert (problems[3][0], len(problems[3][1]) < 100) == ("NOT_FOUND", True)
    assert status["totals"]["problems"] == 4
