"""What people call now and then, through the server: looks at an index, its removal, and setting everything up."""

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from tests.search.sample import write_sample
from tests.search.serving import SearchServer

from holdfast.search.library import build_index, open_index
from holdfast.search.repository import Repository, find_repository, index_home

Serve = Callable[..., SearchServer]


@pytest.fixture(scope="module")
def reading(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SearchServer]:
    """One server with an index, for all tests that only look."""
    place = tmp_path_factory.mktemp("reading")
    repository = find_repository(write_sample(place / "repo"))
    build_index(repository, place / "cache")
    with SearchServer(repository.root, place / "cache", place / "server") as server:
        yield server
        server.assert_nothing_left()


@pytest.fixture
def serve(repository: Repository, cache: Path, tmp_path: Path) -> Iterator[Serve]:
    with ExitStack() as stack:

        def start(*words: str) -> SearchServer:
            server = SearchServer(repository.root, cache, tmp_path / "server", *words)
            return stack.enter_context(server)

        yield start


def test_lines_of_a_file_are_shown_and_nothing_outside_of_the_repository(reading: SearchServer) -> None:
    shown = reading.done("show_file", {"path": "src/budget.py", "startLine": 12, "endLine": 13})

    assert "class RetryBudget" in json.dumps(shown)
    assert reading.refused("show_file", {"path": "../server/stderr"})["code"] in {"FORBIDDEN", "NOT_FOUND"}
    assert reading.refused("show_file", {"path": "missing.py"})["code"] == "NOT_FOUND"


def test_the_looks_at_an_index_agree_about_it(reading: SearchServer) -> None:
    status = reading.done("index_status")
    report = reading.done("report_artifacts")
    checkup = reading.done("check_status")

    found = reading.search("retry budget")
    assert found["index"]["build"] in json.dumps(status)
    assert found["index"]["build"] in json.dumps(report)
    assert [finding for finding in checkup["findings"] if finding["area"] == "index"] == []


@pytest.mark.requirement("OURS-3-workspace-status")
def test_a_workspace_tells_of_all_its_repositories(reading: SearchServer, tmp_path: Path) -> None:
    other = write_sample(tmp_path / "other")
    root = str(find_repository(reading.folder.parent / "repo").root)
    file = tmp_path / "all.jsonc"
    repos = [{"root": root, "alias": "one"}, {"root": str(other), "alias": "two"}]
    file.write_text(f"// both\n{json.dumps({'schemaVersion': 1, 'repos': repos})}")
    told = reading.done("workspace_status", {"workspacePath": str(file)})

    assert {"one", "two"} <= {repo["alias"] for repo in told["repos"]}
    assert reading.refused("workspace_status", {"workspacePath": str(tmp_path / "none")})["code"] == "NOT_FOUND"


def test_an_index_that_this_server_has_open_can_be_removed_by_it(
    serve: Serve, repository: Repository, cache: Path
) -> None:
    build_index(repository, cache)
    server = serve()
    assert server.search("retry budget")["code"]
    removed = server.done("clean_artifacts")

    assert [entry["id"] for entry in removed["removals"]] == [index_home(repository, cache).name]
    assert not index_home(repository, cache).exists()
    assert server.refused("search", {"query": "retry budget"})["code"] == "NO_INDEX"


def test_an_index_that_another_process_reads_is_not_removed(
    serve: Serve, repository: Repository, cache: Path
) -> None:
    build_index(repository, cache)
    server = serve()
    with open_index(repository, cache):
        told = server.refused("clean_artifacts")
        assert (told["code"], told["message"].partition(":")[2]) == ("QUEUE_OVERLOADED", " it is being read")
        assert server.search("retry budget")["code"]

    assert server.done("clean_artifacts")["removals"]


