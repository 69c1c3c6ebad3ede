"""One search over several repositories: one list, hits that say theirs, and none that harms another."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.search.sample import write_sample

from holdfast.errors import ToolError
from holdfast.search.answering import answer
from holdfast.search.home import IndexHome
from holdfast.search.library import build_for, build_index
from holdfast.search.repository import find_repository, index_home
from holdfast.search.served import Served, aliases

WEB = {
    "src/pay.ts": "/** Spend the budget of a customer. */\nexport function spendBudget(cost: number) {}\n",
    "README.md": "# Web\n\nThe budget is shown to customers.\n",
    "events.log": '{"service": "web", "level": "error", "message": "budget is empty"}\n',
}
JOBS = {
    "jobs/refill.py": 'def refill_budget(amount):\n    """Refill the budget every night."""\n    return amount\n'
}


def unseen(_stage: str, _done: int, _total: int | None, _detail: str) -> None:
    """Nobody looks."""


def never() -> bool:
    return False


def write(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


class Place:
    """Three indexed repositories, one that nobody has indexed, and a workspace of them."""

    def __init__(self, directory: Path) -> None:
        self.directory, self.cache = directory, directory / "cache"
        self.roots = {
            "api": write_sample(directory / "api"),
            "web": write(directory / "web", WEB),
            "jobs": write(directory / "jobs", JOBS),
            "bare": write(directory / "bare", JOBS),
        }
        for name in ("api", "web", "jobs"):
            build_index(find_repository(self.roots[name]), self.cache)
        self.served = Served(aliases(self.roots.values()), self.cache)

    def ask(self, query: str = "budget", **arguments: Any) -> dict[str, Any]:
        return answer(self.served, {"query": query, **arguments})

    def workspace(self, *repos: dict[str, Any], name: str = "shop.jsonc") -> str:
        path = self.directory / name
        path.write_text(json.dumps({"schemaVersion": 1, "name": "shop", "repos": list(repos)}))
        return str(path)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    place = Place(tmp_path_factory.mktemp("federated"))
    yield place
    place.served.release()


def hits(payload: dict[str, Any], key: str = "code") -> list[tuple[str, str, str]]:
    return [(hit["repo"], hit["file"], hit["name"]) for hit in payload[key]]


def problems(payload: dict[str, Any]) -> dict[str, str | None]:
    return {one["repo"]: one["problem"] and one["problem"]["code"] for one in payload["repos"]}


def test_hits_of_all_repositories_are_one_list_and_say_where_they_are_from(shared: Place) -> None:
    payload = shared.ask("budget", repoPath=["api", "web", "jobs"], top=10)

    assert {repo for repo, _, _ in hits(payload)} == {"api", "web", "jobs"}
    scores = [hit["score"] for hit in payload["code"]]
    assert scores == sorted(scores, reverse=True)
    assert {hit["scoreType"] for hit in payload["code"]} == {"rrf"}
    assert payload["total"]["code"] == sum(one["total"]["code"] for one in payload["repos"])
    assert problems(payload) == {"api": None, "web": None, "jobs": None}
    assert {group["repo"] for group in payload["bundles"]["groups"]} >= {"api", "web", "jobs"}


def test_a_repository_keeps_the_order_that_it_has_alone(shared: Place) -> None:
    together = shared.ask("budget", repoPath=["api", "web"], top=20)
    alone = shared.ask("budget", repoPath="api", top=20)

    own = [hit["id"] for hit in together["code"] if hit["repo"] == "api"]
    assert own == [hit["id"] for hit in alone["code"]][: len(own)]
    assert len(own) > 5
    assert "repo" not in alone["code"][0]
    assert "repos" not in alone


@pytest.mark.parametrize("query", ["budget", "retry budget", "*"])
def test_more_hits_begin_with_the_same_ones(shared: Place, query: str) -> None:
    every = hits(shared.ask(query, repoPath="*", top=30))

    for top in (1, 3, 7):
        assert hits(shared.ask(query, repoPath="*", top=top)) == every[:top]


def test_the_same_question_again_gets_the_same_answer(shared: Place) -> None:
    first, again = (shared.ask("spend", repoPath="*", explain=True) for _ in range(2))

    for payload in (first, again):
        del payload["elapsedMs"], payload["stats"]
        for one in payload["repos"]:
            del one["elapsedMs"]
    assert first == again
    assert first["code"][0]["scoreBreakdown"]["placeAtHome"] == 1.0


def test_filters_hold_in_every_repository(shared: Place) -> None:
    assert {file.rsplit(".")[-1] for _, file, _ in hits(shared.ask(repoPath="*", lang="python"))} == {"py"}
    assert [repo for repo, _, _ in hits(shared.ask(repoPath="*", path="jobs/"))] == ["jobs"]
    records = shared.ask("*", repoPath="*", mode="records", meta={"service": "web"})
    assert [repo for repo, _, _ in hits(records, "records")] == ["web"]


@pytest.mark.parametrize("backend", ["memory", "sqlite", "sqlite-fts"])
def test_every_backend_gives_the_same_list(shared: Place, backend: str) -> None:
    for name in ("api", "web"):
        build_for(
            "sqlite", find_repository(shared.roots[name]), shared.cache, full=False, progress=unseen, stop=never
        )
    expected = shared.ask("retry budget", repoPath=["api", "web"])
    payload = shared.ask("retry budget", repoPath=["api", "web"], backend=backend)

    assert payload["backend"] == backend
    assert [hits(payload, key) for key in ("code", "prose", "extractedProse")] == [
        hits(expected, key) for key in ("code", "prose", "extractedProse")
    ]


def test_what_is_wrong_with_one_repository_is_told_beside_the_hits_of_the_others(shared: Place) -> None:
    payload = shared.ask(repoPath=["web", "bare", str(shared.directory / "ghost"), "jobs"])

    assert {repo for repo, _, _ in hits(payload)} == {"web", "jobs"}
    assert problems(payload) == {"web": None, "bare": "NO_INDEX", "ghost": "NOT_FOUND", "jobs": None}
    said = [warning["message"] for warning in payload["warnings"] if warning["code"] == "repo"]
    assert [text.split(" was not searched")[0] for text in said] == ["bare", "ghost"]


def test_a_damaged_index_a_broken_configuration_and_one_that_vanished_harm_no_other(tmp_path: Path) -> None:
    place = Place(tmp_path)
    assert set(problems(place.ask(repoPath=["api", "web", "jobs"])).values()) == {None}
    place.served.release()
    build = IndexHome(index_home(find_repository(place.roots["api"]), place.cache)).current()
    assert build is not None
    build.store.write_bytes(b"no database at all" * 100)
    (place.roots["web"] / "holdfast.toml").write_text("[search")

    payload = place.ask(repoPath="*")
    assert problems(payload) == {"api": "NO_INDEX", "web": "INVALID_REQUEST", "jobs": None, "bare": "NO_INDEX"}
    assert {repo for repo, _, _ in hits(payload)} == {"jobs"}
    shutil.rmtree(place.roots["jobs"])
    shutil.rmtree(index_home(find_repository(place.roots["bare"]), place.cache), ignore_errors=True)
    with pytest.raises(ToolError) as refused:
        place.ask(repoPath="*")
    assert "none of 4 repositories can be searched" in refused.value.message
    assert [one["repo"] for one in refused.value.details["repos"]] == ["api", "web", "jobs", "bare"]


def test_each_repository_is_reported_with_its_first_hits_before_the_whole_answer(shared: Place) -> None:
    reports: list[tuple[str, int, int, list[dict[str, Any]]]] = []
    arguments = {"query": "budget", "repoPath": ["api", "web", "bare"]}
    payload = answer(shared.served, arguments, never, lambda *one: reports.append(one))

    assert [(message, done, total) for message, done, total, _ in reports] == [
        ("searched api", 1, 3), ("searched web", 2, 3), ("searched bare", 3, 3),
    ]  # fmt: skip
    # Notices that come quickly are left out, so that each has the hits of those before it.
    found = [list(dict.fromkeys(one["repo"] for one in early)) for *_, early in reports]
    assert found == [["api"], ["api", "web"], ["api", "web"]]
    for *_, early in reports:
        assert all(
            one.keys() == {"repo", "mode", "file", "startLine", "endLine", "name", "score"} for one in early
        )
    again = shared.ask(repoPath=["api", "web", "bare"])
    assert hits(payload) == hits(again)


def test_a_wrong_question_is_an_error_of_the_whole(shared: Place) -> None:
    with pytest.raises(ToolError) as refused:
        shared.ask("budget AND (", repoPath=["web", "bare"])
    assert (refused.value.code, "column" in refused.value.details) == ("INVALID_REQUEST", True)


def test_a_stopped_search_is_stopped_in_all_of_them(shared: Place) -> None:
    with pytest.raises(ToolError) as refused:
        answer(shared.served, {"query": "never asked before", "repoPath": "*"}, lambda: True)
    assert refused.value.code == "CANCELLED"
    assert hits(shared.ask(repoPath="*")), "what was held is free again"


def test_a_workspace_is_searched_as_its_file_says(shared: Place) -> None:
    repos: list[dict[str, Any]] = [
        {"root": "jobs", "alias": "nightly", "priority": 5},
        {"root": "web"},
        {"root": "api", "enabled": False},
        {"root": "gone"},
    ]
    path = shared.workspace(*repos)
    payload = shared.ask(workspacePath=path)

    assert problems(payload) == {"nightly": None, "web": None, "gone": "NOT_FOUND"}
    assert payload["workspace"]["name"] == "shop"
    assert {repo for repo, _, _ in hits(payload)} == {"nightly", "web"}
    chosen = shared.ask(workspacePath=path, repoPath=["api", "nightly"])
    assert problems(chosen) == {"nightly": None, "api": None}, "one that is named is meant, enabled or not"
    with pytest.raises(ToolError) as refused:
        shared.ask(workspacePath=path, repoPath="bare")
    assert refused.value.details["repositories"] == ["api", "gone", "nightly", "web"]


def test_an_alias_is_kept_where_another_directory_is_called_so(shared: Place) -> None:
    path = shared.workspace({"root": "api"}, {"root": "web", "alias": "api"}, name="taken.jsonc")
    payload = shared.ask(workspacePath=path, repoPath="api")

    assert problems(payload) == {"api": None}
    assert [hit["file"] for hit in payload["code"]] == [hit["file"] for hit in shared.ask(repoPath="web")["code"]]


def test_two_directories_of_one_name_and_one_repository_named_twice(tmp_path: Path) -> None:
    one, other = write(tmp_path / "a" / "shop", JOBS), write(tmp_path / "b" / "shop", JOBS)
    for root in (one, other):
        (root / ".holdfastignore").touch()
        build_index(find_repository(root), tmp_path / "cache")
    place = Served({}, tmp_path / "cache")
    payload = answer(place, {"query": "refill", "repoPath": [str(one), str(other), str(one / "jobs")]})

    assert hits(payload) == [(name, "jobs/refill.py", "refill_budget") for name in ("shop", "shop-2")]
    assert len(payload["bundles"]["groups"]) == 2
    place.release()


def test_indexes_as_one_are_as_old_as_the_oldest_and_changed_as_all_of_them(tmp_path: Path) -> None:
    place = Place(tmp_path)
    (place.roots["web"] / "src" / "new.ts").write_text("export const budget = 1;\n")
    payload = place.ask(repoPath=["web", "jobs"])

    assert payload["index"]["changedFiles"] == sum(one["index"]["changedFiles"] for one in payload["repos"])
    assert payload["index"]["changedFiles"] > 0
    assert payload["index"]["builtAt"] == min(one["index"]["builtAt"] for one in payload["repos"])
    assert any(
        warning["message"].startswith("web: the index is not up to date") for warning in payload["warnings"]
    )
    place.served.release()
