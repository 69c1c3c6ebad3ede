"""HTTP over several repositories: those that are served, all of them, those of the workspace, and no other."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from tests.api.running_server import Place, RunningServer, running_server, write_place

pytestmark = pytest.mark.xdist_group("api-lives")


@pytest.fixture(scope="module")
def several(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[RunningServer, Place]]:
    root = tmp_path_factory.mktemp("several")
    place = write_place(root / "served")
    repos = [{"root": "project"}, {"root": "bare", "alias": "empty"}, {"root": "gone"}]
    (root / "served" / "shop.jsonc").write_text(json.dumps({"schemaVersion": 1, "repos": repos}))
    state = root / "state"
    state.mkdir()
    with running_server(place, state, "--workspace", str(root / "served" / "shop.jsonc")) as server:
        yield server, place


def search(server: RunningServer, **arguments: Any) -> Any:
    return server.post("/search", {"query": "budget", **arguments})


def problems(answer: Any) -> dict[str, str | None]:
    return {
        one["repo"]: one["problem"] and one["problem"]["code"] for one in answer.json["result"]["search"]["repos"]
    }


def test_everything_that_is_served_is_searched_at_once_without_a_path_of_the_machine(
    several: tuple[RunningServer, Place],
) -> None:
    server, place = several
    answer = search(server, repo="*")

    assert answer.status == 200
    assert {hit["repo"] for hit in answer.json["result"]["search"]["code"]} == {"project"}
    assert problems(answer) == {
        "project": None, "empty": "NO_INDEX", "broken": "INVALID_REQUEST", "gone": "NOT_FOUND",
    }  # fmt: skip
    assert str(place.project.parent).encode() not in answer.body
    by_url = server.get("/search?q=budget&repo=project&repo=empty")
    assert (by_url.status, by_url.json["repo"], problems(by_url)) == (
        200, "project,empty", {"project": None, "empty": "NO_INDEX"},
    )  # fmt: skip


def test_the_workspace_that_is_served_may_be_named_and_no_other(several: tuple[RunningServer, Place]) -> None:
    server, place = several
    named = search(server, workspacePath="shop.jsonc")
    chosen = search(server, workspacePath=str(place.project.parent / "shop.jsonc"), repo=["project"])
    other = search(server, workspacePath="/etc/shop.jsonc")

    assert (named.status, named.json["repo"]) == (200, "shop.jsonc")
    assert problems(named) == {"project": None, "empty": "NO_INDEX", "gone": "NOT_FOUND"}
    assert problems(chosen) == {"project": None}
    assert (other.status, other.json["code"]) == (403, "FORBIDDEN")


@pytest.mark.parametrize(
    ("repo", "status"),
    [(["project", "/etc"], 403), (["project", "confidential"], 403), ([], 400), ([["project"]], 400), ([7], 400),
     ([""], 400), (["project"] * 257, 400)],
)  # fmt: skip
def test_a_list_with_anything_else_in_it_is_refused(
    several: tuple[RunningServer, Place], repo: list[Any], status: int
) -> None:
    assert search(several[0], repo=repo).status == status


def test_a_stream_tells_the_same(several: tuple[RunningServer, Place]) -> None:
    events = several[0].post("/search/stream", {"query": "budget", "repo": ["project", "empty"]}).body.decode()

    assert '"repo":"project,empty"' in events.replace(" ", "")
    assert events.rstrip().splitlines()[-2] == "event: done"