def test_a_broken_configuration_is_told_by_every_call_until_it_is_mended(
    serve: Serve, repository: Repository, cache: Path
) -> None:
    build_index(repository, cache)
    file = repository.root / "holdfast.toml"
    file.write_text('[search]\ntop = "many"\nnonsense = 1')
    server = serve()
    for tool, arguments in (("search", {"query": "retry"}), ("index_status", {}), ("build_index", {})):
        assert server.refused(tool, arguments)["code"] == "INVALID_REQUEST"

    file.write_text("[search]\ntop = 1")
    assert len(server.search("budget")["code"]) == 1
    file.unlink()
    assert len(server.search("budget")["code"]) > 1


@pytest.mark.parametrize(
    ("text", "code", "status"),
    [
        ('{"quality": "max"}', "configuration_no_effect", "ok"),
        ('{"cache": {"root": "/nowhere/x"}}', "configuration_refused", "warning"),
        ('{"serach": 1}', "configuration_unknown_key", "warning"),
        ("{ nothing of this is JSON", "configuration_unreadable", "warning"),
    ],
)
def test_a_configuration_for_another_program_refuses_nothing_and_is_a_finding(
    serve: Serve, repository: Repository, cache: Path, text: str, code: str, status: str
) -> None:
    (repository.root / ".pairofcleats.json").write_text(text)
    server = serve()

    server.done("build_index")
    assert server.search("budget")["code"]
    assert server.done("show_file", {"path": "src/budget.py"})["text"]
    checked = server.done("check_status")
    (found,) = [one for one in checked["findings"] if one["code"].startswith("configuration_")]
    assert (found["code"], found["severity"]) == (code, "info" if status == "ok" else status)
    assert code in [one["code"] for one in server.done("config_status")["warnings"]]
    assert Path(server.done("index_status")["cacheRoot"]) == cache


def test_what_the_configuration_counts_on_and_lacks_is_found_by_the_check(
    serve: Serve, repository: Repository, cache: Path
) -> None:
    sources = {"de": {"source": "words/de.txt", "sha256": "0" * 64}}
    (repository.root / ".pairofcleats.json").write_text(json.dumps({"dictionary": {"sources": sources}}))
    build_index(repository, cache)
    server = serve()
    warned = [warning["message"] for warning in server.done("config_status")["warnings"]]
    findings = server.done("check_status")["findings"]

    assert any("the dictionary de" in message for message in warned)
    found = [(one["message"], one["severity"]) for one in findings if one["area"] == "configuration"]
    assert found == [(message, "warning") for message in warned]


def test_a_repository_is_set_up_without_a_network(serve: Serve, repository: Repository) -> None:
    server = serve()
    arguments = {"skipDicts": True, "withSqlite": True}
    number = server.start_call("bootstrap", arguments, {"progressToken": "t"})
    done = server.answer_of(number, 40)["result"]["structuredContent"]

    states = {step["name"]: step["status"] for step in done["steps"]}
    assert states == {"install": "skipped", "dictionaries": "skipped", "tooling": "done", "artifacts": "skipped",
                      "index": "done", "sqlite": "done"}  # fmt: skip
    assert server.search("retry budget", backend="sqlite-fts")["code"] == server.search("retry budget")["code"]
    told = server.progress_of("t")
    assert [notice["progress"] for notice in told] == sorted({notice["progress"] for notice in told})
    assert all(notice["message"].strip() for notice in told)


def test_what_nobody_uses_is_removed_from_the_cache_and_the_rest_serves_on(
    serve: Serve, repository: Repository, cache: Path, tmp_path: Path
) -> None:
    build_index(repository, cache)
    gone = find_repository(write_sample(tmp_path / "gone"))
    build_index(gone, cache)
    (tmp_path / "gone").rename(tmp_path / "elsewhere")
    server = serve()
    assert server.search("retry budget")["code"]
    collected = server.done("cache_gc")

    assert [removal["reason"] for removal in collected["removals"]] == ["orphan"]
    assert server.search("retry budget")["code"]
